"""Damaged folders of an index: the answers of before or a `ValueError`; finite ones where all checksums fit again."""

import hashlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from budget import SECONDS, run
from damage import change_field, flip_bytes, fresh

import graph_metric_learn as gml
from graph_metric_learn.index.manifest import FILE
from write_models import tiny_graphs

SMALL = 2**28  # bytes that nothing in a folder of a few kilobytes may ask for


@pytest.fixture(scope="module", params=["vectors", "curves", "unequal-steps"])
def saved(request, tmp_path_factory):
    """An index of vectors or of curves in a folder, with several segments, removed rows, and ids of both kinds."""
    graphs, y = tiny_graphs(12)
    if request.param == "vectors":
        metric = gml.GraphMetric(features=["trees@1"], n_components=20, random_state=0).fit(graphs, y)
    else:
        masses = "learned" if request.param == "unequal-steps" else "uniform"
        metric = gml.SGML(n_epochs=1, masses=masses, random_state=0).fit(graphs, y)
    path = tmp_path_factory.mktemp("index") / "index"
    gml.GraphIndex(metric).save(path)
    with gml.GraphIndex.load(path) as index:
        index.add(graphs, [f"näme {i}" for i in range(6)] + list(range(6)), [{"n": i} for i in range(12)])
        index.add(graphs[:4])
        index.remove(["näme 3"])
    return path, graphs[:3], answers(fresh(path, path.parent / "copy"), graphs[:3])


def answers(path, graphs, *, verified=True):
    """What an index says about graphs, and what it says after a change."""
    found = {}
    with gml.GraphIndex.load(path) as index:
        if verified:
            index.verify()
        for k in (1, 5):
            found[f"distances {k}"], found[f"ids {k}"], found[f"notes {k}"] = index.search(graphs, k, metadata=True)
        near = index.search_radius(graphs, 0.5)
        found["radius"], found["radius ids"] = (
            np.concatenate(near[0]),
            np.concatenate([part.ravel() for part in near[1]]),
        )
        found["ids"] = index.ids
        found["metadata"] = index.metadata(index.ids[:2])
        index.add(graphs, ["x", "y", "z"])
        index.remove([index.ids[0]])
        index.compact()
        found["afterwards"], found["ids afterwards"] = index.search(graphs, 4)
    return found


def same(found, wanted):
    return all(np.array_equal(np.asarray(found[key], object), np.asarray(wanted[key], object)) for key in wanted)


def finite(found):
    parts = [value for value in found.values() if isinstance(value, np.ndarray)]
    return all(part.dtype.kind != "f" or np.isfinite(part).all() for part in parts)


def signed(folder, body):
    """A manifest with a digest that fits."""
    body = {name: value for name, value in body.items() if name != "sha256"} if isinstance(body, dict) else body
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    (folder / FILE).write_text(json.dumps({**body, "sha256": hashlib.sha256(text.encode()).hexdigest()}))


def change_bytes(folder, body, rng):
    """Other bytes in an array, or an odd number in it, with a checksum that fits."""
    records = [one for one in (body["axes"], body["removed"], *body["segments"]) if one is not None]
    record = records[int(rng.integers(len(records)))]
    name = str(rng.choice(sorted(record["arrays"])))
    entry = record["arrays"][name]
    data = bytearray((folder / record["file"]).read_bytes())
    values = np.frombuffer(data, entry["dtype"], int(np.prod(entry["shape"])), entry["offset"])
    if not values.size:
        return "nothing"
    odd = [0, 1, 255, 2**31 - 1, -1, 2**62] if values.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 3e38, 1e19, 0.0]
    place, new = int(rng.integers(values.size)), odd[int(rng.integers(6))]
    with np.errstate(over="ignore"):
        if rng.random() < 0.7:
            values[place] = np.asarray(new).astype(values.dtype)
        else:
            values.view(np.uint8)[place] ^= 1 << int(rng.integers(8))
    entry["crc32"] = zlib.crc32(values.tobytes())
    (folder / record["file"]).write_bytes(data)
    return f"{name}[{place}] = {values[place]}"


def test_an_undamaged_copy_says_the_same(saved, tmp_path):
    path, graphs, wanted = saved
    found = answers(fresh(path, tmp_path / "work"), graphs)
    assert same(found, wanted)
    assert finite(found)


def test_flipped_bytes(saved, tmp_path):
    """Of the folder of the metric or of the index itself; `verify` compares all bytes with their checksums."""
    path, graphs, wanted = saved

    def index_bytes(rng):
        folder = fresh(path, tmp_path / "work")
        metric = folder / json.loads((folder / FILE).read_text())["metric"]
        flip_bytes(metric if rng.random() < 0.3 else folder, rng)
        assert same(answers(folder, graphs), wanted), "another answer"

    run(index_bytes, SECONDS / 15)


def test_fields_and_arrays_signed_again(saved, tmp_path):
    """Without the help of checksums: the index may be another one that is sound, its answers are finite."""
    path, graphs, _ = saved

    def index_fields(rng):
        folder = fresh(path, tmp_path / "work")
        body = json.loads((folder / FILE).read_text())
        if rng.random() < 0.5:
            body, what = change_field({name: value for name, value in body.items() if name != "sha256"}, rng)
        else:
            what = change_bytes(folder, body, rng)
        signed(folder, body)
        try:
            found = answers(folder, graphs, verified=rng.random() < 0.5)
        except ValueError:
            raise
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
        assert finite(found), f"{what}: answers that are not finite"

    run(index_fields, SECONDS / 15)


def test_a_folder_that_claims_much_allocates_little(saved, tmp_path):
    """Sizes in the manifest are compared with the files before anything is made from them."""
    import tracemalloc

    path, *_ = saved
    for size in (10**9, 2**40):
        folder = fresh(path, Path(tmp_path / "work"))
        body = json.loads((folder / FILE).read_text())
        for record in body["segments"]:
            record["bytes"] = size * 64
            for entry in record["arrays"].values():
                entry["shape"][0] = size
        signed(folder, body)
        tracemalloc.start()
        with pytest.raises(ValueError, match="manifest"):
            gml.GraphIndex.load(folder)
        assert tracemalloc.get_traced_memory()[1] < SMALL
        tracemalloc.stop()
