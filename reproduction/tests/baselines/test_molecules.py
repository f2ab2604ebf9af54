import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn import from_smiles
from graph_metric_learn_reproduction.baselines.molecules import (
    MoleculeSystem,
    as_molecules,
    minmax_kernel,
    morgan_counts,
)

pytest.importorskip("rdkit")
SMILES = ["CCO", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O"]


class Plain(MoleculeSystem):
    name = "plain"

    def __init__(self, task="auto"):
        self.task = task


def test_molecules_come_as_smiles_as_molecules_and_as_graphs():
    from rdkit import Chem

    expected = morgan_counts(SMILES).toarray()
    for given in ([Chem.MolFromSmiles(text) for text in SMILES], from_smiles(SMILES), list(from_smiles(SMILES))):
        np.testing.assert_array_equal(morgan_counts(given).toarray(), expected)


def test_what_is_no_molecule_is_named(rng):
    with pytest.raises(ValueError, match=r"molecule 1 .*C\(C"):
        as_molecules(["CC", "C(C"])
    with pytest.raises(ValueError, match=r"molecule 0 .*expected a SMILES"):
        as_molecules([(np.zeros((1, 1)), np.zeros((1, 1)))])
    with pytest.raises(ValueError, match="a single SMILES"):
        as_molecules("CC")


def test_counts_of_atoms_by_hand():
    """Radius 0: ethane has two equal atoms, ethanol three different ones (by hydrogens and neighbours)."""
    counts = morgan_counts(["CC", "CCO"], radius=0).toarray()
    assert sorted(counts[0][counts[0] > 0]) == [2]
    assert sorted(counts[1][counts[1] > 0]) == [1, 1, 1]
    assert morgan_counts(["CC"], width=64).shape == (1, 64)


def test_the_kernel_is_minima_by_maxima(rng):
    one, other = rng.poisson(0.7, size=(5, 12)), rng.poisson(0.7, size=(4, 12))
    one[0] = other[0] = 0
    found = minmax_kernel(sparse.csr_array(one), sparse.csr_array(other))
    for i in range(5):
        for j in range(4):
            largest = np.maximum(one[i], other[j]).sum()
            assert found[i, j] == pytest.approx(np.minimum(one[i], other[j]).sum() / largest if largest else 1.0)
    gram = minmax_kernel(sparse.csr_array(one), sparse.csr_array(one))
    assert np.linalg.eigvalsh(gram).min() > -1e-9
    np.testing.assert_array_equal(np.diag(gram), 1)


@pytest.mark.parametrize(
    ("task", "y", "expected"),
    [
        ("auto", [0.5, 1.5, 2.0], "numbers"), ("auto", [0, 1, 1], "classes"), ("auto", [0.0, 1.0, 1.0], "classes"),
        ("auto", ["a", "b", "a"], "classes"), ("numbers", [1, 2, 3], "numbers"),
        ("auto", [True, False, True], "classes"),
    ],
)  # fmt: skip
def test_targets_are_classes_or_numbers(task, y, expected):
    system = Plain(task)
    targets = system._targets(y, 3)
    assert system.task_ == expected
    if expected == "classes":
        np.testing.assert_array_equal(system.classes_[targets], y)
    else:
        assert targets.tolist() == y


def test_bad_targets():
    with pytest.raises(ValueError, match="3 molecules and targets of shape"):
        Plain()._targets([1, 2], 3)
    with pytest.raises(ValueError, match="molecule 1 has no target"):
        Plain()._targets([1.0, np.nan], 2)
    with pytest.raises(ValueError, match="molecule 0 has no target"):
        Plain()._targets(np.array([None, "a"], dtype=object), 2)
    with pytest.raises(ValueError, match="not all finite numbers"):
        Plain("numbers")._targets(["a", "b"], 2)
    with pytest.raises(ValueError, match="unknown task='x'"):
        Plain("x")._targets([1], 1)
    with pytest.raises(ValueError, match="Plain is not fitted"):
        Plain()._fitted("model_")
