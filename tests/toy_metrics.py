"""Toy metrics on graphs of one node, whose only feature says where they are; and quick ones of the library."""

from typing import ClassVar

import numpy as np
import torch

import graph_metric_learn as gml
from graph_metric_learn.metrics import BaseGraphMetric
from graph_metric_learn.metrics.base import FoldView


def points(*values):
    """Graphs of one node with one feature."""
    return [(np.zeros((1, 1)), np.array([[value]])) for value in values]


class FirstColumn(BaseGraphMetric):
    """A metric from outside the library: the mean of the first column of x. It learns nothing and takes no groups."""

    fits: ClassVar[list[int]] = []  # how many graphs each `fit` was given

    def __init__(self, attribute="x", label=None, progress=None):
        self.attribute, self.label, self.progress = attribute, label, progress

    def fit(self, graphs, y=None):
        self.fits.append(len(graphs))
        self.count_ = len(graphs)
        return self

    def transform(self, graphs):
        given = self.read(graphs)
        return np.add.reduceat(given.x[:, :1], given.offsets[:-1]) / given.sizes[:, None].astype(np.float32)

    def embed(self, graphs):
        return gml.Vectors(torch.from_numpy(self.transform(graphs)), numpy=True)

    def explain(self, graph, other):
        raise NotImplementedError

    def state(self):
        return {"params": self.get_params(), "count": self.count_}, {}

    @classmethod
    def from_state(cls, config, tensors):
        metric = cls(**config["params"])
        metric.count_ = config["count"]
        return metric


class Memorizing(FirstColumn):
    """Its vectors know the targets of the graphs in `fit`; others have that of the nearest of these.

    As with learned scores, vectors are no guide to how well new graphs are predicted; `fold_views` are.
    """

    fits: ClassVar[list[int]] = []
    groups: ClassVar[list] = []  # what each `fit` was given

    def fit(self, graphs, y=None, groups=None):
        self.groups.append(groups)
        self.places_ = np.zeros(0, dtype=np.float32)
        self.places_ = super().transform(graphs)[:, 0]
        self.targets_ = np.unique(y, return_inverse=True)[1] if np.asarray(y).dtype.kind in "US" else np.asarray(y)
        return super().fit(graphs, y)

    def transform(self, graphs):
        return self._vectors(super().transform(graphs)[:, 0], np.arange(len(self.places_)))

    def _vectors(self, places, known):
        nearest = np.abs(places[:, None] - self.places_[known]).argmin(1)
        return np.stack([places, 10.0 * self.targets_[known][nearest]], axis=1).astype(np.float32)

    def fold_views(self, most):
        found = []
        for fold in range(5):
            is_held = np.arange(len(self.places_)) % 5 == fold
            known, held = np.flatnonzero(~is_held), np.flatnonzero(is_held)
            of_known, of_held = (self._vectors(self.places_[part], known) for part in (known, held))
            within, across = (np.linalg.norm(part[:, None] - of_known, axis=2) for part in (of_known, of_held))
            found.append(FoldView(known, held, within, across, None))
        return found


def sgml(**options):
    """Two epochs of it."""
    return gml.SGML(**{"depth": 1, "n_epochs": 2, "random_state": 0, **options})


def blocks(**options):
    """A metric of two blocks, in no time."""
    return gml.GraphMetric(features=["size@0", "attributes@0"], embedding="mean", random_state=0, **options)


def sizes(pairs):
    """A number for each graph that grows with its nodes."""
    return np.array([len(x) + 0.5 for _, x in pairs])
