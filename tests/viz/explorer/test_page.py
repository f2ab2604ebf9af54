import base64
import hashlib
import re

import pytest

from graph_metric_learn.viz.explorer.exploration import explored
from graph_metric_learn.viz.explorer.page import page_data, render_explorer
from toy_metrics import FirstColumn, points


@pytest.fixture(scope="module")
def exploration():
    return explored(FirstColumn().fit(points(1.0, 2.0)), points(1.0, 2.0, 4.0), title="<Rings> & stars")


def policy_of(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    return dict(rule.strip().split(" ", 1) for rule in policy.split(";"))


def test_the_policy_lets_only_the_own_script_and_style_in(exploration):
    page = render_explorer(exploration)
    rules = policy_of(page)
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == "'none'"
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "<title>&lt;Rings&gt; &amp; stars</title>" in page


def test_a_served_page_may_ask_its_server(exploration):
    page = render_explorer(exploration, served=True)
    assert policy_of(page)["connect-src"] == "'self'"
    assert '"served":true' in page


def test_very_long_names_are_cut():
    found = explored(FirstColumn().fit(points(1.0, 2.0)), points(1.0, 2.0), names=["a" * 5000, "b"])
    assert page_data(found)["names"] == ["a" * 199 + "…", "b"]
