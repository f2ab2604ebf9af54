import graph_metric_learn as gml
from graph_metric_learn.features import propagation


def test_loops_are_compiled_afterwards():
    assert gml.warm_up() >= 0
    assert propagation._mix.signatures
