import resource
import subprocess
import sys

import networkx as nx
import pytest
from rdkit import Chem

import graph_metric_learn as gml
from graph_metric_learn.graphs.sources.smiles_limits import MOST_RINGS, check_molecule, check_rings
from odd_molecules import cycloparaphenylene, necklace, sheet

GRAPHENE = sheet(9, 9, "c")
PHOSPHORUS = sheet(9, 9, "P")


def molecule(graph, element=6):
    built, atoms = Chem.RWMol(), {}
    for node in graph:
        atoms[node] = built.AddAtom(Chem.Atom(element))
    for one, other in graph.edges:
        built.AddBond(atoms[one], atoms[other], Chem.BondType.SINGLE)
    return built.GetMol()


def test_rings_that_are_made_for_this_are_counted():
    assert len(Chem.GetSymmSSSR(Chem.MolFromSmiles(necklace(6), sanitize=False))) == 6 + 2**6
    assert Chem.MolFromSmiles(cycloparaphenylene(7)).GetRingInfo().NumRings() == 7 + 2**7
    assert Chem.MolFromSmiles(sheet(3, 4, "C")).GetRingInfo().NumRings() == 12


@pytest.mark.parametrize("k", [13, 20, 31, 32, 33, 45, 120])
def test_more_rings_than_can_be_listed_are_refused(k):
    """From 32 on, their number does not fit into RDKit's."""
    with pytest.raises(ValueError, match=f"more than {MOST_RINGS} rings"):
        check_rings(necklace(k))


def test_parts_beside_them_and_what_stands_between_bars_hide_nothing():
    for text in (necklace(20) + ".C" * 200, ".".join(["C"] * 200 + [necklace(20)]), necklace(20) + " |$a;b$|"):
        with pytest.raises(ValueError, match="rings"):
            check_rings(text)


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (nx.complete_bipartite_graph(30, 30), "841 rings that share bonds"),
        (nx.complete_bipartite_graph(15, 15), "rings of four atoms"),
        (nx.hexagonal_lattice_graph(20, 20), "400 rings that share bonds: at most 250"),
    ],
)
def test_dense_molecules_are_refused_before_they_are_counted(graph, why):
    with pytest.raises(ValueError, match=why):
        check_molecule(molecule(graph, 0))


def test_fused_rings_that_may_be_aromatic_in_sets_are_refused():
    with pytest.raises(ValueError, match="81 fused rings that may be aromatic: at most 36"):
        check_rings(PHOSPHORUS)
    check_rings(sheet(5, 7, "P"))


@pytest.mark.parametrize(
    "text",
    [
        "C1CC2CCC1CC2",
        necklace(11),
        cycloparaphenylene(12),
        GRAPHENE,
        "[Fe]12345678(C9C1C2C3C49)C%10C5C6C7C8%10." * 4 + "C",
        "N1CCC1" * 300,
    ],
)
def test_molecules_that_are_read_quickly_are_passed(text):
    check_rings(text)


def test_a_ball_of_carbon_is_passed():
    text = (
        "c12c3c4c5c1c1c6c7c2c2c8c3c3c9c4c4c%10c5c5c1c1c6c6c%11c7c2c2c7c8c3c3c8c"
        "9c4c4c9c%10c5c5c1c1c6c6c%11c2c2c7c3c3c8c4c4c9c5c1c1c6c2c3c41"
    )
    assert Chem.MolFromSmiles(text).GetRingInfo().NumRings() == 32
    check_rings(text)


def test_a_molecule_of_rdkit_is_checked_where_its_rings_are_not_known():
    raw = Chem.MolFromSmiles(necklace(20), sanitize=False)
    with pytest.raises(ValueError, match=r"row 0 has more than 5000 rings"):
        gml.from_smiles([raw])


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


@pytest.mark.parametrize("text", [necklace(21), PHOSPHORUS, sheet(8, 14, "N")])
def test_they_are_refused_at_once_where_molecules_are_read(text):
    """In a process of its own: RDKit would need gigabytes, or minutes."""
    code = "import sys, graph_metric_learn as gml\n"
    code += "try: gml.from_smiles(['CCO', sys.argv[1]])\nexcept ValueError as error: print(error)"
    found = subprocess.run(
        [sys.executable, "-c", code, text], preexec_fn=limited, capture_output=True, text=True, timeout=120
    )
    assert found.stdout.startswith(f"row 1 ({text!r}) has ")
    assert " rings" in found.stdout.removeprefix(f"row 1 ({text!r})")
