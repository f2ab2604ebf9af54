import numpy as np
import pytest
from scipy import sparse

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic.score_weight import Fold
from graph_metric_learn.metrics.automatic.width import MOST, Coordinates, choose_width, most_coordinates, score_columns
from graph_metric_learn.objectives import Classes


def squares(vectors):
    return ((vectors[:, None].astype(float) - vectors[None]) ** 2).sum(2)


@pytest.fixture
def vectors(rng):
    """300 columns whose variance falls."""
    return (rng.normal(size=(200, 300)) * 0.97 ** np.arange(300)).astype(np.float32)


def classes_of(target):
    objective = Classes()
    objective.classes_ = np.unique(target)
    return objective


def folds_without_scores(count, rng):
    folds = rng.permutation(count) % 5
    none = np.zeros((count, 1))
    return [Fold(np.flatnonzero(folds != f), np.flatnonzero(folds == f), none, none, None, 1.0) for f in range(5)]


def test_vectors_stay_as_they_are_unless_there_are_too_many(vectors):
    found = Coordinates.fit(vectors, 300)
    assert found.whole is vectors
    assert found.projection_to(300) is None
    assert found.first(300) is vectors
    assert found.first(None) is vectors
    many = Coordinates.fit(vectors, 150)
    assert many.whole.shape == (200, 150)
    np.testing.assert_array_equal(many.projection_to(150).apply(vectors), many.whole)
    assert Coordinates.fit(vectors, None).projection_to(MOST) is None


def test_sparse_vectors_become_few_dense_ones(vectors):
    thin = sparse.csr_array(np.where(np.abs(vectors) > 0.5, vectors, 0))
    found = Coordinates.fit(thin, 300)
    assert isinstance(found.whole, np.ndarray)
    np.testing.assert_allclose(squares(found.whole), squares(thin.toarray()), rtol=1e-3, atol=1e-3)
    assert sparse.issparse(Coordinates.fit(thin, None).whole)


def test_fewer_coordinates_are_those_of_largest_variance(vectors):
    found = Coordinates.fit(vectors, 300)
    few = found.first(40)
    assert few.shape == (200, 40)
    np.testing.assert_array_equal(found.projection_to(40).apply(vectors), few)
    values = np.linalg.eigvalsh(np.cov(vectors.T.astype(float)))[::-1]
    np.testing.assert_allclose(few.var(0, ddof=1), values[:40], rtol=1e-3)
    assert (squares(few) <= squares(vectors) + 1e-3).all()


def test_another_unit(vectors):
    found = Coordinates.fit(vectors, 300).divided(2.0)
    np.testing.assert_allclose(found.whole, vectors / 2)
    np.testing.assert_allclose(found.first(10), Coordinates.fit(vectors, 300).first(10) / 2, rtol=1e-6)


def test_the_fewest_that_cost_nothing(rng):
    """Classes along the 50th coordinate: 32 do not see them, 64 do."""
    x = rng.normal(size=(300, 200)).astype(np.float32)
    x[:, 70:] *= 0.01
    target = rng.integers(0, 2, 300)
    x[:, 50] = 4.0 * target + 0.1 * rng.normal(size=300)
    x[:, :50] *= 5.0  # their variance is larger, and says nothing
    objective, folds = classes_of(target), folds_without_scores(300, rng)
    found = choose_width(Coordinates.fit(x, 512), None, folds, 0.0, objective, target)
    assert (found.kept, found.full) == (64, 200)
    assert found.full_score - found.score < 0.005
    asked = choose_width(Coordinates.fit(x, 512), 32, folds, 0.0, objective, target)
    assert asked.kept == 32
    assert asked.score < asked.full_score - 0.02
    assert choose_width(Coordinates.fit(x, 512), 400, folds, 0.0, objective, target).kept == 200


def test_learned_scores_count_beside_the_coordinates(rng):
    x, target = rng.normal(size=(200, 60)).astype(np.float32), rng.integers(0, 2, 200)
    folds = folds_without_scores(200, rng)
    for fold in folds:
        fold.placed = target[:, None].astype(float)
    objective = classes_of(target)
    without = choose_width(Coordinates.fit(x, 512), 32, folds, 0.0, objective, target)
    known = choose_width(Coordinates.fit(x, 512), 32, folds, 1e4, objective, target)
    assert without.score < 0.7
    assert known.score == known.full_score == 1.0


def test_no_more_coordinates_than_were_asked_for_and_the_cost_is_reported(tmp_path):
    graphs, y = element_graphs()
    options = {"features": ["trees@0", "trees@1", "trees@2"], "label": "element", "random_state": 0}
    metric = gml.GraphMetric(**options, n_components=8).fit(graphs[:60], y[:60])
    vectors = metric.transform(graphs)
    assert vectors.shape[1] <= 8
    assert metric.width_.kept == vectors.shape[1] - metric.learned_.width
    assert metric.width_.full > 8
    assert "of neighbours on graphs held out" in metric.report_
    loaded = gml.load(metric.save(tmp_path / "model"))
    assert loaded.width_ == metric.width_
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)
    one_by_one = np.concatenate([metric.transform([graph]) for graph in graphs[:20]])
    np.testing.assert_array_equal(one_by_one, vectors[:20])


def test_how_many_there_may_be():
    assert most_coordinates("auto") == most_coordinates(None) == 512
    assert most_coordinates(7) == 7


def test_classes_differ_in_one_direction_less_than_there_are():
    outputs = np.eye(4)[[0, 1, 2, 3, 0, 1]]
    assert score_columns(outputs, "auto") == score_columns(outputs, None) == 3
    assert score_columns(outputs, 3) == 2
    assert score_columns(np.array([[1.0, np.nan], [2.0, 1.0], [0.0, 5.0]]), "auto") == 2
