"""The README keeps its word: its Python runs, its commands parse, its links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from graph_metric_learn import cli

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture(scope="module")
def names():
    """What the Python blocks leave behind, run one after the other in one namespace."""
    namespace = {"__name__": "readme"}
    for number, block in enumerate(blocks("python"), start=1):
        exec(compile(block, f"README.md, Python block {number}", "exec"), namespace)
    return namespace


def test_quickstarts_learn_something(names):
    test, classifier = names["test"], names["classifier"]
    assert classifier.score(test, [int(graph.y) for graph in test]) > 0.9
    assert len(classifier.y_) == 200  # after adding the test graphs, saving and loading
    looked_up = names["metric"].pairwise_distances(
        [names["ring"]("CNCNCNNC"), names["ring"]("CCCCCNNN")], names["rings"]
    )
    assert [names["kinds"][i] for i in looked_up.argmin(axis=1)] == ["mixed", "split"]
    assert names["search"].best_score_ > 0.9


def test_the_rest_runs_too(names):
    assert names["distances"][0, 0] > 0  # a look-alike, not the graph itself
    assert names["classifier"].kneighbors(names["test"][:1])[0][0, 0] == 0  # which was added then
    assert names["vectors"].shape[0] == 20
    assert names["why"].plan.sum() == pytest.approx(1)
    assert names["matrix"][0, 2] == pytest.approx(3**0.5)
    assert float(names["points"].grad.abs().sum()) > 0


def commands():
    lines = "".join(blocks("bash")).splitlines()
    return [line.partition("#")[0].strip() for line in lines if line.startswith("graph-metric-learn")]


def test_the_readme_has_commands():
    assert {shlex.split(command)[1] for command in commands()} == {"fit", "predict", "distances"}


@pytest.mark.parametrize("command", commands())
def test_commands_parse(command):
    assert cli._parser().parse_args(shlex.split(command)[1:]).run


def test_make_targets_exist():
    targets = re.findall(r"^make (\w+)", "".join(blocks("bash")), flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"\n{target}:" in makefile for target in targets)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/api.md", "docs/mathematics.md"])
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target, anchor in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]*)(#[^)]*)?\)", path.read_text()):
        if target.startswith("http"):
            continue
        linked = path.parent / target if target else path
        assert linked.exists(), target
        if anchor:
            assert anchor[1:] in anchors(linked), target + anchor


def anchors(page):
    """The names GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
