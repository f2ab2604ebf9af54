"""The command line with odd options and broken files: exit code 0 or 2, one line for an error, never a traceback."""

import contextlib
import io
import json
import shutil
import sys

import networkx as nx
import numpy as np
import pytest
import torch
from budget import SECONDS, run
from damage import flip_bytes, fresh

from command_line import fit_quickly
from graph_metric_learn.cli import main
from graph_zoo import write_tu

VALUES = (
    "0", "1", "2", "3", "-1", "7", "1000000000000", "99999999999999999999999", "0.5", "1e-300", "1e300", "nan", "inf",
    "-inf", "auto", "", " ", "x", "classes", "numbers", "none", "json", "csv", "table", "skip", "raise", "smiles", "y",
    "id", "no/such/file", ".", "..", "\x00", "ä\udcff", "=", "--", "-", "500M", "1", "knn", "ridge", "svc", "metric",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """A source that is no folder may be the name of a dataset, which is downloaded."""

    def fail(*_, **__):
        raise OSError("no network in this test")

    monkeypatch.setattr("graph_metric_learn.datasets.tu_files.fetch", fail)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Models, an index, and a source of every kind."""
    root = tmp_path_factory.mktemp("place")
    graphs = root / "graphs"
    graphs.mkdir()
    rows = ["graph,label"]
    for n in range(4, 10):
        nx.write_graphml(nx.cycle_graph(n), graphs / f"ring{n}.graphml")
        (graphs / f"star{n}.json").write_text(json.dumps(nx.node_link_data(nx.star_graph(n), edges="edges")))
        rows += [f"ring{n},ring", f"star{n},star"]
    edges = torch.from_numpy(np.array(list(nx.to_directed(nx.path_graph(5)).edges)).T)
    torch.save({"edge_index": edges, "num_nodes": 5}, graphs / "path5.pt")
    (root / "y.csv").write_text("\n".join(rows))
    rows = [f"{'C' * n}{end},m{n}{end},{end},{n / 7}" for n in range(1, 8) for end in "ON"]
    (root / "molecules.csv").write_text("\n".join(["smiles,id,y,size", *rows]))
    write_tu(root, 12)
    with contextlib.redirect_stdout(io.StringIO()):
        assert fit_quickly(graphs, root / "model", "--labels", str(root / "y.csv"), "--neighbors", "1") == 0
        assert fit_quickly(root / "molecules.csv", root / "chemist", "--target", "size", "--model", "ridge") == 0
        assert main(["index", str(root / "model"), str(graphs), "--out", str(root / "index")]) == 0
    return root


def commands(root):
    """Commands that work, with options to change: (arguments, options with a value, options without)."""
    model, index, graphs, out = (str(root / name) for name in ("model", "index", "graphs", "out"))
    chemist, molecules, tu = (str(root / name) for name in ("chemist", "molecules.csv", "TOY"))
    source = ["--root", "--smiles", "--name", "--on-error", "--max-unpacked"]
    sources = [(model, graphs), (chemist, molecules), (model, tu)]
    found = [
        (
            ["fit", graphs, "--labels", str(root / "y.csv"), "--out", out, "--metric", "sgml", "--epochs", "1"],
            ["--labels", "--task", "--model", "--neighbors", "--votes", "--gamma", "--C", "--features", "--depth",
             "--components", "--distance", "--loss", "--epochs", "--batch-size", "--learning-rate", "--seed", *source],
        ),
        (["info", model], ["--format"]),
        (["neighbors", index, graphs, "-k", "2"], ["-k", "--format", "--out", *source]),
        (["neighbors", model, graphs, "-k", "2"], ["-k", "--format", "--out", *source]),
        (["index", model, graphs, "--out", out], ["--known", "--target", *source]),
        (["explain", model, graphs, "ring5", "star6"], ["--format", "--picture", *source]),
        (["explore", model, graphs, "--out", out + ".html"], ["--labels", "--title", "--explanations", "--seed"]),
    ]  # fmt: skip
    for which, what in sources:
        found.append((["predict", which, what], ["--format", "--out", *source]))
        found.append((["distances", which, what, "--out", out + ".csv"], ["--others", "--out", *source]))
    return found


def outcome(arguments, lines=()):
    """Exit code and what was said on stderr."""
    said, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO("\n".join(lines))
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main([*arguments, "--quiet"])
    except SystemExit as stopped:  # of argparse
        code = stopped.code
    finally:
        sys.stdin = stdin
    return code, said.getvalue()


def check(arguments, lines=()):
    code, said = outcome(arguments, lines)
    assert code in (0, 2), f"{arguments}: exit code {code}"
    assert "Traceback" not in said, f"{arguments}: {said}"
    assert code == 0 or said.strip(), f"{arguments}: nothing was said"
    if code == 2:
        raise ValueError(said)


def work_of(place, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place, folder)
    return folder


def test_odd_options(place, tmp_path, monkeypatch):
    """Values that options do not expect, arguments left out or swapped; written files go to a folder of their own."""
    monkeypatch.chdir(tmp_path)

    def odd_options(rng):
        work = work_of(place, tmp_path / "work")
        known = commands(work)
        arguments, options = known[int(rng.integers(len(known)))]
        arguments = list(arguments)
        for _ in range(int(rng.integers(1, 3))):
            value = VALUES[int(rng.integers(len(VALUES)))]
            how = rng.random()
            if how < 0.7:
                arguments += [options[int(rng.integers(len(options)))], value]
            elif how < 0.9:
                arguments[int(rng.integers(1, len(arguments)))] = value
            else:
                del arguments[int(rng.integers(1, len(arguments)))]
        check(arguments, ["CCO", "CC"])

    run(odd_options, SECONDS / 5)


def test_broken_files(place, tmp_path, monkeypatch):
    """A few bytes of a graph file, a table, a TU text, a model or an index are others."""
    monkeypatch.chdir(tmp_path)

    def broken_files(rng):
        work = work_of(place, tmp_path / "work")
        known = commands(work)
        arguments = list(known[int(rng.integers(len(known)))][0])
        folders = [work, work / "graphs", work / "TOY", work / "model", work / "chemist", work / "index"]
        for _ in range(int(rng.integers(1, 4))):
            flip_bytes(folders[int(rng.integers(len(folders)))], rng)
        takes_files = arguments[0] not in ("info",) and "TOY" not in arguments[2]
        check([*arguments, "--on-error", "skip"] if takes_files and rng.random() < 0.5 else arguments)

    run(broken_files, SECONDS / 5)


def test_odd_lines(place):
    """Standard input: SMILES, graphs as JSON, and neither."""
    three, joined = [{"id": 0}, {"id": 1}, {"id": 2}], [{"source": 0, "target": 1}, {"source": 1, "target": 2}]
    nodes = [[{"id": 0}], [{"id": 0, "x": 1.5}], [{"id": None}], [], [0], None, [{"id": [1]}], [{"id": 0}, {"id": 0}]]
    links = [[], [{"source": 0, "target": 0}], [{"source": 0, "target": 9}], [{}], None, [[0, 0]], {"source": 0}]
    nodes, links = [*nodes, *[three] * 24], [*links, *[joined] * 21]

    def odd_lines(rng):
        lines = []
        for _ in range(int(rng.integers(1, 4))):
            one = {"nodes": nodes[int(rng.integers(len(nodes)))], "edges": links[int(rng.integers(len(links)))]}
            if rng.random() < 0.3:
                one |= {"directed": VALUES[int(rng.integers(8))], "multigraph": bool(rng.random() < 0.5), "graph": []}
            text = json.dumps(one) if rng.random() < 0.9 else "".join(rng.choice(list('CNO()=1{}[]":, x'), 8))
            lines.append(text if rng.random() < 0.9 else text[: int(rng.integers(len(text) + 1))])
        which = str(place / ("model" if rng.random() < 0.7 else "chemist"))
        check(["predict", which, "-", *(["--on-error", "skip"] if rng.random() < 0.3 else [])], lines)

    run(odd_lines, SECONDS / 10)


def test_the_commands_work_as_they_are(place, tmp_path):
    """Else all that fuzzing sees is one and the same refusal."""
    for arguments, _ in commands(place):
        work = fresh(place, tmp_path / "work")
        code, said = outcome([text.replace(str(place), str(work)) for text in arguments])
        assert code == 0, f"{arguments}: {said}"
