from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from graph_metric_learn import GraphMetric
from graph_metric_learn.report import demo
from graph_metric_learn.report import pieces as report
from graph_metric_learn.report.demo import N_NEIGHBORS, PLAIN, run_demo, split_digits

SECTIONS = ["result", "choice", "map", "neighbours", "explanation", "yours"]
VOID = {"meta", "img", "circle", "path"}  # without an end tag, or closed by "/>"


class Page(HTMLParser):
    """Collects what a page holds, and fails on tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.drawings = [], [], [], [], []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.ids.append(given["id"])
        if tag == "img":
            self.images.append(given)
        if tag == "svg":
            self.drawings.append(given)
        self.links += [given[name] for name in ("src", "href", "srcset", "data", "action") if name in given]
        assert tag not in ("script", "link", "iframe", "object", "base")

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "page"
    summary = run_demo(out, max_graphs=300, progress=False)
    text = (out / "index.html").read_text(encoding="utf-8")
    return summary, text, Page(text)


@pytest.fixture(scope="module")
def again(ran):
    """The same by hand: the split, and the nearest training graphs before and after learning, from all distances."""
    train, test = split_digits(300)
    nearest = []
    for settings in (PLAIN, {}):
        metric = GraphMetric(**settings, random_state=0).fit(train.graphs, train.y)
        nearest.append(metric.pairwise_distances(test.graphs, train.graphs).argsort(1)[:, :N_NEIGHBORS])
    return train, test, *nearest


def test_accuracies_can_be_recomputed(ran, again):
    summary, _, _ = ran
    train, test, before, after = again
    assert (summary["n_train"], summary["n_test"]) == (len(train.y), len(test.y)) == (240, 60)
    for key, nearest in (("accuracy_before", before), ("accuracy_after", after)):
        votes = [np.bincount(train.y[row]).argmax() for row in nearest]  # the smallest digit wins a draw
        assert summary[key] == np.mean(votes == test.y)
    assert summary["accuracy_after"] > summary["accuracy_before"] + 0.05


def test_page_shows_the_accuracies_it_reports(ran):
    summary, _, page = ran
    for key in ("accuracy_before", "accuracy_after"):
        assert f"{100 * summary[key]:.1f} %" in page.text


def test_page_has_its_sections_and_pictures(ran):
    _, text, page = ran
    assert page.ids == SECTIONS
    assert len(page.images) == 2
    assert all(image["alt"] and image["src"].startswith("data:image/png;base64,") for image in page.images)
    assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in page.drawings)
    maps = [drawing for drawing in page.drawings if drawing["class"] == "map"]
    graphs = [drawing for drawing in page.drawings if drawing["class"] == "graph"]
    rows = text.count('<div class="query">')
    assert len(maps) == 2
    assert rows >= 2
    assert len(graphs) == 10 + rows * (1 + 2 * N_NEIGHBORS)


def test_page_needs_nothing_from_elsewhere(ran):
    summary, text, page = ran
    assert all(link.startswith("data:") for link in page.links)
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert len(text.encode()) < 3e6
    assert [path.name for path in Path(summary["path"]).parent.iterdir()] == ["index.html"]


def test_wrong_neighbours_are_marked(ran, again):
    _, text, _ = ran
    train, test, *nearest = again
    for row in text.split('<div class="query">')[1:]:
        q = int(row.split("test graph ")[1].split(",")[0])
        strips = [part.split("</ol>")[0] for part in row.split('<div class="strip">')[1:]]
        for strip, found in zip(strips, nearest, strict=True):
            assert strip.count('class="wrong"') == np.sum(train.y[found[q]] != test.y[q])


def test_does_not_overwrite_unless_told(ran, monkeypatch):
    summary, text, _ = ran
    path = Path(summary["path"])
    monkeypatch.setattr(demo, "split_digits", lambda *_: pytest.fail("worked before it refused"))
    with pytest.raises(ValueError, match=r"index\.html exists already"):
        run_demo(path.parent, progress=False)
    assert path.read_text(encoding="utf-8") == text


def test_prints_what_it_does_and_overwrites_when_told(tmp_path, capsys):
    (tmp_path / "index.html").write_text("old")
    summary = run_demo(tmp_path, max_graphs=120, overwrite=True)
    lines = capsys.readouterr().out.splitlines()
    assert any("before learning" in line and f"{100 * summary['accuracy_before']:.1f} %" in line for line in lines)
    assert any("after learning" in line and f"{100 * summary['accuracy_after']:.1f} %" in line for line in lines)
    assert summary["path"] in lines[-1]
    assert (tmp_path / "index.html").read_text(encoding="utf-8") != "old"


def test_one_seed_gives_one_split():
    for one, other in zip(split_digits(150, seed=3), split_digits(150, seed=3), strict=True):
        assert (one.y == other.y).all()
        assert all((a.x == b.x).all() for a, b in zip(one.graphs, other.graphs, strict=True))


def test_split_keeps_parts_apart_and_balanced():
    train, test = split_digits()
    assert (len(train.y), len(test.y)) == (1437, 360)
    assert np.ptp(np.bincount(test.y)) <= 3
    assert not {graph.x.numpy().tobytes() + graph.pos.numpy().tobytes() for graph in test.graphs} & {
        graph.x.numpy().tobytes() + graph.pos.numpy().tobytes() for graph in train.graphs
    }


def test_labels_are_row_and_column():
    train, _ = split_digits(100)
    graph = train.graphs[0]
    row, column = graph.node_labels.T
    assert np.allclose(graph.pos[:, 0], 2 * column / 7 - 1, atol=1e-6)
    assert np.allclose(graph.pos[:, 1], 1 - 2 * row / 7, atol=1e-6)


def test_too_few_graphs():
    with pytest.raises(ValueError, match="at least 100"):
        split_digits(99)


def test_text_is_escaped():
    page = Page(
        report.page(
            "a < b & c",
            '"quoted"',
            [report.section("s", "<h>", report.paragraph("<script>"), report.code("x < y"), report.figure("", "<i>"))],
            footer="<f>",
        )
    )
    assert page.ids == ["s"]
    assert "a < b & c" in page.text
    assert "<script>" in page.text


def test_flat_map_keeps_groups_together():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 20)
    points = rng.normal(size=(40, 3)) + 20 * groups[:, None]
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    places = report.flatten(distances)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(40, np.inf))
    assert (groups[apart.argmin(1)] == groups).all()
    assert np.array_equal(places, report.flatten(distances))
