import numpy as np
import pytest

from graph_metric_learn.index.metadata import checked_metadata, decode, encode


def test_values_come_back():
    values = ["ring", None, 3, 2.5, {"class": "a", "tags": [1, "ü"]}, ""]
    arrays = encode(values)
    assert decode(arrays, np.arange(6)) == values
    assert decode(arrays, np.array([4, 0])) == [values[4], values[0]]
    assert decode({}, np.arange(2)) == [None, None]


def test_numpy_values_are_written_as_plain_ones():
    assert decode(encode([np.float32(0.5), {"v": np.arange(2)}]), np.arange(2)) == [0.5, {"v": [0, 1]}]


def test_sequences_and_columns():
    assert checked_metadata(None, 2) is None
    assert checked_metadata(("a", "b"), 2) == ["a", "b"]
    assert checked_metadata({"class": np.array(["a", "b"])}, 2) == [{"class": "a"}, {"class": "b"}]


@pytest.mark.parametrize("bad", [["a"], "ab", {"class": ["a"]}, {"class": "ab"}, 7])
def test_one_value_per_graph(bad):
    with pytest.raises(ValueError, match="one value for each of the 2 graphs"):
        checked_metadata(bad, 2)


@pytest.mark.parametrize("bad", [object(), float("nan"), {1, 2}])
def test_what_json_cannot_hold_is_named(bad):
    with pytest.raises(ValueError, match="metadata of graph 1 cannot be written as JSON"):
        encode(["fine", bad])
