"""The explorer in a real browser: what a user does, and that nothing is logged, fetched or run beside it."""

import base64
import re

import numpy as np
import pytest

import graph_metric_learn as gml
from browser import browser, chromium
from element_graphs import element_graphs
from explorer_graphs import HOSTILE, WRONG, fitted, rings_and_stars
from odd_graphs import odd_graphs


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    chromium()
    graphs, y = rings_and_stars()
    path = tmp_path_factory.mktemp("explorer") / "page.html"
    return gml.explore(fitted(), graphs, y, path=path, title="Rings and stars", explanations=60)


@pytest.fixture
def opened(file, tmp_path):
    """The page; at the end of each test nothing was logged and nothing was fetched."""
    with browser(tmp_path / "profile") as session:
        session.open(file.as_uri())
        yield session.page
        assert session.said == []
        assert [address for address in session.asked if not address.startswith(("file:", "data:"))] == []
        assert session.page.title() == "Rings and stars"  # a hostile name would have changed it


def names(page, where="#near .name"):
    return page.locator(where).all_text_contents()


def choose(page, name):
    page.fill("#search", name)
    page.press("#search", "Enter")


def where_is(page, number):
    """Where a graph is drawn on the map, in the window."""
    box = page.locator("#map").bounding_box()
    places = page.evaluate("JSON.parse(document.getElementById('data').textContent).map")
    x, y = np.frombuffer(base64.b64decode(places), "<u2").reshape(-1, 2)[number] / 65535
    return (
        box["x"] + box["width"] / 2 + (x - 0.5) * (box["width"] - 80),
        box["y"] + box["height"] / 2 - 12 + (y - 0.5) * (box["height"] - 110),
    )


def test_it_starts_with_what_was_predicted_wrongly(opened):
    assert "40 graphs · 2 classes" in opened.text_content("#facts")
    assert f"graph number {WRONG}" in names(opened, ".near .name")
    assert opened.locator("#colour option").all_text_contents()[:3] == ["class", "predicted class", "right or wrong"]


def test_a_click_on_the_map_shows_the_graph_and_its_neighbours(opened):
    opened.mouse.click(*where_is(opened, 30))
    name = opened.text_content("#chosen-name")
    assert name.startswith("graph number ")
    graphs, _ = rings_and_stars()
    nodes = len(graphs[int(name.split()[-1])])
    assert f"{nodes} nodes" in opened.text_content("#panel")
    assert opened.locator("#near button").count() >= 8
    distances = [float(text) for text in opened.locator("#near .distance").all_text_contents()[:8]]
    assert distances == sorted(distances)
    assert opened.locator("#panel > svg circle").count() >= nodes


def test_two_graphs_side_by_side(opened):
    choose(opened, "graph number 10")
    opened.click("#near button >> nth=0")
    compare = opened.locator("#compare")
    assert compare.locator("svg.drawing").count() == 2
    assert re.search(r"Distance [\d.]+\. [\d.]+ % of d² is from ", compare.text_content())
    assert compare.locator(".terms li").count() >= 1
    rings = [compare.locator("figure").nth(side).locator(".ring") for side in (0, 1)]
    colours = [[ring.get_attribute("stroke") for ring in side.all()] for side in rings]
    assert sorted(colours[0]) == sorted(colours[1])  # matched nodes have one colour
    assert 1 <= len(colours[0]) <= 8
    assert compare.locator(".bar canvas").count() == 1
    compare.locator("[data-node='0']").first.hover()
    assert "of its mass is matched with" in opened.text_content("#told-node")
    opened.click("#close-compare")
    assert compare.is_hidden()
    assert opened.evaluate("document.activeElement.closest('#near') !== null")


def test_a_pair_without_an_explanation_says_so(opened):
    said = False
    for number in range(40):
        choose(opened, f"graph number {number}")
        for row in range(opened.locator("#near button").count()):
            opened.click(f"#near button >> nth={row}")
            if opened.locator("#no-explanation").count():
                said = "No explanation of this pair is stored" in opened.text_content("#no-explanation")
                break
        if said:
            break
    assert said
    assert opened.locator("#compare svg.drawing").count() == 2


def test_numbers_and_what_raises_them(tmp_path):
    chromium()
    graphs, y = element_graphs()
    options = {"features": ["trees@0", "trees@1"], "label": "element", "random_state": 0}
    metric = gml.GraphMetric(**options).fit(graphs[:50], y[:50])
    file = gml.explore(metric, graphs, y, path=tmp_path / "page.html", explanations=100)
    with browser(tmp_path / "profile") as session:
        page = session.open(file.as_uri())
        assert "mean error of predictions" in page.text_content("#facts")
        assert "but the metric has seen them" in page.text_content("#facts")
        assert page.locator("#legend canvas").count() == 1
        page.click(".near button >> nth=0")
        assert re.search(r"value [−\d.]+ · predicted [−\d.]+ \(off by", page.text_content("#panel"))
        page.click("#near button >> nth=0")
        before = page.locator("#compare svg.drawing").first.inner_html()
        page.locator("#compare input[name=shade]").nth(1).check()
        assert page.locator("#compare svg.drawing").first.inner_html() != before
        assert "raises it" in page.text_content(".bar")
        assert "Nodes that raise the number: " in page.text_content("#compare")
        assert session.said == []


def test_odd_graphs_without_targets(tmp_path):
    chromium()
    graphs = odd_graphs()
    metric = gml.GraphMetric(features=["degree@0", "size@0"], random_state=0).fit(graphs)
    file = gml.explore(metric, graphs, path=tmp_path / "page.html")
    with browser(tmp_path / "profile") as session:
        page = session.open(file.as_uri())
        assert page.text_content("#facts") == "12 graphs"
        assert page.locator("#colour option").all_text_contents() == ["number of nodes"]
        for number, graph in enumerate(graphs):
            choose(page, graph.name)
            nodes, edges = len(graph), graph.number_of_edges()
            words = f"{nodes} node{'s' * (nodes != 1)}, {edges:,} edge{'s' * (edges != 1)}"
            assert words in page.text_content("#panel"), number
            assert page.locator("#panel > svg circle").count() >= nodes
            assert not re.search("NaN|undefined|null", page.locator("#panel").inner_html())
            for row in range(page.locator("#near button").count()):
                page.click(f"#near button >> nth={row}")
                assert page.locator("#compare svg.drawing").count() == 2
                assert not re.search("NaN|undefined|Infinity", page.locator("#compare").inner_html())
        page.click("#close-compare")
        for _ in range(4):
            page.click("#zoom-in")
        page.wait_for_timeout(100)
        assert session.said == []


@pytest.mark.parametrize("count", [1, 2])
def test_very_few_graphs(tmp_path, count):
    chromium()
    graphs = odd_graphs()
    metric = gml.GraphMetric(features=["degree@0"], random_state=0).fit(graphs)
    file = gml.explore(metric, graphs[:count], path=tmp_path / "page.html")
    with browser(tmp_path / "profile") as session:
        page = session.open(f"{file.as_uri()}#0")
        assert page.locator("#near button").count() == count - 1
        page.press("#map", "ArrowRight")
        assert session.said == []


def test_numbers_that_are_predicted_but_not_known(tmp_path):
    chromium()
    graphs, y = element_graphs()
    metric = gml.GraphMetric(features=["trees@0"], label="element", random_state=0)
    model = gml.GraphKNNRegressor(metric, n_neighbors=3).fit(graphs[:50], y[:50])
    file = gml.explore(model, graphs, path=tmp_path / "page.html", explanations=20)
    with browser(tmp_path / "profile") as session:
        page = session.open(f"{file.as_uri()}#55")
        assert page.locator("#colour option").all_text_contents() == ["predicted number", "number of nodes"]
        assert re.search(r"predicted [−\d.]+The prediction is that of the model", page.text_content("#panel"))
        assert "mean error" not in page.text_content("#facts")
        assert session.said == []


def test_graphs_that_are_not_drawn_say_why(tmp_path, monkeypatch):
    chromium()
    monkeypatch.setattr("graph_metric_learn.viz.explorer.exploration._DRAWING_BYTES", 3000)
    graphs = odd_graphs()
    metric = gml.GraphMetric(features=["degree@0", "size@0"], random_state=0).fit(graphs)
    file = gml.explore(metric, graphs, path=tmp_path / "page.html")
    with browser(tmp_path / "profile") as session:
        page = session.open(f"{file.as_uri()}#4")
        assert page.text_content("#panel > svg") == "not drawn"
        assert "500 nodes, 3,000 edges" in page.text_content("#panel")
        assert page.text_content(".undrawn").startswith("Too large to be drawn")
        page.click("#near button >> nth=0")
        assert page.text_content("#no-explanation").startswith("Too large to be drawn")
        page.click("#close-compare")
        page.click("#about-button")
        assert re.search(r"\d of the graphs are too large to be drawn", page.text_content("#about"))
        choose(page, "odd 8")
        assert page.locator("#panel > svg circle").count() >= 5
        page.click("#near button >> nth=0")
        assert page.locator("#compare .terms li").count() >= 1
        page.click("#close-compare")
        for _ in range(3):
            page.click("#zoom-in")
        assert session.said == []


def test_filters_and_colours(opened):
    opened.select_option("#filter", "wrong")
    wrong = int(re.search(r"(\d+) predicted wrongly", opened.text_content("#facts"))[1])
    shown = int(opened.text_content("#told").split()[0])
    assert 1 <= wrong <= shown < 40
    opened.select_option("#filter", "fresh")
    assert opened.text_content("#told") == "4 graphs shown."
    opened.select_option("#filter", "class 1")
    assert opened.text_content("#told") == "21 graphs shown."
    assert opened.locator("#legend").text_content() == "ringstar & co"
    opened.select_option("#colour", "size")
    assert opened.locator("#legend").text_content() == "424"


def test_search_finds_names_and_says_when_there_are_none(opened):
    opened.fill("#search", "NUMBER 1")
    assert opened.locator("#results li").count() == 11
    opened.press("#search", "ArrowDown")
    opened.press("#search", "Enter")
    assert opened.text_content("#chosen-name") == "graph number 10"
    opened.fill("#search", "nobody")
    assert opened.text_content("#results") == "no graph of this name"


def test_a_hostile_name_is_text(opened):
    choose(opened, "onerror")
    assert opened.text_content("#chosen-name") == HOSTILE
    assert opened.locator("img").count() == 0
    opened.click("#near button >> nth=0")
    assert HOSTILE in opened.text_content("#compare h2")
    assert opened.locator("img").count() == 0


def test_keys_are_enough(opened):
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.id") == "search"
    opened.keyboard.type("graph number 12")
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.activeElement.id") == "map"
    first = opened.text_content("#chosen-name")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        opened.keyboard.press(key)
    moved = opened.text_content("#chosen-name")
    assert moved.startswith("graph number") or moved == HOSTILE
    assert first == "graph number 12"
    opened.keyboard.press("Enter")  # to the neighbours
    opened.keyboard.press("Enter")  # compare with the first
    assert opened.locator("#compare").is_visible()
    opened.keyboard.press("Escape")
    assert opened.locator("#compare").is_hidden()
    opened.keyboard.press("Escape")
    assert opened.text_content("#panel h2") == "Choose a graph"


def test_zoom_turns_points_into_drawings_and_back(opened):
    picture = "document.getElementById('map').toDataURL()"
    opened.wait_for_timeout(100)
    before = opened.evaluate(picture)
    for _ in range(3):
        opened.click("#zoom-in")
    opened.wait_for_timeout(100)
    assert opened.evaluate(picture) != before
    opened.click("#zoom-all")
    opened.wait_for_timeout(100)
    assert opened.evaluate(picture) == before
    opened.mouse.move(*where_is(opened, 20))
    assert opened.locator("#tip").is_visible()


def test_every_control_has_a_name_and_nothing_moves(opened):
    assert opened.evaluate(UNNAMED) == 0
    assert opened.evaluate(SHIFT) < 0.01


CONTRAST = r"""(() => {
  const part = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).map(Number).map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return /rgba?\(0, 0, 0, 0\)|color/.test(colour) && one.parentElement ? ground(one.parentElement) : colour;
  };
  const texts = [...document.querySelectorAll('h1, h2, h3, p, label, button, span, td, th, figcaption')];
  return texts.filter((one) => one.offsetParent && one.textContent.trim()).map((one) => {
    const [high, low] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
    return [(high + 0.05) / (low + 0.05), one.textContent.slice(0, 40)];
  }).filter(([ratio]) => ratio < 4.5);
})()"""
UNNAMED = """[...document.querySelectorAll('button, select, input, canvas[tabindex], [role=img]')].filter(
  (one) => !(one.textContent.trim() || one.getAttribute('aria-label') || (one.labels && one.labels.length))).length"""
SHIFT = """new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value })
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(sum), 300);
})"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_in_light_and_dark(file, tmp_path, dark):
    with browser(tmp_path / "profile", dark=dark) as session:
        page = session.open(f"{file.as_uri()}#{WRONG}")
        assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        page.click("#near button >> nth=0")
        assert page.evaluate(CONTRAST) == []
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")
        assert page.evaluate(CONTRAST) == []
        assert session.said == []


def test_it_fits_a_phone(file, tmp_path):
    with browser(tmp_path / "profile", width=390, height=844, touch=True) as session:
        page = session.open(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.touchscreen.tap(*where_is(page, 30))
        assert page.locator("#chosen-name").count() == 1
        page.click("#near button >> nth=0")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("#compare").bounding_box()["y"] < 844
        assert session.said == []


def test_a_served_page_asks_for_explanations(tmp_path):
    chromium()
    pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
    from graph_metric_learn.serve import Service, make_app
    from running_server import Running

    graphs, y = rings_and_stars()
    running = Running(make_app(Service(fitted(), graphs=graphs, y=y, title="Rings"), token="secret"))
    try:
        with browser(tmp_path / "profile") as session:
            page = session.open(f"{running.address}/?token=secret")
            choose(page, "graph number 10")
            page.click("#near button >> nth=7")
            page.wait_for_selector("#compare .terms li, #no-explanation")
            assert page.locator("#compare .terms li").count() >= 1
            assert {address.split("/")[2] for address in session.asked} == {f"127.0.0.1:{running.port}"}
            assert session.said == []
    finally:
        running.stop()


def test_the_page_of_an_index(tmp_path):
    chromium()
    pytest.importorskip("fastapi", reason="needs graph-metric-learn[serve]")
    from graph_metric_learn.serve import Service, make_app
    from running_server import Running

    graphs, y = rings_and_stars()
    model = fitted()
    index = gml.GraphIndex(model.metric_).add(graphs, metadata=[{"target": one} for one in y.tolist()])
    running = Running(make_app(Service(model, index)))
    try:
        with browser(tmp_path / "profile") as session:
            page = session.open(running.address)
            assert "40 graphs · 2 classes" in page.text_content("#facts")
            assert page.locator("#colour option").all_text_contents() == ["class"]
            choose(page, "onerror")
            assert page.text_content("#chosen-name") == HOSTILE
            assert "class ring" in page.text_content("#panel")
            assert "keeps no graphs" in page.text_content(".undrawn")
            page.click("#near button >> nth=0")
            assert "keeps no graphs" in page.text_content("#no-explanation")
            assert page.evaluate(UNNAMED) == 0
            assert not [address for address in session.asked if "explained" in address]
            assert session.said == []
    finally:
        running.stop()
