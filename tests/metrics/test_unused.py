import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.unused import unused, warn_unused

EVERYTHING = {"edge labels", "edge vectors", "edge weights", "edge directions"}


@pytest.fixture
def carrying():
    """Edges with labels, vectors, weights and directions."""
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3, edge_type=torch.tensor([0, 1]))
    data.edge_attr, data.edge_weight = torch.tensor([[0.5], [2.5]]), torch.tensor([2.0, 3.0])
    return as_graphs([data], directed=True)


@pytest.mark.parametrize("used", sorted(EVERYTHING))
def test_what_is_not_used_is_named(carrying, used):
    named = unused(carrying, {used})
    assert len(named) == 3
    assert not any(name.startswith(used) for name in named)
    assert unused(carrying, EVERYTHING) == []


def test_one_warning_names_everything(carrying):
    with pytest.warns(UserWarning, match=r"edge_attr.*edge weights and edge directions, which") as caught:
        warn_unused(carrying, set())
    assert len(caught) == 1


def test_silence_where_all_is_used(carrying):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unused(carrying, EVERYTHING)
        warn_unused(as_graphs([(1.0 - np.eye(3), None)]), set())


def test_what_was_not_read_is_named():
    path = nx.path_graph(3)
    nx.set_node_attributes(path, "C", "element")
    nx.set_edge_attributes(path, "single", "bond")
    with pytest.warns(UserWarning, match="node attribute 'element' and edge attribute 'bond'"):
        warn_unused(as_graphs([path]), EVERYTHING)


def test_unknown_uses(carrying):
    with pytest.raises(ValueError, match="unknown uses"):
        warn_unused(carrying, {"edges"})


def test_the_warning_points_to_the_line_that_called_fit(carrying):
    def fit():
        warn_unused(carrying, set())

    with pytest.warns(UserWarning, match="carry") as caught:
        fit()
    assert caught[0].filename == __file__


def test_a_hint_is_given_where_edge_data_is_not_used(carrying):
    with pytest.warns(UserWarning, match="does not use: take=them$"):
        warn_unused(carrying, set(), hint="take=them")
    path = nx.path_graph(3)
    nx.set_node_attributes(path, "C", "element")
    with pytest.warns(UserWarning, match=r"does not use; name node attributes by label= \(kinds\) or attribute="):
        warn_unused(as_graphs([path]), EVERYTHING, hint="take=them")
