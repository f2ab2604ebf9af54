"""Graphs as (adjacency, features): dense, scipy sparse or torch, the values of the adjacency being weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .base import Names, RawGraph, as_numpy, check_size, checked_weights


def read_pair(adjacency: Any, x: Any, name: str, names: Names) -> RawGraph:
    """One pair; an entry of the adjacency is an edge if it is not 0."""
    if len(getattr(adjacency, "shape", ())) == 2 and (entries := getattr(adjacency, "nnz", None)) is not None:
        check_size(adjacency.shape[0], int(entries), name)
    adjacency = _as_matrix(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"{name} has an adjacency of shape {adjacency.shape}, expected a square matrix")
    values = adjacency.data if sparse.issparse(adjacency) else adjacency
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        raise ValueError(f"{name} has an adjacency with entries that are not finite numbers")
    rows, columns = adjacency.nonzero()
    weights = None
    if names.edges and names.edge_weight is not None and adjacency.dtype.kind != "b":
        listed = values[values != 0] if sparse.issparse(adjacency) else adjacency[rows, columns]
        weights = checked_weights(listed, len(rows), name)
    edges = np.stack([rows, columns]).astype(np.int64)
    return RawGraph(adjacency.shape[0], edges, as_numpy(x), edge_weights=weights)


def _as_matrix(adjacency: Any) -> Any:
    """A NumPy array, or a scipy array of compressed rows in which entries for the same place have been added up."""
    if "sparse" in str(getattr(adjacency, "layout", "")):  # of torch
        entries = adjacency.detach().cpu().to_sparse_coo()
        places = tuple(as_numpy(entries._indices()))
        adjacency = sparse.coo_array((as_numpy(entries._values()), places), shape=tuple(entries.shape))
    if not sparse.issparse(adjacency):
        return as_numpy(adjacency)
    rows = sparse.csr_array(adjacency)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
