import pytest

from graph_metric_learn_reproduction.baselines import W2
from graph_metric_learn_reproduction.experiments import reproduce as module
from graph_metric_learn_reproduction.experiments.reproduce import reproduce


@pytest.fixture
def ran(monkeypatch):
    """What would be run, without running it: the cells, and the other parts by name."""
    cells, parts = [], []
    monkeypatch.setattr(module, "run_cells", lambda wanted, records, **options: cells.extend(wanted) or [])
    monkeypatch.setattr(module, "measure_datasets", lambda *args, **options: parts.append("runtimes"))
    monkeypatch.setattr(module, "measure_figure", lambda *args, **options: parts.append("figure1"))
    monkeypatch.setattr(module, "write_page", lambda records, out: parts.append("page"))
    return cells, parts


def test_datasets_beyond_the_paper(root, tmp_path, capsys):
    out = tmp_path / "out"
    assert (
        reproduce(
            "table1", out, datasets=["TOY"], methods=["rpw"], runs=1, root=root, features="degree", progress=False
        )
        == []
    )
    assert "TOY (degree)" in capsys.readouterr().out
    assert (out / "README.md").read_text().startswith("# Results")


def test_a_method_whose_package_is_missing_is_left_out(root, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(W2, "missing", classmethod(lambda cls: ["ot"]))
    reproduce("table1", tmp_path, datasets=["TOY"], methods=["w2", "random"], runs=1, root=root, features="degree")
    captured = capsys.readouterr()
    assert "w2 is left out: it needs ot; install graph-metric-learn-reproduction" in captured.err
    assert "exact W2" not in captured.out


def test_a_table_is_its_rows_and_tasks(ran, tmp_path):
    cells, parts = ran
    assert reproduce("table3", tmp_path, runs=2) == []
    assert {config["method"] for config in cells} == {"rpw", "wwl-last", "sw", "nca", "pw", "random", "mean-pool", "w2"}
    assert {config["classifier"] for config in cells} == {"knn"}
    assert {config["run"] for config in cells} == {0, 1}
    assert len({(config["dataset"], config["features"]) for config in cells}) == 8
    assert parts == ["page"]


def test_datasets_methods_and_classifiers_can_be_chosen(ran, tmp_path):
    cells, _ = ran
    reproduce("table1", tmp_path, runs=1, datasets=["MUTAG"], classifiers=["svm"])
    assert {config["dataset"] for config in cells} == {"MUTAG"}
    assert {config["classifier"] for config in cells} == {"svm", "own"}
    cells.clear()
    reproduce("table1", tmp_path, runs=1, datasets=["MUTAG"], methods=["pscn", "wl-oa", "sw"])
    chosen = {(config["method"], config["classifier"]) for config in cells}
    assert chosen == {("pscn", "own"), ("wl-oa", "svm"), ("sw", "knn")}


def test_edge_data_is_a_part(ran, tmp_path, capsys):
    cells, parts = ran
    assert reproduce("edges", tmp_path, runs=2) == []
    assert len(cells) == 5 * 2 * 3  # with and without edge data, and GINE
    assert {config["what"] for config in cells} == {"edges"}
    assert "| GraphMetric, without edge data |" in capsys.readouterr().out
    cells.clear()
    reproduce("edges", tmp_path, runs=1, datasets=["BZR_MD", "NCI1"])
    assert {config["dataset"] for config in cells} == {"BZR_MD"}
    assert parts == ["page", "page"]


def test_the_outlook_is_a_part_whose_numbers_need_molecules(ran, tmp_path, capsys):
    cells, _ = ran
    assert reproduce("outlook", tmp_path, runs=1) == []
    assert {config["what"] for config in cells} == {"outlook", "unlabelled"}
    assert "ESOL" not in {config["dataset"] for config in cells}
    assert "numbers are left out of the outlook" in capsys.readouterr().err
    cells.clear()
    reproduce("outlook", tmp_path, runs=1, molecules=tmp_path, datasets=["ESOL", "MUTAG"])
    assert {config["dataset"] for config in cells} == {"ESOL", "MUTAG"}
    assert "left out" not in capsys.readouterr().err


def test_all_is_every_part_and_with_methods_every_table(ran, tmp_path, capsys):
    cells, parts = ran
    reproduce("all", tmp_path, runs=1)
    said = capsys.readouterr().err
    for option in ("molecules", "splits"):
        assert f"is left out: it needs a folder, {option}=…, on the command line --{option} FOLDER" in said
    assert parts == ["runtimes", "figure1", "page"]
    assert {config.get("what") for config in cells} == {None, "ties", "edges", "outlook", "unlabelled"}
    cells.clear()
    parts.clear()
    reproduce("all", tmp_path, runs=1, methods=["rpw"])
    assert parts == ["page"]
    assert {config["method"] for config in cells} == {"rpw"}
    assert len({(config["dataset"], config["features"]) for config in cells}) == 11


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("table9", {}, "unknown part='table9': use one of 'table1', .*'all'"),
        ("table1", {"methods": ["wwl2"]}, "unknown method='wwl2'"),
        ("table1", {"preset": "mine"}, "unknown preset='mine': use one of 'authors', 'paper', 'default'"),
        ("table1", {"runs": 0}, "runs must be a whole number >= 1"),
        ("molecules", {}, "molecules needs a folder: molecules=…, on the command line --molecules FOLDER"),
        ("fair", {}, "fair needs a folder: splits=…, on the command line --splits FOLDER"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(ran, tmp_path, what, options, words):
    with pytest.raises(ValueError, match=words):
        reproduce(what, tmp_path, **options)
    assert ran == ([], [])
