"""The pages in `results/` are those that its records make, byte by byte."""

from pathlib import Path

from graph_metric_learn_reproduction.experiments.page import TITLE, gpu_limits, results_markdown
from graph_metric_learn_reproduction.experiments.records import Measured, Records
from graph_metric_learn_reproduction.pages.render import render_page

RESULTS = Path(__file__).parents[1] / "results"
FIGURES = {f"figures/{path.name}": path.read_bytes() for path in sorted((RESULTS / "figures").glob("*.png"))}


def test_the_page_is_made_from_the_records():
    records = Measured(Records(RESULTS / "records"))
    assert len(records) > 10_000
    text = results_markdown(records, FIGURES, gpu_limits(RESULTS / "bench" / "gpu.json"))
    assert text == (RESULTS / "README.md").read_text(encoding="utf-8")


def test_the_html_page_is_the_same_text():
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert render_page(TITLE, text, FIGURES) == (RESULTS / "index.html").read_text(encoding="utf-8")
