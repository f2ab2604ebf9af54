"""Damaged folders of an index: the answers of before or a `ValueError`; finite ones where all checksums fit again."""

import json
import sqlite3
import zlib
from pathlib import Path

import numpy as np
import pytest
from budget import SECONDS, run
from damage import SCALARS, flip_bytes, fresh

import graph_metric_learn as gml
from graph_metric_learn.index.database import Database
from graph_metric_learn.index.folder import FILE
from write_models import tiny_graphs

SMALL = 2**28  # bytes that nothing in a folder of a few kilobytes may ask for


@pytest.fixture(scope="module", params=["vectors", "curves", "unequal-steps"])
def saved(request, tmp_path_factory):
    """An index of vectors or of curves in a folder, with several changes, removed rows, and ids of both kinds."""
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


def build_of(folder):
    return folder / json.loads((folder / FILE).read_text())["build"]


def sign(folder):
    """Computes all checksums anew, so far as the database can still be read."""
    build = build_of(folder)
    connection = sqlite3.connect(build / "index.sqlite", isolation_level=None)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(head)")]
    head = dict(zip(columns, connection.execute("SELECT * FROM head").fetchone() or (), strict=False))
    try:
        rows = connection.execute("SELECT id, note FROM rows ORDER BY row").fetchall()
        head["rows_crc"] = zlib.crc32("".join(map(repr, rows)).encode())
        removed = [row for (row,) in connection.execute("SELECT row FROM removed ORDER BY number")]
        head["removed_crc"] = zlib.crc32(np.array(removed, dtype=np.int64).tobytes())
        axes = connection.execute("SELECT * FROM axes").fetchone() or ()
        parts = [part if isinstance(part, int) else zlib.crc32(part) for part in axes]
        metric = connection.execute("SELECT digest FROM metric").fetchone() or ()
    except (TypeError, ValueError, OverflowError):
        parts, metric = [], ()
    for name in columns:
        if name.endswith("_crc") and (build / name.removesuffix("_crc")).is_file():
            head[name] = zlib.crc32((build / name.removesuffix("_crc")).read_bytes())
    values = [head.get(name) for name in columns[:-1]]
    order = [parts[2], *parts[:2]] if len(parts) == 3 else parts
    crc = zlib.crc32(repr((*values, *order, *metric)).encode())
    connection.execute("UPDATE head SET " + ", ".join(f"{name} = ?" for name in columns), [*values, crc])
    connection.close()


def change_database(folder, rng):
    """Another value in the database, or a row less or twice."""
    connection = sqlite3.connect(build_of(folder) / "index.sqlite", isolation_level=None)
    table = str(rng.choice(["head", "head", "axes", "metric", "removed", "rows", "rows"]))
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    if not count:
        return "nothing"
    rowid = connection.execute(f"SELECT rowid FROM {table} LIMIT 1 OFFSET {int(rng.integers(count))}").fetchone()[0]
    column, kind = str(rng.choice(columns)), rng.integers(5)
    old = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (rowid,)).fetchone()[0]
    new = SCALARS[int(rng.integers(len(SCALARS)))]
    if kind == 0:
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
    elif kind == 1 and isinstance(old, int):
        new = [old + 1, old - 1, old * 10, -old, 2**40, 2**62][int(rng.integers(6))]
    elif kind == 2 and isinstance(old, bytes) and old:
        new = [old[:-1], old + b"x", old[::-1], b"", b"[" * 10**5, b"\xff\xfe", bytes(len(old))][int(rng.integers(7))]
    elif isinstance(new, int) and not -(2**63) <= new < 2**63:
        new = 2**63 - 1
    elif isinstance(new, (list, dict)):
        new = json.dumps(new)
    if kind:
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, rowid))
        except sqlite3.IntegrityError:
            return "nothing"
    connection.close()
    return f"{table}.{column} of row {rowid}: {str(old)[:40]} -> {'removed' if kind == 0 else str(new)[:40]}"


def change_bytes(folder, rng):
    """Other bytes in an array, or an odd number in it."""
    file = build_of(folder) / str(rng.choice(sorted(Database(build_of(folder)).read().arrays)))
    data = bytearray(file.read_bytes())
    dtype = {"curve_ends": "<i8", "steps": "<f8"}.get(file.name, "<f4")
    values = np.frombuffer(data, dtype)
    if not values.size:
        return "nothing"
    odd = [0, 1, 255, 2**31 - 1, -1, 2**62] if values.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 3e38, 1e19, 0.0]
    place, new = int(rng.integers(values.size)), odd[int(rng.integers(6))]
    with np.errstate(over="ignore"):
        if rng.random() < 0.7:
            values[place] = np.asarray(new).astype(values.dtype)
        else:
            values.view(np.uint8)[place] ^= 1 << int(rng.integers(8))
    file.write_bytes(data)
    return f"{file.name}[{place}] = {values[place]}"


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
        flip_bytes([metric, folder, build_of(folder), build_of(folder)][int(rng.integers(4))], rng)
        assert same(answers(folder, graphs), wanted), "another answer"

    run(index_bytes, SECONDS / 15)


def test_fields_and_arrays_signed_again(saved, tmp_path):
    """Without the help of checksums: the index may be another one that is sound, its answers are finite."""
    path, graphs, _ = saved

    def index_fields(rng):
        folder = fresh(path, tmp_path / "work")
        what = change_database(folder, rng) if rng.random() < 0.6 else change_bytes(folder, rng)
        sign(folder)
        try:
            found = answers(folder, graphs, verified=rng.random() < 0.5)
        except ValueError:
            raise
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
        assert finite(found), f"{what}: answers that are not finite"

    run(index_fields, SECONDS / 15)


def test_signing_is_that_of_an_index(saved, tmp_path):
    """Otherwise the fuzzer would get no further than the first checksum."""
    path, graphs, wanted = saved
    folder = fresh(path, tmp_path / "work")
    sign(folder)
    assert same(answers(folder, graphs), wanted)


def test_a_folder_that_claims_much_allocates_little(saved, tmp_path):
    """Sizes in the database are compared with the files before anything is made from them."""
    import tracemalloc

    path, *_ = saved
    for size in (10**9, 2**40):
        folder = fresh(path, Path(tmp_path / "work"))
        connection = sqlite3.connect(build_of(folder) / "index.sqlite", isolation_level=None)
        connection.execute("UPDATE head SET count = ?", (size,))
        connection.close()
        sign(folder)
        tracemalloc.start()
        with pytest.raises(ValueError, match="bytes, the database says"):
            gml.GraphIndex.load(folder)
        assert tracemalloc.get_traced_memory()[1] < SMALL
        tracemalloc.stop()


def test_other_databases_are_refused(saved, tmp_path):
    path, *_ = saved
    for statement in (
        "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows; END",
        "CREATE VIEW v AS SELECT * FROM rows",
        "DROP INDEX rows_of_id",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 2",
        "PRAGMA journal_mode = WAL",
    ):
        folder = fresh(path, tmp_path / "work")
        connection = sqlite3.connect(build_of(folder) / "index.sqlite", isolation_level=None)
        connection.execute(statement)
        connection.close()
        with pytest.raises(ValueError, match="it is not a database of an index"):
            gml.GraphIndex.load(folder)
    for data in (b"", b"SQLite format 3\0" + b"\0" * 84, b"text" * 1000):
        folder = fresh(path, tmp_path / "work")
        (build_of(folder) / "index.sqlite").write_bytes(data)
        with pytest.raises(ValueError, match=r"index\.sqlite is damaged"):
            gml.GraphIndex.load(folder)
