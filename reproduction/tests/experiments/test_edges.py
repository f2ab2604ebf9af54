import pytest

from graph_metric_learn_reproduction.experiments import edges
from graph_metric_learn_reproduction.experiments.records import Records, key_of
from graph_metric_learn_reproduction.experiments.runner import cells
from graph_metric_learn_reproduction.experiments.settings import TASKS
from graph_metric_learn_reproduction.experiments.tables import table_entry
from small_records import SECONDS, add_edges


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


def test_every_dataset_is_run_with_and_without_edge_data():
    found = edges.edge_cells(list(edges.EDGE_DATASETS), 10)
    assert len({key_of(config) for config in found}) == len(found) == 5 * 2 * 10
    assert {config["dataset"] for config in found} == {"MUTAG", "PTC_FM", "BZR_MD", "Cuneiform", "Fingerprint"}
    assert {config["classifier"] for config in found} == {"head-knn"}
    pairs = {(config["dataset"], config["run"]): [] for config in found}
    for config in found:
        pairs[config["dataset"], config["run"]].append(config["model"])
    assert all(models == [{"edges": "auto"}, {"edges": False}] for models in pairs.values())


def test_these_cells_are_not_those_of_the_papers_tasks(records):
    """Graphs are read in another way: neither counts as the other, and the others' keys do not change."""
    add_edges(records, "MUTAG", [1.0], [1.0])
    task = TASKS["MUTAG (degree)"]
    assert table_entry(list(records), task, "graphmetric", "head-knn") == ""
    (config,) = cells(task, "graphmetric", "authors", 1, ["head-knn"])
    assert key_of(config) == "1c8b321890cef4983774"


def test_accuracies_and_their_difference_run_by_run(records):
    add_edges(records, "MUTAG", [0.6, 0.8], [0.5, 0.9], largest=0.66)
    add_edges(records, "BZR_MD", [0.9, 1.0], [0.7, 0.8])
    both = ["BZR_MD", "MUTAG"]
    head, with_data, without, difference, largest = edges.edge_rows(list(records), both)
    assert head == ["", *both, "average"]
    assert with_data == ["GraphMetric, with edge data", "95.0 ± 5.0 (2 runs)", "70.0 ± 10.0 (2 runs)", "82.5"]
    assert without == ["GraphMetric, without edge data", "75.0 ± 5.0 (2 runs)", "70.0 ± 20.0 (2 runs)", "72.5"]
    assert difference == [
        "difference", "+20.0 ± 0.0, p < 0.001", "+0.0 ± 10.0, p = 1.00", "+10.0 ± 5.0, p = 0.32",  # sqrt(0² + 10²) / 2
    ]  # fmt: skip
    assert largest == ["always the largest class", "50.0", "66.0", ""]


def test_only_runs_that_both_have_are_compared(records):
    add_edges(records, "MUTAG", [0.6, 0.8, 0.1], [0.5, 0.7])
    assert edges.edge_rows(list(records), ["MUTAG"])[3] == ["difference", *["+10.0 ± 0.0, p < 0.001"] * 2]


def test_no_average_and_no_error_of_what_is_not_measured(records):
    add_edges(records, "MUTAG", [0.6], [0.5])
    add_edges(records, "PTC_FM", [0.6], [])
    rows = edges.edge_rows(list(records), ["MUTAG", "PTC_FM", "BZR_MD"])
    assert rows[3] == ["difference", "+10.0", "", "", ""]
    assert [row[-1] for row in rows] == ["average", "", "", "", ""]
    judged = edges.edge_judgement(list(records))
    assert judged.startswith("On average over 1 dataset, edge data changes the accuracy by +10.0 points; the median")
    assert "may be chance on MUTAG (+10.0)" in judged


def test_what_is_said_depends_on_the_numbers(records):
    assert edges.edge_judgement([]) == ""
    add_edges(records, "MUTAG", [0.5, 0.8], [0.6, 0.6], largest=0.7)  # +5 ± 15
    add_edges(records, "BZR_MD", [0.9, 0.8] * 2, [0.7] * 4)  # +15 ± 2.9
    add_edges(records, "Cuneiform", [0.6, 0.6], [0.9, 0.9])  # −30 ± 0
    add_edges(records, "Fingerprint", [0.68, 0.68], [0.8, 0.8], largest=0.7)
    judged = edges.edge_judgement(list(records))
    assert "On average over 4 datasets, edge data changes the accuracy by -5.5 ± 3.8 points (p = 0.40);" in judged
    assert "; the median is -3.5." in judged
    assert "It helps on BZR\\_MD (+15.0 ± 2.9, p = 0.02)." in judged
    assert "It costs accuracy on Cuneiform (-30.0 ± 0.0, p < 0.001), Fingerprint (-12.0 ± 0.0, p < 0.001)." in judged
    assert "may be chance on MUTAG (+5.0 ± 15.0, p = 0.81)." in judged
    assert "On MUTAG GraphMetric is no better than always predicting the largest class" in judged
    add_edges(records, "BZR_MD", [0.7] * 4, [0.7] * 4, largest=0.7)  # no better either, up to rounding
    assert "On MUTAG and BZR\\_MD GraphMetric is no better" in edges.edge_judgement(list(records))
    assert "On no dataset does it help with p < 0.05." in edges.edge_judgement(list(records))


def test_what_the_datasets_hold_and_what_was_chosen(records):
    left_out = {"no_nodes": 3, "small_classes": 2, "classes": 1}
    carried = {"labels": 2, "vectors": 2, "weights": True, "directions": False}
    add_edges(records, "Fingerprint", [0.6, 0.8], [0.5, 0.9], left_out=left_out, carried=carried, share=0.25)
    head, row = edges.edge_data_rows(list(records))
    assert dict(zip(head, row, strict=True)) == {
        "": "Fingerprint", "edges carry": "labels (2 different), vectors (2 numbers), weights",
        "that is": edges.EDGE_DATASETS["Fingerprint"], "graphs": "1,234", "of one node": "1", "classes": "2",
        "graphs left out": "3 without nodes, 2 of 1 small class",
    }  # fmt: skip
    _, row = edges.edge_choice_rows(list(records))
    assert row == ["Fingerprint", "25 %", "75 % mean of labels, 25 % mean of edges"]


def test_named_datasets():
    assert edges.edge_datasets(None) == list(edges.EDGE_DATASETS)
    assert edges.edge_datasets(["ENZYMES"]) == []  # in a table, and not in this one
    assert edges.edge_datasets(["MUTAG", "TOY"]) == ["MUTAG", "TOY"]


def test_gine_stands_beside_it_where_it_was_run(records):
    cells = edges.network_cells(["MUTAG", "PTC_FM"], 2)
    assert len(cells) == 4
    assert {(cell["method"], cell["classifier"], cell["what"]) for cell in cells} == {("gine", "own", "edges")}
    add_edges(records, "MUTAG", [0.6, 0.8], [0.5, 0.9])
    assert [row[0] for row in edges.edge_rows(list(records))][-1] == "always the largest class"
    assert len(edges.edge_rows(list(records))) == 5
    for cell in cells[:2]:
        records.add(cell, {"validation": 0.9, "test": 0.75, "seconds": SECONDS})
    records.add(cells[2], {"estimated_seconds": 2000.0, "limit_seconds": 1200.0})
    rows = {row[0]: row[1:] for row in edges.edge_rows(list(records), ["MUTAG", "PTC_FM"])}
    assert rows["GINE"] == ["75.0 ± 0.0 (2 runs)", "> 20 min", ""]
    assert rows["GraphMetric, with edge data"][0] == "70.0 ± 10.0 (2 runs)"  # not mixed up with the network
