import numpy as np
import pytest

from edge_graphs import NAMES, edge_graph
from graph_metric_learn.features.around import Around, edge_sums
from graph_metric_learn.features.base import BlockOptions
from graph_metric_learn.graphs import as_graphs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_sums_are_those_of_each_nodes_edges(directed, parallel, rng):
    graphs = as_graphs([edge_graph(s, directed=directed, parallel=parallel) for s in range(8)], **NAMES)
    data = graphs.edge_data
    values = rng.normal(size=(data.ends.shape[1], 3))
    found = edge_sums(graphs, values)
    for node in range(int(graphs.sizes.sum())):
        wanted = []
        for ends in data.ends if directed else data.ends[:1]:
            own = values[ends == node]
            wanted += [np.log1p(len(own)), *own.sum(0), *(own.mean(0) if len(own) else np.zeros(3))]
        np.testing.assert_allclose(found[node], wanted, atol=1e-5)


def test_what_it_needs():
    weighted = as_graphs([edge_graph(0, labels=False, vectors=False)], label="element")
    assert Around.lacks(weighted) == "labels, vectors or directions of edges"
    assert Around.lacks(as_graphs([edge_graph(0)], **NAMES)) is None
    fitted = Around(BlockOptions()).fit(as_graphs([edge_graph(0)], **NAMES), None)
    with pytest.raises(ValueError, match="edges carry nothing"):
        fitted.start(weighted.without_edge_data())
