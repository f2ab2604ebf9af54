"""The files of a TU dataset: found on disk or downloaded over https into the cache, and checked."""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import urllib.error
import urllib.request
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from .._core.files import write_atomic
from .._core.progress import progress_bar
from .limits import refuse_large

FOLDER_VARIABLE = "GRAPH_METRIC_LEARN_DATA"
BASE_URL = "https://www.chrsmrrs.com/graphkerneldatasets"
FILE_KINDS = (
    "A", "graph_indicator", "graph_labels", "node_labels", "node_attributes", "edge_labels", "edge_attributes",
    "graph_attributes",
)  # fmt: skip

Texts = dict[str, bytes]  # the contents of NAME_KIND.txt by kind

# Hashes of the files of well-known datasets (see `fingerprint`). The zips themselves are not compared: the same files
# are in circulation in several packings.
FINGERPRINTS = {
    "BZR": "4a0f821a1125b534e64534d4b91817dcd0636874258a09c7802775fe0098a54b",
    "COX2": "93f39c8fca4c154d18d0d6642246ecfe683429d929eaae64f6be14f18991e53c",
    "Cuneiform": "ce7e0ed9605d20a9be7d387888048de11c8d1abf67e13c982a830712cc6db8d2",
    "ENZYMES": "e295c36ae0b3c957fed9a23e16936d7ceb7de262e8935cc8c86fe41a123f4d52",
    "IMDB-BINARY": "1531e2a0c66a0be890a6be6a32afc151cd2f341ec572883d06bc332e936231c6",
    "IMDB-MULTI": "70a1cbf0937622d5c9fc1d36000f2dd2d58b733c5b0d62405ea6c27d60881904",
    "MUTAG": "5f24716f3474876cdda6e6163038cce5d6429d16b9246ba653a98ca3602aa8fb",
    "NCI1": "d86db19e77db224b087cefcd282f3ed013f3114b58fbe246277f786265ec0e1f",
    "PROTEINS": "ffd6315f97f4599a23535a3210d451de60aa58496ae92ad1c951c68bcbc0f55d",
}


def read_files(
    name: str, root: str | os.PathLike[str] | None = None, *, download: bool = True, progress: bool | None = None
) -> Texts:
    """The files of a dataset, from disk or else from the network; see `load_tu`."""
    folders = _folders(root)
    source = _locate(name, folders)
    if source is not None:
        return read_source(source, name)
    missing = f"neither {name}.zip nor a folder {name} is in {' or '.join(map(str, folders))}"
    if not download:
        raise ValueError(f"{missing}: put it there or name its folder with root= (--root)")
    advice = f"{missing}: get it by hand and put it there, or name its folder with root= (--root)"
    return _download(name, folders[-1], advice, progress)


def _folders(root: str | os.PathLike[str] | None) -> list[Path]:
    """Where to look, in this order; the last one is the cache."""
    folders = []
    for what, folder in (("root", root), (FOLDER_VARIABLE, os.environ.get(FOLDER_VARIABLE))):
        if folder:
            folders.append(Path(folder).expanduser())
            if not folders[-1].is_dir():
                raise ValueError(f"{what} is {str(folder)!r}, which is not a folder")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return [*folders, Path(cache) / "graph-metric-learn" / "datasets"]


def _locate(name: str, folders: list[Path]) -> Path | None:
    """The zip or the folder of a dataset, if there is one; NAME/raw/ is where torch_geometric keeps the files."""
    for folder in folders:
        if (folder / f"{name}.zip").is_file():
            return folder / f"{name}.zip"
        for inside in (folder / name, folder / name / "raw"):
            if any(inside.glob(f"{name}_*.txt")):
                return inside
    return None


def read_source(source: Path, name: str) -> Texts:
    """The files in a folder or a zip; a zip with a .sha256 file beside it must have that hash."""
    if source.is_dir():
        paths = {kind: source / f"{name}_{kind}.txt" for kind in FILE_KINDS}
        return {kind: path.read_bytes() for kind, path in paths.items() if path.is_file()}
    data, hash_file = source.read_bytes(), _hash_file(source)
    if hash_file.is_file() and hashlib.sha256(data).hexdigest() not in hash_file.read_text().split():
        raise ValueError(f"{source} is not the file that {hash_file.name} describes: delete both, then load it again")
    return unzip(data, name)


def unzip(data: bytes, name: str) -> Texts:
    """The files in a zip, in whatever folder of it they are; nothing is written to disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members: dict[str, zipfile.ZipInfo] = {}
            for member in archive.infolist():
                path = PurePosixPath(member.filename.replace("\\", "/"))
                if not path.is_absolute() and ".." not in path.parts:
                    members.setdefault(path.name, member)
            wanted = {kind: members.get(f"{name}_{kind}.txt") for kind in FILE_KINDS}
            refuse_large(sum(member.file_size for member in wanted.values() if member is not None), f"{name}.zip")
            return {kind: archive.read(member) for kind, member in wanted.items() if member is not None}
    # zipfile reports damage in all of these ways; RuntimeError is a password, NotImplementedError a rare compression
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{name}.zip cannot be read ({error}): get a fresh copy") from None


def _download(name: str, cache: Path, advice: str, progress: bool | None) -> Texts:
    """Downloads the zip, checks it, keeps it in the cache with its sha256 beside it, and returns its files."""
    try:
        data = fetch(f"{BASE_URL}/{name}.zip", advice=advice, progress=progress)
    except NotFoundError as error:
        examples = "MUTAG, IMDB-BINARY, Cuneiform"
        raise ValueError(f"{error}: spell the name as the collection does ({examples}). {advice}") from None
    texts = unzip(data, name)
    if name in FINGERPRINTS and fingerprint(texts) != FINGERPRINTS[name]:
        raise ValueError(
            f"the {name}.zip downloaded from {BASE_URL} does not hold the {name} we know: it is damaged or was "
            "changed. To use it all the same, put it into a folder and name that with root= (--root)"
        )
    digest = hashlib.sha256(data).hexdigest()
    path = cache / f"{name}.zip"
    hash_file = _hash_file(path)
    if hash_file.is_file() and digest not in hash_file.read_text().split():
        advice = f"delete {hash_file} to accept the new one"
        raise ValueError(f"{name}.zip has changed since it was first downloaded: {advice}")
    # The hash first: a zip in the cache always has one.
    write_atomic(hash_file, f"{digest}  {path.name}\n", overwrite=True)
    write_atomic(path, data, overwrite=True)
    return texts


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def fingerprint(texts: Texts) -> str:
    """Sha256 of the files' contents, the same for any packing, spacing and line ends."""
    digest = hashlib.sha256()
    for kind in sorted(texts):
        digest.update(kind.encode() + b"\n" + texts[kind].translate(None, b" \t\r").strip(b"\n") + b"\n")
    return digest.hexdigest()


class NotFoundError(ValueError):
    """The server has no such file."""


def fetch(url: str, *, advice: str, progress: bool | None = None) -> bytes:
    """The file at an address, kept in memory, so that an interruption leaves nothing on disk.

    `advice` says what to do instead, in the message of an `OSError`; the progress is shown as `load_tu` says.
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
