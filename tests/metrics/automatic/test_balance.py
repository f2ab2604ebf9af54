import numpy as np
import pytest

from graph_metric_learn.metrics.automatic import balance as module
from graph_metric_learn.metrics.automatic.balance import balance
from graph_metric_learn.metrics.automatic.sample import Sample
from graph_metric_learn.metrics.automatic.screening import screen
from made_up_vectors import points_sample, tree_names

COUNT = 60


def balanced(columns, embedding="mean"):
    sample = points_sample(columns, np.zeros((len(next(iter(columns.values()))), 0)))
    rng = np.random.default_rng(0)
    candidates = {name: [name] for name in columns}
    screened = screen(candidates, embedding, sample, sample, rng, supervised=False, progress=False)
    return (*balance(screened, sample), sample)


def titles(terms):
    return {term.title for term in terms}


@pytest.fixture
def views(rng):
    return {f"attributes@{i}": 10.0**i * rng.normal(size=(COUNT, 3)) for i in range(3)}


def test_different_views_have_the_same_weight_whatever_their_scale(views):
    terms, choice, sample = balanced(views)
    assert titles(terms) == set(views)
    for term in terms:
        assert sample.squares(term).mean() == pytest.approx(1 / 3, rel=1e-4)
    assert list(choice.weights.values()) == pytest.approx([1 / 3] * 3)
    assert choice.n_neighbors == 5


def test_near_copies_and_what_is_dead_are_left_out(views, rng):
    views["attributes@3"] = 7.0 * views["attributes@0"] + 0.01 * rng.normal(size=(COUNT, 3))
    views["attributes@4"] = np.ones((COUNT, 2))
    terms, choice, _ = balanced(views)
    assert len(terms) == 3
    assert len(titles(terms) & {"attributes@0", "attributes@3"}) == 1
    assert "mean of attributes@4" not in choice.scores
    assert len(choice.scores) == 4


def test_views_that_see_different_graphs_are_not_copies_where_most_distances_are_equal():
    """One graph stands out in each of two views: all other distances are 0."""
    columns = {f"attributes@{i}": np.zeros((300, 1)) for i in range(2)}
    for place, values in enumerate(columns.values()):
        values[place] = 1.0
    terms, _, _ = balanced(columns)
    assert len(terms) == 2


def test_the_first_is_the_one_that_agrees_most_with_all_others(views):
    """A sum of the others; and of many views only some."""
    views["attributes@7"] = sum(values / values.std() for values in views.values())
    _, choice, _ = balanced(views)
    assert choice.trail[0][0] == "mean of attributes@7"


def test_the_number_of_views_is_bounded(rng):
    columns = {f"attributes@{i}": rng.normal(size=(COUNT, 3)) for i in range(10)}
    assert len(balanced(columns)[0]) == module._VIEWS


def test_one_embedding_stands_for_each_set_of_blocks(views):
    terms, choice, _ = balanced(views, "auto")
    assert len(titles(terms)) == len(terms) == 3
    assert {term.kind for term in terms} == {"axes"}
    assert len(choice.scores) == 3


def test_sparse_views_become_few_coordinates(rng):
    sizes = rng.integers(2, 9, COUNT)
    sample = Sample({"trees@0": tree_names(rng, sizes)}, {"nodes": sizes}, np.zeros((COUNT, 0)))
    screened = screen({"trees": ["trees@0"]}, "counts", sample, sample, rng, progress=False)
    (term,), _ = balance(screened, sample)
    assert isinstance(sample.coordinates(term), np.ndarray)
    assert sample.squares(term).mean() == pytest.approx(1.0, rel=1e-4)


def test_one_view_and_two_graphs(rng):
    terms, choice, _ = balanced({"attributes@0": rng.normal(size=(2, 3))})
    assert len(terms) == 1
    assert choice.weights == {"mean of attributes@0": 1.0}
    several = {f"attributes@{i}": rng.normal(size=(2, 3)) for i in range(3)}
    terms, _, sample = balanced(several)
    assert sum(sample.squares(term).mean() for term in terms) == pytest.approx(1.0, rel=1e-4)
