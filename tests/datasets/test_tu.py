import hashlib
import http.server
import io
import os
import threading
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch

from graph_metric_learn.datasets import load_tu, tu

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
NAMES = [row[0] for row in COLLECTION]
REPOSITORY = Path(__file__).resolve().parents[2]
REAL_FOLDER = Path(os.environ.get("GRAPH_METRIC_LEARN_DATA") or REPOSITORY.parent / "shared" / "datasets")

# Graph 1 is the path 1 - 2 - 3 beside an isolated node 4, graph 2 the edge 5 - 6, graph 3 the lone node 7. In A.txt one
# edge comes in one direction only, one twice, and nodes 2 and 7 have self-loops.
TOY = {
    "A": "1, 2\n2,1\n3, 2\n3, 2\n2, 2\n5 ,6\n6, 5\n7, 7\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n3\n",
    "graph_labels": "4\n-2\n4\n",
    "node_labels": "0\n2\n2\n0\n3\n0\n9\n",
    "node_attributes": " 1.0, 7\n 1.0, 7\n3.0,7\n3.0, 7\n2, 7\n2, 7\n100, 8\n",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test sees or changes what the person running it keeps on disk, and none reaches the network."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv("GRAPH_METRIC_LEARN_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(tu, "_BASE_URL", "http://127.0.0.1:9")
    return cache / "graph-metric-learn" / "datasets"


def write_folder(folder, files=TOY, name="TOY", **changes):
    (folder / name).mkdir(parents=True, exist_ok=True)
    for what, text in {**files, **changes}.items():
        if text is not None:
            (folder / name / f"{name}_{what}.txt").write_text(text)
    return folder


def zipped(files=TOY, name="TOY", inside="TOY/"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for what, text in files.items():
            archive.writestr(f"{inside}{name}_{what}.txt", text)
    return buffer.getvalue()


def same(one, other):
    assert one.name == other.name
    np.testing.assert_array_equal(one.y, other.y)
    for a, b in zip(one.graphs, other.graphs, strict=True):
        assert sorted(a.keys()) == sorted(b.keys())
        assert all(torch.equal(torch.as_tensor(a[key]), torch.as_tensor(b[key])) for key in a.keys())  # noqa: SIM118


# --- what is made of the files --------------------------------------------------------------------------------------


def test_edges_go_both_ways_once_and_isolated_nodes_stay(tmp_path):
    dataset = load_tu("TOY", root=write_folder(tmp_path))
    path, pair = dataset.graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]
    assert (path.num_nodes, pair.num_nodes) == (4, 2)
    assert path.edge_index.dtype == torch.int64


def test_classes_keep_their_numbers_and_lone_nodes_are_left_out(tmp_path):
    dataset = load_tu("TOY", root=write_folder(tmp_path))
    assert dataset.y.tolist() == [4, -2]
    assert dataset.y.dtype == np.int64
    assert [graph.y.tolist() for graph in dataset.graphs] == [[4], [-2]]
    assert dataset.graphs[0].y.dtype == torch.int64
    assert dataset.dropped == 1
    assert dataset.name == "TOY"


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
    dataset = load_tu("TOY", features=features, root=write_folder(tmp_path))
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


def test_several_label_columns_stand_side_by_side(tmp_path):
    labels = "0, 1\n1, 0\n1, 0\n0, 0\n0, 0\n0, 2\n5, 5\n"
    path, pair = load_tu("TOY", features="labels", root=write_folder(tmp_path, node_labels=labels)).graphs
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


def test_nodes_of_a_graph_need_not_be_together(tmp_path):
    """The same two graphs, written with their nodes mixed: 1, 3, 4 are the path, 2, 5 the edge."""
    files = {
        "A": "1,3\n3,4\n2,5\n",
        "graph_indicator": "2\n1\n2\n2\n1\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n2\n3\n4\n",
    }
    pair, path = load_tu("MIX", root=write_folder(tmp_path, files, "MIX")).graphs
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


def test_features_too_wide_for_the_memory_are_refused(tmp_path):
    folder = write_folder(tmp_path, node_labels="0\n2\n2\n0\n3\n2000000000\n9\n")
    with pytest.raises(ValueError, match=r"would take 45 GiB \(6 nodes, 2000000001 columns\)"):
        load_tu("TOY", features="labels", root=folder)
    assert load_tu("TOY", features=None, root=folder).graphs[1].node_labels.tolist() == [3, 2_000_000_000]


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
        ({"node_attributes": "nan\n" * 7}, r"TOY_node_attributes\.txt holds NaN or infinite"),
        ({"graph_indicator": "1\n2\n3\n", "A": "", "node_labels": None, "node_attributes": None}, "at least 2 nodes"),
    ],
)
def test_malformed_files_get_one_clear_error(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words):
        load_tu("TOY", root=write_folder(tmp_path, **changes))


# --- where the files come from --------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["TOY/", "", "some/where/else/", "TOY\\"])
def test_a_zip_and_a_folder_give_the_same(tmp_path, inside):
    (tmp_path / "TOY.zip").write_bytes(zipped(inside=inside))
    same(load_tu("TOY", root=tmp_path), load_tu("TOY", root=write_folder(tmp_path / "unpacked")))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["TOY.zip", "unpacked"]  # nothing was extracted


@pytest.mark.parametrize("inside", ["/etc/", "../", "TOY/../../"])
def test_members_that_point_outside_the_zip_are_ignored(tmp_path, inside):
    (tmp_path / "TOY.zip").write_bytes(zipped(inside=inside))
    with pytest.raises(ValueError, match="TOY has no file"):
        load_tu("TOY", root=tmp_path)


def test_the_folder_torch_geometric_makes_is_read(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "TOY").rename(tmp_path / "raw")
    (tmp_path / "TOY").mkdir()
    (tmp_path / "raw").rename(tmp_path / "TOY" / "raw")
    assert len(load_tu("TOY", root=str(tmp_path))) == 2


def test_root_comes_before_the_variable_and_that_before_the_cache(tmp_path, monkeypatch, own_cache):
    def write(folder, label):
        return write_folder(folder, graph_labels=f"{label}\n0\n0\n")

    write(own_cache, 1)
    assert load_tu("TOY", download=False).y[0] == 1
    monkeypatch.setenv("GRAPH_METRIC_LEARN_DATA", str(write(tmp_path / "variable", 2)))
    assert load_tu("TOY", download=False).y[0] == 2
    assert load_tu("TOY", root=write(tmp_path / "root", 3), download=False).y[0] == 3


def test_the_cache_is_in_the_home_folder_by_default(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    write_folder(tmp_path / ".cache" / "graph-metric-learn" / "datasets")
    assert len(load_tu("TOY", download=False)) == 2


def test_what_is_nowhere_is_an_error_that_says_where_it_looked(tmp_path, own_cache):
    with pytest.raises(ValueError, match=f"neither TOY.zip nor a folder TOY is in {tmp_path} or {own_cache}"):
        load_tu("TOY", root=tmp_path, download=False)


def test_folders_that_do_not_exist_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"root is .*nowhere', which is not a folder"):
        load_tu("TOY", root=tmp_path / "nowhere")
    monkeypatch.setenv("GRAPH_METRIC_LEARN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="GRAPH_METRIC_LEARN_DATA is"):
        load_tu("TOY")


@pytest.mark.parametrize("name", ["../TOY", "a/b", "..", ".", "", "TOY\n", "C:TOY", "TOY?x=1", "a b", None])
def test_names_cannot_lead_elsewhere(tmp_path, name):
    with pytest.raises(ValueError, match="is not the name of a dataset"):
        load_tu(name, root=tmp_path)


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty"])
def test_a_damaged_zip_is_named(tmp_path, damage):
    data = zipped()
    data = {
        "cut": data[: len(data) // 2],
        "flipped": data[:60] + bytes([data[60] ^ 0xFF]) + data[61:],
        "text": b"<html>not found</html>",
        "empty": b"",
    }[damage]
    (tmp_path / "TOY.zip").write_bytes(data)
    with pytest.raises(ValueError, match=r"TOY\.zip cannot be read"):
        load_tu("TOY", root=tmp_path)


# --- downloading ----------------------------------------------------------------------------------------------------


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `files`; each test gets its own subclass with its own files and list of what was asked for."""

    files: ClassVar[dict[str, bytes]]
    asked: ClassVar[list[str]]
    breaks_off = False
    status = 200

    def do_GET(self):
        self.asked.append(self.path)
        data = self.files.get(self.path)
        self.send_response(404 if data is None else self.status)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        if data is not None:
            self.wfile.write(data[: len(data) // 2] if self.breaks_off else data)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    handler = type("Handler", (Server,), {"files": {"/all/TOY.zip": zipped()}, "asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(tu, "_BASE_URL", f"http://127.0.0.1:{running.server_port}/all")
        yield handler
        running.shutdown()
        thread.join()


def contents(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_download_is_kept_with_its_hash_and_not_repeated(tmp_path, server, own_cache):
    first = load_tu("TOY")
    assert contents(own_cache) == ["TOY.zip", "TOY.zip.sha256"]
    digest = hashlib.sha256(server.files["/all/TOY.zip"]).hexdigest()
    assert (own_cache / "TOY.zip.sha256").read_text() == f"{digest}  TOY.zip\n"
    same(load_tu("TOY"), first)
    same(first, load_tu("TOY", root=write_folder(tmp_path / "folder")))
    assert server.asked == ["/all/TOY.zip"]


def test_a_cached_zip_that_changed_is_refused(server, own_cache):
    load_tu("TOY")
    (own_cache / "TOY.zip").write_bytes(zipped({**TOY, "graph_labels": "1\n1\n1\n"}))
    with pytest.raises(ValueError, match=r"TOY\.zip is not the file that TOY\.zip\.sha256 describes"):
        load_tu("TOY")


def test_a_second_download_must_bring_the_same_file(server, own_cache):
    load_tu("TOY")
    (own_cache / "TOY.zip").unlink()
    server.files["/all/TOY.zip"] = zipped({**TOY, "graph_labels": "1\n1\n1\n"})
    with pytest.raises(ValueError, match="changed since it was first downloaded"):
        load_tu("TOY")
    assert contents(own_cache) == ["TOY.zip.sha256"]
    (own_cache / "TOY.zip.sha256").unlink()
    assert load_tu("TOY").y.tolist() == [1, 1]


def test_a_known_dataset_with_other_contents_is_refused(server, own_cache):
    server.files["/all/MUTAG.zip"] = zipped(name="MUTAG")
    with pytest.raises(ValueError, match="does not hold the MUTAG we know"):
        load_tu("MUTAG")
    assert contents(own_cache) == []


def test_a_known_dataset_in_another_packing_is_taken(server, own_cache, monkeypatch):
    """Line ends, spaces, folders and the compression of the zip may differ, the numbers may not."""
    files = {what: text.replace("\n", "\r\n").replace(",", " , ") for what, text in TOY.items()}
    monkeypatch.setitem(tu._FINGERPRINTS, "TOY", tu._fingerprint(tu._unzip(zipped(), "TOY")))
    server.files["/all/TOY.zip"] = zipped(files, inside="other/")
    load_tu("TOY")
    assert contents(own_cache) == ["TOY.zip", "TOY.zip.sha256"]


@pytest.mark.parametrize("trouble", ["breaks off", "server error", "no server", "no zip"])
def test_a_failed_download_leaves_nothing_and_says_what_to_do(server, own_cache, monkeypatch, trouble):
    server.breaks_off = trouble == "breaks off"
    server.status = 503 if trouble == "server error" else 200
    if trouble == "no server":
        monkeypatch.setattr(tu, "_BASE_URL", "http://127.0.0.1:9")
    if trouble == "no zip":
        server.files["/all/TOY.zip"] = b"<html>We have moved</html>"
    advice = r"get it by hand and put it there, or name its folder with root="
    words = r"TOY\.zip cannot be read" if trouble == "no zip" else advice
    with pytest.raises(ValueError if trouble == "no zip" else OSError, match=words):
        load_tu("TOY")
    assert contents(own_cache) == []


def test_an_unknown_name_is_a_value_error(server):
    with pytest.raises(ValueError, match=r"Mutag\.zip does not exist: spell the name as the collection does"):
        load_tu("Mutag")


def test_download_can_be_forbidden(server):
    with pytest.raises(ValueError, match="neither"):
        load_tu("TOY", download=False)
    assert server.asked == []


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_progress_is_shown_when_asked_for(server, capsys, progress, shown):
    load_tu("TOY", progress=progress)
    assert ("TOY.zip" in capsys.readouterr().err) == shown


def test_the_collection_is_asked_over_https_and_stays_there(monkeypatch):
    monkeypatch.undo()
    assert tu._BASE_URL.startswith("https://")
    request = urllib.request.Request(f"{tu._BASE_URL}/TOY.zip")
    handler = tu._StaySecure()
    with pytest.raises(urllib.error.URLError, match="not https"):
        handler.redirect_request(request, None, 302, "Found", {}, "http://example.org/TOY.zip")
    followed = handler.redirect_request(request, None, 302, "Found", {}, "https://example.org/TOY.zip")
    assert followed.full_url == "https://example.org/TOY.zip"


# --- the real files -------------------------------------------------------------------------------------------------


@pytest.fixture
def real():
    """The folder with the nine zips."""
    if not (REAL_FOLDER / "MUTAG.zip").is_file():
        pytest.skip(
            f"no datasets in {REAL_FOLDER}: set GRAPH_METRIC_LEARN_DATA to the folder with MUTAG.zip and others"
        )
    return REAL_FOLDER


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


@pytest.mark.parametrize("name", NAMES)
def test_known_fingerprints_are_those_of_the_files(real, name):
    assert tu._fingerprint(tu._read(real / f"{name}.zip", name)) == tu._FINGERPRINTS[name]


def test_the_known_datasets_are_the_nine():
    assert sorted(tu._FINGERPRINTS) == sorted(NAMES)
