import urllib.error
import urllib.request

import pytest

from graph_metric_learn.datasets import tu_files
from graph_metric_learn.datasets.download import HttpsOnlyRedirects, NotFoundError, fetch
from tu_toy import zipped


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
