from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import GIN, networks
from graph_metric_learn_reproduction.baselines.networks import GraphNetwork, TooLong, held_out
from graph_zoo import zoo
from small_graphs import path, star


class Recorder(nn.Module):
    """Scores that are right for some epochs and then wrong, whatever is learned; graphs have one node each."""

    def __init__(self, right_from, right_to):
        super().__init__()
        self.weight, self.epoch, self.right = nn.Parameter(torch.ones(1)), 0, (right_from, right_to)

    def train(self, mode=True):
        self.epoch += mode
        return super().train(mode)

    def forward(self, batch):
        sign = 1.0 if self.right[0] <= self.epoch <= self.right[1] else -1.0
        first = sign * batch.x[torch.searchsorted(batch.owner, torch.arange(batch.n_graphs)), 0]
        return torch.stack([-first, first], dim=1) * self.weight


class Scripted(GraphNetwork):
    """Networks of width w are right from epoch 3 to w."""

    name = "scripted"

    def build(self, width, edge_width, classes, setting):
        return Recorder(3, setting.width)


def two_kinds(count=40):
    """One node each, whose feature is the class, −1 or 1."""
    y = np.arange(count) % 2
    return [(np.zeros((1, 1)), np.array([[2.0 * kind - 1]])) for kind in y], y


def test_training_ends_when_nothing_improves_and_the_best_epoch_counts():
    graphs, y = two_kinds()
    built = []

    class Kept(Scripted):
        def build(self, *args):
            built.append(super().build(*args))
            return built[-1]

    model = Kept(sizes=[(1, 4)], learning_rates=[1e-9], patience=5, features="x").fit(graphs, y)
    assert model.validation_ == 1
    assert model.chosen_ == {"layers": 1, "width": 4, "learning_rate": 1e-9, "epochs": 3}
    assert built[0].epoch == 3 + 5
    assert model.module_.epoch == 3
    assert not model.module_.training


def test_the_setting_is_chosen_on_the_held_out_part():
    graphs, y = two_kinds()
    options = {"learning_rates": [1e-9], "patience": 5, "features": "x"}
    assert Scripted(sizes=[(1, 2), (1, 3)], **options).fit(graphs, y).chosen_["width"] == 3  # width 2 is never right
    assert Scripted(sizes=[(1, 3), (1, 9)], **options).fit(graphs, y).chosen_["width"] == 3  # the first of equals


def test_a_tenth_is_held_out_and_classes_keep_their_shares(rng):
    codes = rng.permutation(np.repeat([0, 1], [80, 20]))
    known, checked = held_out(codes, seed=3)
    assert sorted([*known, *checked]) == list(range(100))
    assert np.bincount(codes[checked]).tolist() == [8, 2]
    assert (held_out(codes, seed=3)[1] == checked).all()
    assert (held_out(codes, seed=4)[1] != checked).any()
    assert len(held_out(np.arange(5), seed=0)[1]) == 1  # no class has two members


def test_what_takes_too_long_is_given_up_as_soon_as_that_is_certain(ticking_clock):
    """The clock advances a second whenever it is read: at the start, before each setting, after each epoch."""
    ticking_clock(networks)
    graphs, y = two_kinds()
    options = {"sizes": [(1, 9)], "learning_rates": [1e-9], "patience": 50, "features": "x"}
    with pytest.raises(TooLong, match="at least 53 s, more than the limit of 30 s") as caught:
        Scripted(limit=30.0, **options).fit(graphs, y)
    assert caught.value.limit == 30
    assert caught.value.estimated == 53  # after 3 epochs, 48 more at a second each
    Scripted(limit=70.0, **options).fit(graphs, y)
    with pytest.raises(TooLong):  # the second setting passes the limit
        Scripted(limit=70.0, **{**options, "sizes": [(1, 9)] * 2}).fit(graphs, y)
    Scripted(**options).fit(graphs, y)


@pytest.mark.parametrize(
    ("graph", "kind", "width"),
    [
        ({"x": np.array([[0.0, 1.0], [1.0, 0.0]])}, "x", 2),
        ({"x": np.array([[0.5], [7.0]])}, "attributes", 1),
        ({"x": np.array([[0.5], [7.0]]), "labels": np.array([[0], [2]])}, "fuse", 4),
        ({"labels": np.array([[0], [2]])}, "labels", 3),
        ({}, "degree", 1),
    ],
)
def test_nodes_are_described_by_all_there_is(graph, kind, width):
    plain = as_graphs([(path(2), None)])[[0] * 10]
    tiled = {name: np.tile(array, (10, 1)) for name, array in graph.items()}
    graphs = replace(plain, **tiled)
    model = Scripted(sizes=[(1, 1)], learning_rates=[1.0], epochs=1).fit(graphs, np.arange(10) % 2)
    assert model.node_features_.kind_ == kind
    assert model.node_features_.width_ == width


def test_the_seed_decides_and_is_local(rng):
    graphs, y = zoo(rng, 20)
    options = {"sizes": [(1, 4)], "learning_rates": [0.01], "epochs": 3}
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    one, same, other = (GIN(seed=seed, **options).fit(graphs, y).decision_function(graphs) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_bad_calls():
    graphs, y = two_kinds(4)
    with pytest.raises(ValueError, match="4 graphs and labels of shape"):
        Scripted().fit(graphs, y[:2])
    with pytest.raises(ValueError, match="Scripted is not fitted"):
        Scripted().predict(graphs)
    with pytest.raises(ValueError, match="one graph is not enough"):
        Scripted().fit(graphs[:1], y[:1])
    with pytest.raises(ValueError, match="must not be empty"):
        Scripted(sizes=[]).fit(graphs, y)
    with pytest.raises(ValueError, match="number of layers must be a whole number >= 1"):
        Scripted(sizes=[(0, 5)]).fit(graphs, y)
    with pytest.raises(ValueError, match="patience must be"):
        Scripted(patience=0).fit(graphs, y)
    with pytest.raises(ValueError, match="dropout must be"):
        Scripted(dropout=1.0).fit(graphs, y)
    with pytest.raises(ValueError, match="unknown device"):
        Scripted(device="tpu").fit(graphs, y)
    model = Scripted(sizes=[(1, 1)], learning_rates=[1.0], epochs=1).fit(graphs, y)
    with pytest.raises(ValueError, match="2 node features"):
        model.predict([(star(2), np.ones((3, 2)))])
