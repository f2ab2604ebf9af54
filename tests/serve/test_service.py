import numpy as np
import pytest

import graph_metric_learn as gml
from explorer_graphs import fitted, rings_and_stars
from graph_metric_learn.serve.service import Service, Unavailable


@pytest.fixture(scope="module")
def service():
    graphs, y = rings_and_stars()
    return Service(fitted(), graphs=graphs, y=y, title="Rings")


def test_predictions_are_those_of_the_model(service):
    graphs, _ = rings_and_stars()
    found = service.predict(graphs[36:])
    assert found["predictions"] == service.model.predict(graphs[36:]).tolist()
    assert found["probabilities"][0].keys() == {"ring", "star & co"}


def test_several_labels_have_names():
    graphs, y = rings_and_stars()
    table = np.stack([y == "ring", np.arange(len(y)) % 2 == 0], axis=1).astype(float)
    table[::5, 1] = np.nan
    metric = gml.GraphMetric(features=["degree@0"], embedding="mean", random_state=0)
    model = gml.GraphRidgeClassifier(metric).fit(graphs, table)
    found = Service(model).predict(graphs[:2])
    assert found["predictions"][0].keys() == found["probabilities"][0].keys() == {"0", "1"}
    model.target_names_ = ["ring", "even"]
    found = Service(model).predict(graphs[:2])
    wanted = zip(model.predict(graphs[:2]).tolist(), model.predict_proba(graphs[:2]).tolist(), strict=True)
    for i, (labels, chances) in enumerate(wanted):
        assert found["predictions"][i] == dict(zip(["ring", "even"], labels, strict=True))
        assert found["probabilities"][i] == dict(zip(["ring", "even"], chances, strict=True))
    numbers = gml.GraphRidge(metric).fit(graphs, np.stack([np.arange(len(y)), -np.arange(len(y))], axis=1) / 3)
    found = Service(numbers).predict(graphs[:2])
    assert list(found) == ["predictions"]
    assert found["predictions"][1].keys() == {"0", "1"}


def test_neighbours_have_the_names_of_the_reference_graphs(service):
    graphs, _ = rings_and_stars()
    found = service.neighbors([graphs[30]], 3)
    assert found["ids"][0][0] == "graph number 30"
    assert found["distances"][0] == sorted(found["distances"][0])
    assert len(service.neighbors([graphs[30]], 999)["ids"][0]) == 36


@pytest.fixture(scope="module")
def indexed(service, tmp_path_factory):
    """The same model with an index on disk."""
    graphs, y = rings_and_stars()
    index = gml.GraphIndex(service.metric).add(graphs[:30], metadata=[{"target": one} for one in y[:30].tolist()])
    path = index.save(tmp_path_factory.mktemp("index") / "index")
    return Service(service.metric, gml.GraphIndex.load(path, read_only=True))


def test_an_index_is_searched_where_there_is_one(service, indexed):
    graphs, y = rings_and_stars()
    found = indexed.neighbors(graphs[29:30], 3)
    assert found["ids"][0][0] == "graph number 29"
    assert found["metadata"][0][0] == {"target": y[29]}
    assert found["distances"][0] == sorted(found["distances"][0])
    assert found == indexed.neighbors_of_ids(["graph number 29"], 3)
    assert len(indexed.neighbors(graphs[:1], 999)["ids"][0]) == 30
    assert indexed.health() == {"status": "ok", "version": gml.__version__, "model": "GraphMetric", "graphs": 30}
    with pytest.raises(ValueError, match="cannot predict"):
        indexed.predict(graphs[:1])
    with pytest.raises(ValueError, match="'graph number 35' is not in the index"):
        indexed.neighbors_of_ids(["graph number 35"], 1)
    with pytest.raises(ValueError, match="none is served"):
        service.neighbors_of_ids(["graph number 29"], 1)
    with pytest.raises(ValueError, match="nothing to search"):
        Service(service.metric).neighbors(graphs[:1], 1)


def test_the_page_of_an_index_has_its_graphs(indexed):
    page = indexed.page()
    assert "graph number 29" in page
    assert "graph number 31" not in page
    with pytest.raises(ValueError, match="keeps no graphs"):
        indexed.explained(0, 1)


def test_what_others_write_is_seen(service, tmp_path):
    graphs, _ = rings_and_stars()
    path = gml.GraphIndex(service.metric).save(tmp_path / "index")
    served = Service(service.metric, gml.GraphIndex.load(path, read_only=True))
    assert served.page() is None
    with pytest.raises(ValueError, match="the index is empty"):
        served.neighbors(graphs[:1], 1)
    with gml.GraphIndex.load(path) as writer:
        writer.add(graphs[4:8])
    assert served.neighbors(graphs[5:6], 1)["ids"] == [["graph number 5"]]
    gml.GraphIndex(service.metric).save(path, overwrite=True)
    with pytest.raises(Unavailable, match="started again"):
        served.health()


def test_an_index_of_another_model_is_refused(service):
    graphs, y = rings_and_stars()
    other = gml.GraphMetric(features=["degree@0"], random_state=0).fit(graphs, y)
    with pytest.raises(ValueError, match="made with another model"):
        Service(service.model, gml.GraphIndex(other))


def test_explanations_and_those_of_the_page(service):
    graphs, _ = rings_and_stars()
    found = service.explain([graphs[0], graphs[30]])
    assert sum(found["terms"].values()) == pytest.approx(1)
    assert sum(share for _, share in found["nodes"][0]) == pytest.approx(1)
    assert set(service.explained(0, 30)) == {"record", "terms"}
    for pair in ((0, 0), (0, 99), (-1, 2)):
        with pytest.raises(ValueError, match="no pair"):
            service.explained(*pair)
    assert '"served":true' in service.page()
