"""Damaged model folders, every kind of model: equal answers or a `ValueError`, never a crash or another answer."""

import json
import time
import warnings

import numpy as np
import pytest
from budget import SECONDS, SEED
from damage import change_and_sign, flip_bytes, fresh, resigned, with_type
from safetensors.numpy import save
from saved_models import answers, finite, models

import graph_metric_learn as gml


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Folder, graphs and answers of every kind of model."""
    root, found = tmp_path_factory.mktemp("models"), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model, graphs in models():
            model.save(root / name)
            found[name] = (root / name, graphs, answers(model, graphs))
    return found


def test_every_kind_comes_back(saved):
    for name, (folder, graphs, said) in saved.items():
        for what, value in answers(gml.load(folder), graphs).items():
            np.testing.assert_array_equal(value, said[what], err_msg=f"{name}, {what}")


@pytest.mark.parametrize("how", [flip_bytes, change_and_sign])
def test_damaged_folders(saved, tmp_path, how):
    """A folder that was signed again may be another sound model: its answers are finite."""
    rng, end, cases = np.random.default_rng(SEED), time.monotonic() + SECONDS / 2, 0
    while time.monotonic() < end or cases < len(saved):
        for name, (folder, graphs, said) in saved.items():
            target = fresh(folder, tmp_path / "work")
            try:
                what = how(target, rng)
            except (ValueError, OverflowError, TypeError):  # nothing that JSON or NumPy can hold
                continue
            cases += 1
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = answers(gml.load(target), graphs)
            except ValueError:
                continue
            except Exception as error:
                raise AssertionError(f"{name}, {what}: {type(error).__name__}: {error}") from error
            if how is flip_bytes:
                assert all(np.array_equal(found[key], said[key]) for key in said), f"{name}, {what}: another answer"
            assert finite(found), f"{name}, {what}: answers that are not finite"
    print(f"{how.__name__}: {cases} cases")


FIELDS = {
    "graphmetric-histogram": [
        (("blocks", "params", "code_size"), 0, "code_size"),
        (("blocks", "names", 0), "trees@1000000", "trees@1000000"),
        (("params", "n_landmarks"), "many", "params.n_landmarks"),
        (("params", "n_components"), 5, "coordinates are more than there can be with n_components=5"),
        (("params", "colour"), "red", "params.colour is not known"),
        (("families", "trees@0, trees@1 (histogram)", "weight"), None, r"families\.trees.*\.weight must be a number"),
        (("families", "trees@0, trees@1 (histogram)", "weight"), 0.5, "families have weights that add up to 0.5, not 1"),
        (("families",), {}, "families"),
        (("learned",), {}, "learned"),
        (("learned", "unit"), 1e31, "learned.unit must be a number <= 1e\\+30"),
    ],
    "graphmetric-families": [
        (("families", "pairs of trees", "recipe", "ranges"), [3], "recipe.ranges end at 3, but there are 1 blocks"),
        (("families", "pairs of trees", "recipe", "sets"), [["pairs@101"]], "level of more than 100"),
        (("families", "pairs of trees", "recipe", "sets"), [["pairs@0", "pairs@1"]], "ranges end at 0, but there are 2"),
        (("families", "pairs of trees", "landmarks", "kind"), "whole", r"families\.pairs of trees\.landmarks"),
        (("families", "size", "recipe", "sets"), [["degree@0"]], "recipe.sets must be one of 'size@0', "),
        (("families", "size", "recipe", "embedding"), "multiset", "recipe.sets hold no blocks, or do not go with"),
        (("columns", "graphs"), ["u[0]", "u[1]"], "knots are those of 3 columns, but columns.graphs has 2"),
        (("columns", "graphs"), None, "knots are those of 3 columns, but columns.graphs has 0"),
        (("params", "missing"), "all", "params.missing"),
    ],
    "sgml-rpw": [(("params", "depth"), 10**9, "params.depth"), (("history",), 3, "history")],
    "sgml-sw": [(("features", "max_degree_"), 10**10, "features.max_degree_")],
    "sgml-pw": [(("features", "mean_", 0), "x", "features.mean_.0")],
    "knn": [
        (("y",), [], "y"),
        (("chosen", "n_neighbors"), 10**9, "chosen.n_neighbors"),
        (("chosen", "vote_limit"), 0.5, "chosen.vote_limit"),
        (("metric_kind",), "Thing", "Thing"),
        (("params", "colour"), 1, "params.colour is not known"),
    ],
    "svc": [
        (("chosen", "C"), 1e300, "chosen.C"),
        (("chosen", "calibrator", "offsets"), [], "calibrator.offsets has shape"),
    ],
    "kmeans": [(("y", 0), 17, "y.0")],
}


@pytest.mark.parametrize(
    ("name", "path", "value", "words"), [(name, *case) for name, cases in FIELDS.items() for case in cases]
)
def test_fields_are_checked_without_the_help_of_a_digest(saved, tmp_path, name, path, value, words):
    target = fresh(saved[name][0], tmp_path / "work")
    head = json.loads((target / "model.json").read_text())
    holder = head["config"]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    (target / "model.json").write_text(json.dumps(head))
    with pytest.raises(ValueError, match="was edited"):
        gml.load(target)
    resigned(target, (target / head["tensors"]).read_bytes())
    with pytest.raises(ValueError, match=words):
        gml.load(target)


TREES = "families.pairs of trees.landmarks."

ARRAYS = {
    "a reference of another width": ("knn-sgml", "reference.values", lambda a: twice(a, 2), "values has shape"),
    "vectors of another width": ("knn", "reference.values", lambda a: twice(a, 1), "values has shape"),
    "an embedding": ("graphmetric-reference", ".reference", lambda a: a[:, :-1], "embedding.reference has shape"),
    "waves": ("graphmetric-density", ".frequencies", lambda a: a[:, :-1], "frequencies has 255 columns"),
    "axes": ("graphmetric-axes", "fitted.axes", lambda a: a[:-1], "embedding.axes has shape"),
    "names": ("graphmetric-histogram", ".vocabulary", lambda a: a[::-1], "vocabulary must be"),
    "NaN": ("sgml-rpw", "encoder.theta", lambda a: a * np.nan, "encoder.theta holds NaN"),
    "infinity": ("sgml-sw", "encoder.theta", lambda a: a * np.float32(np.inf), "that are NaN, infinite"),
    "landmarks": ("graphmetric-families", "size.landmarks.sets.0.vectors", lambda a: a[1:], "vectors has shape"),
    "weights": ("graphmetric-families", "learned.alpha", lambda a: a * 1e31, "alpha holds numbers that are NaN, inf"),
    "axes of fewer": ("graphmetric-families", "coordinates.axes", lambda a: a[:, 1:], "rest has shape"),
    "too many hashes": ("graphmetric-families", "coordinates.rest", lambda a: np.tile(a, 60), "coordinates are more"),
    "knots that fall": ("graphmetric-families", ".knots", lambda a: a[:, ::-1], "knots must ascend in each row"),
    "fewer knots": ("graphmetric-families", ".knots", lambda a: a[:, 1:], "knots has shape"),
    "half a count": ("graphmetric-families", f"{TREES}count", lambda a: a + 0.5, "count must hold whole numbers"),
    "a huge count": ("graphmetric-families", f"{TREES}count", lambda a: a * 1e12, "count must hold whole numbers"),
    "no count": ("graphmetric-families", f"{TREES}count", lambda a: a * 0, "count holds 0.0, less than 1"),
    "short names": (
        "graphmetric-families", f"{TREES}vocabulary", lambda a: (a >> np.uint64(32)).astype(np.uint32), "not uint64"
    ),
    "names in disorder": ("graphmetric-families", f"{TREES}vocabulary", lambda a: a[::-1], "vocabulary must ascend"),
    "no landmark": ("graphmetric-families", f"{TREES}reference", lambda a: a * 0 + 99, "reference"),
    "postings past the end": ("graphmetric-families", f"{TREES}postings", lambda a: a + 1, "do not ascend from 0"),
}  # fmt: skip


def twice(array, axis):
    return np.concatenate([array, array], axis=axis)


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays_are_checked_without_the_help_of_a_digest(saved, tmp_path, case):
    from safetensors.numpy import load

    name, end, harm, words = ARRAYS[case]
    target = fresh(saved[name][0], tmp_path / "work")
    tensors = load((target / "tensors.safetensors").read_bytes())
    which = next(one for one in tensors if one.endswith(end))
    with np.errstate(invalid="ignore"):
        tensors[which] = np.ascontiguousarray(harm(tensors[which]))
    resigned(target, save(tensors))
    with pytest.raises(ValueError, match=words):
        gml.load(target)


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3"])
def test_types_that_numpy_has_not_are_named(saved, tmp_path, kind):
    target = fresh(saved["sgml-rpw"][0], tmp_path / "work")
    resigned(target, with_type((target / "tensors.safetensors").read_bytes(), "encoder.theta", kind))
    with pytest.raises(ValueError, match=f"encoder.theta holds numbers of type {kind}"):
        gml.load(target)
