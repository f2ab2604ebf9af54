from graph_metric_learn.experiments.comparisons import (
    best_rows,
    chosen_rows,
    ingredient_rows,
    other_systems,
    outside_rows,
)
from graph_metric_learn.experiments.methods import grid
from graph_metric_learn.experiments.records import Records
from graph_metric_learn.experiments.settings import GRAPHMETRIC_VARIANTS, TASKS
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
    assert measured[1:3] == ["90.0, NetLSD (heat), k-NN", ""]
    assert published[1:3] == ["90.0, SGML, RPW2, k-NN", "86.4, FGW-WL, SVM"]


def test_systems_with_an_unfinished_grid_are_not_compared(tmp_path):
    records = Records(tmp_path)
    add_baselines(records, {"netlsd": 0.9, "w2-entropic": 0.95})
    assert len(grid(MUTAG, "w2-entropic")) > 1
    assert other_systems(list(records), "MUTAG (degree)") == {("netlsd", "knn"): 90.0}


def test_what_was_chosen_is_averaged_over_the_runs(tmp_path):
    records = Records(tmp_path)
    add_graph_metric(records, [0.9, 0.8], kept=(0,))
    assert chosen_rows(list(records))[1:] == [
        ["MUTAG (degree)", "100 % mean of labels", "weights of blocks in 1 of 2 runs"]
    ]
    records = Records(tmp_path / "never")
    add_graph_metric(records, [0.9])
    assert chosen_rows(list(records))[1][2] == "never"


def test_ingredients_are_compared_on_the_same_splits(tmp_path):
    records = Records(tmp_path)
    for task, method, tests in (
        ("MUTAG (degree)", "graphmetric", {0: 0.8, 1: 0.9, 2: 0.1}),
        ("MUTAG (degree)", "graphmetric-mean", {1: 0.8}),
        ("BZR (attributes)", "graphmetric", {0: 0.5}),
        ("BZR (attributes)", "graphmetric-mean", {0: 0.7}),
    ):
        for run, test in tests.items():
            where = config(method, "knn-loo", run, GRAPHMETRIC_VARIANTS[method], TASKS[task])
            records.add(where, {"validation": 0.9, "test": test, "seconds": SECONDS})
    (row,) = ingredient_rows(list(records))[1:]
    assert row == ["GraphMetric, means only", "+5.0 (2 tasks)", "-10.0, MUTAG (degree)", "+20.0, BZR (attributes)"]
