from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.metrics.explanation import Evidence, Explanation


@pytest.fixture
def explained():
    plan = np.array([[0.3, 0.1, 0.1], [0.0, 0.2, 0.3]])
    graphs = replace(as_graphs([nx.path_graph(2), nx.path_graph(3)]), names=["<b>one</b>", "two"])
    evidence = Evidence("ring", "star", False, 0.5, np.array([0.4, 0.1]), np.array([-0.3, -0.3, 0.1]))
    terms = {"trees": 0.9, "<i>sizes</i>": 0.1}
    shares = (np.array([0.75, 0.25]), np.array([0.1, 0.2, 0.7]))
    return Explanation(2.0, plan, *shares, graphs, term_share=terms, evidence=evidence)


def test_notebooks_see_graphs_terms_and_what_speaks_for_a_class(explained):
    html = explained._repr_html_()
    assert html.count("<svg") == 2
    assert "90.0 % trees" in html
    assert "10.0 % &lt;i&gt;sizes&lt;/i&gt;" in html
    assert "&lt;b&gt;one&lt;/b&gt;" in html
    assert "<b>one" not in html
    assert "Nodes that speak for ring most: 0 (+0.4), 1 (+0.1); in the second graph 2 (+0.1)." in html
    assert "Heaviest matches: 0–0, 1–2, 1–1, 0–1, 0–2." in html
    assert "75 %</span>" in html  # the end of the bar


def test_numbers_and_no_evidence(explained):
    number = replace(explained.evidence, towards="the number", against=None, is_number=True)
    assert "Nodes that raise the number most" in replace(explained, evidence=number)._repr_html_()
    assert "Nodes that" not in replace(explained, evidence=None, term_share=None)._repr_html_()


def test_notebooks_see_the_report_of_a_metric():
    graphs = [nx.cycle_graph(n) for n in range(4, 10)] + [nx.star_graph(n) for n in range(4, 10)]
    metric = gml.GraphMetric(features=["degree@0"], random_state=0)
    assert "chose" not in metric._repr_html_()
    metric.fit(graphs, [0] * 6 + [1] * 6)
    assert "<p>chose " in metric._repr_html_()
    assert "random_state" in metric._repr_html_()  # what scikit-learn shows
