"""Fitting many SGML metrics at once, on one set of graphs: seeds, splits, depths, as cross-validation needs them.

On the CPU one metric per thread, each by its own `fit`; on a GPU side by side by `training/many_models.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from joblib import effective_n_jobs

from ..._core.parallel import in_parallel, is_parallel
from ..._core.validation import as_listed
from ...graphs import Graphs, as_graphs
from ...objectives.targets import given_targets
from ...transport.devices import resolve_device
from ..unused import warn_unused
from .encoders import SGCN
from .estimator import SGML
from .inputs import HINT, encode_targets, used_of_edges
from .losses import named_loss
from .training.many_models import Job, train_many

_MODELS_PER_CORE = 2.5  # from which a GPU beats a thread per core: 40 models on an H200 beside 16 cores


def fit_many(
    metrics: Sequence[SGML],
    graphs: Any,
    y: Any = None,
    *,
    subsets: Sequence[np.ndarray] | None = None,
    device: Any = "auto",
    n_jobs: int | None = None,
) -> list[SGML]:
    """Fits many metrics on one set of graphs, or each on its own part of it.

    Each of them learns what ``metric.fit(graphs[subset], y[subset])`` would teach it: the same start, batches and
    updates. On the CPU the results are the same bit by bit, on a GPU up to rounding.

    Parameters
    ----------
    metrics : list of SGML
        Fitted in place, and returned. They may differ in anything but how graphs are read: the names of what nodes and
        edges carry, `edges` and `directed`.
    graphs : list of graphs, PyG dataset or Batch
        See :func:`as_graphs`; converted once.
    y : array [N] or [N, T], optional
        Classes or numbers, see :meth:`SGML.fit`; taken from the graphs when None.
    subsets : list of index arrays, optional
        Indices of the graphs each metric is fitted on; all of them when None.
    device : {"auto", "cpu", "cuda", "cuda:1", …}
        "cpu": one metric per thread. "cuda": metrics that differ only in data, depth, seed, propagation, learning
        rate or batching are trained side by side in one batched run; one after the other, those with an encoder or
        loss of their own, for numbers, or with learned masses. "auto" takes a GPU, if there is one, from 2.5 metrics
        per core on. Afterwards each metric is on the device that its own `device` names.
    n_jobs : int, optional
        Threads on the CPU, as joblib counts them (−1: one per core); one per core when None. Inside
        `joblib.parallel_config`, its workers fit the metrics instead.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    >>> y = ["ring"] * 6 + ["star"] * 6
    >>> one, two = gml.fit_many([gml.SGML(depth=d, random_state=0) for d in (1, 2)], graphs, y)
    >>> two.module_.depth, len(two.history_.loss)
    (2, 10)
    """
    metrics = list(metrics)
    if not metrics or not all(isinstance(metric, SGML) for metric in metrics):
        raise ValueError("fit_many needs a list of SGML metrics")
    if len({id(metric) for metric in metrics}) < len(metrics):
        raise ValueError("the same metric stands in the list twice: make copies with sklearn.base.clone")
    if len({tuple(metric._reading_options().values()) for metric in metrics}) > 1:
        raise ValueError("the metrics name or read what nodes and edges carry differently: fit them apart")
    graphs = as_graphs(graphs, **metrics[0]._reading_options())
    warn_unused(graphs, set.intersection(*(used_of_edges(metric) for metric in metrics)), hint=HINT)
    y = as_listed("targets", y)
    tasks = [encode_targets(metric.task, metric.loss, graphs, y).task for metric in metrics]  # of all, not a part
    y = given_targets(graphs, y)
    assert y is not None
    every = np.arange(len(graphs))
    indices = [every] * len(metrics) if subsets is None else [_indices(subset, every) for subset in subsets]
    if len(indices) != len(metrics):
        raise ValueError(f"{len(indices)} subsets for {len(metrics)} metrics: give one for each")
    fits = [_Fit(*fields) for fields in zip(metrics, indices, tasks, strict=True)]
    auto = "cuda" if len(metrics) >= _MODELS_PER_CORE * (os.cpu_count() or 1) and torch.cuda.is_available() else "cpu"
    device = resolve_device(device, auto=auto)
    if is_parallel():  # what joblib's workers have fitted becomes part of the metrics here
        for metric, fitted in zip(metrics, in_parallel(_fitted, fits, (graphs, y)), strict=True):
            metric.__dict__.update(fitted)
    elif device.type == "cpu":  # the compiled step releases the GIL
        with ThreadPoolExecutor(min(len(fits), effective_n_jobs(-1 if n_jobs is None else n_jobs))) as pool:
            list(pool.map(partial(_fitted, (graphs, y)), fits))  # after an error or Ctrl-C, the rest is not fitted
    else:
        _fit_together(fits, graphs, y, device)
    return metrics


class _Fit(NamedTuple):
    """A metric, the indices of the graphs it is fitted on, and what their targets are."""

    metric: SGML
    indices: np.ndarray
    task: str


def _indices(subset: Any, every: np.ndarray) -> np.ndarray:
    """Indices of the graphs of a subset, given as such or as a mask, among those of every graph."""
    if np.size(subset) == 0:
        raise ValueError("a subset is empty: a metric needs graphs of at least two classes")
    return np.atleast_1d(every[np.asarray(subset)])


def _fitted(data: tuple[Graphs, np.ndarray], fit: _Fit) -> dict[str, Any]:
    """What a metric holds after `fit`, without its warning of what it does not use, given for all metrics together."""
    (metric, indices, task), (graphs, y) = fit, data
    return metric.fit_read(metric.read_new(graphs[indices]), y[indices], task).__dict__


def _fit_together(fits: list[_Fit], graphs: Graphs, y: np.ndarray, device: torch.device) -> None:
    """Batched runs of models of one kind; metrics that cannot be batched are fitted alone."""
    runs: dict[tuple[Any, ...], list[tuple[SGML, Job]]] = {}
    propagated: dict[str, np.ndarray] = {}  # by everything that it depends on
    for fit in fits:
        metric, loss = fit.metric, named_loss(fit.metric.loss)
        batched = loss is not None and loss.batched is not None and metric.masses == "uniform"
        if not batched or metric.encoder is not None or metric.warm_start:
            _fitted((graphs, y), fit)
            continue
        codes, rng = metric.begin(graphs[fit.indices], y[fit.indices], fit.task)
        module = metric.module_.cpu()
        assert isinstance(module, SGCN)
        sums = None if metric.edge_sums_ is None else metric.edge_sums_.state()
        key = json.dumps([metric.features_.state(), sums, metric.depth, metric.propagation], default=str)
        if key not in propagated:
            propagated[key] = module.prepare(metric.node_features(graphs)).numpy()
        options = metric._training_options()
        job = Job(module, propagated[key], fit.indices, codes, metric.rule_, options, rng, metric.history_)
        runs.setdefault(job.kind(), []).append((metric, job))
    for members in runs.values():
        train_many([job for _, job in members], graphs.sizes, device)
        for metric, _ in members:
            metric.module_.to(metric.training_device()).eval()
