from itertools import pairwise

import numpy as np
import pytest
import torch

from graph_metric_learn.transport import ordering
from graph_metric_learn.transport.measures import Measures
from helpers import KINDS, make_cloud


def engines(x, sizes, projections, ties):
    """The same order from every implementation."""
    points, along = torch.from_numpy(x), torch.from_numpy(projections)
    measures = Measures(points, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    yield "merge sort", ordering.sort_orders(measures, along, ties).numpy()
    yield "torch", ordering._sort_torch(points, along, sizes, ties == "canonical").numpy()
    parts = [ordering._sort_large(points[s:e], along[s:e], ties == "canonical") + s for s, e in pairwise(starts)]
    yield "NumPy", np.concatenate(parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", ["canonical", "first"])
def test_all_engines_sort_like_python(rng, kind, ties):
    sizes = np.array([1, 2, 23, 24, 25, 48, 49, 130])
    x = np.concatenate([make_cloud(rng, n, 3, kind) for n in sizes])
    x[x == 0] *= np.where(rng.random((x == 0).sum()) < 0.5, -1.0, 1.0)  # a zero's sign must not matter
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for name, order in engines(x, sizes, x, ties):
        for s, e in pairwise(starts):
            for k in range(3):
                if ties == "first":
                    wanted = sorted(range(s, e), key=lambda i, k=k: x[i, k])
                    assert order[s:e, k].tolist() == wanted, name
                else:  # copies of one point may come in any order
                    wanted = sorted(range(s, e), key=lambda i, k=k: (x[i, k], *x[i]))
                    np.testing.assert_array_equal(x[order[s:e, k]], x[wanted], err_msg=name)
                    assert sorted(order[s:e, k]) == list(range(s, e)), name


def test_large_clouds_are_sorted_on_their_own(rng):
    x = rng.normal(size=(1000, 2)).round(2)  # with ties
    points = torch.from_numpy(x)
    order = ordering.sort_orders(Measures(points, np.array([600, 400])), points, "canonical").numpy()
    for s, e in ((0, 600), (600, 1000)):
        wanted = [np.lexsort((x[s:e, 1], x[s:e, 0])), np.lexsort((x[s:e, 0], x[s:e, 1]))]
        for k in range(2):
            np.testing.assert_array_equal(x[order[s:e, k]], x[s:e][wanted[k]])


def test_unknown_rule():
    with pytest.raises(ValueError, match="'nonsense'"):
        ordering.check_ties("nonsense")
