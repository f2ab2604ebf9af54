import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graph_metric_learn import as_graphs
from graph_metric_learn.graphs.sources.plain import PlainData


@pytest.mark.parametrize(
    "options", [{}, {"edges": False}, {"label": "colour"}, {"attribute": "z", "edge_label": "kind"}]
)
def test_fields_are_read_as_those_of_data(options):
    fields = {
        "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), "edge_type": torch.tensor([1, 1, 2, 2]),
        "kind": torch.tensor([3, 3, 4, 4]), "x": torch.rand(3, 2), "z": torch.rand(3, 1),
        "node_labels": torch.tensor([6, 6, 8]), "colour": torch.tensor([0, 1, 0]), "num_nodes": 3, "name": "ethanol",
        "y": torch.tensor([2.5]), "odd": torch.rand(3),
    }  # fmt: skip
    plain, data = as_graphs([PlainData(**fields)], **options), as_graphs([Data(**fields)], **options)
    for part in ("sizes", "edges", "x", "labels", "y", "names"):
        np.testing.assert_array_equal(getattr(plain, part), getattr(data, part))
    assert set(plain.unused) == set(data.unused) != set()  # `Data` has an order of its own
    assert (plain.edge_data is None) == (data.edge_data is None) == (options.get("edges") is False)
    if plain.edge_data is not None:
        np.testing.assert_array_equal(plain.edge_data.labels, data.edge_data.labels)


def test_a_single_one_is_no_list():
    with pytest.raises(ValueError, match="got a single graph"):
        as_graphs(PlainData(num_nodes=1))
