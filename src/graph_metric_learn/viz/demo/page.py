"""The demo's first page: what its template shows, one function per section."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..render import render_html
from .comparison import N_NEIGHBORS, Comparison

if TYPE_CHECKING:
    from torch_geometric.data import Data

N_BARS = 12  # ways to compare graphs that are shown, those of the largest weights


class Explored(NamedTuple):
    """An explorer page beside this one: its file, what is on it, and what was found."""

    file: str
    title: str
    text: str


def demo_page(comparison: Comparison, pages: list[Explored], seed: int) -> str:
    """The whole page as HTML."""
    test = comparison.test
    examples = (np.flatnonzero(test.y == digit)[0] for digit in np.unique(test.y))
    return render_html(
        "demo.html",
        seed=seed,
        n_neighbors=N_NEIGHBORS,
        n_train=len(comparison.train.y),
        n_test=len(test.y),
        n_graphs=len(comparison.train.y) + len(test.y),
        examples=[draw_digit(test.graphs[i]) for i in examples],
        result=_result(comparison),
        choice=_choice(comparison),
        pages=pages,
    )


def _result(comparison: Comparison) -> dict[str, Any]:
    """Accuracies before and after learning, what changed, and the most frequent mistake that is left."""
    before, after, y = comparison.before, comparison.after, comparison.test.y
    mistakes = Counter(zip(y[~after.correct].tolist(), after.predicted[~after.correct].tolist(), strict=True))
    mistake = None
    for (digit, read), times in mistakes.most_common(1):
        mistake = {"digit": _with_article(digit), "read": _with_article(read), "times": times}
    return {
        "before": before.accuracy,
        "after": after.accuracy,
        "pixels": comparison.pixels,
        "n_corrected": int(np.sum(after.correct & ~before.correct)),
        "n_lost": int(np.sum(before.correct & ~after.correct)),
        "n_wrong": int(np.sum(~after.correct)),
        "mistake": mistake,
        "seconds": after.metric.seconds_,
        "n_ways": len(after.metric.weights_),
        "n_nodes": np.mean([graph.num_nodes for graph in comparison.test.graphs]),
        "milliseconds": comparison.milliseconds,
    }


def _choice(comparison: Comparison) -> dict[str, Any]:
    """Ways to compare two graphs, in words, with their weights, the largest first; and what was learned."""
    metric = comparison.after.metric
    families, ways = metric.mixture_.describer.families, dict[str, float]()
    for name, weight in metric.weights_.items():
        words = families[name].recipe.words
        ways[words] = ways.get(words, 0.0) + weight
    learned = metric.learned_
    assert learned is not None
    return {
        "bars": [(words, ways[words], True) for words in sorted(ways, key=lambda one: -ways[one])[:N_BARS]],
        "n_more": max(0, len(ways) - N_BARS),
        "weight": learned.gate.weight,
        "unlearned": learned.gate.unlearned,
        "learned": learned.gate.learned,
    }


class GraphDrawing(NamedTuple):
    """A graph in a square of side 80: edges as the `d` of an SVG path; x, y and radius of nodes; a description."""

    path: str
    circles: list[tuple[int, int, float]]
    alt: str


def draw_digit(graph: Data) -> GraphDrawing:
    """Each edge once, and nodes at `graph.pos` [n, 2], in the square from −1 to 1, as large as their ink.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> pos, edges = torch.tensor([[-1, 0], [1, 0]]), torch.tensor([[0, 1], [1, 0]])
    >>> draw_digit(Data(x=torch.ones(2, 1), pos=pos, edge_index=edges, y=torch.tensor([8])))
    GraphDrawing(path='M6 40L74 40', circles=[(6, 40, 3.4), (74, 40, 3.4)], alt='graph of an 8, 2 nodes')
    """
    x, y = graph.pos.numpy().T
    points = np.rint(np.stack([40 + 34 * x, 40 - 34 * y], axis=1)).astype(int).tolist()
    lines = ("M{} {}L{} {}".format(*points[a], *points[b]) for a, b in graph.edge_index.T.tolist() if a < b)
    ink = graph.x[:, 0].tolist()
    circles = [(x, y, round(1.2 + 2.2 * weight, 1)) for (x, y), weight in zip(points, ink, strict=True)]
    alt = f"graph of {_with_article(graph.y.item())}, {graph.num_nodes} nodes"
    return GraphDrawing("".join(lines), circles, alt)


def _with_article(digit: Any) -> str:
    """
    >>> _with_article(3), _with_article(8)
    ('a 3', 'an 8')
    """
    return f"an {digit}" if digit == 8 else f"a {digit}"
