"""The demo: a metric for handwritten digits as graphs, found and learned, and a page that shows what it is like."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.files import write_atomic
from ..datasets import load_digits
from ..metrics.automatic.estimator import GraphMetric
from ..neighbors.knn import GraphKNNClassifier
from . import pieces as report

if TYPE_CHECKING:
    from torch_geometric.data import Data

# What learning is compared with: the mean of all that nodes carry.
PLAIN: dict[str, Any] = {"features": ["attributes@0", "labels@0"], "embedding": "mean", "learn": False}
N_NEIGHBORS = 5
N_BARS = 12
TEST_SHARE = 0.2
LEAST_GRAPHS = 100


class Part(NamedTuple):
    """Graphs and their digits [N]."""

    graphs: list[Data]
    y: np.ndarray


@dataclass(frozen=True)
class _Outcome:
    """What one metric makes of the test graphs.

    Attributes
    ----------
    classifier : GraphKNNClassifier
        Its references are the training graphs.
    predicted : ndarray [N]
        Digits of the test graphs.
    distances : ndarray [N, M]
        Between test and training graphs.
    right : ndarray [N]
        Whether the digit is right.
    milliseconds : float
        To read one test graph.
    """

    classifier: GraphKNNClassifier
    predicted: np.ndarray
    distances: np.ndarray
    right: np.ndarray
    milliseconds: float

    @property
    def metric(self) -> GraphMetric:
        return self.classifier.metric_

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())


class _Run(NamedTuple):
    """All that the page shows."""

    train: Part
    test: Part
    before: _Outcome
    after: _Outcome


def run_demo(
    out: str | Path,
    *,
    max_graphs: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Learns a metric on digits as graphs, compares k-NN with it and without, and writes out/index.html.

    Nothing is downloaded. Four fifths of the graphs are for learning, one fifth for testing.

    Parameters
    ----------
    out : path
        Folder of the page; made if it is not there.
    max_graphs : int, optional
        Only so many of the 1797 graphs, for a quicker look; at least 100.
    seed : int
        For the split and for the metric: one seed, one result.
    progress : bool, optional
        False prints nothing.
    overwrite : bool
        Whether to replace the page of an earlier run.

    Returns
    -------
    dict
        "accuracy_before", "accuracy_after": shares of the test graphs that k-NN reads right, by the mean of the nodes'
        features and by the learned metric; "n_train", "n_test"; "train_seconds", "seconds"; "path": of the page.
    """
    began = time.perf_counter()
    path = Path(out) / "index.html"
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists already: choose another folder or ask to overwrite it")
    say = (lambda line: None) if progress is False else print

    train, test = split_digits(max_graphs, seed)
    say(f"{len(train.y) + len(test.y)} handwritten digits as graphs: nodes are pixels with ink and carry their")
    say(f"intensity, row and column; {len(train.y)} graphs to learn from, {len(test.y)} to test on")

    say("compiling (some 20 s, on the first run only) ...")
    GraphMetric(random_state=seed).fit(train.graphs[:64], train.y[:64])  # or it counts as learning
    before = _try(GraphMetric(**PLAIN, random_state=seed), train, test)
    say(f"{N_NEIGHBORS}-NN accuracy before learning: {_percent(before.accuracy, 1)}")
    after = _try(GraphMetric(random_state=seed), train, test)
    seconds = after.metric.seconds_
    say(f"{N_NEIGHBORS}-NN accuracy after learning:  {_percent(after.accuracy, 1)}  (learned in {seconds:.1f} s)")
    say(after.metric.report_)

    say("drawing the page ...")
    write_atomic(path, _page(_Run(train, test, before, after), seed), overwrite=overwrite)
    seconds = time.perf_counter() - began
    say(f"written: {path}  ({seconds:.0f} s in all)")
    return {
        "accuracy_before": before.accuracy,
        "accuracy_after": after.accuracy,
        "n_train": len(train.y),
        "n_test": len(test.y),
        "train_seconds": after.metric.seconds_,
        "seconds": seconds,
        "path": str(path),
    }


def split_digits(max_graphs: int | None = None, seed: int = 0) -> tuple[Part, Part]:
    """Digits as graphs, four fifths and one fifth, each with its share of every digit.

    A node's attribute `x` [n, 1] is its intensity. Its two labels `node_labels` [n, 2] are its row and its column, 0 to
    7: as one-hot features, they leave it to the metric what each row and each column is worth.
    """
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    chosen = np.arange(len(digits.y))
    if max_graphs is not None and max_graphs < len(chosen):
        if max_graphs < LEAST_GRAPHS:
            raise ValueError(f"max_graphs={max_graphs}: ten digits need at least {LEAST_GRAPHS} graphs")
        chosen, _ = train_test_split(chosen, train_size=max_graphs, stratify=digits.y, random_state=seed)
    parts = train_test_split(chosen, test_size=TEST_SHARE, stratify=digits.y[chosen], random_state=seed)
    train, test = (Part([_with_labels(digits.graphs[i]) for i in part], digits.y[part]) for part in parts)
    return train, test


def _with_labels(graph: Data) -> Data:
    from torch_geometric.data import Data

    pixel = ((graph.x[:, :2] + 1) * 3.5).round().long()
    return Data(x=graph.x[:, 2:], edge_index=graph.edge_index, node_labels=pixel, pos=graph.pos, y=graph.y)


def _try(metric: GraphMetric, train: Part, test: Part) -> _Outcome:
    classifier = GraphKNNClassifier(metric, n_neighbors=N_NEIGHBORS).fit(train.graphs, train.y)
    start = time.perf_counter()
    predicted = classifier.predict(test.graphs)
    milliseconds = 1e3 * (time.perf_counter() - start) / len(test.y)
    distances = classifier.metric_.pairwise_distances(test.graphs, train.graphs)
    return _Outcome(classifier, predicted, distances, predicted == test.y, milliseconds)


# --- the page ----------------------------------------------------------------------------------------------------


def _page(run: _Run, seed: int) -> str:
    examples = (np.flatnonzero(run.test.y == digit)[0] for digit in np.unique(run.test.y))
    return report.page(
        "A distance between graphs, learned from examples",
        f"{len(run.train.y)} handwritten digits, each turned into a graph, teach graph-metric-learn which graphs are "
        f"alike. Then it reads {len(run.test.y)} digits it has not seen.",
        [_result(run), _choice(run), _maps(run, seed), _gallery(run), _explanation(run), _yours(run)],
        banner=report.drawings_row(_draw(run.test.graphs[i]) for i in examples),
        footer=f"Made by graph-metric-learn on this computer, from scikit-learn's digits, with seed {seed}.",
    )


def _result(run: _Run) -> str:
    was, right, y = run.before.right, run.after.right, run.test.y
    changes = (
        f"Learning puts right {np.sum(right & ~was)} test graphs that were misread before, and loses "
        f"{np.sum(was & ~right)} that were not. In the end {np.sum(~right)} of {len(y)} are misread"
    )
    mistakes = Counter(zip(y[~right].tolist(), run.after.predicted[~right].tolist(), strict=True))
    for (digit, read), times in mistakes.most_common(1):
        changes += f", most often a {digit} taken for a {read} ({times} {'time' if times == 1 else 'times'})"
    return report.section(
        "result",
        f"{N_NEIGHBORS}-nearest-neighbour accuracy on {len(y)} unseen graphs",
        report.share_bar("before learning: the mean of what nodes carry", run.before.accuracy),
        report.share_bar("after learning: what GraphMetric chose and learned", run.after.accuracy, "good"),
        report.paragraph(
            "Both numbers come from nearest neighbours among the same graphs. Learning here is mostly choosing: the "
            f"metric found out from the training graphs what to look at. {changes}."
        ),
        report.facts(
            [
                (f"{run.after.metric.seconds_:.1f} s", "of learning, all choices included"),
                (f"{len(run.after.metric.choice_.scores)}", "ways to compare graphs tried; no option set by hand"),
                (f"{np.mean([graph.num_nodes for graph in run.test.graphs]):.0f}", "nodes per graph, on average"),
                (f"{run.after.milliseconds:.1f} ms", "to read a new graph, without training again"),
            ]
        ),
        report.paragraph(
            "Nodes are the pixels with ink, edges join pixels that touch. A node carries its intensity, row and "
            "column. Digits are used because everyone can judge the result by eye; nothing in the method is about "
            "images. Graphs may differ in size, and the order of their nodes does not matter.",
            "note",
        ),
    )


def _choice(run: _Run) -> str:
    metric = run.after.metric
    scores, weights = metric.choice_.scores, metric.choice_.weights
    best = sorted(scores, key=lambda name: -scores[name])[:N_BARS]
    best += [name for name in weights if name not in best]
    learned = []
    for stage in metric.history_:
        verdict = "kept" if stage.kept else "not kept"
        change = f"{100 * (stage.learned - stage.unlearned):+.1f} points on graphs held out"
        learned.append(f"{stage.name}, {stage.n_parameters} numbers: {change}, {verdict}")
    parts = " + ".join(f"{100 * weight:.0f} % {name}" for name, weight in weights.items())
    return report.section(
        "choice",
        "What was chosen, and what was learned",
        report.paragraph(
            "Each way to compare two graphs is tried on training graphs alone: how many does it classify right by "
            f"their neighbours, leaving each out in turn? The squared distance is a weighted sum of the best: {parts}."
        ),
        report.figure(
            report.bars_png(
                best, [scores[name] for name in best], [name in weights for name in best],
                "Accuracy of single ways to compare graphs.",
            ),
            "Leave-one-out accuracy of single ways, averaged over several k; those in the sum are green.",
        ),
        report.paragraph(
            f"Then three kinds of parameters were learned in turn, each kept only if it helps: {'; '.join(learned)}."
        ),
    )  # fmt: skip


def _maps(run: _Run, seed: int) -> str:
    y = run.test.y
    drawn, alike = [], []
    for name, outcome in (("before learning", run.before), ("after learning", run.after)):
        distances = outcome.metric.pairwise_distances(run.test.graphs)
        places = report.flatten(distances, seed)
        drawn.append(report.figure(report.map_svg(places, y, f"Map of the test graphs {name}."), name))
        others = np.argsort(distances + np.diag(np.full(len(y), np.inf)), axis=1)[:, :N_NEIGHBORS]
        alike.append(_percent(np.mean(y[others] == y[:, None])))
    return report.section(
        "map",
        "A map of the test graphs",
        report.paragraph(
            f"Each number is one of the {len(y)} test graphs, placed by t-SNE so that graphs at a small distance lie "
            f"together. The map is not told the digits. Of the {N_NEIGHBORS} test graphs nearest to a test graph, "
            f"{alike[0]} show the same digit before learning and {alike[1]} after."
        ),
        report.side_by_side(*drawn),
    )


def _gallery(run: _Run) -> str:
    rows = []
    for q in _queries(run):
        digit = run.test.y[q]
        strips = []
        for when, outcome in (("before", run.before), ("after", run.after)):
            found = [
                (_draw(run.train.graphs[i]), str(run.train.y[i]), bool(run.train.y[i] == digit))
                for i in outcome.distances[q].argsort()[:N_NEIGHBORS]
            ]
            strips.append(report.match_strip(f"nearest {when} learning: read as {outcome.predicted[q]}", found))
        rows.append(report.query_row(report.figure(_draw(run.test.graphs[q]), f"test graph {q}, a {digit}"), *strips))
    return report.section(
        "neighbours",
        "Nearest neighbours",
        report.paragraph(
            f"A test graph, then its {N_NEIGHBORS} nearest training graphs, nearest first. Larger nodes have more ink; "
            "neighbours that show another digit are red. The rows are not picked by hand: they are the first test "
            "graphs, of different digits, that learning put right, then the first that is misread after learning."
        ),
        *rows,
    )


def _explanation(run: _Run) -> str:
    from matplotlib.figure import Figure

    query = next(iter(_queries(run)), 0)
    old, new = run.before.distances[query], run.after.distances[query]
    other = int(np.where(run.train.y == run.test.y[query], np.inf, old).argmin())
    graph, stranger = run.test.graphs[query], run.train.graphs[other]
    explained = run.after.metric.explain(graph, stranger)
    plot = Figure(figsize=(7, 3.6), layout="constrained")
    axes = explained.plot(plot.add_subplot(), k=20, positions=(graph.pos.numpy(), stranger.pos.numpy()))
    axes.set_title("")
    costly = _percent(np.sort(explained.source_share)[-5:].sum())
    ranks = [_ordinal(np.sum(distances <= distances[other])) for distances in (old, new)]
    left, right = run.test.y[query], run.train.y[other]
    return report.section(
        "explanation",
        "Why two graphs are far apart",
        report.paragraph(
            f"Left, test graph {query}, a {left}; right, the training graph of another digit that was nearest to it "
            f"before learning, a {right}. Of all {len(new)} training graphs it was then the {ranks[0]} nearest; now it "
            f"is the {ranks[1]}. Their distance is {explained.distance:.1f}; the nearest training graph, "
            f"a {run.train.y[new.argmin()]}, is at {new.min():.1f}."
        ),
        report.figure(
            report.png(plot, f"A {left} and a {right} as graphs, with lines between matched nodes.", paper=True),
            "Grey lines are the 20 heaviest matches between nodes. The redder a node, the larger its share of the "
            f"squared distance: of the {len(explained.source_share)} nodes on the left, five carry {costly} of it.",
        ),
    )


def _yours(run: _Run) -> str:
    return report.section(
        "yours",
        "The same with your graphs",
        report.paragraph(
            "PyTorch Geometric graphs, NetworkX graphs and pairs of adjacency and features go in as they are. This is "
            "the code behind this page's second number:"
        ),
        report.code(
            "import graph_metric_learn as gml\n\n"
            f"knn = gml.GraphKNNClassifier(n_neighbors={N_NEIGHBORS}).fit(graphs, labels)\n"
            "print(knn.metric_.report_)\n"
            "knn.score(new_graphs, new_labels)\n"
            "knn.metric_.explain(new_graphs[0], graphs[0]).plot()"
        ),
    )


def _queries(run: _Run, put_right: int = 4) -> list[int]:
    """The first test graphs of different digits that learning put right, and the first misread after it."""
    chosen: dict[int, int] = {}
    for q in np.flatnonzero(run.after.right & ~run.before.right):
        chosen.setdefault(int(run.test.y[q]), int(q))
    return [*list(chosen.values())[:put_right], *np.flatnonzero(~run.after.right)[:1].tolist()]


def _draw(graph: Data) -> str:
    alt = f"graph of a {int(graph.y)}, {graph.num_nodes} nodes"
    return report.graph_svg(graph.pos.numpy(), graph.edge_index.numpy(), graph.x[:, 0].numpy(), alt)


def _percent(share: float, decimals: int = 0) -> str:
    return f"{100 * share:.{decimals}f} %"


def _ordinal(number: int) -> str:
    """
    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '112th']
    """
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(int(number) % 10, 'th')}"
