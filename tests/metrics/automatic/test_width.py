import numpy as np
import pytest

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic.exact import Fold
from graph_metric_learn.metrics.automatic.score_weight import Held
from graph_metric_learn.metrics.automatic.training import Training
from graph_metric_learn.metrics.automatic.width import choose_width, most_coordinates, parts_of_width, score_columns
from graph_metric_learn.objectives import Classes
from graph_metric_learn.objectives.scoring import scorer_for


@pytest.mark.parametrize(
    ("width", "landmarks", "wanted"),
    [
        (None, 500, (499, 256)), (512, 5000, (256, 256)), (512, 40, (39, 256)), (64, 1000, (32, 32)),
        (50, 1000, (34, 16)), (3, 1000, (1, 2)), (2, 1000, (1, 1)), (1, 1000, (1, 0)), (1, 1, (1, 0)),
    ],
)  # fmt: skip
def test_about_half_of_the_coordinates_are_hashes(width, landmarks, wanted):
    assert parts_of_width(width, landmarks) == wanted
    assert wanted[1] & (wanted[1] - 1) == 0  # a power of 2
    assert width is None or sum(wanted) <= width


def test_how_many_there_may_be():
    assert most_coordinates("auto") == most_coordinates(None) == 512
    assert most_coordinates(7) == most_coordinates(np.int64(7)) == 7


def test_classes_differ_in_one_direction_less_than_there_are():
    outputs = np.eye(4)[[0, 1, 2, 3, 0, 1]]
    assert score_columns(outputs, "auto") == score_columns(outputs, None) == 3
    assert score_columns(outputs, 3) == 2
    assert score_columns(outputs, 1) == 0
    assert score_columns(np.array([[1.0, np.nan], [2.0, 1.0], [0.0, 5.0]]), "auto") == 2


class Columns:
    """Coordinates of which some are kept, the first ones: a stand-in, whose vectors are made up."""

    def __init__(self, vectors):
        self.vectors, self.width, self.n_hashes = vectors, vectors.shape[1], 0

    def first(self, n_axes, n_hashes):
        return Columns(self.vectors[:, : n_axes + n_hashes])

    def place(self, kernel, hashes, diagonal):
        return self.vectors


def chosen(vectors, target, placed=None, weight=0.0):
    """The widths that are chosen for vectors, by folds without scores, or with these."""
    count = len(vectors)
    objective, codes = Classes.of(target)
    training = Training(objective, scorer_for("auto", objective, codes), codes, np.arange(count))
    scores = np.zeros((count, 1)) if placed is None else placed
    drawn = np.random.default_rng(1).permutation(count) % 5
    parts = [(np.flatnonzero(drawn != fold), np.flatnonzero(drawn == fold)) for fold in range(5)]
    folds = [Held.of(Fold(train, test, scores, np.eye(count, dtype=np.float32)), None) for train, test in parts]
    none = {"x": np.zeros(count)}
    return choose_width(NoFamilies(), Columns(vectors), (np.zeros((count, 1000)), none), folds, weight, training)


class NoFamilies:
    weights: dict = {}  # noqa: RUF012

    def diagonal(self, described):
        return np.ones(len(described["x"]))


def test_the_fewest_that_cost_nothing(rng):
    """Classes along the 50th coordinate: 32 do not see them, 64 do."""
    x = rng.normal(size=(300, 200)).astype(np.float32)
    x[:, 70:] *= 0.01
    target = rng.integers(0, 2, 300)
    x[:, 50] = 4.0 * target + 0.1 * rng.normal(size=300)
    coordinates, width = chosen(x, target)
    assert (coordinates.width, width.kept, width.full) == (64, 64, 200)
    assert width.full_score - width.score < 0.005


def test_all_are_kept_where_fewer_cost_too_much(rng):
    x, target = 0.01 * rng.normal(size=(300, 300)).astype(np.float32), rng.integers(0, 2, 300)
    x[:, 290] = target
    _, width = chosen(x, target)
    assert (width.kept, width.full, width.score) == (300, 300, width.full_score)
    _, narrow = chosen(x[:, 270:], target)
    assert narrow.kept == narrow.full == 30


def test_learned_scores_count_beside_the_coordinates(rng):
    x, target = rng.normal(size=(200, 60)).astype(np.float32), rng.integers(0, 2, 200)
    _, without = chosen(x, target)
    _, known = chosen(x, target, target[:, None].astype(float), 1e4)
    assert without.score < 0.7
    assert known.score == known.full_score == 1.0


# --- widths of a metric ----------------------------------------------------------------------------------------------

OPTIONS = {"families": ["trees", "pairs", "size"], "label": "element", "random_state": 0}


@pytest.mark.parametrize("most", [1, 2, 8, 64, None])
def test_no_more_coordinates_than_were_asked_for(tmp_path, most):
    graphs, y = element_graphs()
    metric = gml.GraphMetric(**OPTIONS, n_components=most).fit(graphs[:60], y[:60])
    vectors = metric.transform(graphs)
    assert vectors.dtype == np.float32
    assert vectors.shape[1] <= (1000 if most is None else most)
    assert metric.embedded_shape() == vectors.shape[1:]
    assert metric.width_ is None
    loaded = gml.load(metric.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)
    one_by_one = np.concatenate([metric.transform([graph]) for graph in graphs[:20]])
    np.testing.assert_allclose(one_by_one, vectors[:20], atol=1e-5)


def test_the_cost_of_fewer_is_reported():
    graphs, y = element_graphs(120)
    metric = gml.GraphMetric(**OPTIONS).fit(graphs, y)
    width = metric.width_
    assert width.kept == metric.transform(graphs[:1]).shape[1] - metric.learned_.width
    assert width.kept < width.full <= 512
    assert f"kept {width.kept} of {width.full} coordinates (R² of neighbours on graphs held out" in metric.report_
    assert width.full_score - width.score < 0.005


@pytest.mark.parametrize("kept", [2, 4])
def test_coordinates_that_scores_do_not_take_are_kept(rng, kept):
    """Ten classes of noise: nine scores would leave one coordinate of them."""
    graphs = [(np.zeros((1, 1)), x[None]) for x in rng.normal(size=(60, 6))]
    options = {"features": ["attributes@0"], "embedding": "mean", "random_state": 0, "n_components": kept}
    metric = gml.GraphMetric(**options).fit(graphs, np.arange(60) % 10)
    assert metric.learned_.gate.weight == 0
    plain = gml.GraphMetric(**options, learn=False).fit(graphs, np.arange(60) % 10)
    assert metric.transform(graphs).shape == plain.transform(graphs).shape == (60, kept)


@pytest.mark.parametrize("width", [1, 2])
def test_reports_and_folds_know_how_few_coordinates_there_are(rng, width):
    """Classes of four corners in the plane, by which graphs hardly differ: one coordinate cannot tell four apart."""
    y = np.arange(160) % 4
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y] + 0.1 * rng.normal(size=(160, 2))
    rows = np.concatenate([corners, 3.0 * rng.normal(size=(160, 6))], axis=1)
    metric = gml.GraphMetric(["attributes@0"], "mean", n_components=width, random_state=0)
    graphs = [(np.zeros((1, 1)), row[None].astype(np.float32)) for row in rows]
    neighbors = gml.GraphKNNClassifier(metric).fit(graphs[:100], y[:100])
    assert neighbors.chosen_["held_out_score"] == pytest.approx(neighbors.score(graphs[100:], y[100:]), abs=0.2)
    assert neighbors.metric_.learned_.width <= width - 1
