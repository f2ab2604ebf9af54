"""Graphs with the fields of `Data`, for programs that need no PyTorch Geometric, which is slow to import."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class PlainData(SimpleNamespace):
    """The fields of a `torch_geometric.data.Data`, and nothing else; read as such.

    >>> PlainData(num_nodes=2, name="ring").to_dict()
    {'num_nodes': 2, 'name': 'ring'}
    """

    num_nodes: int

    def to_dict(self) -> dict[str, Any]:
        """Fields by name."""
        return dict(vars(self))
