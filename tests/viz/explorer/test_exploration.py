import base64
import json
import re

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import graph_metric_learn as gml
from graph_metric_learn.viz.explorer.exploration import explored, explored_index, map_layout
from graph_metric_learn.viz.explorer.page import page_data
from toy_metrics import FirstColumn, points


def data_of(page):
    return json.loads(re.search(r'type="application/json">(.*?)</script>', page, flags=re.DOTALL)[1])


@pytest.fixture(scope="module")
def page(classifier, rings_and_stars, tmp_path_factory):
    graphs, y = rings_and_stars
    path = gml.explore(classifier, graphs, y, path=tmp_path_factory.mktemp("explorer") / "e.html", title="Rings")
    return path.read_text(encoding="utf-8")


def test_the_page_has_all_graphs(page, rings_and_stars):
    graphs, y = rings_and_stars
    data = data_of(page)
    assert data["names"] == [graph.name for graph in graphs]
    assert [data["target"]["classes"][code] for code in data["target"]["values"]] == y.tolist()
    assert data["target"]["known"] == [1] * 36 + [0] * 4
    assert np.frombuffer(base64.b64decode(data["drawings"]["sizes"]), "<u4").tolist() == [len(g) for g in graphs]
    assert data["title"] == "Rings"
    assert data["report"].startswith("compares ")
    assert "onerror" not in re.sub(r"\\u003cimg src=x onerror", "", page)


def test_neighbours_and_distances_are_those_of_the_metric(page, classifier, rings_and_stars):
    graphs, _ = rings_and_stars
    near = data_of(page)["near"]
    ids = np.frombuffer(base64.b64decode(near["ids"]), "<u2").reshape(-1, near["k"])
    found = np.frombuffer(base64.b64decode(near["distances"]), "<f4").reshape(-1, near["k"])
    distances = classifier.metric_.pairwise_distances(graphs)
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_allclose(found, np.sort(distances, axis=1)[:, : near["k"]], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.take_along_axis(distances, ids.astype(int), 1), found, rtol=1e-3, atol=1e-4)


def test_as_many_pairs_are_explained_as_asked_for(classifier, rings_and_stars):
    graphs, y = rings_and_stars
    found = explored(classifier, graphs, y, explanations=7).explained.as_dict()
    assert len(base64.b64decode(found["pairs"])) == 7 * 2 * 4
    assert np.frombuffer(base64.b64decode(found["ends"]), "<u4")[-1] == len(base64.b64decode(found["records"]))


def test_large_drawings_leave_less_room_for_explanations(classifier, rings_and_stars, monkeypatch):
    graphs, y = rings_and_stars
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration._PAGE_BYTES", 20_000)
    few = explored(classifier, graphs, y).explained.as_dict()
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration._PAGE_BYTES", 3_000)
    assert 0 < len(few["records"]) < 20_000
    assert explored(classifier, graphs, y).explained.pairs == []


def test_a_metric_without_explanations_can_be_explored():
    found = explored(FirstColumn().fit(points(1.0, 2.0)), points(1.0, 2.0, 4.0), names=["a", "b", "c"])
    assert found.explained.pairs == []
    assert found.targets.kind == "none"
    assert found.positions.shape == (3, 2)


def test_of_many_graphs_some_are_drawn_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration.MOST_GRAPHS", 10)
    at = np.arange(25.0)
    found = explored(FirstColumn().fit(points(*at)), points(*at), y=[0, 1] * 12 + [0])
    assert len(found.names) == len(found.targets.values) == 10
    assert found.note.startswith("10 of 25 graphs")
    assert found.names == sorted(found.names, key=lambda name: int(name.split()[1]))


def test_a_dense_graph_is_drawn_with_some_of_its_edges(monkeypatch):
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration._EDGE_BYTES", 1000)
    graphs = [nx.complete_graph(20) for _ in range(3)]
    metric = gml.GraphMetric(features=["degree@0"], random_state=0).fit([*graphs, nx.path_graph(9)])
    found = explored(metric, graphs)
    assert 4 * 3 * found.most_edges <= 1000


def test_of_large_graphs_the_largest_are_not_drawn_and_the_page_says_so(classifier, rings_and_stars, monkeypatch):
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration._DRAWING_BYTES", 1000)
    graphs, y = rings_and_stars
    found = explored(classifier, graphs, y)
    sizes = np.array([len(graph) for graph in graphs])
    assert 0 < found.drawn.sum() < 40
    assert sizes[found.drawn].max() <= sizes[~found.drawn].min()
    assert f"{(~found.drawn).sum()} of the graphs are too large to be drawn" in found.note
    data = page_data(found)
    assert len(data["drawings"]["places"]) + len(data["drawings"]["edges"]) <= 1000
    pairs = np.frombuffer(base64.b64decode(data["explained"]["pairs"]), "<u4")
    assert len(pairs) > 0
    assert found.drawn[pairs].all()
    assert not any("layout" in vars(look) for look in np.array(found.looks, dtype=object)[~found.drawn])


def test_bad_input_is_named(classifier, rings_and_stars, tmp_path):
    graphs, y = rings_and_stars
    (tmp_path / "there.html").write_text("old")
    with pytest.raises(ValueError, match=r"there\.html exists already"):
        gml.explore(classifier, graphs, path=tmp_path / "there.html")
    with pytest.raises(ValueError, match="2 names for 40 graphs"):
        explored(classifier, graphs, names=["a", "b"])
    with pytest.raises(ValueError, match="40 graphs, but 3 targets"):
        explored(classifier, graphs, y[:3])
    with pytest.raises(ValueError, match="expected a fitted metric"):
        explored("model", graphs)


def line(targets):
    metric = FirstColumn().fit(points(0, 1))
    notes = [None if one is None else {"target": one} for one in targets]
    return gml.GraphIndex(metric).add(points(0, 1, 3, 6, 10, 15)[: len(targets)], ids=list("abcdef"), metadata=notes)


def test_map_neighbours_and_classes_are_those_of_the_index(classifier, rings_and_stars):
    graphs, y = rings_and_stars
    metric = classifier.metric_
    index = gml.GraphIndex(metric).add(graphs, metadata=[{"target": one} for one in y.tolist()])
    index.remove(["graph number 0"])
    found = explored_index(index)
    assert found.names == [graph.name for graph in graphs[1:]]
    assert [found.targets.classes[code] for code in found.targets.values] == y[1:].tolist()
    expected = metric.pairwise_distances(graphs[1:])
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(found.near.distances, np.sort(expected, 1)[:, :8], rtol=1e-3, atol=1e-3)
    data = page_data(found)
    assert base64.b64decode(data["drawings"]["drawn"]) == bytes(39)
    assert "keeps no graphs" in data["undrawn"]
    assert found.positions.shape == (39, 2)


def test_curves_have_a_map_too():
    graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    metric = gml.SGML(random_state=0, n_epochs=1).fit(graphs, [0] * 8 + [1] * 8)
    found = explored_index(gml.GraphIndex(metric).add(graphs))
    assert found.names == [str(i) for i in range(16)]
    assert found.targets.kind == "none"
    np.testing.assert_allclose(
        found.near.distances[:, 0], np.sort(metric.pairwise_distances(graphs), 1)[:, 1], atol=1e-3
    )


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        ([0.5, 1.25, None, 2.5, 3.0, 9.0], "numbers", [0.5, 1.25, np.nan, 2.5, 3.0, 9.0]),
        (["b", "a", None, "a", "b", "b"], "classes", [1, 0, -1, 0, 1, 1]),
        ([None] * 6, "none", None),
    ],
)
def test_targets_are_what_the_metadata_say(given, kind, values):
    found = explored_index(line(given)).targets
    assert found.kind == kind
    assert (found.values is None) == (values is None)
    if values is not None:
        np.testing.assert_array_equal(found.values, values)
    assert found.predicted is None


def test_of_a_large_index_some_graphs_are_shown_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration.MOST_GRAPHS", 4)
    found = explored_index(line([None] * 6))
    assert len(found.names) == 4
    assert found.note.startswith("4 of 6 graphs")


def test_a_map_keeps_neighbours_together_and_fits_the_square(rng):
    centres = rng.normal(size=(4, 30)) * 10
    vectors = np.repeat(centres, 25, axis=0) + rng.normal(size=(100, 30))
    places = map_layout(vectors.astype(np.float32))
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9
    away = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(100)
    assert (away.argmin(1) // 25 == np.arange(100) // 25).all()
    assert np.array_equal(places, map_layout(vectors.astype(np.float32)))
    sparse_places = map_layout(sparse.csr_array(np.abs(vectors)))
    assert sparse_places.shape == (100, 2)
    for count in (1, 2, 5):
        assert np.isfinite(map_layout(np.ones((count, 1), dtype=np.float32))).all()
