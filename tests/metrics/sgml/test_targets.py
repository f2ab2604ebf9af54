import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics.sgml.targets import check_loss_fits, encode_more, encode_targets
from graph_metric_learn.objectives import Classes, Numbers
from graph_zoo import zoo

GRAPHS = gml.as_graphs(zoo(np.random.default_rng(0), 6)[0])
HALVES = np.array([0.5, 1.5, 0.5, 2.5, 1.5, 3.5])


def test_classes_become_codes():
    found = encode_targets("auto", "nccml", GRAPHS, ["b", "a", "b", "b", "a", "a"])
    assert found.task == "classes"
    assert isinstance(found.objective, Classes)
    assert found.encoded.tolist() == [1, 0, 1, 1, 0, 0]


def test_numbers_are_standardised():
    found = encode_targets("auto", "mlkr", GRAPHS, HALVES)
    assert found.task == "numbers"
    assert isinstance(found.objective, Numbers)
    assert found.encoded.shape == (6, 1)
    np.testing.assert_allclose([found.encoded.mean(), found.encoded.std()], [0, 1], atol=1e-12)


def test_the_task_that_is_named_counts():
    whole = [1, 2, 1, 2, 1, 2]
    assert encode_targets("numbers", "mlkr", GRAPHS, whole).encoded.shape == (6, 1)
    assert encode_targets("classes", "nca", GRAPHS, whole).encoded.shape == (6,)
    with pytest.raises(ValueError, match="discrete"):
        encode_targets("classes", "nca", GRAPHS, HALVES)
    with pytest.raises(ValueError, match="unknown task='grades'"):
        encode_targets("grades", "nca", GRAPHS, HALVES)


def test_without_targets_there_is_nothing_to_learn():
    with pytest.raises(ValueError, match=r"no class labels or numbers: pass y.*GraphMetric also without"):
        encode_targets("auto", "nca", GRAPHS, None)
    with pytest.raises(ValueError, match=r'task="none": SGML learns from targets; use GraphMetric'):
        encode_targets("none", "nca", GRAPHS, HALVES)


@pytest.mark.parametrize("loss", ["nccml", "nccml-paper", "nca", "nca-paper"])
def test_losses_and_targets_that_do_not_fit(loss):
    check_loss_fits(loss, "classes")
    with pytest.raises(ValueError, match=rf"loss='{loss}' learns from classes, .* numbers: use loss=\"mlkr\""):
        check_loss_fits(loss, "numbers")


def test_the_loss_for_numbers_and_losses_for_any_target():
    check_loss_fits("mlkr", "numbers")
    with pytest.raises(ValueError, match=r"loss='mlkr' learns from numbers, .* classes: use loss=\"nccml\""):
        check_loss_fits("mlkr", "classes")
    for task in ("classes", "numbers"):
        check_loss_fits(lambda squared, y: squared.sum(), task)


def test_further_graphs_are_encoded_as_the_first():
    numbers = encode_targets("auto", "mlkr", GRAPHS, HALVES).objective
    centre = numbers.centre_.copy()
    more = encode_more(numbers, GRAPHS, HALVES + 10)
    np.testing.assert_allclose(numbers.decode(more), HALVES + 10)
    assert np.array_equal(numbers.centre_, centre)
    with pytest.raises(ValueError, match="2 numbers per graph, the metric was fitted with 1"):
        encode_more(numbers, GRAPHS, np.c_[HALVES, HALVES])
    classes = encode_targets("auto", "nca", GRAPHS, [1, 5, 1, 5, 1, 5]).objective
    assert encode_more(classes, GRAPHS, [3, 5, 3, 5, 3, 5]).tolist() == [1, 2, 1, 2, 1, 2]
    assert classes.classes_.tolist() == [1, 3, 5]
