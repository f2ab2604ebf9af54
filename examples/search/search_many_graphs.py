"""
Search many graphs
==================

`GraphIndex` holds graphs by id and finds the nearest exactly: here 2,000 networks in memory, then in a folder. The same
works with millions; the page on many graphs says what costs what.
"""

import tempfile

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import graph_metric_learn as gml

rng = np.random.default_rng(0)


def network(hubs):
    n = int(rng.integers(10, 30))
    seed = int(rng.integers(2**31))
    return nx.barabasi_albert_graph(n, 2, seed=seed) if hubs else nx.watts_strogatz_graph(n, 4, 0.2, seed=seed)


# %%
# The metric is learned from 200 networks that are labelled, and used on all others.

y = np.arange(200) % 2
metric = gml.GraphMetric(random_state=0, n_components=32).fit([network(hubs) for hubs in y], y)

index = gml.GraphIndex(metric)
many = [network(i % 2) for i in range(2000)]
index.add(many, ids=[f"network {i}" for i in range(2000)], metadata={"hubs": [i % 2 == 1 for i in range(2000)]})
print(len(index), "graphs as vectors of width", metric.transform(many[:1]).shape[1])

# %%
# The nearest of a new network with hubs, with their metadata:

wanted = network(True)
distances, ids, notes = index.search([wanted], k=5, metadata=True)
for distance, name, note in zip(distances[0], ids[0], notes[0], strict=True):
    print(f"{distance:.3f}  {name}  hubs: {note['hubs']}")

figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
nearest_networks = [many[int(name.split()[1])] for name in ids[0, :3]]
for ax, graph, title in zip(axes, [wanted, *nearest_networks], ["the query", *ids[0, :3]], strict=True):
    nx.draw_kamada_kawai(graph, ax=ax, node_size=25, width=0.6)
    ax.set_title(title)
plt.show()

# %%
# Search is exact: it finds what comparing with every graph finds.

query = [network(False) for _ in range(20)]
nearest, _ = index.search(query, k=3)
compared = np.sort(metric.pairwise_distances(query, many), axis=1)[:, :3]
print("largest difference:", np.abs(nearest - compared).max())

# %%
# On disk the vectors are mapped into memory. Changes are on disk when the call returns, and readers see them when they
# ask for it.

with tempfile.TemporaryDirectory() as folder:
    index.save(f"{folder}/index")
    with gml.GraphIndex.load(f"{folder}/index") as stored:
        stored.remove(["network 0", "network 2"])
        reader = gml.GraphIndex.load(f"{folder}/index", read_only=True)
        print(len(reader), "network 0" in reader)
        reader.close()
