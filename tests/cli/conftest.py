import networkx as nx
import pytest

from command_line import fit_quickly
from graph_metric_learn.cli import main


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Rings and stars as GraphML, with a CSV of their classes beside them."""
    where = tmp_path_factory.mktemp("graphs")
    rows = ["graph,label"]
    for n in range(4, 14):
        nx.write_graphml(nx.cycle_graph(n), where / f"ring{n}.graphml")
        nx.write_graphml(nx.star_graph(n), where / f"star{n}.graphml")
        rows += [f"ring{n},ring", f"star{n},star"]
    (where / "classes.csv").write_text("\n".join(rows))
    return where


@pytest.fixture(scope="session")
def model(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "knn"
    arguments = ["fit", str(folder), "--labels", str(folder / "classes.csv"), "--out", str(out), "--neighbors", "3"]
    assert main([*arguments, "--no-estimate"]) == 0
    return out


@pytest.fixture(scope="session")
def molecules(tmp_path_factory):
    """Alcohols and amines with their names and a measured number, and a file that has a bad row."""
    where = tmp_path_factory.mktemp("molecules")
    chains = [("C" * n + end, kind) for n in range(2, 12) for end, kind in (("O", "alcohol"), ("N", "amine"))]
    rows = [f"{text},{kind} {len(text)},{kind},{len(text) / 7:.3f},{len(text) % 2}" for text, kind in chains]
    (where / "molecules.csv").write_text("\n".join(["structure,id,class,logS,even", *rows]))
    (where / "bad.csv").write_text("smiles\nCCCO\nC1CC\nCCCN\n")
    return where


@pytest.fixture(scope="session")
def chemist(molecules, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "chemist"
    columns = ["--smiles", "structure", "--target", "class"]
    assert fit_quickly(molecules / "molecules.csv", out, *columns, "--neighbors", "1") == 0
    return out
