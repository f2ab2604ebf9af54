import numpy as np
import pytest

from graph_metric_learn.index.catalogue import (
    MemoryCatalogue,
    checked_id,
    checked_ids,
    checked_metadata,
    decode,
    encode,
)


@pytest.mark.parametrize(
    "ids", [[3, -7, 2**62], ["a", "", "β-carotene", "a b"], ["7", 7, "x", -1], [("a", 1), 2, "b", frozenset({1})]]
)
def test_ids_come_back_and_are_found(ids):
    catalogue = MemoryCatalogue()
    catalogue.append(0, ids, None)
    assert catalogue.ids(np.arange(len(ids))) == ids
    assert catalogue.ids(np.array([1, 0, 1])) == [ids[1], ids[0], ids[1]]
    assert catalogue.notes(np.array([1])) == [None]
    found = dict(catalogue.candidates([*ids, "missing", 99], len(ids)))
    assert found == {i: i for i in range(len(ids))}


def test_an_id_leads_to_all_its_rows_below_a_count():
    catalogue = MemoryCatalogue()
    for count, ids in ((0, ["a", "b"]), (2, ["a"]), (3, ["c", "a"])):
        catalogue.append(count, ids, None)
    assert [row for _, row in catalogue.candidates(["a"], 5)] == [4, 2, 0]
    assert [row for _, row in catalogue.candidates(["a"], 3)] == [2, 0]
    assert list(catalogue.candidates(["c"], 3)) == []


def test_what_an_interrupted_call_has_left_does_not_count():
    catalogue = MemoryCatalogue()
    catalogue.append(0, ["a", "b"], None)
    catalogue.append(2, ["lost", "a"], None)  # no state of four rows came of it
    catalogue.append(2, ["c", "a"], [b"1", None])
    assert catalogue.ids(np.arange(4)) == ["a", "b", "c", "a"]
    assert [list(catalogue.candidates([name], 4)) for name in ("lost", "c")] == [[], [(0, 2)]]
    assert 3 in [row for _, row in catalogue.candidates(["a"], 4)]


def test_numpy_values_are_plain_ones():
    assert checked_ids(np.array([3, 4]), 2) == [3, 4]
    assert type(checked_ids(np.array(["a"]), 1)[0]) is str
    assert checked_ids("one", 1) == ["one"]


@pytest.mark.parametrize(
    ("value", "message"),
    [(True, "whole numbers, strings"), (None, "whole numbers"), ([1], "cannot be hashed"), (2**63, "64 bits")],
)
def test_bad_ids(value, message):
    with pytest.raises(ValueError, match=message):
        checked_id(value)


def test_one_id_per_graph_all_different():
    with pytest.raises(ValueError, match="2 ids for 3 graphs"):
        checked_ids([1, 2], 3)
    with pytest.raises(ValueError, match="id 'a' is given twice"):
        checked_ids(["b", "a", "a"], 3)


def test_values_come_back():
    values = ["ring", None, 3, 2.5, {"class": "a", "tags": [1, "ü"]}, ""]
    assert decode(encode(values)) == values
    for damaged in (b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(ValueError, match="damaged"):
            decode([damaged])


def test_numpy_values_are_written_as_plain_ones():
    assert decode(encode([np.float32(0.5), {"v": np.arange(2)}])) == [0.5, {"v": [0, 1]}]


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
