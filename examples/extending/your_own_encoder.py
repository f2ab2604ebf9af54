"""
Your own encoder
================

A GIN of PyTorch Geometric in place of the built-in encoder of `SGML`: trained, saved and loaded again.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch_geometric.data import Data
from torch_geometric.nn import GIN

import graph_metric_learn as gml

# %%
# An encoder is any module that takes a PyG batch and returns one row per node.


class Encoder(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gin = GIN(in_features, hidden_channels=16, num_layers=2, out_channels=out_features)

    def forward(self, batch):
        return self.gin(batch.x, batch.edge_index)


# %%
# Rings of black and white nodes, with two columns of noise. Neighbours are often alike (0) or seldom (1).

rng = np.random.default_rng(0)
ring, y, graphs = torch.arange(20), np.arange(200) % 2, []
for kind in y:
    black = np.cumsum(rng.random(20) < (0.85 if kind else 0.15)) % 2
    x = np.column_stack([black, 1 - black, rng.normal(size=(20, 2))]).astype(np.float32)
    graphs.append(Data(x=torch.from_numpy(x), edge_index=torch.stack([ring, ring.roll(-1)])))
train, test, y_train, y_test = train_test_split(graphs, y, random_state=0)

# %%
# `SGML` trains a copy of the encoder. Accuracy before and after training:

torch.manual_seed(0)
encoder = Encoder(4, 4)
accuracy = {}
for n_epochs in (0, 10):
    metric = gml.SGML(encoder=encoder, directed=False, n_epochs=n_epochs, random_state=0)
    classifier = gml.GraphKNNClassifier(metric).fit(train, y_train)
    accuracy[n_epochs] = classifier.score(test, y_test)
    print(f"accuracy after {n_epochs} epochs: {accuracy[n_epochs]:.1%}")

# %%
# The folder holds the weights, not the code: pass an encoder of the same shape, which gets these weights.

with tempfile.TemporaryDirectory() as folder:
    path = classifier.save(Path(folder) / "model")
    loaded = gml.load(path, encoder=Encoder(4, 4))
same = np.array_equal(loaded.predict(test), classifier.predict(test))
print(f"saved and loaded again, predictions are the same: {same}")
