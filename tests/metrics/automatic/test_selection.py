import numpy as np
import pytest

from graph_metric_learn.embeddings import EMBEDDINGS, Axes
from graph_metric_learn.metrics.automatic.sample import Sample
from graph_metric_learn.metrics.automatic.selection import choose, select_terms
from graph_metric_learn.objectives import Classes


def squares_of(points):
    squares = ((points[:, None] - points[None]) ** 2).sum(2).astype(np.float32)
    return squares / squares.mean()


def test_two_halves_of_the_truth_are_put_together(rng):
    """Four classes, each candidate sees one of two features: only their sum tells all four apart."""
    codes = np.arange(120) % 4
    left, right = codes // 2 + 0.1 * rng.normal(size=120), codes % 2 + 0.1 * rng.normal(size=120)
    candidates = {
        "left": squares_of(left[:, None]),
        "right": squares_of(right[:, None]),
        "noise": squares_of(rng.normal(size=(120, 1))),
    }
    choice = choose(candidates, codes, Classes())
    assert set(choice.weights) == {"left", "right"}
    assert sum(choice.weights.values()) == pytest.approx(1)
    assert choice.accuracy == 1.0
    assert max(choice.scores.values()) < 0.8
    assert [score for _, score in choice.trail] == sorted(score for _, score in choice.trail)
    assert len(choose(candidates, codes, Classes(), n_steps=1).weights) == 1


def test_the_input_is_left_alone(rng):
    candidates = {"a": squares_of(rng.normal(size=(20, 2))), "b": squares_of(rng.normal(size=(20, 2)))}
    copies = {name: square.copy() for name, square in candidates.items()}
    choose(candidates, np.arange(20) % 2, Classes())
    for name, square in copies.items():
        np.testing.assert_array_equal(candidates[name], square)


def test_few_graphs():
    points, codes = np.array([[0.0], [0.1], [1.0], [1.1]]), np.array([0, 0, 1, 1])
    choice = choose({"good": squares_of(points), "bad": squares_of(points[[0, 2, 1, 3]])}, codes, Classes())
    assert choice.weights == {"good": 1.0}
    assert choice.n_neighbors == 1
    assert choose({"any": squares_of(points)}, codes[[0, 0, 0, 3]], Classes()).n_neighbors < 4


def columns(rng, count, good):
    """Graphs of one node and `count` sets of blocks, of which some tell the classes apart."""
    target = np.arange(60) % 2
    blocks = {f"attributes@{i}": rng.normal(size=(60, 1)) for i in range(count)}
    for i in good:
        blocks[f"attributes@{i}"] = 10.0 * i * (target[:, None] + 0.5 * rng.normal(size=(60, 1)))
    sample = Sample(
        {name: block.astype(np.float32) for name, block in blocks.items()}, {"nodes": np.ones(60, int)}, target
    )
    return sample, {name: [name] for name in blocks}


def selected(sample, candidates, n_steps):
    return select_terms(
        candidates, "mean", Classes(), sample, sample, n_steps=n_steps, rng=np.random.default_rng(0), progress=False
    )  # fmt: skip


def test_the_best_candidates_are_shortlisted_wherever_they_stand(rng):
    sample, candidates = columns(rng, 20, good=[19])
    terms, choice = selected(sample, candidates, n_steps=1)
    assert [term.title for term in terms] == ["attributes@19"]
    assert len(choice.scores) == 20


def test_terms_weigh_what_the_choice_says(rng):
    """Whatever the scale of its vectors, a term adds its weight to the mean squared distance."""
    sample, candidates = columns(rng, 3, good=[1, 2])
    terms, choice = selected(sample, candidates, n_steps=8)
    assert len(terms) > 1
    for term, weight in zip(terms, choice.weights.values(), strict=True):
        assert sample.squares([term]).mean() == pytest.approx(weight, rel=1e-4)


def test_the_best_sum_on_the_way_counts():
    """Steps that only add what is there already, or noise, end the sum before them."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        candidates = {name: squares_of(rng.normal(size=(30, 2))) for name in "abc"}
        choice = choose(candidates, np.arange(30) % 2, Classes())
        assert choice.score >= max(choice.scores.values())
        scores = [score for _, score in choice.trail]
        assert scores[-1] == choice.score
        assert all(score < choice.score for score in scores[:-1])


def test_embeddings_of_one_name_are_both_candidates(rng, monkeypatch):
    """A class derived from another and registered beside it has the same name in words."""

    class Finer(Axes):
        def __init__(self, n_axes=8, n_cells=16):
            super().__init__(n_axes, n_cells)

    monkeypatch.setitem(EMBEDDINGS, "finer", Finer)
    sample, candidates = columns(rng, 1, good=[0])
    sample.blocks["attributes@0"][:] = rng.normal(size=(60, 1))
    _, choice = select_terms(
        candidates, "auto", Classes(), sample, sample, n_steps=1, rng=np.random.default_rng(0), progress=False
    )
    assert {"projected transport of attributes@0", "projected transport of attributes@0 (finer)"} <= set(choice.scores)
