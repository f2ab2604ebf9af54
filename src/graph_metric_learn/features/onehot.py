"""One-hot columns of node features, and the labels that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..graphs.collection import Graphs
from .tree_hashes import hashed_rows


def code_columns(graphs: Graphs) -> np.ndarray:
    """Which columns of x are a one-hot code of labels [q], as PyG keeps them: 0 and 1 alone, at most one 1 in a row.

    No column if the code is constant, or if the labels that nodes carry do not determine it.
    """
    if graphs.x is None:
        return np.zeros(0, dtype=bool)
    codes = one_hot_columns(graphs.x)
    if graphs.labels is not None:
        coded = decoded(graphs.x[:, codes])
        own = np.unique(hashed_rows(graphs.labels), return_inverse=True)[1]
        if len(np.unique(np.stack([own, coded], axis=1), axis=0)) > own.max() + 1:
            return np.zeros_like(codes)
    return codes


def without_codes(graphs: Graphs, codes: np.ndarray, labelled: bool) -> Graphs:
    """The same graphs without the columns of x that are a code of labels, those where `codes` [q] is True.

    Their place is taken by labels, unless the graphs have labels of their own (`labelled`). What is no code, because
    it is not one-hot, is a label that was never seen.
    """
    if not codes.any() or (labelled and graphs.x is None):
        return graphs
    if graphs.x is None or graphs.x.shape[1] != len(codes):
        width = 0 if graphs.x is None else graphs.x.shape[1]
        raise ValueError(f"nodes carry {width} features, those that were fitted {len(codes)}")
    labels = graphs.labels if labelled else decoded(graphs.x[:, codes])[:, None]
    return replace(graphs, x=None if codes.all() else graphs.x[:, ~codes], labels=labels, columns=None)


def one_hot_columns(x: np.ndarray) -> np.ndarray:
    """Which columns of x [S, q] are one code of zeros and ones with at most one 1 in a row [q]; none if it is constant.

    >>> one_hot_columns(np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.5]])).tolist()
    [True, True, False]
    """
    codes = binary_columns(x)
    coded = decoded(x[:, codes])
    return codes & bool((coded >= 0).all() and (coded != coded[0]).any())


def binary_columns(x: np.ndarray) -> np.ndarray:
    """Which columns hold zeros and ones alone [q]: codes of labels, whether one or several stand side by side.

    >>> binary_columns(np.array([[0.0, 1.0], [1.0, 0.5]])).tolist()
    [True, False]
    """
    return ((x == 0) | (x == 1)).all(0)


def decoded(columns: np.ndarray) -> np.ndarray:
    """Which column holds the 1, from 1 on, or 0 where none does; -1 for a row that is not one-hot [S].

    >>> decoded(np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.5, 0.0]])).tolist()
    [2, 0, -1, -1]
    """
    ones = columns == 1
    proper = (ones.sum(1) <= 1) & (ones | (columns == 0)).all(1)
    return np.where(proper, ones @ np.arange(1, columns.shape[1] + 1), -1)
