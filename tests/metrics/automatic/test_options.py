import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics.automatic.options import check_options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_steps": 0}, "n_steps must be a whole number >= 1"),
        ({"n_steps": 2.5}, "n_steps must be a whole number >= 1"),
        ({"n_steps": True}, "n_steps must be a whole number >= 1"),
        ({"n_graphs": 1}, "n_graphs must be a whole number >= 4"),
        ({"n_components": 0}, 'n_components, if not "auto" or None, must be a whole number >= 1'),
        ({"n_components": "all"}, 'n_components, if not "auto" or None, must be a whole number >= 1'),
        ({"embedding": "best"}, "unknown embedding='best'"),
        ({"task": "ranks"}, "unknown task='ranks'"),
        *(({"features": given}, 'features must be "auto" or a list') for given in ("labels", None, 5, [], [1])),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(ValueError, match=words):
        check_options(gml.GraphMetric(**options))


@pytest.mark.parametrize("options", [{}, {"n_components": None}, {"n_components": 3}, {"features": ("size@0",)}])
def test_others(options):
    check_options(gml.GraphMetric(**options))
