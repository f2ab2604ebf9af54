import json
import re
from importlib.resources import files

from graph_metric_learn_reproduction.experiments import choices, figure1, runtimes
from graph_metric_learn_reproduction.experiments.methods import grid
from graph_metric_learn_reproduction.experiments.page import results_markdown, write_page
from graph_metric_learn_reproduction.experiments.records import Records
from page_reader import Page
from small_records import (
    MUTAG,
    SECONDS,
    add_edges,
    add_graph_metric,
    add_numbers,
    add_outlook,
    add_sgml,
    add_unlabelled,
    config,
)


def test_the_page_shows_what_was_measured_beside_what_was_published(tmp_path):
    records = Records(tmp_path / "records")
    add_sgml(records, [0.6, 0.7])
    add_sgml(records, [0.5, 0.5], activation="none")
    add_sgml(records, [0.4, 0.4], zeros=0.75, n_epochs=0)
    records.add(runtimes.runtime_config("MUTAG", "rpw"), {"seconds": {"training": 0.125, "distances": 0.5}})
    records.add(figure1.point_config("RPW2", 10), {"seconds": 0.001})
    records.add(choices.tie_cells(1)[0], {"test": 0.9, "seconds": {"training": 1.0, "distances": 2.0}})
    source = write_page(records, tmp_path).read_text()
    text = (tmp_path / "README.md").read_text()
    assert "90.0 ± 7.6" in text
    assert "| SGML, RPW2, k-NN | 65.0 ± 5.0 (2 runs, 1 of 7 settings) |" in text
    assert "| authors' choices | 65.0 ± 5.0 (2 runs, 1 of 7 settings) (75 → 25 %) |" in text
    assert re.search(r"\| no ReLU \| 50.0 ± 0.0 \(2 runs, 1 of 7 settings\) \|.*\| -15.0 ± 5.0, p = 0.22 \|", text)
    assert "Below the paper by more than its own standard deviation: MUTAG (degree)." in text
    search = text.split("## Looking for the cause")[1].split("\n## ")[0]
    assert "| untrained | 40.0 ± 0.0 (2 runs, 1 of 7 settings) (75 → 75 %) | -25.0 ± 5.0, p = 0.14 |" in search
    assert "90.0 ± 0.0 (1 run), 2 s" in text
    assert "0.125" in text
    for name in ("accuracy", "runtimes", "figure1", "learning"):
        assert f"](figures/{name}.png)" in text
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    page = Page(source)
    page.assert_fetches_nothing()
    assert len(page.images) == 4
    assert "http" not in re.sub(r'src="data:[^"]*"', "", source)
    assert "65.0 ± 5.0" in page.text


def test_the_page_says_the_same_in_both_forms(tmp_path):
    records = Records(tmp_path / "records")
    add_sgml(records, [0.6, 0.7])
    page = Page(write_page(records, tmp_path).read_text())
    text = (tmp_path / "README.md").read_text()
    headings = re.findall("^## (.*)$", text, flags=re.M)
    assert len(page.ids) == len(headings) > 8
    shown = " ".join(page.text.split())
    assert all(heading in shown for heading in headings)
    for line in (line for line in text.splitlines() if line.startswith("| ")):
        assert all(cell in shown for cell in line.strip("| ").split(" | "))


def test_an_empty_page_leaves_out_what_is_not_measured(tmp_path):
    assert "Nothing measured yet." in write_page([], tmp_path).read_text()
    text = (tmp_path / "README.md").read_text()
    for heading in (
        "Edge data",
        "The paper's outlook",
        "Without labels",
        "Looking for the cause",
        "Figure 1",
        "Learning curves",
        "GPU",
    ):
        assert f"## {heading}" not in text
    assert "The three tie rules" not in text
    assert "\n\n\n" not in text


def test_the_page_shows_what_edge_data_is_worth(tmp_path):
    records = Records(tmp_path / "records")
    add_edges(records, "BZR_MD", [0.9, 0.8] * 2, [0.7] * 4)
    page = Page(write_page(records, tmp_path).read_text())
    section = (tmp_path / "README.md").read_text().split("## Edge data")[1].split("\n## ")[0]
    assert "| difference |  |  | +15.0 ± 2.9, p = 0.02 |  |  |  |" in section
    assert "| BZR\\_MD | labels (4 different) |" in section
    assert "| BZR\\_MD | 25 % | 75 % mean of labels, 25 % mean of edges |" in section
    assert "It helps on BZR_MD (+15.0 ± 2.9, p = 0.02)" in " ".join(page.text.split())


def test_the_page_shows_the_outlook_and_what_is_there_without_labels(tmp_path):
    records = Records(tmp_path / "records")
    add_outlook(records, "MUTAG", "SGML", [0.9, 0.8] * 2, [0.7] * 4)
    add_numbers(records, [1.5, 1.4], [1.25, 1.25])
    add_unlabelled(records, "MUTAG", "knn", {"graphmetric": [0.9, 0.8] * 2, "netlsd": [0.7] * 4})
    add_unlabelled(records, "MUTAG", "kmeans", {"graphmetric": [0.5, 0.25]})
    page = Page(write_page(records, tmp_path).read_text())
    text = (tmp_path / "README.md").read_text()
    outlook = text.split("## The paper's outlook")[1].split("\n## ")[0]
    assert "| SGML, k-NN | 85.0 ± 2.9 (4 splits) |  |" in outlook
    assert "| — less SGML, k-NN | -15.0 ± 2.9, p = 0.02 |" in outlook
    assert '| SGML, loss="mlkr", 5-NN | 1.250 ± 0.000 (2 splits) |' in outlook
    assert "they cost accuracy on MUTAG (-15.0 ± 2.9, p = 0.02)" in outlook
    unlabelled = text.split("## Without labels")[1].split("\n## ")[0]
    assert "| GraphMetric less NetLSD (heat) | +15.0 ± 2.9, p = 0.02 |" in unlabelled
    assert "0.38 ± 0.12 (2 seeds)" in unlabelled
    assert "ahead on MUTAG (+15.0 ± 2.9, p = 0.02)" in " ".join(page.text.split())


def test_the_page_compares_with_rivals(tmp_path):
    records = Records(tmp_path / "records")
    add_graph_metric(records, [0.9, 0.8] * 2, head="head-auto")
    write_page(records, tmp_path)
    assert "Nadeau" not in (tmp_path / "README.md").read_text()
    for run in range(4):
        records.add(config("gin", "own", run, *grid(MUTAG, "gin")), {"validation": 1, "test": 0.7, "seconds": SECONDS})
    write_page(records, tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "| GIN | +15.0 ± 2.9, p = 0.02, 4 splits |" in text
    assert "(Nadeau, Bengio 2003)" in text


def test_names_in_records_are_escaped(tmp_path):
    hostile = "</script><b>![x](http://example.org/x.png)|"
    records = Records(tmp_path / "records")
    add_graph_metric(records, [0.9], part=hostile)
    source = write_page(records, tmp_path).read_text()
    page = Page(source)
    page.assert_fetches_nothing()
    assert hostile in page.text
    assert "</script>" not in source
    assert "b" not in page.tags


def test_measurements_of_the_gpu_are_shown(tmp_path):
    targets = [
        {"what": "10 nearest", "value": 0.4196, "unit": "s", "limit": 3.0, "at_most": True},
        {"what": "share", "value": 0.7142, "unit": "", "limit": 0.6, "at_most": False},
    ]
    limits = {"product": 51.16e12, "copy": 55.3e9}
    measured = {"machine": {"gpu": "Card <1>"}, "targets": targets, "numbers": {"limits": limits}}
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "gpu.json").write_text(json.dumps(measured))
    page = Page(write_page([], tmp_path).read_text())
    text = " ".join(page.text.split())
    assert "on one Card <1>: float32" in text
    assert "51.2 TFLOP/s for a matrix product, 55 GB/s for a copy" in text
    assert "| 10 nearest | 0.42 s | ≤ 3 |\n| share | 0.714 | ≥ 0.6 |" in (tmp_path / "README.md").read_text()
    assert page.ids[-1] == "gpu"


def test_prose_is_in_the_package_data():
    prose = {path.name for path in files("graph_metric_learn_reproduction.pages").joinpath("prose").iterdir()}
    assert prose == {
        "edges.md", "graph_metric.md", "outlook.md", "results.md", "sgml.md", "summary.md", "unlabelled.md",
    }  # fmt: skip


def test_figures_that_are_not_drawn_are_not_linked():
    assert "figures/learning.png" in results_markdown([], ["figures/learning.png"])
    assert "figures/learning.png" not in results_markdown([], [])
