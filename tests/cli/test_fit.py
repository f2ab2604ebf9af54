import csv
import io
import json
import re
from inspect import signature

import numpy as np
import pytest

import graph_metric_learn as gml
from command_line import fit_quickly
from graph_metric_learn.cli import main
from graph_metric_learn.cli.fit import SGML_OPTIONS, SGML_PARAMETERS

HEADS = {
    "knn": (gml.GraphKNNClassifier, gml.GraphKNNRegressor),
    "ridge": (gml.GraphRidgeClassifier, gml.GraphRidge),
    "auto": (gml.GraphClassifier, gml.GraphRegressor),
    "svc": (gml.GraphSVC, None),
}


def test_by_default_the_metric_chooses_by_itself(folder, model, tmp_path, capsys):
    assert isinstance(gml.load(model).metric_, gml.GraphMetric)
    assert gml.load(model).names_.tolist()[:2] == ["ring4", "star4"]
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(tmp_path / "m")]) == 0
    said = capsys.readouterr().out
    assert "20 graphs, 2 classes\ncompares " in said
    assert re.search(
        r"accuracy of neighbours on new graphs about [\d.]+ % ± [\d.]+ % \(the largest class: [\d.]+ %", said
    )
    found = gml.load(tmp_path / "m")
    assert isinstance(found, gml.GraphKNNClassifier)
    assert (found.n_neighbors, found.weights) == ("auto", "distance")
    assert found.n_neighbors_ in (1, 2, 3, 5, 7, 10, 15)


@pytest.mark.parametrize("kind", HEADS)
def test_predictors_of_classes(folder, tmp_path, capsys, kind):
    labels = ["--labels", str(folder / "classes.csv")]
    assert fit_quickly(folder, tmp_path / "m", *labels, "--model", kind) == 0
    assert "on new graphs" not in capsys.readouterr().out
    assert type(gml.load(tmp_path / "m")) is HEADS[kind][0]
    assert main(["predict", str(tmp_path / "m"), str(folder)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert float(rows[0]["probability ring"]) + float(rows[0]["probability star"]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("kind", ["knn", "ridge", "auto"])
def test_predictors_of_numbers(molecules, tmp_path, capsys, kind):
    source = [str(molecules / "molecules.csv"), "--smiles", "structure"]
    assert fit_quickly(*source[:1], tmp_path / "m", *source[1:], "--target", "logS", "--model", kind) == 0
    said = capsys.readouterr().out
    assert said.startswith("20 graphs\ncompares ")
    assert "(numbers, " in said
    assert type(gml.load(tmp_path / "m")) is HEADS[kind][1]
    assert main(["predict", str(tmp_path / "m"), *source]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == ["graph", "prediction"]
    assert max(abs(float(row["prediction"]) - len(row["graph"]) / 7) for row in rows) < 0.15


def test_the_estimate_of_numbers_stands_beside_the_mean(molecules, tmp_path, capsys):
    """The file is sorted by its numbers: folds that are not shuffled would score far lower."""
    source = [str(molecules / "molecules.csv"), "--smiles", "structure", "--target", "logS"]
    assert main(["fit", *source, "--out", str(tmp_path / "m"), "--evaluate"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^R² in 5-fold cross-validation: (0\.[89]|1\.0)\d+ ± ", said, re.MULTILINE)
    assert re.search(r"new graphs about (0\.[89]|1\.0)\d+ ± [\d.]+ \(error [\d.]+, of the mean [\d.]+\)\n", said)


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
    defaults = {name: parameter.default for name, parameter in signature(gml.SGML).parameters.items()}
    for option, settings in SGML_OPTIONS.items():
        said = settings["help"][settings["help"].rindex("(") + 1 : -1]
        assert said == str(defaults[SGML_PARAMETERS.get(option, option.replace("-", "_"))])


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


def test_which_predictor_was_chosen_is_said(folder, tmp_path, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    assert fit_quickly(folder, tmp_path / "m", *labels, "--model", "auto") == 0
    head = gml.load(tmp_path / "m").chosen_["head"]
    assert re.search(
        rf"predicts by .*\({head}\), the best of its predictors on graphs held out", capsys.readouterr().out
    )


def test_what_is_no_model_folder_is_refused_before_learning(folder, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(folder), "--overwrite", "--no-estimate"]) == 2
    said = capsys.readouterr()
    assert "is not a model folder" in said.err
    assert said.out == ""


@pytest.fixture(scope="module")
def assays(tmp_path_factory):
    """Chains with three assays, of which not all were measured."""
    where = tmp_path_factory.mktemp("assays") / "assays.csv"
    rows = []
    for i, n in enumerate(range(2, 42)):
        end = "ON"[i % 2]
        rows.append(f"{'C' * n}{end},{int(end == 'O')},{int(n > 20) if i % 3 else ''},{int(n % 4 < 2)},{n / 7}")
    where.write_text("\n".join(["smiles,alcohol,long,third,size", *rows]))
    return where


LABELS = ["alcohol", "long", "third"]


@pytest.mark.parametrize("kind", ["knn", "ridge", "auto"])
def test_several_labels_with_gaps(assays, tmp_path, capsys, kind):
    assert fit_quickly(assays, tmp_path / "m", "--target", *LABELS, "--model", kind) == 0
    said = capsys.readouterr().out
    assert said.startswith("40 graphs, 3 labels\n")
    if kind == "auto":
        assert re.search(r"the best of its predictors on graphs held out: accuracy of labels 0\.\d{3}\n", said)
    model = gml.load(tmp_path / "m")
    assert type(model) is HEADS[kind][0]
    assert (model.task_, model.target_names_) == ("labels", LABELS)
    assert main(["predict", str(tmp_path / "m"), str(assays)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == [
        "graph",
        *(f"prediction {one}" for one in LABELS),
        *(f"probability {one}" for one in LABELS),
    ]
    assert np.mean([row["prediction alcohol"] == str(int(row["graph"][-1] == "O")) for row in rows]) > 0.9
    assert all((float(row["probability long"]) > 0.5) == (row["prediction long"] == "1") for row in rows)
    assert main(["predict", str(tmp_path / "m"), str(assays), "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert list(first["prediction"]) == list(first["probabilities"]) == LABELS
    assert first["prediction"]["alcohol"] == 1
    assert f"{first['probabilities']['long']:.4g}" == rows[0]["probability long"]
    assert main(["info", str(tmp_path / "m"), "--format", "json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert (about["task"], about["targets"], about["classes"]) == ("labels", LABELS, None)


def test_several_numbers(assays, tmp_path, capsys):
    assert fit_quickly(assays, tmp_path / "m", "--target", "size", "long", "--model", "ridge") == 0
    assert main(["predict", str(tmp_path / "m"), str(assays)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out.split("\nwritten: ")[-1].split("\n", 1)[1])))
    assert list(rows[0]) == ["graph", "prediction size", "prediction long"]
    assert float(rows[-1]["prediction size"]) == pytest.approx(41 / 7, abs=0.5)
    assert main(["predict", str(tmp_path / "m"), str(assays), "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert list(first["prediction"]) == ["size", "long"]


def test_labels_are_not_for_an_svm(assays, tmp_path, capsys):
    assert main(["fit", str(assays), "--target", *LABELS, "--model", "svc", "--out", str(tmp_path / "m")]) == 2
    assert "--model svc is for classes: knn, ridge or auto predict labels" in capsys.readouterr().err


def test_the_page_shows_the_label_that_was_asked_for(assays, tmp_path, capsys):
    assert fit_quickly(assays, tmp_path / "m", "--target", *LABELS) == 0
    page = ["explore", str(tmp_path / "m"), str(assays), "--target", *LABELS, "--out", str(tmp_path / "page.html")]
    assert main([*page, "--label", "long", "--explanations", "0"]) == 0
    values = re.search(
        r'"target":{"kind":"classes","classes":\["0","1"\],"values":\[([^\]]*)\]', (tmp_path / "page.html").read_text()
    )
    assert values[1].split(",") == ["-1" if i % 3 == 0 else str(int(i > 18)) for i in range(40)]
    assert main([*page, "--label", "other", "--overwrite"]) == 2
    assert "there is no label 'other' to show; there are alcohol, long, third" in capsys.readouterr().err
