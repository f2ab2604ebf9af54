import csv
import importlib
import io
import json
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.cli import main
from graph_zoo import write_tu


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "knn"
    arguments = ["fit", str(folder), "--labels", str(folder / "classes.csv"), "--out", str(out), "--neighbors", "3"]
    assert main([*arguments, "--no-estimate"]) == 0
    return out


def test_by_default_the_metric_chooses_by_itself(folder, model, tmp_path, capsys):
    assert isinstance(gml.load(model).metric_, gml.GraphMetric)
    assert gml.load(model).names_.tolist()[:2] == ["ring4", "star4"]
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(tmp_path / "m")]) == 0
    said = capsys.readouterr().out
    assert "20 graphs, 2 classes\nchose " in said
    assert re.search(r"accuracy on new graphs about [\d.]+ % ± [\d.]+ % \(the largest class: [\d.]+ %", said)
    found = gml.load(tmp_path / "m")
    assert isinstance(found, gml.GraphKNNClassifier)
    assert (found.n_neighbors, found.weights) == ("auto", "distance")
    assert found.n_neighbors_ in (1, 2, 3, 5, 7, 10, 15)


HEADS = {
    "knn": (gml.GraphKNNClassifier, gml.GraphKNNRegressor),
    "ridge": (gml.GraphRidgeClassifier, gml.GraphRidge),
    "auto": (gml.GraphClassifier, gml.GraphRegressor),
    "svc": (gml.GraphSVC, None),
}


def fit_quickly(source, out, *options):
    return main(["fit", str(source), "--out", str(out), "--no-estimate", *options])


@pytest.mark.parametrize("kind", HEADS)
def test_predictors_of_classes(folder, tmp_path, capsys, kind):
    labels = ["--labels", str(folder / "classes.csv")]
    assert fit_quickly(folder, tmp_path / "m", *labels, "--model", kind) == 0
    assert "on new graphs" not in capsys.readouterr().out
    assert type(gml.load(tmp_path / "m")) is HEADS[kind][0]
    assert main(["predict", str(tmp_path / "m"), str(folder)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert float(rows[0]["share ring"]) + float(rows[0]["share star"]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("kind", ["knn", "ridge", "auto"])
def test_predictors_of_numbers(molecules, tmp_path, capsys, kind):
    source = [str(molecules / "molecules.csv"), "--smiles", "structure"]
    assert fit_quickly(*source[:1], tmp_path / "m", *source[1:], "--target", "logS", "--model", kind) == 0
    said = capsys.readouterr().out
    assert said.startswith("20 graphs\nchose ")
    assert "(numbers, " in said
    assert type(gml.load(tmp_path / "m")) is HEADS[kind][1]
    assert main(["predict", str(tmp_path / "m"), *source]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == ["graph", "prediction"]
    assert max(abs(float(row["prediction"]) - len(row["graph"]) / 7) for row in rows) < 0.15


def test_the_estimate_of_numbers_stands_beside_the_mean(molecules, tmp_path, capsys):
    source = [str(molecules / "molecules.csv"), "--smiles", "structure", "--target", "logS"]
    assert main(["fit", *source, "--out", str(tmp_path / "m"), "--evaluate"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^R² in 5-fold cross-validation: (0\.[89]|1\.0)\d+ ± ", said, re.MULTILINE)
    assert re.search(r"R² on new graphs about (0\.[89]|1\.0)\d+ ± [\d.]+ \(the mean: -0\.\d+\)\n", said)


def test_whole_numbers_are_classes_or_numbers_as_told(molecules, tmp_path, capsys):
    source = [molecules / "molecules.csv", tmp_path / "m", "--smiles", "structure", "--target", "even"]
    assert fit_quickly(*source) == 0
    assert "20 graphs, 2 classes" in capsys.readouterr().out
    assert fit_quickly(*source, "--task", "numbers", "--overwrite") == 0
    assert gml.load(tmp_path / "m").metric_.task_ == "numbers"


def test_a_metric_without_labels(folder, tmp_path, capsys):
    assert main(["fit", str(folder), "--out", str(tmp_path / "m"), "--task", "none", "--model", "metric"]) == 0
    said = capsys.readouterr().out
    assert "(no targets, " in said
    assert "on new graphs" not in said  # there is nothing to predict
    metric = gml.load(tmp_path / "m")
    assert (type(metric), metric.task_) == (gml.GraphMetric, "none")
    assert main(["distances", str(tmp_path / "m"), str(folder), "--out", str(tmp_path / "d.npy")]) == 0
    assert main(["predict", str(tmp_path / "m"), str(folder)]) == 2
    assert "holds a metric without a predictor" in capsys.readouterr().err
    with_labels = ["--labels", str(folder / "classes.csv"), "--task", "none", "--model", "metric", "--overwrite"]
    assert main(["fit", str(folder), "--out", str(tmp_path / "m"), *with_labels]) == 0
    assert "(no targets, " in capsys.readouterr().out


def test_settings_of_the_predictors(folder, tmp_path):
    labels = ["--labels", str(folder / "classes.csv"), "--metric", "sgml", "--epochs", "1", "--overwrite"]
    out = tmp_path / "m"
    assert fit_quickly(folder, out, *labels, "--model", "svc", "--gamma", "0.5", "--C", "2") == 0
    assert (gml.load(out).gamma_, gml.load(out).C_) == (0.5, 2.0)
    assert fit_quickly(folder, out, *labels, "--model", "svc", "--C", "2") == 0
    assert (gml.load(out).gamma, gml.load(out).C) == ("auto", 2.0)
    assert fit_quickly(folder, out, *labels, "--neighbors", "2", "--votes", "uniform") == 0
    assert (gml.load(out).n_neighbors_, gml.load(out).weights) == (2, "uniform")


def test_numbers_with_the_papers_model_need_a_loss_for_them(molecules, tmp_path, capsys):
    source = [molecules / "molecules.csv", tmp_path / "m", "--smiles", "structure", "--target", "logS"]
    assert fit_quickly(*source, "--metric", "sgml", "--epochs", "1") == 2
    assert 'the targets are numbers: use loss="mlkr"' in capsys.readouterr().err
    assert fit_quickly(*source, "--metric", "sgml", "--epochs", "1", "--loss", "mlkr") == 0
    assert gml.load(tmp_path / "m").predict(gml.from_smiles(["CCO"])).shape == (1,)


def test_options_of_the_papers_model_have_its_defaults():
    from inspect import signature

    from graph_metric_learn.cli import _SGML, _SGML_PARAMETERS

    defaults = {name: parameter.default for name, parameter in signature(gml.SGML).parameters.items()}
    for option, settings in _SGML.items():
        said = settings["help"][settings["help"].rindex("(") + 1 : -1]
        assert said == str(defaults[_SGML_PARAMETERS.get(option, option.replace("-", "_"))])


def test_fit_predict_and_distances(folder, model, tmp_path, capsys):
    assert main(["predict", str(model), str(folder)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 20
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert float(rows[0]["share ring"]) + float(rows[0]["share star"]) == pytest.approx(1)
    assert main(["predict", str(model), str(folder), "--out", str(tmp_path / "p.csv")]) == 0
    assert len(list(csv.DictReader((tmp_path / "p.csv").open()))) == 20

    for ending in ("npy", "csv"):
        assert main(["distances", str(model), str(folder), "--out", str(tmp_path / f"d.{ending}")]) == 0
    matrix = np.load(tmp_path / "d.npy")
    graphs = [nx.read_graphml(path) for path in sorted(folder.glob("*.graphml"))]
    np.testing.assert_allclose(matrix, gml.load(model).metric_.pairwise_distances(graphs), atol=1e-6)
    table = list(csv.reader((tmp_path / "d.csv").open()))
    assert table[0][:2] == ["graph", "ring10"]
    np.testing.assert_allclose(np.array([row[1:] for row in table[1:]], dtype=float), matrix, atol=1e-4)
    out = tmp_path / "wide.npy"
    assert main(["distances", str(model), str(folder), "--others", str(folder), "--out", str(out)]) == 0
    np.testing.assert_allclose(np.load(out), matrix, atol=1e-4)


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    """Alcohols and amines with their names and a measured number, and a file that has a bad row."""
    where = tmp_path_factory.mktemp("molecules")
    chains = [("C" * n + end, kind) for n in range(2, 12) for end, kind in (("O", "alcohol"), ("N", "amine"))]
    rows = [f"{text},{kind} {len(text)},{kind},{len(text) / 7:.3f},{len(text) % 2}" for text, kind in chains]
    (where / "molecules.csv").write_text("\n".join(["structure,id,class,logS,even", *rows]))
    (where / "bad.csv").write_text("smiles\nCCCO\nC1CC\nCCCN\n")
    return where


@pytest.fixture(scope="module")
def chemist(molecules, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "chemist"
    columns = ["--smiles", "structure", "--target", "class"]
    assert fit_quickly(molecules / "molecules.csv", out, *columns, "--neighbors", "1") == 0
    return out


def test_molecules_from_a_csv(molecules, chemist, tmp_path, capsys):
    source = [str(molecules / "molecules.csv"), "--smiles", "structure"]
    assert main(["predict", str(chemist), *source, "--name", "id"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["graph"] == "alcohol 3"
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert main(["predict", str(chemist), *source]) == 0
    assert "\nCCO,alcohol," in capsys.readouterr().out  # without names, the SMILES
    assert main(["distances", str(chemist), *source, "--name", "id", "--out", str(tmp_path / "d.csv")]) == 0
    assert (tmp_path / "d.csv").read_text().startswith("graph,alcohol 3,amine 3,")
    assert gml.load(chemist).names_.tolist()[:2] == ["CCO", "CCN"]


def test_bad_rows_of_a_csv_stop_or_are_left_out(molecules, chemist, capsys):
    assert main(["predict", str(chemist), str(molecules / "bad.csv")]) == 2
    assert "bad.csv, line 3 ('C1CC') is not a valid SMILES" in capsys.readouterr().err
    assert main(["predict", str(chemist), str(molecules / "bad.csv"), "--on-error", "skip"]) == 0
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [(row["graph"], row["prediction"]) for row in rows] == [("CCCO", "alcohol"), ("CCCN", "amine")]
    assert "predict: warning: bad.csv: 1 of 3 rows left out: line 3; " in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["svc", "metric"])
def test_other_models(folder, tmp_path, kind, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    out = ["--out", str(tmp_path / "m"), "--model", kind, "--metric", "sgml", "--epochs", "2", "--evaluate"]
    assert main(["fit", str(folder), *labels, *out]) == 0
    printed = capsys.readouterr().out
    assert "20 graphs, 2 classes" in printed
    assert "trained 2 epochs" in printed
    assert "5-fold cross-validation: 100.0 %" in printed
    code = main(["predict", str(tmp_path / "m"), str(folder)])
    assert code == (0 if kind == "svc" else 2)
    if kind == "metric":
        assert "without a predictor" in capsys.readouterr().err
    assert main(["distances", str(tmp_path / "m"), str(folder), "--out", str(tmp_path / "d.npy")]) == 0


def test_evaluation_shuffles_a_sorted_folder(folder, tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr("sklearn.model_selection.cross_val_score", lambda m, X, y, cv: used.append(cv) or np.zeros(5))
    labels = ["--labels", str(folder / "classes.csv"), "--metric", "sgml", "--epochs", "1", "--seed", "3"]
    assert main(["fit", str(folder), *labels, "--out", str(tmp_path / "m"), "--evaluate"]) == 0
    assert (used[0].n_splits, used[0].shuffle, used[0].random_state) == (5, True, 3)


def test_a_folder_in_tu_format(tmp_path):
    tu = write_tu(tmp_path, 12)
    assert fit_quickly(tu, tmp_path / "a") == 0
    assert main(["fit", "TOY", "--root", str(tmp_path), "--out", str(tmp_path / "b"), "--metric", "sgml"]) == 0
    assert main(["predict", str(tmp_path / "a"), str(tu), "--out", str(tmp_path / "p.csv")]) == 0
    assert gml.load(tmp_path / "b").metric_.features_.kind_ == "degree"


def test_nothing_is_overwritten_unasked(folder, model, tmp_path, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(model)]) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "d.npy").write_text("mine")
    assert main(["distances", str(model), str(folder), "--out", str(tmp_path / "d.npy")]) == 2
    assert (tmp_path / "d.npy").read_text() == "mine"


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
            'C must be positive or "auto", got -1.0',
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
    ("what", "options"),
    [
        ("transport", {"quick": True}),
        ("training", {"quick": True, "root": None}),
        ("gpu", {"quick": True, "root": None}),
    ],
)
def test_the_bench_writes_numbers_and_a_picture_once(tmp_path, capsys, monkeypatch, what, options):
    module = importlib.import_module(f"graph_metric_learn.bench.{what}")
    asked = []

    def run(**options):
        asked.append(options)
        report = module.Report(what)
        report.target("speed", 2.0, 1.0, at_most=False)
        return report

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "draw", lambda report: b"a picture of " + report.name.encode())
    out = tmp_path / "bench"
    assert main(["bench", what, "--quick", "--out", str(out)]) == 0
    report = json.loads((out / f"{what}.json").read_text())
    assert report["targets"][0]["met"] is True
    assert (out / f"{what}.png").read_bytes() == b"a picture of " + what.encode()
    assert main(["bench", what, "--quick", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["bench", what, "--quick", "--out", str(out), "--overwrite"]) == 0
    assert asked == [options] * 2


def test_reproduce_passes_its_options_on(tmp_path, monkeypatch):
    passed = {}
    monkeypatch.setattr(
        "graph_metric_learn.experiments.reproduce.reproduce",
        lambda what, out, **options: passed.update(what=what, out=out, **options) or passed["methods"],
    )
    arguments = ["reproduce", "table1", "--datasets", "MUTAG", "BZR", "--runs", "3", "--out", str(tmp_path)]
    assert main(arguments) == 0
    given = {"what": "table1", "out": tmp_path, "datasets": ["MUTAG", "BZR"], "runs": 3, "preset": "authors"}
    assert given.items() <= passed.items()
    others = {"features", "methods", "classifiers", "jobs", "backend", "root", "readme", "molecules", "splits"}
    assert passed.keys() - given.keys() == others
    assert main([*arguments, "--methods", "rpw"]) == 1  # what fails is returned


def test_the_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"graph-metric-learn {gml.__version__}\n"


def test_unknown_commands_exit_with_a_code():
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense"])
    assert stopped.value.code == 2


def test_help_imports_nothing_heavy():
    code = "import sys; from graph_metric_learn.cli import _parser; _parser().format_help();"
    code += "assert not {'torch', 'numpy', 'numba', 'sklearn'} & set(sys.modules), 'heavy import'"
    subprocess.run([sys.executable, "-c", code], check=True)
