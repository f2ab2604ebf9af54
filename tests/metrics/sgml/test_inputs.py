import warnings

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.encoders import SGCN
from graph_metric_learn.metrics.sgml.inputs import (
    check_loss_fits,
    check_options,
    encode_more,
    encode_targets,
    in_range,
    used_of_edges,
    warn_of_offsets,
    warn_of_zeros,
)
from graph_metric_learn.objectives import Classes, Numbers
from graph_zoo import zoo

# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 1.5}, "depth must be a whole number >= 0"),
        ({"n_epochs": -1}, "n_epochs"),
        ({"n_cells": 0}, "n_cells"),
        ({"batch_size": True}, "batch_size"),
        ({"learning_rate": float("nan")}, "learning_rate must be positive"),
        ({"distance": "w2"}, "unknown distance='w2'"),
        ({"ties": "optimal"}, 'train with ties="canonical"'),
        ({"loss": "triplet"}, "unknown loss='triplet'"),
        ({"encoder": "gin"}, "got str"),
        ({"masses": True}, "unknown masses=True: use one of 'uniform', 'learned'"),
        ({"masses": "learned", "encoder": torch.nn.Linear(2, 2)}, "leave encoder=None"),
    ],
)
def test_the_option_that_cannot_be_used_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        check_options(gml.SGML(**options))


def test_options_that_can_be_used():
    check_options(gml.SGML())
    check_options(gml.SGML(masses="learned", loss="mlkr", n_epochs=0, ties="first"))
    check_options(gml.SGML(encoder=torch.nn.Linear(2, 2), loss=gml.nca))


# --- graphs ----------------------------------------------------------------------------------------------------------


def test_what_is_used_of_edges():
    class Prepared(torch.nn.Module):
        def prepare(self, graphs):
            return torch.from_numpy(graphs.x)

        def forward(self, x):
            return x

    everything = {"edge labels", "edge vectors", "edge weights", "edge directions"}
    assert used_of_edges(gml.SGML()) == {"edge weights"}
    assert used_of_edges(gml.SGML(propagation="in")) == {"edge weights", "edge directions"}
    assert used_of_edges(gml.SGML(edge_sums=True)) == everything
    assert used_of_edges(gml.SGML(encoder=torch.nn.Linear(2, 2))) == set()
    assert used_of_edges(gml.SGML(encoder=Prepared())) == everything


@pytest.mark.parametrize(("offset", "says"), [(0.0, False), (1e3, False), (1e7, True), (1e10, True)])
def test_offsets_that_float32_cannot_hold_are_named(rng, offset, says):
    x = np.c_[rng.normal(size=50), rng.normal(size=50) + offset, np.full(50, 1e9)]  # constant columns lose nothing
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_offsets(x)
    assert [str(warning.message).split(" lie")[0] for warning in caught] == ["node features in column 1"] * says


def test_numbers_that_cannot_be_squared_name_the_graph():
    points = torch.tensor([[1.0], [2.0], [1e19]])
    with pytest.raises(ValueError, match="the nodes of graph 1 are encoded as numbers"):
        in_range(points, np.array([2, 1]))
    assert in_range(points[:2], np.array([2])) is not None


def test_an_encoder_of_zeros_is_said():
    graphs = as_graphs([(np.array([[0, 1], [1, 0]]), np.ones((2, 2)))])
    module = SGCN(2, 2, seed=0)
    torch.nn.init.constant_(module.theta, -1.0)
    with pytest.warns(UserWarning, match="all encoded features are 0 after training"):
        warn_of_zeros(module, graphs)
    torch.nn.init.constant_(module.theta, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_zeros(module, graphs)


# --- targets ---------------------------------------------------------------------------------------------------------


GRAPHS = gml.as_graphs(zoo(np.random.default_rng(0), 6)[0])
HALVES = np.array([0.5, 1.5, 0.5, 2.5, 1.5, 3.5])


def test_classes_become_codes():
    targets = encode_targets("auto", "nccml", GRAPHS, ["b", "a", "b", "b", "a", "a"])
    assert targets.task == "classes"
    assert isinstance(targets.objective, Classes)
    assert targets.encoded.tolist() == [1, 0, 1, 1, 0, 0]


def test_numbers_are_standardised():
    targets = encode_targets("auto", "mlkr", GRAPHS, HALVES)
    assert targets.task == "numbers"
    assert isinstance(targets.objective, Numbers)
    assert targets.encoded.shape == (6, 1)
    np.testing.assert_allclose([targets.encoded.mean(), targets.encoded.std()], [0, 1], atol=1e-12)


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
