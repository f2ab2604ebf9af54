"""Odd graphs, targets, clouds, archives and texts at every public door: a finite answer or a `ValueError`."""

import io
import zipfile

import networkx as nx
import numpy as np
import pytest
import torch
from budget import SECONDS, run
from scipy import sparse
from torch_geometric.data import Data

import graph_metric_learn as gml
from graph_metric_learn.datasets.tu import parse
from graph_metric_learn.datasets.tu_files import FILE_KINDS, unzip
from graph_zoo import write_tu

ODD = (0.0, -0.0, 1.0, -1.0, 1e-300, 1e-20, 1e15, 1e18, 1e19, 1e30, 3e38, 1e300, np.nan, np.inf, -np.inf)
TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool)


def plan(rng):
    """What the graphs of a case carry: all of them the same, or nearly every case would be refused for that alone."""
    shares = {"x": 0.7, "edge_attr": 0.2, "edge_weight": 0.2, "edge_type": 0.2, "weighted": 0.3, "label": 0.3}
    found = {name: bool(rng.random() < share) for name, share in shares.items()}
    found |= {"type": TYPES[int(rng.integers(len(TYPES)))], "form": int(rng.integers(5))}
    return found | {"odd": float(rng.random() < 0.3) * 0.1, "astray": float(rng.random() < 0.1) * 0.1}


def carries(rng, given, name):
    """Whether a graph carries something: as planned, in some cases not."""
    return given[name] != (rng.random() < given["astray"])


def numbers(rng, shape, odd=0.3):
    """Mostly plain numbers, sometimes one of the odd ones."""
    values = rng.normal(size=shape) * float(10.0 ** rng.integers(-3, 4))
    if values.size and rng.random() < odd:
        values.flat[int(rng.integers(values.size))] = ODD[int(rng.integers(len(ODD)))]
    return values


def pyg_graph(rng, n, given):
    count = int(rng.integers(0, 3 * n + 1))
    edges = torch.from_numpy(rng.integers(0, max(n, 1) + (rng.random() < given["astray"]), size=(2, count)))
    data = Data(edge_index=edges, num_nodes=n)
    if carries(rng, given, "x"):
        data.x = torch.from_numpy(numbers(rng, (n, 2), given["odd"])).to(given["type"])
    for name in ("edge_attr", "edge_weight", "edge_type"):
        if carries(rng, given, name):
            values = numbers(rng, (count, 2) if name == "edge_attr" else count, given["odd"])
            values = np.abs(values) if name == "edge_weight" and rng.random() > given["astray"] else values
            data[name] = torch.from_numpy(values if name != "edge_type" else rng.integers(0, 3, count))
    return data


def pair(rng, n, given):
    a = np.triu(rng.random((n, n)) < 0.4, 1).astype(float)
    a = a * np.abs(numbers(rng, (n, n), given["odd"])) if carries(rng, given, "weighted") else a
    form = [np.asarray, sparse.csr_array, sparse.dok_array, sparse.lil_array, torch.from_numpy][given["form"]]
    return form(a + a.T), numbers(rng, (n, 2), given["odd"]) if carries(rng, given, "x") else None


def networkx_graph(rng, n, given):
    kind = nx.DiGraph if carries(rng, given, "edge_weight") else nx.Graph
    graph = kind(nx.gnp_random_graph(n, 0.4, seed=int(rng.integers(2**31))))
    if carries(rng, given, "x"):
        nx.set_node_attributes(graph, {i: numbers(rng, 2, given["odd"]) for i in graph}, "x")
    if carries(rng, given, "label"):
        nx.set_node_attributes(graph, {i: "CNO"[i % 3] for i in graph}, "label")
    return graph


def targets(rng, count):
    kind = rng.integers(7)
    if kind == 0:
        return None
    if kind == 1:
        return numbers(rng, count, 0.1)
    if kind == 2:
        return numbers(rng, (count, 2), 0.1)
    if kind == 3:
        return [["a", "b", None, b"c"][int(i)] for i in rng.integers(0, 2 + 2 * (rng.random() < 0.2), count)]
    if kind == 4:
        return rng.integers(0, 2, count).astype(object)
    return rng.integers(0, 2, count + int(rng.integers(-1, 2)) * (rng.random() < 0.1))


def models(rng):
    quick = {"random_state": 0, "progress": False}
    metric = [
        lambda: gml.SGML(n_epochs=1, **quick),
        lambda: gml.SGML(n_epochs=1, edge_sums=True, features="degree", **quick),
        lambda: gml.GraphMetric(features=["degree@0", "structure@0"], embedding="reference", **quick),
        lambda: gml.GraphMetric(features=["trees@1"], **quick),
        lambda: gml.GraphMetric(features=["attributes@0"], embedding="axes", task="none", **quick),
    ][int(rng.integers(5))]()
    head = [gml.GraphKNNClassifier, gml.GraphKNNRegressor, gml.GraphRidge, gml.NearestClassMean, gml.GraphClassifier]
    return head[int(rng.integers(5))](metric)


def one_case(rng):
    """Fits a model on odd graphs and asks it; what it says must be finite."""
    make = [pyg_graph, pair, networkx_graph][int(rng.integers(3))]
    given = plan(rng)
    graphs = [make(rng, int(n), given) for n in rng.integers(1 - (rng.random() < 0.05), 9, int(rng.integers(2, 14)))]
    model = models(rng).fit(graphs, targets(rng, len(graphs)))
    found = [model.predict(graphs[:3]), model.metric_.pairwise_distances(graphs[:3])]
    for value in map(np.asarray, found):
        assert value.dtype.kind != "f" or np.isfinite(value).all(), "an answer that is not finite"


def clouds_case(rng):
    """Distances of odd clouds with odd masses."""
    clouds = [numbers(rng, (int(n), 2)) for n in rng.integers(1 - (rng.random() < 0.05), 7, 4)]
    kind = np.float32 if rng.random() < 0.5 else np.float64
    with np.errstate(over="ignore"):
        clouds = [cloud.astype(kind) for cloud in clouds]
    metric = ["rpw", "pw", "sw"][int(rng.integers(3))]
    found = gml.pairwise_distances(clouds, metric=metric, seed=0)
    assert np.isfinite(found).all(), "a distance that is not finite"
    assert (np.diag(found) == 0).all()


@pytest.mark.parametrize(("case", "share"), [(one_case, 0.6), (clouds_case, 0.1)], ids=["graphs", "clouds"])
def test_odd_inputs(case, share):
    run(case, SECONDS * share)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    toy = write_tu(tmp_path_factory.mktemp("tu"), 12)
    texts = {kind: (toy / f"TOY_{kind}.txt") for kind in FILE_KINDS}
    return {kind: path.read_bytes() for kind, path in texts.items() if path.is_file()}


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(data) + 1))
        odd = [b"-1", b"nan", b"9" * 20, b",", b"\n", b"\xff", b"1e400", b"", b"0"][int(rng.integers(9))]
        data[place : place + int(rng.integers(0, 4))] = odd
    return bytes(data)


def test_damaged_tu_texts_and_archives(archive):
    def tu_texts(rng):
        texts = dict(archive)
        kind = str(rng.choice(sorted(texts)))
        texts[kind] = damaged(texts[kind], rng)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, text in texts.items():
                packed.writestr(f"TOY/TOY_{name}.txt", text)
        data = damaged(file.getvalue(), rng) if rng.random() < 0.3 else file.getvalue()
        parse("TOY", unzip(data, "TOY"))

    run(tu_texts, SECONDS * 0.2)


def test_damaged_smiles():
    pytest.importorskip("rdkit")
    letters = list("CNOPSFclnos()[]=#123456+-@/\\.%HB rI")

    def smiles(rng):
        gml.as_graphs(gml.from_smiles(["".join(rng.choice(letters, int(rng.integers(0, 12))))]))

    run(smiles, SECONDS * 0.1)
