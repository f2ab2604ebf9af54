"""The examples run, and say what they promise; the gallery of the site runs the same scripts."""

import os
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from graph_metric_learn.features.blocks import BLOCKS

EXAMPLES = {path.stem: path for path in sorted((Path(__file__).parents[1] / "examples").glob("*/*.py"))}

pytestmark = pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")  # plt.show() of scripts


@pytest.fixture
def example():
    """Runs a script, and returns what it defines; pictures are drawn, and closed at the end."""
    plt.switch_backend("agg")
    yield lambda name: runpy.run_path(str(EXAMPLES[name]), run_name="__main__")
    plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES.values(), ids=EXAMPLES)
def test_all_examples_are_tested_and_start_with_a_title(path):
    assert f"test_{path.stem}" in globals()
    assert path.stem not in sys.stdlib_module_names  # a script of that name would be imported instead
    assert (path.parent / "README.rst").is_file()  # the title of its theme
    title, line = path.read_text().splitlines()[1:3]
    assert len(title) == len(line)
    assert set(line) == {"="}


def test_which_metric(example):
    accuracy = example("which_metric")["accuracy"]
    assert 0.4 < accuracy["SGML, untrained"] < accuracy["GraphMetric"]
    assert accuracy["SGML"] < accuracy["GraphMetric"]
    assert plt.get_fignums()


def test_reading_the_report(example):
    names = example("reading_the_report")
    assert names["metric"].estimate_.score > 0.75
    assert "no better than chance" in names["noise"].report_
    assert "no targets" in names["unsupervised"].report_


def test_molecules_from_smiles(example):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    names = example("molecules_from_smiles")
    assert "row 60" in str(names["caught"][0].message)
    assert len(names["graphs"]) == 60
    assert names["scores"].mean() > 0.8  # chance is 0.5
    assert list(names["classifier"].predict(names["new"])) == ["alcohol", "ether"]


def test_learn_numbers(example):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    assert example("learn_numbers")["r2"] > 0.9
    assert plt.get_fignums()


def test_weighted_networks(example, capsys):
    names = example("weighted_networks")
    networks, rings, y = names["networks"], names["rings"], names["y"]
    assert names["weighted"].score(networks[40:], y[40:]) == 1
    assert "without: all graphs look the same" in capsys.readouterr().out
    assert names["directed"].score(rings[40:], y[40:]) > 0.9 > names["undirected"].score(rings[40:], y[40:])


def test_without_labels(example):
    assert example("without_labels")["agreement"] > 0.9
    assert plt.get_fignums()


def test_explain_a_pair(example):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    names = example("explain_a_pair")
    why, evidence = names["why"], names["evidence"]
    assert sum(why.term_share.values()) == pytest.approx(1)
    assert evidence.change > 1  # ibuprofen is the one that dissolves in oil
    edges = 0 if evidence.edge_source is None else evidence.edge_source.sum()
    assert evidence.source.sum() + edges == pytest.approx(evidence.change, rel=1e-3)
    assert plt.get_fignums()


def test_search_many_graphs(example):
    names = example("search_many_graphs")
    assert names["nearest"] == pytest.approx(names["compared"], abs=1e-4)
    assert sum(note["hubs"] for note in names["notes"][0]) >= 4  # of 5 neighbours of a network with hubs


def test_your_own_block(example):
    before = set(BLOCKS)
    names = example("your_own_block")
    assert names["without"].estimate_.score < 0.6
    assert names["with_it"].estimate_.score > 0.95
    assert set(BLOCKS) == before


def test_your_own_encoder(example):
    names = example("your_own_encoder")
    assert names["accuracy"][0] < 0.85 < names["accuracy"][10]  # learning is what does it
    assert names["same"]


def test_deploy(example):
    pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
    names = example("deploy")
    assert names["ask"]("/predict", names["question"]).json()["predictions"] == ["ladder"]
    assert [answer.status_code for answer in names["answers"]] == [422, 422, 422, 401]


def test_clouds_without_graphs(example):
    names = example("clouds_without_graphs")
    assert (names["kinds"][names["nearest"]] == names["kinds"]).all()
    assert names["losses"][-1] < 0.2 * names["losses"][0]
    assert names["log"]["plan"].sum() == pytest.approx(1)


def test_tu_collection(example):
    root = os.environ.get("GRAPH_METRIC_LEARN_DATA")
    if root is None or not any(Path(root).glob("MUTAG*")):
        pytest.skip("MUTAG is not on this machine: put MUTAG.zip into a folder and set GRAPH_METRIC_LEARN_DATA to it")
    names = example("tu_collection")
    assert len(names["dataset"]) == 188
    assert names["largest_class"] == pytest.approx(0.665, abs=0.001)
    assert names["scores"].mean() > 0.78
    assert names["search"].best_params_["metric__depth"] in (1, 2, 4)
