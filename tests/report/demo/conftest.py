import pytest

from graph_metric_learn import GraphMetric
from graph_metric_learn.report.demo import run_demo
from graph_metric_learn.report.demo.comparison import N_NEIGHBORS, UNLEARNED, Comparison, evaluate
from graph_metric_learn.report.demo.digits import split_digits


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """The summary of a run on 300 graphs, and the source of its page."""
    out = tmp_path_factory.mktemp("demo") / "page"
    summary = run_demo(out, max_graphs=300, progress=False)
    return summary, (out / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def again():
    """The same by hand: the split, and the nearest training graphs before and after learning, from all distances."""
    train, test = split_digits(300)
    nearest = []
    for settings in (UNLEARNED, {}):
        metric = GraphMetric(**settings, random_state=0).fit(train.graphs, train.y)
        nearest.append(metric.pairwise_distances(test.graphs, train.graphs).argsort(1)[:, :N_NEIGHBORS])
    return train, test, *nearest


@pytest.fixture
def small():
    """A comparison of two metrics that fit at once, on 120 graphs."""
    train, test = split_digits(120)
    before, after = (
        evaluate(GraphMetric(features=features, embedding="mean", learn=False, random_state=0), train, test)
        for features in (["attributes@0"], ["labels@0"])
    )
    return Comparison(train, test, before, after)
