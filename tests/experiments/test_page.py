import re
from html.parser import HTMLParser

from graph_metric_learn.experiments.page import write_page
from graph_metric_learn.experiments.settings import PRESETS


def record(depth, run, test, **model):
    config = {
        "dataset": "MUTAG", "features": "degree", "method": "rpw", "classifier": "knn", "run": run,
        "model": {"distance": "rpw", "depth": depth, **PRESETS["authors"], **model},
    }  # fmt: skip
    seconds = {"training": 0.1, "distances": 0.01, "classifier": 0.01}
    result = {"validation": 0.8, "test": test, "zeros": 0.25, "loss": [1.0] * 10, "seconds": seconds}
    return {"key": f"{depth}{run}{model}", "config": config, "result": result}


def test_the_page_shows_what_was_measured_beside_what_was_published(tmp_path):
    records = [record(2, run, 0.6 + 0.1 * run) for run in range(2)]
    records += [record(2, run, 0.5, activation="none") for run in range(2)]
    page = write_page(records, tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert "90.0 ± 7.6" in text
    assert "65.0 ± 5.0 (2 runs)" in text
    assert "65.0 ± 5.0 (25 %)" in text
    assert "| no ReLU | 50.0 ± 0.0 (25 %) |" in text
    assert "MUTAG (degree) (65.0 against 90.0 ± 7.6)" in text
    for name in re.findall(r"\(figures/(.*?)\)", text):
        assert (tmp_path / "figures" / name).read_bytes().startswith(b"\x89PNG")
    source = page.read_text()
    HTMLParser().feed(source)
    assert "http" not in re.sub(r'src="data:[^"]*"', "", source)
    assert "65.0 ± 5.0" in source


def test_an_empty_page(tmp_path):
    assert "Nothing measured yet." in write_page([], tmp_path).read_text()
