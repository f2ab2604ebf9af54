import numpy as np
import pytest
import torch

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.sgml.encoders import SGCN, encode, propagate
from graph_zoo import zoo


def test_the_product_and_its_start(rng):
    graphs = as_graphs(zoo(rng, 3)[0])
    module = SGCN(3, 2, depth=1, seed=0)
    assert module.theta.abs().max() <= np.sqrt(6 / 5)
    assert torch.equal(module.theta, SGCN(3, 2, seed=0).theta)
    assert not torch.equal(module.theta, SGCN(3, 2, seed=1).theta)
    wanted = torch.from_numpy(propagate(graphs, 1)) @ module.theta
    assert torch.equal(encode(module, graphs), wanted.relu())
    assert (wanted < 0).any()
    linear = SGCN(3, 2, depth=1, activation="none", seed=0)
    assert torch.equal(encode(linear, graphs), wanted)


def test_another_encoder_gets_a_pyg_batch(rng):
    graphs = as_graphs(zoo(rng, 3)[0])

    class Degrees(torch.nn.Module):
        def forward(self, batch):
            return torch.bincount(batch.edge_index[0], minlength=batch.num_nodes).float().unsqueeze(1)

    assert encode(Degrees(), graphs).flatten().tolist() == graphs.degrees.tolist()

    class Pooled(torch.nn.Module):
        def forward(self, batch):
            return batch.x.mean(0, keepdim=True)

    with pytest.raises(ValueError, match="expected one row per node"):
        encode(Pooled(), graphs)


def test_bad_choices():
    with pytest.raises(ValueError, match="'gelu'"):
        SGCN(2, 2, activation="gelu")
