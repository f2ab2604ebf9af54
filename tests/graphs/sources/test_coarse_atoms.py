import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.graphs.sources.coarse_atoms import ROLES

SHORT = dict(zip("DANPXRH", ROLES.values(), strict=True))  # acids are negative, bases positive


@pytest.mark.parametrize(
    ("smiles", "wanted"),
    [
        ("CC(=O)O", "H - A DAN"),  # acetic acid: its carbon is bonded to oxygen
        ("CC(=O)[O-]", "H - A AN"),
        ("CCO", "H - DA"),
        ("COC", "- A -"),
        ("CN", "- DAP"),
        ("C[NH3+]", "- DP"),
        ("C[N+](=O)[O-]", "- - A A"),
        ("CC(=O)N", "H - A D"),
        ("CS(=O)(=O)N", "H - A A D"),
        ("NC(=N)N", "D - DAP D"),
        ("Nc1ccccc1", "D R RH RH RH RH RH"),
        ("c1ccncc1", "RH RH R RA R RH"),
        ("c1cc[nH]c1", "RH RH R RD R"),
        ("c1ccoc1", "RH RH R R R"),
        ("CC#N", "H - A"),
        ("FC(Cl)Br", "XH H XH XH"),
        ("CSC", "H H H"),
        ("CNN", "- D D"),
        ("[Na+].[Cl-]", "- X"),
        ("C", "H"),
    ],
)
def test_roles_of_atoms(smiles, wanted):
    (graph,) = gml.from_smiles([smiles])
    found = graph.atom_coarse.tolist()
    letters = ["".join(letter for letter, bit in SHORT.items() if code & bit) for code in found]
    assert [set(one) for one in letters] == [set(one.strip("-")) for one in wanted.split()]


def test_they_do_not_depend_on_other_molecules_or_labels():
    smiles = ["CC(=O)O", "c1ccncc1", "O", "CCN"]
    together = gml.from_smiles(smiles, labels=["element"])
    assert together[0].node_labels.shape == (4, 1)
    for one, graph in zip(smiles, together, strict=True):
        assert gml.from_smiles([one])[0].atom_coarse.tolist() == graph.atom_coarse.tolist()


def test_the_view_sees_them_in_place_of_labels():
    graphs = gml.as_graphs(gml.from_smiles(["FCC", "ClCC", "CCC"]))
    plain, coarse = (NodeBlocks().fit_transform(graphs, [f"trees{view}@2"])[0] for view in ("", "+coarse"))
    assert np.array_equal(coarse[:3], coarse[3:6])
    assert not np.array_equal(plain[:3], plain[3:6])
    assert not np.array_equal(coarse[:3], coarse[6:])
    columns = NodeBlocks().fit_transform(graphs, ["labels+coarse@0"])[0]
    assert columns.shape == (9, 2)


def test_atoms_without_any_role_are_seen_so():
    sodium = gml.as_graphs(gml.from_smiles(["[Na+]"]))
    assert sodium.coarse.tolist() == [0]
    both = gml.as_graphs(gml.from_smiles(["[Na+]", "[K+]"]))
    alone, (one, other) = (NodeBlocks().fit_transform(g, ["trees+coarse@0"])[0] for g in (sodium, both))
    assert alone[0] == one == other
