import warnings

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.metrics.sgml.reading import used_of_edges, warn_of_offsets


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
