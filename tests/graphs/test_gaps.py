import networkx as nx
import numpy as np
import pytest

from graph_metric_learn._core.schema import read, split
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.graphs.gaps import NodeMeans

EDGE = np.array([[0, 1], [1, 0]])
NAN = np.nan


def pairs(*features):
    return [(EDGE, np.array(x)) for x in features]


def test_gaps_are_an_error_that_names_the_option():
    with pytest.raises(ValueError, match=r"graph 1 has a NaN or infinite node feature: .* say missing='mean' if NaN"):
        as_graphs(pairs([[1.0], [2.0]], [[1.0], [NAN]]))
    with pytest.raises(ValueError, match=r"graph 0 has a NaN or infinite node feature: clean or drop it$"):
        as_graphs(pairs([[1.0], [np.inf]]))
    with pytest.raises(ValueError, match=r"graph 0 has a NaN or infinite node feature: clean or drop it$"):
        as_graphs(pairs([[NAN, 1.0], [1.0, np.inf]]), missing="mean")
    with pytest.raises(ValueError, match="unknown missing='zero'"):
        as_graphs(pairs([[1.0], [2.0]]), missing="zero")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaps_stay_until_means_fill_them(dtype):
    x = np.array([[1, NAN, NAN], [3, NAN, 5], [NAN, NAN, 8]], dtype)
    fitted = as_graphs([(EDGE, x[:2]), (np.zeros((1, 1)), x[2:])], missing="mean")
    np.testing.assert_array_equal(fitted.x, x)
    means = NodeMeans.of(fitted)
    assert means.means.tolist() == [2, 0, 6.5]
    filled = means.fill(fitted)
    assert filled.x.tolist() == [[1, 0, 6.5], [3, 0, 5], [2, 0, 8]]
    assert filled.x.dtype == dtype
    new = as_graphs([(EDGE, np.array([[NAN] * 3, [7, 7, 7]], dtype))], missing="mean")
    assert means.fill(new).x.tolist() == [[2, 0, 6.5], [7, 7, 7]]  # means of the fitted graphs
    assert means.fill(filled) is filled
    assert as_graphs(filled) is filled


def test_graphs_with_gaps_may_be_read_again():
    graphs = as_graphs(pairs([[NAN], [2.0]], [[1.0], [2.0]]), missing="mean")
    assert as_graphs(graphs, missing="mean") is graphs
    assert np.isnan(as_graphs([graphs[:1], graphs[1:]], missing="mean").x).sum() == 1
    with pytest.raises(ValueError, match="graph 0 has a NaN"):
        as_graphs(graphs)
    with pytest.raises(ValueError, match="graph 1 has a NaN or infinite node feature"):
        as_graphs(Graphs(np.array([1, 1]), np.zeros((2, 0), int), x=np.array([[NAN], [np.inf]])), missing="mean")


def test_graphs_without_features():
    bare = as_graphs([nx.path_graph(3)], missing="mean")
    assert NodeMeans.of(bare).means is None
    assert NodeMeans().fill(bare) is bare


def test_other_widths_are_named():
    means, wide = NodeMeans(np.zeros(3)), as_graphs(pairs([[NAN], [2.0]]), missing="mean")
    with pytest.raises(ValueError, match="nodes carry 1 features, those that were fitted 3"):
        means.fill(wide)


def test_files_hold_them():
    config, arrays = split({"means": NodeMeans(np.array([1.0, 2.0]))})
    assert config == {"means": {}}
    assert read(NodeMeans, {"means": arrays["means.means"]}).means.tolist() == [1, 2]
