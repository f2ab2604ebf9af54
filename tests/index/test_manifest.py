import hashlib
import json

import numpy as np
import pytest

from graph_metric_learn.index.folder import IndexFolder, create
from graph_metric_learn.index.manifest import FILE, Manifest, check_contents
from graph_metric_learn.index.store import Store
from toy_metrics import FirstColumn, points


@pytest.fixture
def folder(tmp_path, rng):
    store = Store()
    store.add(rng.normal(size=(70, 20)).astype(np.float32), [f"g{i}" for i in range(70)], ["note"] * 70)
    store.add(rng.normal(size=(2, 20)).astype(np.float32))
    store.remove(["g3"])
    return create(tmp_path / "index", store.state, FirstColumn().fit(points(1, 2)))


def rewritten(folder, change):
    """The manifest changed, with a digest that fits."""
    body = json.loads((folder / FILE).read_text())
    del body["sha256"]
    change(body)
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    (folder / FILE).write_text(json.dumps({**body, "sha256": hashlib.sha256(text.encode()).hexdigest()}))


def test_it_is_read_as_it_was_written(folder):
    manifest = Manifest.read(folder / FILE)
    assert manifest.text() == (folder / FILE).read_bytes()
    assert manifest.width == 20
    assert sum(record["arrays"]["heads"]["shape"][0] for record in manifest.segments) == 72
    assert manifest.files == {path.name for path in folder.iterdir()} - {FILE}


def test_a_changed_byte_is_noticed(folder):
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(text.replace('"next_id":2', '"next_id":3'))
    with pytest.raises(ValueError, match="sha256 is not that of its other fields"):
        Manifest.read(folder / FILE)
    (folder / FILE).write_text(text[:50])
    with pytest.raises(ValueError, match="it is not JSON"):
        Manifest.read(folder / FILE)


def put(*path):
    *names, last, value = path

    def change(body):
        for name in names:
            body = body[name]
        body[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("format", "zip"), "format is 'zip'"),
        (put("version", 99), "version is 99, this library reads 1"),
        (put("generation", "1"), "generation must be of type int"),
        (put("generation", -1), "generation must not be negative"),
        (put("next_id", 1.5), "next_id must be of type int"),
        (put("fitted_to", True), "fitted_to must be of type int"),
        (put("metric", "../metric"), "metric is '../metric'"),
        (put("width", None), "width is missing"),
        (put("width", 0), "width must be a positive whole number"),
        (put("width", 21), r"arrays.centre.shape is \[20\], expected \[21\]"),
        (put("axes", None), "axes must be an object"),
        (put("axes", "file", "/etc/passwd"), "axes.file is '/etc/passwd'"),
        (put("segments", {}), "segments must be of type list"),
        (put("segments", 0, 7), r"segments\[0\] must be an object"),
        (put("segments", 0, "arrays", "vectors", "shape", [70, 19]), r"segments\[0\].arrays.vectors.shape"),
        (put("segments", 0, "arrays", "heads", "dtype", "<i4"), r"segments\[0\].arrays.heads.dtype"),
        (put("segments", 0, "arrays", "ends", "shape", [69]), r"segments\[0\].arrays.ends.shape"),
        (put("removed", "arrays", "bits", "shape", [10]), "removed.arrays.bits"),
        (lambda body: body["segments"].append(body["segments"][0]), "names a file twice"),
        (lambda body: body["segments"][0]["arrays"].pop("heads"), "arrays.heads is missing"),
        (lambda body: body["segments"][0]["arrays"].pop("ends"), "arrays.ends is missing"),
        (lambda body: body["segments"][0]["arrays"].pop("hashes"), "arrays.hashes is missing"),
        (lambda body: body["segments"][-1]["arrays"].pop("numbers"), "arrays.numbers is missing"),
        (lambda body: body["segments"][0]["arrays"].update(x=body["segments"][0]["arrays"]["ends"]), "no such array"),
    ],
)
def test_every_field_is_checked(folder, change, message):
    rewritten(folder, change)
    with pytest.raises(ValueError, match=message):
        IndexFolder(folder).read()


def test_numbers_that_lead_elsewhere(rng):
    arrays = {
        "heads": np.zeros((2, 16)),
        "hash_rows": np.array([0, 1]),
        "text": np.zeros(4, np.uint8),
        "ends": np.array([1, 4]),
    }
    check_contents(arrays, "f")
    with pytest.raises(ValueError, match="f: hash_rows must lie between 0 and 1"):
        check_contents({**arrays, "hash_rows": np.array([0, 2])}, "f")
    for ends in ([-1, 4], [5, 4], [1, 5]):
        with pytest.raises(ValueError, match="f: ends must rise to the length of text"):
            check_contents({**arrays, "ends": np.array(ends)}, "f")


@pytest.mark.parametrize(("gone", "left"), [("text", "ends"), ("notes", "note_ends"), ("curves", "curve_ends")])
def test_ends_of_something_that_is_not_there(folder, gone, left):
    def change(body):
        arrays = body["segments"][0]["arrays"]
        arrays[left] = arrays["hashes"] | {"dtype": "<i8"}
        arrays.pop(gone, None)

    rewritten(folder, change)
    with pytest.raises(ValueError, match=rf"arrays\.{gone} is missing, though there is {left}"):
        Manifest.read(folder / FILE)


def test_all_segments_hold_curves_or_none(folder):
    def change(body):
        record = body["segments"][0]
        n = record["arrays"]["heads"]["shape"][0]
        record["arrays"]["curves"] = {**record["arrays"]["heads"], "shape": [n, 4, 4]}
        record["arrays"]["curve_ends"] = record["arrays"]["hashes"] | {"dtype": "<i8"}
        assert len(body["segments"]) > 1

    rewritten(folder, change)
    with pytest.raises(ValueError, match="some hold curves, some do not"):
        Manifest.read(folder / FILE)
