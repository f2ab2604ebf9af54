"""The README keeps its word: it is short, and its Python runs and learns what it says."""

import pytest
from sklearn.metrics import adjusted_rand_score

from markdown_pages import ROOT, run_python

README = ROOT / "README.md"


def test_the_readme_is_short():
    assert len(README.read_text().splitlines()) < 200


def test_snippets_learn_what_they_say():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    names = run_python(README)
    assert list(names["classifier"].predict([names["acid"], names["ester"]])) == ["acid", "ester"]
    assert names["learned"].score(names["networks"][40:], names["communities"][40:]) == 1
    assert adjusted_rand_score(names["communities"], names["clusters"]) > 0.9
    assert names["ids"].shape == (1, 3)
    assert len(names["index"]) == 59
