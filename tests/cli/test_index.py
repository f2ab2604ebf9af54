import pytest

import graph_metric_learn as gml
from graph_metric_learn.cli import index as index_command
from graph_metric_learn.cli import main


def test_an_index_is_written_and_grows(folder, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(index_command, "_CHUNK", 7)
    out = tmp_path / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    assert f"written: {out} (20 graphs, 20 of them new)" in capsys.readouterr().out
    index = gml.GraphIndex.load(out)
    assert "ring7" in index
    assert index.metadata("ring7") == [{"name": "ring7"}]
    index.verify()

    assert main(["index", str(model), str(folder), "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["index", str(model), str(folder), "--out", str(out), "--append"]) == 2
    assert "is in the index already: --known skip" in capsys.readouterr().err
    index.remove(["ring7", "star4"])
    index.close()
    assert main(["index", str(model), str(folder), "--out", str(out), "--append", "--known", "skip"]) == 0
    assert "(20 graphs, 2 of them new)" in capsys.readouterr().out
    assert main(["index", str(model), str(folder), "--out", str(out), "--append", "--known", "update"]) == 0
    assert "(20 graphs, 0 of them new)" in capsys.readouterr().out
    assert main(["index", str(model), str(folder), "--out", str(out), "--overwrite"]) == 0
    assert main(["index", str(model), str(folder), "--out", str(out), "--overwrite", "--append"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_targets_are_kept(molecules, chemist, tmp_path):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    source = [str(molecules / "molecules.csv"), "--smiles", "structure", "--name", "id", "--target", "class"]
    assert main(["index", str(chemist), *source, "--out", str(tmp_path / "index")]) == 0
    index = gml.GraphIndex.load(tmp_path / "index")
    assert index.metadata("amine 5") == [{"name": "amine 5", "target": "amine"}]


def test_another_model_does_not_fit(folder, model, molecules, chemist, tmp_path, capsys):
    out = tmp_path / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    source = [str(molecules / "molecules.csv"), "--smiles", "structure"]
    assert main(["index", str(chemist), *source, "--out", str(out), "--append"]) == 2
    assert "was made with another model" in capsys.readouterr().err
