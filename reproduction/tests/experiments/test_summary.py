from pathlib import Path

import pytest

from graph_metric_learn_reproduction.experiments.records import Measured, Records
from graph_metric_learn_reproduction.experiments.summary import renew_summary, summary
from small_records import add_edges, add_outlook, add_sgml, add_unlabelled


def test_the_summary_is_renewed_between_its_marks(tmp_path):
    records = Records(tmp_path / "records")
    add_sgml(records, [0.6, 0.7])
    path = tmp_path / "README.md"
    path.write_text("top\n<!-- results -->\nold\n<!-- end of results -->\nrest\n")
    renew_summary(records, path)
    first = path.read_text()
    assert first.startswith("top\n<!-- results -->\n\n|  | largest class | paper's SGML k-NN |")
    assert first.endswith("\n\nGraphMetric: nothing measured yet.\n\n<!-- end of results -->\nrest\n")
    assert "old" not in first
    assert "| MUTAG (degree) |  | 90.0 ± 7.6 | 65.0 ± 5.0 (2 runs, 1 of 7 settings) |  | 89.0 ± 7.6 |  |  |" in first
    assert "\n\nSGML: k-NN, 1 of 11 cells measured" in first
    renew_summary(records, path)
    assert path.read_text() == first
    path.write_text("no marks")
    with pytest.raises(ValueError, match="no lines <!-- results -->"):
        renew_summary(records, path)


def test_edge_data_is_summed_up(tmp_path):
    records = Records(tmp_path)
    assert "edge data" not in summary(list(records))
    add_edges(records, "MUTAG", [0.9, 0.8], [0.7, 0.7])
    assert "directions. On average over 1 dataset, edge data changes the accuracy by +15.0 ± 5.0" in summary(
        list(records)
    )


def test_the_outlook_and_metrics_without_labels_are_summed_up(tmp_path):
    records = Records(tmp_path)
    assert "left for later" not in summary(list(records))
    assert "Without labels" not in summary(list(records))
    add_outlook(records, "MUTAG", "SGML", [0.7, 0.7], [0.9, 0.8])
    add_unlabelled(records, "MUTAG", "knn", {"graphmetric": [0.9, 0.8], "netlsd": [0.7, 0.7]})
    text = summary(list(records))
    assert "What the paper left for later. Nearest class means on SGML change the accuracy" in text
    assert "Without labels. k-NN with GraphMetric that saw no labels" in text


def test_the_documentation_shows_what_is_recorded():
    root = Path(__file__).parents[3]
    records = Measured(Records(root / "reproduction" / "results" / "records"))
    assert summary(records) in (root / "docs" / "results.md").read_text()
