"""Documentation stays true: Python runs, links lead somewhere, names and keywords exist."""

import ast
import inspect
import json
import os
import re
from functools import reduce
from importlib import import_module

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.embeddings import EMBEDDINGS
from graph_metric_learn.features.blocks import BLOCKS
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics import METRICS
from graph_metric_learn.metrics.automatic.recipes import FAMILIES, Carried, recipes_for
from graph_metric_learn.metrics.sgml.losses import LOSSES
from graph_metric_learn.objectives import OBJECTIVES
from graph_metric_learn.transport.engines import ENGINES, choose_engine
from graph_metric_learn_reproduction.baselines import BASELINES
from graph_metric_learn_reproduction.experiments.methods import method_names
from markdown_pages import DOCS, ROOT, anchors, blocks, inline_code, links, run_python

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
LISTED = re.findall(r"^   ([A-Za-z][\w.]*)$", (ROOT / "docs" / "reference.md").read_text(), flags=re.MULTILINE)


def path_of(page):
    return str(page.relative_to(ROOT))


# --- names -----------------------------------------------------------------------------------------------------------


def test_every_public_name_has_a_page():
    assert set(gml.__all__) <= set(LISTED)
    assert len(LISTED) == len(set(LISTED))


@pytest.mark.parametrize("name", LISTED)
def test_every_listed_name_is_there(name):
    first, *rest = name.split(".")
    if first in gml.__all__:
        thing = reduce(getattr, rest, getattr(gml, first))
    else:
        *modules, last = name.split(".")
        thing = getattr(import_module(".".join(["graph_metric_learn", *modules])), last)
    assert inspect.getdoc(thing)


def calls_with_keywords(page):
    """Calls in the text of a page, as (name, keywords): `GraphMetric(n_components=None)`, `fit(graphs, groups=…)`."""
    for code in inline_code(page):
        try:
            call = ast.parse(code.replace("…", "..."), mode="eval").body
        except SyntaxError:
            continue
        if isinstance(call, ast.Call) and any(keyword.arg for keyword in call.keywords):
            yield ast.unparse(call.func).split(".")[-1], {keyword.arg for keyword in call.keywords if keyword.arg}


def called(name):
    """What a name may mean: a public function or class, a loader, or a method of any public class."""
    public = [getattr(gml, name) for name in gml.__all__]
    homes = [gml, gml.datasets, *(thing for thing in public if inspect.isclass(thing))]
    return [getattr(home, name) for home in homes if callable(getattr(home, name, None))]


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_keywords_in_the_text_exist(page):
    for name, keywords in calls_with_keywords(page):
        things = called(name)
        accepted = [keywords <= set(inspect.signature(thing).parameters) for thing in things]
        assert not things or any(accepted), f"{name}: {keywords}"


def test_there_are_keywords_in_the_text():
    assert sum(bool(called(name)) for page in DOCS for name, _ in calls_with_keywords(page)) > 10


# --- links -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), f"{target}#{anchor}"


@pytest.mark.parametrize("page", [page for page in DOCS if "{include}" not in page.read_text()], ids=path_of)
def test_every_page_can_be_reached_from_the_readme(page):
    assert (path_of(page), "") in links(ROOT / "README.md")


# --- Python ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def registries():
    """All registries; what a test adds to them is removed again."""
    assert {gml.GraphMetric.__name__, gml.SGML.__name__} <= set(METRICS)  # imported now, or they would be removed too
    all_of_them = (BASELINES, BLOCKS, EMBEDDINGS, ENGINES, FAMILIES, LOSSES, METRICS, OBJECTIVES)
    before = [dict(registry) for registry in all_of_them]
    yield all_of_them
    for registry, entries in zip(all_of_them, before, strict=True):
        registry.clear()
        registry.update(entries)


def check_start(names):
    assert list(names["classifier"].predict(names["new"])) == ["mixed", "split"]
    assert names["on_pyg"].score(names["test"], [int(graph.y) for graph in names["test"]]) > 0.9
    assert names["named"].names_[names["indices"]][0, 0] == "mixed, 6 atoms"


def check_edges(names):
    assert names["weighted"].score(names["networks"][40:], names["communities"][40:]) == 1  # what the page says


def check_graph_vectors(names):
    assert names["graphs"].graph_columns == ("age", "site=Leipzig", "site=Oslo")  # what the page says
    new = gml.as_graphs([names["new"]], graph_attribute=["site", "weight", "age"])
    assert names["columns"].apply(new).graph_x.tolist() == [[50, 0, 0]]
    assert gml.as_graphs(names["alcohols"]).graph_columns == ("MolLogP", "TPSA")
    assert names["model"].score(names["everybody"][30:], names["group"][30:]) >= 0.8  # the graphs alone say nothing
    assert names["model"].metric_.weights_["vectors of graphs"] > 0.3


def check_targets(names):
    samples, counts = names["samples"], names["counts"]
    assert names["regressor"].predict(samples[50:]) == pytest.approx(counts[50:], abs=1.5)
    assert names["both"].predict(samples[50:52]).shape == (2, 2)
    assert names["labelled"].metric_.task_ == "labels"
    assert names["labelled"].score(samples[50:], names["labels"][50:]) > 0.8
    assert "no targets" in names["unsupervised"].report_
    assert len(names["scores"]) == 3


def check_molecules(names):
    weights = names["regressor"].predict(gml.from_smiles(["CCCC(C)CO", "CC(C)CCCN"]))
    assert weights == pytest.approx([102.2, 101.2], abs=4)  # what the page says they weigh


def check_predictors(names):
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


def check_scores(names):
    assert names["found"]["map_at_r"] > 0.9
    assert names["found"]["n_queries"] == names["by_size"]["n_queries"] == 40
    assert 0 < names["by_size"]["precision_at_k"] < 0.5
    assert names["areas"].min() > 0.9


def check_edit_distances(names):
    assert names["found"].exact.mean() > 0.5
    np.testing.assert_array_equal(names["again"].upper[::-1], names["found"].upper)


def check_explain(names):
    assert len(str(names["why"]).splitlines()) == 3  # what the page says
    assert sum(names["why"].term_share.values()) == pytest.approx(1)
    assert "<title>Rings" in names["page"].read_text()


def check_vectors(names):
    assert names["vectors"].shape[0] == 20
    assert names["matrix"][0, 2] == pytest.approx(3**0.5)
    assert float(names["points"].grad.abs().sum()) > 0
    assert names["which"].shape == (20, 2)


def check_many_graphs(names):
    assert names["ids"][0, 0] == "wheel 12"  # what the page says
    assert names["notes"][0][0] == {"nodes": 12}
    assert len(names["index"]) == 78
    assert "wheel 70" not in names["reader"]
    assert len(names["vectors"]) == 35
    assert names["of_all"].learned_.n_graphs == 602
    np.testing.assert_array_equal(names["same"], names["metric"].transform(names["wheels"] + names["trees"]))


def check_vector_databases(names):
    assert not names["index"].drift(names["new"]).differs
    assert names["index"].drift(names["others"]).differs
    np.testing.assert_array_equal(names["vectors"], names["index"].embedded(names["ids"]).values)


def check_serve(names):
    assert list(names["loaded"].predict([nx.cycle_graph(30)])) == ["ring"]


def check_mathematics(names):
    assert "x" in names  # the page asserts what it says


def check_extending(names):
    graphs, grades = names["graphs"], names["metric"]
    unasked = {"walks@0 (mean)", "walks@0 (moments)", "degree@0 (moments)", "trees@0, trees@1, trees@2 (presence)"}
    assert unasked | {"near trees"} <= set(recipes_for(Carried.of(as_graphs(graphs))))  # families like any other
    assert {"walks@0 (mean)", "near trees"} <= set(grades.weights_)
    assert grades.learned_.gate.learned > 0.85
    loaded = gml.load(grades.save("grades"))
    assert isinstance(loaded.objective_, names["Grades"])
    assert np.array_equal(loaded.pairwise_distances(graphs), grades.pairwise_distances(graphs))
    assert names["by_name"].history_.loss == names["as_function"].history_.loss
    assert names["by_name"].history_.loss[-1] < names["by_name"].history_.loss[0]
    loaded = gml.load(names["classifier"].save("counts"))
    assert isinstance(loaded.metric_, names["CountMetric"])
    assert list(loaded.predict([nx.cycle_graph(5), nx.ladder_graph(16)])) == ["ring", "ladder"]
    vectors = names["covariance_vectors"](names["clouds"])
    assert choose_engine(vectors.as_step_functions()) is ENGINES["direct"]
    plain = [np.cov(cloud.T).ravel() for cloud in names["clouds"]]
    assert gml.pairwise_distances(vectors)[0, 1] == pytest.approx(np.linalg.norm(plain[0] - plain[1]))
    assert "degrees" in method_names()
    assert BASELINES["degrees"]().distances(graphs)[0, 1] == 0  # two rings: every node has two neighbours
    assert len(names["dataset"]) == 24


# What holds of the names that the Python of a page defines.
CHECKS = {
    "edges.md": check_edges,
    "edit_distances.md": check_edit_distances,
    "explain.md": check_explain,
    "graph_vectors.md": check_graph_vectors,
    "extending.md": check_extending,
    "many_graphs.md": check_many_graphs,
    "mathematics.md": check_mathematics,
    "molecules.md": check_molecules,
    "predictors.md": check_predictors,
    "scores.md": check_scores,
    "serve.md": check_serve,
    "start.md": check_start,
    "targets.md": check_targets,
    "vector_databases.md": check_vector_databases,
    "vectors.md": check_vectors,
}


@pytest.mark.parametrize("page", [page for page in DOCS if blocks(page, "python")], ids=path_of)
def test_python_of_a_page_runs(page, registries, tmp_path, monkeypatch):
    if page.name in ("graph_vectors.md", "molecules.md"):
        pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    before = [set(registry) for registry in registries]
    monkeypatch.chdir(tmp_path)  # pages may write folders
    CHECKS[page.name](run_python(page))
    added = {name for registry, old in zip(registries, before, strict=True) for name in set(registry) - old}
    of_extending = {
        "degrees", "walks", "moments", "presence", "near trees", "direct", "contrastive", "CountMetric", "grades",
    }  # fmt: skip
    assert added == (of_extending if page.name == "extending.md" else set())


@pytest.mark.parametrize("package", ["lancedb", "qdrant_client", "psycopg"])
def test_recipes_of_databases_find_the_same(package, tmp_path, monkeypatch):
    pytest.importorskip(package, reason=f"needs {package}")
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    if package == "psycopg" and "POSTGRES" not in os.environ:
        pytest.skip("needs a server with pgvector, and POSTGRES saying where")
    page = ROOT / "docs" / "vector_databases.md"
    (recipe,) = (block for block in blocks(page, "py") if package in block)
    monkeypatch.chdir(tmp_path)
    names = run_python(page)
    exec(compile(recipe, f"{page.name}, {package}", "exec"), names)
    distances, ids = names["index"].search([nx.wheel_graph(12)], k=3)
    assert [name for name, _ in names["found"]] == ids[0].tolist()
    np.testing.assert_allclose([distance for _, distance in names["found"]], distances[0], atol=1e-5)


def test_requests_are_answered_as_the_page_says(tmp_path, monkeypatch):
    httpx = pytest.importorskip("httpx", reason="needs graph-metric-learn[serve] and httpx")
    pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
    from graph_metric_learn.cli import serve
    from graph_metric_learn.cli.parser import command_parser
    from running_server import Running

    page = ROOT / "docs" / "serve.md"
    monkeypatch.chdir(tmp_path)
    run_python(page)
    app, _ = serve.application(command_parser().parse_args(["serve", "model", "index"]))
    running = Running(app)
    parts = re.findall(r"^### (POST|GET) (/\w+)(.*?)(?=^##)", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert [path for _, path, _ in parts] == ["/predict", "/neighbors", "/neighbors", "/explain", "/health"]
    try:
        for verb, path, text in parts:
            bodies = [json.loads(one) for one in re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
            options = {"json": bodies[0]} if verb == "POST" else {}
            answer = httpx.request(verb, running.address + path, timeout=60, **options)
            assert answer.status_code == 200
            assert_alike(answer.json(), bodies[-1])
    finally:
        running.stop()


def assert_alike(answer, written):
    """The same fields and words; numbers to the digits that a page shows."""
    if isinstance(written, dict):
        assert answer.keys() == written.keys()
        for name, value in written.items():
            assert_alike(answer[name], value)
    elif isinstance(written, list):
        assert len(answer) == len(written)
        for one, other in zip(answer, written, strict=True):
            assert_alike(one, other)
    elif isinstance(written, float):
        assert answer == pytest.approx(written, abs=0.005)
    else:
        assert answer == written
