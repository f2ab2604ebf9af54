"""The demo's data: handwritten digits as graphs, split into a training and a test part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...datasets import load_digits

if TYPE_CHECKING:
    from torch_geometric.data import Data

TEST_SHARE = 0.2
MIN_GRAPHS = 100  # for ten digits, in both parts


class Part(NamedTuple):
    """Graphs, their digits [N], and the images that they come from [N, 64]."""

    graphs: list[Data]
    y: np.ndarray
    images: np.ndarray


def split_digits(max_graphs: int | None = None, seed: int = 0) -> tuple[Part, Part]:
    """Digits as graphs, four fifths for training and one fifth for testing, stratified by digit.

    A node's attribute `x` [n, 1] is its intensity. Its two labels `node_labels` [n, 2] are its row and its column, 0 to
    7: as one-hot features, they leave it to the metric how much each row and each column counts.
    """
    from sklearn.datasets import load_digits as load_images
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = load_images().data
    chosen = np.arange(len(digits.y))
    if max_graphs is not None and max_graphs < len(chosen):
        if max_graphs < MIN_GRAPHS:
            raise ValueError(f"max_graphs={max_graphs}: ten digits need at least {MIN_GRAPHS} graphs")
        chosen, _ = train_test_split(chosen, train_size=max_graphs, stratify=digits.y, random_state=seed)
    parts = train_test_split(chosen, test_size=TEST_SHARE, stratify=digits.y[chosen], random_state=seed)
    train, test = (Part([_with_labels(digits.graphs[i]) for i in part], digits.y[part], images[part]) for part in parts)
    return train, test


def _with_labels(graph: Data) -> Data:
    """The same graph with row and column as labels; `load_digits` has them as attributes scaled to −1 … 1."""
    from torch_geometric.data import Data

    pixel = ((graph.x[:, :2] + 1) * 3.5).round().long()
    return Data(
        x=graph.x[:, 2:], edge_index=graph.edge_index, node_labels=pixel, pos=graph.pos, drawing="pos", y=graph.y
    )
