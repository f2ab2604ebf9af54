import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import torch
from msgspec.structs import replace
from torch_geometric.data import Data

from graph_metric_learn.viz.demo.page import Explored, demo_page, draw_digit
from page_reader import Page

SECTIONS = ["explore", "result", "choice", "yours"]


def test_page_shows_the_accuracies_that_were_reported(ran):
    summary, source = ran
    text = Page(source).text
    for key in ("accuracy_before", "accuracy_after"):
        assert f"{100 * summary[key]:.1f} %" in text


def test_page_has_its_sections_and_drawings(ran):
    _, source = ran
    page = Page(source)
    assert page.ids == SECTIONS
    assert page.images == []
    assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in page.drawings)
    assert len(page.drawings) == 10


def test_page_leads_to_the_explorers_and_nowhere_else(ran):
    summary, source = ran
    assert Page(source).links == summary["pages"]
    for address in ("http:", "https:", "url(", "@import", "<script"):
        assert address not in source
    for name in summary["pages"]:
        explorer = (Path(summary["path"]).parent / name).read_text(encoding="utf-8")
        assert "Content-Security-Policy" in explorer


def test_what_stands_beside_it(ran):
    summary, source = ran
    text = " ".join(Page(source).text.split())
    assert f"{summary['milliseconds']:.0f} ms" in text
    assert f"{100 * summary['accuracy_pixels']:.1f} %" in text
    assert "300 of the 1797 digits are used" in text


def test_the_snippet_runs_as_it_stands(small, tmp_path, monkeypatch):
    source = demo_page(small, [], 3)
    (code,) = re.findall(r"<pre><code>(.*?)</code></pre>", source, flags=re.DOTALL)
    code = unescape(code)
    assert "random_state=3" in code
    monkeypatch.chdir(tmp_path)
    fewer = code.replace("400", "60").replace("300", "40")
    exec(fewer, {})
    assert (tmp_path / "explorer.html").stat().st_size > 10_000


def with_weights(metric, weights):
    """Gives the families of a fitted metric other names and weights."""
    families = {name: SimpleNamespace(recipe=SimpleNamespace(words=f"{name} in words")) for name in weights}
    metric.mixture_ = SimpleNamespace(weights=weights, describer=SimpleNamespace(families=families))


def test_what_was_chosen_and_learned_is_listed(small):
    metric = small.after.metric
    with_weights(metric, {f"way {i}": (i + 1) / 105 for i in range(14)})
    metric.learned_.gate = replace(metric.learned_.gate, weight=3.0, unlearned=0.5, learned=0.625)
    source = demo_page(small, [], 0)
    text = " ".join(Page(source).text.split())
    assert re.search(r"ways to compare two graphs, weighted[^<]*</dt><dd>14</dd>", source)
    assert "What is compared, by weight, and 2 more with less." in text
    assert "3 times as much as all else, by which k-NN on graphs held out goes from 50 % to 62 %." in text
    bars = source.split('<ul class="bars">')[1].split("</ul>")[0]
    assert bars.count("<li") == 12
    assert re.findall(r"way \d+ in words", bars)[:2] == ["way 13 in words", "way 12 in words"]
    assert "13.3 %" in bars.split("</li>")[0]
    with_weights(metric, {"the only way": 1.0})
    metric.learned_.gate = replace(metric.learned_.gate, weight=0.0)
    text = " ".join(Page(demo_page(small, [], 0)).text.split())
    assert "What is compared, by weight." in text
    assert "held out from it: not at all." in text


def test_names_are_escaped(small):
    hostile = "</script><b>&"
    with_weights(small.after.metric, {hostile: 1.0})
    source = demo_page(small, [Explored("x.html", hostile, hostile)], 0)
    page = Page(source)
    assert hostile in page.text
    assert "<script" not in source
    assert hostile not in source
    assert "b" not in page.tags


def test_each_edge_is_drawn_once_and_y_goes_up():
    positions = torch.tensor([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]])
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    ink = torch.tensor([[0.0], [1.0], [0.5]])
    drawing = draw_digit(Data(x=ink, pos=positions, edge_index=edges, y=torch.tensor([3])))
    assert drawing.path == "M6 74L74 6M74 6L40 40"
    assert drawing.circles == [(6, 74, 1.2), (74, 6, 3.4), (40, 40, 2.3)]
    assert drawing.alt == "graph of a 3, 3 nodes"
