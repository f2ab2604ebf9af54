from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from graph_metric_learn.report.demo.comparison import N_NEIGHBORS
from graph_metric_learn.report.demo.digits import Part
from graph_metric_learn.report.demo.page import demo_page
from page_reader import Page

SECTIONS = ["result", "choice", "map", "neighbours", "explanation", "yours"]


def test_page_shows_the_accuracies_that_were_reported(ran):
    summary, source = ran
    text = Page(source).text
    for key in ("accuracy_before", "accuracy_after"):
        assert f"{100 * summary[key]:.1f} %" in text


def test_page_has_its_sections_and_pictures(ran):
    _, source = ran
    page = Page(source)
    assert page.ids == SECTIONS
    assert len(page.images) == 1
    assert all(image["alt"] and image["src"].startswith("data:image/png;base64,") for image in page.images)
    assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in page.drawings)
    maps = [drawing for drawing in page.drawings if drawing["class"] == "map"]
    graphs = [drawing for drawing in page.drawings if drawing["class"] == "graph"]
    rows = source.count('<div class="query">')
    assert len(maps) == 2
    assert rows >= 2
    assert len(graphs) == 10 + rows * (1 + 2 * N_NEIGHBORS)


def test_page_needs_nothing_from_elsewhere(ran):
    _, source = ran
    Page(source).assert_fetches_nothing()
    for address in ("http:", "https:", "url(", "@import"):
        assert address not in source
    assert len(source.encode()) < 3e6


def test_wrong_neighbours_are_marked(ran, again):
    _, source = ran
    train, test, *distances = again
    nearest = [one.argsort(1)[:, :N_NEIGHBORS] for one in distances]
    for row in source.split('<div class="query">')[1:]:
        q = int(row.split("test graph ")[1].split(",")[0])
        strips = [part.split("</ol>")[0] for part in row.split('<div class="strip">')[1:]]
        for strip, found in zip(strips, nearest, strict=True):
            assert strip.count('class="wrong"') == np.sum(train.y[found[q]] != test.y[q])


def test_what_was_chosen_and_learned_is_listed(small):
    metric = small.after.metric
    metric.choice_ = SimpleNamespace(
        scores={f"way {i}": i / 20 for i in range(20)}, weights={"way 3": 0.25, "way 19": 0.75}
    )
    metric.learned_.gate = replace(metric.learned_.gate, weight=3.0, unlearned=0.5, learned=0.625)
    source = demo_page(small, 0)
    text = " ".join(Page(source).text.split())
    assert "weighted sum of the best: 25 % way 3 + 75 % way 19." in text
    parts = ", ".join(dict.fromkeys(part.term.name for part in metric.learned_.machine.parts))
    assert f"regression on the digits was fitted in closed form, to {parts}. Its scores" in text
    assert "3 times as much as all else, by which k-NN on graphs held out goes from 50 % to 62 %." in text
    metric.learned_.gate = replace(metric.learned_.gate, weight=0.0)
    assert "held out from it: not at all." in " ".join(Page(demo_page(small, 0)).text.split())
    bars = source.split('<ul class="bars">')[1].split("</ul>")[0]
    assert bars.count("<li") == 13  # the best 12 and the chosen one that is not among them
    assert bars.count('<li class="marked">') == 2


def test_labels_and_names_are_escaped(small):
    hostile = "</script><b>&"
    train, test = (Part(part.graphs, np.array([f"{hostile}{digit}" for digit in part.y])) for part in small[:2])
    small.after.metric.choice_ = SimpleNamespace(scores={hostile: 0.5}, weights={hostile: 1.0})
    source = demo_page(small._replace(train=train, test=test), 0)
    page = Page(source)
    assert hostile in page.text
    assert "<script" not in source
    assert hostile not in source
    assert page.tags.count("b") == source.count('<b role="img" aria-label="wrong">')  # those of wrong neighbours
