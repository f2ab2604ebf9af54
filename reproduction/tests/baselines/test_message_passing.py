import sys

import numpy as np
import pytest

from graph_metric_learn_reproduction.baselines import Chemprop

MOLECULES = ["CO", "CCO", "CCCO", "CC", "CCC", "CCCC"] * 10


def test_without_chemprop_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "chemprop", None)
    assert "chemprop" in Chemprop.missing()
    with pytest.raises(ImportError, match="'chemprop' needs"):
        Chemprop().fit(MOLECULES, np.arange(60.0))


def test_numbers_and_classes_are_learned():
    pytest.importorskip("chemprop")
    y = np.array([1.5, 2.5, 3.5, 11.5, 12.5, 13.5] * 10)
    model = Chemprop(epochs=30, batch_size=8).fit(MOLECULES, y)
    assert np.abs(model.predict(MOLECULES[:6]) - y[:6]).max() < 4
    names = np.array(["alcohol"] * 3 + ["alkane"] * 3)
    model = Chemprop(epochs=30, batch_size=8).fit(MOLECULES, np.tile(names, 10))
    np.testing.assert_array_equal(model.predict(MOLECULES[:6]), names)
    assert model.decision_function(MOLECULES[:6]).shape == (6, 2)
