from inspect import signature

import pytest

import graph_metric_learn as gml
from graph_metric_learn_reproduction.experiments.methods import method_names
from graph_metric_learn_reproduction.experiments.settings import (
    CLASSIFIERS,
    GRAPHMETRIC_VARIANTS,
    HEADS,
    PARTS,
    PRESETS,
    ROWS,
    SGML_VARIANTS,
    TABLES,
    TASKS,
    TITLES,
    is_learned,
    task_for,
    title,
    variant,
)


def test_the_papers_grids():
    assert len(TASKS) == 11
    assert all(name in TASKS for names in TABLES.values() for name in names)
    assert len(TASKS["MUTAG (degree)"].settings()) == 7
    assert len(TASKS["ENZYMES (labels)"].settings()) == 8
    assert TASKS["Cuneiform (fuse)"].settings()[0]["batch_size"] == 64
    assert set(SGML_VARIANTS) == {"rpw", "sw", "nca", "pw", "random"}


def test_the_default_preset_has_the_defaults_of_sgml():
    defaults = {name: parameter.default for name, parameter in signature(gml.SGML).parameters.items()}
    for name, value in variant("rpw", "default").items():
        assert value == defaults[name], name


@pytest.mark.parametrize("preset", PRESETS)
def test_variants_change_what_they_are_named_after(preset):
    assert variant("sw", preset)["distance"] == "sw"
    assert variant("nca", preset)["loss"] == "nca"
    assert variant("random", preset)["n_epochs"] == 0
    assert variant("rpw", preset, ties="first")["ties"] == "first"


@pytest.mark.parametrize("settings", GRAPHMETRIC_VARIANTS.values())
def test_variants_of_graph_metric_are_parameters_it_has(settings):
    assert set(settings) <= set(signature(gml.GraphMetric).parameters)


def test_every_row_is_a_known_method_with_a_title():
    assert set(ROWS) == set(TABLES)
    assert set(ROWS) < set(PARTS)
    for method, classifier in (row for rows in ROWS.values() for row in rows):
        assert method in method_names()
        assert classifier in (HEADS if method in GRAPHMETRIC_VARIANTS else (*CLASSIFIERS, "own"))
        assert {method, classifier} <= set(TITLES)
    assert title("rpw", "knn") == "SGML, RPW2, k-NN"


def test_learned_methods_are_sgml_and_graph_metric():
    assert {method for method in method_names() if is_learned(method)} == {*SGML_VARIANTS, *GRAPHMETRIC_VARIANTS}


def test_tasks_beyond_the_paper():
    assert task_for("TOY").features == "auto"
    assert task_for("TOY", "degree").name == "TOY (degree)"
    assert task_for("PROTEINS", "fuse").epochs == (10, 20)
    assert task_for("PROTEINS").features == "labels"
