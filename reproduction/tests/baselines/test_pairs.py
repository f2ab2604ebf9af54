import joblib
import numpy as np
import pytest

from graph_metric_learn_reproduction.baselines import FGW, W2, EntropicW2, SolverFailure, pairs
from small_graphs import random_graphs


class Counting(W2):
    """W2 that remembers how often it solved, and can break down."""

    def __init__(self, *, breaks_after=None, shift=0.0):
        self.breaks_after, self.shift = breaks_after, shift
        self.solved_ = 0

    @property
    def params(self):
        return {"shift": self.shift}

    def pair(self, one, other):
        if self.solved_ == self.breaks_after:
            raise KeyboardInterrupt
        self.solved_ += 1
        return super().pair(one, other) + self.shift


@pytest.fixture
def graphs(rng):
    return random_graphs(rng, 12)


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    monkeypatch.setattr(pairs, "PAIRS_PER_TASK", 15)


@pytest.mark.parametrize("jobs", [2, -1])
def test_workers_give_the_same_matrix(graphs, jobs):
    np.testing.assert_array_equal(FGW().distances(graphs, jobs=jobs), FGW().distances(graphs))


def test_any_joblib_backend_serves(graphs):
    expected = W2().distances(graphs)
    with joblib.parallel_config("threading"):
        np.testing.assert_array_equal(W2().distances(graphs, jobs=2), expected)


def test_every_pair_is_solved_once(graphs):
    system = Counting()
    system.distances(graphs)
    assert system.solved_ == 12 * 11 // 2


def test_an_interrupted_matrix_is_resumed_without_repeating_finished_rows(graphs, tmp_path):
    file = tmp_path / "w2.npz"
    with pytest.raises(KeyboardInterrupt):
        Counting(breaks_after=40).distances(graphs, checkpoint=file)
    with np.load(file, allow_pickle=False) as stored:
        finished = stored["done"].sum()
    assert 0 < finished < 12
    second = Counting()
    result = second.distances(graphs, checkpoint=file)
    assert second.solved_ == sum(range(12 - finished))
    np.testing.assert_array_equal(result, Counting().distances(graphs))
    third = Counting(breaks_after=0)
    np.testing.assert_array_equal(third.distances(graphs, checkpoint=file), result)


@pytest.mark.parametrize("change", ["parameter", "features", "edges", "damage", "other file"])
def test_a_checkpoint_of_something_else_is_replaced(graphs, tmp_path, change):
    file = tmp_path / "w2.npz"
    Counting().distances(graphs, checkpoint=file)
    system = Counting(shift=1.0 if change == "parameter" else 0.0)
    adjacency, x = graphs[3]
    if change == "features":
        graphs = [*graphs[:3], (adjacency, x + 1.0), *graphs[4:]]
    elif change == "edges":
        graphs = [*graphs[:3], (1.0 - adjacency, x), *graphs[4:]]
    elif change == "damage":
        file.write_bytes(file.read_bytes()[:100])
    elif change == "other file":
        np.savez(file, something=np.zeros(3))
    expected = Counting(shift=system.shift).distances(graphs)
    np.testing.assert_array_equal(system.distances(graphs, checkpoint=file), expected)
    assert system.solved_ == 66
    np.testing.assert_array_equal(
        Counting(shift=system.shift, breaks_after=0).distances(graphs, checkpoint=file), expected
    )


@pytest.mark.parametrize("cause", [float("nan"), float("inf"), UserWarning("did not converge"), SolverFailure("broke")])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_names_the_system_the_pair_and_the_cause(graphs, cause, jobs):
    with joblib.parallel_config("threading"), pytest.raises(SolverFailure, match=r"w2 failed on graphs 4 and 9: .+"):
        Failing(cause=cause).distances(graphs, jobs=jobs)


class Failing(W2):
    def __init__(self, *, cause):
        self.cause = cause

    def prepare(self, graphs):
        return list(range(len(graphs)))

    def pair(self, one, other):
        if (one, other) != (4, 9):
            return 1.0
        if isinstance(self.cause, float):
            return self.cause
        raise self.cause


def test_failures_come_back_from_processes(graphs):
    with pytest.raises(SolverFailure, match=r"w2-entropic failed on graphs \d and \d: .+"):
        EntropicW2(reg=1e-9).distances(graphs, jobs=2)


@pytest.mark.parametrize("system", [W2(), FGW(), EntropicW2()])
def test_the_estimate_is_the_time_of_all_pairs(system, graphs, ticking_clock):
    """Every pair takes one tick, and so does the preparation."""
    ticking_clock(pairs)
    assert system.estimate_seconds(graphs, pairs=20) == 1 + 12 * 11 / 2
    assert system.estimate_seconds(graphs, pairs=20, limit=3.0) == 1 + 12 * 11 / 2


def test_the_estimate_of_one_graph_is_its_preparation(graphs, ticking_clock):
    ticking_clock(pairs)
    assert W2().estimate_seconds(graphs[:1]) == 1


def test_a_closed_form_needs_no_solver(graphs):
    class Known(Counting):
        needs = ("a package that nobody has",)

        def closed_form(self, graphs):
            return np.full((len(graphs), len(graphs)), 7.0)

    system = Known()
    assert (system.distances(graphs) == 7).all()
    assert system.solved_ == 0


def test_one_graph_has_one_distance(graphs):
    np.testing.assert_array_equal(W2().distances(graphs[:1]), [[0.0]])


def test_progress_counts_pairs_when_asked(graphs, capsys):
    W2().distances(graphs, progress=True)
    assert "66/66" in capsys.readouterr().err
    W2().distances(graphs, progress=False)
    assert capsys.readouterr().err == ""
