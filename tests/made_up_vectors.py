"""Graphs of one node, whose vectors are what a test says, and terms on them: for tests of choosing and learning."""

import numpy as np

from graph_metric_learn.embeddings import EMBEDDINGS
from graph_metric_learn.metrics.automatic.sample import Sample
from graph_metric_learn.metrics.automatic.terms import Term


def squares_of(vectors, others=None):
    """Squared distances, coordinate by coordinate."""
    vectors = np.asarray(vectors, dtype=float)
    others = vectors if others is None else np.asarray(others, dtype=float)
    return ((vectors[:, None] - others[None]) ** 2).sum(2)


def points_sample(columns, target):
    """Graphs of one node each with these features [N, q] by name of the block."""
    blocks = {name: np.asarray(values, dtype=np.float32) for name, values in columns.items()}
    return Sample(blocks, {"nodes": np.ones(len(target), dtype=np.int64)}, np.asarray(target))


def points_term(values, name="attributes@0"):
    """A term whose vectors are the features of the one node."""
    values = np.asarray(values, dtype=np.float32)
    embedding = EMBEDDINGS["mean"]().fit(values, np.ones(len(values), dtype=np.int64), np.random.default_rng(0))
    return Term(name, [name], None, "mean", embedding, columns=values.shape[1])


def tree_names(rng, sizes, n_names=12):
    """Names of trees [S, 2] of clouds of these sizes, few of them common, some rare."""
    names = rng.geometric(0.3, size=(int(np.sum(sizes)), 2)) % n_names
    return (1000 * np.arange(2) + names).astype(np.uint64)


def trees_term(names, sizes, kind="counts", title="trees"):
    """A term whose vectors are sparse: counts of names, or what another embedding makes of them."""
    embedding = EMBEDDINGS[kind]().fit(names, np.asarray(sizes), np.random.default_rng(0))
    return Term(title, ["trees@0"], None, kind, embedding, columns=names.shape[1])
