import warnings

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.encoders import SGCN
from graph_metric_learn.metrics.sgml.reading import in_range, used_of_edges, warn_of_offsets, warn_of_zeros


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
