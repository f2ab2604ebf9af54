import numpy as np
import pytest

from graph_metric_learn.index.ids import Ids, checked_id, checked_ids, hash_table, id_hashes


@pytest.mark.parametrize(
    "ids", [[3, -7, 2**62], ["a", "", "β-carotene", "a b"], ["7", 7, "x", -1], [("a", 1), 2, "b", frozenset({1})]]
)
def test_ids_come_back_and_are_found(ids):
    kept = Ids.of(ids)
    assert len(kept) == len(ids)
    assert kept.at(np.arange(len(ids))) == ids
    assert kept.at(np.array([1, 0, 1])) == [ids[1], ids[0], ids[1]]
    asked = [*ids, "missing", 99]
    assert list(kept.find(asked, id_hashes(asked), None)) == [*range(len(ids)), -1, -1]
    assert kept.all_numbers == all(type(value) is int for value in ids)


def test_dead_rows_are_not_found():
    kept = Ids.of(["a", "b"])
    assert list(kept.find(["a", "b"], id_hashes(["a", "b"]), np.array([True, False]))) == [-1, 1]


def test_equal_hashes_do_not_confuse():
    arrays = Ids.of(["a", "b"]).arrays | hash_table(np.array([5, 5], dtype=np.uint64))
    kept = Ids(arrays)
    assert list(kept.find(["b", "a", "c"], np.full(3, 5, np.uint64), None)) == [1, 0, -1]


def test_hashes_are_the_same_alone_and_in_company():
    assert id_hashes([5, "x"])[0] == id_hashes([5, 6])[0]
    assert id_hashes(["5"])[0] != id_hashes([5])[0]


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


def test_objects_stay_in_memory():
    Ids.of(["a", 1]).without_objects()
    with pytest.raises(ValueError, match=r"id \(1, 2\) is a tuple: ids on disk are whole numbers and strings"):
        Ids.of([(1, 2)]).without_objects()
