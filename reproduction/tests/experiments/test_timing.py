import pytest

from graph_metric_learn_reproduction.experiments.timing import seconds


class Clock:
    """Stands still but for the work of `run`, which takes the given numbers of seconds, the last one ever after."""

    def __init__(self, *durations):
        self.now, self.durations, self.runs = 0.0, list(durations), 0

    def __call__(self):
        return self.now

    def run(self):
        self.runs += 1
        self.now += self.durations.pop(0) if len(self.durations) > 1 else self.durations[0]


def test_the_shortest_run_after_the_warm_up_counts():
    clock = Clock(0.125, 5.0, 0.25, 5.0)
    assert seconds(clock.run, budget=1.0, at_least=3, clock=clock) == 5.0  # over budget: no second run
    clock = Clock(0.125, 0.5, 0.25, 0.5)
    assert seconds(clock.run, budget=1.0, at_least=3, clock=clock) == 0.25
    assert clock.runs == 1 + 3


@pytest.mark.parametrize(
    ("duration", "budget", "at_least", "runs"),
    [
        (0.25, 1.0, 3, 4),  # until the budget is spent
        (0.75, 1.0, 3, 3),  # at least three, although the budget is spent
        (2.0, 1.0, 3, 1),  # one run is longer than the budget
        (2.0, 1.0, 1, 1),
    ],
)
def test_runs_go_on_while_the_budget_lasts(duration, budget, at_least, runs):
    clock = Clock(duration)
    assert seconds(clock.run, budget=budget, at_least=at_least, clock=clock) == duration
    assert clock.runs == 1 + runs


def test_a_very_long_warm_up_is_the_measurement():
    clock = Clock(21.0, 1.0)
    assert seconds(clock.run, budget=1.0, clock=clock) == 21.0
    assert clock.runs == 1
