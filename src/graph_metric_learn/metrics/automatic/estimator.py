"""GraphMetric: a distance between graphs that finds out by itself what to look at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from ..._core.threads import one_thread_for_products
from ..._core.validation import draw_seed
from ...features.edge_reading import EdgeReading
from ...features.onehot import without_codes
from ...graphs import Columns, Graphs
from ...graphs.gaps import NodeMeans
from ...io.models import save_model
from ...objectives import OBJECTIVES, Objective
from ...transport import Vectors
from ..base import BaseGraphMetric, FoldView, hand_over_folds, in_range
from ..explanation import Explanation
from ..unused import warn_unused
from .coordinates import Coordinates, hashed
from .estimate import Estimate, estimate_score
from .fitting import Fitted, Resume, extend_classes, fit_given, fit_more, solved
from .given import chunks_of_more, read_given
from .learned import Learned
from .mixture import AT_ONCE, Described, Mixture
from .options import check_options
from .report import report
from .state import fitted_state, restored
from .width import Width


class GraphMetric(BaseGraphMetric):
    """A distance between graphs, learned from the training graphs themselves. No options needed.

    Graphs are described by families, each one thing seen in one way: trees around nodes, pairs of nodes and how far
    apart they are, attributes, structure, edges. Each family is a kernel; the kernel of the metric is their weighted
    mean, chosen by the targets. A kernel ridge regression on it is fitted to the targets, in closed form, and its
    scores become further coordinates of the distance, with a weight that graphs held out decide, 0 included. Without
    targets, weights are even.

    Parameters
    ----------
    features : "auto" or list of str
        Blocks of node features by name and hop, such as ["attributes@0", "trees@2"]; the names are those of
        `features.blocks.BLOCKS`. "auto" takes all families, and reads one-hot columns of node features as labels.
    embedding : "auto" or a name in `embeddings.EMBEDDINGS`
        How a cloud becomes a vector; "auto" tries several.
    learn : bool
        Whether scores of a regression may be a part of the distance.
    families : "auto" or list of str
        Names in `recipes.FAMILIES`, to use these alone.
    n_landmarks : "auto" or int
        Graphs that all others are compared with, at most; "auto" is 5000. Where there are fewer graphs, all are
        landmarks.
    scoring : str
        What everything is chosen by, one of `objectives.scoring.SCORERS`; "auto" ranks ("roc_auc") where a class is
        rarer than a tenth.
    class_weight : {"auto", "balanced", None}
        Whether graphs of rare classes count more in the regression; "auto" decides by folds where classes are ranked.
    random_state : int, numpy.random.Generator or None
        One seed gives one result on one machine.
    attribute, label : str
        Names of the node features and labels, see :func:`as_graphs`.
    progress : bool, optional
        Progress bars, where it takes long; by default on a terminal.
    task : {"auto", "classes", "numbers", "labels", "none"}
        What the distance is for, a name in `objectives.OBJECTIVES`; "auto" is classes for strings and whole numbers,
        numbers for others (or for several columns), none without targets.
    edge_attribute, edge_label, edge_weight : str, optional
        Names of what edges carry, see :func:`as_graphs`.
    graph_attribute : str or list of str, optional
        Names of vectors of whole graphs, see :func:`as_graphs`.
    missing : {"error", "mean"}
        Whether node features that are NaN are an error, or were not measured: the mean stands in for them.
    edges : {"auto", False}
        False reads edges without what they carry.
    directed : {"auto", True, False}
        Whether edges have directions, see :func:`as_graphs`; new graphs are read as those in `fit`.
    n_components : "auto", int or None
        How many coordinates the vectors have, at most: learned scores, principal coordinates of the kernel, and hashes
        of the rest. "auto" is the fewest, up to 512, with which neighbours of graphs held out score at most half a
        point lower; None keeps all principal coordinates.
    device : "auto", "cpu", "cuda" or torch.device
        Where sums over many graphs are computed.
    estimate : bool
        Whether `fit` also measures how well neighbours predict new graphs, by five folds in which everything is chosen
        anew: takes about five times as long.

    Attributes
    ----------
    weights_ : dict of float
        Weights of the families in the kernel, by name, the largest first.
    mixture_ : Mixture
        The kernel between graphs and landmarks.
    coordinates_ : Coordinates
        The map from kernels to vectors.
    learned_ : Learned or None
        The fitted regression, and what was found on graphs held out; None without targets or with ``learn=False``.
    width_ : Width or None
        How many coordinates were kept and what that costs; None without targets or with ``n_components=None``.
    estimate_ : Estimate or None
        Of ``estimate=True``.
    report_ : str
        All of this in words.
    objective_, task_ : Objective, str
        What the targets were, and its name.
    classes_ : ndarray of labels
    seconds_ : float
        How long `fit` took.
    columns_ : Columns
        Names of attribute columns, by which those of new graphs are matched.
    label_columns_ : ndarray [q]
        Which columns of the node features are a one-hot code: read as labels, or left out where labels say the same.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> metric = gml.GraphMetric(random_state=0).fit(graphs, y)
    >>> distances = metric.pairwise_distances([nx.cycle_graph(20), nx.star_graph(20)], graphs)
    >>> [y[i] for i in distances.argmin(1)]
    ['ring', 'star']
    """

    def __init__(
        self,
        features: Any = "auto",
        embedding: str = "auto",
        learn: bool = True,
        families: Any = "auto",
        n_landmarks: Any = "auto",
        scoring: str = "auto",
        class_weight: Any = "auto",
        random_state: Any = None,
        attribute: str = "x",
        label: str | None = None,
        progress: bool | None = None,
        task: str = "auto",
        edge_attribute: str | None = None,
        edge_label: str | None = None,
        edge_weight: str | None = "weight",
        graph_attribute: Any = None,
        missing: str = "error",
        edges: Any = "auto",
        directed: Any = "auto",
        n_components: Any = "auto",
        device: Any = "auto",
        estimate: bool = False,
    ) -> None:
        self.features = features
        self.embedding = embedding
        self.learn = learn
        self.families = families
        self.n_landmarks = n_landmarks
        self.scoring = scoring
        self.class_weight = class_weight
        self.random_state = random_state
        self.attribute = attribute
        self.label = label
        self.progress = progress
        self.task = task
        self.edge_attribute = edge_attribute
        self.edge_label = edge_label
        self.edge_weight = edge_weight
        self.graph_attribute = graph_attribute
        self.missing = missing
        self.edges = edges
        self.directed = directed
        self.n_components = n_components
        self.device = device
        self.estimate = estimate

    # --- learning ------------------------------------------------------------------------------------------------

    objective_: Objective
    label_columns_: np.ndarray
    labelled_: bool
    edge_reading_: EdgeReading
    columns_: Columns
    node_means_: NodeMeans
    directed_: bool
    mixture_: Mixture
    coordinates_: Coordinates
    learned_: Learned | None
    width_: Width | None = None
    estimate_: Estimate | None
    seed_: int | None
    seconds_: float

    def fit(self, graphs: Any, y: Any = None, groups: Any = None) -> GraphMetric:
        """Chooses the kernel, and learns.

        Parameters
        ----------
        graphs : list of graphs, PyG dataset or Batch, see :func:`as_graphs`
        y : array [N] or [N, T], optional
            Classes (whole numbers or strings) or numbers; several columns are several numbers, where NaN means missing.
            Taken from the graphs (`Data.y`) when None; without any, nothing is learned.
        groups : array [N], optional
            Graphs of one group, such as molecules of one scaffold, are never on both sides of a fold.
        """
        began = time.perf_counter()
        check_options(self)
        self.seed_ = draw_seed(self.random_state)
        rng = np.random.default_rng(self.seed_)
        given = read_given(self, graphs, y, groups, rng)
        warn_unused(given.original, {"edge labels", "edge vectors", "edge weights", "edge directions", "graph vectors"})
        fitted, self._resume = fit_given(self, given, rng)
        self._take(fitted)
        self.seconds_ = time.perf_counter() - began
        self.estimate_ = estimate_score(self, given, rng) if self.estimate else None
        return self

    def partial_fit(self, graphs: Any, y: Any = None, groups: Any = None, classes: Any = None) -> GraphMetric:
        """Learns from more graphs, as `fit` on all would with the same landmarks; vectors of before are out of date.

        Kernel and landmarks stay; the regression, the weight of its scores and the coordinates are those of all graphs
        so far. A metric that is not fitted yet is fitted. One that was loaded can go on where it was saved by
        ``save(resumable=True)``.

        Parameters
        ----------
        graphs, y, groups
            As in `fit`.
        classes : list of labels, optional
            All classes, where some were not seen before.
        """
        if not hasattr(self, "mixture_"):
            return self.fit(graphs, y, groups)
        if self._resume is None:
            raise ValueError(
                "there is nothing to go on from: fit with targets and learn=True, and save "
                "what is to learn more after loading by save(resumable=True)"
            )
        began = time.perf_counter()
        if classes is not None:
            extend_classes(self, self._resume, classes)
        chunks = chunks_of_more(self, graphs, y, groups, self._resume.n_graphs)
        fitted = fit_more(self, self._resume, chunks)
        if fitted is not None:
            self._take(fitted)
        else:
            assert self.learned_ is not None
            self.learned_ = solved(self._resume, self.learned_)
        self.seconds_ += time.perf_counter() - began
        return self

    _resume: Resume | None = None  # what `partial_fit` goes on from; large, so neither saved nor pickled unasked

    def _take(self, fitted: Fitted) -> None:
        """Becomes what was found."""
        self.mixture_, self.coordinates_ = fitted.mixture, fitted.coordinates
        self.learned_, self.width_ = fitted.learned, fitted.width
        if fitted.views is not None:
            hand_over_folds(self, fitted.views)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but what `partial_fit` goes on from."""
        return {name: value for name, value in super().__getstate__().items() if name != "_resume"}

    @property
    def weights_(self) -> dict[str, float]:
        """Weights of the families, the largest first."""
        check_is_fitted(self, "mixture_")
        return dict(sorted(self.mixture_.weights.items(), key=lambda item: -item[1]))

    @property
    def task_(self) -> str:
        """The name of the objective."""
        return next((name for name, kind in OBJECTIVES.items() if type(self.objective_) is kind), self.task)

    @property
    def classes_(self) -> np.ndarray:
        """Class labels seen [C], where the distance is for classes."""
        check_is_fitted(self, "objective_")
        return self.objective_.classes_  # type: ignore[attr-defined]  # of objectives that have classes

    @property
    def chosen_n_neighbors(self) -> int | None:
        return None if self.learned_ is None else self.learned_.gate.n_neighbors

    @property
    def regression_task(self) -> str | None:
        return None if self.learned_ is None else self.task_

    @property
    def report_(self) -> str:
        """What was chosen and learned, in words."""
        check_is_fitted(self, "mixture_")
        return report(self)

    # --- using the metric ----------------------------------------------------------------------------------------

    rounding = 5e-5  # the mean square of distances is about 1; graphs embedded together change the last digits

    def transform(self, graphs: Any) -> np.ndarray:
        """Vectors [N, d], float32, whose Euclidean distance is the distance of the graphs.

        Learned scores come first, then principal coordinates of the kernel, then hashes of the rest.
        """
        check_is_fitted(self, "mixture_")
        return np.concatenate(list(self.by_chunks(_vectors, graphs)))

    def embed(self, graphs: Any) -> Vectors:
        """The vectors of `transform`, to be compared as often as wanted (`pairwise_distances`, `kneighbors`)."""
        return Vectors(torch.from_numpy(self.transform(graphs)), numpy=True)

    def scores(self, graphs: Any) -> np.ndarray:
        """Outputs that the regression predicts [N, T]: of each class, or the numbers, centred and scaled."""
        check_is_fitted(self, "mixture_")
        if self.learned_ is None:
            raise ValueError("nothing was learned: fit with targets and learn=True")
        return np.concatenate(list(self.by_chunks(_scores, graphs)))

    def explain(self, graph: Any, other: Any) -> Explanation:
        """What each family, node and edge adds to d², and which nodes are compared; see :class:`Explanation`."""
        return next(self.explain_pairs([graph, other], [(0, 1)])).drawn_as([graph, other])

    def explain_pairs(self, graphs: Any, pairs: Any) -> Iterator[Explanation]:
        from .explaining import explained_by_families

        check_is_fitted(self, "mixture_")
        return explained_by_families(self, self.as_fitted(self.read(graphs)), pairs)

    def views_without(self, graphs: Any, folds: np.ndarray) -> list[FoldView] | None:
        from .forgetting import views_without

        check_is_fitted(self, "mixture_")
        return views_without(self, self.as_fitted(self.read(graphs)), folds)

    def placed(self, described: Described, kernel: np.ndarray) -> np.ndarray:
        """Coordinates of the distance [N, d], float32, from descriptions of graphs and kernels to the landmarks."""
        hashes = hashed(self.mixture_, described, self.coordinates_.n_hashes)
        vectors = self.coordinates_.place(kernel, hashes, self.mixture_.diagonal(described))
        if self.learned_ is None or self.learned_.width == 0:
            return vectors
        return np.concatenate([self.learned_.placed(self.learned_.scores(kernel)), vectors], axis=1)

    def as_fitted(self, read: Graphs) -> Graphs:
        """Graphs that were read, with labels and edges as in `fit`."""
        filled = self.node_means_.fill(read)
        return self.edge_reading_.apply(without_codes(filled, self.label_columns_, self.labelled_))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that makes up the fitted metric: what JSON can hold, and arrays."""
        check_is_fitted(self, "mixture_")
        return fitted_state(self)

    def save(self, path: str | Path, *, overwrite: bool = False, resumable: bool = False) -> Path:
        """Writes the metric to a folder: JSON and safetensors, no pickle.

        resumable: whether `partial_fit` can go on after loading. Then sums over the training graphs are saved, too, and
        the targets of the landmarks: of 5000 landmarks, 600 MB or more.
        """
        check_is_fitted(self, "mixture_")
        state = fitted_state(self, resumable=resumable)
        return save_model(path, type(self).__name__, *state, overwrite=overwrite)

    @classmethod
    def from_state(cls, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> GraphMetric:
        """The metric that `state` came from."""
        return restored(cls, config, tensors)

    def embedded_shape(self) -> tuple[int | None, ...]:
        return (self.coordinates_.width + (0 if self.learned_ is None else self.learned_.width),)


@one_thread_for_products()
def _vectors(metric: GraphMetric, given: Graphs) -> np.ndarray:
    """Coordinates of the distance [N, d], of graphs that were read."""
    parts = []
    for piece in metric.as_fitted(given).pieces(AT_ONCE):
        described = metric.mixture_.describer.describe(piece)
        parts.append(metric.placed(described, metric.mixture_.kernel(described)))
    return in_range(np.concatenate(parts))


def _scores(metric: GraphMetric, given: Graphs) -> np.ndarray:
    """Outputs of the regression [N, T]."""
    assert metric.learned_ is not None
    parts = []
    for piece in metric.as_fitted(given).pieces(AT_ONCE):
        kernel = metric.mixture_.kernel(metric.mixture_.describer.describe(piece))
        parts.append(metric.learned_.scores(kernel))
    return in_range(np.concatenate(parts))
