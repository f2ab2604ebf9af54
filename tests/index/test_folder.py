import contextlib
import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from crashes import Steps, in_child
from graph_metric_learn.index import database
from graph_metric_learn.index.folder import FILE, IndexFolder, create, new_folder
from graph_metric_learn.index.rows import State
from graph_metric_learn.index.store import Store
from toy_metrics import FirstColumn, points

METRIC = FirstColumn().fit(points(1, 2))
ROOT = Path(__file__).resolve().parents[2]


def vectors_for(seed, n):
    return np.random.default_rng(seed).normal(size=(n, 5)).astype(np.float32)


def contents(store):
    state = store.state
    return dict(zip(state.catalogue.ids(state.alive), state.arrays["vectors"][state.alive].tolist(), strict=True))


def names(path):
    return {one.name for one in path.iterdir()}


def referred_to(path):
    """What a folder of an index has in it, and nothing else."""
    folder = IndexFolder(path)
    folder.read()
    return {*folder.manifest, FILE, "writer.lock"}


@pytest.fixture
def path(tmp_path):
    """An index that was changed several times, some rows of which were removed."""
    path = create(tmp_path / "index", State(), METRIC)
    with_store(path, lambda s: s.add(vectors_for(0, 70), [f"g{i}" for i in range(70)]))
    with_store(path, lambda s: s.add(vectors_for(1, 3)))
    with_store(path, lambda s: s.remove(["g3", 1]))
    return path


def with_store(path, change):
    store = Store.open(path)
    change(store)
    store.close()


CHANGES = {
    "add": lambda s: s.add(vectors_for(2, 2), ["x", "y"]),
    "add some times": lambda s: [s.add(vectors_for(3 + i, 1)) for i in range(3)],
    "add and turn": lambda s: s.add(vectors_for(3, 300)),
    "remove": lambda s: s.remove(["g5", 2]),
    "update": lambda s: s.update(vectors_for(4, 2), ["g7", 0]),
    "compact": lambda s: s.compact(),
}


def moments(path, change):
    """The contents before a change, and after each commit of it."""
    copy = path.parent / "copy"
    subprocess.run(["cp", "-r", path, copy], check=True)
    store = Store.open(copy)
    found = [contents(store)]
    folder, append, renew = store.folder, store.folder.append, store.folder.renew

    def committed(state):
        found.append(contents(Store(state)))
        return state

    folder.append = lambda *change: committed(append(*change))
    folder.renew = lambda *rows: committed(renew(*rows))
    change(store)
    store.close()
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_a_process_killed_at_any_step_leaves_the_state_before_or_after(path, name):
    change = CHANGES[name]
    allowed = moments(path, change)
    seen, stop = set(), 0
    while True:
        stop += 1 + stop // 25  # every step of the first ones, then fewer

        def work(stop=stop):
            with pytest.MonkeyPatch.context() as patch:
                store = Store.open(path)
                Steps(patch, stop)
                change(store)

        before = names(path)
        backup = path.parent / f"backup {stop}"
        subprocess.run(["cp", "-r", path, backup], check=True)
        status = in_child(work)
        found = contents(Store.open(path))
        assert found in allowed
        seen.add(allowed.index(found))
        Store.open(path).folder.verify()
        if status == 0:
            break
        assert status == 9
        writer = IndexFolder(path)  # the next writer removes what was left
        writer.lock()
        writer.unlock()
        assert names(path) == referred_to(path)
        subprocess.run(["rm", "-r", path], check=True)
        os.rename(backup, path)
        assert names(path) == before
    assert stop > 4
    assert {0, allowed.index(allowed[-1])} <= seen  # compaction leaves the contents as they are


@pytest.mark.parametrize("name", CHANGES)
def test_a_system_call_that_fails_leaves_a_writer_that_goes_on(path, name):
    change = CHANGES[name]
    allowed = moments(path, change)
    for stop in range(1, 12):
        backup = path.parent / f"backup {stop}"
        subprocess.run(["cp", "-r", path, backup], check=True)
        store = Store.open(path)
        with pytest.MonkeyPatch.context() as patch:
            Steps(patch, stop, fail=True)
            with contextlib.suppress(OSError):
                change(store)
        assert contents(store) in allowed
        assert contents(Store.open(path)) == contents(store)
        store.add(vectors_for(9, 1), ["after"])
        assert "after" in contents(Store.open(path))
        store.close()
        subprocess.run(["rm", "-r", path], check=True)
        os.rename(backup, path)


KILLED = """
import sys
sys.path[:0] = [{src!r}, {tests!r}]
import numpy as np
from graph_metric_learn.index.store import Store
store = Store.open({path!r})
print("ready", flush=True)
i = 0
while True:
    store.add(np.full((2, 5), i, np.float32), [f"{{i}} a", f"{{i}} b"])
    if i % 5 == 4:
        store.remove([f"{{i - 1}} a", f"{{i - 1}} b"])
    if i % 17 == 16:
        store.compact()
    i += 1
"""


def test_a_writer_that_is_killed_by_a_signal(path):
    before = contents(Store.open(path))
    code = KILLED.format(src=str(ROOT / "src"), tests=str(ROOT / "tests"), path=str(path))
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert writer.stdout.readline() == b"ready\n"
    time.sleep(0.7)
    while len(Store.open(path)) < len(before) + 6:  # readers, meanwhile
        time.sleep(0.05)
    with pytest.raises(ValueError, match="is being changed by another writer"):
        Store.open(path).add(vectors_for(0, 1))
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    store = Store.open(path)
    store.folder.verify()
    found = contents(store)
    assert before.items() <= found.items()
    steps = sorted({int(name.split()[0]) for name in found if isinstance(name, str) and name not in before})
    last = steps[-1]
    gone = {i - 1 for i in range(last + 1) if i % 5 == 4}
    assert set(steps) in (
        {*range(last + 1)} - gone,
        {*range(last + 1)} - gone | ({last - 1} if last % 5 == 4 else set()),
    )
    assert all({f"{i} a", f"{i} b"} <= set(found) for i in steps)  # both or none
    store.add(vectors_for(0, 1), ["the lock of a dead process is gone"])
    store.close()


def test_one_writer_at_a_time(path):
    first, second = Store.open(path), Store.open(path)
    first.add(vectors_for(0, 1), ["first"])
    with pytest.raises(ValueError, match="is being changed by another writer"):
        second.add(vectors_for(0, 1), ["second"])
    first.close()
    second.add(vectors_for(0, 1), ["second"])  # on what the first has written
    assert {"first", "second"} <= set(contents(Store.open(path)))
    second.close()


def test_a_writer_that_is_forgotten_holds_up_nobody(path):
    Store.open(path).add(vectors_for(0, 1), ["first"])
    gc.collect()
    Store.open(path).add(vectors_for(0, 1), ["second"])
    gc.collect()
    assert {"first", "second"} <= set(contents(Store.open(path)))


def test_readers_see_changes_when_they_look_again(path):
    writer, reader = Store.open(path), Store.open(path)
    before = contents(reader)
    assert not reader.refresh()
    writer.add(vectors_for(0, 1), ["new"])
    assert contents(reader) == before
    assert reader.refresh()
    assert contents(reader) == contents(writer)
    writer.compact()
    assert "new" in contents(reader)  # of files that are gone, but mapped
    reader.refresh()
    assert contents(reader) == contents(writer)
    writer.close()


def test_read_only(path):
    store = Store.open(path, read_only=True)
    with pytest.raises(ValueError, match="opened for reading"):
        store.remove(["g1"])


def test_damage_is_named(path):
    file = next(path.glob("build-*/coarse"))
    data = bytearray(file.read_bytes())
    data[3] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match="coarse is damaged: coarse is not what was written"):
        Store.open(path).folder.verify()
    file.write_bytes(data[:100])
    with pytest.raises(ValueError, match="coarse has 100 bytes"):
        Store.open(path)
    file.unlink()
    with pytest.raises(ValueError, match="coarse is missing: the index is damaged"):
        Store.open(path)
    with pytest.raises(ValueError, match="is not an index: it has no manifest"):
        Store.open(path.parent)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version of the index is 2, this library reads 3: remove the folder and make the index anew"),
        ({"format": "other"}, "its format must be 'graph-metric-learn index'"),
        ({"build": "../elsewhere"}, "build is '../elsewhere', which is no folder of an index"),
        ({"metric": "build-00000000"}, "metric is 'build-00000000'"),
        ({"metric": None}, "metric is None"),
    ],
)
def test_every_field_of_the_manifest_is_checked(path, change, message):
    body = json.loads((path / FILE).read_text()) | change
    (path / FILE).write_text(json.dumps(body))
    with pytest.raises(ValueError, match=message):
        Store.open(path)
    for text in ("", "[]", "[" * 100_000, "\xff"):
        (path / FILE).write_text(text, encoding="latin-1")
        with pytest.raises(ValueError, match="damaged or not ours"):
            Store.open(path)


def test_a_commit_that_was_interrupted_is_undone(path):
    """SQLite had begun to write pages when its process was killed: the first who looks puts them back."""
    before = contents(Store.open(path))
    reader = Store.open(path)
    (file,) = path.glob("build-*/index.sqlite")

    def work():
        connection = sqlite3.connect(file, isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", ((i, i, b"0" * 999) for i in range(100, 999)))
        connection.execute("DELETE FROM rows WHERE row < 70")
        os._exit(9)

    assert in_child(work) == 9
    assert os.path.getsize(f"{file}-journal") > 10_000
    subprocess.run(["cp", "-r", path, path.parent / "foreign"], check=True)
    with open(path.parent / "foreign" / file.parent.name / "index.sqlite-journal", "ab") as journal:
        journal.write(bytes.fromhex("d9d505f920a163d7"))
    with pytest.raises(ValueError, match="its journal names other files"):
        Store.open(path.parent / "foreign")
    assert contents(reader) == contents(Store.open(path)) == before
    Store.open(path).folder.verify()


def test_verifying_while_another_process_writes(path):
    code = KILLED.format(src=str(ROOT / "src"), tests=str(ROOT / "tests"), path=str(path))
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert writer.stdout.readline() == b"ready\n"
    store = Store.open(path, read_only=True)
    builds = set()
    while len(builds) < 5:
        store.folder.verify()
        store.refresh()
        builds.add(store.folder.manifest.build)
    writer.kill()
    writer.wait()
    writer.stdout.close()


def test_opening_a_build_that_another_process_replaces(path, monkeypatch):
    """It is gone after it was looked for, and before SQLite opens it."""
    writer, connect, changes = Store.open(path), database._connect, [1, 2, 3]

    def late(file):
        if changes:
            changes.pop()
            monkeypatch.setattr(database, "_connect", connect)
            writer.compact()
            monkeypatch.setattr(database, "_connect", late)
        return connect(file)

    wanted = contents(writer)
    monkeypatch.setattr(database, "_connect", late)
    assert contents(Store.open(path)) == wanted
    changes.append(1)
    Store.open(path, read_only=True).folder.verify()
    assert not changes
    writer.close()


def test_vectors_belong_to_the_metric_that_made_them(path, tmp_path):
    other = create(tmp_path / "other", State(), FirstColumn().fit(points(1, 2, 3)))
    with_store(other, lambda s: s.add(vectors_for(7, 70)))
    for kind in ("metric", "build"):
        mine, others = (tmp_path / "mixed" / name for name in ("mine", "other"))
        for source, copy in ((path, mine), (other, others)):
            subprocess.run(["mkdir", "-p", copy.parent], check=True)
            subprocess.run(["cp", "-r", source, copy], check=True)
        (one,), (two,) = mine.glob(f"{kind}-*"), others.glob(f"{kind}-*")
        subprocess.run(["rm", "-r", one], check=True)
        os.rename(two, one)
        with pytest.raises(ValueError, match=f"{mine}: the vectors in build-.* were not made by the metric in metric-"):
            Store.open(mine)
        with pytest.raises(ValueError, match="one of these folders is of another index"):
            IndexFolder(mine).verify()
        subprocess.run(["rm", "-r", tmp_path / "mixed"], check=True)


def test_a_metric_stays_bound_when_all_rows_are_written_anew(path):
    with_store(path, lambda s: s.compact())
    with_store(path, lambda s: s.add(vectors_for(3, 300)))
    Store.open(path).folder.verify()
    (metric,) = path.glob("metric-*")
    FirstColumn().fit(points(1, 2, 3)).save(metric, overwrite=True)
    with pytest.raises(ValueError, match="were not made by the metric"):
        Store.open(path)


def test_verifying_reads_the_metric(path):
    (tensors,) = path.glob("metric-*/tensors.safetensors")
    tensors.write_bytes(tensors.read_bytes() + b" ")
    store = Store.open(path)
    with pytest.raises(ValueError, match=r"tensors\.safetensors is damaged"):
        store.folder.verify()


def test_replacing_an_index(path, tmp_path):
    store = Store()
    store.add(vectors_for(5, 4), list("abcd"))
    with pytest.raises(ValueError, match="exists already"):
        create(path, store.state, METRIC)
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="is not an index"):
        create(tmp_path / "other", store.state, METRIC, overwrite=True)
    reader = Store.open(path)
    create(path, store.state, METRIC, overwrite=True)
    assert contents(Store.open(path)) == contents(store)
    assert len([p for p in path.iterdir() if p.name.startswith("metric-")]) == 1
    with pytest.raises(ValueError, match="was replaced by another index"):
        reader.refresh()


def test_replacing_is_one_step(path):
    store = Store()
    store.add(vectors_for(5, 4), list("abcd"))
    before, stop = contents(Store.open(path)), 0
    while True:
        stop += 1

        def work(stop=stop):
            with pytest.MonkeyPatch.context() as patch:
                Steps(patch, stop)
                create(path, store.state, METRIC, overwrite=True)

        status = in_child(work)
        assert contents(Store.open(path)) in (before, contents(store))
        if status == 0 or stop > 200:
            break
    assert status == 0
    assert contents(Store.open(path)) == contents(store)


def grown(path):
    """Makes an index in several changes."""
    create(path, State(), METRIC)
    with_store(path, lambda s: s.add(vectors_for(5, 4), list("abcd")))
    with_store(path, lambda s: s.remove(["b"]))
    with_store(path, lambda s: s.add(vectors_for(6, 2)))


def interrupted(path, work, **options):
    """Ctrl-C after `work` in a new folder."""
    with new_folder(path, **options) as new:
        work(new)
        raise KeyboardInterrupt


def test_a_new_folder_appears_when_it_is_done(tmp_path):
    path = tmp_path / "some" / "index"
    with pytest.raises(KeyboardInterrupt):
        interrupted(path, grown)
    assert list(tmp_path.iterdir()) == []
    with new_folder(path) as new:
        grown(new)
        assert not path.exists()
    assert set(contents(Store.open(path))) == {*"acd", 0, 1}
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(ValueError, match="exists already"), new_folder(path):
        pass


def test_a_new_folder_replaces_an_index_when_it_is_done(path, tmp_path):
    before, files = contents(Store.open(path)), names(path)
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="is not an index"), new_folder(tmp_path / "other", overwrite=True):
        pass
    with pytest.raises(KeyboardInterrupt):
        interrupted(path, grown, overwrite=True)
    assert contents(Store.open(path)) == before
    assert names(path) == files
    reader = Store.open(path)
    with new_folder(path, overwrite=True) as new:
        grown(new)
        wanted = contents(Store.open(new))
        assert contents(Store.open(path)) == before
        with pytest.raises(ValueError, match="is being changed by another writer"):
            Store.open(path).add(vectors_for(0, 1))
    assert contents(reader) == before  # of files that are gone, but mapped
    with pytest.raises(ValueError, match="was replaced by another index"):
        reader.refresh()
    store = Store.open(path)
    store.folder.verify()
    assert contents(store) == wanted
    assert names(path) == referred_to(path)
    store.add(vectors_for(0, 1), ["nobody holds the lock"])
    store.close()
    assert names(tmp_path) == {"index", "other"}


@pytest.mark.parametrize("fail", [False, True])
def test_replacing_by_a_new_folder_is_one_step(path, fail):
    before, stop = contents(Store.open(path)), 0
    while True:
        stop += 1

        def work(stop=stop):
            with pytest.MonkeyPatch.context() as patch, new_folder(path, overwrite=True) as new:
                grown(new)
                Steps(patch, stop, fail=fail)

        status = in_child(work)
        found = contents(Store.open(path))
        assert found == before or set(found) == {*"acd", 0, 1}
        Store.open(path).folder.verify()
        if status == 0 or stop > 60:
            break
    assert status == 0
    assert stop > 3


def test_what_a_killed_process_has_left_is_removed(tmp_path):
    path = tmp_path / "index"

    def work():
        with new_folder(path) as new:
            grown(new)
            os._exit(9)

    assert in_child(work) == 9
    (left,) = tmp_path.iterdir()
    with pytest.raises(KeyboardInterrupt):
        interrupted(path, grown)
    assert list(tmp_path.iterdir()) == [left]  # its writer may be about to lock it
    for one in (left, tmp_path / "index.new.00000000"):
        one.mkdir(exist_ok=True)
        os.utime(one, (0, 0))
    with new_folder(path) as new:
        os.utime(new.parent, (0, 0))
        with new_folder(path) as second:  # the first is at work
            grown(second)
        assert new.parent.exists()
        subprocess.run(["rm", "-r", path], check=True)
        grown(new)
    assert names(tmp_path) == {"index", "index.new.00000000"}


def test_ids_that_files_cannot_hold(tmp_path):
    store = Store()
    store.add(vectors_for(0, 2), [("a", 1), "b"])
    with pytest.raises(ValueError, match="ids on disk are whole numbers and strings"):
        create(tmp_path / "index", store.state, METRIC)
    assert list(tmp_path.iterdir()) == []
