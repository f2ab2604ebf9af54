import base64
import hashlib
import re

from graph_metric_learn.viz.explorer.page import render_explorer


def test_the_policy_lets_only_the_own_script_and_style_in():
    page = render_explorer("<Rings> & stars", '{"names":[]}')
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == "'none'"
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "<title>&lt;Rings&gt; &amp; stars</title>" in page


def test_a_served_page_may_ask_its_server():
    page = render_explorer("t", "{}", served=True)
    assert "connect-src &#39;self&#39;" in page


def test_the_page_names_no_other_place_and_makes_no_html():
    page = render_explorer("t", "{}")
    found = set(re.findall(r"https?://[^\s'\"<)]+", page))
    assert found == {"http://www.w3.org/2000/svg"}
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert way not in page
    assert not re.search(r"<[a-z]+[^>]* on\w+=", page.split("<script")[0])
