"""No targets: a distance by which graphs that look alike are near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.schema import FieldError
from ..graphs import Graphs
from .base import Objective


class Unlabelled(Objective):
    """No targets: graphs should be near each other that look alike."""

    supervised = False

    def encode(self, graphs: Graphs, y: Any) -> np.ndarray:
        """Targets are not looked at: there are no columns."""
        return np.zeros((len(graphs), 0))

    encode_more = encode

    def outputs(self, target: np.ndarray) -> np.ndarray:
        return target

    decode = outputs

    def neighbor_scores(
        self, distances: np.ndarray, neighbors: np.ndarray, target: np.ndarray, ks: Sequence[int], *,
        weighted: bool = False,
    ) -> np.ndarray:  # fmt: skip
        raise ValueError("without targets, neighbours cannot be scored")

    def output_scores(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        raise ValueError("without targets, predictions cannot be scored")

    def guess(self, target: np.ndarray, others: np.ndarray) -> np.ndarray:
        return self.output_scores(target, others)

    def summary(self) -> str:
        return "no targets"

    def state(self) -> None:
        return None

    def set_state(self, state: Any) -> None:
        if state is not None:
            raise FieldError("objective", "must be null without targets")

    def n_outputs(self) -> int:
        return 0
