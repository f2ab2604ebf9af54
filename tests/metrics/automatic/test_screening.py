import numpy as np
import pytest

from graph_metric_learn.embeddings import EMBEDDINGS, Axes
from graph_metric_learn.metrics.automatic import screening
from graph_metric_learn.metrics.automatic.sample import Sample
from graph_metric_learn.metrics.automatic.screening import screen
from made_up_vectors import points_sample, squares_of

ROWS = np.arange(0, 40, 2)


def screened(sample, candidates, embedding="auto", supervised=True):
    rng = np.random.default_rng(0)
    return screen(candidates, embedding, sample, sample.part(ROWS), rng, supervised=supervised, progress=False)


@pytest.fixture
def sample(rng):
    columns = {f"attributes@{i}": 10.0**i * rng.normal(size=(40, 2)) for i in range(3)}
    return points_sample(columns, np.arange(40) % 2)


def test_every_embedding_that_fits_is_a_candidate(sample):
    found = screened(sample, {"one": ["attributes@0"], "two": ["attributes@1", "attributes@2"]})
    wanted = ["mean", "reference transport", "density"]
    assert list(found) == [f"{kind} of {title}" for title in ("one", "two") for kind in wanted]
    assert list(screened(sample, {"one": ["attributes@0"]}, "axes")) == ["projected transport of one"]
    without = screened(sample, {"one": ["attributes@0"]}, supervised=False)
    assert list(without) == ["mean of one", "reference transport of one", "projected transport of one"]


def test_distances_are_those_of_the_subsample_and_of_mean_one(sample):
    for number in range(3):
        (one,) = screened(sample, {"it": [f"attributes@{number}"]}, "mean").values()
        wanted = squares_of(sample.blocks[f"attributes@{number}"][ROWS])
        np.testing.assert_allclose(one.squares, wanted / wanted.mean(), rtol=1e-3, atol=1e-5)


def test_what_tells_no_graphs_apart_is_left_out(sample):
    sample.blocks["attributes@1"][:] = 3.0
    found = screened(sample, {"dead": ["attributes@1"], "alive": ["attributes@0"]}, "mean")
    assert list(found) == ["mean of alive"]
    with pytest.raises(ValueError, match="all graphs look the same"):
        screened(sample, {"dead": ["attributes@1"]}, "mean")


def test_embeddings_of_one_name_are_both_candidates(sample, monkeypatch):
    """A class derived from another and registered beside it has the same name in words."""

    class Finer(Axes):
        def __init__(self, n_axes=8, n_cells=16):
            super().__init__(n_axes, n_cells)

    monkeypatch.setitem(EMBEDDINGS, "finer", Finer)
    found = screened(sample, {"it": ["attributes@0"]}, supervised=False)
    assert {"projected transport of it", "projected transport of it (finer)"} <= set(found)
    assert len({one.term.key for one in found.values()}) == len(found)


@pytest.mark.parametrize("embedding", ["auto", "reference"])
def test_many_edges_are_not_transported_to_a_reference(rng, monkeypatch, embedding):
    sizes = {"nodes": np.ones(40, dtype=np.int64), "edges": np.full(40, 3)}
    sample = Sample({"edge@0": rng.normal(size=(120, 2)).astype(np.float32)}, sizes, np.arange(40) % 2)
    assert "reference transport of it" in screened(sample, {"it": ["edge@0"]}, embedding)
    monkeypatch.setattr(screening, "_MANY_EDGES", 2)
    found = screened(sample, {"it": ["edge@0"]}, embedding)
    assert ("reference transport of it" in found) == (embedding == "reference")  # what is asked for is done
