from edge_graphs import NAMES, edge_graph
from graph_metric_learn.features.views import seen
from graph_metric_learn.graphs import as_graphs


def test_what_edges_carry_is_seen_on_request():
    graphs = as_graphs([edge_graph(0), edge_graph(1)], **NAMES)
    assert seen(graphs, ()).edge_data is None
    assert seen(graphs, ("edges",)).edge_data.carries == ["labels", "vectors", "weights"]


def test_the_first_of_several_labels():
    graph = edge_graph(2)
    for _, data in graph.nodes(data=True):
        data["element"] = [1, 2, 3]
    graphs = as_graphs([graph], **NAMES)
    assert seen(graphs, ("first",)).labels.shape[1] == 1
    assert seen(graphs, ()).labels.shape[1] == 3
