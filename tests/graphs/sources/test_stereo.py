import numpy as np
import pytest
from rdkit import Chem

import graph_metric_learn as gml
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.features.copies import copy_groups
from graph_metric_learn.graphs import Graphs

PAIRS = {
    "enantiomers": ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
    "cis and trans": ("C/C=C/C(=O)O", "C/C=C\\C(=O)O"),
    "imines": ("O/N=C/C", "O/N=C\\C"),
    "rings": ("C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1"),
    "sulfoxides": ("CC[S@](C)=O", "CC[S@@](C)=O"),
}


def codes(*smiles):
    return [graph.atom_stereo.tolist() for graph in gml.from_smiles(smiles)]


def names(graphs, block):
    return NodeBlocks().fit_transform(graphs, [block])[0].ravel()


def test_codes_of_atoms():
    assert codes("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O") == [[0, 2, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]
    assert codes("F/C=C/F", "F/C=C\\F", "FC=CF") == [[0, 5, 5, 0], [0, 6, 6, 0], [0] * 4]
    assert codes("C[C@H]1CC[C@@H](C)CC1") == [[0, 4, 0, 0, 4, 0, 0, 0]]
    assert codes("C[C@H](C)N", "CC(F)Cl") == [[0] * 4, [0] * 4]  # no centre; not said
    assert codes(*(Chem.MolFromSmiles(one) for one in PAIRS["enantiomers"])) == codes(*PAIRS["enantiomers"])
    assert codes(Chem.MolFromSmiles("CC")) == [[0, 0]]


def test_molecules_of_the_caller_stay_as_they_are():
    molecule = Chem.MolFromSmiles("F/C=C/F")
    gml.from_smiles([molecule])
    assert str(molecule.GetBondWithIdx(1).GetStereo()) == "STEREOE"


def test_what_is_too_large_to_name_keeps_what_the_smiles_says(monkeypatch):
    def gives_up(molecule, **options):
        raise RuntimeError("too many steps")

    monkeypatch.setattr("rdkit.Chem.rdCIPLabeler.AssignCIPLabels", gives_up)
    assert codes("C[C@H](N)C(=O)O", "F/C=C/F") == [[0, 2, 0, 0, 0, 0], [0, 5, 5, 0]]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("kind", ["trees", "wl"])
def test_only_the_view_tells_them_apart(pair, kind):
    graphs = gml.as_graphs(gml.from_smiles(PAIRS[pair]))
    for views, same in (("", True), ("+edges", True), ("+first", True), ("+stereo", False), ("+edges+stereo", False)):
        rows = NodeBlocks().fit_transform(graphs, [f"{kind}{views}@1"])[0]
        n = graphs.sizes[0]
        assert np.array_equal(rows[:n], rows[n:]) == same
    assert copy_groups(graphs).tolist() == [0, 0]


def test_edges_of_trees_see_it_too():
    graphs = gml.as_graphs(gml.from_smiles(PAIRS["enantiomers"]))
    plain, stereo = (NodeBlocks().fit_transform(graphs, [f"edge_trees{view}@0"])[0] for view in ("", "+stereo"))
    half = len(plain) // 2
    assert np.array_equal(plain[:half], plain[half:])
    assert not np.array_equal(stereo[:half], stereo[half:])


def test_names_without_stereochemistry_stay_as_they_are():
    smiles = ["CC(N)C(=O)O", "C[C@H](N)C(=O)O", "c1ccccc1"]
    plain, both = gml.as_graphs(gml.from_smiles([smiles[0], smiles[2]])), gml.as_graphs(gml.from_smiles(smiles))
    assert plain.stereo is None
    for block in ("trees@2", "trees+stereo@2"):
        wanted = names(plain, "trees@2")
        found = names(both, block)[np.repeat([True, False, True], both.sizes)]
        np.testing.assert_array_equal(found, wanted)
    far = names(both, "trees+stereo@1") == names(both, "trees@1")
    assert far.tolist() == [True] * 6 + [False, False, False, False, True, True] + [True] * 6


def test_codes_stay_with_their_graphs():
    one, two = (gml.as_graphs(gml.from_smiles([smiles])) for smiles in ("CCO", "F/C=C/F"))
    graphs = Graphs.concatenate([one, two])
    assert graphs.stereo.tolist() == [0, 0, 0, 0, 5, 5, 0]
    assert graphs[[1, 0]].stereo.tolist() == [0, 5, 5, 0, 0, 0, 0]
    assert graphs[[1, 0]].coarse.tolist() == [*two.coarse, *one.coarse]
    assert graphs.unused == ()
    assert Graphs.concatenate([one, one]).stereo is None
    with pytest.raises(ValueError, match="stereo must be one uint8 for each of the 3 nodes"):
        Graphs(one.sizes, one.edges, stereo=np.zeros(2, np.uint8))


def test_other_attributes_of_these_names_are_attributes():
    graph = gml.from_smiles(["CC"])[0]
    graph.atom_stereo = graph.atom_stereo.float()
    graphs = gml.as_graphs([graph])
    assert graphs.stereo is None
    assert graphs.unused == ("node attribute 'atom_stereo'",)
