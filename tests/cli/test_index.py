import io
import json

import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.cli import index as index_command
from graph_metric_learn.cli import main, shared_options


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


def test_approximate_search_is_prepared(folder, model, tmp_path, capsys):
    pytest.importorskip("usearch", reason="needs graph-metric-learn[index]")
    out = tmp_path / "index"
    arguments = ["index", str(model), str(folder), "--out", str(out)]
    assert main(arguments) == 0
    assert not list(out.glob("build-*/approximate"))
    assert main([*arguments, "--overwrite", "--approximate"]) == 0
    assert len(list(out.glob("build-*/approximate"))) == 1
    gml.GraphIndex.load(out).verify()
    assert main(["neighbors", str(out), str(folder), "-k", "1", "--approximate"]) == 0
    assert "of the 10 nearest graphs" in capsys.readouterr().err


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


DRINKS = [("ethanol", "CCO"), ("methanol", "CO"), ("propanol", "CCCO"), ("butanol", "CCCCO"), ("amine", "CCN")]


def csv_of(path, rows):
    path.write_text("\n".join(["id,smiles", *(f"{name},{smiles}" for name, smiles in rows)]))
    return str(path)


@pytest.fixture
def run_index(chemist, tmp_path, capsys, monkeypatch):
    """Runs `index` on rows of names and SMILES, `chunk` at a time: exit code, stdout and stderr."""
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")

    def run(rows, *options, chunk=4000, name=("--name", "id")):
        monkeypatch.setattr(index_command, "_CHUNK", chunk)
        source = csv_of(tmp_path / "source.csv", rows)
        code = main(["index", str(chemist), source, *name, "--out", str(tmp_path / "index"), *options])
        return code, *capsys.readouterr()

    return run


def vectors_by_id(path):
    """The vectors of an index, which tell graphs apart, by id."""
    index = gml.GraphIndex.load(path, read_only=True)
    return {name: index.embedded([name]).values[0].tolist() for name in index.ids}


def assert_same_vectors(path, wanted):
    """Up to rounding, which depends on the graphs that are embedded together."""
    found = vectors_by_id(path)
    assert found.keys() == wanted.keys()
    for name, vector in wanted.items():
        np.testing.assert_allclose(found[name], vector, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 2, 3, 4000])
def test_a_name_that_comes_twice_is_an_error_wherever_chunks_end(run_index, tmp_path, chunk):
    code, _, said = run_index([*DRINKS, ("ethanol", "CCCCCCN")], chunk=chunk)
    assert code == 2
    assert "ethanol comes twice in" in said
    assert "--known skip keeps the first" in said
    assert "--ids numbers" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.csv"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 4000])
@pytest.mark.parametrize("known", ["skip", "update"])
def test_a_name_that_comes_twice_is_treated_as_told_wherever_chunks_end(run_index, tmp_path, chunk, known):
    twice = [*DRINKS, ("ethanol", "CCCCCCN"), ("water", "O"), ("ethanol", "CCCCN")]
    assert run_index([*DRINKS, ("water", "O")])[0] == 0
    wanted = vectors_by_id(tmp_path / "index")
    if known == "update":
        assert run_index([("ethanol", "CCCCN"), *DRINKS[1:], ("water", "O")], "--overwrite")[0] == 0
        assert vectors_by_id(tmp_path / "index")["ethanol"] != wanted["ethanol"]
        wanted = vectors_by_id(tmp_path / "index")
    code, said, _ = run_index(twice, "--overwrite", "--known", known, chunk=chunk)
    assert code == 0
    assert "(6 graphs, 6 of them new)" in said
    assert_same_vectors(tmp_path / "index", wanted)
    for _ in range(2):  # and again on what is there
        code, said, _ = run_index(twice, "--append", "--known", known, chunk=chunk)
        assert code == 0
        assert "(6 graphs, 0 of them new)" in said
        assert_same_vectors(tmp_path / "index", wanted)


def test_appending_a_name_twice_is_an_error(run_index, tmp_path):
    assert run_index(DRINKS)[0] == 0
    code, _, said = run_index([("water", "O"), ("ammonia", "N"), ("water", "CO")], "--append")
    assert code == 2
    assert "water comes twice" in said
    assert len(gml.GraphIndex.load(tmp_path / "index")) == 5


def test_running_numbers_as_ids(run_index, tmp_path):
    rows = [*DRINKS, DRINKS[0]]
    code, _, said = run_index(rows, name=())
    assert code == 2
    assert "CCO comes twice" in said
    assert run_index(rows, "--ids", "numbers", name=(), chunk=4)[0] == 0
    assert run_index(DRINKS, "--ids", "numbers", "--append")[0] == 0  # all names differ, and are no ids
    index = gml.GraphIndex.load(tmp_path / "index")
    assert index.ids.tolist() == list(range(11))
    assert index.metadata([5, 6]) == [{"name": "CCO"}, {"name": "ethanol"}]
    code, _, said = run_index(DRINKS, "--ids", "numbers", "--append", "--known", "skip")
    assert code == 2
    assert "--known skip goes by names" in said


def test_names_of_lines_that_repeat(model, tmp_path, capsys, monkeypatch):
    ring = {"nodes": [{"id": i} for i in range(4)], "edges": [{"source": i, "target": (i + 1) % 4} for i in range(4)]}
    lines = [json.dumps({"name": name, **ring}) for name in "aba"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    assert main(["index", str(model), "-", "--out", str(tmp_path / "index")]) == 2
    assert "a comes twice in standard input" in capsys.readouterr().err


@pytest.mark.parametrize("chunk", [2, 4000])
def test_a_failure_leaves_nothing_that_was_not_there(run_index, tmp_path, chunk):
    bad = [*DRINKS, ("z", "C1CC")]
    deep = ("--out", str(tmp_path / "new" / "deep" / "index"))
    for more in ((), deep):
        code, _, said = run_index(bad, *more, chunk=chunk)
        assert code == 2
        assert "C1CC" in said
        assert "were added" not in said
        assert sorted(path.name for path in tmp_path.iterdir()) == ["source.csv"]
    assert run_index(bad, "--on-error", "skip", chunk=chunk)[0] == 0
    assert run_index(bad, *deep, "--on-error", "skip", chunk=chunk)[0] == 0
    assert len(gml.GraphIndex.load(deep[1])) == len(gml.GraphIndex.load(tmp_path / "index")) == 5


def interrupted_after(monkeypatch, chunks):
    """Ctrl-C when so many chunks were read."""
    read = shared_options.source_chunks

    def some(*arguments):
        for i, chunk in enumerate(read(*arguments)):
            if i == chunks:
                raise KeyboardInterrupt
            yield chunk

    monkeypatch.setattr(shared_options, "source_chunks", some)


def test_an_interruption_leaves_nothing_that_was_not_there(run_index, tmp_path, monkeypatch):
    interrupted_after(monkeypatch, 2)
    assert run_index(DRINKS, chunk=2)[0] == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.csv"]


def test_overwriting_that_fails_leaves_the_old_index(run_index, tmp_path, monkeypatch):
    out = tmp_path / "index"
    assert run_index(DRINKS)[0] == 0
    before, files = vectors_by_id(out), sorted(path.name for path in out.iterdir())
    other = [("a", "CCCCCN"), ("b", "CCCCCCO"), ("c", "C1CC")]
    code, _, said = run_index(other, "--overwrite", chunk=1)
    assert code == 2
    assert "C1CC" in said
    assert vectors_by_id(out) == before
    assert sorted(path.name for path in out.iterdir()) == files
    with monkeypatch.context() as patch:
        interrupted_after(patch, 1)
        assert run_index(other[:2], "--overwrite", chunk=1)[0] == 130
    assert vectors_by_id(out) == before
    code, said, _ = run_index(other[:2], "--overwrite", chunk=1)
    assert code == 0
    assert "(2 graphs, 2 of them new)" in said
    assert set(vectors_by_id(out)) == {"a", "b"}
    gml.GraphIndex.load(out).verify()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "source.csv"]


def test_appending_that_stops_says_how_far_it_came(run_index, tmp_path, monkeypatch):
    assert run_index(DRINKS[:1])[0] == 0
    bad = [*DRINKS[1:], ("z", "C1CC")]
    code, _, said = run_index(bad, "--append", chunk=2)
    assert code == 2
    assert f"stopped after 4 graphs were added to {tmp_path / 'index'}; --append --known skip goes on" in said
    code, _, said = run_index(bad, "--append", "--known", "update", chunk=2)
    assert code == 2
    assert "0 graphs were added" in said
    assert "and 4 replaced; --append --known update goes on" in said
    code, _, said = run_index(bad, "--append", "--known", "skip", chunk=2)
    assert "were added" not in said
    code, said, _ = run_index([*bad[:-1], ("water", "O")], "--append", "--known", "skip", chunk=2)
    assert code == 0
    assert "(6 graphs, 1 of them new)" in said
    with monkeypatch.context() as patch:
        interrupted_after(patch, 1)
        code, _, said = run_index([("p", "P"), ("s", "S"), ("n", "N")], "--append", "--ids", "numbers", chunk=2)
    assert code == 130
    assert "stopped after 2 graphs were added" in said
    assert "the same command adds them again" in said
