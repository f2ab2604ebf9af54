import pytest

import graph_metric_learn as gml
from graph_metric_learn.metrics.automatic.options import check_options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(
            ({"n_landmarks": given}, 'n_landmarks, if not "auto", must be a whole number >= 10')
            for given in (9, None, 20.5, True, "all")
        ),
        *(
            ({"n_components": given}, 'n_components, if not "auto" or None, must be a whole number >= 1')
            for given in (0, 2.5, True, "all")
        ),
        ({"embedding": "best"}, "unknown embedding='best'"),
        ({"task": "ranks"}, "unknown task='ranks'"),
        ({"scoring": "best"}, "unknown scoring='best'"),
        ({"class_weight": "even"}, "unknown class_weight='even'"),
        ({"families": ["trees", "bushes"]}, "unknown families='bushes'"),
        *(({"features": given}, 'features must be "auto" or a list') for given in ("labels", None, 5, [], [1])),
        *(({"families": given}, 'families must be "auto" or a list') for given in ("trees", None, 5, [], [1])),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(ValueError, match=words):
        check_options(gml.GraphMetric(**options))


@pytest.mark.parametrize(
    "options",
    [
        {}, {"n_components": None}, {"n_components": 3}, {"features": ("size@0",)}, {"families": ("trees", "size")},
        {"n_landmarks": 10}, {"class_weight": None}, {"class_weight": "balanced"}, {"scoring": "roc_auc"},
    ],
)  # fmt: skip
def test_others(options):
    check_options(gml.GraphMetric(**options))


def test_features_and_families_are_not_named_together():
    with pytest.raises(ValueError, match="give one of them"):
        check_options(gml.GraphMetric(features=["trees@0"], families=["trees"]))


def test_a_device_that_is_not_there_is_refused_whatever_the_number_of_graphs():
    with pytest.raises(ValueError, match="unknown device='gpu'"):
        check_options(gml.GraphMetric(device="gpu"))
