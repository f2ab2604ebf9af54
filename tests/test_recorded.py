"""What was recorded holds: public names and signatures, and the results of seeded cases."""

import json
import re

import numpy as np
import pytest

from markdown_pages import ROOT
from recorded_cases import cases, public_api

RECORDED = json.loads((ROOT / "tests" / "recorded_cases.json").read_text())
CASES = dict(cases())
SECONDS = re.compile(r"\d+(\.\d+)? s\b")


def compare(found, expected, where):
    """Structures and words are equal; numbers up to rounding, which differs between processors."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            compare(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list) and expected and all(isinstance(one, (int, float)) for one in expected):
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * scale, err_msg=where)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), where
    elif isinstance(expected, str):
        assert SECONDS.sub("", found) == SECONDS.sub("", expected), where
    else:
        assert found == expected, where


def test_public_names_and_signatures():
    assert public_api() == json.loads((ROOT / "tests" / "public_api.json").read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDED)
def test_results_are_those_that_were_recorded(name):
    if name == "smiles":
        pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    compare(json.loads(json.dumps(CASES[name](), default=float)), RECORDED[name], name)
