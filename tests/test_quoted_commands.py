"""Commands quoted in the documentation work: each is run, unless its comment says that it is long."""

import re
import shlex
import shutil

import networkx as nx
import pytest

from graph_metric_learn.cli import main, serve
from graph_metric_learn.cli.parser import command_parser
from markdown_pages import DOCS, ROOT, inline_commands, run_python, shell_lines

PAGES = [
    *(ROOT / folder / "README.md" for folder in (".", "reproduction", "benchmarks")),
    ROOT / "CONTRIBUTING.md",
    *DOCS,
]
LINES = [(page, command, comment) for page in PAGES for command, comment in shell_lines(page)]
CALLS = [(page, command, comment) for page, command, comment in LINES if "graph-metric-learn " in command]
LONG = {"bench", "reproduce"}  # commands that are long whatever their options
CLUSTER = "--scheduler"  # such calls need a cluster: tests/cli/test_cluster.py has one


def arguments(command):
    """What stands behind graph-metric-learn."""
    return shlex.split(command.partition("graph-metric-learn ")[2])


def is_long(comment):
    return "long" in re.findall(r"\w+", comment)


def is_run(command, comment):
    return not is_long(comment) and CLUSTER not in command


def write_molecules(path, numbers):
    """Alcohols and amines: structures under two names of the column, ids, a class, a number, two labels with gaps."""
    rows = [(f"{'C' * (n // 2 + 2)}{'ON'[n % 2]}", f"m{n}", ["alcohol", "amine"][n % 2], n / 7) for n in numbers]
    lines = [
        f"{smiles},{smiles},{name},{kind},{number:.3f},{int(kind == 'amine')},{'' if i % 4 == 0 else int(number < 1)}"
        for i, (smiles, name, kind, number) in enumerate(rows)
    ]
    path.write_text("\n".join(["smiles,structure,id,class,logS,toxic,soluble", *lines]) + "\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the pages name: graphs in a folder, molecules, a TU dataset, and a model with an index."""
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    where = tmp_path_factory.mktemp("quoted")
    rows = ["graph,label"]
    for folder, sizes in (("my-graphs", range(4, 12)), ("new-graphs", range(12, 14))):
        (where / folder).mkdir()
        for n in sizes:
            nx.write_graphml(nx.cycle_graph(n), where / folder / f"ring{n}.graphml")
            nx.write_graphml(nx.star_graph(n), where / folder / f"star{n}.graphml")
            rows += [f"ring{n},ring", f"star{n},star"] if folder == "my-graphs" else []
    (where / "classes.csv").write_text("\n".join(rows))
    shutil.copytree(where / "my-graphs", where / "graphs")
    write_molecules(where / "molecules.csv", range(20))
    write_molecules(where / "more.csv", range(15, 25))
    write_molecules(where / "new.csv", range(30, 34))
    write_rings_and_stars(where / "data" / "MUTAG")
    molecules = [str(where / "molecules.csv"), "--name", "id"]
    fit = ["fit", *molecules, "--target", "logS", "--task", "numbers", "--no-estimate", "--quiet"]
    assert main([*fit, "--out", str(where / "spare-model")]) == 0
    assert main(["index", str(where / "spare-model"), *molecules, "--out", str(where / "spare-index")]) == 0
    return where


def write_rings_and_stars(folder):
    """A small dataset in TU format, in place of MUTAG."""
    folder.mkdir(parents=True)
    graphs = [make(n) for n in range(4, 12) for make in (nx.cycle_graph, nx.star_graph)]
    union = nx.disjoint_union_all(graphs)
    written = {
        "A": [f"{a + 1}, {b + 1}\n{b + 1}, {a + 1}" for a, b in union.edges],
        "graph_indicator": [str(i) for i, graph in enumerate(graphs, start=1) for _ in graph],
        "graph_labels": [str(i % 2) for i in range(len(graphs))],
    }
    for name, lines in written.items():
        (folder / f"MUTAG_{name}.txt").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("page", sorted({page for page, *_ in CALLS}), ids=lambda page: page.name)
def test_calls_of_a_page_run_one_after_the_other(page, files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPH_METRIC_LEARN_DATA", str(tmp_path / "data"))
    pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
    ran = [
        (command, arguments(command)) for where, command, comment in CALLS if where == page and is_run(command, comment)
    ]
    made = {words[words.index("--out") + 1].rstrip("/") for _, words in ran if "--out" in words}
    if 'save("model")' in page.read_text():
        run_python(page)
    for spare in ("model", "index"):  # where the page does not make it itself
        if spare not in made and not (tmp_path / spare).exists():
            shutil.copytree(tmp_path / f"spare-{spare}", tmp_path / spare)
    for command, words in ran:
        if words[0] == "serve":  # would not end
            assert serve.application(command_parser().parse_args(words)), command
            continue
        assert main(words) == 0, command
        if "--out" in words:
            assert (tmp_path / words[words.index("--out") + 1]).exists(), command


def test_there_are_calls_to_run():
    ran = {arguments(command)[0] for _, command, comment in CALLS if not is_long(comment)}
    assert {"fit", "predict", "distances", "embed", "info", "index", "neighbors", "explore", "explain", "serve"} <= ran


@pytest.mark.parametrize(("page", "command", "comment"), CALLS, ids=lambda value: getattr(value, "name", None))
def test_long_calls_parse_and_the_others_are_short(page, command, comment):
    options = command_parser().parse_args(arguments(command))
    assert is_long(comment) or options.command not in LONG, f"{page.name}: {command} takes long, and does not say so"


@pytest.mark.parametrize(
    ("page", "call"), [(page.name, call) for page in PAGES for call in inline_commands(page) if "--" not in call]
)
def test_calls_in_the_text_parse(page, call):
    words = shlex.split(call)[1:]
    run = {arguments(command)[0] for _, command, _ in CALLS}
    assert len(words) == 1 or command_parser().parse_args(words).run
    assert words[0] in LONG | run, f"{page}: no shell block has {call}"


@pytest.mark.parametrize(
    ("page", "command"), [(page.name, line) for page, line, _ in LINES if "graph-metric-learn " not in line]
)
def test_other_commands_name_what_is_there(page, command):
    project = (ROOT / "pyproject.toml").read_text()
    if command.startswith("make "):
        assert f"\n{command.split()[1]}:" in (ROOT / "Makefile").read_text()
    elif installed := re.fullmatch(r'python -m pip install "?\.(?:\[(\w+)\])?"?', command):
        assert installed[1] is None or f"\n{installed[1]} = [" in project
    elif installed := re.fullmatch(r"python -m pip install((?: \.(?:/\w+)?)+)", command):
        assert all((ROOT / folder / "pyproject.toml").exists() for folder in installed[1].split())
    elif tested := re.fullmatch(r"\.venv/bin/python -m pytest (\S+)", command):
        assert (ROOT / tested[1]).exists()
    else:
        assert command == ".ci/run", f"{page}: nothing checks {command}"
