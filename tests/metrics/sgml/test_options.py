import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.metrics.sgml.options import check_options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 1.5}, "depth must be a whole number >= 0"),
        ({"n_epochs": -1}, "n_epochs"),
        ({"n_cells": 0}, "n_cells"),
        ({"batch_size": True}, "batch_size"),
        ({"learning_rate": float("nan")}, "learning_rate must be positive"),
        ({"distance": "w2"}, "unknown distance='w2'"),
        ({"ties": "optimal"}, 'train with ties="canonical"'),
        ({"loss": "triplet"}, "unknown loss='triplet'"),
        ({"encoder": "gin"}, "got str"),
        ({"masses": True}, "unknown masses=True: use one of 'uniform', 'learned'"),
        ({"masses": "learned", "encoder": torch.nn.Linear(2, 2)}, "leave encoder=None"),
    ],
)
def test_the_option_that_cannot_be_used_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        check_options(gml.SGML(**options))


def test_options_that_can_be_used():
    check_options(gml.SGML())
    check_options(gml.SGML(masses="learned", loss="mlkr", n_epochs=0, ties="first"))
    check_options(gml.SGML(encoder=torch.nn.Linear(2, 2), loss=gml.nca))
