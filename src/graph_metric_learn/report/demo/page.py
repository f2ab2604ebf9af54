"""The demo's page: what its template shows, computed from the comparison, one function per section."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawings import GraphDrawing, draw_graph, draw_map
from ..layout import tsne_layout
from ..plots import as_png
from ..render import render_html
from .comparison import N_NEIGHBORS, Comparison, example_queries, nearest_of_other_digit, same_digit_share

if TYPE_CHECKING:
    from torch_geometric.data import Data

N_BARS = 12  # candidates shown, those in the sum always among them
N_MATCHES = 20  # lines between nodes in the explanation
N_COSTLY = 5  # nodes whose share of a distance is stated


def demo_page(comparison: Comparison, seed: int) -> str:
    """The whole page as HTML."""
    test = comparison.test
    examples = (np.flatnonzero(test.y == digit)[0] for digit in np.unique(test.y))
    return render_html(
        "demo.html",
        seed=seed,
        n_neighbors=N_NEIGHBORS,
        n_train=len(comparison.train.y),
        n_test=len(test.y),
        examples=[_draw(test.graphs[i]) for i in examples],
        result=_result(comparison),
        choice=_choice(comparison),
        map=_map(comparison, seed),
        queries=[_query(comparison, query) for query in example_queries(comparison)],
        explanation=_explanation(comparison),
    )


def _result(comparison: Comparison) -> dict[str, Any]:
    """Accuracies before and after learning, what changed, and the most frequent mistake that is left."""
    before, after, y = comparison.before, comparison.after, comparison.test.y
    mistakes = Counter(zip(y[~after.correct].tolist(), after.predicted[~after.correct].tolist(), strict=True))
    frequent = [
        {"digit": _with_article(digit), "read": _with_article(read), "times": times}
        for (digit, read), times in mistakes.most_common(1)
    ]
    return {
        "before": before.accuracy,
        "after": after.accuracy,
        "n_corrected": int(np.sum(after.correct & ~before.correct)),
        "n_lost": int(np.sum(before.correct & ~after.correct)),
        "n_wrong": int(np.sum(~after.correct)),
        "mistake": frequent[0] if frequent else None,
        "seconds": after.metric.seconds_,
        "n_candidates": len(after.metric.choice_.scores),
        "n_nodes": np.mean([graph.num_nodes for graph in comparison.test.graphs]),
        "milliseconds": after.milliseconds,
    }


def _choice(comparison: Comparison) -> dict[str, Any]:
    """The candidates with the best scores, those chosen with their weights, and what was learned."""
    metric = comparison.after.metric
    scores, weights = metric.choice_.scores, metric.choice_.weights
    best = sorted(scores, key=lambda name: -scores[name])[:N_BARS]
    best += [name for name in weights if name not in best]
    learned = metric.learned_
    assert learned is not None
    return {
        "weights": weights,
        "bars": [(name, scores[name], name in weights) for name in best],
        "learned": {
            "parts": list(dict.fromkeys(part.term.name for part in learned.machine.parts)),
            "weight": learned.gate.weight,
            "unlearned": learned.gate.unlearned,
            "learned": learned.gate.learned,
        },
    }


def _map(comparison: Comparison, seed: int) -> list[dict[str, Any]]:
    """Maps of the test graphs before and after learning, each with the share of neighbours of the same digit."""
    maps = []
    for when, outcome in (("before learning", comparison.before), ("after learning", comparison.after)):
        distances = outcome.metric.pairwise_distances(comparison.test.graphs)
        places = tsne_layout(distances, seed)
        maps.append(
            {
                "caption": when,
                "drawing": draw_map(places, comparison.test.y, f"Map of the test graphs {when}."),
                "same_digit": same_digit_share(distances, comparison.test.y),
            }
        )
    return maps


def _query(comparison: Comparison, query: int) -> dict[str, Any]:
    """A test graph with its nearest training graphs, nearest first, before and after learning."""
    train, digit = comparison.train, comparison.test.y[query]
    return {
        "number": query,
        "digit": _with_article(digit),
        "drawing": _draw(comparison.test.graphs[query]),
        "strips": [
            {
                "when": when,
                "read": outcome.predicted[query],
                "found": [
                    {"drawing": _draw(train.graphs[i]), "name": train.y[i], "right": bool(train.y[i] == digit)}
                    for i in outcome.distances[query].argsort()[:N_NEIGHBORS]
                ],
            }
            for when, outcome in (("before", comparison.before), ("after", comparison.after))
        ],
    }


def _explanation(comparison: Comparison) -> dict[str, Any]:
    """Why the first test graph shown is far from a graph of another digit that was near before learning."""
    from matplotlib.figure import Figure

    train, test = comparison.train, comparison.test
    query = next(iter(example_queries(comparison)), 0)
    other = nearest_of_other_digit(comparison, query)
    old, new = comparison.before.distances[query], comparison.after.distances[query]
    graph, stranger = test.graphs[query], train.graphs[other]
    explained = comparison.after.metric.explain(graph, stranger)
    plot = Figure(figsize=(7, 3.6), layout="constrained")
    axes = explained.plot(plot.add_subplot(), k=N_MATCHES, positions=(graph.pos.numpy(), stranger.pos.numpy()))
    axes.set_title("")
    return {
        "query": query,
        "digit": _with_article(test.y[query]),
        "other_digit": _with_article(train.y[other]),
        "rank_before": _ordinal(np.sum(old <= old[other])),
        "rank_after": _ordinal(np.sum(new <= new[other])),
        "distance": explained.distance,
        "nearest_digit": _with_article(train.y[new.argmin()]),
        "nearest_distance": new.min(),
        "picture": as_png(plot, dpi=130, transparent=True),
        "n_matches": N_MATCHES,
        "n_nodes": len(explained.source_share),
        "n_costly": N_COSTLY,
        "costly_share": np.sort(explained.source_share)[-N_COSTLY:].sum(),
    }


def _draw(graph: Data) -> GraphDrawing:
    alt = f"graph of {_with_article(int(graph.y))}, {graph.num_nodes} nodes"
    return draw_graph(graph.pos.numpy(), graph.edge_index.numpy(), graph.x[:, 0].numpy(), alt)


def _with_article(digit: int) -> str:
    """
    >>> _with_article(3), _with_article(8)
    ('a 3', 'an 8')
    """
    return f"an {digit}" if digit == 8 else f"a {digit}"


def _ordinal(number: int) -> str:
    """
    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '112th']
    """
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(int(number) % 10, 'th')}"
