"""Your own encoder: a GIN of PyTorch Geometric in place of the built-in SGCN, trained, saved and loaded again.

python examples/custom_encoder.py
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch_geometric.data import Data
from torch_geometric.nn import GIN

import graph_metric_learn as gml


class Encoder(torch.nn.Module):
    """Any module will do that takes a PyG batch and returns one row per node."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.gin = GIN(in_features, hidden_channels=16, num_layers=2, out_channels=out_features)

    def forward(self, batch: Data) -> torch.Tensor:
        return self.gin(batch.x, batch.edge_index)


def make_graphs(count: int = 200, seed: int = 0) -> tuple[list[Data], np.ndarray]:
    """Rings of black and white nodes, with two columns of noise. Neighbours are often alike (0) or seldom (1)."""
    rng = np.random.default_rng(seed)
    ring, y, graphs = torch.arange(20), np.arange(count) % 2, []
    for kind in y:
        black = np.cumsum(rng.random(20) < (0.85 if kind else 0.15)) % 2
        x = np.column_stack([black, 1 - black, rng.normal(size=(20, 2))]).astype(np.float32)
        graphs.append(Data(x=torch.from_numpy(x), edge_index=torch.stack([ring, ring.roll(-1)])))
    return graphs, y


def main() -> None:
    train, test, y_train, y_test = train_test_split(*make_graphs(), random_state=0)
    torch.manual_seed(0)
    encoder = Encoder(4, 4)
    for n_epochs in (0, 10):
        metric = gml.SGML(encoder=encoder, n_epochs=n_epochs, random_state=0)  # trains a copy of the encoder
        classifier = gml.GraphKNNClassifier(metric).fit(train, y_train)
        print(f"5-NN accuracy after {n_epochs} epochs: {classifier.score(test, y_test):.1%}")

    with tempfile.TemporaryDirectory() as folder:
        path = classifier.save(Path(folder) / "model")
        # The folder holds the weights, not the code: give an encoder of the same shape to put them into.
        loaded = gml.load(path, encoder=Encoder(4, 4))
    same = np.array_equal(loaded.predict(test), classifier.predict(test))
    print(f"saved and loaded again, predictions are the same: {same}")


if __name__ == "__main__":
    main()
