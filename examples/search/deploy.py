"""
Deploy: save, load, serve
=========================

A model is a folder of safetensors and JSON, without pickle. Load it elsewhere, or let it answer requests over HTTP
(``pip install "graph-metric-learn[serve]"``).
"""

import asyncio
import tempfile
from pathlib import Path

import httpx
import networkx as nx

import graph_metric_learn as gml
from graph_metric_learn.serve import Service, make_app

graphs = [nx.cycle_graph(n) for n in range(4, 24)] + [nx.ladder_graph(n) for n in range(3, 23)]
kinds = ["ring"] * 20 + ["ladder"] * 20
for graph, kind in zip(graphs, kinds, strict=True):
    graph.name = f"{kind} of {len(graph)}"
classifier = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0)).fit(graphs, kinds)

# %%
# **Save and load.**

folder = Path(tempfile.mkdtemp())
classifier.save(folder / "model")
print({path.name.split("-")[0].split(".")[0]: path.suffix for path in sorted((folder / "model").iterdir())})
model = gml.load(folder / "model")
print(model.predict([nx.cycle_graph(50), nx.ladder_graph(30)]))

# %%
# **Serve.** On a machine: ``graph-metric-learn serve model``. Here the same application is asked without a network.

app = make_app(Service(model), token="secret")


def ask(path, body, token="secret"):
    async def post():
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.post(path, json=body, headers=headers)

    return asyncio.run(post())


question = {"graphs": [nx.node_link_data(nx.ladder_graph(9), edges="edges")]}
print(ask("/predict", question).json())
print(ask("/neighbors", {**question, "k": 2}).json())

# %%
# Bad requests get a status and one sentence:

answers = [ask("/predict", body) for body in ({"graphs": []}, {"graphs": [{"nodes": 3}]}, {"smiles": ["C" * 2000]})]
answers.append(ask("/predict", question, token="wrong"))
for answer in answers:
    print(answer.status_code, answer.json()["error"])
