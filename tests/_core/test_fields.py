import numpy as np
import pytest

from graph_metric_learn._core.fields import (
    Arrays,
    FieldError,
    choice,
    either,
    flag,
    label,
    labels,
    list_of,
    mapping_of,
    number,
    optional,
    record,
    text,
    unique,
    whole,
    within,
)

PERSON = record({"name": text, "age": whole(0, 150)}, {"height": optional(number(0, 3))})


def test_what_fits_comes_back():
    person = {"name": "Ada", "age": 36, "height": None}
    assert PERSON(person, "person") == person
    assert whole(0, 9)(np.int64(3), "n") == 3
    assert list_of(text, 1)(("a", "b"), "names") == ["a", "b"]
    assert mapping_of(flag)({"a": True}, "flags") == {"a": True}
    assert either(choice(["auto"]), whole(1, 5))(4, "k") == 4
    assert labels(2)([1, 2.5], "y") == [1, 2.5]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"name": "Ada"}, "person.age is missing"),
        ({"name": "Ada", "age": 3, "agf": 3}, "person.agf is not known"),
        ({"name": 3, "age": 3}, "person.name must be a string, got 3"),
        ({"name": "Ada", "age": True}, "person.age must be a whole number from 0 to 150, got True"),
        ({"name": "Ada", "age": 2.0}, "person.age must be a whole number"),
        ({"name": "Ada", "age": 10**5000}, "person.age must be a whole number"),
        ({"name": "Ada", "age": 3, "height": float("nan")}, "person.height must be a number from 0 to 3, got nan"),
        ([], "person must be a dictionary"),
    ],
)
def test_what_does_not_fit_is_named(value, words):
    with pytest.raises(FieldError, match=words):
        PERSON(value, "person")


@pytest.mark.parametrize(
    ("check", "value", "words"),
    [
        (list_of(text, 2, 2), ["a"], "names must be a list of 2 entries, got 1 of them"),
        (list_of(text), ["a", 1], "names.1 must be a string"),
        (unique(list_of(text)), ["a", "a"], "names holds an entry twice"),
        (labels(), ["a", 1], "names mixes strings and numbers"),
        (label, float("inf"), "names must be a string or a number"),
        (label, 2**64, "names must fit into 64 bits"),
        (choice([1, "auto"]), True, "names must be one of 1, 'auto', got True"),
        (number(0, above=True), 0, "names must be a number above 0"),
        (flag, 1, "names must be true or false"),
        (mapping_of(text), [], "names must be a dictionary"),
    ],
)
def test_other_checks(check, value, words):
    with pytest.raises(FieldError, match=words):
        check(value, "names")


def test_names_of_fields_are_paths():
    with pytest.raises(FieldError, match=r"^terms.3.weight must be a number"), within("terms.3"):
        number()("heavy", "weight")
    with pytest.raises(KeyError), within("terms.3"):
        raise KeyError("another error passes")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ones((3, 2)), r"theta has shape \(3, 2\), expected \(4, any\)"),
        (np.ones(4), r"theta has shape \(4,\)"),
        (np.ones((4, 2), dtype=np.int64), "theta holds numbers of type int64"),
        (np.ones((4, 2), dtype=np.float16), "theta holds numbers of type float16"),
        (np.full((4, 2), np.inf), "theta holds numbers that are NaN, infinite or too large"),
        (np.full((4, 2), np.nan), "theta holds numbers that are NaN"),
        (np.full((4, 2), -1.0), "theta holds -1.0, less than 0"),
    ],
)
def test_arrays_have_shapes_and_kinds(value, words):
    with pytest.raises(FieldError, match=words):
        Arrays({"theta": value}).take("theta", (4, None), least=0.0)


def test_arrays_are_taken_once_and_none_is_left():
    arrays = Arrays({"metric.theta": np.ones(2), "y": np.ones(1), "mean trees": np.ones(1)})
    part = arrays.part("metric.")
    assert "theta" in part
    assert part.ndim("theta") == 1
    with pytest.raises(FieldError, match="y is missing"):
        part.take("y", (1,))
    with pytest.raises(FieldError, match="theta is not known"):
        part.done()
    assert part.rest().keys() == {"theta"}
    part.done()
    assert arrays.part_with_suffix(" trees").keys() == {"mean"}
    assert len(arrays) == 1
