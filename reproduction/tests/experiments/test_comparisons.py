import pytest

from graph_metric_learn_reproduction.experiments.comparisons import (
    best_rows,
    by_the_former_engine,
    chosen_rows,
    ingredient_rows,
    other_systems,
    outside_rows,
    rival_rows,
)
from graph_metric_learn_reproduction.experiments.methods import grid
from graph_metric_learn_reproduction.experiments.page import results_markdown
from graph_metric_learn_reproduction.experiments.records import Measured, Records
from graph_metric_learn_reproduction.experiments.settings import GRAPHMETRIC_VARIANTS, OURS, RIVALS, ROWS, TASKS
from small_records import MUTAG, SECONDS, add_graph_metric, config


def add_baselines(records, tests):
    for method, test in tests.items():
        setting = grid(MUTAG, method)[0]
        records.add(config(method, "knn", 0, setting), {"validation": 0.9, "test": test, "seconds": SECONDS})


def test_cells_outside_the_published_spread_are_listed(tmp_path):
    records = Records(tmp_path)
    add_baselines(records, {"netlsd": 0.9, "netsimile": 0.82})  # published: 84.9 and 84.1, without a spread
    assert [row[0] for row in outside_rows(list(records))[1:]] == ["NetLSD (heat), k-NN"]
    measured, published = best_rows(list(records))
    assert measured[1:3] == ["90.0, NetLSD (heat), k-NN (1 run)", ""]
    assert published[1:3] == ["90.0, SGML, RPW2, k-NN", "86.4, FGW-WL, SVM"]


def test_systems_with_an_unfinished_grid_are_not_compared(tmp_path):
    records = Records(tmp_path)
    add_baselines(records, {"netlsd": 0.9, "w2-entropic": 0.95})
    assert len(grid(MUTAG, "w2-entropic")) > 1
    (row, entry), *others = other_systems(list(records), "MUTAG (degree)").items()
    assert (row, entry.mean, others) == (("netlsd", "knn"), 90.0, [])


def test_what_was_chosen_is_averaged_over_the_runs(tmp_path):
    records = Records(tmp_path)
    add_graph_metric(records, [0.9, 0.8, 0.7], learning=[{"weight": weight} for weight in (10.0, 0.0, 3.0)])
    assert chosen_rows(list(records))[1:] == [["MUTAG (degree)", "100 % mean of labels", "3"]]
    assert len(chosen_rows([])) == 1


def test_records_of_the_former_engine_are_known_by_what_they_say(tmp_path):
    records = Records(tmp_path)
    add_graph_metric(records, [0.9, 0.8], learning=[{"weight": 10.0, "penalty": 0.1}] * 2)
    assert not by_the_former_engine(list(records))
    assert "former engine" not in results_markdown(Measured(records), [])
    add_graph_metric(records, [0.9, 0.8, 0.7], learning=[{"weight": 1.0, "parts": ["trees"]}] * 3)
    assert by_the_former_engine(list(records))
    assert "were measured with its former engine" in results_markdown(Measured(records), [])


def test_ingredients_are_compared_on_the_same_splits(tmp_path):
    records = Records(tmp_path)
    for task, method, tests in (
        ("MUTAG (degree)", "graphmetric", {0: 0.8, 1: 0.9, 2: 0.1}),
        ("MUTAG (degree)", "graphmetric-trees", {1: 0.8}),
        ("BZR (attributes)", "graphmetric", {0: 0.5}),
        ("BZR (attributes)", "graphmetric-trees", {0: 0.7}),
    ):
        for run, test in tests.items():
            where = config(method, "head-knn", run, GRAPHMETRIC_VARIANTS[method], TASKS[task])
            records.add(where, {"validation": 0.9, "test": test, "seconds": SECONDS})
    (row,) = ingredient_rows(list(records))[1:]
    assert row == [
        "GraphMetric, trees alone",
        "+5.0, 2 tasks, 1 split",
        "+5.0",
        "-10.0, MUTAG (degree), 1 split",
        "+20.0, BZR (attributes), 1 split",
    ]


@pytest.mark.parametrize(("n_splits", "said"), [((10, 10), ""), ((10, 5), ", 5 splits or more on each")])
def test_ingredients_say_on_how_few_splits_they_were_compared(tmp_path, n_splits, said):
    records = Records(tmp_path)
    for task, count in zip(("MUTAG (degree)", "BZR (attributes)"), n_splits, strict=True):
        for method, test in (("graphmetric", 0.8), ("graphmetric-trees", 0.7)):
            for run in range(count):
                where = config(method, "head-knn", run, GRAPHMETRIC_VARIANTS[method], TASKS[task])
                records.add(where, {"validation": 0.9, "test": test, "seconds": SECONDS})
    (row,) = ingredient_rows(list(records))[1:]
    assert row[1] == f"-10.0, 2 tasks{said}"


def test_rivals_are_compared_on_the_same_splits_and_tested(tmp_path):
    records = Records(tmp_path)

    def add(task, method, classifier, tests):
        for run, test in tests.items():
            result = {"validation": 0.9, "test": test, "seconds": SECONDS}
            records.add(config(method, classifier, run, grid(TASKS[task], method)[0], TASKS[task]), result)

    assert len(rival_rows(list(records))) == 1
    add("MUTAG (degree)", "graphmetric", "head-auto", {0: 0.9, 1: 0.8, 2: 0.9, 3: 0.8, 4: 0.1})
    add("MUTAG (degree)", "gin", "own", dict.fromkeys(range(4), 0.7))
    add("BZR (attributes)", "graphmetric", "head-auto", {0: 0.8})
    add("BZR (attributes)", "gin", "own", {0: 0.85})
    head, gin = rival_rows(list(records))
    found = dict(zip(head, gin, strict=True))
    assert found["GraphMetric, head chosen by itself, less"] == "GIN"
    assert found["MUTAG (degree)"] == "+15.0 ± 2.9, p = 0.02, 4 splits"  # t = 15 / sqrt((1/4 + 1/9) · 100/3), 3 degrees
    assert found["BZR (attributes)"] == "-5.0, 1 split"
    assert found["NCI1 (labels)"] == ""
    assert found["mean over tasks"] == "+5.0, 2 tasks"
    assert found["median"] == "+5.0"
    add("BZR (attributes)", "graphmetric", "head-auto", {1: 0.8})
    add("BZR (attributes)", "gin", "own", {1: 0.85})
    average = dict(zip(head, rival_rows(list(records))[1], strict=True))["mean over tasks"]
    assert average == "+5.0, p = 0.06, 2 tasks"  # half the error of MUTAG, the other has none: t = 5 / 1.73


def test_rivals_on_all_splits_need_no_note(tmp_path):
    records = Records(tmp_path)
    for run in range(10):
        for (method, classifier), test in ((OURS, 0.9), (("netlsd", "knn"), 0.8), (("w2", "knn"), 0.7)):
            setting = grid(MUTAG, method)[0]
            records.add(config(method, classifier, run, setting), {"validation": 0.9, "test": test, "seconds": SECONDS})
    assert [row[:2] for row in rival_rows(list(records))[1:]] == [
        ["NetLSD (heat), k-NN", "+10.0 ± 0.0, p < 0.001"],
        ["exact W2, node features, k-NN", "+20.0 ± 0.0, p < 0.001"],
    ]


def test_every_single_system_of_the_tables_is_a_rival():
    systems = {method for method, _ in ROWS["table2"]} - {"random", "largest-class"}
    assert systems == {method for method, _ in RIVALS}
