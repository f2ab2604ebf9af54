from graph_metric_learn_reproduction.experiments.judgements import graph_metric_judgement, sgml_judgement
from graph_metric_learn_reproduction.experiments.records import Records
from graph_metric_learn_reproduction.experiments.runner import cells
from small_records import MUTAG, add_graph_metric, add_sgml


def test_nothing_measured():
    assert sgml_judgement([]) == "Nothing measured yet."
    assert graph_metric_judgement([]) == "GraphMetric: nothing measured yet."


def test_sgml_is_judged_against_the_paper(tmp_path):
    records = Records(tmp_path / "near")
    add_sgml(records, [0.85, 0.85])  # published: 90.0 ± 7.6
    assert sgml_judgement(list(records)) == (
        "k-NN, 1 of 11 cells measured: on average -5.0 points against the paper, the median -5.0. "
        "No cell is below the paper's mean by more than the paper's own standard deviation."
    )
    records = Records(tmp_path / "below")
    add_sgml(records, [0.8, 0.8])
    text = sgml_judgement(list(records))
    assert text.endswith("Below the paper by more than its own standard deviation: MUTAG (degree).")


def test_graph_metric_is_judged_against_the_paper_and_the_others(tmp_path):
    records = Records(tmp_path)
    add_graph_metric(records, [0.92, 0.92])
    assert graph_metric_judgement(list(records)) == (
        "GraphMetric's k-NN against that of the paper's SGML: at least its mean on 1 of 1 tasks; the median difference "
        "is +2.0 points, the mean +2.0 (MUTAG (degree) alone: +2.0). The better of GraphMetric's k-NN and the "
        "head that it chooses by itself is at least the best number in the paper's tables on 1: MUTAG (degree). The "
        "best of all other systems run here, by test accuracy, is ahead of both on 0."
    )
    for config in cells(MUTAG, "wl-oa", "authors", 2, ["svm"]):
        records.add(config, {"validation": 0.9, "test": 0.95, "seconds": {"training": 0.0, "distances": 1.0}})
    text = graph_metric_judgement(list(records))
    assert text.endswith(
        "is ahead of both on 1 (differences are taken before rounding): MUTAG (degree), 95.0 with WL-OA, SVM (2 runs), "
        "against 92.0 (3.0 more)."
    )


def test_means_are_compared_in_tenths(tmp_path):
    """The paper prints no more; and the mean of ten shares may miss 90.0 by rounding."""
    records = Records(tmp_path)
    add_graph_metric(records, [0.9 - 1e-12, 0.9 - 1e-12])  # published: 90.0
    for config in cells(MUTAG, "wl-oa", "authors", 2, ["svm"]):
        records.add(config, {"validation": 0.9, "test": 0.9001, "seconds": {"training": 0.0, "distances": 1.0}})
    text = graph_metric_judgement(list(records))
    assert "at least its mean on 1 of 1 tasks; the median difference is +0.0 points" in text
    assert "at least the best number in the paper's tables on 1: MUTAG (degree)." in text
    assert text.endswith("is ahead of both on 0.")


def test_differences_are_taken_before_rounding(tmp_path):
    records = Records(tmp_path)
    add_graph_metric(records, [0.9204, 0.9204])  # 92.0
    for config in cells(MUTAG, "wl-oa", "authors", 2, ["svm"]):
        records.add(config, {"validation": 0.9, "test": 0.9226, "seconds": {"training": 0.0, "distances": 1.0}})
    text = graph_metric_judgement(list(records))  # 92.3 less 92.0 would be 0.3
    assert text.endswith("MUTAG (degree), 92.3 with WL-OA, SVM (2 runs), against 92.0 (0.2 more).")


def test_neighbours_are_compared_with_the_head_chosen_by_itself(tmp_path):
    records = Records(tmp_path)
    add_graph_metric(records, [0.9, 0.8])
    assert "less the head" not in graph_metric_judgement(list(records))
    add_graph_metric(records, [0.95, 0.8, 0.1], head="head-auto")
    assert graph_metric_judgement(list(records)).endswith(
        "GraphMetric's k-NN less the head that it chooses by itself, on the same splits: -2.5 points on average over 1 "
        "task, the median -2.5."
    )
