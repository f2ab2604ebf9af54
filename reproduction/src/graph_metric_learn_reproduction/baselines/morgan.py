"""Random forest and kernel ridge on Morgan fingerprints of molecules."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.model_selection import KFold, StratifiedKFold

from .base import positive
from .molecules import MoleculeSystem, minmax_kernel, morgan_counts

PENALTIES = tuple(float(10.0**power) for power in np.arange(-5, 1.5, 0.5))  # λ of the kernel ridge


class MorganForest(MoleculeSystem):
    """Random forest on counts of circular substructures: Morgan, radius 2, 2048 columns.

    Parameters
    ----------
    trees : int
        Number of trees.
    radius, width : int
        Of the fingerprints.
    task : {"auto", "classes", "numbers"}
        See `MoleculeSystem`.
    seed : int
        Of the forest.

    Examples
    --------
    >>> alcohols, alkanes = ["CO", "CCO", "CCCO", "CCCCO"], ["CC", "CCC", "CCCC", "CCCCC"]
    >>> MorganForest(trees=20).fit(alcohols + alkanes, ["yes"] * 4 + ["no"] * 4).predict(["CCCCCO"])
    array(['yes'], dtype='<U3')
    """

    name = "morgan-forest"

    def __init__(
        self, *, trees: int = 500, radius: int = 2, width: int = 2048, task: str = "auto", seed: int = 0
    ) -> None:
        self.trees, self.radius, self.width, self.task, self.seed = trees, radius, width, task, seed

    def fit(self, molecules: Any, y: Any) -> MorganForest:
        """Grows the forest on molecules and their classes or numbers y [N]."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        self.require()
        counts = morgan_counts(molecules, self.radius, self.width)
        targets = self._targets(y, counts.shape[0])
        kind = RandomForestClassifier if self.task_ == "classes" else RandomForestRegressor
        # A third of the columns per split is the usual choice for numbers, the root for classes.
        share = "sqrt" if self.task_ == "classes" else 1 / 3
        self.model_ = kind(self.trees, max_features=share, random_state=self.seed).fit(counts.toarray(), targets)
        return self

    def predict(self, molecules: Any) -> np.ndarray:
        """Classes or numbers [N]."""
        predicted = self._fitted("model_").predict(self._counts(molecules))
        return self.classes_[predicted] if self.task_ == "classes" else predicted

    def decision_function(self, molecules: Any) -> np.ndarray:
        """The share of the trees that is for each class [N, C]."""
        if self._fitted("task_") != "classes":
            raise ValueError("decision_function is for classes, this forest was fitted to numbers")
        return self.model_.predict_proba(self._counts(molecules))

    def _counts(self, molecules: Any) -> np.ndarray:
        return morgan_counts(molecules, self.radius, self.width).toarray()


class MorganRidge(MoleculeSystem):
    """Kernel ridge with the MinMax kernel Σ min(a, b) / Σ max(a, b) of counts of circular substructures.

    Classes are coded 0 and 1, one column each, and the largest fitted value wins. The mean of the targets is no part of
    the penalty. λ has the least squared error on five shuffled folds of the training molecules.

    Parameters
    ----------
    penalties : sequence of float
        λ to choose from.
    radius, width : int
        Of the fingerprints.
    task : {"auto", "classes", "numbers"}
        See `MoleculeSystem`.
    seed : int
        Of the folds.

    Attributes
    ----------
    chosen_ : dict
        λ.

    Examples
    --------
    >>> chains = ["C" * n for n in range(1, 9)]
    >>> model = MorganRidge().fit(chains, [1.5 * n for n in range(1, 9)])
    >>> bool(abs(model.predict(["CCCCC"])[0] - 7.5) < 0.5)
    True
    """

    name = "morgan-ridge"

    def __init__(
        self, *, penalties: Any = PENALTIES, radius: int = 2, width: int = 2048, task: str = "auto", seed: int = 0
    ) -> None:
        self.penalties, self.radius, self.width, self.task, self.seed = penalties, radius, width, task, seed

    def fit(self, molecules: Any, y: Any) -> MorganRidge:
        """Chooses λ and fits the coefficients on molecules and their classes or numbers y [N]."""
        self.require()
        for penalty in self.penalties:
            positive(penalty=penalty)
        self.counts_ = morgan_counts(molecules, self.radius, self.width)
        targets = self._targets(y, self.counts_.shape[0])
        values = np.eye(len(self.classes_))[targets] if self.task_ == "classes" else targets[:, None]
        kernel = minmax_kernel(self.counts_, self.counts_)
        penalty = self._choose(kernel, values, targets)
        self.chosen_ = {"penalty": penalty}
        self.mean_, self.coefficients_ = _ridge(kernel, values, penalty)
        return self

    def predict(self, molecules: Any) -> np.ndarray:
        """Classes or numbers [N]."""
        values = self._values(molecules)
        return self.classes_[values.argmax(1)] if self.task_ == "classes" else values[:, 0]

    def decision_function(self, molecules: Any) -> np.ndarray:
        """The fitted code of each class [N, C]."""
        if self._fitted("task_") != "classes":
            raise ValueError("decision_function is for classes, this model was fitted to numbers")
        return self._values(molecules)

    def _values(self, molecules: Any) -> np.ndarray:
        train = self._fitted("counts_")
        kernel = minmax_kernel(morgan_counts(molecules, self.radius, self.width), train)
        return self.mean_ + kernel @ self.coefficients_

    def _choose(self, kernel: np.ndarray, values: np.ndarray, targets: np.ndarray) -> float:
        """The λ with the least squared error on folds."""
        penalties = list(self.penalties)
        if len(penalties) == 1 or len(values) < 2:
            return penalties[0]
        stratified = self.task_ == "classes" and np.bincount(targets).max() >= 5
        kind = StratifiedKFold if stratified else KFold
        folds = kind(min(5, len(values)), shuffle=True, random_state=self.seed)
        errors = np.zeros(len(penalties))
        for train, test in folds.split(values, targets):
            within, across = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
            for i, penalty in enumerate(penalties):
                mean, coefficients = _ridge(within, values[train], penalty)
                errors[i] += np.sum((mean + across @ coefficients - values[test]) ** 2)
        return penalties[int(errors.argmin())]


def _ridge(kernel: np.ndarray, values: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the values [N, C], and the coefficients (K + λ I)⁻¹ (values − mean) [N, C]."""
    mean = values.mean(0)
    factor = cho_factor(kernel + penalty * np.eye(len(kernel)), lower=True, overwrite_a=True)
    return mean, cho_solve(factor, values - mean)
