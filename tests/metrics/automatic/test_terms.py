import numpy as np
import pytest

from graph_metric_learn.embeddings import EMBEDDINGS
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.automatic.terms import Term
from graph_zoo import zoo

TITLES = {"mean": ["attributes@0", "wl@1"], "reference": ["attributes@0", "structure@1"], "axes": ["wl@0", "wl@1"]}


@pytest.fixture(scope="module")
def data():
    pairs, _ = zoo(np.random.default_rng(0), 20)
    given = as_graphs(pairs)
    names = ["attributes@0", "structure@1", "wl@0", "wl@1", "wl@2", "wl@3", "degree@0", "trees@0", "trees@1"]
    blocks = NodeBlocks().fit(given, names).transform(given)
    return dict(zip(names, blocks, strict=True)), given.sizes


def term_of(kind, data, names=None):
    names = names or TITLES.get(kind, ["trees@0", "trees@1"])
    (term,) = Term.fit_each("some", names, [kind], *data, np.random.default_rng(0))
    return term


@pytest.mark.parametrize("kind", [*TITLES, "histogram"])
def test_weights_of_columns_are_those_of_the_squared_distance(data, kind, rng):
    term = term_of(kind, data)
    plain = term.vectors(*data)
    weights = rng.uniform(0.5, 2.0, size=plain.shape[2])
    term.weight_columns(weights)
    term.weight *= 3.0
    gap, wanted = np.subtract(*term.vectors(*data)[:2]), np.subtract(*plain[:2])
    assert (gap**2).sum() == pytest.approx(3.0 * (weights * wanted**2).sum(), rel=1e-4)


@pytest.mark.parametrize("kind", [*TITLES, "histogram"])
def test_restored_from_its_state(data, kind, rng):
    term = term_of(kind, data)
    term.weight_columns(rng.uniform(size=term.vectors(*data).shape[2]))
    again = Term.from_state(*term.state())
    np.testing.assert_array_equal(term.vectors(*data), again.vectors(*data))
    assert again.name == term.name


def test_groups_are_columns_and_blocks(data):
    columns, owner = term_of("mean", data).column_groups(data[0])
    width = data[0]["attributes@0"].shape[1]
    np.testing.assert_array_equal(columns, np.arange(width + 32))
    np.testing.assert_array_equal(owner, np.repeat([0, 1], [width, 32]))
    columns, owner = term_of("histogram", data).column_groups(data[0])
    np.testing.assert_array_equal(columns, np.repeat([0, 1], 1024))
    np.testing.assert_array_equal(owner, [0, 1])


def test_many_columns_are_reduced(data):
    term = term_of("mean", data, ["wl@0", "wl@1", "wl@2", "wl@3", "degree@0"])
    assert term.vectors(*data).shape[2] == 96
    columns, owner = term.column_groups(data[0])
    assert len(columns) == 96
    assert (owner == 0).all()


def test_refreshed_couplings_are_made_with_the_weights(data):
    """A column with weight 0 says nothing any more, neither in the distance nor in who is compared with whom."""
    term = term_of("axes", data, ["attributes@0", "structure@1"])
    width = data[0]["attributes@0"].shape[1]
    term.weight_columns(np.repeat([1.0, 0.0], [width, 5]))
    anew = term.refreshed(*data, np.random.default_rng(0))
    assert anew.column_weights is None
    np.testing.assert_allclose(anew.embedding.axes[width:, :width], 0, atol=1e-5)
    shuffled = dict(data[0])
    shuffled["structure@1"] = data[0]["structure@1"][::-1]
    np.testing.assert_allclose(anew.vectors(*data), anew.vectors(shuffled, data[1]), atol=1e-5)
    assert np.abs(term.vectors(*data) - term.vectors(shuffled, data[1])).max() > 1e-3


def test_refreshed_embeddings_keep_their_options(data):
    term = term_of("axes", data)
    term.embedding = EMBEDDINGS["axes"](2, 3).fit(term.points(data[0]), data[1], np.random.default_rng(0))
    term.weight_columns(np.ones(term.vectors(*data).shape[2]))
    assert term.refreshed(*data, np.random.default_rng(0)).embedding.options() == {"n_axes": 2, "n_cells": 3}
