import gzip
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem
from sklearn.model_selection import GroupKFold, StratifiedKFold

import graph_metric_learn as gml
from graph_metric_learn.datasets import load_smiles, scaffolds

REPOSITORY = Path(__file__).resolve().parents[2]
MOLECULES = Path(os.environ.get("GRAPH_METRIC_LEARN_MOLECULES") or REPOSITORY.parent / "shared" / "molecules")

TABLE = "id,smiles,class,logS\nm1,CCO,a,0.5\nm2,c1ccccc1,b,-2\nm3,C=C,a,1e-1\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_graphs_targets_and_names(file):
    molecules = load_smiles(file(TABLE), target="class", name="id")
    assert [graph.num_nodes for graph in molecules.graphs] == [3, 6, 2]
    assert molecules.y.tolist() == [graph.y for graph in molecules.graphs] == ["a", "b", "a"]
    assert molecules.names == [graph.name for graph in molecules.graphs] == ["m1", "m2", "m3"]
    assert molecules.smiles == ["CCO", "c1ccccc1", "C=C"]
    assert (molecules.name, len(molecules), molecules.rows.tolist()) == ("table", 3, [0, 1, 2])
    assert "3 molecules, 2 classes, on average 3.7 atoms and 3.0 bonds" in repr(molecules)
    assert gml.as_graphs(molecules).y.tolist() == ["a", "b", "a"]
    assert gml.as_graphs(molecules).names.tolist() == ["m1", "m2", "m3"]


def test_without_a_target_and_names(file):
    molecules = load_smiles(file(TABLE))
    assert molecules.y is None
    assert molecules.names == molecules.smiles
    assert "y" not in molecules.graphs[0]


def test_numbers_stay_numbers(file):
    molecules = load_smiles(file(TABLE), target="logS")
    assert molecules.y.dtype == np.float64
    assert molecules.y.tolist() == [0.5, -2, 0.1]
    assert molecules.graphs[2].y.tolist() == [0.1]  # to the last digit
    assert "a number each, 3 different ones" in repr(molecules)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["1", "0"], np.array([1, 0])),
        (["-1", "+7"], np.array([-1, 7])),
        (["1.0", "0"], np.array([1.0, 0.0])),
        (["1", "one"], np.array(["1", "one"])),
        (["inf", "1"], np.array(["inf", "1"])),
        (["9" * 30, "1"], np.array(["9" * 30, "1"])),
    ],
)
def test_kinds_of_targets(file, values, wanted):
    y = load_smiles(file("smiles,y\n" + "".join(f"C,{value}\n" for value in values)), target="y").y
    assert y.dtype == wanted.dtype
    assert y.tolist() == wanted.tolist()


def test_a_compressed_file(tmp_path):
    path = tmp_path / "some.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    molecules = load_smiles(path, target="class")
    assert (molecules.name, molecules.y.tolist()) == ("some", ["a", "b", "a"])


def test_quotes_byte_order_marks_and_empty_lines(file):
    text = '\ufeff"smiles", name \r\n\r\n"CCO","ethanol, the drink"\r\n\r\nC1CC,bad\r\n'
    with pytest.warns(UserWarning, match=r"table.csv: 1 of 2 rows left out: line 5; the first \('C1CC'\) is"):
        molecules = load_smiles(file(text), name="name", on_error="skip")
    assert molecules.names == ["ethanol, the drink"]


def test_empty_names_are_the_smiles(file):
    assert load_smiles(file("smiles,name\nCCO,\nC,methane\n"), name="name").names == ["CCO", "methane"]


def test_bad_smiles_are_named_with_their_line_or_skipped(file):
    path = file('smiles,note,class\nCCO,"two\nlines",a\nC1CC,,b\n,,a\nO,,b\nN,,\n')
    with pytest.raises(ValueError, match=r"^table.csv, line 4 \('C1CC'\) is not a valid SMILES"):
        load_smiles(path)
    with pytest.warns(UserWarning, match=r"table.csv: 2 of 5 rows left out: line 4, line 5; the") as said:
        molecules = load_smiles(path, on_error="skip")
    assert len(said) == 1
    assert said[0].filename == __file__
    assert molecules.smiles == ["CCO", "O", "N"]
    assert molecules.rows.tolist() == [0, 3, 4]
    with pytest.warns(UserWarning, match="3 of 5 rows"):
        assert load_smiles(path, target="class", on_error="skip").y.tolist() == ["a", "b"]


@pytest.mark.parametrize("missing", ["", " ", "NA", "nan", "null", "N/A"])
def test_a_missing_target_is_named_with_its_line(file, missing):
    path = file(f"smiles,logS\nC,1\nCC,{missing}\nCCC,3\n")
    with pytest.raises(ValueError, match=r"^table.csv, line 3 \('CC'\) has no logS"):
        load_smiles(path, target="logS")
    with pytest.warns(UserWarning, match="1 of 3 rows left out: line 3; "):
        assert load_smiles(path, target="logS", on_error="skip").y.tolist() == [1, 3]
    assert len(load_smiles(path)) == 3  # nobody asked for it


GAPS = "smiles,a,b\nC,1,\nCC,,0.5\nCCC,3,NA\nCCCC,4,-2e1\nCCCCC,5,1\n"


def test_several_targets_are_columns_with_gaps(file):
    molecules = load_smiles(file(GAPS), target=["a", "b"])
    wanted = [[1, np.nan], [np.nan, 0.5], [3, np.nan], [4, -20], [5, 1]]
    assert molecules.y.dtype == np.float64
    np.testing.assert_array_equal(molecules.y, wanted)
    np.testing.assert_array_equal(gml.as_graphs(molecules).y, wanted)
    np.testing.assert_array_equal(gml.as_graphs(molecules.graphs).y, wanted)
    assert "5 molecules, 2 numbers each, 3 of them missing, on average" in repr(molecules)
    assert "2 numbers each" in molecules._repr_html_()
    np.testing.assert_array_equal(load_smiles(file(GAPS), target=("b", "a"), on_error="skip").y, np.fliplr(wanted))


def test_one_column_in_a_list_is_a_column(file):
    molecules = load_smiles(file("smiles,a\nC,1\nCC,2\n"), target=["a"])
    assert molecules.y.tolist() == [[1.0], [2.0]]
    assert "1 numbers each" not in repr(molecules)


def test_a_regressor_learns_several_targets_with_gaps(file):
    rows = [f"{'C' * n},{n},{'' if n % 3 else n * n}" for n in range(1, 19)]
    molecules = load_smiles(file("smiles,a,b\n" + "\n".join(rows)), target=["a", "b"])
    model = gml.GraphKNNRegressor(gml.GraphMetric(random_state=0)).fit(molecules.graphs, molecules.y)
    assert model.predict(molecules.graphs[:4]).shape == (4, 2)
    assert np.isfinite(model.predict(molecules.graphs)).all()


def test_a_row_without_any_target_is_named_with_its_line(file):
    path = file("smiles,a,b\nC,1,\nCC,,nan\nCCC,,3\n")
    with pytest.raises(ValueError, match=r"^table.csv, line 3 \('CC'\) has no a and no b"):
        load_smiles(path, target=["a", "b"])
    with pytest.warns(UserWarning, match="1 of 3 rows left out: line 3; "):
        found = load_smiles(path, target=["a", "b"], on_error="skip")
    np.testing.assert_array_equal(found.y, [[1, np.nan], [np.nan, 3]])
    assert found.rows.tolist() == [0, 2]


@pytest.mark.parametrize("value", ["high", "1_000", "1e999"])
def test_several_targets_must_be_numbers(file, value):
    words = rf"^table.csv: several targets are numbers, and b on line 3 is '{value}'; for classes give one column"
    with pytest.raises(ValueError, match=words):
        load_smiles(file(f"smiles,a,b\nC,1,2\nCC,2,{value}\n"), target=["a", "b"])


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (TABLE, {"target": []}, r"target=\[\] must name one column or more, each once"),
        (TABLE, {"target": ["logS", "logS"]}, "must name one column or more, each once"),
        (TABLE, {"target": ["logS", "y"]}, "no column 'y', its columns are id, smiles"),
        (TABLE, {"smiles": "SMILES"}, "table.csv has no column 'SMILES', its columns are id, smiles, class, logS"),
        (TABLE, {"target": "y"}, "no column 'y', its columns are id, smiles"),
        (TABLE.replace(",", ";"), {}, "columns separated by ';': separate them by commas"),
        (TABLE, {"name": "n"}, "no column 'n', its columns are id, smiles"),
        ("smiles,smiles\nC,C\n", {}, "several columns 'smiles'"),
        ("smiles,y\nC\n", {}, r"table.csv, line 2 \('C'\) has 1 values for 2 columns"),
        ("", {}, "needs a header"),
        ("smiles\n", {}, "needs a header with names of columns, and at least one row"),
        (TABLE, {"on_error": "ignore"}, "unknown on_error='ignore'"),
    ],
)
def test_what_cannot_be_read(file, text, options, words):
    with pytest.raises(ValueError, match=words):
        load_smiles(file(text), **options)


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*none.csv: No such file"):
        load_smiles(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00smiles")
    with pytest.raises(ValueError, match="not text in UTF-8"):
        load_smiles(tmp_path / "binary.csv")
    for number, content in enumerate((TABLE.encode(), gzip.compress(TABLE.encode() * 99)[:-50])):
        (tmp_path / f"{number}.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=f"cannot read .*{number}.csv.gz: "):
            load_smiles(tmp_path / f"{number}.csv.gz")


def test_scaffolds_are_rings_and_what_joins_them():
    benzene, biphenyl = "c1ccccc1", "c1ccc(-c2ccccc2)cc1"
    rows = ["Cc1ccccc1", Chem.MolFromSmiles("OCCc1ccccc1"), "Cc1ccccc1-c1ccccc1", "CCO", "[Na+].[O-]c1ccccc1"]
    assert scaffolds(rows) == [benzene, benzene, biphenyl, "", benzene]
    assert scaffolds(["C[C@H]1CCCO1", "C[C@@H]1CCCO1"]) == ["C1CCOC1"] * 2
    groups = scaffolds(rows)
    for train, test in GroupKFold(2).split(rows, groups=groups):
        assert not {groups[i] for i in train} & {groups[i] for i in test}


def test_bad_molecules_have_no_scaffold():
    with pytest.raises(ValueError, match=r"row 1 \('C1CC'\) is not a valid SMILES"):
        scaffolds(["C", "C1CC"])
    with pytest.raises(ValueError, match="got a single SMILES"):
        scaffolds("CCO")


def test_without_rdkit_the_error_says_how_to_install_it(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    for call in (lambda: load_smiles(file(TABLE)), lambda: scaffolds(["C"])):
        with pytest.raises(ImportError, match=r"pip install graph-metric-learn\[chem\]"):
            call()


# --- real molecules --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real():
    if not (MOLECULES / "Lipophilicity.csv").is_file():
        pytest.skip(f"no molecules in {MOLECULES}: set GRAPH_METRIC_LEARN_MOLECULES to a folder with Lipophilicity.csv")
    return MOLECULES


def test_files_of_moleculenet(real):
    esol = load_smiles(real / "ESOL.csv", target="measured log solubility in mols per litre", name="Compound ID")
    assert len(esol) == 1128
    assert esol.names[1] == "Fenfuram"
    assert esol.y[1] == -3.3
    assert min(graph.num_nodes for graph in esol.graphs) == 1  # methane
    assert len(gml.as_graphs(esol)) == 1128
    bace = load_smiles(real / "BACE.csv", target="class")
    assert (len(bace), bace.y.dtype.kind, int(bace.y.sum())) == (1513, "i", 691)
    assert len(set(scaffolds(bace.smiles))) > 100


def double_bonds(folder):
    """The molecules that have a C=C or C#C outside aromatic rings, as many that have none, and which is which."""
    molecules = load_smiles(folder / "Lipophilicity.csv", name="CMPD_CHEMBLID")
    pattern = Chem.MolFromSmarts("[C;!a]=,#[C;!a]")
    has = np.array([Chem.MolFromSmiles(text).HasSubstructMatch(pattern) for text in molecules.smiles])
    none = np.random.default_rng(0).choice(np.flatnonzero(~has), has.sum(), replace=False)
    chosen = np.sort(np.concatenate([np.flatnonzero(has), none]))
    return [molecules.graphs[i] for i in chosen], has[chosen]


def test_double_bonds_are_found_by_neighbours(real):
    """One of five folds, to save time."""
    graphs, has = double_bonds(real)
    assert (len(graphs), has.sum()) == (468, 234)
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(graphs, has))
    classifier = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0)).fit([graphs[i] for i in train], has[train])
    assert classifier.score([graphs[i] for i in test], has[test]) >= 0.95


def test_a_short_row_can_be_left_out(file):
    path = file(TABLE + "m4,CC\nm5,CCC,b,1,2\nm6,CCCC,b,3\n")
    with pytest.raises(ValueError, match=r"line 5 \('CC'\) has 2 values for 4 columns"):
        load_smiles(path)
    with pytest.warns(UserWarning, match="2 of 6 rows left out: line 5, line 6"):
        found = load_smiles(path, target="logS", name="id", on_error="skip")
    assert found.names == ["m1", "m2", "m3", "m6"]
    assert found.y.tolist() == [0.5, -2, 0.1, 3]


@pytest.mark.parametrize("classes", [("01", "02"), ("12345678901234567890", "12345678901234567891"), ("7", "07")])
def test_names_that_look_like_numbers_stay_as_they_are(file, classes):
    rows = [f"{'C' * (i + 1)},{classes[i % 2]}" for i in range(4)]
    found = load_smiles(file("smiles,class\n" + "\n".join(rows)), target="class")
    assert found.y.tolist() == [*classes, *classes]


@pytest.mark.parametrize(("values", "kind"), [(("0", "10"), "i"), (("-3", "+4"), "i"), (("0.5", "00.5"), "f")])
def test_numbers_are_numbers(file, values, kind):
    found = load_smiles(file(f"smiles,y\nC,{values[0]}\nCC,{values[1]}\n"), target="y")
    assert found.y.dtype.kind == kind


def test_one_value_that_is_no_number_is_said_with_its_line(file):
    rows = [f"{'C' * (i + 1)},{i / 7:.3f}" for i in range(20)]
    rows[12] = 'CCN,"0,7"'
    with pytest.warns(UserWarning, match=r"y is read as classes, since 1 of 20 values .* on line 14, is '0,7'"):
        assert load_smiles(file("smiles,y\n" + "\n".join(rows)), target="y").y.dtype.kind == "U"


ASSAYS = "smiles,age,sex,dose\nCCO,61,f,007\nno,1,x,1\nc1ccccc1,,m,1\nC=C,7.5, NA ,007\n"


def test_columns_that_describe_whole_graphs(file):
    with pytest.warns(UserWarning, match="line 3"):
        molecules = load_smiles(file(ASSAYS), on_error="skip", graph_columns=["age", "sex", "dose"])
    graphs = gml.as_graphs(molecules)
    assert graphs.graph_columns == ("age", "sex=f", "sex=m", "dose=007", "dose=1")
    nan = np.nan
    np.testing.assert_array_equal(graphs.graph_x, [[61, 1, 0, 1, 0], [nan, 0, 1, 0, 1], [7.5, nan, nan, 1, 0]])
    assert molecules.graphs[0].u.tolist() == [[61, 1, 0, 1, 0]]


def test_columns_beside_descriptors(file):
    text = TABLE.replace("id,", "HeavyAtomCount,")
    molecules = load_smiles(file(TABLE), graph_columns="logS", descriptors=["HeavyAtomCount"])
    graphs = gml.as_graphs(molecules)
    assert graphs.graph_columns == ("logS", "HeavyAtomCount")
    assert graphs.graph_x.tolist() == [[0.5, 3], [-2, 6], [0.1, 2]]
    with pytest.raises(ValueError, match="two columns 'HeavyAtomCount'"):
        load_smiles(file(text), graph_columns="HeavyAtomCount", descriptors=["HeavyAtomCount"])
    assert "u" not in load_smiles(file(TABLE)).graphs[0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("weight", "no column 'weight'"),
        ([], "graph_columns must name one"),
        ("a=b", "without '='"),
        ("long", "line 2: 'long' holds what is no finite number"),
    ],
)
def test_bad_columns_of_whole_graphs(file, columns, message):
    with pytest.raises(ValueError, match=message):
        load_smiles(file("smiles,long,a=b\nC,1e999,2\n"), graph_columns=columns)
