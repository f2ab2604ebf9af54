"""Downloading a file into memory, over https where the address says so."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import Any

from .._core.progress import progress_bar


class NotFoundError(ValueError):
    """The server has no such file."""


def fetch(url: str, *, advice: str, progress: bool | None = None) -> bytes:
    """The file at an address. It is kept in memory, so an interruption leaves nothing on disk.

    Parameters
    ----------
    url : str
    advice : str
        What to do instead, for the message of an `OSError`.
    progress : bool, optional
        Whether to show the progress; by default on a terminal.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "graph-metric-learn"})
    try:
        with urllib.request.build_opener(HttpsOnlyRedirects).open(request, timeout=30) as response:
            total = int(response.headers.get("Content-Length") or 0)
            chunks = []
            file = url.rpartition("/")[2]
            with progress_bar(progress, file, total=total or None, unit="B", unit_scale=True) as bar:
                while chunk := response.read(2**16):
                    chunks.append(chunk)
                    bar.update(len(chunk))
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError) and error.code == 404:
            raise NotFoundError(f"{url} does not exist") from None
        raise OSError(f"downloading {url} failed ({error}). {advice}") from error
    data = b"".join(chunks)
    if total and len(data) != total:
        raise OSError(f"downloading {url} broke off after {len(data)} of {total} bytes. {advice}")
    return data


class HttpsOnlyRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirection, but never from https to something else."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if req.type == "https" and not newurl.startswith("https://"):
            raise urllib.error.URLError(f"redirected to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
