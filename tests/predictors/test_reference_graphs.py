import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.predictors.reference_graphs import ReferenceGraphs, added_classes, added_numbers
from graph_metric_learn.transport import Embedded
from toy_metrics import FirstColumn, points
from vector_oracle import decaying, nearest_rows


def vectors(rng, n, d=20):
    return gml.Vectors(torch.from_numpy(decaying(rng, n, d)), numpy=True)


def curves(rng, n):
    return gml.as_curves([rng.normal(size=(3, 2)).astype(np.float32) for _ in range(n)])


@pytest.mark.parametrize("kind", [vectors, curves])
def test_growing_leaves_the_earlier_moment_as_it_was(rng, kind):
    first, more = kind(rng, 40), kind(rng, 2)
    before = ReferenceGraphs(first, np.arange(40) % 3)
    after = before.grown(more, np.array([7, 1]), None)
    assert (len(before), len(after)) == (40, 42)
    assert after.y.tolist() == [*(np.arange(40) % 3), 7, 1]
    np.testing.assert_array_equal(after.embedded.values, Embedded.concatenate([first, more]).values)
    for moment, count in ((before, 40), (after, 42)):
        expected = gml.kneighbors(more, moment.embedded, n_neighbors=count)
        found = moment.nearest(more, count, "auto")
        np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_allclose(
            moment.distances(more, "auto"), gml.pairwise_distances(more, moment.embedded), atol=1e-5
        )


def test_vectors_are_searched_exactly_and_never_copied(rng):
    values = vectors(rng, 5000)
    moment = ReferenceGraphs(values, np.zeros(5000))
    for _ in range(30):
        moment = moment.grown(vectors(rng, 1), np.ones(1), None)
    assert np.shares_memory(moment._state.segments[0].arrays["vectors"], values.values.numpy())
    queries = vectors(rng, 3)
    distances, rows = moment.nearest(queries, 6, "cpu")
    for q in range(3):
        expected, where = nearest_rows(moment.embedded.values.numpy(), queries.values[q].numpy(), 6)
        np.testing.assert_array_equal(rows[q], where)
        np.testing.assert_allclose(distances[q], expected, rtol=1e-6)


def test_names_of_those_with_and_without(rng):
    names = np.array(["water", "salt"], dtype=object)
    plain = ReferenceGraphs(vectors(rng, 2), np.zeros(2))
    assert plain.grown(vectors(rng, 1), np.zeros(1), None).names is None
    assert plain.grown(vectors(rng, 2), np.zeros(2), names).names.tolist() == ["0", "1", "water", "salt"]
    named = ReferenceGraphs(vectors(rng, 2), np.zeros(2), names)
    assert named.grown(vectors(rng, 1), np.zeros(1), None).names.tolist() == ["water", "salt", "2"]


def test_classes_follow(rng):
    first = ReferenceGraphs(vectors(rng, 2), np.array(["b", "a"]))
    assert first.classes.tolist() == ["a", "b"]
    assert first.grown(vectors(rng, 1), np.array(["abc"]), None).classes.tolist() == ["a", "abc", "b"]


def test_rounding_and_pickling(rng):
    values = vectors(rng, 120)
    moment = ReferenceGraphs(values[:110], np.zeros(110)).grown(values[110:], np.ones(10), None)
    expected = 1e-6 * gml.pairwise_distances(values[:100]).max()
    assert moment.rounding == pytest.approx(expected, rel=1e-4)
    copy = pickle.loads(pickle.dumps(moment))
    np.testing.assert_array_equal(copy.embedded.values, values.values)
    np.testing.assert_array_equal(copy.y, moment.y)
    np.testing.assert_array_equal(copy.nearest(values, 3, "auto")[1], moment.nearest(values, 3, "auto")[1])


# --- targets of graphs that are added ---------------------------------------------------------------------------------


PATHS = as_graphs([nx.path_graph(n) for n in (2, 3)])
WHOLE, NAMES, FLAGS = np.array([0, 1, 2]), np.array(["a", "b"]), np.array([False, True])


@pytest.mark.parametrize(
    ("classes", "y"),
    [
        (WHOLE, [1, 7]), (WHOLE, [3, 3]), (WHOLE, np.array([5], dtype=np.uint64)[[0, 0]]), (WHOLE, [[1], [2]]),
        (NAMES, ["b", "something new"]), (FLAGS, [True, True]), (WHOLE.astype(float), [1, 7]),
        (WHOLE, [1.0, 7.0]), (WHOLE.astype(np.uint8), [-1, 300]),
    ],
)  # fmt: skip
def test_classes_keep_the_type_of_those_that_are_there(classes, y):
    found = added_classes(PATHS, y, classes)
    assert found.tolist() == np.ravel(y).tolist()
    kinds = {"u": "i"}
    joined = np.result_type(found, classes).kind
    assert kinds.get(joined, joined) == kinds.get(classes.dtype.kind, classes.dtype.kind)


@pytest.mark.parametrize(
    ("classes", "y", "words"),
    [
        (WHOLE, [0.5, 1.0], "class labels must be discrete"),
        (WHOLE, [0, np.nan], "the class of graph 1 is missing"),
        (WHOLE, [0, np.inf], "the class of graph 1 is missing"),
        (WHOLE, [None, 1], "the class of graph 0 is missing"),
        (NAMES, ["a", None], "the class of graph 1 is missing"),
        (NAMES, ["a", 1], "all strings or all numbers"),
        (NAMES, [0, 1], "labels are numbers, those of the reference graphs strings"),
        (FLAGS, [2, 2], "labels are numbers, those of the reference graphs True or False"),
        (WHOLE, [True, False], "labels are True or False, those of the reference graphs numbers"),
        (WHOLE, [1 + 2j, 0], "labels are of type complex128"),
        (WHOLE, np.array([0, 1], dtype="datetime64[s]"), "labels are of type datetime64"),
        (WHOLE, [2**70, 1], "class labels must be discrete"),
        (WHOLE.astype(np.uint64), [-1, 1], "labels must be whole numbers of type uint64"),
        (WHOLE, [[0, 1], [1, 0]], r"2 graphs, but labels of shape \(2, 2\)"),
        (WHOLE, [0], "2 graphs, but 1 targets"),
        (WHOLE, None, "no labels: pass y"),
    ],
)
def test_classes_that_fit_refuses(classes, y, words):
    with pytest.raises(ValueError, match=words):
        added_classes(PATHS, y, classes)


@pytest.mark.parametrize(
    ("shape", "y"),
    [
        ((), [1.5, 2.5]), ((), [3, 3]), ((), [[1.5], [2.5]]), ((), ["1.5", "2"]), ((), [True, False]),
        ((2,), [[1.0, np.nan], [2.0, 3.0]]), ((2,), [[1.0, None], [2.0, 3.0]]), ((1,), [[1.0], [1.0]]),
    ],
)  # fmt: skip
def test_numbers_are_read_as_in_fit(shape, y):
    found = added_numbers(PATHS, y, shape)
    assert (found.shape, found.dtype) == ((2, *shape), np.float64)
    np.testing.assert_array_equal(found, np.array(y, dtype=object).astype(float).reshape(found.shape))


@pytest.mark.parametrize(
    ("shape", "y", "words"),
    [
        ((), [1e200, 1.0], r"targets beyond 1e\+100 cannot be squared"),
        ((), [1 + 2j, 1.0], "targets must be real numbers, got complex128"),
        ((), [1.0, np.nan], "the target of graph 1 is NaN or infinite"),
        ((), [1.0, None], "the target of graph 1 is NaN or infinite"),
        ((), [1.0, "many"], "targets must be numbers, that of graph 1 is 'many'"),
        ((), np.array([0, 1], dtype="datetime64[s]"), "targets must be numbers, that of graph 0 is"),
        ((2,), [[1.0, 2.0], [None, None]], "the targets of graph 1 are all NaN"),
        ((2,), [[1.0, 2.0], [1.0, np.inf]], "the targets of graph 1 are all NaN, or some infinite"),
        ((2,), [1.0, 2.0], r"2 graphs, but labels of shape \(2,\)"),
        ((), [[1.0, 2.0], [1.0, 2.0]], r"2 graphs, but labels of shape \(2, 2\)"),
        ((), None, "no labels: pass y"),
    ],
)
def test_numbers_that_fit_refuses(shape, y, words):
    with pytest.raises(ValueError, match=words):
        added_numbers(PATHS, y, shape)


def test_targets_that_graphs_carry():
    def carrying(*ys):
        return as_graphs([Data(num_nodes=2, y=torch.tensor(y)) for y in ys])

    assert added_classes(carrying(1, 4), None, WHOLE).tolist() == [1, 4]
    assert added_numbers(carrying(1.5, 2.5), None, ()).tolist() == [1.5, 2.5]


def test_what_add_refuses_changes_nothing(tmp_path):
    graphs = points(0.0, 1.0, 2.0, 3.0)
    model = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=1).fit(graphs, [0.5, 1.5, 2.5, 3.5])
    for bad in (1e200, 1 + 2j, None):
        with pytest.raises(ValueError, match="target"):
            model.add(points(9.0), [bad])
    again = gml.load(model.add(points(9.0), [9.5]).save(tmp_path / "numbers"))
    assert again.predict(points(8.0)).tolist() == [9.5]
    flags = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=1).fit(graphs, [False, False, True, True])
    with pytest.raises(ValueError, match="labels are numbers"):
        flags.add(points(9.0), [2])
    assert flags.add(points(9.0), [True]).classes_.tolist() == [False, True]
    whole = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=1).fit(graphs, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="class labels must be discrete"):
        whole.add(points(9.0), [0.5])
    assert whole.add(points(9.0), [2.0]).classes_.dtype == np.int64


def test_missing_numbers_of_several_are_added_as_none():
    y = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, np.nan], [4.0, 40.0]])
    model = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=1).fit(points(0.0, 1.0, 2.0, 3.0), y)
    model.add(points(9.0), [[9.0, None]])
    np.testing.assert_array_equal(model.y_[-1], [9.0, np.nan])
