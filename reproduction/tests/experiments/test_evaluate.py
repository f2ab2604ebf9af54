import numpy as np
import pytest

from graph_metric_learn import SGML, pairwise_distances
from graph_metric_learn.metrics.sgml.encoders import encode
from graph_metric_learn_reproduction.baselines import GIN, W2, SolverFailure
from graph_metric_learn_reproduction.experiments import choices, edges, evaluate, runner
from graph_metric_learn_reproduction.experiments.protocol import choose_knn, split
from graph_metric_learn_reproduction.experiments.records import Records
from graph_metric_learn_reproduction.experiments.settings import Task
from graph_metric_learn_reproduction.experiments.tables import table_entry
from tu_toy import write_folder

TOY = Task("TOY", "degree", depths=(1, 2))  # see graph_zoo.write_tu


@pytest.fixture
def small_gin(monkeypatch):
    """One small size and one learning rate for networks."""
    monkeypatch.setattr(GIN, "default_sizes", ((2, 8),))
    monkeypatch.setattr(GIN, "default_rates", (0.01,))


@pytest.mark.parametrize(
    ("method", "classifiers"),
    [("mean-pool", ["knn", "svm"]), ("wl-oa", ["knn", "svm"]), ("wwl-last", ["knn"]), ("pscn", ["own"])],
)
def test_other_systems_run_under_the_same_protocol(root, tmp_path, method, classifiers):
    pytest.importorskip("ot")
    wanted = runner.cells(TOY, method, "authors", 2, classifiers)
    records = Records(tmp_path / "r")
    assert runner.run_cells(wanted, records, root=root) == []
    assert len(records) == len(wanted)
    found = table_entry(records, TOY, method, classifiers[0])
    assert found.runs == 2
    assert found.mean > 60  # rings against stars
    assert not list((tmp_path / "r").rglob("*.npz"))


@pytest.mark.parametrize(
    ("method", "classifiers"),
    [
        ("rpw", ["knn", "svm"]), ("graphmetric", ["head-auto", "head-knn", "head-ridge", "head-svc"]),
        ("mean-pool", ["1-nn", "svm"]), ("wl-oa", ["svm"]), ("largest-class", ["own"]), ("pscn", ["own"]),
        ("gin", ["own"]),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("small_gin")
def test_classes_of_test_graphs_change_the_test_score_alone(root, tmp_path, monkeypatch, method, classifiers):
    """The whole way from the files to the record: with the test graphs' classes swapped, nothing else differs."""
    config = runner.cells(TOY, method, "authors", 1, classifiers)[: len(classifiers)]
    graphs, y = evaluate.dataset("TOY", "degree", str(root))
    _, test = split(y, 0)
    swapped = y.copy()
    swapped[test] = y.max() + y.min() - y[test]  # two classes
    assert (swapped[test] != y[test]).all()
    results = []
    for number, classes in enumerate((y, swapped)):
        monkeypatch.setattr(evaluate.protocol, "split", lambda classes, run: split(y, run))
        monkeypatch.setattr(evaluate, "dataset", lambda *args, c=classes: (graphs, c))
        found = runner.run_group(config, (str(root), None), str(tmp_path / str(number)))
        results.append([{name: value for name, value in one.items() if name != "seconds"} for one in found])
    for one, two in zip(*results, strict=True):
        assert one.pop("test") == pytest.approx(1 - two.pop("test"))
        assert one == two


def test_an_interrupted_svm_goes_on_with_the_next_run(root, tmp_path, monkeypatch):
    wanted = runner.cells(TOY, "mean-pool", "authors", 4, ["svm"])
    real, tried = evaluate._score, []

    def dying(*args, **options):
        tried.append(1)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return real(*args, **options)

    monkeypatch.setattr(evaluate, "_score", dying)
    with pytest.raises(KeyboardInterrupt):
        runner.run_cells(wanted, Records(tmp_path / "r"), root=root)
    records = Records(tmp_path / "r")
    assert len(records) == 0
    assert runner.run_cells(wanted, records, root=root) == []
    assert len(records) == 4
    assert len(tried) == 3 + 2
    assert not list((tmp_path / "r" / "unfinished").iterdir())


def test_what_takes_too_long_is_estimated_and_what_fails_is_said(root, tmp_path, monkeypatch):
    pytest.importorskip("ot")
    records = Records(tmp_path / "r")
    wanted = runner.cells(TOY, "w2", "authors", 2)
    monkeypatch.setattr(evaluate, "PATIENCE", 0.0)
    assert runner.run_cells(wanted, records, root=root) == []
    assert table_entry(records, TOY, "w2", "knn").startswith("> 1 h")
    monkeypatch.undo()

    def failing(*args, **options):
        raise SolverFailure("graphs 3 and 5: no plan")

    monkeypatch.setattr(W2, "distances", failing)
    records = Records(tmp_path / "s")
    assert runner.run_cells(wanted, records, root=root) == []
    assert table_entry(records, TOY, "w2", "knn") == "solver failed"
    assert next(iter(records))["result"]["failure"] == "graphs 3 and 5: no plan"


def test_graph_metric_is_chosen_anew_in_each_run(root, tmp_path):
    wanted = runner.cells(TOY, "graphmetric", "authors", 2, ["head-auto", "head-knn", "head-svc"])
    records = Records(tmp_path / "r")
    assert runner.run_cells(wanted, records, root=root) == []
    assert table_entry(records, TOY, "graphmetric", "head-knn").mean > 80
    for config, result in ((record["config"], record["result"]) for record in records):
        assert sum(result["weights"].values()) == pytest.approx(1)
        assert result["learning"].keys() == {"weight", "even_share", "penalty"}
        assert config["classifier"] in ("head-auto", f"head-{result['chosen']['head']}")
        assert 0 <= result["validation"] <= 1


def test_without_learning_nothing_is_said_of_it(root):
    (config,) = runner.cells(TOY, "graphmetric-unlearned", "authors", 1, ["head-ridge"])
    (result,) = runner.run_group([config], (str(root), None), "unused")
    assert result["learning"] is None
    assert result["test"] > 0.8


def test_tie_rules_are_scored_on_one_metric(root):
    """The metric is learned with canonical ties; its points are compared by each rule."""
    results = {}
    for rule in choices.TIE_RULES:
        config = {**choices.tie_cells(1)[0], "dataset": "TOY", "features": "degree", "method": rule}
        (results[rule],) = runner.run_group([config], (str(root), None), "unused")
    graphs, y = evaluate.dataset("TOY", "degree", str(root))
    train, test = split(y, 0)
    metric = SGML(**config["model"], random_state=0, device="cpu").fit(graphs[train], y[train])
    clouds = np.split(encode(metric.module_, graphs).detach().numpy(), graphs.offsets[1:-1])
    for rule in ("canonical", "optimal", "first"):
        expected = choose_knn(pairwise_distances(clouds, ties=rule), y, train, test)
        assert expected._asdict().items() <= results[rule].items()
    assert all(result["test"] > 0.5 for result in results.values())


def test_datasets_are_read_as_the_paper_reads_them(tmp_path):
    """Without graphs of a single node, and without what edges carry."""
    graphs, y = evaluate.dataset("TOY", "labels", str(write_folder(tmp_path, edge_labels="0\n1\n2\n3\n4\n5\n6\n7\n")))
    assert graphs.sizes.tolist() == [4, 2]
    assert y.tolist() == [4, -2]
    assert graphs.edge_data is None
    assert graphs.edges.tolist() == [[0, 1, 1, 2, 4, 5], [1, 0, 2, 1, 5, 4]]


@pytest.fixture
def coloured(tmp_path):
    """A folder with the TU dataset RINGS: of 30 rings of 4 to 6 nodes all edges have one label, which is the class.

    Beside them 9 rings of a third class, one node of class 0, and a graph of class 1 without nodes.
    """
    sizes = [4 + g % 3 for g in range(39)] + [1]
    classes = [g % 2 for g in range(30)] + [2] * 9 + [0]
    lines = {"A": [], "edge_labels": [], "graph_indicator": [], "graph_labels": [*map(str, classes), "1"]}
    node = 0
    for g, (size, colour) in enumerate(zip(sizes, classes, strict=True), start=1):
        for u in range(size if size > 1 else 0):
            v = (u + 1) % size
            lines["A"] += [f"{node + u + 1}, {node + v + 1}", f"{node + v + 1}, {node + u + 1}"]
            lines["edge_labels"] += [str(colour)] * 2
        lines["graph_indicator"] += [str(g)] * size
        node += size
    texts = {what: "\n".join(rows) for what, rows in lines.items()}
    return str(write_folder(tmp_path, texts, name="RINGS"))


def test_whole_datasets_keep_edge_data_and_single_nodes_and_lose_small_classes(coloured):
    graphs, y, described = evaluate.whole_dataset("RINGS", coloured)
    assert graphs.sizes.tolist() == [4 + g % 3 for g in range(30)] + [1]
    assert y.tolist() == [g % 2 for g in range(30)] + [0]
    assert graphs.edge_data.labels.shape == (2 * (graphs.sizes.sum() - 1), 1)
    assert described == {
        "graphs": 31, "classes": 2, "single_nodes": 1,
        "left_out": {"no_nodes": 1, "small_classes": 9, "classes": 1},
        "edges": {"labels": 2, "vectors": 0, "weights": False, "directions": False},
    }  # fmt: skip


def test_classes_that_are_all_small_stay(tmp_path):
    folder = write_folder(tmp_path, edge_labels="0\n0\n2\n2\n0\n3\n3\n0\n")
    _, y, described = evaluate.whole_dataset("TOY", str(folder))
    assert y.tolist() == [4, -2, 4]
    assert described["left_out"] == {"no_nodes": 0, "small_classes": 0, "classes": 0}


def test_a_class_in_edge_labels_is_seen_with_edge_data_alone(coloured, tmp_path):
    records = Records(tmp_path / "r")
    assert runner.run_cells(edges.edge_cells(["RINGS"], 2), records, root=coloured) == []
    found = {record["config"]["model"]["edges"]: record["result"] for record in records}
    assert found["auto"]["test"] == 1
    assert found[False]["test"] < 1
    assert found["auto"]["edge_share"] == pytest.approx(1)
    assert found[False]["edge_share"] == 0
    assert found["auto"]["data"] == found[False]["data"] == evaluate.whole_dataset("RINGS", coloured)[2]
    assert found["auto"]["largest_class"] == found[False]["largest_class"] == 0.5
    rows = edges.edge_rows(list(records), ["RINGS"])
    assert rows[1][1] == "100.0 ± 0.0 (2 runs)"


@pytest.mark.usefixtures("small_gin")
def test_networks_choose_for_themselves_in_each_split(root, tmp_path):
    records = Records(tmp_path / "r")
    assert runner.run_cells(runner.cells(TOY, "gin", "authors", 2, ["own"]), records, root=root) == []
    for result in (record["result"] for record in records):
        assert result["chosen"].items() >= {"layers": 2, "width": 8, "learning_rate": 0.01}.items()
        assert 0.5 <= result["validation"] <= 1
    assert table_entry(records, TOY, "gin", "own").mean > 60


def test_a_network_that_takes_too_long_says_so(root, tmp_path, monkeypatch):
    monkeypatch.setattr(GIN, "grid_limit", 0.0)
    records = Records(tmp_path / "r")
    assert runner.run_cells(runner.cells(TOY, "gin", "authors", 1, ["own"]), records, root=root) == []
    (result,) = (record["result"] for record in records)
    assert result["limit_seconds"] == 0
    assert result["estimated_seconds"] > 0
    assert table_entry(records, TOY, "gin", "own") == "> 0 min"


@pytest.mark.usefixtures("small_gin")
def test_networks_that_see_edges_get_what_these_carry(coloured, tmp_path):
    """Equal rings whose class is the label of their edges, in the tables and in that of edge data."""
    task = Task("RINGS", "degree")
    records = Records(tmp_path / "r")
    wanted = [*runner.cells(task, "gine", "authors", 1, ["own"]), *edges.network_cells(["RINGS"], 1)]
    assert runner.run_cells(wanted, records, root=coloured) == []
    assert all(records[config]["test"] == 1 for config in wanted)
