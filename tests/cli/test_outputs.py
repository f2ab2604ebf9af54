from graph_metric_learn.cli import main


def test_nothing_is_overwritten_unasked(folder, model, tmp_path, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(model)]) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "d.npy").write_text("mine")
    assert main(["distances", str(model), str(folder), "--out", str(tmp_path / "d.npy")]) == 2
    assert (tmp_path / "d.npy").read_text() == "mine"
