import networkx as nx
import numpy as np

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic.mixture import graphs_sizes
from graph_metric_learn.metrics.automatic.views import View


def viewed(**options):
    """A new graph as the only family of a metric sees it, and this family."""
    metric = gml.GraphMetric(label="element", random_state=0, **options).fit(element_graphs()[0][:40])
    graph, describer = metric.as_fitted(metric.read(element_graphs()[0][50:51])), metric.mixture_.describer
    sizes = {cloud: int(counts[0]) for cloud, counts in graphs_sizes(describer.blocks, graph).items()}
    (family,) = describer.families.values()
    return View(graph, describer.read(graph), describer.describe(graph), sizes), family


def test_names_are_those_that_are_counted():
    for name in ("trees", "pairs"):
        view, family = viewed(families=[name])
        named, counts = view.names(family), view.described[name]
        found = sorted(zip(named.level.tolist(), named.word.tolist(), strict=True))
        entries = zip(counts.level.tolist(), counts.name.tolist(), counts.count.astype(int).tolist(), strict=True)
        assert found == sorted((level, word) for level, word, count in entries for _ in range(count))
        assert named.points.shape == (len(named.word), 1 if name == "trees" else 2)
        assert view.names(family) is named


def test_equal_pairs_have_equal_names():
    view, family = viewed(families=["pairs"])
    graph = element_graphs()[0][50]
    lengths, element = dict(nx.all_pairs_shortest_path_length(graph)), nx.get_node_attributes(graph, "element")
    named = view.names(family)
    kinds = [(*sorted([element[u], element[v]]), lengths[u][v]) for u, v in named.points.tolist()]
    assert len(set(zip(kinds, named.word.tolist(), strict=True))) == len(set(kinds)) == len(set(named.word.tolist()))


def test_slots_are_of_embeddings_that_have_some():
    view, family = viewed(features=["labels@0"], embedding="reference")
    shares = view.slots(family, 0)
    np.testing.assert_allclose(shares.sum(1), 1)
    np.testing.assert_allclose(
        shares @ view.points(family, 0), family.embeddings[0].shares(view.points(family, 0)) @ view.points(family, 0)
    )
    assert view.slots(family, 0) is shares
    view, family = viewed(features=["labels@0"], embedding="density")
    assert view.slots(family, 0) is None
