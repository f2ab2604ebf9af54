import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_zoo import zoo


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, batch):
        return self.layer(batch.x)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gml.SGML(n_epochs=1, random_state=0),
        lambda: gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0),
        lambda: gml.GraphKNNClassifier(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphSVC(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphRidge(gml.SGML(n_epochs=1, random_state=0, loss="mlkr")),
        lambda: gml.GraphRegressor(gml.SGML(n_epochs=1, random_state=0, loss="mlkr")),
        lambda: gml.GraphRidgeClassifier(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphClassifier(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.NearestClassMean(gml.SGML(n_epochs=1, random_state=0)),
        lambda: gml.GraphKMeans(2, gml.SGML(n_epochs=1, random_state=0), 0),
    ],
)
def test_any_model_is_loaded_by_its_path_alone(make, rng, tmp_path):
    pairs, y = zoo(rng, 12)
    model = make().fit(pairs, y)
    again = gml.load(model.save(tmp_path / "model"))
    assert type(again) is type(model)
    use = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(again, use)(pairs), getattr(model, use)(pairs))


def test_an_encoder_goes_where_it_belongs(rng, tmp_path):
    pairs, y = zoo(rng, 12)
    torch.manual_seed(0)
    metric = gml.SGML(encoder=Linear(), n_epochs=1, random_state=0).fit(pairs, y)
    again = gml.load(metric.save(tmp_path / "metric"), encoder=Linear())
    np.testing.assert_array_equal(again.transform(pairs), metric.transform(pairs))
    with pytest.raises(ValueError, match="load it in Python, passing encoder="):
        gml.load(tmp_path / "metric")


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a model folder"):
        gml.load(tmp_path)
