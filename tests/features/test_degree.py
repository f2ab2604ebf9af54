import networkx as nx
import numpy as np

from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.features.degree import degree_columns


def test_one_column_per_degree_up_to_32():
    columns = degree_columns(np.arange(33))
    np.testing.assert_array_equal(columns[:, :33], np.eye(33))


def test_huge_degrees_share_columns():
    star = nx.star_graph(100_000)
    (block,) = NodeBlocks().fit([star], ["degree@0"]).transform([star])
    assert block.shape == (100_001, 80)
