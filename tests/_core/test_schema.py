import json
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from msgspec import UNSET, Meta, UnsetType
from scipy import sparse

from graph_metric_learn._core.schema import (
    Count,
    FieldError,
    Label,
    Labels,
    NonNegative,
    Number,
    OwnState,
    Rows,
    Saved,
    array,
    check_choice,
    check_labels,
    dims_of,
    join,
    read,
    split,
    within,
)


class Person(Saved):
    name: str
    age: Annotated[int, Meta(ge=0, le=150)]
    height: Annotated[float, Meta(ge=0, le=3)] | None = None
    pets: tuple[str, ...] = ()


class Layer(Saved):
    weights: Annotated[np.ndarray, array("M T", least=0.0)]
    mean: Annotated[np.ndarray, array("T")]
    names: Annotated[np.ndarray, array("M 2", "iu")] | None = None


class Model(Saved, kw_only=True):
    layers: Annotated[list[Layer], Meta(min_length=1)]
    owner: Person | None = None
    rows: Annotated[Rows, array("N D")] | None = None
    own: OwnState | None = None
    scores: dict[str, Number] = {}  # noqa: RUF012  # msgspec copies it
    label: Labels = []  # noqa: RUF012
    kind: Literal["a", "b"] = "a"
    gain: NonNegative | UnsetType = UNSET


def layer(m=3, t=2, **changes):
    return {"weights": np.ones((m, t)), "mean": np.zeros(t), **changes}


def sparse_rows(rng):
    return sparse.random_array((6, 9), density=0.3, rng=rng, format="csr")


def test_what_fits_comes_back(rng):
    own = OwnState({"a": {}}, {"x.y": np.ones(2), "a": np.ones(3)})
    dense, rows = rng.normal(size=(2, 5)), sparse_rows(rng)
    for one in (dense, rows):
        model = Model(layers=[Layer(**layer()), Layer(**layer(5, 1))], owner=Person("Ada", 36), rows=one, own=own)
        config, arrays = split(model)
        again = read(Model, join(json.loads(json.dumps(config)), arrays))
        assert again.owner == model.owner
        assert [dims_of(each) for each in again.layers] == [{"M": 3, "T": 2}, {"M": 5, "T": 1}]
        assert type(again.rows) is type(one)
        assert abs(again.rows - one).max() == 0
        assert again.own.arrays.keys() == own.arrays.keys()
        assert again.own.config == own.config


def test_arrays_lie_by_their_path_beside_the_json():
    config, arrays = split({"model": Model(layers=[Layer(**layer())], gain=np.float64(2.0)), "seed": np.int64(3)})
    assert config["model"]["layers"] == [{}]
    assert config["model"]["gain"] == 2.0
    assert config["seed"] == 3
    assert sorted(arrays) == ["model.layers.0.mean", "model.layers.0.weights"]
    json.dumps(config)
    with pytest.raises(TypeError, match="entries of dictionaries"):
        split({"listed": [np.ones(1)]})


def test_names_with_dots_are_names():
    tree = {"a.b": {"c": np.ones(1)}, "weights": {"conv.0.bias": np.ones(2)}, "a": {}}
    config, arrays = split(tree)
    again = join(config, arrays)
    assert again["a.b"].keys() == {"c"}
    assert again["weights"].keys() == {"conv.0.bias"}
    assert config == {"a.b": {}, "weights": {}, "a": {}}  # joining has not changed it


@pytest.mark.parametrize("name", ["layers.7.mean", "layers.mean", "layers.0.mean.x", "layers.0.mean", "else", "0"])
def test_arrays_in_places_that_are_not_there(name):
    config, arrays = split(Model(layers=[Layer(**layer())]))
    if name in arrays:
        config["layers"][0]["mean"] = [1.0]
    else:
        arrays[name] = np.ones(1)
    with pytest.raises(FieldError, match=r"is not known|must be a string|mean"):
        read(Model, join(config, arrays))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"name": "Ada"}, "person.age is missing"),
        ({"name": "Ada", "age": 3, "agf": 3}, "person.agf is not known"),
        ({"name": 3, "age": 3}, "person.name must be a string, got 3"),
        ({"name": "Ada", "age": True}, "person.age must be a whole number, got True"),
        ({"name": "Ada", "age": "3"}, "person.age must be a whole number, got '3'"),
        ({"name": "Ada", "age": 2.0}, "person.age must be a whole number, got 2.0"),
        ({"name": "Ada", "age": 151}, "person.age must be a whole number <= 150, got 151"),
        ({"name": "Ada", "age": 10**5000}, "person.age must be a whole number <= 150, got a number of thousands"),
        ({"name": "Ada", "age": 3, "height": float("nan")}, "person.height must be a number.*, got nan"),
        ({"name": "Ada", "age": 3, "height": float("inf")}, "person.height must be a number.*, got inf"),
        ({"name": "Ada", "age": 3, "height": "tall"}, "person.height must be .*a number.*, got 'tall'"),
        ({"name": "Ada", "age": 3, "pets": ["cat", 1]}, "person.pets.1 must be a string, got 1"),
        ([], r"person must be a dictionary, got \[\]"),
        (None, "person must be a dictionary, got None"),
    ],
)
def test_what_does_not_fit_is_named(value, words):
    with pytest.raises(FieldError, match=f"^{words}"):
        read(Person, value, "person")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": np.ones((3, 3))}, r"layers.0.mean has shape \(2,\), expected \(T = 3\)"),
        ({"weights": np.ones(4)}, r"layers.0.weights has shape \(4,\), expected \(M = 4, T\)"),
        ({"weights": np.ones((3, 2), dtype=np.int64)}, "layers.0.weights holds numbers of type int64"),
        ({"weights": np.ones((3, 2), dtype=np.float16)}, "layers.0.weights holds numbers of type float16"),
        ({"weights": np.full((3, 2), np.inf)}, "layers.0.weights holds numbers that are NaN, infinite or too large"),
        ({"weights": np.full((3, 2), np.nan)}, "layers.0.weights holds numbers that are NaN"),
        ({"weights": np.full((3, 2), 1e31)}, "layers.0.weights holds numbers that are NaN, infinite or too large"),
        ({"weights": np.full((3, 2), -1.0)}, "layers.0.weights holds -1.0, less than 0"),
        ({"weights": [[1.0, 2.0]]}, "layers.0.weights must be an array"),
        ({"weights": None}, "layers.0.weights must be an array"),
        ({"names": np.ones((3, 3), dtype=np.uint64)}, r"layers.0.names has shape \(3, 3\), expected \(M = 3, 2\)"),
        ({"bias": np.ones(1)}, "layers.0.bias is not known"),
    ],
)
def test_arrays_have_shapes_and_kinds_that_fit_together(changes, words):
    with pytest.raises(FieldError, match=f"^{words}"):
        read(Model, {"layers": [layer(**changes)]})
    with pytest.raises(FieldError, match=r"^metric.layers.0"):
        read(Model, {"layers": [layer(**changes)]}, "metric")


def test_lengths_may_be_given():
    found = read(Layer, layer(3, 2), "layer", M=3, T=None)
    assert dims_of(found) == {"M": 3, "T": 2}
    with pytest.raises(FieldError, match=r"layer.weights has shape \(3, 2\), expected \(M = 4, T = 2\)"):
        read(Layer, layer(3, 2), "layer", M=4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"layers": []}, "layers must be a list of length >= 1"),
        ({"kind": "c"}, "kind is none of the values that are known, got 'c'"),
        ({"scores": {"y": 1, "x": "high"}}, "scores.x must be a number, got 'high'"),
        ({"scores": []}, "scores must be a dictionary"),
        ({"gain": None}, "gain must be a number, got None"),
        ({"gain": 1e31}, "gain must be a number <= 1e"),
        ({"label": ["a", None]}, "label.1 must be"),
        ({"label": [float("nan")]}, "label.0 must be a number"),
        ({"label": [2**63]}, "label.0 must be a whole number"),
        ({"own": {"config": {}}}, "own.arrays is missing"),
        ({"own": {"config": 1, "arrays": {}}}, "own.config must be a dictionary, got 1"),
        ({"own": {"config": {}, "arrays": {"x": 1}}}, "own.arrays.x must be an array"),
        ({"rows": {"data": np.ones(1)}}, "rows.columns is missing"),
        ({"rows": "x"}, "rows must be an array"),
        ({3: 1}, "must be a string"),
    ],
)
def test_fields_of_other_types(changes, words):
    with pytest.raises(FieldError, match=words):
        read(Model, {"layers": [layer()], **changes})


def test_counts_and_labels():
    assert read(list[Label], ["a", 1, 2.5, True], "y") == ["a", 1, 2.5, True]
    for bad in (0, 10**9 + 1, 1.0):
        with pytest.raises(FieldError, match="k must be a whole number"):
            read(Count, bad, "k")
    check_labels("y", [1, 2.5])
    with pytest.raises(FieldError, match="y mixes strings and numbers"):
        check_labels("y", ["a", 1])
    for labels in ([2, 1], ["a", "a"]):
        check_labels("y", labels, ascending=False)
        with pytest.raises(FieldError, match="y must ascend, each label once"):
            check_labels("y", labels)
    assert check_choice("task", "auto", ["auto"]) == "auto"
    with pytest.raises(FieldError, match=r"task must be one of 'auto', got \[\]"):
        check_choice("task", [], ["auto"])


def test_names_of_fields_are_paths():
    with pytest.raises(FieldError, match=r"^terms.3.weight is heavy"), within("terms.3"):
        raise FieldError("weight", "is heavy")
    with pytest.raises(KeyError), within("terms.3"):
        raise KeyError("another error passes")


def test_checks_of_a_class_are_made_when_it_is_read_and_when_it_is_made():
    class Range(Saved):
        low: float
        high: float

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise FieldError("high", "is below low")
            if self.high > 9:
                raise ValueError("anything else")

    for kind, tree in ((Range, {"low": 2.0, "high": 1.0}), (dict[str, Range], {"x": {"low": 2.0, "high": 1.0}})):
        with pytest.raises(FieldError, match=r"^limits\.(.*)high is below low"):
            read(kind, tree, "limits")
    with pytest.raises(FieldError, match=r"^limits: anything else"):
        read(Range, {"low": 2.0, "high": 10.0}, "limits")
    with pytest.raises(FieldError, match="high is below low"):
        Range(2.0, 1.0)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("starts", lambda value: value[::-1].copy(), "rows.starts do not ascend from 0"),
        ("starts", lambda value: value[:-1], "rows.starts do not ascend from 0"),
        ("starts", lambda value: value + 1, "rows.starts do not ascend from 0"),
        ("columns", lambda value: value + 100, "rows.columns holds 10., but there are 9 columns"),
        ("columns", lambda value: np.zeros_like(value), "rows.columns do not ascend within each row"),
        ("columns", lambda value: value - 100, "rows.columns holds -"),
        ("columns", lambda value: value[:-1], "rows.columns has shape"),
        ("data", lambda value: value * np.nan, "rows.data holds numbers that are NaN"),
        ("width", lambda value: -1, "rows.width must be a whole number >= 0"),
        ("width", lambda value: 2**70, "rows.width must be a whole number <="),
    ],
)
def test_sparse_rows_are_checked(rng, name, change, words):
    config, arrays = split({"rows": sparse_rows(rng)})
    tree: Any = join(config, arrays)["rows"]
    tree[name] = change(tree[name])
    with pytest.raises(FieldError, match=words):
        read(Model, {"layers": [layer()], "rows": tree})
