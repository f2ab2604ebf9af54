import pytest

from graph_metric_learn_reproduction.experiments import choices
from graph_metric_learn_reproduction.experiments.records import Records, key_of
from small_records import SECONDS, add_sgml


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


def test_only_missed_tasks_are_searched_further(records, tmp_path):
    add_sgml(records, [0.9] * 2)
    assert choices.missed(list(records)) == []
    assert not any(config["model"]["n_components"] == 10 for config in choices.choice_cells(records, 1))
    worse = Records(tmp_path / "worse")
    add_sgml(worse, [0.5] * 2)
    assert choices.missed(list(worse)) == ["MUTAG (degree)"]
    wider = [config for config in choices.choice_cells(worse, 1) if config["model"]["n_components"] == 10]
    assert {config["dataset"] for config in wider} == {"MUTAG"}


def test_every_change_is_run_on_every_task(records):
    cells = choices.choice_cells(records, 1)
    for change in choices.CHOICES.values():
        changed = [config for config in cells if change.items() <= config["model"].items()]
        assert {f"{c['dataset']} ({c['features']})" for c in changed} == set(choices.CHOICE_TASKS)
    untrained = {config["model"]["propagation"] for config in cells if config["model"]["n_epochs"] == 0}
    assert untrained == {"symmetric", "sum"}


def test_changes_are_compared_run_by_run(records):
    add_sgml(records, [0.5, 0.7, 0.9, 0.9])
    add_sgml(records, [0.6, 0.8, 1.0, 0.9], restart_optimizer=False)
    rows = choices.choice_rows(list(records), ["MUTAG (degree)"], choices.CHOICES)
    assert [row[0] for row in rows] == ["", "authors' choices", "Adam not restarted"]
    assert [row[-1] for row in rows] == [
        "difference",
        "",
        "+7.5 ± 2.5, p = 0.09",
    ]  # the spread between runs does not enter


def test_zeros_before_and_after_training(records):
    add_sgml(records, [0.5] * 2, zeros=0.25)
    add_sgml(records, [0.5] * 2, zeros=0.75, n_epochs=0)
    add_sgml(records, [0.5] * 2, activation="none")
    rows = {row[0]: row[1] for row in choices.choice_rows(list(records), ["MUTAG (degree)"], choices.CHOICES)}
    assert rows["authors' choices"].endswith(" (75 → 25 %)")
    assert not rows["no ReLU"].endswith("%)")


def test_a_change_that_a_task_has_anyway_is_left_out(records):
    add_sgml(records, [0.5] * 2)
    rows = choices.choice_rows(list(records), ["MUTAG (degree)"], choices.SEARCH)
    assert [row[0] for row in rows[1:]] == ["authors' choices"]  # not the learning rate, which is MUTAG's own


def test_tie_rules_are_compared_on_the_same_graphs_and_metric(records):
    assert choices.tie_rows(list(records)) == []
    cells = choices.tie_cells(2)
    assert len(cells) == 2 * 4 * len(choices.CHOICE_TASKS)
    assert len({key_of(config) for config in cells}) == len(cells)
    for config in cells:
        if config["dataset"] == "MUTAG":
            records.add(config, {"validation": 0.9, "test": 0.9, "seconds": SECONDS})
    head, *rows = choices.tie_rows(list(records))
    assert head == ["ties", *choices.CHOICE_TASKS]
    assert rows == [[rule, "90.0 ± 0.0 (2 runs), 0.01 s", "", "", ""] for rule in choices.TIE_RULES]
