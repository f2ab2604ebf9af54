"""k-means clustering of graphs, exactly, in the space of a metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin, TransformerMixin

from .._core.validation import as_listed, draw_seed
from ..metrics.base import BaseGraphMetric
from ..objectives.folds import check_groups
from ..transport import Embedded, pairwise_distances
from ..transport.means import Means
from .class_means import _MeansPredictor, nearest_mean
from .predictor import streamed
from .settings import CLUSTERS, SEED, check_setting, check_settings
from .state import ChosenClusters, saved_clusters

_COPY = 1e-10  # share of the largest squared distance up to which two graphs count as copies of each other
_MOST_PAIRED = 5000  # graphs up to which the matrix of all pairs is made: 200 MB


class GraphKMeans(ClusterMixin, TransformerMixin, _MeansPredictor):
    """k-means clustering of graphs: k means, each graph in the cluster of the nearest, least sum of squared distances.

    Means have a closed form and distances to them are exact, for curves as well (:class:`Means`), so these are Lloyd's
    iterations and no approximation. Each start takes its first centres by greedy k-means++ [1]_, and ends when no graph
    changes its cluster. An empty cluster is given the graph that is farthest from its centre.

    Parameters
    ----------
    n_clusters : int
        How many clusters.
    metric : GraphMetric or SGML, optional
        A copy of it is fitted by `fit`; when None, a `GraphMetric(task="none")`, which looks at no labels. To use a
        fitted metric as it is, freeze it: ``metric=sklearn.frozen.FrozenEstimator(fitted)``.
    random_state : int, numpy.random.Generator or None
        One seed gives one result on one machine; also that of the metric when `metric` is None.
    n_init : int
        How many starts; the one with the least inertia is kept.
    max_iter : int
        How often the means of a start are computed at most.
    memory : str or joblib.Memory, optional
        Where fitted metrics are kept: a grid over `n_clusters` then fits one per training fold. When `metric` is None
        this takes a `random_state`, too.

    Attributes
    ----------
    metric_, embedded_, names_
        See :class:`GraphKNNClassifier`.
    labels_ : ndarray [N]
        Clusters of the graphs, 0 … n_clusters − 1.
    inertia_ : float
        Sum of the squared distances of the graphs to the nearest mean.
    n_iter_ : int
        How often the means were computed in the start that was kept.
    means_ : Means
        The centres.

    References
    ----------
    .. [1] D. Arthur, S. Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA 2007.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(14, 20)] + [nx.star_graph(n) for n in range(14, 20)]
    >>> clusters = gml.GraphKMeans(2, gml.SGML(random_state=0), random_state=0).fit(graphs, [0] * 6 + [1] * 6)
    >>> len(set(clusters.labels_[:6])), len(set(clusters.labels_[6:]))
    (1, 1)
    >>> bool(clusters.predict([nx.cycle_graph(30)])[0] == clusters.labels_[0])
    True
    """

    task: ClassVar[str] = "auto"
    _settings: ClassVar = {**CLUSTERS, "random_state": SEED}
    _chosen_type = ChosenClusters

    def __init__(
        self, n_clusters: int = 8, metric: Any = None, random_state: Any = None, n_init: int = 10, max_iter: int = 300,
        memory: Any = None,
    ) -> None:  # fmt: skip
        self.n_clusters = n_clusters
        self.metric = metric
        self.random_state = random_state
        self.n_init = n_init
        self.max_iter = max_iter
        self.memory = memory

    def fit(self, graphs: Any, y: Any = None, groups: Any = None) -> GraphKMeans:
        """Learns the metric, then the clusters; y and groups go to the metric's `fit`, the clusters ignore them.

        Without y a `GraphMetric` whose task is "auto" looks at no targets, also where graphs carry some.
        """
        check_settings(self, CLUSTERS)
        graphs = self._read(graphs)
        y, groups = as_listed("targets", y), check_groups(as_listed("groups", groups), len(graphs))
        if y is not None and len(y) != len(graphs):
            raise ValueError(f"{len(y)} targets for {len(graphs)} graphs: give one per graph, or none")
        if self.n_clusters > len(graphs):
            raise ValueError(f"n_clusters={self.n_clusters}, but there are only {len(graphs)} graphs")
        self.seed_ = draw_seed(self.random_state)
        check_setting("random_state", self.seed_, SEED)
        if self.metric is None:  # the default looks at no targets
            y = groups = None
        self._fit_metric(graphs, y, groups)
        self._refer_to(graphs, np.zeros(len(graphs), dtype=np.int64))
        rng = np.random.default_rng(self.seed_)
        space = space_of(self.embedded_)
        starts = [first_centres(space, self.n_clusters, rng) for _ in range(self.n_init)]
        runs = [lloyd(space, centres, self.max_iter) for centres in starts]
        self.y_, _, n_iter = min(runs, key=lambda run: run[1])
        self.chosen_ = {"n_iter": n_iter, "seed": self.seed_}
        self._complete()
        return self

    def _default_metric(self, y: Any) -> BaseGraphMetric:
        from ..metrics.automatic import GraphMetric

        return GraphMetric(task="none", random_state=self.seed_)

    def _task_of_metric(self, metric: Any, y: Any) -> str:
        from ..metrics.automatic import GraphMetric

        return "none" if y is None and isinstance(metric, GraphMetric) else self.task

    def _saved_targets(self, y: list[Any]) -> np.ndarray:  # type: ignore[override]
        return saved_clusters(y, self.n_clusters)

    def _complete(self) -> None:
        """Means of the clusters `y_`, and the nearest mean of each graph."""
        self.n_iter_, self.seed_ = self.chosen_["n_iter"], self.chosen_["seed"]
        self.means_ = Means(self.embedded_, self.y_, self.n_clusters)
        squares = self.means_.squared_distances(self.embedded_)
        self.labels_ = nearest_mean(squares)
        self.inertia_ = float(squares.min(1).sum())

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        config, tensors = super()._state()
        config["params"]["random_state"] = self.seed_  # a generator cannot be written
        return config, tensors

    def transform(self, graphs: Any) -> np.ndarray:
        """Distances of graphs to all centres [N, n_clusters]."""
        return np.sqrt(self._squares(graphs))

    @streamed
    def predict(self, graphs: Any) -> np.ndarray:
        """The cluster whose centre is nearest [N]; the first of equals."""
        return nearest_mean(self._squares(graphs))

    def score(self, graphs: Any, y: Any = None) -> float:
        """Minus the sum of squared distances of graphs to their nearest centre, as in `sklearn.cluster.KMeans`."""
        return -float(self._squares(graphs).min(1).sum())


class ByMeans:
    """Squared distances of N items to some of them, or to the means of clusters, by making the means."""

    def __init__(self, items: Embedded) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def to_items(self, which: np.ndarray) -> np.ndarray:
        """Squared distances to the items `which` [N, K]: an item is the mean of itself."""
        return Means(self.items[which], np.arange(len(which)), len(which)).squared_distances(self.items)

    def to_means(self, clusters: np.ndarray, count: int) -> np.ndarray:
        """Squared distances to the means of the clusters [N, count]."""
        return Means(self.items, clusters, count).squared_distances(self.items)


class ByPairs:
    """The same from the distances of all pairs: d²(x, mean) = mean_i d²(x, x_i) − ½ mean_ij d²(x_i, x_j).

    i and j run through the cluster. Pairs are compared once; each iteration is then one matrix product.
    """

    def __init__(self, items: Embedded) -> None:
        curves = items.as_step_functions()
        curves = replace(curves, values=curves.values.detach().double(), numpy=True)
        self.squares = pairwise_distances(curves, squared=True, device=curves.device)

    def __len__(self) -> int:
        return len(self.squares)

    def to_items(self, which: np.ndarray) -> np.ndarray:
        """Squared distances to the items `which` [N, K]."""
        return self.squares[:, which]

    def to_means(self, clusters: np.ndarray, count: int) -> np.ndarray:
        """Squared distances to the means of the clusters [N, count]."""
        shares = (clusters[:, None] == np.arange(count)).astype(float)
        shares /= shares.sum(0)
        to_members = self.squares @ shares
        return np.maximum(to_members - (to_members * shares).sum(0) / 2, 0.0)


Space = ByMeans | ByPairs


def space_of(items: Embedded) -> Space:
    """The faster way to the same distances: by pairs for curves of several sizes, as long as the matrix is small."""
    curves = items.as_step_functions()
    on_one_grid = curves.steps is None and (curves.sizes == curves.sizes[0]).all()
    return ByMeans(items) if on_one_grid or len(items) > _MOST_PAIRED else ByPairs(items)


def first_centres(space: Space, count: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of the items to start from [count], by greedy k-means++.

    The first is drawn at random. Of a few items, drawn with probabilities proportional to the squared distance to the
    centres so far, the next is the one that leaves the least sum of these squares.
    """
    centres = [int(rng.integers(len(space)))]
    squares = space.to_items(np.array(centres))[:, 0]
    smallest = _COPY * squares.max()
    n_drawn = 2 + int(np.log(count))  # as many as scikit-learn
    while len(centres) < count:
        chance = np.where(squares > smallest, squares, 0.0)
        if not chance.any():
            raise ValueError(
                f"n_clusters={count}, but the metric tells only {len(centres)} of {len(space)} graphs apart: "
                "the others are copies of these, so take fewer clusters"
            )
        drawn = rng.choice(len(space), size=n_drawn, p=chance / chance.sum())
        left = np.minimum(squares[:, None], space.to_items(drawn))
        best = int(left.sum(0).argmin())
        centres.append(int(drawn[best]))
        squares = left[:, best]
    return np.array(centres)


def lloyd(space: Space, centres: np.ndarray, max_iter: int) -> tuple[np.ndarray, float, int]:
    """Lloyd's iterations from the items `centres` [K]: clusters [N], the inertia of their means, iterations."""
    count = len(centres)
    clusters = _assigned(space.to_items(centres))
    inertia = np.inf
    for n_iter in range(1, max_iter + 1):
        squares = space.to_means(clusters, count)
        before, inertia = inertia, float(squares.min(1).sum())
        nearest = _assigned(squares)
        if np.array_equal(nearest, clusters) or inertia >= before:  # it rises by rounding only
            break
        if n_iter < max_iter:
            clusters = nearest
    return clusters, inertia, n_iter


def _assigned(squares: np.ndarray) -> np.ndarray:
    """The nearest mean of each item [N]; an empty cluster is given the item that is farthest from its mean."""
    clusters = nearest_mean(squares)
    sizes = np.bincount(clusters, minlength=squares.shape[1])
    for empty in np.flatnonzero(sizes == 0):
        apart = np.where(sizes[clusters] > 1, squares[np.arange(len(clusters)), clusters], -1.0)
        farthest = int(apart.argmax())
        sizes[clusters[farthest]] -= 1
        sizes[empty] += 1
        clusters[farthest] = empty
    return clusters
