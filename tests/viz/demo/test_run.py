from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from graph_metric_learn.viz.demo import run, run_demo
from graph_metric_learn.viz.demo.comparison import N_NEIGHBORS
from graph_metric_learn.viz.demo.run import well_known_molecules


def test_accuracies_can_be_recomputed(ran, again):
    summary, _ = ran
    train, test, before, after = again
    assert (summary["n_train"], summary["n_test"]) == (len(train.y), len(test.y)) == (240, 60)
    for key, distances in (("accuracy_before", before), ("accuracy_after", after)):
        nearest = distances.argsort(1)[:, :N_NEIGHBORS]
        worth = 1 / np.take_along_axis(distances, nearest, axis=1)
        votes = [np.bincount(train.y[row], one).argmax() for row, one in zip(nearest, worth, strict=True)]
        assert summary[key] == np.mean(votes == test.y)
    assert summary["accuracy_after"] > summary["accuracy_before"] + 0.05


def test_only_the_pages_are_written(ran):
    summary, _ = ran
    written = sorted(path.name for path in Path(summary["path"]).parent.iterdir())
    assert written == sorted(["index.html", *summary["pages"]])
    assert "digits.html" in written
    assert ("molecules.html" in written) == (find_spec("rdkit") is not None)
    assert 0 < summary["train_seconds"] < summary["seconds"]


def test_does_not_overwrite_unless_told(ran):
    summary, source = ran
    path = Path(summary["path"])
    with pytest.raises(ValueError, match=r"index\.html exists already"):
        run_demo(path.parent, progress=False)
    assert path.read_text(encoding="utf-8") == source


def test_prints_what_it_does_and_overwrites_when_told(tmp_path, capsys, monkeypatch):
    (tmp_path / "index.html").write_text("old")
    monkeypatch.setattr(run, "find_spec", lambda name: None)  # as without RDKit
    summary = run_demo(tmp_path, max_graphs=120, overwrite=True, explanations=10)
    lines = capsys.readouterr().out.splitlines()
    assert any("before learning" in line and f"{100 * summary['accuracy_before']:.1f} %" in line for line in lines)
    assert any("after learning" in line and f"{100 * summary['accuracy_after']:.1f} %" in line for line in lines)
    assert summary["path"] in lines[-1]
    assert summary["pages"] == ["digits.html"]
    assert any("raw pixels" in line and f"{100 * summary['accuracy_pixels']:.1f} %" in line for line in lines)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") != "old"


def test_molecules_are_what_their_names_say():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    from rdkit import Chem
    from rdkit.Chem import Crippen
    from rdkit.Chem.rdMolDescriptors import CalcMolFormula

    graphs, names, y = well_known_molecules()
    formulas = {graph.name: CalcMolFormula(Chem.MolFromSmiles(graph.smiles)) for graph in graphs}
    assert len(formulas) == len(names) == len(y) == 149
    known = {"caffeine": "C8H10N4O2", "aspirin": "C9H8O4", "p-xylene": "C8H10", "cholesterol": "C27H46O"}
    assert {name: formulas[name] for name in known} == known
    by_name = dict(zip(names, y, strict=True))
    assert by_name["sucrose"] < by_name["ethanol"] < by_name["benzene"] < by_name["stearic acid"]
    logp = [Crippen.MolLogP(Chem.MolFromSmiles(graph.smiles)) for graph in graphs]
    np.testing.assert_allclose(y, logp, atol=0.01)  # their rules may change a little
