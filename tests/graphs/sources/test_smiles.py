import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from rdkit import Chem, RDLogger
from sklearn.model_selection import cross_val_score

import graph_metric_learn as gml
from graph_metric_learn.features.tree_hashes import wl_hashes
from graph_metric_learn.graphs.sources.smiles import ATOM_LABELS, Molecules, from_smiles

SINGLE, DOUBLE, TRIPLE, AROMATIC = 1, 2, 3, 12
DRUGS = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "C[N+](C)(C)CC(=O)[O-]",
    "OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O",
    "N#Cc1ccncc1.Cl",
]


def bonds(graph):
    """Every bond as (lower atom, higher atom, kind), sorted; both directions must be there."""
    listed = list(zip(*graph.edge_index.tolist(), graph.edge_type.tolist(), strict=True))
    assert sorted(listed) == sorted((v, u, kind) for u, v, kind in listed)
    return sorted((u, v, kind) for u, v, kind in listed if u < v)


def test_atoms_and_bonds_counted_by_hand():
    vinyl, acetate, pyridine = from_smiles(["C=CC#N", "CC(=O)[O-]", "c1ccncc1"])
    assert vinyl.node_labels.tolist() == [[6, 0, 0, 0, 2], [6, 0, 0, 0, 1], [6, 0, 0, 0, 0], [7, 0, 0, 0, 0]]
    assert bonds(vinyl) == [(0, 1, DOUBLE), (1, 2, SINGLE), (2, 3, TRIPLE)]
    assert acetate.node_labels[3].tolist() == [8, -1, 0, 0, 0]
    assert pyridine.node_labels.tolist() == [[6, 0, 1, 1, 1]] * 3 + [[7, 0, 1, 1, 0]] + [[6, 0, 1, 1, 1]] * 2
    assert bonds(pyridine) == sorted([*((u, u + 1, AROMATIC) for u in range(5)), (0, 5, AROMATIC)])


def test_the_same_as_those_of_pytorch_geometric():
    from torch_geometric.utils import from_smiles as oracle
    from torch_geometric.utils.smiles import e_map, x_map

    for text, graph in zip(DRUGS, from_smiles(DRUGS), strict=True):
        other = oracle(text)
        columns = {name: [values[i] for i in other.x[:, c]] for c, (name, values) in enumerate(x_map.items())}
        wanted = [columns[key] for key in ("atomic_num", "formal_charge", "is_aromatic", "is_in_ring", "num_hs")]
        assert graph.node_labels.T.tolist() == [[int(value) for value in column] for column in wanted]
        kinds = [getattr(Chem.BondType, e_map["bond_type"][i]) for i in other.edge_attr[:, 0]]
        listed = zip(*other.edge_index.tolist(), map(int, kinds), strict=True)
        assert bonds(graph) == sorted(bond for bond in listed if bond[0] < bond[1])


def test_metrics_take_them_with_labels_of_atoms_and_bonds():
    graphs = gml.as_graphs(from_smiles(["CCO", "C=C"]))
    assert graphs.labels[:, 0].tolist() == [6, 6, 8, 6, 6]
    assert graphs.labels.dtype == np.int64
    assert graphs.edge_data.carries == ["labels"]
    assert graphs.edge_data.labels.ravel().tolist() == [SINGLE] * 4 + [DOUBLE] * 2
    assert not graphs.unused


def test_salts_are_one_graph_and_single_atoms_are_graphs():
    salt, methane, neon, hydrogen = from_smiles(["[Na+].[Cl-]", "C", "[Ne]", "[H][H]"])
    assert salt.node_labels[:, :2].tolist() == [[11, 1], [17, -1]]
    assert salt.edge_index.shape == (2, 0)
    assert methane.node_labels.tolist() == [[6, 0, 0, 0, 4]]
    assert neon.num_nodes == 1
    assert bonds(hydrogen) == [(0, 1, SINGLE)]
    graphs = gml.as_graphs([salt, methane, neon, hydrogen])
    assert graphs.sizes.tolist() == [2, 1, 1, 2]
    assert gml.as_graphs(from_smiles(["C", "[Na+].[Cl-]"])).edge_data is None  # no bond at all


def test_kinds_of_bonds_that_are_rare_stay_apart():
    (dative,) = from_smiles(["N->[Pt]"])
    assert dative.edge_type.tolist() == [int(Chem.BondType.DATIVE)] * 2


def test_molecules_of_rdkit_are_taken_as_they_are():
    molecules = [Chem.MolFromSmiles(text) for text in DRUGS]
    for one, other in zip(from_smiles(molecules), from_smiles(DRUGS), strict=True):
        assert one.node_labels.equal(other.node_labels)
        assert bonds(one) == bonds(other)
    assert from_smiles([Chem.MolFromSmiles("OCC")])[0].smiles == "CCO"
    with_hydrogens = from_smiles([Chem.AddHs(Chem.MolFromSmiles("O"))])[0]
    assert sorted(with_hydrogens.node_labels[:, [0, 4]].tolist()) == [[1, 0], [1, 0], [8, 0]]  # each counts once


def test_a_molecule_that_is_not_sanitised_is_so_first_and_stays_as_it_is():
    raw = Chem.MolFromSmiles("C1=CC=CC=C1", sanitize=False)
    (graph,) = from_smiles([raw])
    assert graph.node_labels.tolist() == [[6, 0, 1, 1, 1]] * 6
    assert not raw.GetAtomWithIdx(0).GetIsAromatic()
    with pytest.raises(ValueError, match=r"row 0 is no possible molecule: Explicit valence for atom # 0 C, 5"):
        from_smiles([Chem.MolFromSmiles("C(C)(C)(C)(C)C", sanitize=False)])


@pytest.mark.parametrize("text", DRUGS)
def test_the_order_of_atoms_in_the_text_does_not_matter(text):
    molecule = Chem.MolFromSmiles(text)
    written = [Chem.MolToSmiles(molecule, doRandom=True, canonical=False) for _ in range(5)]
    first, *others = (wl_hashes(gml.as_graphs([graph]), 3) for graph in from_smiles([text, *written]))
    for other in others:
        assert np.array_equal(np.sort(other, axis=1), np.sort(first, axis=1))


def test_names_travel():
    assert from_smiles(["OCC ", "C"]).names == ["OCC", "C"]  # as given, without white space around it
    graphs = from_smiles(["OCC", "C"], names=["ethanol", 7])
    assert [graph.name for graph in graphs] == graphs.names == ["ethanol", "7"]
    assert graphs.smiles == ["OCC", "C"]
    assert from_smiles(["OCC", "C", "N"], names=[None, " ", float("nan")]).names == ["OCC", "C", "N"]
    assert gml.as_graphs(graphs).names.tolist() == ["ethanol", "7"]
    assert gml.as_graphs(from_smiles(["OCC", "C"])).names.tolist() == ["OCC", "C"]
    with pytest.warns(UserWarning, match="1 of 3 rows left out"):
        rest = from_smiles(["OCC", "C1CC", "C"], names=["ethanol", "bad", "methane"], on_error="skip")
    assert gml.as_graphs(rest).names.tolist() == ["ethanol", "methane"]
    classifier = gml.GraphKNNClassifier(gml.SGML(n_epochs=1, edges=False), n_neighbors=1).fit(rest, [0, 1])
    assert classifier.names_.tolist() == ["ethanol", "methane"]
    why = classifier.metric_.explain(*rest)
    assert "between 'ethanol' (3 nodes) and 'methane' (1 node)" in repr(why)
    with pytest.raises(ValueError, match="2 molecules and 1 names"):
        from_smiles(["CCO", "C"], names=["ethanol"])


def test_labels_are_chosen():
    (water,) = from_smiles(["O"], labels=["hydrogens", "element"])
    assert water.node_labels.tolist() == [[2, 8]]
    assert next(iter(ATOM_LABELS)) == "element"
    with pytest.raises(ValueError, match="unknown label='colour': use one of 'element'"):
        from_smiles(["O"], labels=["colour"])
    with pytest.raises(ValueError, match="choose some of element"):
        from_smiles(["O"], labels=[])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("C1CC", r"row 1 \('C1CC'\) is not a valid SMILES"),
        ("hello", r"row 1 \('hello'\) is not a valid SMILES"),
        ("C(C)(C)(C)(C)C", r"row 1 \('C.*C'\) is no possible molecule: Explicit valence for atom # 0 C"),
        ("", "row 1 has no SMILES"),
        (" ", "row 1 has no SMILES"),
        (None, "row 1 has no SMILES"),
        (float("nan"), "row 1 has no SMILES"),
        (Chem.Mol(), "row 1 has no atoms"),
        (7, "row 1 is a int, expected a SMILES string or an RDKit molecule"),
    ],
)
def test_a_bad_row_is_named_or_skipped(row, words, capfd):
    RDLogger.EnableLog("rdApp.*")
    with pytest.raises(ValueError, match=words):
        from_smiles(["CCO", row, "C"])
    with pytest.warns(UserWarning, match=f"1 of 3 rows left out: row 1; {words.replace('row 1', 'the first')}") as said:
        graphs = from_smiles(["CCO", row, "C"], names="abc", on_error="skip")
    assert len(said) == 1
    assert said[0].filename == __file__
    assert graphs.names == ["a", "c"]
    assert graphs.rows.tolist() == [0, 2]
    assert capfd.readouterr().err == ""  # RDKit itself says nothing


def test_the_log_of_rdkit_is_silent_only_meanwhile(capfd):
    RDLogger.EnableLog("rdApp.error")  # PyTorch Geometric switches it off for good
    with pytest.raises(ValueError, match="row 0"):
        from_smiles(["C1CC"])
    Chem.MolFromSmiles("C1CC")
    assert "unclosed ring" in capfd.readouterr().err


def test_many_bad_rows_are_one_warning():
    with pytest.warns(UserWarning, match=r"30 of 31 rows left out: row 1, .*, row 20 and 10 more; the first"):
        graphs = from_smiles(["C", *["x"] * 30], on_error="skip")
    assert len(graphs) == 1
    with pytest.raises(ValueError, match=r"none of the 2 rows can be read; the first \('x'\) is not"):
        from_smiles(["x", "y"], on_error="skip")


def test_good_rows_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert from_smiles(["C", "O"], on_error="skip").rows.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("smiles", "words"), [("CCO", "got a single SMILES"), (7, "got a int"), ([], "no molecules were given")]
)
def test_what_is_no_list_of_molecules(smiles, words):
    with pytest.raises(ValueError, match=words):
        from_smiles(smiles)
    with pytest.raises(ValueError, match="unknown on_error='ignore'"):
        from_smiles(["C"], on_error="ignore")


def test_rows_come_in_the_order_given():
    """A shuffled pandas Series has its own index, which says nothing of the order."""

    class Shuffled:
        def __init__(self, values, index):
            self.values = dict(zip(index, values, strict=True))

        def __iter__(self):
            return iter(self.values.values())

        def __getitem__(self, key):
            return self.values[key]

    assert from_smiles(Shuffled(["C", "O", "N"], [2, 0, 1])).smiles == ["C", "O", "N"]


def test_graphs_are_small_and_on_their_own():
    graphs = from_smiles(["CCO"] * 500)
    assert len(pickle.dumps(graphs[0])) < 10_000  # not a view of all 500
    assert isinstance(pickle.loads(pickle.dumps(graphs)), Molecules)
    assert pickle.loads(pickle.dumps(graphs)).rows.tolist() == list(range(500))


def test_scikit_learn_takes_them():
    chains = ["C" * n + end for n in range(2, 12) for end in ("O", "N")]
    graphs, y = from_smiles(chains), [text[-1] for text in chains]
    metric = gml.GraphMetric(features=["labels@0"], random_state=0)
    assert cross_val_score(gml.GraphKNNClassifier(metric, n_neighbors=1), graphs, y, cv=2).mean() > 0.8


def test_without_rdkit_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ImportError, match=r"pip install graph-metric-learn\[chem\]"):
        from_smiles(["CCO"])


def test_rdkit_is_not_imported_before_it_is_needed():
    code = "import sys, graph_metric_learn as gml; gml.from_smiles; gml.datasets.load_smiles;"
    subprocess.run([sys.executable, "-c", code + "assert 'rdkit' not in sys.modules"], check=True)
