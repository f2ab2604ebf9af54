import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn._core.schema import join, read, split
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.automatic import terms as module
from graph_metric_learn.metrics.automatic.terms import Term, TermState, embed_anew
from graph_zoo import zoo
from made_up_vectors import points_term

TITLES = {"mean": ["attributes@0", "wl@1"], "reference": ["attributes@0", "structure@1"], "axes": ["wl@0", "wl@1"]}
SPARSE = ["histogram", "counts", "assignment", "normalized-assignment"]


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


def pair_of(data, i, j):
    """Blocks and sizes of two graphs."""
    blocks, sizes = data
    ends = np.cumsum(sizes)
    rows = np.concatenate([np.arange(ends[k] - sizes[k], ends[k]) for k in (i, j)])
    return {name: block[rows] for name, block in blocks.items()}, sizes[[i, j]]


def dense(vectors):
    return vectors.toarray() if sparse.issparse(vectors) else vectors


@pytest.mark.parametrize("kind", [*TITLES, *SPARSE])
def test_coordinates_are_projected_and_weighted(data, kind):
    term = term_of(kind, data)
    embedded = term.embedded(*data)
    assert sparse.issparse(embedded) == (kind in SPARSE)
    assert embedded.shape[0] == len(data[1])
    term.weight = 3.0
    np.testing.assert_allclose(dense(term.coordinates(embedded)), np.sqrt(3.0) * dense(embedded), rtol=1e-6)
    term.compact(embedded)
    assert (term.projection is not None) == (kind in SPARSE or embedded.shape[1] > 256)
    gap = np.subtract(*dense(embedded)[:2].astype(float))
    found = np.subtract(*dense(term.coordinates(embedded))[:2])
    assert found @ found == pytest.approx(3.0 * gap @ gap, rel=1e-3)
    assert not sparse.issparse(term.coordinates(embedded))


def test_wide_vectors_are_projected(rng):
    vectors = rng.normal(size=(300, 400)).astype(np.float32)
    term = points_term(vectors)
    term.compact(vectors)
    assert term.coordinates(vectors).shape == (300, 256)
    narrow = points_term(vectors[:, :50])
    narrow.compact(vectors[:, :50])
    assert narrow.projection is None


@pytest.mark.parametrize("kind", [*TITLES, *SPARSE])
@pytest.mark.parametrize("projected", [False, True])
def test_pull_is_the_adjoint_of_coordinates(data, kind, projected, rng):
    term = term_of(kind, data)
    embedded = term.embedded(*data)
    if projected:
        term.compact(embedded)
    term.weight = 2.5
    coordinates = dense(term.coordinates(embedded)).astype(float)
    gradient = rng.normal(size=coordinates.shape[1])
    np.testing.assert_allclose(dense(embedded) @ term.backward(gradient), coordinates @ gradient, atol=1e-4)


@pytest.mark.parametrize("kind", [*TITLES, *SPARSE])
def test_what_points_add_is_the_product_with_the_difference(data, kind, rng):
    """⟨gradient, u − v⟩, shared out among the points of either graph."""
    term = term_of(kind, data)
    both = pair_of(data, 0, 3)
    first, second = dense(term.embedded(*both)).astype(float)
    gradient = rng.normal(size=len(first))
    source, target = term.attribute(both[0], int(both[1][0]), gradient)
    assert [len(source), len(target)] == both[1].tolist()
    wanted = gradient @ (first - second)
    assert source.sum() == pytest.approx(wanted, abs=1e-5)
    assert target.sum() == pytest.approx(wanted, abs=1e-5)
    plan = term.plan(both[0], int(both[1][0]))
    np.testing.assert_allclose(plan.sum(1), 1 / both[1][0], atol=1e-6)
    np.testing.assert_allclose(plan.sum(0), 1 / both[1][1], atol=1e-6)


@pytest.mark.parametrize("kind", [*TITLES, *SPARSE])
def test_restored_from_its_state(data, kind):
    term = term_of(kind, data)
    term.weight = 1.7
    term.compact(term.embedded(*data))
    config, arrays = split(term.state())
    blocks = SimpleNamespace(names_=list(data[0]), columns=lambda name: data[0][name].shape[1])
    again = Term.from_state(read(TermState, join(json.loads(json.dumps(config)), arrays)), blocks)
    found, wanted = (dense(each.coordinates(each.embedded(*data))) for each in (again, term))
    np.testing.assert_array_equal(found, wanted)
    assert (again.name, again.key, again.cloud) == (term.name, term.key, term.cloud)


def test_many_columns_are_reduced(data):
    term = term_of("mean", data, ["wl@0", "wl@1", "wl@2", "wl@3", "degree@0"])
    assert term.embedded(*data).shape[1] == 96
    assert term.basis.shape[1] == 96


def test_trees_of_further_graphs_become_columns(data, rng):
    """Fitted to two graphs, then shown all: distances are those of counts, column by column."""
    few = pair_of(data, 0, 1)
    (term,) = Term.fit_each("trees", ["trees@0", "trees@1"], ["counts"], *few, rng)
    before = term.embedded(*data)
    term.see_all(*data, rng)
    after = term.embedded(*data)
    assert after.shape[1] > before.shape[1]
    names = np.concatenate([data[0]["trees@0"], data[0]["trees@1"]], axis=1)
    ends = np.cumsum(data[1])
    counts = np.array(
        [
            [(names[end - size : end] == name).sum() for name in np.unique(names)]
            for end, size in zip(ends, data[1], strict=True)
        ]
    )
    wanted = ((counts[:, None] - counts[None]) ** 2).sum(2)
    found = ((after.toarray()[:, None] - after.toarray()[None]) ** 2).sum(2)
    np.testing.assert_allclose(found, wanted)
    points = term_of("mean", data)
    wanted = points.embedded(*data)
    points.see_all(*few, rng)  # points in space stay as they are
    np.testing.assert_array_equal(points.embedded(*data), wanted)


@pytest.mark.parametrize("whole", [False, True])
def test_all_graphs_are_embedded_anew_with_the_trees_of_all(rng, monkeypatch, whole):
    """Terms were fitted to few; in pieces, and from what is known already, vectors are the same."""
    pairs, _ = zoo(rng, 20)
    graphs = as_graphs(pairs)
    names = ["attributes@0", "trees@0", "trees@1"]
    reading = NodeBlocks().fit(graphs, names)

    def embedded(**options):
        few = graphs[:3]
        blocks, sizes = dict(zip(names, reading.transform(few), strict=True)), few.sizes
        mean, counts = term_of("mean", (blocks, sizes), names[:1]), term_of("counts", (blocks, sizes))
        counts.compact(counts.embedded(blocks, sizes))
        terms = {term.key: term for term in (mean, counts)}
        found = embed_anew(terms, graphs, reading, np.random.default_rng(0), whole=whole, **options)
        assert (counts.projection is None) == whole
        return [found[key] for key in terms]

    mean, counts = embedded()
    every = dict(zip(names, reading.transform(graphs), strict=True))
    assert (counts.sum(0) > 0).sum() == sum(len(np.unique(every[name])) for name in names[1:])
    known = embedded(known=(every, {"nodes": graphs.sizes}))
    monkeypatch.setattr(module, "AT_ONCE", 15)
    for found in (known, embedded()):
        np.testing.assert_array_equal(found[0], mean)
        assert (found[1] != counts).nnz == 0
