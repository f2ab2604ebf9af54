"""The examples run, and print what they promise."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name=name)


def percentages(text):
    """What stands before each % sign."""
    return [float(number) for number in re.findall(r"([\d.]+)%", text)]


def test_all_examples_are_tested():
    here = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f'example("{path.stem}")' in here


def test_importing_an_example_prints_nothing(capsys):
    for path in EXAMPLES.glob("*.py"):
        assert callable(example(path.stem)["main"])
    assert capsys.readouterr().out == ""


def test_molecules(capsys):
    run = example("molecules")
    root = run["data_root"]()
    if root is None or not any(Path(root).glob("MUTAG*")):
        pytest.skip("MUTAG is not on this machine: put MUTAG.zip into a folder and set GRAPH_METRIC_LEARN_DATA to it")
    run["main"]()
    printed = capsys.readouterr().out
    assert "188 graphs, 2 classes" in printed
    largest_class, chosen, _, neighbors, _, machine, _ = percentages(printed.partition("\nchose")[0])
    assert largest_class == 66.5
    assert min(chosen, neighbors, machine) > 78
    assert "\nchose " in printed
    assert re.search(r"'metric__depth': [124], 'n_neighbors': [135]", printed)


def test_networkx_graphs(capsys, tmp_path):
    picture = tmp_path / "pair.png"
    example("networkx_graphs")["main"](str(picture))
    printed = capsys.readouterr().out
    assert "classes cliques, hubs, random, ring" in printed
    accuracy, share = percentages(printed)
    assert accuracy > 75  # chance is 25
    assert 100 / 15 < share < 100  # the costliest of 15 nodes has more than its equal share
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_networkx_graphs_draws_only_when_asked(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example("networkx_graphs")["main"]()
    assert "drawn" not in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_smiles(capsys):
    with pytest.warns(UserWarning, match=r"1 of 61 rows left out: row 60; the first \('C1CC'\) is"):
        example("smiles")["main"]()
    printed = capsys.readouterr().out
    assert "60 of 61 molecules" in printed
    (accuracy,) = percentages(printed)
    assert accuracy > 80  # chance is 50
    assert "thienylmethanol: alcohol, nearest is alcohol" in printed
    assert "methoxythiophene: ether, nearest is ether" in printed


def test_custom_encoder(capsys):
    example("custom_encoder")["main"]()
    printed = capsys.readouterr().out
    before, after = percentages(printed)
    assert before < 85 < after  # learning is what does it
    assert "predictions are the same: True" in printed
