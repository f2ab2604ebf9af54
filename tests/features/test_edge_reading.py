import json

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from edge_graphs import NAMES, edge_graph
from graph_metric_learn._core.schema import FieldError, read, split
from graph_metric_learn.features.edge_reading import EdgeReading
from graph_metric_learn.graphs import as_graphs


def coded(codes, n=4):
    ends = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return Data(edge_index=ends, num_nodes=n, edge_attr=torch.eye(3)[torch.tensor(codes)])


def test_one_hot_vectors_are_labels():
    graphs = as_graphs([coded([0, 0, 1, 1]), coded([2, 2, 1, 1])])
    reading = EdgeReading.of(graphs)
    assert reading.carries == ["labels"]
    seen = reading.apply(graphs).edge_data
    assert seen.x is None
    assert seen.labels[:, 0].tolist() == [1, 1, 2, 2, 3, 3, 2, 2]
    again = read(EdgeReading, json.loads(json.dumps(split(reading)[0])))
    assert again == reading


def test_new_graphs_are_read_as_those_that_were_fitted():
    reading = EdgeReading.of(as_graphs([edge_graph(0), edge_graph(1)], **NAMES))
    plain = edge_graph(2, weights=False)
    assert (reading.apply(as_graphs([plain], **NAMES)).edge_data.weights == 1).all()
    with pytest.raises(ValueError, match="edges carry 0 features, those that were fitted 2"):
        reading.apply(as_graphs([edge_graph(3, vectors=False)], label="element", edge_label="kind"))
    nothing = EdgeReading.of(as_graphs([nx.path_graph(3)]))
    assert nothing.apply(as_graphs([edge_graph(0)], **NAMES)).edge_data is None


def test_a_graph_without_edges_carries_nothing_and_may():
    reading = EdgeReading.of(as_graphs([edge_graph(0), edge_graph(1)], **NAMES))
    lonely = as_graphs([nx.empty_graph(3)])
    seen = reading.apply(lonely).edge_data
    assert seen.ends.shape == (2, 0)
    assert seen.weights.shape == (0,)
    assert seen.labels.shape == (0, 1)
    assert seen.x.shape == (0, 2)


def test_directions_are_those_of_fit():
    reading = EdgeReading.of(as_graphs([edge_graph(0, directed=True)], **NAMES))
    assert reading.directed
    path = nx.path_graph(3)
    nx.set_edge_attributes(path, {e: {"kind": "s", "v": np.zeros(2)} for e in path.edges})
    both = as_graphs([path], edge_label="kind", edge_attribute="v", directed=True)
    assert reading.apply(both).edge_data.ends.shape[1] == 4  # both ways


def test_directions_that_fit_did_not_have_count_both_ways():
    path = nx.path_graph(3)
    nx.set_edge_attributes(path, {e: {"kind": "s", "v": np.ones(2)} for e in path.edges})
    reading = EdgeReading.of(as_graphs([path], edge_label="kind", edge_attribute="v"))
    arcs = as_graphs([nx.DiGraph(path.edges(data=True))], edge_label="kind", edge_attribute="v", directed=True)
    assert arcs.edge_data.directed
    seen = reading.apply(arcs).edge_data
    assert not seen.directed
    assert sorted(map(tuple, seen.ends.T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_code_columns_in_files_are_as_many_as_numbers():
    assert read(EdgeReading, {"n_vectors": 2, "code_columns": [True, False]}).carries == ["labels", "vectors"]
    with pytest.raises(FieldError, match=r"edge_reading.code_columns must have 2 entries, or none"):
        read(EdgeReading, {"n_vectors": 2, "code_columns": [True]}, "edge_reading")
