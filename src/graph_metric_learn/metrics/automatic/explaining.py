"""Why two graphs are as far apart as they are, by a metric that is a sum of terms and learned scores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...features.edge_cloud import cloud_edges, edge_rows
from ...graphs import Graphs
from ..explanation import Explanation
from .terms import Term

if TYPE_CHECKING:
    from .estimator import GraphMetric


def explain_pair(metric: GraphMetric, both: Graphs) -> Explanation:
    """The distance of two graphs, and each node's and edge's share of its square."""
    blocks, sizes = metric._blocks(both), metric.blocks_.sizes(both)
    embedded = metric._embedded(both)
    vectors = metric._placed(embedded)
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    gap = vectors[0].astype(np.float64) - vectors[1]
    distance = float(np.sqrt(gap @ gap))
    distance = 0.0 if distance < metric.rounding else distance
    shares = {cloud: [np.zeros(count) for count in counts] for cloud, counts in sizes.items()}
    of_terms: dict[str, float] = {}
    for term, gradient, learned in _gradients(metric, embedded, gap):
        adds = term.attribute(blocks, int(sizes[term.cloud][0]), gradient)
        shares[term.cloud] = [share + added for share, added in zip(shares[term.cloud], adds, strict=True)]
        name = f"learned from {term.name}" if learned else term.name
        of_terms[name] = of_terms.get(name, 0.0) + float(adds[0].sum())
    whole = sum(float(pair[0].sum()) for pair in shares.values())
    whole = whole if distance > 0 and whole > 0 else np.inf
    plans = _plans(metric.terms_, blocks, sizes)
    edges: dict[str, Any] = {}
    if any(term.cloud == "edges" for term in metric.used_terms().values()):
        rows, _ = edge_rows(both)
        source, target = (share / whole for share in shares["edges"])
        edges = {"edge_ends": cloud_edges(both, rows), "edge_source_share": source, "edge_target_share": target}
    source, target = (share / whole for share in shares["nodes"])
    parts = {name: value / whole for name, value in sorted(of_terms.items(), key=lambda item: -item[1])}
    return Explanation(distance, plans, source, target, both, term_share=parts, **edges)


def _plans(terms: list[Term], blocks: dict[str, Any], sizes: dict[str, np.ndarray]) -> np.ndarray:
    """Which nodes are compared [n, m], averaged over the terms of nodes; without any, all with all."""
    counts = Counter(term.cloud for term in terms)
    plan = np.zeros(tuple(sizes["nodes"]))
    for term in terms:
        if term.cloud == "nodes":
            plan += term.plan(blocks, int(sizes["nodes"][0])) / counts["nodes"]
    return plan if counts["nodes"] else np.full(plan.shape, 1.0 / plan.size)


def _gradients(metric: GraphMetric, embedded: dict[str, Any], gap: np.ndarray) -> list[tuple[Term, np.ndarray, bool]]:
    """By term, the vector whose product with the difference of its vectors is what it adds to d²; and if learned."""
    learned = metric.learned_
    width = 0 if learned is None else learned.width
    rest = gap[width:]
    if metric.low_rank_ is not None:
        rest = metric.low_rank_.pull(rest)
    elif metric.compaction_ is not None:
        rest = metric.compaction_.pull(rest)
    found, start = [], 0
    for term in metric.terms_:
        vectors = embedded[term.key]
        wide = vectors.shape[1] if term.projection is None else term.projection.width
        found.append((term, term.pull(rest[start : start + wide]), False))
        start += wide
    if learned is not None and width:
        direction = np.sqrt(learned.gate.weight / learned.unit) * (learned.basis @ gap[:width])
        found += [(term, gradient, True) for term, gradient in learned.machine.mean_gradients(embedded, direction)]
    return found
