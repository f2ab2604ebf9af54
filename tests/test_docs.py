"""The reference is complete and its signatures are those of the code; the Python in the mathematics runs."""

import inspect
import re
from functools import reduce
from pathlib import Path

import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics.explanation import Explanation

DOCS = Path(__file__).parents[1] / "docs"
API = (DOCS / "api.md").read_text()
SIGNATURES = re.findall(r"^- (.*)$", API, flags=re.MULTILINE)
SIGNATURES = [found for line in SIGNATURES for found in re.findall(r"`([A-Za-z_.]+\([^`]*\))`", line.split(": ")[0])]


def signature(thing):
    """Names and defaults, as one would write a call: no annotations, no self."""
    found = inspect.signature(thing)
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=parameters, return_annotation=found.empty)).replace("'", '"')


@pytest.mark.parametrize("name", gml.__all__)
def test_every_public_name_has_a_line(name):
    assert re.search(rf"^- `{name}[(`]", API, flags=re.MULTILINE), f"docs/api.md has no line for {name}"


def test_the_reference_has_signatures():
    assert len(SIGNATURES) > 40


@pytest.mark.parametrize("written", SIGNATURES)
def test_signatures_are_those_of_the_code(written):
    name = written.partition("(")[0]
    first, *rest = name.split(".")
    thing = reduce(getattr, rest, Explanation if first == "Explanation" else getattr(gml, first))
    assert written == name + signature(thing)


def test_mathematics_runs():
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "mathematics.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})
