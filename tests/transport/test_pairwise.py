import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graph_metric_learn as gml
from graph_metric_learn.transport import pairwise
from graph_metric_learn.transport.engines import ENGINES, products
from graph_metric_learn.transport.engines import pair_by_pair as walked
from helpers import KINDS, cloud_lists, make_cloud, make_weights

ONE = {"rpw": gml.rpw_distance, "pw": gml.pw_distance, "sw": gml.sw_distance}


@pytest.fixture(params=["compiled", "tiled"])
def engine(request, monkeypatch):
    if request.param == "tiled":  # as on a GPU: registered last, it is asked first
        monkeypatch.setitem(ENGINES, "tiled on the CPU", ENGINES["tiled"])
    return request.param


def pair_by_pair(clouds, others, weights, other_weights, metric, **options):
    function = ONE[metric]
    return np.array(
        [
            [function(x, y, a, b, **options) for y, b in zip(others, other_weights, strict=True)]
            for x, a in zip(clouds, weights, strict=True)
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["rpw", "pw", "sw"])
@pytest.mark.parametrize("weighted", ["no", "both", "one"])
def test_every_entry_is_the_distance_of_the_pair(rng, kind, metric, weighted, engine):
    clouds = [make_cloud(rng, int(n), 3, kind) for n in rng.integers(1, 15, 11)]
    others = [make_cloud(rng, int(n), 3, kind) for n in rng.integers(1, 15, 7)]
    a = make_weights(rng, clouds) if weighted != "no" else None
    b = make_weights(rng, others) if weighted == "both" else None
    options = {} if metric == "rpw" else {"projections": np.random.default_rng(1).normal(size=(3, 4))}
    none = [None] * 11
    got = gml.pairwise_distances(clouds, others, metric=metric, weights=a, other_weights=b, **options)
    wanted = pair_by_pair(clouds, others, a or none, b or none[:7], metric, **options)
    np.testing.assert_allclose(got, wanted, atol=1e-9)
    got = gml.pairwise_distances(clouds, metric=metric, weights=a, **options)
    wanted = pair_by_pair(clouds, clouds, a or none, a or none, metric, **options)
    np.testing.assert_allclose(got, wanted, atol=1e-9)
    assert (got == got.T).all()
    assert (np.diag(got) == 0).all()


@pytest.mark.parametrize("block", [1, 40, 10**9])
def test_blocks_pieces_and_files_make_the_same_matrix(rng, block, engine, monkeypatch, tmp_path):
    clouds = [make_cloud(rng, int(n), 2, "relu") for n in rng.integers(1, 9, 13)]
    others = [make_cloud(rng, int(n), 2, "relu") for n in rng.integers(1, 9, 6)]
    whole, rectangle = gml.pairwise_distances(clouds), gml.pairwise_distances(clouds, others)
    monkeypatch.setattr(products, "_AVERAGES", block)
    monkeypatch.setattr(walked, "_PAIRS", block)
    monkeypatch.setattr(pairwise, "BLOCK_BYTES", block)
    np.testing.assert_allclose(gml.pairwise_distances(clouds), whole, atol=1e-12)
    for other, wanted in ((None, whole), (others, rectangle)):
        seen = np.full(wanted.shape, np.nan)
        for rows, part in gml.iter_distances(clouds, other, block_bytes=block):
            assert part.nbytes <= max(block, wanted.shape[1] * part.itemsize)
            seen[rows] = part
        np.testing.assert_allclose(seen, wanted, atol=1e-9)
        file = np.lib.format.open_memmap(tmp_path / "d.npy", mode="w+", dtype=np.float64, shape=wanted.shape)
        assert gml.pairwise_distances(clouds, other, out=file) is file
        np.testing.assert_allclose(file, wanted, atol=1e-9)
    filled = gml.pairwise_distances(clouds, out=np.empty_like(whole))
    assert (filled == filled.T).all()
    assert (np.diag(filled) == 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbours_are_the_smallest_entries(rng, weighted, engine):
    clouds = [make_cloud(rng, int(n), 3) for n in rng.integers(1, 15, 30)]
    others = [make_cloud(rng, int(n), 3) for n in rng.integers(1, 15, 20)]
    a, b = (make_weights(rng, clouds), make_weights(rng, others)) if weighted else (None, None)
    for block in (1, 2**28):
        whole = gml.pairwise_distances(clouds, weights=a)
        np.fill_diagonal(whole, np.inf)
        d, i = gml.kneighbors(clouds, weights=a, n_neighbors=4, block_bytes=block)
        np.testing.assert_array_equal(i, np.argsort(whole, axis=1, kind="stable")[:, :4])
        np.testing.assert_allclose(d, np.take_along_axis(whole, i, 1), atol=1e-9)
        wide = gml.pairwise_distances(clouds, others, weights=a, other_weights=b)
        d, i = gml.kneighbors(clouds, others, weights=a, other_weights=b, n_neighbors=20, block_bytes=block)
        np.testing.assert_array_equal(i, np.argsort(wide, axis=1, kind="stable"))


def test_equally_near_neighbours_come_by_index():
    clouds = [np.full((3, 2), v) for v in (0.0, 1.0, 1.0, -1.0, 0.0)]
    _, i = gml.kneighbors(clouds[:1], clouds, n_neighbors=5)
    assert i.tolist() == [[0, 4, 1, 2, 3]]


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_float32_is_right_everywhere_also_for_near_duplicates(rng, offset, engine):
    """|d − d_float64| <= 1e-4 of the scale of the data, for copies, near-copies and strangers."""
    base = [make_cloud(rng, int(n), 5, "relu") for n in rng.integers(3, 40, 20)]
    near = [x + 1e-3 * rng.normal(size=x.shape) for x in base]
    tiny = [x + 1e-5 * rng.normal(size=x.shape) for x in base]
    copies = [x[rng.permutation(len(x))] for x in base]
    clouds = [(x + offset).astype(np.float32) for x in (*base, *near, *tiny, *copies)]
    got = gml.pairwise_distances(clouds)
    exact = gml.pairwise_distances([x.astype(float) for x in clouds])
    assert got.dtype == np.float32
    assert np.abs(got - exact).max() <= 1e-4
    assert (got == got.T).all()
    assert (np.diag(got) == 0).all()
    assert (got[np.arange(20), np.arange(60, 80)] == 0).all()  # a renumbered copy is at distance 0, exactly
    rectangle = gml.pairwise_distances(clouds[:20], clouds)
    assert np.abs(rectangle - exact[:20]).max() <= 1e-4


def test_nothing_is_nan_when_all_clouds_are_one_point(engine):
    clouds = [np.zeros((n, 2), dtype=np.float32) for n in (1, 3, 3, 8)]
    assert (gml.pairwise_distances(clouds) == 0).all()
    assert (gml.pairwise_distances(clouds, clouds) == 0).all()


@given(cloud_lists(count=8), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
def test_exponential_kernels_are_positive_definite(drawn, scale, weighted):
    clouds, rng = drawn
    d = gml.pairwise_distances(clouds, weights=make_weights(rng, clouds) if weighted else None)
    for kernel in (np.exp(-scale * d), np.exp(-scale * d**2)):
        assert np.linalg.eigvalsh(kernel).min() >= -1e-8


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_gradients_by_finite_differences(rng, weighted, squared):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))).requires_grad_() for n in (3, 4, 3, 1)]
    weights = [w[: len(x)] for w, x in zip(make_weights(rng, clouds), clouds, strict=True)]
    options = {"weights": [torch.from_numpy(w) for w in weights]} if weighted else {}

    def within(*clouds):
        return gml.pairwise_distances(list(clouds), squared=squared, **options)

    def across(*clouds):
        return gml.pairwise_distances(list(clouds[:2]), list(clouds[2:]), squared=squared)

    assert torch.autograd.gradcheck(within, clouds)
    assert torch.autograd.gradcheck(across, clouds)


def test_gradient_to_weights(rng):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))) for n in (3, 4)]
    weights = [torch.from_numpy(w).requires_grad_() for w in make_weights(rng, clouds)]

    def within(*w):
        return gml.pairwise_distances(clouds, weights=[x / x.sum() for x in w], squared=True)

    assert torch.autograd.gradcheck(within, weights)


def test_devices_agree(rng, device):
    clouds = [make_cloud(rng, int(n), 3, "relu").astype(np.float32) for n in rng.integers(1, 15, 12)]
    exact = gml.pairwise_distances([x.astype(float) for x in clouds])
    got = gml.pairwise_distances([torch.from_numpy(x).to(device) for x in clouds])
    assert got.device.type == device
    np.testing.assert_allclose(got.cpu().numpy(), exact, atol=1e-5)


def test_curves_are_sorted_once_and_reused(rng):
    clouds = [make_cloud(rng, int(n), 3) for n in rng.integers(1, 15, 6)]
    walked, whole = gml.as_curves(clouds), gml.pairwise_distances(clouds)
    np.testing.assert_array_equal(gml.pairwise_distances(walked), whole)
    np.testing.assert_allclose(gml.pairwise_distances(walked[:2], walked[2:]), whole[:2, 2:], atol=1e-12)
    with pytest.raises(ValueError, match="part of curves already"):
        gml.pairwise_distances(walked, weights=make_weights(rng, clouds))
    with pytest.raises(ValueError, match="both sides"):
        gml.pairwise_distances(walked, clouds)
    with pytest.raises(ValueError, match="cannot be compared"):
        gml.pairwise_distances(walked, gml.Curves(walked.values[:, :2], walked.sizes))


def test_optimal_ties_pair_by_pair(rng):
    clouds = [make_cloud(rng, n, 2, "grid") for n in (4, 5, 4)]
    wanted = np.array([[gml.rpw_distance(x, y, ties="optimal") for y in clouds] for x in clouds])
    got = gml.pairwise_distances(clouds, ties="optimal")
    np.testing.assert_allclose(got, wanted, atol=1e-9)
    assert (got == got.T).all()
    np.testing.assert_allclose(gml.pairwise_distances(clouds[:1], clouds, ties="optimal"), wanted[:1], atol=1e-9)
    assert not np.allclose(got, gml.pairwise_distances(clouds))


def test_progress_is_shown_when_asked(rng, capsys):
    clouds = [make_cloud(rng, 4, 2) for _ in range(5)]
    for weights in (None, make_weights(rng, clouds)):
        gml.pairwise_distances(clouds, weights=weights, progress=True)
        assert "distances: 100%" in capsys.readouterr().err
    gml.pairwise_distances(clouds)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: gml.pairwise_distances(x, [np.ones((2, 3))]), "dimension 2, others in dimension 3"),
        (lambda x: gml.pairwise_distances(x, [np.full((2, 2), np.nan)]), r"others\[0\] holds NaN"),
        (lambda x: gml.pairwise_distances(x, metric="w2"), "'w2'"),
        (lambda x: gml.pairwise_distances(x, other_weights=[np.ones(1)]), "without others"),
        (lambda x: gml.pairwise_distances(x, out=np.zeros((3, 3))), r"shape \(2, 2\)"),
        (lambda x: gml.kneighbors(x, n_neighbors=2), "n_neighbors=2, but there are 1"),
        (lambda x: gml.kneighbors(x, x, n_neighbors=0), "n_neighbors=0"),
        (lambda x: list(gml.iter_distances(x, block_bytes=0)), "block_bytes"),
        (lambda x: list(gml.iter_distances(x, ties="optimal")), "optimal"),
        (lambda x: gml.pairwise_distances(x, metric="sw", ties="optimal"), "sw"),
    ],
)
def test_bad_input_gets_one_clear_error(call, words):
    with pytest.raises(ValueError, match=words):
        call([np.zeros((2, 2)), np.ones((3, 2))])


def test_curves_refuse_what_depends_on_pairs(rng):
    curves = gml.as_curves([rng.normal(size=(4, 2)), rng.normal(size=(3, 2))])
    with pytest.raises(ValueError, match="give the clouds, not their curves"):
        gml.pairwise_distances(curves, ties="optimal")
    with pytest.raises(ValueError, match="unknown metric='nonsense'"):
        gml.pairwise_distances(curves, metric="nonsense")


def test_out_must_hold_distances(rng):
    clouds = [rng.normal(size=(4, 2)), rng.normal(size=(3, 2))]
    locked = np.zeros((2, 2))
    locked.flags.writeable = False
    for out in (np.zeros((2, 2), int), locked, np.zeros((3, 2))):
        with pytest.raises(ValueError, match="out must be a writeable NumPy array"):
            gml.pairwise_distances(clouds, out=out)
    for count in (1.5, True):
        with pytest.raises(ValueError, match=f"n_neighbors={count}, but there are 1 measures .* give a whole number"):
            gml.kneighbors(clouds, n_neighbors=count)


@pytest.mark.parametrize("within", [True, False])
def test_workers_find_the_same_neighbours(rng, monkeypatch, within):
    import joblib

    monkeypatch.setattr(pairwise, "_SHIPPED", 7)
    clouds = [rng.normal(size=(3, 2)) for _ in range(20)]
    clouds += clouds[:4] * 3  # copies: a measure is not its own neighbour
    curves = gml.as_curves(clouds)
    others = None if within else curves[:12]
    wanted = gml.kneighbors(curves, others, n_neighbors=3)
    with joblib.parallel_config("threading", n_jobs=2):
        found = gml.kneighbors(curves, others, n_neighbors=3)
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-6)
    every = gml.pairwise_distances(curves, others)
    np.testing.assert_allclose(np.take_along_axis(every, found[1], 1), found[0], atol=1e-6)
    assert not within or (found[1] != np.arange(len(curves))[:, None]).all()
