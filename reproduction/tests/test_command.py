from graph_metric_learn.cli import main


def test_reproduce_passes_its_options_on(tmp_path, monkeypatch):
    passed = {}
    monkeypatch.setattr(
        "graph_metric_learn_reproduction.experiments.reproduce.reproduce",
        lambda what, out, **options: passed.update(what=what, out=out, **options) or passed["methods"],
    )
    arguments = ["reproduce", "table1", "--datasets", "MUTAG", "BZR", "--runs", "3", "--out", str(tmp_path)]
    assert main(arguments) == 0
    given = {"what": "table1", "out": tmp_path, "datasets": ["MUTAG", "BZR"], "runs": 3, "preset": "authors"}
    assert given.items() <= passed.items()
    others = {"features", "methods", "classifiers", "jobs", "backend", "root", "readme", "molecules", "splits"}
    assert passed.keys() - given.keys() == others
    assert main([*arguments, "--methods", "rpw"]) == 1  # what fails is returned
