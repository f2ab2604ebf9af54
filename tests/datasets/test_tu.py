import io
import warnings
import zipfile

import numpy as np
import pytest
import torch

from graph_metric_learn.datasets import load_tu, tu_files
from graph_metric_learn.graphs import as_graphs
from tu_toy import TOY, same, write_folder

# Name, graphs, mean nodes, mean edges, class labels, label columns (their widths), attribute columns, largest degree.
COLLECTION = [
    ("BZR", 405, 35.75, 38.36, [-1, 1], [54], 3, 4),
    ("COX2", 467, 41.22, 43.45, [-1, 1], [36], 3, 4),
    ("PROTEINS", 1113, 39.06, 72.82, [1, 2], [3], 1, 25),
    ("ENZYMES", 600, 32.63, 62.14, [1, 2, 3, 4, 5, 6], [4], 18, 9),
    ("MUTAG", 188, 17.93, 19.79, [-1, 1], [7], 0, 4),
    ("NCI1", 4110, 29.87, 32.30, [0, 1], [38], 0, 4),
    ("IMDB-BINARY", 1000, 19.77, 96.53, [0, 1], [], 0, 135),
    ("IMDB-MULTI", 1500, 13.00, 65.94, [1, 2, 3], [], 0, 88),
    ("Cuneiform", 267, 21.27, 44.80, list(range(30)), [4, 3], 3, 11),
]


EDGE_KINDS = ("A", "edge_labels", "edge_attributes")

# Over the six nodes kept, the first attribute has mean 2 and deviation sqrt(4/6), the second is constant.
S = np.sqrt(1.5)
LABELS = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
ATTRIBUTES = [[-S, 0], [-S, 0], [S, 0], [S, 0], [0, 0], [0, 0]]
DEGREES = [[1, 0], [0, 1], [1, 0], [0, 0], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("labels", LABELS),
        ("attributes", ATTRIBUTES),
        ("degree", DEGREES),
        ("fuse", np.hstack([ATTRIBUTES, LABELS])),
        ("auto", np.hstack([ATTRIBUTES, LABELS])),
        (None, [[1, 7], [1, 7], [3, 7], [3, 7], [2, 7], [2, 7]]),
    ],
)
def test_features_computed_by_hand(tmp_path, features, expected):
    dataset = load_tu("TOY", features=features, root=write_folder(tmp_path), min_nodes=2)
    x = torch.cat([graph.x for graph in dataset.graphs])
    assert x.dtype == torch.float32
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)
    assert [graph.node_labels.tolist() for graph in dataset.graphs] == [[0, 2, 2, 0], [3, 0]]
    assert dataset.graphs[0].node_labels.dtype == torch.int64


@pytest.mark.parametrize(
    ("without", "chosen"),
    [
        ([], "fuse"),
        (["node_labels"], "attributes"),
        (["node_attributes"], "labels"),
        (["node_labels", "node_attributes"], "degree"),
    ],
)
def test_auto_takes_what_there_is(tmp_path, without, chosen):
    folder = write_folder(tmp_path, **dict.fromkeys(without))
    same(load_tu("TOY", root=folder), load_tu("TOY", features=chosen, root=folder))


def test_raw_datasets_say_nothing_they_do_not_know(tmp_path):
    folder = write_folder(tmp_path, node_labels=None, node_attributes=None)
    graph = load_tu("TOY", features=None, root=folder).graphs[0]
    assert sorted(graph.keys()) == ["edge_index", "num_nodes", "y"]


@pytest.mark.parametrize(
    ("features", "without", "words"),
    [
        ("attributes", "node_attributes", "TOY has no node attributes. It has node labels;"),
        ("labels", "node_labels", "TOY has no node labels. It has node attributes;"),
        ("fuse", "node_labels", "TOY has no node labels. It has node attributes;"),
        ("fuse", "both", "no node attributes and no node labels. It has neither"),
        ("colour", "node_labels", "unknown features 'colour': choose one of 'auto', 'labels'"),
    ],
)
def test_features_that_do_not_exist_are_refused(tmp_path, features, without, words):
    missing = ("node_labels", "node_attributes") if without == "both" else (without,)
    with pytest.raises(ValueError, match=words):
        load_tu("TOY", features=features, root=write_folder(tmp_path, **dict.fromkeys(missing)))


def test_features_of_lone_nodes(tmp_path):
    dataset = load_tu("TOY", features="degree", root=write_folder(tmp_path))
    assert [graph.num_nodes for graph in dataset.graphs] == [4, 2, 1]
    assert dataset.graphs[2].x.tolist() == [[0, 0]]
    assert load_tu("TOY", features=None, root=write_folder(tmp_path)).graphs[2].x.tolist() == [[100, 8]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"edges": True}, 'unknown edges=True: edges is "auto" or False'),
        ({"directed": "yes"}, "unknown directed='yes'"),
        ({"min_nodes": 0}, "min_nodes must be a whole number >= 1, got 0"),
        ({"min_nodes": 5}, "TOY has no graph with at least 5 nodes"),
    ],
)
def test_unknown_options(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        load_tu("TOY", root=write_folder(tmp_path), **options)


def test_large_offsets_keep_their_digits(tmp_path):
    values = "".join(f"{10**8 + i}, {i}\n" for i in range(8))
    x = "".join(f"{10**8 + i}\n" for i in range(7))
    graph = load_tu(
        "TOY", features=None, root=write_folder(tmp_path, edge_attributes=values, node_attributes=x)
    ).graphs[0]
    assert graph.x[:, 0].tolist() == [10**8 + i for i in range(4)]
    assert graph.edge_attr[:, 0].tolist() == [10**8 + i for i in range(4)]
    assert graph.edge_attr.dtype == torch.float64


def test_several_label_columns_stand_side_by_side(tmp_path):
    labels = "0, 1\n1, 0\n1, 0\n0, 0\n0, 0\n0, 2\n5, 5\n"
    folder = write_folder(tmp_path, node_labels=labels)
    path, pair = load_tu("TOY", features="labels", root=folder, min_nodes=2).graphs
    assert path.node_labels.tolist() == [[0, 1], [1, 0], [1, 0], [0, 0]]
    assert path.x.tolist() == [[1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0]]
    assert pair.x.tolist() == [[1, 0, 1, 0, 0], [1, 0, 0, 0, 1]]


def test_negative_labels_start_at_the_first_column(tmp_path):
    folder = write_folder(tmp_path, node_labels="-1\n0\n1\n-1\n0\n0\n0\n")
    graph = load_tu("TOY", features="labels", root=folder).graphs[0]
    assert graph.x.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_a_column_that_is_constant_up_to_rounding_becomes_zero(tmp_path):
    folder = write_folder(tmp_path, node_attributes="0.1\n" * 7)
    assert np.std([0.1] * 6) > 0  # the trap
    assert load_tu("TOY", features="attributes", root=folder).graphs[0].x.tolist() == [[0]] * 4


def test_attributes_that_are_no_numbers_cannot_be_standardised(tmp_path):
    folder = write_folder(tmp_path, node_attributes="nan\n" * 7)
    with pytest.raises(ValueError, match=r"TOY_node_attributes\.txt holds NaN or infinite"):
        load_tu("TOY", root=folder)
    assert load_tu("TOY", features=None, root=folder).graphs[0].x.isnan().all()


def test_features_too_wide_for_the_memory_are_refused(tmp_path):
    folder = write_folder(tmp_path, node_labels="0\n2\n2\n0\n3\n2000000000\n9\n")
    with pytest.raises(ValueError, match=r"would take 45 GiB \(6 nodes, 2000000001 columns\)"):
        load_tu("TOY", features="labels", root=folder, min_nodes=2)
    assert load_tu("TOY", features=None, root=folder).graphs[1].node_labels.tolist() == [3, 2_000_000_000]


@pytest.mark.parametrize("name", ["../TOY", "a/b", "..", ".", "", "TOY\n", "C:TOY", "TOY?x=1", "a b", None])
def test_names_cannot_lead_elsewhere(tmp_path, name):
    with pytest.raises(ValueError, match="is not the name of a dataset"):
        load_tu(name, root=tmp_path)


# --- the real files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count", "nodes", "edges", "classes", "label_widths", "width", "degree"), COLLECTION)
def test_the_collection_as_its_authors_count_it(real, name, count, nodes, edges, classes, label_widths, width, degree):
    dataset = load_tu(name, features=None, root=real, download=False)
    graphs = dataset.graphs
    assert len(dataset) == len(dataset.y) == count
    assert dataset.dropped == 0
    assert np.mean([graph.num_nodes for graph in graphs]) == pytest.approx(nodes, abs=0.005)
    assert np.mean([graph.num_edges / 2 for graph in graphs]) == pytest.approx(edges, abs=0.005)
    assert dataset.classes.tolist() == classes
    assert [int(graph.y) for graph in graphs] == dataset.y.tolist()
    assert all(("node_labels" in graph) == bool(label_widths) for graph in graphs)
    assert all(("x" in graph) == bool(width) for graph in graphs)
    if label_widths:
        labels = torch.cat([graph.node_labels.reshape(graph.num_nodes, -1) for graph in graphs])
        assert (labels.amax(0) + 1).tolist() == label_widths
    for graph in graphs:
        u, v = graph.edge_index.numpy()
        ways = set(zip(u.tolist(), v.tolist(), strict=True))
        assert len(ways) == graph.num_edges
        assert all(a != b and (b, a) in ways for a, b in ways)

    widths = {"labels": sum(label_widths), "attributes": width, "degree": degree}
    widths["fuse"] = sum(label_widths) + width if label_widths and width else 0
    for features, q in widths.items():
        if q:
            featured = load_tu(name, features=features, root=real, download=False).graphs
            assert {graph.x.shape[1] for graph in featured} == {q}
            if features == "degree":
                for graph in featured[:50]:
                    counts = torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)
                    assert torch.equal(graph.x.sum(1), (counts > 0).float())
                    assert torch.equal(graph.x.argmax(1)[counts > 0], counts[counts > 0] - 1)
        else:
            with pytest.raises(ValueError, match=f"{name} has no node"):
                load_tu(name, features=features, root=real, download=False)


@pytest.mark.parametrize(("name", "isolated"), [("ENZYMES", True), ("NCI1", True), ("PROTEINS", True), ("BZR", False)])
def test_isolated_nodes_are_counted_where_there_are_some(real, name, isolated):
    graphs = load_tu(name, features="degree", root=real).graphs
    rows = torch.cat([graph.x.sum(1) for graph in graphs])
    assert bool((rows == 0).any()) == isolated


@pytest.mark.parametrize("name", ["BZR", "COX2", "Cuneiform", "ENZYMES", "PROTEINS"])
def test_attributes_have_mean_zero_and_variance_one_over_the_dataset(real, name):
    raw = torch.cat([graph.x.double() for graph in load_tu(name, features=None, root=real).graphs])
    x = torch.cat([graph.x for graph in load_tu(name, features="attributes", root=real).graphs])
    expected = (raw - raw.mean(0)) / raw.std(0, correction=0)
    np.testing.assert_allclose(x, expected, atol=1e-5)


# --- what edges carry, counted in the files -------------------------------------------------------------------------

# Name, graphs that have nodes, lines of A.txt, label columns, different labels, attribute columns, directed.
WITH_EDGE_DATA = [
    ("MUTAG", 188, 7442, 1, 4, 0, False),
    ("PTC_FM", 349, 10110, 1, 4, 0, False),
    ("BZR_MD", 306, 137734, 1, 5, 1, False),
    ("Cuneiform", 267, 23922, 1, 2, 2, True),  # 6882 arcs carry other attributes than their reverse
    ("Fingerprint", 2149, 24756, 0, 0, 2, False),  # 651 graphs have no nodes
]


@pytest.mark.parametrize(("name", "count", "arcs", "columns", "kinds", "width", "directed"), WITH_EDGE_DATA)
def test_edge_data_of_the_collection(real, name, count, arcs, columns, kinds, width, directed):
    if not (real / f"{name}.zip").is_file():
        pytest.skip(f"no {name}.zip in {real}")
    dataset = load_tu(name, features=None, root=real, download=False)
    assert len(dataset) == count
    assert sum(graph.num_edges for graph in dataset.graphs) == arcs
    data = as_graphs(dataset).edge_data
    assert data.ends.shape == (2, arcs)
    assert data.directed == directed
    assert (data.labels is None) == (columns == 0)
    assert (data.x is None) == (width == 0)
    if columns:
        assert data.labels.shape == (arcs, columns)
        assert len(np.unique(data.labels)) == kinds
    if width:
        assert data.x.shape == (arcs, width)

    # Line by line, in the file.
    texts = tu_files.read_source(real / f"{name}.zip", name)
    table = {kind: np.loadtxt(io.BytesIO(texts[kind]), delimiter=",", ndmin=2) for kind in EDGE_KINDS if kind in texts}
    ends = table.pop("A").astype(int) - 1
    starts = np.cumsum([0] + [graph.num_nodes for graph in dataset.graphs])
    mine = torch.cat([graph.edge_index + int(start) for graph, start in zip(dataset.graphs, starts, strict=False)], 1)
    keys = ("edge_type",) * bool(columns) + ("edge_attr",) * bool(width)
    parts = [torch.cat([graph[key] for graph in dataset.graphs]).float().reshape(arcs, -1) for key in keys]
    found, wanted = (np.concatenate(rows, axis=1) for rows in ((mine.T, *parts), (ends, *table.values())))
    order = np.lexsort(wanted[:, 1::-1].T)
    np.testing.assert_allclose(found, wanted[order], rtol=1e-6)

    bare = load_tu(name, features=None, root=real, download=False, edges=False)
    assert not {"edge_type", "edge_attr"} & {key for graph in bare.graphs for key in graph.keys()}  # noqa: SIM118
    assert as_graphs(bare).edge_data is None
    np.testing.assert_array_equal(as_graphs(bare).edges, as_graphs(dataset).edges)


@pytest.mark.parametrize("name", ["ENZYMES", "IMDB-BINARY"])
def test_datasets_without_edge_data(real, name):
    assert as_graphs(load_tu(name, features=None, root=real, download=False)).edge_data is None


@pytest.mark.parametrize("options", [{"edges": False}, {"directed": False}])
def test_edges_go_both_ways_once_and_isolated_nodes_stay(tmp_path, options):
    dataset = load_tu("TOY", root=write_folder(tmp_path), **options)
    path, pair, _ = dataset.graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]
    assert (path.num_nodes, pair.num_nodes) == (4, 2)
    assert path.edge_index.dtype == torch.int64


def test_classes_keep_their_numbers_and_lone_nodes_are_left_out_by_name(tmp_path):
    every = load_tu("TOY", root=write_folder(tmp_path))
    assert every.y.tolist() == [4, -2, 4]
    assert every.dropped == 0
    assert every.rows.tolist() == [0, 1, 2]
    assert every.graphs[2].num_nodes == 1
    assert every.graphs[2].edge_index.shape == (2, 0)
    dataset = load_tu("TOY", root=write_folder(tmp_path), min_nodes=2)
    assert dataset.y.tolist() == [4, -2]
    assert dataset.y.dtype == np.int64
    assert [graph.y.tolist() for graph in dataset.graphs] == [[4], [-2]]
    assert dataset.graphs[0].y.dtype == torch.int64
    assert dataset.dropped == 1
    assert dataset.name == "TOY"


# --- what edges carry -----------------------------------------------------------------------------------------------

# Both directions of 1 - 2 and 5 - 6; 2 - 3 twice, as parallel edges; a loop.
EDGES = "2, 1\n1, 2\n3, 2\n2, 3\n2, 3\n3, 2\n2, 2\n5, 6\n6, 5\n"


def test_labels_and_attributes_stand_in_the_order_of_the_edges(tmp_path):
    labels, attributes = "1\n1\n2\n3\n2\n3\n9\n4\n4\n", "".join(f"{i}.5, {-i}\n" for i in (1, 1, 2, 3, 2, 3, 9, 4, 4))
    folder = write_folder(tmp_path, A=EDGES, edge_labels=labels, edge_attributes=attributes)
    path, pair, lone = load_tu("TOY", root=folder).graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 1, 2, 2], [1, 0, 2, 2, 1, 1]]
    assert sorted(path.edge_type.tolist()) == [1, 1, 2, 2, 3, 3]
    assert path.edge_type[:2].tolist() == [1, 1]
    assert path.edge_attr.tolist() == [[label + 0.5, -label] for label in path.edge_type.tolist()]
    assert path.edge_attr.dtype == torch.float32
    assert path.edge_type.dtype == torch.int64
    assert pair.edge_type.tolist() == [4, 4]
    assert lone.edge_type.shape == (0,)
    assert lone.edge_attr.shape == (0, 2)
    assert path.x.shape == load_tu("TOY", root=folder, edges=False).graphs[0].x.shape
    data = as_graphs([path, pair, lone]).edge_data
    assert data.carries == ["labels", "vectors"]
    bare = load_tu("TOY", root=folder, edges=False).graphs[0]
    assert sorted(bare.keys()) == ["edge_index", "node_labels", "num_nodes", "x", "y"]
    assert bare.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_several_columns_of_edge_labels(tmp_path):
    labels = "".join(f"{i}, {i + 1}\n" for i in (1, 1, 2, 3, 2, 3, 9, 4, 4))
    pair = load_tu("TOY", root=write_folder(tmp_path, A=EDGES, edge_labels=labels)).graphs[1]
    assert pair.edge_type.tolist() == [[4, 5], [4, 5]]


def test_edge_data_of_graphs_that_are_left_out(tmp_path):
    folder = write_folder(tmp_path, A=EDGES, edge_labels="1\n1\n2\n3\n2\n3\n9\n4\n4\n")
    (path,) = load_tu("TOY", root=folder, min_nodes=3).graphs
    assert sorted(path.edge_type.tolist()) == [1, 1, 2, 2, 3, 3]


def test_directions_of_the_files(tmp_path):
    """In TOY one edge comes in one direction only, others in both: then direction means something."""
    dataset = load_tu("TOY", root=write_folder(tmp_path))
    assert dataset.graphs[0].edge_index.tolist() == [[0, 1, 2], [1, 0, 1]]
    assert as_graphs(dataset).edge_data.directed
    assert repr(dataset).startswith("GraphDataset(TOY: 3 graphs, 2 classes, on average 2.3 nodes and 1.0 edges")
    labelled = write_folder(tmp_path / "labels", A="1, 2\n2, 1\n5, 6\n6, 5\n", edge_labels="0\n1\n2\n2\n")
    dataset = load_tu("TOY", root=labelled)  # the two directions of an edge carry different labels
    assert dataset.graphs[0].edge_type.tolist() == [0, 1]
    assert as_graphs(dataset).edge_data.directed


def test_every_edge_listed_once(tmp_path):
    folder = write_folder(tmp_path, A="1, 2\n3, 2\n5, 6\n", edge_labels="7\n8\n9\n")
    with pytest.warns(UserWarning, match=r"TOY_A\.txt lists every edge in one direction only.*directed=True"):
        path = load_tu("TOY", root=folder).graphs[0]
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert path.edge_type.tolist() == [7, 7, 8, 8]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_tu("TOY", root=folder, directed=False).graphs[0].edge_type.tolist() == [7, 7, 8, 8]
        assert load_tu("TOY", root=folder, directed=True).graphs[0].edge_index.tolist() == [[0, 2], [1, 1]]
        assert load_tu("TOY", root=folder, edges=False).graphs[0].edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_nodes_of_a_graph_need_not_be_together(tmp_path):
    """The same two graphs, written with their nodes mixed: 1, 3, 4 are the path, 2, 5 the edge."""
    files = {
        "A": "1,3\n3,4\n2,5\n",
        "graph_indicator": "2\n1\n2\n2\n1\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n2\n3\n4\n",
    }
    pair, path = load_tu("MIX", root=write_folder(tmp_path, files, "MIX"), directed=False).graphs
    assert path.node_labels.tolist() == [0, 2, 3]
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert path.x.argmax(1).tolist() == [0, 2, 3]
    assert pair.node_labels.tolist() == [1, 4]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]


def test_a_graph_between_others_may_have_no_nodes_and_no_edges_at_all(tmp_path):
    files = {"A": "", "graph_indicator": "1\n1\n3\n3\n", "graph_labels": "0\n1\n2\n"}
    dataset = load_tu("BARE", features="degree", root=write_folder(tmp_path, files, "BARE"))
    assert dataset.y.tolist() == [0, 2]
    assert [graph.edge_index.shape for graph in dataset.graphs] == [(2, 0), (2, 0)]
    assert dataset.graphs[0].x.tolist() == [[0], [0]]


def test_windows_line_ends_and_byte_order_marks_are_read(tmp_path):
    folder = write_folder(tmp_path)
    windows = {what: "\ufeff" + text.replace("\n", "\r\n") for what, text in TOY.items()}
    (tmp_path / "windows" / "TOY").mkdir(parents=True)
    for what, text in windows.items():
        (tmp_path / "windows" / "TOY" / f"TOY_{what}.txt").write_bytes(text.encode())
    same(load_tu("TOY", root=folder), load_tu("TOY", root=tmp_path / "windows"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"A": "1, 2\n3, 8\n"}, r"TOY_A\.txt, line 2, joins a node that is none of the 7 nodes"),
        ({"A": "0, 1\n"}, r"TOY_A\.txt, line 1, joins a node that is none"),
        ({"A": "1, 2\n1, 5\n"}, r"TOY_A\.txt, line 2, joins nodes of different graphs"),
        ({"A": "1\n2\n"}, r"TOY_A\.txt has 1 columns, expected 2"),
        ({"A": "1, 2\n3\n"}, r"TOY_A\.txt is not a table of whole numbers"),
        ({"A": "1, 2.5\n"}, r"TOY_A\.txt is not a table of whole numbers.*2\.5"),
        ({"A": "1, \x00\xff\n"}, r"TOY_A\.txt is not a table"),
        ({"A": None}, r"TOY has no file TOY_A\.txt"),
        ({"graph_indicator": "1\n1\n1\n1\n2\n2\n4\n"}, r"TOY_graph_indicator\.txt, line 7, names none of the 3 graphs"),
        ({"graph_indicator": "0\n1\n1\n1\n2\n2\n3\n"}, r"TOY_graph_indicator\.txt, line 1, names none"),
        ({"graph_labels": "1\nx\n2\n"}, r"TOY_graph_labels\.txt is not a table of whole numbers.*'x'"),
        ({"graph_labels": "1, 0\n1, 1\n0, 1\n"}, r"TOY_graph_labels\.txt has 2 columns"),
        ({"graph_labels": None}, r"no file TOY_graph_labels\.txt: .*regression"),
        ({"node_labels": "0\n1\n"}, r"TOY_node_labels\.txt has 2 lines for the 7 nodes"),
        ({"node_attributes": "0.5\n1\n"}, r"TOY_node_attributes\.txt has 2 lines for the 7 nodes"),
        ({"node_attributes": "0.5\none\n"}, r"TOY_node_attributes\.txt is not a table of numbers.*'one'"),
        ({"graph_indicator": "", "A": "", "node_labels": None, "node_attributes": None}, "at least 1 nodes"),
        ({"edge_labels": "0\n1\n"}, r"TOY_edge_labels\.txt has 2 lines for the 8 edges of TOY_A\.txt: .*edges=False"),
        ({"edge_attributes": "0\n1\n"}, r"TOY_edge_attributes\.txt has 2 lines for the 8 edges of TOY_A\.txt"),
        ({"edge_labels": "0.5\n" * 8}, r"TOY_edge_labels\.txt is not a table of whole numbers"),
    ],
)
def test_malformed_files_get_one_clear_error(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words):
        load_tu("TOY", root=write_folder(tmp_path, **changes))


@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES", "IMDB-MULTI", "Cuneiform"])
def test_graphs_are_those_torch_geometric_reads(real, tmp_path, name):
    from torch_geometric.io import read_tu_data

    with zipfile.ZipFile(real / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    data, slices, _ = read_tu_data(str(tmp_path / name), name)
    dataset = load_tu(name, features=None, root=real)
    starts = np.cumsum([0] + [graph.num_nodes for graph in dataset.graphs])
    mine = torch.cat([graph.edge_index for graph in dataset.graphs], dim=1)
    assert torch.equal(mine, data.edge_index)
    assert torch.equal(torch.cumsum(torch.tensor([0] + [g.num_edges for g in dataset.graphs]), 0), slices["edge_index"])
    np.testing.assert_array_equal(np.searchsorted(dataset.classes, dataset.y), data.y)
    if "x" in data:
        np.testing.assert_array_equal(slices["x"], starts)
        width = dataset.graphs[0].x.shape[1] if "x" in dataset.graphs[0] else 0
        if width:
            assert torch.equal(torch.cat([graph.x for graph in dataset.graphs]), data.x[:, :width])
        labels = torch.cat([graph.node_labels.reshape(graph.num_nodes, -1) for graph in dataset.graphs])
        codes = [torch.nn.functional.one_hot(column - column.min()) for column in labels.T]
        assert torch.equal(torch.cat(codes, dim=1).float(), data.x[:, width:])
