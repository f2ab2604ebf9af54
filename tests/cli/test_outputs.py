import shutil

import pytest

from graph_metric_learn.cli import main


def test_nothing_is_overwritten_unasked(folder, model, tmp_path, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(model)]) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "d.npy").write_text("mine")
    assert main(["distances", str(model), str(folder), "--out", str(tmp_path / "d.npy")]) == 2
    assert (tmp_path / "d.npy").read_text() == "mine"


def test_a_place_that_cannot_be_written_is_noticed_before_the_work(folder, tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr("graph_metric_learn.cli.fit.read_source", lambda *_, **__: pytest.fail("the work has begun"))
    out = ["--out", str(tmp_path / "file" / "model")]
    assert main(["fit", str(folder), "--labels", str(folder / "classes.csv"), *out]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_an_edited_model_is_one_line_and_exit_code_2(folder, model, tmp_path, capsys):
    shutil.copytree(model, tmp_path / "edited")
    file = tmp_path / "edited" / "model.json"
    file.write_text(file.read_text().replace('"n_neighbors": 3', '"n_neighbors": 1'))
    assert main(["predict", str(tmp_path / "edited"), str(folder)]) == 2
    said = capsys.readouterr().err
    assert "was edited" in said
    assert "Traceback" not in said
