import numpy as np
import pytest

from graph_metric_learn_reproduction.experiments import differences
from graph_metric_learn_reproduction.experiments.differences import compared


def record(run, test, **config):
    return {"key": str(run), "config": {"run": run, "dataset": "MUTAG", **config}, "result": {"test": test}}


def test_scores_are_those_of_what_was_asked_for_by_split():
    records = [record(1, 0.5, model={}), record(0, 0.25, model={}), record(2, 0.75, model={"depth": 1})]
    records.append({"key": "x", "config": {"run": 3, "dataset": "MUTAG", "model": {}}, "result": {"failure": "no"}})
    found = differences.scores_of(records, {"dataset": "MUTAG", "model": {}}, 100.0)
    assert list(found.items()) == [(0, 25.0), (1, 50.0)]
    assert differences.scores_of(records, {"dataset": "NCI1"}) == {}


def test_a_cell_says_how_many_splits_it_has():
    scores = {run: float(run % 2) for run in range(10)}
    error = np.std(list(scores.values()), ddof=1) / np.sqrt(10)
    assert differences.scores_text(scores, 3) == f"0.500 ± {error:.3f}"
    assert differences.scores_text({0: 1.0, 4: 2.0}, unit="seed", full=5) == "1.5 ± 0.5 (2 seeds)"
    assert differences.scores_text({0: -0.001}, 2) == "0.00 (1 split)"


def test_only_splits_that_both_have_are_compared():
    found = compared({0: 60.0, 1: 80.0, 2: 10.0}, {0: 50.0, 1: 72.0, 5: 1.0})
    assert (found.difference, found.error) == pytest.approx((9.0, 1.0))
    assert str(found) == "+9.0 ± 1.0, p = 0.08"  # corrected: the error of the test is sqrt((1/2 + 1/9) 2)
    assert found.in_words("points") == "+9.0 ± 1.0 points (p = 0.08)"
    assert compared({0: 1.0}, {1: 1.0}) is None
    assert compared({0: 1.0}, {0: 0.5}, 3).in_words("points") == "+0.500 points"


def test_the_average_counts_each_dataset_the_same():
    both = {"A": compared({0: 1.0, 1: 3.0}, {0: 0.0, 1: 0.0}), "B": compared({0: 4.0, 1: 4.0}, {0: 0.0, 1: 0.0})}
    found = differences.average(both)
    assert found.difference == pytest.approx(3.0)
    assert found.error == pytest.approx(np.sqrt(1.0**2 + 0.0**2) / 2)


def test_what_is_clear_and_what_may_be_chance():
    splits = range(4)
    zero = dict.fromkeys(splits, 0.0)
    found = differences.compared_by_dataset(
        {
            "up": {run: 5.0 + run % 2 for run in splits}, "down": {run: -5.0 - run % 2 for run in splits},
            "either": {run: 5.0 * (-1) ** run + 1 for run in splits}, "not measured": {},
        },
        dict.fromkeys(("up", "down", "either", "not measured"), zero),
    )  # fmt: skip
    verdict = differences.judged(found)
    assert {name: list(which) for name, which in verdict.items()} == {
        "better": ["up"], "worse": ["down"], "unclear": ["either"],
    }  # fmt: skip


def test_rows_have_an_average_only_if_nothing_is_missing():
    scores = {"A": {0: 1.0, 1: 3.0}, "B": {0: 4.0, 1: 6.0}}
    assert differences.score_row("ours", scores, full=2) == ["ours", "2.0 ± 1.0", "5.0 ± 1.0", "3.5"]
    assert differences.score_row("ours", {**scores, "C": {}}, full=2)[-2:] == ["", ""]
    found = {"A": compared({0: 1.0}, {0: 0.0})}
    assert differences.difference_row("less theirs", found, ["A"]) == ["less theirs", "+1.0", "+1.0"]
    assert differences.difference_row("less theirs", found, ["A", "B"]) == ["less theirs", "+1.0", "", ""]
