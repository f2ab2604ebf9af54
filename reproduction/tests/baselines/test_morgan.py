import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from graph_metric_learn import from_smiles
from graph_metric_learn_reproduction.baselines import MorganForest, MorganRidge
from graph_metric_learn_reproduction.baselines.molecules import minmax_kernel, morgan_counts

pytest.importorskip("rdkit")
CHAINS = ["C" * n for n in range(1, 10)]
ALCOHOLS = [f"{chain}O" for chain in CHAINS]
ACIDS = [f"{chain}C(=O)O" for chain in CHAINS]
MODELS = [MorganForest(trees=50), MorganRidge()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_kinds_of_molecules_are_told_apart(model):
    known = ALCOHOLS[::2] + CHAINS[::2] + ACIDS[::2]
    y = ["alcohol"] * 5 + ["alkane"] * 5 + ["acid"] * 5
    model.fit(from_smiles(known), y)
    new = ALCOHOLS[1::2] + CHAINS[3::2] + ACIDS[1::2]
    assert model.predict(new).tolist() == ["alcohol"] * 4 + ["alkane"] * 3 + ["acid"] * 4
    scores = model.decision_function(new)
    assert scores.shape == (11, 3)
    np.testing.assert_array_equal(model.classes_[scores.argmax(1)], model.predict(new))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_numbers_are_predicted(model):
    """The number of carbon atoms, and 10 more for an acid."""
    molecules = CHAINS + ACIDS
    y = np.array([n + 0.5 for n in range(1, 10)] + [n + 11.5 for n in range(1, 10)])
    new = [3, 5, 12, 14]
    rest = [i for i in range(18) if i not in new]
    model.fit([molecules[i] for i in rest], y[rest])
    assert np.abs(model.predict([molecules[i] for i in new]) - y[new]).max() < 2.5
    with pytest.raises(ValueError, match="decision_function is for classes"):
        model.decision_function(new)


def test_ridge_is_that_of_scikit_learn():
    y = np.sin(np.arange(27.0))
    molecules = CHAINS + ALCOHOLS + ACIDS
    model = MorganRidge(penalties=[0.3]).fit(molecules, y)
    counts = morgan_counts(molecules)
    kernel = minmax_kernel(counts, counts)
    expected = KernelRidge(alpha=0.3, kernel="precomputed").fit(kernel, y - y.mean()).predict(kernel) + y.mean()
    np.testing.assert_allclose(model.predict(molecules), expected)


def test_the_penalty_is_chosen_by_folds(rng):
    """Noise wants a large penalty, a smooth function of the structure a small one."""
    molecules = CHAINS + ALCOHOLS + ACIDS
    smooth = np.array([len(text) for text in molecules]) + 0.5
    assert MorganRidge().fit(molecules, smooth).chosen_["penalty"] < 0.1
    assert MorganRidge().fit(molecules, rng.normal(size=27)).chosen_["penalty"] > 0.5


def test_the_seed_decides():
    y = np.sin(np.arange(9.0))
    one, same, other = (MorganForest(trees=5, seed=s).fit(CHAINS, y).predict(ACIDS).tolist() for s in (1, 1, 2))
    assert one == same != other


def test_bad_calls():
    with pytest.raises(ValueError, match="MorganRidge is not fitted"):
        MorganRidge().predict(CHAINS)
    with pytest.raises(ValueError, match="penalty must be positive"):
        MorganRidge(penalties=[0.0]).fit(CHAINS, np.arange(9))
