import numpy as np
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import allpairs
from graph_metric_learn.transport.kernels import loops as kernels
from helpers import make_cloud, make_weights


def test_norms_are_distances_to_the_origin(rng):
    clouds = [make_cloud(rng, n, 3) for n in (2, 5, 1)]
    for weights in (None, make_weights(rng, clouds)):
        walked = gml.as_curves(clouds, weights=weights)
        origin = gml.as_curves([np.zeros((1, 3))])
        wanted = gml.pairwise_distances(walked, origin, squared=True)[:, 0]
        np.testing.assert_allclose(allpairs.squared_norms(walked).numpy(), wanted, atol=1e-12)


def test_centring_moves_both_sides_alike(rng):
    u, v = gml.as_curves([rng.normal(size=(4, 2)) + 50]), gml.as_curves([rng.normal(size=(3, 2)) + 50])
    u2, v2 = allpairs.centred(u, v)
    torch.testing.assert_close(u.values - u2.values, (v.values - v2.values)[:1].expand(4, 2, 2))
    assert abs(float(u2.values.mean())) < 1e-12


def test_rows_and_columns_are_permuted_in_place(rng):
    matrix, rows, cols = rng.normal(size=(13, 29)), rng.permutation(13), rng.permutation(29)
    wanted = matrix[rows][:, cols]
    kernels.permute(matrix, rows, cols)
    np.testing.assert_array_equal(matrix, wanted)


def test_the_right_half_is_mirrored(rng):
    for n in (1, 63, 64, 65, 200):
        matrix = rng.normal(size=(n, n))
        wanted = np.triu(matrix, 1) + np.triu(matrix, 1).T
        kernels.mirror(matrix)
        np.testing.assert_array_equal(matrix, wanted)


def test_kernels_may_be_called_from_several_threads(rng):
    from concurrent.futures import ThreadPoolExecutor

    clouds = [make_cloud(rng, int(n), 3) for n in rng.integers(1, 15, 40)]
    wanted = gml.pairwise_distances(clouds)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: gml.pairwise_distances(clouds), range(8)):
            np.testing.assert_allclose(got, wanted, atol=1e-12)
