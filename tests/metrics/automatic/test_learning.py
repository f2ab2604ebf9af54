import json
from dataclasses import replace

import numpy as np
import pytest

from graph_metric_learn._core.schema import join, read, split
from graph_metric_learn.linalg import ridge
from graph_metric_learn.metrics.automatic import kernels, learning
from graph_metric_learn.metrics.automatic.learning import (
    KernelPlan,
    Learned,
    LearnedState,
    kernels_by_known,
    learn,
    plan_kernels,
    squares_by_known,
)
from graph_metric_learn.metrics.automatic.screening import Screened
from graph_metric_learn.objectives import Classes, Numbers
from made_up_vectors import points_sample, points_term, squares_of

COUNT = 90


def with_classes(n_classes):
    objective = Classes()
    objective.classes_ = np.arange(n_classes)
    return objective


@pytest.fixture
def three(rng):
    """Three classes that one block tells apart; the unlearned distance sees noise."""
    codes = np.arange(COUNT) % 3
    good = 3.0 * np.eye(3)[codes][:, :2] + rng.normal(size=(COUNT, 2))
    noise = rng.normal(size=(COUNT, 8))
    return codes, {"attributes@0": noise, "attributes@1": good}


def learned_from(three, rng, most=10, objective=None, target=None):
    codes, columns = three
    term = points_term(columns["attributes@1"], "attributes@1")
    embedded = {term.key: columns["attributes@1"].astype(np.float32)}
    squares = squares_of(columns["attributes@0"])
    squares = (squares / squares.mean()).astype(np.float32)
    plan = KernelPlan([term], ["gaussian"], 0.1, 0.5)
    target = codes if target is None else target
    objective = objective or with_classes(3)
    found, folds = learn(plan, embedded, lambda known: squares, objective, target, np.arange(COUNT), rng, most=most)
    return found, folds, embedded, term


def test_kernels_are_those_that_tell_the_targets(three, rng, monkeypatch):
    codes, columns = three
    monkeypatch.setattr(learning, "_SCREENED_ON", 60)
    monkeypatch.setattr(learning, "_CHOSEN_ON", 80)
    sample = points_sample(columns, codes)
    screened = {}
    for name in columns:
        term = points_term(columns[name], name)
        squares = sample.squares(term)
        screened[name] = Screened(term, squares / squares.mean())
    plan = plan_kernels(screened, with_classes(3), sample, sample, rng)
    assert plan.terms[0] is screened["attributes@1"].term
    assert len(plan.terms) == len(plan.forms)
    assert set(plan.forms) <= {"gaussian", "linear"}
    assert plan.error < 0.6
    assert plan.penalty > 0


@pytest.mark.parametrize("scale_invariant", [True, False])
def test_the_scale_of_scores_counts_for_numbers_alone(rng, monkeypatch, scale_invariant):
    asked = []

    def errors(kernel, targets, penalties=ridge.PENALTIES, *, scale_invariant=False, groups=None):
        asked.append(scale_invariant)
        return original(kernel, targets, penalties, scale_invariant=scale_invariant, groups=groups)

    original = ridge.left_out_errors
    monkeypatch.setattr(kernels, "left_out_errors", errors)
    monkeypatch.setattr(ridge, "left_out_errors", errors)
    columns = rng.normal(size=(COUNT, 2))
    objective, target = (with_classes(2), (columns[:, 0] > 0) * 1) if scale_invariant else Numbers.of(columns[:, 0])
    sample, term = points_sample({"attributes@0": columns}, target), points_term(columns)
    screened = {"one": Screened(term, sample.squares(term))}
    plan = plan_kernels(screened, objective, sample, sample, rng)
    assert len(asked) >= 4
    embedded = {term.key: columns.astype(np.float32)}
    squares = squares_of(columns).astype(np.float32)
    learn(plan, embedded, lambda known: squares, objective, target, np.arange(COUNT), rng, most=4)
    assert len(asked) >= 5
    assert set(asked) == {scale_invariant}


def test_wide_vectors_are_projected_before_kernels_compare_them(rng):
    wide = rng.normal(size=(400, 300))
    sample = points_sample({"attributes@0": wide}, np.arange(400) % 2)
    term = points_term(wide)
    plan = plan_kernels({"wide": Screened(term, sample.squares(term))}, with_classes(2), sample, sample, rng)
    assert plan.terms[0].projection.width == 256


def test_scores_join_the_distance_by_their_weight(three, rng):
    """weight / mean · |f(G) − f(H)|², with f the machine itself."""
    found, _, embedded, _ = learned_from(three, rng)
    assert found.gate.weight > 0
    scores = found.machine.scores(embedded)
    wanted = found.gate.weight * squares_of(scores) / squares_of(scores).mean()
    np.testing.assert_allclose(squares_of(found.coordinates(embedded)), wanted, rtol=1e-4, atol=1e-5)
    assert found.coordinates(embedded).dtype == np.float32


def test_scores_of_classes_differ_in_one_direction_less(three, rng):
    """They add up to 1."""
    found, _, embedded, _ = learned_from(three, rng)
    assert found.width == 2
    np.testing.assert_allclose(found.machine.scores(embedded).sum(1), 1.0, atol=1e-6)
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(2), atol=1e-12)
    narrow, _, _, _ = learned_from(three, rng, most=1)
    assert narrow.width == 1
    assert narrow.coordinates(embedded).shape == (COUNT, 1)


def test_noise_adds_no_coordinates(three, rng):
    codes, columns = three
    noise = {**columns, "attributes@1": rng.normal(size=(COUNT, 2))}
    found, folds, _, _ = learned_from((codes, noise), rng)
    assert found.gate.weight == 0
    assert found.width == 0
    assert len(folds) == 5


def test_numbers_and_their_units_are_the_same_metric(three, rng):
    """One number per graph, that the good block tells."""
    number = three[1]["attributes@1"][:, :1]
    objective = Numbers()
    target = objective.encode([None] * COUNT, number[:, 0])
    found, _, embedded, _ = learned_from(three, rng, objective=objective, target=target)
    assert found.gate.weight > 0
    assert found.width == 1
    fitted = objective.decode(found.machine.scores(embedded))
    assert np.corrcoef(fitted, number[:, 0])[0, 1] > 0.95


def test_the_unlearned_part_is_chosen_by_the_known_graphs_alone(rng, monkeypatch):
    """One candidate tells the first half of the graphs apart, another the second."""
    codes = np.arange(COUNT) % 2
    first = np.arange(COUNT) < COUNT // 2
    seen = {}
    for name, part in (("first", first), ("second", ~first)):
        squares = squares_of(np.where(part, 5.0 * codes, 0.0)[:, None] + rng.normal(size=(COUNT, 1)))
        seen[name] = (squares / squares.mean()).astype(np.float32)
    base = rng.normal(size=(COUNT, 2)).astype(np.float32)
    found = squares_by_known(base, seen, with_classes(2), codes, n_steps=1)
    np.testing.assert_allclose(found(np.flatnonzero(first)), seen["first"], rtol=1e-5)
    np.testing.assert_allclose(found(np.flatnonzero(~first)), seen["second"], rtol=1e-5)
    for candidates in (seen, {}):
        monkeypatch.setattr(learning, "_CHOSEN_ANEW", COUNT - 1 if candidates else COUNT)
        fixed = squares_by_known(base, candidates, with_classes(2), codes, n_steps=1)
        np.testing.assert_allclose(fixed(np.flatnonzero(first)), squares_of(base), rtol=1e-3, atol=1e-5)


def mates(rng):
    """Pairs of graphs with one target each; a candidate knows who belongs together, another what the target is."""
    codes, groups = np.repeat(rng.integers(2, size=40), 2), np.arange(80) // 2
    squares = {
        "mates": (groups[:, None] != groups).astype(np.float32),
        "good": squares_of(codes[:, None] + 0.8 * rng.normal(size=(80, 1))).astype(np.float32),
    }
    return codes, groups, {name: one / one.mean() for name, one in squares.items()}


def test_mates_do_not_choose_for_each_other_without_a_fold_either(rng):
    codes, groups, squares = mates(rng)
    base, known = np.zeros((80, 1), dtype=np.float32), np.arange(60)
    alone = squares_by_known(base, squares, with_classes(2), codes, n_steps=1)
    grouped = squares_by_known(base, squares, with_classes(2), codes, n_steps=1, groups=groups)
    np.testing.assert_array_equal(alone(known), squares["mates"])
    np.testing.assert_array_equal(grouped(known), squares["good"])
    tried = {(name, "gaussian"): kernels.kernel_from_squares(one, "gaussian") for name, one in squares.items()}
    fixed, outputs = np.eye(80), np.eye(2)[codes]
    alone = kernels_by_known(fixed, 1.0, tried, outputs, scale_invariant=False)
    grouped = kernels_by_known(fixed, 1.0, tried, outputs, scale_invariant=False, groups=groups)
    np.testing.assert_allclose(alone(known)[0], tried["mates", "gaussian"], rtol=1e-6)
    np.testing.assert_allclose(grouped(known)[0], tried["good", "gaussian"], rtol=1e-6)


def test_groups_reach_all_that_is_chosen(three, rng, monkeypatch):
    codes, columns = three
    groups, asked = np.arange(COUNT) // 2, {}
    sample = points_sample(columns, codes)
    sample.groups = groups
    screened = {name: Screened(points_term(values, name), sample.squares(points_term(values, name)))
                for name, values in columns.items()}  # fmt: skip
    for home, name in ((learning, "shortlist"), (learning, "choose_kernels"), (learning.KernelRidge, "fit")):
        original = getattr(home, name)

        def spied(*given, original=original, name=name, **options):
            asked[name] = options["groups"]
            return original(*given, **options)

        monkeypatch.setattr(home, name, spied)
    plan = plan_kernels(screened, with_classes(3), sample, sample, rng)
    embedded = {term.key: sample.embedded(term) for term in plan.terms}
    squares = squares_of(columns["attributes@0"]).astype(np.float32)
    how = {"most": 2, "own_groups": groups}
    learn(plan, embedded, lambda known: squares, with_classes(3), codes, groups, rng, **how)
    assert set(asked) == {"shortlist", "choose_kernels", "fit"}
    assert all(one is not None for one in asked.values())


def test_kernels_and_penalty_are_chosen_by_the_known_graphs_alone(rng, monkeypatch):
    """One kernel tells the targets of the first half, another those of the second."""
    target, first = rng.normal(size=(COUNT, 1)), np.arange(COUNT)[:, None] < COUNT // 2
    tried = {
        (name, "gaussian"): kernels.kernel_from_squares(
            squares_of(np.where(part, target, 5 * rng.normal(size=(COUNT, 1)))), "gaussian"
        )
        for name, part in (("first", first), ("second", ~first))
    }
    found = kernels_by_known(np.eye(COUNT), 3.0, tried, target, scale_invariant=False)
    for name, part in (("first", first), ("second", ~first)):
        known = np.flatnonzero(part)
        kernel, penalty = found(known)
        np.testing.assert_allclose(kernel, tried[name, "gaussian"])
        changed = np.where(part, target, rng.normal(size=(COUNT, 1)))
        again = kernels_by_known(np.eye(COUNT), 3.0, tried, changed, scale_invariant=False)(known)
        np.testing.assert_array_equal(again[0], kernel)
        assert again[1] == penalty
    kernel, penalty = found(np.arange(5))  # too few to choose by
    np.testing.assert_array_equal(kernel, np.eye(COUNT))
    assert penalty == 3.0
    assert kernels_by_known(np.eye(COUNT), 3.0, {}, target, scale_invariant=False)(np.arange(60))[1] == 3.0


@pytest.mark.parametrize("anew", [True, False])
def test_scores_of_a_fold_do_not_know_its_targets(three, anew):
    """From the choice of kernels on, as long as these are chosen anew."""
    codes, columns = three
    objective = with_classes(3)
    objective.folds = lambda *given: np.arange(COUNT) % 5

    def first_fold(codes):
        sample = points_sample(columns, codes)
        terms = [points_term(values, name) for name, values in columns.items()]
        screened = {term.names[0]: Screened(term, sample.squares(term)) for term in terms}
        plan = plan_kernels(screened, objective, sample, sample, np.random.default_rng(0))
        plan = plan if anew else replace(plan, tried={})
        embedded = {term.key: sample.embedded(term) for term in plan.terms}
        squares = squares_of(columns["attributes@0"]).astype(np.float32)
        rng, alone = np.random.default_rng(0), np.arange(COUNT)
        return learn(plan, embedded, lambda known: squares, objective, codes, alone, rng, most=2)[1][0]

    changed = codes.copy()
    changed[::5] = (changed[::5] + 1) % 3
    same = np.array_equal(first_fold(codes).scores, first_fold(changed).scores)
    assert same == anew


@pytest.mark.parametrize("limit", [COUNT, COUNT - 1])
def test_tried_kernels_are_kept_of_few_graphs(three, rng, monkeypatch, limit):
    monkeypatch.setattr(learning, "_KERNELS_ANEW", limit)
    codes, columns = three
    sample = points_sample(columns, codes)
    screened = {}
    for name, values in columns.items():
        term = points_term(values, name)
        screened[name] = Screened(term, sample.squares(term))
    plan = plan_kernels(screened, with_classes(3), sample, sample, rng)
    assert len(plan.tried) == (4 if limit == COUNT else 0)
    assert all(one.shape == (COUNT, COUNT) for one in plan.tried.values())


def test_it_comes_back_from_its_state(three, rng):
    found, _, embedded, term = learned_from(three, rng)
    config, arrays = split(found.state())
    saved = read(LearnedState, join(json.loads(json.dumps(config)), arrays))
    again = Learned.from_state(saved, {term.key: term}, None)
    np.testing.assert_array_equal(again.coordinates(embedded), found.coordinates(embedded))
    assert again.gate == found.gate
    assert again.width == found.width
