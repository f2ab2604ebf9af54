import gc
import os
import subprocess
import sys

import pytest

from graph_metric_learn._core import progress
from graph_metric_learn.cli import console, main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "{folder}", "--out", "{new}"], "no class labels"),
        (["fit", "{folder}", "--labels", "{folder}/none.csv", "--out", "{new}"], "cannot read"),
        (["fit", "no/such/folder", "--out", "{new}"], "there is no folder no/such/folder"),
        (
            ["fit", "{folder}", "--labels", "{folder}/classes.csv", "--out", "{new}", "--batch-size", "4"],
            "--batch-size goes with --metric sgml",
        ),
        (["predict", "{folder}", "{folder}"], "not a model folder"),
        (["distances", "{model}", "{folder}", "--out", "{new}.txt"], "must be .npy or .csv"),
        (
            ["fit", "{folder}", "--labels", "{folder}/classes.csv", "--out", "{new}", "--neighbors", "99"],
            "n_neighbors=99",
        ),
        (["fit", "{folder}", "--out", "{new}", "--task", "none"], "to learn without, --task none --model metric"),
        (["fit", "{folder}", "--out", "{new}", "--model", "metric"], "to learn without, --task none --model metric"),
        (
            ["fit", "{folder}", "--labels", "{folder}/classes.csv", "--out", "{new}", "--task", "none"],
            "--task none learns a metric alone: --model metric, not knn",
        ),
        (
            ["fit", "{folder}", "--out", "{new}", "--task", "none", "--model", "metric", "--evaluate"],
            "--evaluate needs classes or numbers",
        ),
        (
            ["fit", "{folder}", "--labels", "{folder}/classes.csv", "--out", "{new}", "--task", "numbers"],
            "targets must be numbers, that of graph 0 is 'ring'",
        ),
        (
            ["fit", "{folder}", "--labels", "{folder}/classes.csv", "--out", "{new}", "--model", "svc", "--C", "-1"],
            'C must be a number from 1e-12 to 1e+12 or "auto", got -1.0',
        ),
        (
            ["fit", "{molecules}", "--out", "{new}", "--smiles", "structure", "--target", "logS", "--model", "svc"],
            "--model svc is for classes: knn, ridge or auto predict numbers",
        ),
        (
            ["fit", "{molecules}", "--out", "{new}", "--smiles", "structure", "--target", "logS", "--task", "classes"],
            "class labels must be discrete",
        ),
        (["fit", "{molecules}", "--out", "{new}", "--target", "class"], "its columns are structure, id, class, logS"),
        (["fit", "{molecules}", "--out", "{new}", "--smiles", "structure"], "the column of a CSV with --target"),
        (["fit", "{folder}", "--out", "{new}", "--target", "class"], "--target goes with a CSV of molecules"),
        (
            ["fit", "{folder}", "--labels", "{folder}/classes.csv", "--out", "{new}", "--gamma", "2"],
            "--gamma goes with --model svc",
        ),
        (["fit", "no/such.csv", "--out", "{new}", "--target", "class"], "cannot read no/such.csv"),
    ],
)
def test_bad_input_is_one_line_and_a_code(arguments, words, folder, model, molecules, tmp_path, capsys):
    table = molecules / "molecules.csv"
    filled = [a.format(folder=folder, model=model, molecules=table, new=tmp_path / "new") for a in arguments]
    assert main(filled) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("before", "behind", "hidden"), [([], [], False), (["--quiet"], [], True), ([], ["--quiet"], True)]
)
def test_quiet_hides_bars_while_the_command_runs(before, behind, hidden, monkeypatch):
    """`disable=None` is a bar on a terminal, True is none."""
    shown = []
    monkeypatch.setattr(progress, "tqdm", lambda **options: shown.append(options["disable"]))
    monkeypatch.setattr(
        "graph_metric_learn.viz.demo.run_demo",
        lambda *_, **__: progress.progress_bar(None, total=1, unit="step"),
    )
    assert main([*before, "demo", *behind]) == 0
    progress.progress_bar(None, total=1, unit="step")
    assert shown == [True if hidden else None, None]


def test_quiet_keeps_warnings_and_errors(molecules, chemist, capsys):
    bad = ["--quiet", "predict", str(chemist), str(molecules / "bad.csv")]
    assert main(bad) == 2
    assert "bad.csv, line 3 ('C1CC') is not a valid SMILES" in capsys.readouterr().err
    assert main([*bad, "--on-error", "skip"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("graph-metric-learn predict: warning: bad.csv: 1 of 3 rows left out")
    assert printed.out.startswith("graph,prediction,")


def test_a_process_of_its_own_looks_for_garbage_seldom(monkeypatch, capsys):
    """Both are undone here: other tests go on in this process."""
    before = gc.get_threshold()
    monkeypatch.setattr("sys.argv", ["graph-metric-learn", "info", "no/such/model"])
    try:
        assert console() == 2
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count() > 0
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    assert "no/such/model" in capsys.readouterr().err


def test_advice_is_given_as_options(molecules, tmp_path, capsys):
    assert main(["predict", str(tmp_path / "none"), str(molecules / "bad.csv")]) == 2
    capsys.readouterr()
    assert main(["fit", str(molecules / "bad.csv"), "--target", "smiles", "--out", str(tmp_path / "m")]) == 2
    said = capsys.readouterr().err
    assert "(--on-error skip leaves such rows out)" in said
    assert "on_error=" not in said


def test_commands_that_do_not_read_standard_input_say_so(model, tmp_path, capsys):
    assert main(["distances", str(model), "-", "--out", str(tmp_path / "d.csv")]) == 2
    assert "`distances` does not read standard input" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="pipes of another kind")
def test_a_closed_pipe_ends_quietly_and_loses_no_model(folder, tmp_path):
    """As with `| head -1`."""
    out = tmp_path / "m"
    command = [sys.executable, "-m", "graph_metric_learn", "fit", str(folder), "--labels", str(folder / "classes.csv")]
    command += ["--out", str(out), "--no-estimate"]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        ran = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (out / "model.json").is_file()
    command = [sys.executable, "-m", "graph_metric_learn", "info", str(out)]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        ran = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.stderr == ""
