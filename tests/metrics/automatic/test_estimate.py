import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.objectives import Numbers
from made_up_vectors import single_nodes

COUNT = 80
OPTIONS = {"features": ["attributes@0"], "embedding": "mean", "random_state": 0}


def estimated(vectors, y, groups=None, **options):
    return gml.GraphMetric(**{**OPTIONS, **options}, estimate=True).fit(single_nodes(vectors), y, groups).estimate_


def test_noise_is_at_chance(rng):
    """Several families, and a regression on them: enough to fit any labels."""
    found, families = [], ["trees", "nodes, mean", "nodes, density", "structure, mean", "size"]
    for draw in range(2):
        graphs = [(np.triu(rng.random((8, 8)) < 0.4, 1).astype(float), rng.normal(size=(8, 2))) for _ in range(COUNT)]
        y = rng.permutation(np.arange(COUNT) % 2)
        metric = gml.GraphMetric(families=families, random_state=draw, estimate=True)
        metric.fit([(a + a.T, x) for a, x in graphs], y)
        assert metric.learned_.gate.weight == 0
        assert "no better than chance" in metric.report_
        assert "learned nothing" in metric.report_
        found.append(metric.estimate_)
    error = np.sqrt(sum(one.error**2 for one in found)) / len(found)
    assert abs(np.mean([one.score for one in found]) - 0.5) <= 2 * error


def test_signal_is_seen(rng):
    y = np.arange(COUNT) % 2
    found = estimated(3.0 * y[:, None] + rng.normal(size=(COUNT, 2)), y)
    assert found.score > 0.85
    assert found.error == pytest.approx(np.sqrt(found.score * (1 - found.score) / COUNT))
    assert found.guess == pytest.approx(0.5, abs=0.1)
    assert found.guess_name == "the largest class"
    assert found.balanced is found.balanced_error is found.balanced_guess is None


def test_unequal_classes_are_balanced(rng):
    """Nothing to see: the largest class is right for nine in ten, and for half of the classes."""
    y = (np.arange(COUNT) % 10 == 0).astype(int)
    found = estimated(rng.normal(size=(COUNT, 3)), y)
    assert found.guess == pytest.approx(0.9)
    assert found.balanced < 0.7 < found.score
    assert found.balanced_guess == 0.5
    assert found.at_chance


def test_a_small_class_that_is_found_is_better_than_chance(rng):
    """Most of it looks like a few of the large class: no more are right than by guessing, but in both classes many."""
    y = (np.arange(2 * COUNT) % 20 < 3).astype(int)
    apart = np.zeros(2 * COUNT)
    apart[np.flatnonzero(y == 1)[:20]] = apart[np.flatnonzero(y == 0)[:10]] = 9.0
    found = estimated(apart[:, None] + 0.1 * rng.normal(size=(2 * COUNT, 1)), y, learn=False)
    assert found.score <= found.guess + 2 * found.error
    assert found.balanced > 0.5 + 3 * found.balanced_error
    assert not found.at_chance


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_at_chance_in_classes_of_unequal_size(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation((np.arange(COUNT) % 20 < 3).astype(int))
    found = estimated(rng.normal(size=(COUNT, 3)), y)
    assert found.balanced_error > 0 or found.balanced == 0.5
    assert found.at_chance


def test_numbers_that_some_folds_do_not_know_differ(rng):
    """One graph alone has another value of the second number, and few have any of the third."""
    vectors = rng.normal(size=(COUNT, 2))
    rare, seldom = np.zeros(COUNT), np.full(COUNT, np.nan)
    rare[3], seldom[:2] = 1.0, (0.5, 1.5)
    found = estimated(vectors, np.stack([vectors[:, 0], rare, seldom], axis=1))
    assert 0.2 < found.score < 1


def test_what_is_not_used_is_said_once():
    import networkx as nx

    graphs = [nx.cycle_graph(3 + i % 7) for i in range(40)]
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "element")
    with pytest.warns(UserWarning, match="element") as said:
        gml.GraphMetric(random_state=0, estimate=True, learn=False).fit(graphs, np.arange(40) % 7 > 3)
    assert len(said) == 1


@pytest.fixture
def grouped():
    """Twenty groups of four graphs that are nearly equal; classes belong to groups, and to nothing else."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(20), 4)
    y = rng.permutation(np.arange(20) % 2)[groups]
    return rng.normal(size=(20, 4))[groups], 0.05 * rng.normal(size=(COUNT, 4)), groups, y


def test_graphs_of_a_group_do_not_predict_each_other(grouped):
    centres, noise, groups, y = grouped
    assert estimated(centres + noise, y).score > 0.95
    together = estimated(centres + noise, y, groups=[f"scaffold {group}" for group in groups])
    assert abs(together.score - 0.5) <= 2 * together.error


def test_copies_do_not_predict_each_other(grouped):
    """And four copies are one draw: the error is that of twenty, not of eighty."""
    centres, _, _, y = grouped
    found = estimated(centres, y)
    assert abs(found.score - 0.5) <= 2 * found.error
    assert found.error == pytest.approx(np.sqrt(found.score * (1 - found.score) / 20))


def test_numbers(rng):
    x = rng.uniform(-1, 1, size=(COUNT, 2))
    found = estimated(x, x[:, 0] + 0.05 * rng.normal(size=COUNT))
    assert 0.7 < found.score <= 1
    assert found.guess == pytest.approx(0.0, abs=0.1)
    several = np.stack([x[:, 0], x[:, 1] ** 2], axis=1)
    several[::4, 0] = np.nan
    assert 0.3 < estimated(x, several).score <= 1
    assert estimated(x, rng.normal(size=COUNT)).score < 0.2


@pytest.mark.parametrize("given", [False, True])
def test_the_error_of_numbers_counts_groups_as_one_draw(grouped, monkeypatch, given):
    """By definition, of copies and of groups that were named."""
    seen = []
    monkeypatch.setattr(Numbers, "balanced", lambda self, scores, target: seen.append(scores))
    centres, noise, groups, _ = grouped
    y = centres[:, 0] + np.random.default_rng(0).normal(size=20)[groups]
    found = estimated(centres + given * noise, y, groups if given else None)
    scores = seen[0]
    assert found.score == pytest.approx(scores.mean())
    by_group = (scores - scores.mean()).reshape(20, 4).sum(1)
    assert found.error == pytest.approx(np.sqrt((by_group**2).sum()) / COUNT)
    assert found.error > 1.5 * scores.std() / np.sqrt(COUNT)


def test_every_choice_is_made_without_the_fold(rng, monkeypatch):
    """Each graph is predicted once, by a metric that was fitted to others alone."""
    y = np.arange(COUNT) % 2
    graphs = gml.as_graphs(single_nodes(np.arange(COUNT)[:, None] + 0.1 * rng.normal(size=(COUNT, 1))))
    fitted, measured = [], []
    fit, embed = gml.GraphMetric.fit, gml.GraphMetric.embed

    def spied_fit(self, given, *rest):
        if not self.estimate:
            fitted.append(np.rint(np.ravel(given.x)))
        return fit(self, given, *rest)

    def spied_embed(self, given):
        measured.append((len(fitted), np.rint(np.ravel(given.x))))
        return embed(self, given)

    monkeypatch.setattr(gml.GraphMetric, "fit", spied_fit)
    monkeypatch.setattr(gml.GraphMetric, "embed", spied_embed)
    assert gml.GraphMetric(**OPTIONS, estimate=True).fit(graphs, y).estimate_ is not None
    assert len(fitted) == 5
    held = []
    for number, known in enumerate(fitted, start=1):
        seen = np.concatenate([values for place, values in measured if place == number])
        held.append(np.setdiff1d(seen, known))
        assert len(held[-1]) + len(known) == COUNT
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(COUNT))


def test_several_labels(rng):
    """Those that a fold does not know to differ are left out there; graphs without any label count as right."""
    x = rng.normal(size=(COUNT, 2))
    y = (x > [0.0, 1.2]).astype(float)
    y[rng.random((COUNT, 2)) < 0.3] = np.nan
    seldom = np.full(COUNT, np.nan)
    seldom[:2] = (0.0, 1.0)
    found = estimated(x, np.column_stack([y, seldom]))
    assert found.score > found.guess + 2 * found.error
    assert found.guess_name == "the commoner value of each label"


def test_without_targets_there_is_nothing_to_estimate(rng):
    assert estimated(rng.normal(size=(20, 3)), None) is None


def test_few_graphs_are_compared_with_the_largest_class_and_are_never_certain():
    """By folds, the largest class of the others is always the wrong one here."""
    found = estimated(np.array([[0.0], [0.1], [9.0], [9.1]]), [0, 0, 1, 1])
    assert found.score in (0.0, 1.0)
    assert found.guess == 0.5
    assert found.error == pytest.approx(np.sqrt(5 / 6 * 1 / 6 / 6))


def test_folds_beside_which_nothing_differs():
    """All others are copies, or only the fold knows that a number differs: the guess stays."""
    import networkx as nx

    two = [nx.cycle_graph(5)] * 12 + [nx.path_graph(6)] * 12
    options = {"families": ["trees"], "random_state": 0, "estimate": True}
    found = gml.GraphMetric(**options).fit(two, np.arange(24) % 3 % 2).estimate_
    assert found.score <= found.guess
    graphs = [nx.gnp_random_graph(8, 0.4, seed=seed) for seed in range(20)]
    table = np.full((20, 2), np.nan)
    table[:, 0] = np.arange(20) == 0
    table[:2, 1] = 1.0, 2.0
    assert np.isfinite(gml.GraphMetric(**options).fit(graphs, table).estimate_.score)


def test_groups_and_the_task_reach_the_fit_without_the_fold(grouped, monkeypatch):
    """Whole numbers stay numbers, also in folds that look like classes."""
    centres, noise, groups, y = grouped
    fits, original = [], gml.GraphMetric.fit

    def spied(self, graphs, y=None, groups=None):
        fits.append((self.task, groups))
        return original(self, graphs, y, groups)

    monkeypatch.setattr(gml.GraphMetric, "fit", spied)
    metric = gml.GraphMetric(**OPTIONS, estimate=True, task="numbers", learn=False)
    metric.fit([(np.zeros((1, 1)), x[None]) for x in centres + noise], y, groups=groups)
    assert len(fits) == 6
    assert {task for task, _ in fits} == {"numbers"}
    assert all(len(np.unique(given)) >= 16 for _, given in fits)
