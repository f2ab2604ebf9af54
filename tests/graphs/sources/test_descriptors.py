import pickle

import numpy as np
import pytest
from joblib import parallel_config
from rdkit import Chem
from rdkit.Chem import Descriptors
from torch_geometric.data import Batch

import graph_metric_learn as gml
from graph_metric_learn.graphs.sources import descriptors as module
from graph_metric_learn.graphs.sources.descriptors import describe, descriptor_names

SMILES = ["CCO", "c1ccccc1C(=O)O", "[Na+].[Cl-]", "CC(C)CN", "C[C@H](N)C(=O)O"]
ALL = [name for name, _ in Descriptors.descList]


def test_values_are_those_of_rdkit():
    graphs = gml.from_smiles(SMILES, descriptors=["TPSA", "MolLogP"])
    collection = gml.as_graphs(graphs)
    assert collection.graph_columns == ("TPSA", "MolLogP")
    molecules = [Chem.MolFromSmiles(one) for one in SMILES]
    wanted = [[Descriptors.TPSA(one), Descriptors.MolLogP(one)] for one in molecules]
    np.testing.assert_array_equal(collection.graph_x, wanted)
    assert collection.unused == ()
    assert graphs[0].u.shape == (1, 2)


def test_all_of_them_and_none():
    collection = gml.as_graphs(gml.from_smiles(SMILES, descriptors=True))
    assert list(collection.graph_columns) == ALL
    molecule = Chem.MolFromSmiles(SMILES[1])
    wanted = [function(molecule) for _, function in Descriptors.descList]
    np.testing.assert_array_equal(collection.graph_x[1], wanted)
    for nothing in (None, False):
        assert "u" not in gml.from_smiles(SMILES, descriptors=nothing)[0]


def test_what_has_no_finite_value_is_not_known(monkeypatch):
    def fails(molecule):
        raise ValueError("no such thing")

    known = {"inf": lambda _: np.inf, "nan": lambda _: np.nan, "fails": fails, "one": lambda _: 1}
    monkeypatch.setattr(module, "_functions", lambda: known)
    np.testing.assert_array_equal(describe(["C"], [*known]).values, [[np.nan] * 3 + [1]])


def test_rows_that_are_left_out():
    with pytest.warns(UserWarning, match="row 1"):
        graphs = gml.from_smiles(["C", "no", "CC"], descriptors=["HeavyAtomCount"], on_error="skip")
    assert [graph.u.tolist() for graph in graphs] == [[[1]], [[2]]]


def test_molecules_of_rdkit_and_batches():
    graphs = gml.from_smiles([Chem.AddHs(Chem.MolFromSmiles("CO"))], descriptors=["HeavyAtomCount", "MolWt"])
    assert gml.as_graphs(graphs).graph_x.round(1).tolist() == [[2, 32]]
    batch = Batch.from_data_list(gml.from_smiles(["C", "CC"], descriptors=["HeavyAtomCount"]))
    assert batch.u.tolist() == [[1], [2]]
    assert gml.as_graphs(batch).graph_x.tolist() == [[1], [2]]
    assert len(pickle.dumps(gml.from_smiles(["C"] * 50, descriptors=True)[0])) < 20_000


def test_many_are_shared_out_among_processes(monkeypatch):
    names, many = ["MolWt", "TPSA"], SMILES * 3
    alone = describe(many, names).values
    monkeypatch.setattr(module, "_AT_ONCE", 4)
    told = []
    real = module.in_parallel

    def watched(*arguments):
        told.append(module.is_parallel())
        return real(*arguments)

    monkeypatch.setattr(module, "in_parallel", watched)
    np.testing.assert_array_equal(describe(many, names).values, alone)
    monkeypatch.setattr(module, "_FEW", 3)
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    np.testing.assert_array_equal(describe(many, names).values, alone)
    monkeypatch.setattr("joblib.cpu_count", lambda: 1)
    with parallel_config("threading", n_jobs=2):
        np.testing.assert_array_equal(describe(many, names).values, alone)
    assert told == [False, True, True]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("TPSA", "True, None or a list of names, got 'TPSA'"),
        (["TPSA", 3], "a list of names"),
        ([], "one of RDKit's descriptors or several"),
        (["TPSA", "TPSA"], "each once"),
        (["TPSA", "weight"], "no descriptor 'weight'"),
    ],
)
def test_what_is_no_descriptor(given, message):
    with pytest.raises(ValueError, match=message):
        gml.from_smiles(SMILES, descriptors=given)
    with pytest.raises(ValueError, match=message):
        descriptor_names(given)
