import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from graph_metric_learn import SGML, NearestClassMean
from graph_metric_learn_reproduction.experiments import outlook, protocol
from graph_metric_learn_reproduction.experiments.evaluate import dataset
from graph_metric_learn_reproduction.experiments.molecules import molecule_cells, read_molecules
from graph_metric_learn_reproduction.experiments.records import Records, key_of
from graph_metric_learn_reproduction.experiments.runner import run_cells
from small_records import SECONDS, add_numbers, add_outlook


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "records")


def toy_cells(metric, run=0):
    """The cells of a metric on one split, moved to TOY."""
    cells = [c for c in outlook.outlook_cells(run + 1, ["MUTAG"]) if c["run"] == run]
    cells = [c for c in cells if (c["method"], c["model"]) == outlook.VARIANTS[metric]]
    features = None if metric == "GraphMetric" else "degree"
    return [{**cell, "dataset": "TOY", "features": features} for cell in cells]


def test_cells_are_each_metric_with_each_predictor():
    cells = outlook.outlook_cells(2)
    assert len({key_of(cell) for cell in cells}) == len(cells) == 6 * 3 * 2 * 2
    assert {cell["what"] for cell in cells} == {"outlook"}
    assert {cell["features"] for cell in cells if cell["method"] == "graphmetric"} == {None}
    assert {cell["features"] for cell in cells if cell["method"] == "sgml"} == {"degree", "attributes", "fuse"}
    assert {cell["dataset"] for cell in outlook.outlook_cells(1, ["BZR", "NCI1"])} == {"BZR"}
    numbers = outlook.number_cells(2, ["ESOL"])
    assert len({key_of(cell) for cell in numbers}) == len(numbers) == 2 * 2 * 2
    assert outlook.number_cells(2, ["BZR"]) == []


@pytest.mark.parametrize("metric", outlook.VARIANTS)
def test_both_predictors_are_scored_on_one_metric(root, metric):
    cells = toy_cells(metric)
    knn, ncm = outlook.evaluate_outlook(cells, str(root), "")
    assert [cell["classifier"] for cell in cells] == ["knn", "ncm"]
    assert knn["test"] == ncm["test"] == 1.0  # stars and rings are easy
    assert knn["largest_class"] == ncm["largest_class"] == 0.5
    assert "n_neighbors" in knn["chosen"]
    assert knn["seconds"]["training"] == ncm["seconds"]["training"]


def test_the_nearest_class_mean_is_that_of_the_fitted_metric(root):
    """On the training part of the split, as computed by hand."""
    knn, ncm = outlook.evaluate_outlook(toy_cells("SGML", run=3), str(root), "")
    graphs, y = dataset("TOY", "degree", str(root))
    train, test = protocol.split(y, 3)
    metric = SGML(random_state=3, device="cpu", progress=False).fit(graphs[train], y[train])
    by_mean = NearestClassMean(FrozenEstimator(metric)).fit(graphs[train], y[train])
    assert ncm["test"] == np.mean(by_mean.predict(graphs[test]) == y[test])
    assert ncm["seconds"]["training"] == knn["seconds"]["training"]


def test_cells_are_run_and_recorded(root, records):
    cells = toy_cells("SGML")
    assert run_cells(cells, records, root=root, progress=False) == []
    assert [records[cell]["test"] for cell in cells] == [1.0, 1.0]


def test_learned_masses_are_learned(root):
    config = toy_cells("SGML, learned masses")[0]
    assert outlook._metric(config).masses == "learned"
    assert outlook._metric(toy_cells("SGML")[0]).masses == "uniform"


def test_numbers_of_molecules(tmp_path):
    pytest.importorskip("rdkit")
    chains = [f"{'C' * n}{end}" for n in range(1, 15) for end in ("", "O", "N")]
    rows = [f"{smiles},{-0.7 * len(smiles)}" for smiles in chains]
    (tmp_path / "ESOL.csv").write_text("smiles,measured log solubility in mols per litre\n" + "\n".join(rows) + "\n")
    read_molecules.cache_clear()
    cells = [cell for cell in outlook.number_cells(1) if "edge_sums" not in cell["model"]]
    untrained, trained = outlook.evaluate_outlook(cells, None, str(tmp_path))
    read_molecules.cache_clear()
    assert untrained["mean_error"] == trained["mean_error"] > trained["test"]
    assert untrained["test"] != trained["test"]


def test_accuracies_and_differences_split_by_split(records):
    assert outlook.outlook_rows([]) == []
    add_outlook(records, "MUTAG", "SGML", [0.6, 0.8], [0.5, 0.9], largest=0.66)
    add_outlook(records, "BZR", "SGML", [0.9, 1.0], [])
    add_outlook(records, "MUTAG", "SGML, learned masses", [0.7, 0.9, 0.1], [], largest=0.66)
    rows = {row[0]: row[1:3] for row in outlook.outlook_rows(list(records))}
    assert rows == {
        "": ["MUTAG", "BZR"],
        "SGML, k-NN": ["70.0 ± 10.0 (2 splits)", "95.0 ± 5.0 (2 splits)"],
        "SGML, nearest class mean": ["70.0 ± 20.0 (2 splits)", ""],
        "— less SGML, k-NN": ["+10.0 ± 0.0, p < 0.001", ""],  # the last of this name: that of the learned masses
        "SGML, learned masses, k-NN": ["56.7 ± 24.0 (3 splits)", ""],
        "always the largest class": ["66.0", "50.0"],
    }
    order = [row[0] for row in outlook.outlook_rows(list(records))]
    assert order[2:4] == ["SGML, nearest class mean", "— less SGML, k-NN"]


def test_errors_stand_beside_that_of_graph_metric(records):
    assert outlook.number_rows([]) == []
    add_numbers(records, [1.5, 1.4], [1.25, 1.25])
    (cell,) = (
        c for c in molecule_cells(1, ["ESOL"]) if c["classifier"] == "head-knn" and c["model"]["copies"] == "kept"
    )
    records.add(cell, {"test": 0.5, "seconds": SECONDS})
    assert outlook.number_rows(list(records)) == [
        ["", "ESOL, RMSE"],
        ["SGML, untrained, 5-NN", "1.450 ± 0.050 (2 splits)"],
        ['SGML, loss="mlkr", 5-NN', "1.250 ± 0.000 (2 splits)"],
        ["— less untrained", "-0.200 ± 0.050, p = 0.17"],
        ["GraphMetric, its k-NN", "0.500 (1 split)"],
        ["always the mean", "2.000 ± 0.000 (2 splits)"],
    ]


def test_what_is_said_depends_on_the_numbers(records):
    assert outlook.outlook_judgement([]) == ""
    add_outlook(records, "MUTAG", "SGML", [0.9, 0.8] * 2, [0.7] * 4)
    add_outlook(records, "BZR", "SGML", [0.7] * 4, [0.9, 0.8] * 2)
    add_outlook(records, "COX2", "SGML", [0.5, 0.8], [0.6, 0.6])
    add_outlook(records, "COX2", "GraphMetric", [0.6, 0.6], [0.5, 0.8])
    said = outlook.outlook_judgement(list(records))
    assert "Nearest class means on SGML change the accuracy, compared with SGML, k-NN, by -1.7 ± " in said
    assert "on average over 3 datasets; they help on BZR (+15.0 ± 2.9, p = 0.02); they cost accuracy on MUTAG" in said
    assert "may be chance on COX2. Nearest class means on GraphMetric" in said
    assert "on no dataset do they help with p < 0.05" in said
    assert "Learning from numbers" not in said
    add_numbers(records, [1.5, 1.5], [1.25, 1.25])
    assert outlook.outlook_judgement(list(records)).endswith("by -0.250 ± 0.000 log units (p < 0.001): it helps.")
    add_numbers(records, [1.0, 1.0], [1.25, 1.25])
    assert outlook.outlook_judgement(list(records)).endswith("(p < 0.001): it costs accuracy.")
    add_numbers(records, [1.0, 1.5], [1.25, 1.25])
    assert outlook.outlook_judgement(list(records)).endswith("(p = 1.00), which may be chance.")


def test_numbers_are_not_mixed_up_with_classes(records):
    add_numbers(records, [1.5], [1.25])
    assert outlook.outlook_rows(list(records)) == []
    assert not any(np.any(list(found)) for found in outlook.outlook_scores(list(records), "SGML", "knn").values())
