from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.metrics.sgml import fit_many as many
from graph_metric_learn.metrics.sgml.losses import LOSSES, Loss
from graph_metric_learn.metrics.sgml.training import many_models
from graph_zoo import zoo


def models(**options):
    options = {"n_epochs": 3, "batch_size": 7, "n_components": 2, "device": "cpu", **options}
    return [
        gml.SGML(depth=depth, random_state=seed, learning_rate=0.01 / (1 + seed), **options)
        for depth in (1, 2)
        for seed in (0, 1)
    ]


def alone(metrics, pairs, y, subsets):
    return [m.fit([pairs[i] for i in s], y[s]) for m, s in zip(metrics, subsets, strict=True)]


def together(metrics, graphs, y, subsets, device):
    """Batched runs, also on a CPU, where `fit_many` takes threads."""
    fits = [many._Fit(metric, part, "classes") for metric, part in zip(metrics, subsets, strict=True)]
    many._fit_together(fits, graphs, y, device)


def assert_alike(metrics, others, **tolerance):
    for one, two in zip(metrics, others, strict=True):
        torch.testing.assert_close(one.module_.theta, two.module_.theta, **tolerance)
        np.testing.assert_allclose(one.history_.loss, two.history_.loss, rtol=1e-4)
        assert one.objective_.state() == two.objective_.state()
        assert len(two.history_.seconds) == len(two.history_.loss)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "nca"},
        {"loss": "nccml-paper", "activation": "none"},
        {"loss": "nca-paper", "restart_optimizer": False},
        {"distance": "pw", "n_projections": 4, "ties": "first"},
        {"distance": "sw", "n_projections": 4, "batching": "shuffled"},
    ],
)
@pytest.mark.parametrize("at_once", [2**29, 1])
def test_together_as_alone(options, at_once, rng, device, monkeypatch):
    monkeypatch.setattr(many_models, "_MAX_AVERAGES", at_once)
    pairs, y = zoo(rng, 45)
    subsets = [rng.permutation(45)[:count] for count in (45, 40, 36, 29)]  # batches of unequal number and length
    wanted = alone(models(**options), pairs, y, subsets)
    got = models(**options)
    together(got, gml.as_graphs(pairs), y, subsets, torch.device(device))
    assert_alike(wanted, got, rtol=1e-3, atol=1e-4)
    assert all(metric.pairwise_distances(pairs[:3]).shape == (3, 3) for metric in got)


def test_threads_give_the_same_bits(rng):
    pairs, y = zoo(rng, 40)
    subsets = [rng.permutation(40)[:30] for _ in range(4)]
    wanted = alone(models(), pairs, y, subsets)
    metrics = models()
    got = gml.fit_many(metrics, pairs, y, subsets=subsets, device="cpu", n_jobs=3)
    assert all(one is two for one, two in zip(metrics, got, strict=True))
    assert_alike(wanted, got, rtol=0, atol=0)


def test_features_are_those_of_each_part():
    """A label that one part does not have is no feature there."""
    graphs = [gml.datasets.load_digits().graphs[i] for i in range(30)]
    y = np.arange(30) % 2
    labelled = [(g.x.shape[0], g) for g in graphs]
    for i, (n, g) in enumerate(labelled):
        g.node_label = torch.arange(n) % (4 if i < 3 else 3)
    subsets = [np.arange(30), np.arange(3, 30)]
    make = lambda: [gml.SGML(features="labels", label="node_label", n_epochs=2, random_state=0) for _ in range(2)]  # noqa: E731
    wanted = [m.fit([graphs[i] for i in s], y[s]) for m, s in zip(make(), subsets, strict=True)]
    got = make()
    collection = gml.as_graphs(graphs, label="node_label")
    together(got, collection, y, subsets, torch.device("cpu"))
    assert [m.module_.theta.shape[0] for m in got] == [4, 3]
    assert_alike(wanted, got, rtol=1e-3, atol=1e-4)


def test_metrics_that_have_little_in_common(rng, device):
    pairs, y = zoo(rng, 24)

    def make():
        return [
            gml.SGML(n_epochs=1, random_state=0, device="cpu"),
            gml.SGML(n_epochs=2, random_state=0, device="cpu", n_components=1),
            gml.SGML(n_epochs=1, random_state=0, device="cpu", loss=gml.nca),
            gml.SGML(n_epochs=0, random_state=0, device="cpu", batch_size=4),
        ]

    wanted = [metric.fit(pairs, y) for metric in make()]
    assert_alike(wanted, gml.fit_many(make(), pairs, y, device=device), rtol=1e-3, atol=1e-4)


def test_a_loss_without_a_batched_form_is_trained_alone(rng, device, monkeypatch):
    monkeypatch.setitem(LOSSES, "by torch alone", Loss(gml.nca))
    pairs, y = zoo(rng, 24)
    make = lambda: [gml.SGML(n_epochs=2, random_state=s, device="cpu", loss="by torch alone") for s in (0, 1)]  # noqa: E731
    wanted = [metric.fit(pairs, y) for metric in make()]
    got = make()
    together(got, gml.as_graphs(pairs), y, [np.arange(24)] * 2, torch.device(device))
    assert_alike(wanted, got, rtol=0, atol=0)


def test_numbers_and_learned_masses_as_alone(rng, device):
    pairs, y = zoo(rng, 24)
    grades = rng.integers(0, 3, 24) + 0.5 * (np.arange(24) == 23)  # without the last graph they look like classes
    subsets = [np.arange(12), np.arange(23)]

    def numbers():
        return [gml.SGML(loss="mlkr", n_epochs=2, random_state=s, device="cpu") for s in (0, 1)]

    wanted = [
        metric.set_params(task="numbers").fit([pairs[i] for i in part], grades[part])
        for metric, part in zip(numbers(), subsets, strict=True)
    ]
    assert_alike(wanted, gml.fit_many(numbers(), pairs, grades, subsets=subsets, device=device), rtol=0, atol=0)

    def weighted():
        return [gml.SGML(masses="learned", n_epochs=2, random_state=0, device="cpu")]

    (got,) = gml.fit_many(weighted(), pairs, y, device=device)
    assert_alike([weighted()[0].fit(pairs, y)], [got], rtol=0, atol=0)
    assert got.module_.attention.abs().max() > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g, y: gml.fit_many([], g, y), "list of SGML"),
        (lambda g, y: gml.fit_many([gml.GraphSVC()], g, y), "list of SGML"),
        (lambda g, y: gml.fit_many([gml.SGML()], g, y, subsets=[]), "0 subsets for 1"),
        (lambda g, y: gml.fit_many([gml.SGML()] * 2, g, y), "twice"),
        (lambda g, y: gml.fit_many([gml.SGML()], g, y, device="tpu"), "'tpu'"),
        (lambda g, y: gml.fit_many([gml.SGML(depth=-1)], g, y), "depth"),
        (lambda g, y: gml.fit_many([gml.SGML()], g, y + 0.5), "mlkr"),
        (lambda g, y: gml.fit_many([gml.SGML()], g), "no class labels"),
        (lambda g, y: gml.fit_many([gml.SGML()], g, y, subsets=[np.flatnonzero(y == 0)]), "one class"),
    ],
)
def test_bad_input_gets_one_clear_error(rng, call, words):
    with pytest.raises(ValueError, match=words):
        call(*zoo(rng, 8))


def test_targets_of_a_generator_are_read_once(rng):
    graphs, y = zoo(rng, 12)
    pair = [gml.SGML(n_epochs=1, random_state=seed) for seed in range(2)]
    wanted = [metric.transform(graphs) for metric in gml.fit_many(pair, graphs, y)]
    fitted = gml.fit_many(pair, graphs, (one for one in y))
    np.testing.assert_array_equal([metric.transform(graphs) for metric in fitted], wanted)


def test_names_of_features_must_agree_and_subsets_hold_graphs():
    graphs = [nx.cycle_graph(n) for n in range(4, 8)]
    with pytest.raises(ValueError, match="fit them apart"):
        gml.fit_many([gml.SGML(), gml.SGML(attribute="z")], graphs, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="a subset is empty"):
        gml.fit_many([gml.SGML()], graphs, [0, 1, 0, 1], subsets=[[]])


def test_a_graph_may_be_in_a_subset_twice():
    graphs = [nx.cycle_graph(n) for n in range(4, 8)] + [nx.star_graph(n) for n in range(4, 8)]
    y = [0] * 4 + [1] * 4
    twice = [0, 0, 1, 2, 3, 4, 5, 5, 6, 7]
    (one,) = gml.fit_many([gml.SGML(random_state=0)], graphs, y, subsets=[twice], device="cpu", n_jobs=-1)
    two = gml.SGML(random_state=0).fit([graphs[i] for i in twice], [y[i] for i in twice])
    assert one.history_.loss == two.history_.loss


@pytest.mark.parametrize("options", [{"edge_sums": True}, {"propagation": "in", "edge_sums": True}])
def test_together_as_alone_with_edge_data(options, rng):
    pairs, y = zoo(rng, 45)
    pairs = [(a * rng.normal(size=a.shape), x) for a, x in pairs]  # weights that differ in both directions
    subsets = [rng.permutation(45)[:count] for count in (45, 40, 36, 29)]
    wanted = alone(models(**options), pairs, y, subsets)
    got = models(**options)
    together(got, gml.as_graphs(pairs), y, subsets, torch.device("cpu"))
    assert_alike(wanted, got, rtol=1e-3, atol=1e-4)
    threads = gml.fit_many(models(**options), pairs, y, subsets=subsets, device="cpu", n_jobs=2)
    assert_alike(wanted, threads, rtol=0, atol=0)


@pytest.mark.parametrize("option", [{"edges": False}, {"directed": True}, {"edge_label": "bond"}])
def test_metrics_that_read_edges_differently_are_fitted_apart(option):
    graphs = [nx.cycle_graph(n) for n in range(4, 8)]
    with pytest.raises(ValueError, match="fit them apart"):
        gml.fit_many([gml.SGML(), gml.SGML(**option)], graphs, [0, 1, 0, 1])


def test_columns_are_remembered_by_metrics_that_are_trained_together(rng):
    pairs, y = zoo(rng, 20)
    named = replace(gml.as_graphs(pairs), columns=tuple(f"column {i}" for i in range(pairs[0][1].shape[1])))
    metrics = models()
    together(metrics, named, y, [np.arange(20)] * 4, torch.device("cpu"))
    assert {metric.columns_.nodes for metric in metrics} == {named.columns}
    swapped = replace(named, x=np.ascontiguousarray(named.x[:, ::-1]), columns=named.columns[::-1])
    np.testing.assert_array_equal(metrics[0].transform(swapped), metrics[0].transform(named))


def test_workers_fit_the_same(rng):
    import joblib

    pairs, y = zoo(rng, 12)
    here, there = ([gml.SGML(depth=d, n_epochs=2, random_state=0) for d in (1, 2)] for _ in range(2))
    gml.fit_many(here, pairs, y, device="cpu")
    with joblib.parallel_config("loky", n_jobs=2):
        gml.fit_many(there, pairs, y, device="cpu")
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.transform(pairs), other.transform(pairs))
        assert other.history_.loss == one.history_.loss
