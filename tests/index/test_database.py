import errno
import os
import sqlite3
import threading
import zlib

import numpy as np
import pytest
import torch

from graph_metric_learn.index import database
from graph_metric_learn.index.database import FILE, Database
from graph_metric_learn.index.rows import NO_ROWS, Axes, Batch, State, appended, batches_of
from graph_metric_learn.transport import Curves, curve_vectors


def batch(rng, ids, notes=None, curves=False):
    """Random rows; of curves in two directions, with the averages that are their vectors."""
    vectors = rng.normal(size=(len(ids), 20)).astype(np.float32)
    if not curves:
        return Batch(vectors, ids, notes)
    sizes = rng.integers(1, 4, len(ids))
    steps = np.concatenate([rng.dirichlet(np.ones(n), 2).T for n in sizes])
    values = rng.normal(size=(sizes.sum(), 2, 3))
    vectors = curve_vectors(Curves(torch.from_numpy(values), sizes, torch.from_numpy(steps), True), 4)
    arrays = {"curves": values, "curve_ends": np.cumsum(sizes), "steps": steps}
    return Batch(vectors.astype(np.float32), ids, notes, arrays)


def contents(state):
    return [
        (one.ids, one.notes, one.vectors.tolist(), {name: array.tolist() for name, array in one.curves.items()})
        for one in batches_of(state)
    ]


METRIC = "0" * 64  # its digest
IDS = [["a", "b", 7, -1], ["7", "\udcff", "", "x\0y"], [2**63 - 1, -(2**63), 0, 1]]


@pytest.fixture
def built(tmp_path, rng):
    """A build of a few rows, and the same in memory."""
    state = appended(State(), batch(rng, ["a", "b", 7, -1], [b"1", None, b'"x"', None]))
    Database.build(tmp_path / "build", state.axes, batches_of(state), state.next_id, METRIC)
    return Database(tmp_path / "build"), state


@pytest.mark.parametrize("curves", [False, True])
@pytest.mark.parametrize("ids", IDS, ids=["both", "text", "numbers"])
def test_rows_come_back_and_grow_as_in_memory(tmp_path, rng, ids, curves):
    wanted = appended(State(), batch(rng, ids[:2], [b"1", None], curves))
    Database.build(tmp_path / "build", wanted.axes, batches_of(wanted), wanted.next_id, METRIC)
    kept, writer = Database(tmp_path / "build").read(), Database(tmp_path / "build")
    before = contents(kept)
    state = writer.read()
    more = batch(rng, ids[2:], [None, b"2"], curves)
    state = writer.append(state, state.rows_of(ids[:1]), more)
    wanted = appended(wanted.without(wanted.rows_of(ids[:1])), more, wanted.axes)
    assert contents(state) == contents(writer.read()) == contents(wanted)
    assert (state.next_id, state.only_numbers) == (wanted.next_id, wanted.only_numbers)
    assert state.find([*ids, "none", 5]).tolist() == [-1, 1, 2, 3, -1, -1]
    assert contents(kept) == before  # a reader's, until it looks again
    assert kept.find(ids).tolist() == [0, 1, -1, -1]
    assert not kept.catalogue.is_current()
    assert contents(kept.catalogue.read()) == contents(wanted)
    writer.verify()


def test_ids_of_other_kinds_are_refused_and_nothing_changes(built, rng):
    opened, wanted = built
    state = opened.read()
    with pytest.raises(ValueError, match=r"id \(1, 2\) is a tuple: ids on disk are whole numbers and strings"):
        opened.append(state, np.array([0]), batch(rng, ["new", (1, 2)]))
    assert contents(opened.read()) == contents(wanted)
    assert state.find([(1, 2), 2.5]).tolist() == [-1, -1]


def test_an_error_of_the_disk_is_an_oserror_and_nothing_changes(built, rng, monkeypatch):
    opened, wanted = built
    state = opened.read()
    connect = sqlite3.connect

    def limited(*args, **options):
        connection = connect(*args, **options)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", limited)
    with pytest.raises(OSError, match="disk is full") as error:
        opened.append(state, NO_ROWS, batch(rng, ["long"], [b"0" * 10**5]))
    assert error.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert contents(opened.read()) == contents(wanted)
    opened.verify()
    assert opened.append(opened.read(), NO_ROWS, batch(rng, ["long"], [b"0" * 10**5])).find(["long"]) == [4]


def test_a_change_that_cannot_be_undone_is_said(built, monkeypatch):
    """As in a folder without a right to write."""
    opened, _ = built

    def connect(path):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(database, "_connect", connect)
    with pytest.raises(ValueError, match="a change was interrupted and has to be undone first"):
        opened.read()


def test_a_forked_process_reads_through_its_own_connection(built):
    opened, wanted = built
    opened.read()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = int(contents(opened.read()) != contents(wanted))
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert contents(opened.read()) == contents(wanted)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE rows SET id = 'b' WHERE row = 0", "an id is neither a number nor text"),
        ("UPDATE rows SET id = x'ff' WHERE row = 0", "an id is neither a number nor text"),
        ("UPDATE rows SET note = 5 WHERE row = 0", "metadata must be JSON"),
        ("DELETE FROM rows WHERE row = 0", "1 rows are missing"),
        ("INSERT INTO removed VALUES (0, 99)", "removed must be 0 rows of 4"),
        ("INSERT INTO head SELECT * FROM head", "head must be one row"),
        ("UPDATE head SET next_id = 'x'", "whole numbers"),
        ("UPDATE head SET next_id = 99", "head is not what was written"),
        ("UPDATE axes SET centre = x'00'", "axes must be one row"),
        ("DELETE FROM axes", "head is not what was written"),
    ],
)
def test_what_is_used_is_checked(built, statement, message):
    opened, _ = built
    with sqlite3.connect(opened.path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(ValueError, match=message):
        contents(opened.read())


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE rows SET note = x'31' WHERE row = 1", "ids or metadata are not what was written"),
        ("UPDATE rows SET id = x'61' WHERE row = 1", "ids or metadata are not what was written"),
    ],
)
def test_verifying_compares_ids_and_metadata(built, statement, message):
    opened, _ = built
    with sqlite3.connect(opened.path) as connection:
        connection.execute(statement)
    connection.close()
    opened.read()
    with pytest.raises(ValueError, match=message):
        opened.verify()


@pytest.mark.parametrize(
    ("ids", "value", "message"),
    [(["a", "b", "a"], 0.0, "id 'a' is there twice"), (["a", "b"], np.nan, "holds numbers that are not finite")],
)
def test_verifying_finds_what_should_not_have_been_written(tmp_path, rng, ids, value, message):
    wrong = batch(rng, ids)
    wrong.vectors[1, 3] = value
    axes = appended(State(), batch(rng, [1, 2])).axes
    Database.build(tmp_path / "build", axes, [wrong], 0, METRIC)
    Database(tmp_path / "build").read()
    with pytest.raises(ValueError, match=message):
        Database(tmp_path / "build").verify()


@pytest.mark.parametrize(
    ("statement", "head", "message"),
    [
        ("DELETE FROM axes WHERE 0", {"next_id": 7}, "the next id is 7, but there is 7"),
        ("DELETE FROM axes WHERE 0", {"only_numbers": 1}, "ids are not all numbers, as it says"),
        ("UPDATE rows SET row = 99 WHERE row = 3", {}, "rows are missing"),
        ("UPDATE rows SET note = x'7b' WHERE row = 1", {}, "metadata of the index are not JSON"),
        ("UPDATE rows SET id = x'61' WHERE row = 1", {}, "id 'a' is there twice"),
        ("UPDATE rows SET id = x'ff' WHERE row = 1", {}, "an id is neither a number nor text"),
        ("UPDATE axes SET centre = zeroblob(160)", {}, "coarse of row 0 is not that of its vector along the axes"),
        ("UPDATE axes SET directions = zeroblob(3200)", {}, "axes are not orthonormal"),
        ("INSERT INTO removed VALUES (0, 1), (1, 1)", {"removed": 2}, "a row was removed twice"),
    ],
)
def test_verifying_looks_at_contents_whose_checksums_fit(tmp_path, rng, statement, head, message):
    """As somebody writes them who knows how checksums are made."""
    one = batch(rng, ["a", "b", 7, -1])
    axes = Axes(np.arange(20.0), np.eye(20), 16)
    Database.build(tmp_path / "build", axes, [one], 0, METRIC)
    with sqlite3.connect(tmp_path / "build" / FILE) as connection:
        old = database.Head(*connection.execute("SELECT * FROM head").fetchone())
        connection.execute(statement)
        rows = connection.execute("SELECT id, note FROM rows ORDER BY row").fetchall()
        removed = [row for (row,) in connection.execute("SELECT row FROM removed ORDER BY number")]
        crcs = {"rows_crc": database._rows_crc(rows, 0), "removed_crc": zlib.crc32(np.array(removed, np.int64))}
        centre, directions, fitted = connection.execute("SELECT * FROM axes").fetchone()
        axes = Axes(np.frombuffer(centre), np.frombuffer(directions).reshape(20, 20), fitted)
        database._write_head(connection, old._replace(**crcs, **head), axes, METRIC)
    connection.close()
    with pytest.raises(ValueError, match=message):
        Database(tmp_path / "build").verify()


def test_many_ids_at_once(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(database, "_CHECKED", 11)
    ids = [f"g{i}" for i in range(100)]
    state = appended(State(), batch(rng, ids))
    Database.build(tmp_path / "build", state.axes, batches_of(state), 0, METRIC)
    found = Database(tmp_path / "build").read()
    assert found.find([*reversed(ids), "x"]).tolist() == [*range(99, -1, -1), -1]
    assert found.catalogue.ids(np.array([5, 99, 5])) == ["g5", "g99", "g5"]
    Database(tmp_path / "build").verify()
    assert (tmp_path / "build" / FILE).is_file()


def test_a_build_that_is_being_removed_can_still_be_read(built, monkeypatch):
    """Its files vanish one by one, the journal last: meanwhile SQLite sees one that it cannot look into."""
    opened, wanted = built
    rows = opened.read()
    opened.path.unlink()
    journal = opened.path.with_name(f"{FILE}-journal")
    journal.unlink(missing_ok=True)
    journal.mkdir()  # there, but not to be opened: a moment that seldom comes, made certain
    monkeypatch.setattr(Database, "_check_journal", lambda self: None)
    removal = threading.Timer(0.2, journal.rmdir)
    removal.start()
    assert contents(rows) == contents(wanted)
    removal.join()
