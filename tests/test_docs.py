"""Documentation stays true: Python runs, links lead somewhere, the reference is complete."""

import inspect
import json
import re
from functools import reduce
from importlib import import_module

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.embeddings import EMBEDDINGS
from graph_metric_learn.features.blocks import BLOCKS
from graph_metric_learn.metrics import METRICS
from graph_metric_learn.metrics.explanation import Explanation
from graph_metric_learn.metrics.sgml.losses import LOSSES
from graph_metric_learn.objectives import OBJECTIVES
from graph_metric_learn.transport.engines import ENGINES, choose_engine
from graph_metric_learn_reproduction.baselines import BASELINES
from graph_metric_learn_reproduction.experiments.methods import method_names
from markdown_pages import DOCS, ROOT, anchors, blocks, links, run_python

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
API, REFERENCE = ((ROOT / "docs" / name).read_text() for name in ("api.md", "reference.md"))
SIGNATURES = re.findall(r"^- (.*)$", API, flags=re.MULTILINE)
SIGNATURES = [found for line in SIGNATURES for found in re.findall(r"`([A-Za-z_.]+\([^`]*\))`", line.split(": ")[0])]


def reach(name):
    """A public name, or a module."""
    return getattr(gml, name) if name in gml.__all__ else import_module(f"graph_metric_learn.{name}")


def path_of(page):
    return str(page.relative_to(ROOT))


# --- the reference ---------------------------------------------------------------------------------------------------


def signature(thing):
    """Names and defaults, as one would write a call: no annotations, no self."""
    found = inspect.signature(thing)
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=parameters, return_annotation=found.empty)).replace("'", '"')


@pytest.mark.parametrize("name", gml.__all__)
def test_every_public_name_has_a_line(name):
    assert re.search(rf"^- `{name}[(`]", API, flags=re.MULTILINE), f"docs/api.md has no line for {name}"


@pytest.mark.parametrize("name", gml.__all__)
def test_every_public_name_has_a_page(name):
    assert re.search(rf"^   {name}$", REFERENCE, flags=re.MULTILINE), f"docs/reference.md does not list {name}"


def test_every_listed_name_is_there():
    listed = re.findall(r"^   ([A-Za-z][\w.]*)$", REFERENCE, flags=re.MULTILINE)
    assert len(listed) == len(set(listed)) > 60
    for name in listed:
        first, *rest = name.split(".")
        home = import_module("graph_metric_learn.metrics.explanation") if "explanation" in rest else gml
        thing = getattr(home, rest[-1]) if home is not gml else reduce(getattr, rest, reach(first))
        assert inspect.getdoc(thing), name


def test_the_reference_has_signatures():
    assert len(SIGNATURES) > 40


@pytest.mark.parametrize("written", SIGNATURES)
def test_signatures_are_those_of_the_code(written):
    name = written.partition("(")[0]
    first, *rest = name.split(".")
    thing = reduce(getattr, rest, Explanation if first == "Explanation" else getattr(gml, first))
    assert written == name + signature(thing)


# --- all pages -------------------------------------------------------------------------------------------------------


def test_molecules_run():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    names = run_python(ROOT / "docs" / "molecules.md")
    found = names["regressor"].predict(gml.from_smiles(["CCCC(C)CO", "CC(C)CCCN"]))
    assert found == pytest.approx([102.2, 101.2], abs=1)  # what the page says they weigh


def test_many_graphs_run():
    names = run_python(ROOT / "docs" / "many_graphs.md")
    assert names["ids"][0, 0] == "wheel 12"  # what the page says
    assert names["notes"][0][0] == {"nodes": 12}
    assert len(names["index"]) == 78
    assert "wheel 70" not in names["reader"]
    assert len(names["vectors"]) == 35
    np.testing.assert_array_equal(names["same"], names["metric"].transform(names["wheels"] + names["trees"]))


def test_requests_are_answered_as_the_page_says(tmp_path, monkeypatch):
    httpx = pytest.importorskip("httpx", reason="needs graph-metric-learn[serve] and httpx")
    pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
    from graph_metric_learn.cli import serve
    from graph_metric_learn.cli.parser import command_parser
    from running_server import Running

    page = ROOT / "docs" / "serve.md"
    monkeypatch.chdir(tmp_path)
    run_python(ROOT / "docs" / "serve.md")
    app, _ = serve.application(command_parser().parse_args(["serve", "model", "index"]))
    running = Running(app)
    parts = re.findall(r"^### (POST|GET) (/\w+)(.*?)(?=^##)", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert [way for _, way, _ in parts] == ["/predict", "/neighbors", "/neighbors", "/explain", "/health"]
    try:
        for verb, way, text in parts:
            bodies = [json.loads(one) for one in re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
            options = {"json": bodies[0]} if verb == "POST" else {}
            answer = httpx.request(verb, running.address + way, timeout=60, **options)
            assert answer.status_code == 200
            assert_alike(answer.json(), bodies[-1])
    finally:
        running.stop()


def assert_alike(found, written):
    """The same fields and words; numbers to the digits that a page shows."""
    if isinstance(written, dict):
        assert found.keys() == written.keys()
        for name, value in written.items():
            assert_alike(found[name], value)
    elif isinstance(written, list):
        assert len(found) == len(written)
        for one, other in zip(found, written, strict=True):
            assert_alike(one, other)
    elif isinstance(written, float):
        assert found == pytest.approx(written, abs=0.005)
    else:
        assert found == written


def test_mathematics_runs():
    assert "x" in run_python(ROOT / "docs" / "mathematics.md")


def test_start_runs():
    names = run_python(ROOT / "docs" / "start.md")
    assert list(names["classifier"].predict(names["new"])) == ["mixed", "split"]
    assert names["on_pyg"].score(names["test"], [int(graph.y) for graph in names["test"]]) > 0.9
    assert names["named"].names_[names["indices"]][0, 0] == "mixed, 6 atoms"


def test_edges_run():
    names = run_python(ROOT / "docs" / "edges.md")
    assert names["weighted"].score(names["networks"][40:], names["communities"][40:]) == 1  # what the page says


def test_targets_run():
    names = run_python(ROOT / "docs" / "targets.md")
    samples, counts = names["samples"], names["counts"]
    assert names["regressor"].predict(samples[50:]) == pytest.approx(counts[50:], abs=1)
    assert names["both"].predict(samples[50:52]).shape == (2, 2)
    assert "no targets" in names["unsupervised"].report_
    assert len(names["scores"]) == 3


def test_predictors_run():
    names = run_python(ROOT / "docs" / "predictors.md")
    new, kinds, samples = names["new"], names["kinds"], names["samples"]
    assert names["chooser"].score(samples[50:], names["many"][50:]) > 0.8
    assert names["svm_on_it"].chosen_["head"] == "svc"
    assert names["measured"].estimate_.score > names["measured"].estimate_.guess
    assert "accuracy of neighbours on new graphs about" in names["measured"].report_
    assert names["distances"].shape == (2, 3)
    assert names["distances"][0, 0] > 0  # a look-alike, not the graph itself,
    assert names["classifier"].kneighbors(new[:1])[0][0, 0] == 0  # which was added then
    assert [kinds[row[0]] for row in names["indices"]] == ["mixed", "split"]
    assert list(names["ncm"].predict(new)) == ["mixed", "split"]
    assert list(names["svm"].predict(new)) == ["mixed", "split"]
    assert names["search"].best_score_ > 0.9


def test_explain_runs():
    names = run_python(ROOT / "docs" / "explain.md")
    assert len(str(names["why"]).splitlines()) == 3  # what the page says
    assert sum(names["why"].term_share.values()) == pytest.approx(1)
    assert "<title>Rings" in names["page"].read_text()


def test_vectors_run():
    names = run_python(ROOT / "docs" / "vectors.md")
    assert names["vectors"].shape[0] == 20
    assert names["matrix"][0, 2] == pytest.approx(3**0.5)
    assert float(names["points"].grad.abs().sum()) > 0
    assert names["which"].shape == (20, 2)


def test_serve_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the page writes folders
    assert list(run_python(ROOT / "docs" / "serve.md")["loaded"].predict([nx.cycle_graph(30)])) == ["ring"]


@pytest.fixture
def registries():
    """All registries; what a test adds to them is removed again."""
    assert {gml.GraphMetric.__name__, gml.SGML.__name__} <= set(METRICS)  # imported now, or they would be removed too
    found = (BASELINES, BLOCKS, EMBEDDINGS, ENGINES, LOSSES, METRICS, OBJECTIVES)
    before = [dict(registry) for registry in found]
    yield found
    for registry, entries in zip(found, before, strict=True):
        registry.clear()
        registry.update(entries)


def test_extending_runs(registries, tmp_path):
    before = [set(registry) for registry in registries]
    names = run_python(ROOT / "docs" / "extending.md")
    added = {name for registry, known in zip(registries, before, strict=True) for name in set(registry) - known}
    assert added == {"degrees", "walks", "moments", "presence", "direct", "contrastive", "CountMetric", "grades"}
    graphs, grades = names["graphs"], names["metric"]
    unasked = {"mean of walks", "moments of walks", "moments of degree", "presence of trees 0–1"}
    assert unasked <= set(grades.choice_.scores)  # candidates like any other
    assert grades.choice_.accuracy > 0.9
    loaded = gml.load(grades.save(tmp_path / "grades"))
    assert isinstance(loaded.objective_, names["Grades"])
    assert np.array_equal(loaded.pairwise_distances(graphs), grades.pairwise_distances(graphs))
    assert names["by_name"].history_.loss == names["as_function"].history_.loss
    assert names["by_name"].history_.loss[-1] < names["by_name"].history_.loss[0]
    loaded = gml.load(names["classifier"].save(tmp_path / "counts"))
    assert isinstance(loaded.metric_, names["CountMetric"])
    assert list(loaded.predict([nx.cycle_graph(5), nx.ladder_graph(16)])) == ["ring", "ladder"]
    vectors = names["covariance_vectors"](names["clouds"])
    assert choose_engine(vectors.as_step_functions()) is ENGINES["direct"]
    plain = [np.cov(cloud.T).ravel() for cloud in names["clouds"]]
    assert gml.pairwise_distances(vectors)[0, 1] == pytest.approx(np.linalg.norm(plain[0] - plain[1]))
    assert "degrees" in method_names()
    assert BASELINES["degrees"]().distances(graphs)[0, 1] == 0  # two rings: every node has two neighbours
    assert len(names["dataset"]) == 24


def test_every_page_with_python_is_run():
    here = (ROOT / "tests" / "test_docs.py").read_text()
    for page in DOCS:
        assert not blocks(page, "python") or f'"{page.name}")' in here, f"{page.name} has Python that no test runs"


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), f"{target}#{anchor}"


@pytest.mark.parametrize("page", DOCS, ids=path_of)
def test_every_page_can_be_reached_from_the_readme(page):
    assert (path_of(page), "") in links(ROOT / "README.md")


def test_one_page_holds_the_results():
    assert [path_of(page) for page in PAGES if "<!-- results -->" in page.read_text()] == ["docs/results.md"]
