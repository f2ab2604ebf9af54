"""k nearest neighbours on a metric between graphs: what decides k, how neighbours vote; classes, and numbers."""

from __future__ import annotations

import threading
import warnings
from typing import Any, ClassVar

import numpy as np
from msgspec import UNSET
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._core.gaps import columns_by_gaps
from .._core.schema import FieldError, check_labels
from .._core.validation import one_of, whole_number
from ..graphs import Graphs
from ..metrics.base import BaseGraphMetric, clear_rounding
from ..objectives.votes import SAME, VOTE_LIMIT, elected, vote_shares
from ..transport import Embedded, kneighbors
from .calibration import label_probabilities, probabilities
from .fold_distances import ReferenceFolds
from .held_out import calibrated, judged, votes_of_all
from .predictor import ClassesFromGraphs, MetricPredictor, NumbersFromGraphs, classes_of, is_fitted, streamed
from .reference_graphs import ReferenceGraphs, added_classes, added_labels, added_numbers
from .settings import NEIGHBORS
from .state import ChosenNeighbors, ChosenVotes

VOTES = ("uniform", "distance")
_KS = (1, 2, 3, 5, 7, 10, 15)  # that n_neighbors="auto" chooses from; more pay only with learned scores
_CHOSEN_ON = 2000  # reference graphs that it looks at, at most
_ROWS = 1000  # graphs whose distances to all reference graphs are held at once
_ADDING = threading.Lock()  # reference graphs grow one call after the other


def _of_reference(name: str, doc: str) -> Any:
    """A property that is a field of the reference graphs, which are replaced where it is set."""

    def put(model: Any, value: Any) -> None:
        model._reference = model._reference.replaced(**{name: value})

    return property(lambda model: getattr(model._reference, name), put, doc=doc)


class _Neighbors(MetricPredictor):
    """Neighbours among reference graphs, which may grow."""

    _settings = NEIGHBORS
    _chosen_type: ClassVar[Any] = ChosenNeighbors
    _calibrates: ClassVar[bool] = False  # whether there are probabilities
    n_neighbors_: int
    _reference: ReferenceGraphs  # swapped as a whole by `add`: whoever predicts meanwhile keeps the one it began with

    def __init__(
        self, metric: Any = None, n_neighbors: Any = "auto", weights: str = "distance", memory: Any = None
    ) -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.memory = memory

    @property
    def embedded_(self) -> Embedded:  # type: ignore[override]
        """The reference graphs, as one; put together when asked for after `add`."""
        return self._reference.embedded

    @embedded_.setter
    def embedded_(self, embedded: Embedded) -> None:
        before = self.__dict__.get("_reference")
        if before is not None and len(before) == len(embedded):
            self._reference = before.replaced(embedded=embedded)
        else:
            self._reference = ReferenceGraphs(embedded)

    y_ = _of_reference("y", "Their targets.")
    names_ = _of_reference("names", "Their names, where they have some.")

    @property
    def _k(self) -> int:
        return self.n_neighbors_ if isinstance(self.n_neighbors, str) else self.n_neighbors

    def _check_options(self) -> None:
        one_of("weights", self.weights, VOTES)
        super()._check_options()

    def _checked(self, graphs: Any, y: Any) -> tuple[Graphs, np.ndarray]:
        graphs, y = super()._checked(graphs, y)
        self._check_neighbors(len(graphs))
        return graphs, y

    def _check_neighbors(self, available: int) -> None:
        self._check_options()
        if not isinstance(self.n_neighbors, str) and self.n_neighbors > available:
            raise ValueError(f"n_neighbors={self.n_neighbors}, but there are only {available} graphs to choose from")

    # --- what decides k --------------------------------------------------------------------------------------------

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        """k: that of a metric which has chosen one, else the best of 1, 2, 3, 5, 7, 10 and 15; and what it predicts.

        The score is that of the folds, as for other heads; k is chosen by leaving one out, which varies less, unless
        the metric knows the targets.
        """
        given = None if isinstance(self.n_neighbors, str) else int(self.n_neighbors)
        if given is not None and not self._calibrates:
            return {"n_neighbors": given, "vote_limit": VOTE_LIMIT}
        objective, target = self._objective()
        views = folds.views(objective, target)
        most = min(len(view.train) for view in views)
        chosen = self.metric_.chosen_n_neighbors if given is None else min(given, most)
        ks = [k for k in (_KS if chosen is None else (chosen,)) if k <= most] or [most]
        weighted, scorer = self.weights == "distance", self._scorer()
        best = 0
        if len(ks) > 1 and folds.without_targets:
            found = [
                scorer.of_neighbors(view.across, target[view.train], target[view.test], ks, weighted=weighted)
                for view in views
            ]
            best = int(sum(weight * values for values, weight in found).argmax())  # type: ignore[union-attr]
        elif len(ks) > 1:
            best = int(self._left_out_scores(folds.groups, ks).argmax())
        outputs = [
            objective.neighbor_outputs(view.across, target[view.train], ks[best : best + 1], weighted=weighted)[:, 0]
            for view in views
        ]
        settings: dict[str, Any] = {"n_neighbors": ks[best] if given is None else given, "vote_limit": VOTE_LIMIT}
        settings |= judged(scorer, outputs, [target[view.test] for view in views])
        if self._calibrates:
            parts = zip(views, outputs, strict=True)
            votes = [votes_of_all(objective, shares, view.train, target) for view, shares in parts]
            settings["calibrator"] = calibrated(objective, views, votes, target)
        return settings

    def _left_out_scores(self, groups: np.ndarray | None, ks: list[int]) -> np.ndarray:
        """Score by k, each graph predicted by all others (of other groups)."""
        objective, target = self._objective()
        some = objective.subsample(target, _CHOSEN_ON, np.random.default_rng(0))
        distances = clear_rounding(self._distances(self.embedded_[some]), self._reference.rounding)
        groups = np.arange(len(some)) if groups is None else groups[some]
        distances[groups[:, None] == groups] = np.inf
        target, weighted = target[some], self.weights == "distance"
        return self._scorer().of_neighbors(distances, target, target, ks, weighted=weighted)[0]

    def _check_chosen(self, chosen: dict[str, Any]) -> Any:
        saved = super()._check_chosen(chosen)
        if saved.n_neighbors > len(self.y_):
            raise FieldError("n_neighbors", f"is {saved.n_neighbors} of {len(self.y_)} reference graphs")
        return saved

    def _complete(self) -> None:
        self.n_neighbors_ = int(self.chosen_["n_neighbors"])

    # --- reference graphs and votes ----------------------------------------------------------------------------------

    def add(self, graphs: Any, y: Any = None) -> Any:
        """Grows the reference set by labelled graphs; the metric and k stay. Other threads may predict meanwhile."""
        check_is_fitted(self, "embedded_")
        graphs = self.metric_.read(graphs)
        more = self.metric_.embed(graphs)
        y = self._more_targets(graphs, y)
        with _ADDING:
            self._reference = self._reference.grown(more, y, graphs.names)
        self._complete()
        return self

    def _more_targets(self, graphs: Graphs, y: Any) -> np.ndarray:
        """Targets of graphs that are added, in the form of those that are there."""
        raise NotImplementedError

    @streamed
    def kneighbors(self, graphs: Any = None, n_neighbors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Distances and indices of the nearest reference graphs [N, k], nearest first.

        Without graphs, for each reference graph among the others. Where the reference graphs have names,
        `names_[indices]` are those of the neighbours.

        >>> import networkx as nx
        >>> from graph_metric_learn import SGML, GraphKNNClassifier
        >>> graphs = [nx.path_graph(n) for n in (3, 4, 5)] + [nx.complete_graph(n) for n in (3, 4, 5)]
        >>> for i, graph in enumerate(graphs):
        ...     graph.name = "path 3,path 4,path 5,triangle,K4,K5".split(",")[i]
        >>> clf = GraphKNNClassifier(SGML(random_state=0), n_neighbors=1).fit(graphs, [0, 0, 0, 1, 1, 1])
        >>> _, indices = clf.kneighbors([nx.complete_graph(4)])
        >>> clf.names_[indices]
        array([['K4']], dtype=object)
        """
        reference = self._reference
        k = whole_number("n_neighbors", self._k if n_neighbors is None else n_neighbors, 1)
        available = len(reference) - (graphs is None)
        if k > available:
            raise ValueError(f"n_neighbors={k}, but there are {available} graphs to choose from")
        if graphs is None:
            return kneighbors(reference.embedded, n_neighbors=k, device=self.metric_.place(reference.embedded))
        embedded = self.metric_.embed(graphs)
        distances, indices = reference.nearest(embedded, k, self.metric_.place(embedded))
        return clear_rounding(distances, self.metric_.rounding), indices

    def _queries(self, graphs: Any, reference: ReferenceGraphs) -> Embedded:
        """Graphs embedded, where there are as many reference graphs as are to be asked."""
        self._check_neighbors(len(reference))
        return self.metric_.embed(graphs)

    def _vote_shares(self, embedded: Embedded, reference: ReferenceGraphs) -> sparse.csr_array:
        """How much each reference graph counts for each graph [N, R]; rows add up to 1.

        Reference graphs at the same distance share their votes, so that their order does not matter. Where the k-th and
        the next are equally near, all reference graphs are looked at; else the k nearest are enough.
        """
        count = len(reference)
        k = min(self._k, count)
        device = self.metric_.place(embedded)
        distances, columns = reference.nearest(embedded, min(k + 1, count), device)
        clear_rounding(distances, reference.rounding)
        is_cut = (distances[:, k:] <= distances[:, k - 1 : k] * (1 + SAME)).any(1)
        plain, cut = np.flatnonzero(~is_cut), np.flatnonzero(is_cut)
        parts = [(plain, columns[plain, :k], self._weighted(distances[plain, :k], k))]
        for rows in np.split(cut, range(_ROWS, len(cut), _ROWS)) if len(cut) else ():
            to_all = clear_rounding(reference.distances(embedded[rows], device), reference.rounding)
            parts.append((rows, np.broadcast_to(np.arange(count), to_all.shape), self._weighted(to_all, k)))
        entries = []
        for rows, voters, votes in parts:
            voting = votes.nonzero()
            entries.append((rows[voting[0]], voters[voting], votes[voting]))
        row_of, voter_of, votes = (np.concatenate(part) for part in zip(*entries, strict=True))
        votes /= np.bincount(row_of, votes, minlength=len(embedded))[row_of]
        return sparse.csr_array((votes, (row_of, voter_of)), shape=(len(embedded), count))

    def _voted_means(self, embedded: Embedded, reference: ReferenceGraphs) -> np.ndarray:
        """Means of the targets over the nearest reference graphs [N, …]; of several, over those that have the entry."""
        is_known = np.isfinite(reference.y)
        if is_known.all():
            return self._vote_shares(embedded, reference) @ reference.y
        device, found = self.metric_.place(embedded), np.empty((len(embedded), is_known.shape[1]))
        for start in range(0, len(embedded), _ROWS):
            part = slice(start, start + _ROWS)
            distances = clear_rounding(reference.distances(embedded[part], device), reference.rounding)
            for rows, columns in columns_by_gaps(is_known):
                votes = self._weighted(distances[:, rows], min(self._k, len(rows)))
                found[part, columns] = votes @ reference.y[np.ix_(rows, columns)] / votes.sum(1, keepdims=True)
        return found

    def _weighted(self, distances: np.ndarray, k: int) -> np.ndarray:
        """Votes of reference graphs at these distances [N, M], by the rule that was asked for."""
        is_weighted = self.weights == "distance"
        return vote_shares(distances, k, weighted=is_weighted, limit=self.chosen_.get("vote_limit", np.inf))


class GraphKNNClassifier(ClassesFromGraphs, _Neighbors):
    """k-nearest-neighbours classification of graphs, with a metric that is learned for it.

    Parameters
    ----------
    metric : GraphMetric or SGML, optional
        A copy of it is fitted by `fit`; `GraphMetric()` when None. To use a fitted metric as it is, freeze it:
        ``metric=sklearn.frozen.FrozenEstimator(fitted)``.
    n_neighbors : int or "auto"
        How many neighbours vote; "auto" takes the k that the metric has chosen by itself, on graphs held out, else the
        best of 1, 2, 3, 5, 7, 10 and 15.
    weights : {"uniform", "distance"}
        Whether all count the same, or each as one over its distance, at most ten times as much as the farthest of the
        k: a copy does not decide alone.
    memory : str or joblib.Memory, optional
        Where fitted metrics are kept, so that a search over the other settings fits each of them once.

    Attributes
    ----------
    metric_ : GraphMetric or SGML
        The fitted metric.
    n_neighbors_ : int
        What "auto" turned out to be.
    classes_ : ndarray or list of ndarray
        Class labels [C]. Of several labels, as scikit-learn has it: an array [0, 1] for each.
    y_ : ndarray [R] or [R, T]
        Targets of the reference graphs.
    embedded_ : Curves or Vectors
        The reference graphs.
    names_ : ndarray of str or None
        Their names, where they have some.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> clf = gml.GraphKNNClassifier(gml.SGML(random_state=0), n_neighbors=3).fit(graphs, y)
    >>> clf.predict([nx.cycle_graph(30), nx.star_graph(30)])
    array(['ring', 'star'], dtype='<U4')
    """

    _chosen_type = ChosenVotes
    _calibrates = True
    _takes_labels = True

    def _choose(self, folds: ReferenceFolds) -> dict[str, Any]:
        classes = {"classes": self._reference.classes.tolist()} if self.y_.ndim == 1 else {}
        return super()._choose(folds) | classes

    def _check_chosen(self, chosen: dict[str, Any]) -> Any:
        saved = super()._check_chosen(chosen)
        if self.y_.ndim == 2:
            saved.calibrator.check(self.y_.shape[1], self.y_.shape[1])
            if saved.classes is not UNSET:
                raise FieldError("classes", "is not known")
            return saved
        if saved.classes is UNSET:
            raise FieldError("classes", "is missing")
        check_labels("classes", saved.classes)
        if not np.isin(saved.classes, self.y_).all():
            raise FieldError("classes", "are not all among those of the reference graphs")
        saved.calibrator.check(1, len(saved.classes))
        return saved

    def _more_targets(self, graphs: Graphs, y: Any) -> np.ndarray:
        if self.y_.ndim == 2:
            return added_labels(graphs, y, self.y_.shape[1])
        return added_classes(graphs, y, self.classes_)

    @property
    def classes_(self) -> Any:
        """Class labels [C]; of several labels an array for each, as scikit-learn has it."""
        reference = self._reference
        return reference.classes if reference.y.ndim == 1 else classes_of(reference.y)

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Probabilities of the classes [N, C], or of each label [N, T]: shares of the votes, calibrated in `fit`.

        They were calibrated on graphs held out. A class that was added later counts as the rarest does.
        """
        return self.predict_with_shares(graphs)[1]

    def predict(self, graphs: Any) -> np.ndarray:
        """The most likely class [N], the first of equals; of several labels, whether each is likely, 0 or 1 [N, T]."""
        return self.predict_with_shares(graphs)[0]

    @streamed
    def predict_with_shares(self, graphs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both, by the reference graphs at one moment."""
        reference = self._reference
        embedded = self._queries(graphs, reference)
        calibrator = self.chosen_["calibrator"]
        if reference.y.ndim == 2:
            found = label_probabilities(self._voted_means(embedded, reference), calibrator)
            return (found > 0.5).astype(np.int64), found
        offsets = np.full(len(reference.classes), min(calibrator["offsets"]))
        offsets[np.searchsorted(reference.classes, self.chosen_["classes"])] = calibrator["offsets"]
        found = probabilities(self._class_votes(embedded, reference), {**calibrator, "offsets": offsets})
        return reference.classes[elected(found)], found

    def _class_votes(self, embedded: Embedded, reference: ReferenceGraphs) -> np.ndarray:
        """Shares of the votes for each class [N, C]."""
        shares = self._vote_shares(embedded, reference)
        voters, columns = np.unique(shares.indices, return_inverse=True)  # few of the reference graphs
        some = sparse.csr_array((shares.data, columns, shares.indptr), shape=(shares.shape[0], len(voters)))
        return some @ (reference.y[voters, None] == reference.classes).astype(float)


class GraphKNNRegressor(NumbersFromGraphs, _Neighbors):
    """k-nearest-neighbours regression of numbers per graph, with a metric that is learned for it.

    Parameters
    ----------
    metric, n_neighbors, weights, memory
        See :class:`GraphKNNClassifier`.

    Attributes
    ----------
    metric_, n_neighbors_, embedded_, names_
        See :class:`GraphKNNClassifier`.
    y_ : ndarray [R] or [R, T]
        The numbers of the reference graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 24)]
    >>> model = gml.GraphKNNRegressor(gml.GraphMetric(random_state=0)).fit(graphs, [n + 0.5 for n in range(4, 24)])
    >>> bool(abs(model.predict([nx.cycle_graph(12)])[0] - 12.5) < 1)
    True
    """

    def fit(self, graphs: Any, y: Any = None, groups: Any = None) -> GraphKNNRegressor:
        """See :meth:`GraphKNNClassifier.fit`; y are numbers [N], or several columns [N, T] where NaN means missing."""
        if self._is_fitted_before():
            warnings.warn(
                "the metric is fitted and is used as it is; a later version will fit a copy of it: freeze it, "
                "sklearn.frozen.FrozenEstimator(metric), to keep it",
                FutureWarning,
                stacklevel=2,
            )
        return super().fit(graphs, y, groups)

    def _is_fitted_before(self) -> bool:
        return isinstance(self.metric, BaseGraphMetric) and is_fitted(self.metric)

    def _is_used_as_it_is(self) -> bool:
        return self._is_fitted_before() or super()._is_used_as_it_is()

    def _more_targets(self, graphs: Graphs, y: Any) -> np.ndarray:
        return added_numbers(graphs, y, self.y_.shape[1:])

    @streamed
    def predict(self, graphs: Any) -> np.ndarray:
        """Means over the neighbours [N] or [N, T]; of several numbers, each over the nearest graphs that have it."""
        reference = self._reference
        return self._voted_means(self._queries(graphs, reference), reference)
