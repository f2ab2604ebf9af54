import networkx as nx
import numpy as np

from graph_metric_learn.features.size import graph_size
from graph_metric_learn.graphs import as_graphs


def test_size_is_that_of_the_graph_at_each_node():
    found = graph_size(as_graphs([nx.path_graph(3), nx.empty_graph(2)]))
    np.testing.assert_allclose(np.exp(found[:3]), [[3, 3]] * 3, rtol=1e-5)
    np.testing.assert_allclose(np.exp(found[3:]), [[2, 1]] * 2, rtol=1e-5)
