import pytest

from graph_metric_learn_reproduction.experiments import unlabelled
from graph_metric_learn_reproduction.experiments.evaluate import dataset
from graph_metric_learn_reproduction.experiments.methods import missing_packages
from graph_metric_learn_reproduction.experiments.records import Records, key_of
from graph_metric_learn_reproduction.experiments.runner import run_cells
from small_records import add_graph_metric, add_unlabelled

SYSTEMS = (unlabelled.OURS, *unlabelled.CONTROLS)


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "records")


def toy_cells(method, run=0):
    """The cells of a system in one run, moved to TOY."""
    cells = [c for c in unlabelled.unlabelled_cells(run + 1, ["MUTAG"]) if (c["method"], c["run"]) == (method, run)]
    features = None if method == unlabelled.OURS else "degree"
    return [{**cell, "dataset": "TOY", "features": features} for cell in cells]


def test_cells_are_splits_for_neighbours_and_seeds_for_clusters():
    cells = unlabelled.unlabelled_cells(10)
    assert len({key_of(cell) for cell in cells}) == len(cells) == 6 * 4 * (10 + 5)
    assert {cell["run"] for cell in cells if cell["classifier"] == "kmeans"} == set(range(5))
    assert {cell["dataset"] for cell in unlabelled.unlabelled_cells(1, ["BZR", "NCI1"])} == {"BZR"}


@pytest.mark.parametrize("method", SYSTEMS)
def test_every_system_is_judged_by_neighbours_and_clusters(root, method):
    if missing := missing_packages(method):
        pytest.skip(f"needs {missing}")
    knn, kmeans = unlabelled.evaluate_unlabelled(toy_cells(method), str(root))
    assert knn["test"] >= 0.75  # stars and rings are easy; NetLSD confuses small ones
    assert "k" in knn["chosen"]
    assert -0.5 <= kmeans["test"] <= 1.0
    if method == "mean-pool":  # each ring has the same mean of degrees, no star has it
        assert kmeans["test"] == 1.0


def test_cells_are_run_and_recorded(root, records):
    cells = toy_cells("mean-pool", run=1)
    assert run_cells(cells, records, root=root, progress=False) == []
    assert records[cells[1]]["test"] == 1.0


def test_the_metric_learns_from_no_labels(root):
    graphs, _ = dataset("TOY", None, str(root))
    metric = unlabelled._fitted_metric(toy_cells("graphmetric", run=2)[0], graphs)
    assert metric.learned_ is None
    assert metric.task == "none"
    assert metric.random_state == 2


def test_accuracies_and_differences(records):
    assert unlabelled.unlabelled_knn_rows([]) == []
    add_unlabelled(records, "MUTAG", "knn", {"graphmetric": [0.6, 0.8, 0.1], "netlsd": [0.5, 0.9]})
    add_graph_metric(records, [0.75, 0.75])
    rows = {row[0]: row[1:3] for row in unlabelled.unlabelled_knn_rows(list(records))}
    assert rows == {
        "": ["MUTAG", "BZR"],
        "GraphMetric, no labels": ["50.0 ± 20.8 (3 splits)", ""],
        "NetLSD (heat)": ["70.0 ± 20.0 (2 splits)", ""],
        "GraphMetric less NetLSD (heat)": ["+0.0 ± 10.0, p = 1.00", ""],
        "for comparison: GraphMetric, labels seen": ["75.0 ± 0.0 (2 splits)", ""],
    }
    assert unlabelled.unlabelled_cluster_rows(list(records)) == []


def test_clusters_are_counted_by_seed(records):
    add_unlabelled(records, "BZR", "kmeans", {"graphmetric": [0.5, 0.25], "random": [0.1] * 5})
    rows = {row[0]: row[2] for row in unlabelled.unlabelled_cluster_rows(list(records))}
    assert rows == {"": "BZR", "GraphMetric, no labels": "0.38 ± 0.12 (2 seeds)", "SGML, untrained": "0.10 ± 0.00"}


def test_what_is_said_depends_on_the_numbers(records):
    assert unlabelled.unlabelled_judgement([]) == ""
    add_unlabelled(records, "MUTAG", "knn", {"graphmetric": [0.9, 0.8] * 2, "random": [0.7] * 4, "netlsd": [0.7] * 4})
    add_unlabelled(records, "BZR", "knn", {"graphmetric": [0.7] * 4, "random": [0.9, 0.8] * 2, "netlsd": [0.6, 0.8]})
    said = unlabelled.unlabelled_judgement(list(records))
    assert "SGML, untrained: +0.0 ± 2.0 points (p = 1.00) on average over 2 datasets; ahead on MUTAG (+15.0" in said
    assert "behind on BZR (-15.0 ± 2.9, p = 0.02)." in said
    assert "NetLSD (heat): +7.5" in said
    assert "the difference may be chance on BZR." in said
    assert "Clusters" not in said  # none were measured
    alike = {method: [0.3] for method in SYSTEMS}
    add_unlabelled(records, "MUTAG", "kmeans", alike | {"graphmetric": [0.5]})
    add_unlabelled(records, "BZR", "kmeans", alike | {"netlsd": [0.6]})
    add_unlabelled(records, "COX2", "kmeans", {method: [0.05] for method in SYSTEMS})
    add_unlabelled(records, "ENZYMES", "kmeans", {"graphmetric": [0.9]})  # not all were measured
    assert unlabelled.unlabelled_judgement(list(records)).endswith(
        "Clusters, 3 datasets: those of GraphMetric agree best with the classes on MUTAG; on BZR those of NetLSD "
        "(heat) agree best with the classes, 0.60 against 0.30; on COX2 no system reaches an adjusted Rand index of "
        "0.1, the classes are not the clusters."
    )
