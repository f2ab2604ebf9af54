"""The README keeps its word: it is short, its Python runs, and its results are those of docs/."""

import re
import statistics

import pytest
from sklearn.metrics import adjusted_rand_score

from markdown_pages import ROOT, blocks, run_python, shell_lines

README = ROOT / "README.md"
TEXT = README.read_text()
SAID = " ".join(TEXT.split())  # whatever the line breaks
RESULTS, SPEED = ((ROOT / "docs" / name).read_text() for name in ("results.md", "speed.md"))


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) < 200


@pytest.fixture(scope="module")
def names():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    return run_python(README)


def test_snippets_learn_something(names):
    assert list(names["classifier"].predict([names["acid"], names["ester"]])) == ["acid", "ester"]
    assert names["learned"].score(names["networks"][40:], names["communities"][40:]) == 1  # what it says
    assert adjusted_rand_score(names["communities"], names["clusters"]) == 1
    assert names["ids"].shape == (1, 3)
    assert len(names["index"]) == 59


def test_the_readme_has_commands():
    calls = [command.split()[1] for command, _ in shell_lines(README) if command.startswith("graph-metric-learn")]
    assert {"fit", "predict", "explore"} <= set(calls)


def test_make_has_two_commands_here():
    targets = re.findall(r"^make (\w+)", "".join(blocks(README, "bash")), flags=re.MULTILINE)
    assert targets == ["demo", "test"]


def test_the_picture_is_that_of_the_explorer():
    assert "docs/images/explorer-digits.png" in TEXT
    assert not (ROOT / "docs" / "images" / "demo.png").exists()


def table(text, head):
    """Rows of the table whose first line starts so, as lists of cells."""
    lines = text[text.index(head) :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|---")]


def test_results_are_those_of_the_results_page():
    head, *rows = table(RESULTS, "|  | largest class")
    means = {name: [float(row[i].split()[0]) for row in rows] for i, name in enumerate(head) if i}
    paper, ours, chosen = (means[f"{who} k-NN"] for who in ("paper's SGML", "SGML", "GraphMetric"))
    against = [b - a for a, b in zip(paper, ours, strict=True)]
    said = f"by {statistics.mean(against):+.1f} points on average, by {statistics.median(against):+.1f} in the median"
    assert said in SAID
    gains = [b - a for a, b in zip(paper, chosen, strict=True)]
    assert f"on {sum(gain >= 0 for gain in gains)} of {len(gains)} tasks, with a median difference of " in SAID
    assert f"median difference of {statistics.median(gains):+.1f} points" in SAID
    behind = [float(gap) for gap in re.findall(r", against \d+\.\d \((\d+\.\d) more\)", RESULTS)]
    assert f"on {len(behind)} of {len(rows)} tasks the best of all" in SAID
    assert f"by {min(behind)} to {max(behind)} points" in SAID


def test_where_others_are_ahead_beyond_noise():
    head, *rows = table((ROOT / "results" / "README.md").read_text(), "| GraphMetric, head chosen by itself, less")
    tests = {(row[0], head[i]): re.match(r"-.* p \\?[=<] \\?(\d\.\d+)", row[i]) for row in rows for i in range(1, 12)}
    assert len(tests) > 100
    assert not [pair for pair, found in tests.items() if found and float(found[1]) < 0.05]
    assert "beyond noise on none." in SAID


def test_seconds_are_those_of_the_speed_page():
    head, train, paper_train, distances, paper_distances, choose = table(SPEED, "| | BZR")
    nci1 = head.index("NCI1")
    assert f"takes {train[nci1]} s to train and {distances[nci1]} s for all distances" in SAID
    assert paper_train[nci1] == paper_distances[nci1]
    assert f"the paper reports {paper_train[nci1]} s for each" in SAID
    seconds = sorted(choose[1:], key=float)
    assert f"`GraphMetric` takes {seconds[0]} to {seconds[-1]} s per dataset" in SAID
