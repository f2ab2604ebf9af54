import hashlib
import urllib.error
import urllib.request

import pytest

from graph_metric_learn.datasets import load_tu, tu_files
from graph_metric_learn.datasets.tu_files import HttpsOnlyRedirects, NotFoundError, fetch
from tu_toy import TOY, same, write_folder, zipped

NAMES = ["BZR", "COX2", "Cuneiform", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "MUTAG", "NCI1", "PROTEINS"]


@pytest.mark.parametrize("inside", ["TOY/", "", "some/where/else/", "TOY\\"])
def test_a_zip_and_a_folder_give_the_same(tmp_path, inside):
    (tmp_path / "TOY.zip").write_bytes(zipped(inside=inside))
    same(load_tu("TOY", root=tmp_path), load_tu("TOY", root=write_folder(tmp_path / "unpacked")))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["TOY.zip", "unpacked"]  # nothing was extracted


@pytest.mark.parametrize("inside", ["/etc/", "../", "TOY/../../"])
def test_members_that_point_outside_the_zip_are_ignored(tmp_path, inside):
    (tmp_path / "TOY.zip").write_bytes(zipped(inside=inside))
    with pytest.raises(ValueError, match="TOY has no file"):
        load_tu("TOY", root=tmp_path)


def test_the_folder_torch_geometric_makes_is_read(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "TOY").rename(tmp_path / "raw")
    (tmp_path / "TOY").mkdir()
    (tmp_path / "raw").rename(tmp_path / "TOY" / "raw")
    assert len(load_tu("TOY", root=str(tmp_path))) == 3


def test_root_comes_before_the_variable_and_that_before_the_cache(tmp_path, monkeypatch, own_cache):
    def write(folder, label):
        return write_folder(folder, graph_labels=f"{label}\n0\n0\n")

    write(own_cache, 1)
    assert load_tu("TOY", download=False).y[0] == 1
    monkeypatch.setenv("GRAPH_METRIC_LEARN_DATA", str(write(tmp_path / "variable", 2)))
    assert load_tu("TOY", download=False).y[0] == 2
    assert load_tu("TOY", root=write(tmp_path / "root", 3), download=False).y[0] == 3


def test_the_cache_is_in_the_home_folder_by_default(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    write_folder(tmp_path / ".cache" / "graph-metric-learn" / "datasets")
    assert len(load_tu("TOY", download=False)) == 3


def test_what_is_nowhere_is_an_error_that_says_where_it_looked(tmp_path, own_cache):
    with pytest.raises(ValueError, match=f"neither TOY.zip nor a folder TOY is in {tmp_path} or {own_cache}"):
        load_tu("TOY", root=tmp_path, download=False)


def test_folders_that_do_not_exist_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"root is .*nowhere', which is not a folder"):
        load_tu("TOY", root=tmp_path / "nowhere")
    monkeypatch.setenv("GRAPH_METRIC_LEARN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="GRAPH_METRIC_LEARN_DATA is"):
        load_tu("TOY")


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty"])
def test_a_damaged_zip_is_named(tmp_path, damage):
    data = zipped()
    data = {
        "cut": data[: len(data) // 2],
        "flipped": data[:60] + bytes([data[60] ^ 0xFF]) + data[61:],
        "text": b"<html>not found</html>",
        "empty": b"",
    }[damage]
    (tmp_path / "TOY.zip").write_bytes(data)
    with pytest.raises(ValueError, match=r"TOY\.zip cannot be read"):
        load_tu("TOY", root=tmp_path)


# --- downloading ----------------------------------------------------------------------------------------------------


def contents(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_download_is_kept_with_its_hash_and_not_repeated(tmp_path, server, own_cache):
    first = load_tu("TOY")
    assert contents(own_cache) == ["TOY.zip", "TOY.zip.sha256"]
    digest = hashlib.sha256(server.files["/all/TOY.zip"]).hexdigest()
    assert (own_cache / "TOY.zip.sha256").read_text() == f"{digest}  TOY.zip\n"
    same(load_tu("TOY"), first)
    same(first, load_tu("TOY", root=write_folder(tmp_path / "folder")))
    assert server.asked == ["/all/TOY.zip"]


def test_a_cached_zip_that_changed_is_refused(server, own_cache):
    load_tu("TOY")
    (own_cache / "TOY.zip").write_bytes(zipped({**TOY, "graph_labels": "1\n1\n1\n"}))
    with pytest.raises(ValueError, match=r"TOY\.zip is not the file that TOY\.zip\.sha256 describes"):
        load_tu("TOY")


def test_a_second_download_must_bring_the_same_file(server, own_cache):
    load_tu("TOY")
    (own_cache / "TOY.zip").unlink()
    server.files["/all/TOY.zip"] = zipped({**TOY, "graph_labels": "1\n1\n1\n"})
    with pytest.raises(ValueError, match="changed since it was first downloaded"):
        load_tu("TOY")
    assert contents(own_cache) == ["TOY.zip.sha256"]
    (own_cache / "TOY.zip.sha256").unlink()
    assert load_tu("TOY").y.tolist() == [1, 1, 1]


def test_a_known_dataset_with_other_contents_is_refused(server, own_cache):
    server.files["/all/MUTAG.zip"] = zipped(name="MUTAG")
    with pytest.raises(ValueError, match="does not hold the MUTAG we know"):
        load_tu("MUTAG")
    assert contents(own_cache) == []


def test_a_known_dataset_in_another_packing_is_taken(server, own_cache, monkeypatch):
    """Line ends, spaces, folders and the compression of the zip may differ, the numbers may not."""
    files = {what: text.replace("\n", "\r\n").replace(",", " , ") for what, text in TOY.items()}
    monkeypatch.setitem(tu_files.FINGERPRINTS, "TOY", tu_files.fingerprint(tu_files.unzip(zipped(), "TOY")))
    server.files["/all/TOY.zip"] = zipped(files, inside="other/")
    load_tu("TOY")
    assert contents(own_cache) == ["TOY.zip", "TOY.zip.sha256"]


@pytest.mark.parametrize("trouble", ["breaks off", "server error", "no server", "no zip"])
def test_a_failed_download_leaves_nothing_and_says_what_to_do(server, own_cache, monkeypatch, trouble):
    server.breaks_off = trouble == "breaks off"
    server.status = 503 if trouble == "server error" else 200
    if trouble == "no server":
        monkeypatch.setattr(tu_files, "BASE_URL", "http://127.0.0.1:9")
    if trouble == "no zip":
        server.files["/all/TOY.zip"] = b"<html>We have moved</html>"
    advice = r"get it by hand and put it there, or name its folder with root="
    words = r"TOY\.zip cannot be read" if trouble == "no zip" else advice
    with pytest.raises(ValueError if trouble == "no zip" else OSError, match=words):
        load_tu("TOY")
    assert contents(own_cache) == []


def test_an_unknown_name_is_a_value_error(server):
    with pytest.raises(ValueError, match=r"Mutag\.zip does not exist: spell the name as the collection does"):
        load_tu("Mutag")


def test_download_can_be_forbidden(server):
    with pytest.raises(ValueError, match="neither"):
        load_tu("TOY", download=False)
    assert server.asked == []


@pytest.mark.parametrize("name", NAMES)
def test_known_fingerprints_are_those_of_the_files(real, name):
    assert tu_files.fingerprint(tu_files.read_source(real / f"{name}.zip", name)) == tu_files.FINGERPRINTS[name]


def test_the_known_datasets_are_the_nine():
    assert sorted(tu_files.FINGERPRINTS) == sorted(NAMES)


@pytest.fixture
def url(server):
    return f"{tu_files.BASE_URL}/TOY.zip"


def test_a_file_comes_whole(url):
    assert fetch(url, advice="") == zipped()


def test_a_file_that_is_not_there(server):
    with pytest.raises(NotFoundError, match=r"Mutag\.zip does not exist"):
        fetch(f"{tu_files.BASE_URL}/Mutag.zip", advice="")


def test_a_download_that_breaks_off_is_an_error_with_advice(server, url):
    server.breaks_off = True
    with pytest.raises(OSError, match=r"TOY\.zip .*get it by hand"):
        fetch(url, advice="get it by hand")


def test_a_server_error_is_an_error_with_advice(server, url):
    server.status = 503
    with pytest.raises(OSError, match=r"failed \(HTTP Error 503.*get it by hand"):
        fetch(url, advice="get it by hand")


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_progress_is_shown_when_asked_for(url, capsys, progress, shown):
    fetch(url, advice="", progress=progress)
    assert ("TOY.zip" in capsys.readouterr().err) == shown


def test_the_collection_is_asked_over_https_and_stays_there(monkeypatch):
    monkeypatch.undo()
    assert tu_files.BASE_URL.startswith("https://")
    request = urllib.request.Request(f"{tu_files.BASE_URL}/TOY.zip")
    handler = HttpsOnlyRedirects()
    with pytest.raises(urllib.error.URLError, match="not https"):
        handler.redirect_request(request, None, 302, "Found", {}, "http://example.org/TOY.zip")
    followed = handler.redirect_request(request, None, 302, "Found", {}, "https://example.org/TOY.zip")
    assert followed.full_url == "https://example.org/TOY.zip"
