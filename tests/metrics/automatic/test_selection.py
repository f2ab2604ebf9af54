import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.sample import Sample
from graph_metric_learn.metrics.automatic.screening import screen
from graph_metric_learn.metrics.automatic.selection import choose, chosen_without, select_terms
from graph_metric_learn.objectives import Classes, Numbers
from graph_metric_learn.objectives.leave_one_out import leave_one_out
from made_up_vectors import points_sample, tree_names


def unit_squares(points):
    """Squared distances of mean 1."""
    squares = ((points[:, None] - points[None]) ** 2).sum(2).astype(np.float32)
    return squares / squares.mean()


def test_two_halves_of_the_truth_are_put_together(rng):
    """Four classes, each candidate sees one of two features: only their sum tells all four apart."""
    codes = np.arange(120) % 4
    left, right = codes // 2 + 0.1 * rng.normal(size=120), codes % 2 + 0.1 * rng.normal(size=120)
    candidates = {
        "left": unit_squares(left[:, None]),
        "right": unit_squares(right[:, None]),
        "noise": unit_squares(rng.normal(size=(120, 1))),
    }
    choice = choose(candidates, codes, Classes())
    assert set(choice.weights) == {"left", "right"}
    assert sum(choice.weights.values()) == pytest.approx(1)
    assert choice.accuracy == 1.0
    assert max(choice.scores.values()) < 0.8
    assert [score for _, score in choice.trail] == sorted(score for _, score in choice.trail)
    assert len(choose(candidates, codes, Classes(), n_steps=1).weights) == 1


def test_the_input_is_left_alone(rng):
    candidates = {"a": unit_squares(rng.normal(size=(20, 2))), "b": unit_squares(rng.normal(size=(20, 2)))}
    copies = {name: square.copy() for name, square in candidates.items()}
    choose(candidates, np.arange(20) % 2, Classes())
    for name, square in copies.items():
        np.testing.assert_array_equal(candidates[name], square)


def test_few_graphs():
    points, codes = np.array([[0.0], [0.1], [1.0], [1.1]]), np.array([0, 0, 1, 1])
    choice = choose({"good": unit_squares(points), "bad": unit_squares(points[[0, 2, 1, 3]])}, codes, Classes())
    assert choice.weights == {"good": 1.0}
    assert choice.n_neighbors == 1
    assert choose({"any": unit_squares(points)}, codes[[0, 0, 0, 3]], Classes()).n_neighbors < 4


def columns(rng, count, good):
    """Graphs of one node and `count` sets of blocks, of which some tell the classes apart."""
    target = np.arange(60) % 2
    blocks = {f"attributes@{i}": rng.normal(size=(60, 1)) for i in range(count)}
    for i in good:
        blocks[f"attributes@{i}"] = 10.0 * i * (target[:, None] + 0.5 * rng.normal(size=(60, 1)))
    return points_sample(blocks, target), {name: [name] for name in blocks}


def selected(sample, candidates, n_steps):
    screened = screen(candidates, "mean", sample, sample, np.random.default_rng(0), progress=False)
    return select_terms(screened, Classes(), sample, sample, n_steps=n_steps)


def test_the_best_candidates_are_shortlisted_wherever_they_stand(rng):
    sample, candidates = columns(rng, 20, good=[19])
    terms, choice, squares = selected(sample, candidates, n_steps=1)
    assert len(squares) == 12
    assert "mean of attributes@19" in squares
    assert [term.title for term in terms] == ["attributes@19"]
    assert len(choice.scores) == 20


def test_terms_weigh_what_the_choice_says(rng):
    """Whatever the scale of its vectors, a term adds its weight to the mean squared distance."""
    sample, candidates = columns(rng, 3, good=[1, 2])
    terms, choice, _ = selected(sample, candidates, n_steps=8)
    assert len(terms) > 1
    for term, weight in zip(terms, choice.weights.values(), strict=True):
        assert sample.squares(term).mean() == pytest.approx(weight, rel=1e-4)


def test_the_best_sum_on_the_way_counts():
    """Steps that only add what is there already, or noise, end the sum before them."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        candidates = {name: unit_squares(rng.normal(size=(30, 2))) for name in "abc"}
        choice = choose(candidates, np.arange(30) % 2, Classes())
        assert choice.score >= max(choice.scores.values())
        scores = [score for _, score in choice.trail]
        assert scores[-1] == choice.score
        assert all(score < choice.score for score in scores[:-1])


def test_sparse_terms_become_few_coordinates(rng):
    sizes = rng.integers(2, 9, 60)
    sample = Sample({"trees@0": tree_names(rng, sizes)}, {"nodes": sizes}, np.arange(60) % 2)
    screened = screen({"trees": ["trees@0"]}, "counts", sample, sample, rng, progress=False)
    (term,), *_ = select_terms(screened, Classes(), sample, sample, n_steps=1)
    assert isinstance(sample.coordinates(term), np.ndarray)
    assert sample.squares(term).mean() == pytest.approx(1.0, rel=1e-4)


def test_numbers_choose_by_the_mean_of_neighbours(rng):
    sample, candidates = columns(rng, 4, good=[])
    objective = Numbers()
    sample.target = objective.encode([None] * 60, sample.blocks["attributes@2"][:, 0])
    screened = screen(candidates, "mean", sample, sample, rng, progress=False)
    terms, choice, _ = select_terms(screened, objective, sample, sample, n_steps=3)
    assert [term.title for term in terms] == ["attributes@2"]
    assert choice.accuracy > 0.9


def test_a_choice_without_some_graphs_does_not_look_at_them(rng):
    codes = np.arange(60) % 2
    candidates = {name: unit_squares(rng.normal(size=(60, 2))) for name in "abc"}
    known = np.arange(40)
    wanted = chosen_without(candidates, codes, Classes(), known, n_steps=4)
    choice = choose({name: one[:40, :40] for name, one in candidates.items()}, codes[:40], Classes(), n_steps=4)
    by_hand = sum(weight * candidates[name] for name, weight in choice.weights.items())
    np.testing.assert_allclose(wanted, by_hand, rtol=1e-5)
    changed = np.where(np.arange(60) < 40, codes, 1 - codes)
    np.testing.assert_array_equal(chosen_without(candidates, changed, Classes(), known, n_steps=4), wanted)


def test_mates_do_not_choose_for_each_other(rng):
    """Pairs of graphs have one class each: one candidate knows the pairs, another the class."""
    codes, groups = np.repeat(rng.integers(2, size=40), 2), np.arange(80) // 2
    candidates = {
        "mates": (groups[:, None] != groups).astype(np.float32),
        "good": unit_squares(codes[:, None] + 0.8 * rng.normal(size=(80, 1))),
    }
    assert list(choose(candidates, codes, Classes(), n_steps=1).weights) == ["mates"]
    choice = choose(candidates, codes, Classes(), n_steps=1, groups=groups)
    assert list(choice.weights) == ["good"]
    assert choice.accuracy == leave_one_out(Classes(), candidates["good"], codes, groups=groups).max()
