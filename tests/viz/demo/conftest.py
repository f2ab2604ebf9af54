import pytest

from graph_metric_learn import GraphMetric
from graph_metric_learn.viz.demo import run_demo
from graph_metric_learn.viz.demo.comparison import (
    UNLEARNED,
    Comparison,
    evaluate,
    one_by_one,
    pixel_accuracy,
    split_digits,
)


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """The summary of a run on 300 graphs, and the source of its page."""
    out = tmp_path_factory.mktemp("demo") / "page"
    summary = run_demo(out, max_graphs=300, progress=False, explanations=40)
    return summary, (out / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def again():
    """The same by hand: the split, and distances of test to training graphs before and after learning."""
    train, test = split_digits(300)
    distances = []
    for settings in (UNLEARNED, {}):
        metric = GraphMetric(**settings, random_state=0).fit(train.graphs, train.y)
        distances.append(metric.pairwise_distances(test.graphs, train.graphs))
    return train, test, *distances


@pytest.fixture
def small():
    """A comparison of two metrics that fit at once, on 120 graphs."""
    train, test = split_digits(120)
    before, after = (
        evaluate(GraphMetric(features=features, embedding="mean", learn=learn, random_state=0), train, test)
        for features, learn in ((["attributes@0"], False), (["labels@0"], True))
    )
    times = one_by_one(after.classifier, test.graphs[:3])
    return Comparison(train, test, before, after, pixel_accuracy(train, test), times)
