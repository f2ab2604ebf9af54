import sys

import pytest

from graph_metric_learn_reproduction.experiments.methods import (
    baseline,
    grid,
    has_own_classifier,
    method_names,
    missing_packages,
    task_read_by,
)
from graph_metric_learn_reproduction.experiments.settings import TASKS, Task

TOY = Task("TOY", "degree", depths=(1, 2))  # see graph_zoo.write_tu


def test_the_grid_of_sgml_is_that_of_the_task():
    assert [setting["depth"] for setting in grid(TOY, "rpw")] == [1, 2]
    assert {setting["n_components"] for setting in grid(TOY, "rpw")} == {5}
    assert {setting["ties"] for setting in grid(TOY, "rpw", "paper")} == {"canonical"}


def test_what_is_fixed_is_not_searched():
    task = Task("TOY", "degree", depths=(1, 2), epochs=(10, 20))
    assert len(grid(task, "rpw")) == 4
    assert len(grid(task, "random")) == 2  # no epochs
    assert [setting["n_epochs"] for setting in grid(task, "rpw", depth=2, n_epochs=30)] == [30]


def test_the_ablation_compares_the_last_level():
    assert all(setting["last_only"] for setting in grid(TOY, "wwl-last"))
    assert not any("last_only" in setting for setting in grid(TOY, "wwl"))


@pytest.mark.parametrize("method", ["wl-oa", "fgw-wl"])
def test_baselines_of_labels_read_these_where_a_task_has_attributes(method):
    """So a column of Table 2 shows what was run for Table 1, and is not run again."""
    assert task_read_by(method, TASKS["ENZYMES (fuse)"]).name == "ENZYMES (labels)"
    assert task_read_by(method, TASKS["BZR (attributes)"]).features == "labels"
    assert task_read_by(method, TASKS["MUTAG (degree)"]) == TASKS["MUTAG (degree)"]


@pytest.mark.parametrize("method", ["rpw", "graphmetric", "wwl", "mean-pool"])
def test_other_methods_read_what_the_task_has(method):
    assert task_read_by(method, TASKS["ENZYMES (fuse)"]) == TASKS["ENZYMES (fuse)"]


def test_some_methods_are_classifiers_themselves():
    assert {method for method in method_names() if has_own_classifier(method)} == {
        "pscn", "largest-class", "gin", "gine", "tfgw", "tw", "morgan-forest", "morgan-ridge", "chemprop",
    }  # fmt: skip


def test_template_networks_are_run_on_the_smallest_tasks_alone():
    run = {name for name, task in TASKS.items() if grid(task, "tfgw")}
    assert run == {"MUTAG (degree)", "BZR (attributes)", "COX2 (attributes)"}
    assert grid(TOY, "tfgw") == [{"features": "x", "limit": 1200.0}]
    assert all(len(grid(task, "gin")) == 1 for task in TASKS.values())


def test_packages_that_are_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "grakel", None)
    assert missing_packages("propak") == ["grakel"]
    assert missing_packages("rpw") == missing_packages("mean-pool") == []


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown method='wwl2': use one of 'rpw', .*'graphmetric'.*'wwl'"):
        baseline("wwl2")
