import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.index import approximate, approximate_file, graph_index
from toy_metrics import FirstColumn, points

PLACES = [0.0, 1.0, 3.0, 6.0, 10.0]


def line(*values, names=None):
    """Graphs of one node, at these places."""
    graphs = gml.as_graphs(points(*values))
    return graphs if names is None else gml.graphs.Graphs(graphs.sizes, graphs.edges, graphs.x, names=names)


@pytest.fixture
def metric():
    return FirstColumn().fit(points(0, 1))


@pytest.fixture
def index(metric):
    return gml.GraphIndex(metric).add(points(*PLACES), ids=list("abcde"), metadata={"place": PLACES, "n": range(5)})


def molecules(rng, count):
    graphs = []
    for n in rng.integers(4, 12, count):
        graph = nx.gnm_random_graph(int(n), int(n) + 2, seed=int(rng.integers(10**6)))
        nx.set_node_attributes(graph, {v: rng.normal(size=3) for v in graph}, "x")
        graphs.append(graph)
    return graphs


# --- search ----------------------------------------------------------------------------------------------------------


def test_search_by_hand(index):
    distances, ids = index.search(points(2.9, 0.2), k=2)
    assert ids.tolist() == [["c", "b"], ["a", "b"]]
    np.testing.assert_allclose(distances, [[0.1, 1.9], [0.2, 0.8]], atol=1e-6)
    assert distances.dtype == np.float32
    _, _, notes = index.search(points(7), k=1, metadata=True)
    assert notes == [[{"place": 6.0, "n": 3}]]


def test_search_by_id_and_what_is_kept_of_a_graph(index):
    distances, ids, notes = index.search_ids(["d", "a"], k=2, metadata=True)
    assert ids.tolist() == [["d", "c"], ["a", "b"]]
    np.testing.assert_allclose(distances, [[0, 3], [0, 1]], atol=1e-6)
    assert notes[0][1] == {"place": 3.0, "n": 2}
    np.testing.assert_allclose(gml.pairwise_distances(index.embedded(["e", "b"]))[0, 1], 9, atol=1e-5)
    with pytest.raises(ValueError, match="id 'z' is not in the index"):
        index.search_ids(["z"], k=1)
    with pytest.raises(ValueError, match="k=6, but the index holds 5"):
        index.search_ids(["a"], k=6)


def test_search_by_id_among_curves(rng):
    graphs = molecules(rng, 20)
    metric = gml.SGML(random_state=0, n_epochs=1).fit(graphs, rng.integers(0, 2, 20))
    index = gml.GraphIndex(metric).add(graphs[:12], ids=range(12)).add(graphs[12:], ids=range(12, 20))
    expected = metric.pairwise_distances(graphs)
    distances, ids = index.search_ids([17, 3], k=5)
    np.testing.assert_allclose(distances, np.sort(expected[[17, 3]], 1)[:, :5], rtol=1e-3, atol=1e-3)
    assert ids[:, 0].tolist() == [17, 3]
    np.testing.assert_allclose(
        gml.pairwise_distances(index.embedded([17, 3])), expected[np.ix_([17, 3], [17, 3])], rtol=1e-3, atol=1e-3
    )


def test_radius_by_hand(index):
    distances, ids = index.search_radius(points(2, 50), 2.0)
    assert [list(one) for one in ids] == [["b", "c", "a"], []]
    np.testing.assert_allclose(distances[0], [1, 1, 2], atol=1e-6)
    assert len(distances[1]) == 0
    _, _, notes = index.search_radius(points(2), 1.0, metadata=True)
    assert [note["n"] for note in notes[0]] == [1, 2]


@pytest.mark.parametrize("kind", ["GraphMetric", "SGML", "SGML, few cells"])
def test_neighbours_are_those_of_all_distances(kind, rng):
    graphs, y = molecules(rng, 80), rng.integers(0, 2, 80)
    metric = gml.GraphMetric(random_state=0, estimate=False) if kind == "GraphMetric" else gml.SGML(random_state=0)
    if "cells" in kind:
        metric.set_params(n_cells=2)
    metric.fit(graphs[:60], y[:60])
    index = gml.GraphIndex(metric).add(graphs[:60])
    exact = metric.pairwise_distances(graphs, graphs[:60])
    distances, ids = index.search(graphs, k=7)
    assert ids.dtype == np.int64
    scale = exact.max()
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :7], atol=1e-4 * scale)
    np.testing.assert_allclose(np.take_along_axis(exact, ids, 1), distances, atol=1e-4 * scale)
    assert (distances[:60, 0] == 0).all()
    radius = float(np.quantile(exact, 0.2))
    near, near_ids = index.search_radius(graphs[70:72], radius)
    for q in range(2):
        inside = exact[70 + q] <= radius * (1 - 1e-4)
        assert (
            set(np.flatnonzero(inside)) <= set(near_ids[q]) <= set(np.flatnonzero(exact[70 + q] <= radius * (1 + 1e-4)))
        )
        assert (near[q] <= radius).all()


def test_equal_distances_come_in_the_order_of_adding(metric):
    index = gml.GraphIndex(metric).add(points(5, 5, 1, 5), ids=["d", "c", "b", "a"])
    assert index.search(points(5), k=3)[1].tolist() == [["d", "c", "a"]]


def test_distances_below_the_rounding_of_a_metric_are_zero():
    class Rounded(FirstColumn):
        rounding = 0.1

    index = gml.GraphIndex(Rounded().fit(points(0, 1))).add(points(5.05, 5.01, 5.5))
    distances, ids = index.search(points(5), k=3)
    assert ids.tolist() == [[0, 1, 2]]
    assert distances[0, :2].tolist() == [0, 0]
    assert [list(one) for one in index.search_radius(points(5), 0.0)[1]] == [[0, 1]]


def test_approximate_search_says_what_it_finds(rng, metric):
    pytest.importorskip("usearch", reason="needs graph-metric-learn[index]")
    index = gml.GraphIndex(metric).add(points(*rng.normal(size=300)))
    assert index.recall_ is None
    assert "has not been used" in index.describe_recall()
    exact, approximate = index.search(points(0.3), k=5), index.search(points(0.3), k=5, approximate=True)
    np.testing.assert_array_equal(approximate[1], exact[1])
    assert index.recall_ > 0.9
    assert "% of the 10 nearest graphs (measured on a sample)" in index.describe_recall()
    index.add(points(0.3), ids=["new"])
    assert index.search(points(0.3), k=1, approximate=True)[1][0, 0] == "new"
    index.remove(["new"])
    index.compact()
    assert index.search(points(0.3), k=5, approximate=True)[1].tolist() == exact[1].tolist()


def test_distances_to_the_nearest_other_graph(index, metric, rng):
    assert index.nearest_distances().tolist() == [1, 1, 2, 3, 4]
    assert len(index.nearest_distances(3)) == 3
    index.add(points(0.0, 0.0), ids=["copy", "another"])  # each has a copy beside itself, which may come first
    assert index.nearest_distances().tolist() == [0, 1, 2, 3, 4, 0, 0]
    with pytest.raises(ValueError, match="most must be"):
        index.nearest_distances(0)


def test_drift(metric, rng):
    with pytest.raises(ValueError, match="0 graphs do not say what distances are usual: 20 are needed"):
        gml.GraphIndex(metric).add(points(1)).drift(points(1))
    index = gml.GraphIndex(metric).add(points(*rng.normal(size=300)))
    assert not index.drift(points(*rng.normal(size=100))).differs
    drift = index.drift(points(*rng.normal(size=100) + 3))
    assert drift.differs
    assert drift.distances.shape == (100,)
    np.testing.assert_array_equal(drift.usual, index.nearest_distances())
    reference = points(*rng.normal(size=100) + 3)
    assert not index.drift(points(*rng.normal(size=100) + 3), reference).differs
    np.testing.assert_array_equal(
        index.drift(points(1.0), iter(reference)).usual, index.search(reference, k=1)[0][:, 0]
    )


# --- ids -------------------------------------------------------------------------------------------------------------


def test_names_are_ids_where_they_differ(metric):
    index = gml.GraphIndex(metric).add(line(1, 2, names=["x", "y"])).add(line(3, 4, names=["z", "z"])).add(points(5))
    assert index.ids.tolist() == ["x", "y", 0, 1, 2]
    assert index.ids.dtype == object
    with pytest.raises(ValueError, match="id 'x' is in the index already"):
        index.add(line(9, names=["x"]))


def test_numbers_stay_numbers(metric):
    index = gml.GraphIndex(metric).add(points(1, 2), ids=np.array([10, 20])).add(points(3))
    assert index.ids.tolist() == [10, 20, 21]
    assert index.ids.dtype == np.int64
    assert 10 in index
    assert np.int64(20) in index
    assert "10" not in index


def test_any_hashable_in_memory(metric, tmp_path):
    index = gml.GraphIndex(metric).add(points(1, 2), ids=[("a", 1), 3.5])
    assert index.search(points(2), k=1)[1][0, 0] == 3.5
    assert ("a", 1) in index
    index.remove([("a", 1)])
    with pytest.raises(ValueError, match="ids on disk"):
        index.save(tmp_path / "index")


def test_update_and_remove(index):
    index.update(points(100), ["c"])
    assert index.search(points(99), k=1)[1][0, 0] == "c"
    assert index.metadata("c") == [{"place": 3.0, "n": 2}]
    index.update(points(3), ["c"], ["other"])
    assert index.metadata(["c", "a"]) == ["other", {"place": 0.0, "n": 0}]
    index.remove("a")
    index.remove(["b", "d"])
    assert sorted(index.ids.tolist()) == ["c", "e"]
    assert len(index) == 2


# --- streams ---------------------------------------------------------------------------------------------------------


def test_a_stream_is_added_in_chunks(metric, monkeypatch):
    monkeypatch.setattr(graph_index, "_CHUNK", 10)
    index = gml.GraphIndex(metric)
    index.add(iter(points(*range(25))), ids=(f"g{i}" for i in range(25)), metadata={"place": range(25)})
    assert len(index) == 25
    assert index.metadata("g24") == [{"place": 24}]
    index = gml.GraphIndex(metric)
    with pytest.raises(ValueError, match="graph 12 "):
        index.add(iter([*points(*range(12)), (np.zeros((0, 0)), np.zeros((0, 1)))]))
    assert len(index) == 10  # the first chunk is a change of its own


# --- on disk ---------------------------------------------------------------------------------------------------------


def test_saving_and_loading(index, tmp_path):
    expected = index.search(points(2.9, 0.2), k=4, metadata=True)
    path = index.save(tmp_path / "index")
    loaded = gml.GraphIndex.load(path)
    assert type(loaded.metric) is FirstColumn
    for found, wanted in zip(loaded.search(points(2.9, 0.2), k=4, metadata=True), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    loaded.add(points(3.0), ids=["new"])
    assert "new" not in index
    assert loaded.save(path) == path
    with gml.GraphIndex.open(path, read_only=True) as again:
        assert "new" in again
        again.verify()
        with pytest.raises(ValueError, match="opened for reading"):
            again.remove("new")
    loaded.close()


def test_the_approximate_index_is_read_instead_of_built(metric, rng, tmp_path, monkeypatch):
    pytest.importorskip("usearch", reason="needs graph-metric-learn[index]")
    places = rng.normal(size=400)
    path = gml.GraphIndex(metric).add(points(*places[:300])).save(tmp_path / "index")
    with gml.GraphIndex.load(path) as index:
        index.save_approximate()
        index.remove([5])
        index.verify()
    added, add = [], approximate.UsearchEngine.add
    monkeypatch.setattr(
        approximate.UsearchEngine, "add", lambda self, first, some: (added.append(len(some)), add(self, first, some))
    )
    with gml.GraphIndex.load(path, read_only=True) as reader:
        wanted = reader.search(points(0.3, places[5]), k=5)
        found = reader.search(points(0.3, places[5]), k=5, approximate=True)
        np.testing.assert_array_equal(found[1], wanted[1])
        assert reader.recall_ > 0.9
        assert added == []
    with gml.GraphIndex.load(path) as index:
        index.add(points(*places[300:]))
        assert index.search(points(places[399]), k=1, approximate=True)[1][0, 0] == 399
        assert added == [100]
        index.compact()
        index.search(points(0.3), k=1, approximate=True)
        assert added == [100, 399]  # rows have other numbers now
        index.save_approximate()
    (file,) = path.glob("build-*/approximate")
    file.write_bytes(file.read_bytes()[:-1])
    for damaged in (lambda index: index.verify(), lambda index: index.search(points(1), k=1, approximate=True)):
        with pytest.raises(ValueError, match="approximate is damaged: it is not what was written: remove it, or save"):
            damaged(gml.GraphIndex.load(path))


def test_where_an_approximate_index_cannot_be_saved(index, metric, rng, tmp_path, monkeypatch):
    pytest.importorskip("usearch", reason="needs graph-metric-learn[index]")
    with pytest.raises(ValueError, match="save and load it first"):
        index.save_approximate()
    with pytest.raises(ValueError, match="the index is empty"):
        gml.GraphIndex.load(gml.GraphIndex(metric).save(tmp_path / "empty")).save_approximate()
    path = index.save(tmp_path / "index")
    with pytest.raises(ValueError, match="opened for reading"):
        gml.GraphIndex.load(path, read_only=True).save_approximate()
    curves = gml.SGML(random_state=0, n_epochs=1).fit(molecules(rng, 20), rng.integers(0, 2, 20))
    with pytest.raises(ValueError, match="SGML compares curves, not vectors"):
        gml.GraphIndex(curves).save_approximate()
    writer = gml.GraphIndex.load(path)
    writer.save_approximate()
    monkeypatch.setattr(approximate_file, "LINKS", 16)
    reader = gml.GraphIndex.load(path)
    with pytest.warns(UserWarning, match="another version of usearch or of this library: it is not used"):
        assert reader.search(points(2.9), k=1, approximate=True)[1][0, 0] == "c"


def test_vectors_for_other_programs(index, tmp_path):
    index.remove(["b"])
    path = index.export(tmp_path / "vectors.npy")
    np.testing.assert_array_equal(np.load(path), index.embedded(index.ids).values)
    with pytest.raises(ValueError, match="exists already"):
        index.export(path)
    gml.GraphIndex.load(index.save(tmp_path / "index")).export(path, overwrite=True)
    assert np.load(path)[:, 0].tolist() == [0, 3, 6, 10]
    with pytest.raises(ValueError, match="there are no graphs"):
        gml.GraphIndex(index.metric).export(tmp_path / "empty.npy")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    table = parquet.read_table(index.export(tmp_path / "vectors.parquet"))
    assert table["id"].to_pylist() == ["a", "c", "d", "e"]
    assert table["metadata"][0].as_py() == '{"place": 0.0, "n": 0}'
    numbered = gml.GraphIndex(index.metric).add(points(1, 2), ids=[5, 7])
    assert parquet.read_table(numbered.export(tmp_path / "numbers.parquet"))["id"].to_pylist() == [5, 7]


def test_an_empty_index_is_saved_and_filled_later(metric, tmp_path):
    path = gml.GraphIndex(metric).save(tmp_path / "index")
    with gml.GraphIndex.load(path) as index:
        assert len(index) == 0
        index.add(points(*PLACES))
    assert gml.GraphIndex.load(path).search(points(5.9), k=1)[1].tolist() == [[3]]


def test_sgml_on_disk(rng, tmp_path):
    graphs = molecules(rng, 30)
    metric = gml.SGML(random_state=0).fit(graphs, rng.integers(0, 2, 30))
    path = gml.GraphIndex(metric).add(graphs).save(tmp_path / "index")
    loaded = gml.GraphIndex.load(path)
    loaded.remove([3])
    loaded.compact()
    distances, ids = loaded.search(graphs[:5], k=2)
    assert ids[:3, 0].tolist() == [0, 1, 2]
    assert ids[3, 0] != 3
    exact = metric.pairwise_distances(graphs[:5], graphs)
    np.testing.assert_allclose(np.take_along_axis(exact, ids, 1), distances, atol=1e-5)
    loaded.close()


def test_a_reader_looks_again(index, tmp_path):
    path = index.save(tmp_path / "index")
    reader, writer = gml.GraphIndex.load(path), gml.GraphIndex.load(path)
    writer.add(points(2), ids=["new"])
    assert len(reader) == 5
    assert reader.refresh()
    assert reader.search(points(2), k=1)[1][0, 0] == "new"
    writer.close()


def test_loading_an_index_that_is_being_replaced(index, tmp_path, monkeypatch):
    """Its metric is gone when it is to be read; the index that came in its place is loaded."""
    path, other = index.save(tmp_path / "index"), gml.GraphIndex(index.metric).add(points(7))
    load_model = graph_index.load_model

    def late(folder, kinds):
        monkeypatch.setattr(graph_index, "load_model", load_model)
        other.save(path, overwrite=True)
        return load_model(folder, kinds)

    monkeypatch.setattr(graph_index, "load_model", late)
    assert gml.GraphIndex.load(path).ids.tolist() == [0]


# --- bad input -------------------------------------------------------------------------------------------------------


def test_what_is_refused(index, metric):
    for k, message in ((6, "k=6, but the index holds 5 graphs"), (0, "k must be"), (2.0, "k must be")):
        with pytest.raises(ValueError, match=message):
            index.search(points(1), k=k)
    with pytest.raises(ValueError, match="k=10, but the index holds 0 graphs"):
        gml.GraphIndex(metric).search(points(1))
    assert [len(one) for one in gml.GraphIndex(metric).search_radius(points(1, 2), 3.0)[0]] == [0, 0]
    for radius in (-1, np.nan, np.inf, "1", True):
        with pytest.raises(ValueError, match="radius must be a number"):
            index.search_radius(points(1), radius)
    with pytest.raises(ValueError, match="1 ids for 2 graphs"):
        index.add(points(1, 2), ids=["x"])
    with pytest.raises(ValueError, match="metadata must have one value"):
        index.add(points(1, 2), metadata=["x"])
    with pytest.raises(ValueError, match="id 'z' is not in the index"):
        index.metadata("z")


def test_metrics_that_cannot_be_indexed():
    with pytest.raises(ValueError, match="take its metric_"):
        gml.GraphIndex(gml.GraphKNNClassifier())
    with pytest.raises(Exception, match="not fitted"):
        gml.GraphIndex(gml.GraphMetric())

    class Sparse(FirstColumn):
        def transform(self, graphs):
            from scipy import sparse

            return sparse.csr_array(super().transform(graphs))

    with pytest.raises(ValueError, match="Sparse has sparse vectors"):
        gml.GraphIndex(Sparse().fit(points(0))).add(points(1))


def test_vectors_must_be_finite():
    class Undefined(FirstColumn):
        def transform(self, graphs):
            return np.array([[1.0], [np.nan]], np.float32)

    with pytest.raises(ValueError, match="graph 1 has a vector that is not finite"):
        gml.GraphIndex(Undefined().fit(points(0))).add(points(1, 2))


def test_a_metric_that_was_fitted_anew_does_not_fit(index):
    index.metric.transform = lambda graphs: np.zeros((1, 3), np.float32)  # as if its width had changed
    with pytest.raises(ValueError, match="vectors of width 3, those of the index have 1: it was fitted anew"):
        index.search(points(1), k=1)
