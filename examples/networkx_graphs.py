"""NetworkX graphs of four families: string classes, a node attribute by name, and one distance explained.

python examples/networkx_graphs.py [picture.png]
"""

import sys

import networkx as nx
from sklearn.model_selection import train_test_split

import graph_metric_learn as gml

FAMILIES = {  # all with about four neighbours per node
    "random": lambda n, seed: nx.gnm_random_graph(n, 2 * n, seed=seed),
    "hubs": lambda n, seed: nx.barabasi_albert_graph(n, 2, seed=seed),
    "ring": lambda n, seed: nx.watts_strogatz_graph(n, 4, 0.1, seed=seed),
    "cliques": lambda n, seed: nx.relaxed_caveman_graph(n // 5, 5, 0.1, seed=seed),
}


def make_graphs(per_family: int = 40) -> tuple[list[nx.Graph], list[str]]:
    """Graphs of 15 to 34 nodes; each node carries its degree and clustering coefficient as "profile"."""
    graphs, families = [], []
    for family, make in FAMILIES.items():
        for seed in range(per_family):
            graph = make(15 + seed % 20, seed)
            clustering = nx.clustering(graph)
            nx.set_node_attributes(graph, {v: [graph.degree[v], clustering[v]] for v in graph}, "profile")
            graphs.append(graph)
            families.append(family)
    return graphs, families


def main(picture: str | None = None) -> None:
    graphs, families = make_graphs()
    train, test, y_train, y_test = train_test_split(graphs, families, stratify=families, random_state=0)

    metric = gml.SGML(depth=1, features="attributes", attribute="profile", random_state=0)
    classifier = gml.GraphKNNClassifier(metric, n_neighbors=5).fit(train, y_train)
    print(f"{len(train)} graphs to learn from, {len(test)} to test, classes {', '.join(classifier.classes_)}")
    print(f"5-NN accuracy: {classifier.score(test, y_test):.1%}")

    ring, hubs = graphs[families.index("ring")], graphs[families.index("hubs")]
    explanation = classifier.metric_.explain(ring, hubs)
    print(f"distance between a ring and a graph with hubs: {explanation.distance:.3f}")
    costly = explanation.target_share.argmax()
    print(f"node {costly} of the hubs, with {hubs.degree[costly]} neighbours, ", end="")
    print(f"makes {explanation.target_share[costly]:.1%} of the squared distance")

    if picture is not None:
        explanation.plot().figure.savefig(picture, dpi=150)
        print(f"drawn: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
