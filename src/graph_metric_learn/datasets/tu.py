"""The TU collection of benchmark graphs: found on disk or downloaded, checked, and turned into features."""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import re
import urllib.error
import urllib.request
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from .._core.files import write_atomic
from .._core.progress import progress_bar
from .base import GraphDataset, build_graphs

FOLDER_VARIABLE = "GRAPH_METRIC_LEARN_DATA"
FEATURES = ("auto", "labels", "attributes", "degree", "fuse", None)
LARGEST_FEATURES = 8 * 2**30  # bytes; wide one-hot codes of a large dataset would otherwise end the process

_BASE_URL = "https://www.chrsmrrs.com/graphkerneldatasets"
_FILES = ("A", "graph_indicator", "graph_labels", "node_labels", "node_attributes")

# What the files of well-known datasets hold (see `_fingerprint`). The zips themselves are not compared: the same files
# are in circulation in several packings.
_FINGERPRINTS = {
    "BZR": "4a0f821a1125b534e64534d4b91817dcd0636874258a09c7802775fe0098a54b",
    "COX2": "93f39c8fca4c154d18d0d6642246ecfe683429d929eaae64f6be14f18991e53c",
    "Cuneiform": "51893c2ac8ec97e05c2f7d116844b51824e67c3d557b256504ae02d12cbe3455",
    "ENZYMES": "e295c36ae0b3c957fed9a23e16936d7ceb7de262e8935cc8c86fe41a123f4d52",
    "IMDB-BINARY": "1531e2a0c66a0be890a6be6a32afc151cd2f341ec572883d06bc332e936231c6",
    "IMDB-MULTI": "70a1cbf0937622d5c9fc1d36000f2dd2d58b733c5b0d62405ea6c27d60881904",
    "MUTAG": "fe3f9978768cad37e3047bebbd9c65ad7fd6c7d17c8724d0e23da14b38eec467",
    "NCI1": "d86db19e77db224b087cefcd282f3ed013f3114b58fbe246277f786265ec0e1f",
    "PROTEINS": "ffd6315f97f4599a23535a3210d451de60aa58496ae92ad1c951c68bcbc0f55d",
}


def load_tu(
    name: str,
    features: str | None = "auto",
    root: str | os.PathLike[str] | None = None,
    *,
    download: bool = True,
    progress: bool | None = None,
) -> GraphDataset:
    r"""Loads a dataset of the TU collection [1]_ with node features.

    Looks for NAME.zip or a folder NAME/ in `root`, then in the folder that the environment variable
    GRAPH_METRIC_LEARN_DATA names, then in the cache (~/.cache/graph-metric-learn/datasets), and downloads it into the
    cache at last.

    Parameters
    ----------
    name : str
        As the collection spells it: "MUTAG", "IMDB-BINARY", "Cuneiform", … (https://chrsmrrs.github.io/datasets).
    features : {"auto", "labels", "attributes", "degree", "fuse"} or None
        What `Data.x` is made of, with statistics of the whole dataset:

        - "labels": one-hot codes of width (largest label + 1). Several label columns stand side by side. Where labels
          are negative, the codes start at the smallest one.
        - "attributes": each column shifted and scaled to mean 0 and variance 1 over all nodes; a constant column
          becomes 0.
        - "degree": one-hot codes of width (largest degree), degree d at index d − 1; a row of zeros for an isolated
          node.
        - "fuse": attributes, then labels.
        - "auto": "fuse" if the dataset has both, else "attributes", else "labels", else "degree".
        - None: the attributes as they are in the file, no statistics; no `Data.x` where there are none.
    root : path, optional
        Folder that holds NAME.zip or NAME/.
    download : bool
        Whether to download what is not on disk.
    progress : bool, optional
        Whether to show the progress of a download; by default when a person watches the terminal.

    Returns
    -------
    GraphDataset
        Each `Data` has `x` float32 [n, q]; `node_labels` int64 [n], or [n, L] where the file has L columns, if the
        dataset has any; `edge_index` int64 [2, E] with both directions of every edge once and no self-loops; `y` int64
        [1], the class as the file writes it. Isolated nodes count. Graphs with fewer than 2 nodes are left out, before
        any statistics. Labels and attributes of edges are not read.

    References
    ----------
    .. [1] C. Morris, N. Kriege, F. Bause, K. Kersting, P. Mutzel, M. Neumann. TUDataset: A collection of benchmark
       datasets for learning with graphs. GRL+ workshop, ICML 2020.

    Examples
    --------
    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> folder = Path(place.name) / "TOY"
    >>> folder.mkdir()
    >>> files = {"A": "1, 2\n2, 1\n3, 4", "graph_indicator": "1\n1\n2\n2\n2", "graph_labels": "1\n-1"}
    >>> for what, text in files.items():
    ...     _ = (folder / f"TOY_{what}.txt").write_text(text)
    >>> dataset = load_tu("TOY", features="degree", root=place.name)
    >>> place.cleanup()
    >>> dataset
    GraphDataset(TOY: 2 graphs, 2 classes, on average 2.5 nodes and 1.0 edges, 1-dimensional features)
    >>> dataset.graphs[1].x.tolist()
    [[1.0], [1.0], [0.0]]
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError(f"{name!r} is not the name of a dataset: names are letters, digits, '_', '.' and '-'")
    if features not in FEATURES:
        raise ValueError(f"unknown features {features!r}: choose one of {', '.join(map(repr, FEATURES))}")
    folders = _folders(root)
    source = _locate(name, folders)
    if source is None and not download:
        raise ValueError(f"{_not_found(name, folders)}: put it there or name its folder with root= (--root)")
    texts = _download(name, folders, progress) if source is None else _read(source, name)
    tables = _parse(name, texts)
    arrays = {}
    x = _features(name, tables, features)
    if x is not None:
        arrays["x"] = x
    if tables.labels is not None:
        arrays["node_labels"] = tables.labels[:, 0] if tables.labels.shape[1] == 1 else tables.labels
    graphs = build_graphs(tables.sizes, tables.edge_index, tables.edge_counts, tables.y, **arrays)
    return GraphDataset(graphs, tables.y, name, tables.dropped)


# --- finding and reading the files --------------------------------------------------------------------------------


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


def _not_found(name: str, folders: list[Path]) -> str:
    return f"neither {name}.zip nor a folder {name} is in {' or '.join(map(str, folders))}"


def _read(source: Path, name: str) -> dict[str, bytes]:
    """The texts of a dataset by what they hold, from a folder or a zip."""
    if source.is_dir():
        paths = {what: source / f"{name}_{what}.txt" for what in _FILES}
        return {what: path.read_bytes() for what, path in paths.items() if path.is_file()}
    data, record = source.read_bytes(), _record_of(source)
    if record.is_file() and hashlib.sha256(data).hexdigest() not in record.read_text().split():
        raise ValueError(f"{source} is not the file that {record.name} describes: delete both, then load it again")
    return _unzip(data, name)


def _unzip(data: bytes, name: str) -> dict[str, bytes]:
    """The texts in a zip, whatever folder they are in; nothing is written to disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members: dict[str, zipfile.ZipInfo] = {}
            for member in archive.infolist():
                path = PurePosixPath(member.filename.replace("\\", "/"))
                if not path.is_absolute() and ".." not in path.parts:
                    members.setdefault(path.name, member)
            wanted = {what: members.get(f"{name}_{what}.txt") for what in _FILES}
            return {what: archive.read(member) for what, member in wanted.items() if member is not None}
    # zipfile tells of damage in all of these ways; RuntimeError is a password, NotImplementedError a rare compression
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{name}.zip cannot be read ({error}): get a fresh copy") from None


# --- downloading ----------------------------------------------------------------------------------------------------


def _download(name: str, folders: list[Path], progress: bool | None) -> dict[str, bytes]:
    """Gets the zip, checks it, keeps it in the cache with its sha256 beside it, and returns its texts."""
    advice = f"{_not_found(name, folders)}: get it by hand and put it there, or name its folder with root= (--root)"
    data = _fetch(f"{_BASE_URL}/{name}.zip", advice, progress)
    texts = _unzip(data, name)
    if name in _FINGERPRINTS and _fingerprint(texts) != _FINGERPRINTS[name]:
        raise ValueError(
            f"the {name}.zip downloaded from {_BASE_URL} does not hold the {name} we know: it is damaged or was "
            "changed. To use it all the same, put it into a folder and name that with root= (--root)"
        )
    digest = hashlib.sha256(data).hexdigest()
    path = folders[-1] / f"{name}.zip"
    record = _record_of(path)
    if record.is_file() and digest not in record.read_text().split():
        raise ValueError(f"{name}.zip has changed since it was first downloaded: delete {record} to accept the new one")
    # The record first: a zip in the cache always has one.
    write_atomic(record, f"{digest}  {path.name}\n", overwrite=True)
    write_atomic(path, data, overwrite=True)
    return texts


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _fetch(url: str, advice: str, progress: bool | None) -> bytes:
    """What is at an address. Kept in memory: an interruption leaves nothing behind."""
    request = urllib.request.Request(url, headers={"User-Agent": "graph-metric-learn"})
    try:
        with urllib.request.build_opener(_StaySecure).open(request, timeout=30) as response:
            total = int(response.headers.get("Content-Length") or 0)
            chunks = []
            file = url.rpartition("/")[2]
            with progress_bar(progress, file, total=total or None, unit="B", unit_scale=True) as bar:
                while chunk := response.read(2**16):
                    chunks.append(chunk)
                    bar.update(len(chunk))
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError) and error.code == 404:
            raise ValueError(
                f"{url} does not exist: spell the name as the collection does (MUTAG, IMDB-BINARY, Cuneiform). {advice}"
            ) from None
        raise OSError(f"downloading {url} failed ({error}). {advice}") from error
    data = b"".join(chunks)
    if total and len(data) != total:
        raise OSError(f"downloading {url} broke off after {len(data)} of {total} bytes. {advice}")
    return data


class _StaySecure(urllib.request.HTTPRedirectHandler):
    """Follows a redirection, but never from https to something else."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if req.type == "https" and not newurl.startswith("https://"):
            raise urllib.error.URLError(f"redirected to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fingerprint(texts: dict[str, bytes]) -> str:
    """Sha256 of what the files say: the same for any packing, spacing and line ends."""
    digest = hashlib.sha256()
    for what in sorted(texts):
        digest.update(what.encode() + b"\n" + texts[what].translate(None, b" \t\r").strip(b"\n") + b"\n")
    return digest.hexdigest()


# --- from text to arrays --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tables:
    """All graphs with at least 2 nodes, one after the other: G graphs, S nodes, E directed edges."""

    sizes: np.ndarray  # [G]
    edge_index: np.ndarray  # [2, E], numbered within each graph
    edge_counts: np.ndarray  # [G]
    degrees: np.ndarray  # [S]
    labels: np.ndarray | None  # [S, L]
    attributes: np.ndarray | None  # [S, d]
    y: np.ndarray  # [G]
    dropped: int


def _parse(name: str, texts: dict[str, bytes]) -> _Tables:
    y = _table(name, texts, "graph_labels", columns=1)[:, 0]
    graph = _table(name, texts, "graph_indicator", columns=1)[:, 0] - 1
    edges = _table(name, texts, "A", columns=2) - 1
    labels = _table(name, texts, "node_labels") if "node_labels" in texts else None
    attributes = _table(name, texts, "node_attributes", dtype=np.float64) if "node_attributes" in texts else None
    n = len(graph)
    for what, table in (("node_labels", labels), ("node_attributes", attributes)):
        if table is not None and len(table) != n:
            raise ValueError(
                f"{name}_{what}.txt has {len(table)} lines for the {n} nodes of {name}_graph_indicator.txt"
            )
    _check_lines(name, "graph_indicator", (graph < 0) | (graph >= len(y)), f"names none of the {len(y)} graphs")
    _check_lines(name, "A", ((edges < 0) | (edges >= n)).any(axis=1), f"joins a node that is none of the {n} nodes")
    _check_lines(name, "A", (np.diff(graph[edges]) != 0).any(axis=1), "joins nodes of different graphs")

    sizes = np.bincount(graph, minlength=len(y))
    kept = sizes >= 2
    if not kept.any():
        raise ValueError(f"{name} has no graph with at least 2 nodes")
    # Nodes in the order of their graphs (the files have them so already), without those of graphs too small to keep.
    order = np.argsort(graph, kind="stable")
    order = order[kept[graph[order]]]
    number = np.zeros(n, dtype=np.int64)
    number[order] = np.arange(len(order))

    # Graphs too small to keep have self-loops only, so no edge points to a node left out.
    u, v = number[edges[edges[:, 0] != edges[:, 1]]].T
    both = np.unique(np.concatenate([u * n + v, v * n + u]))
    u, v = np.divmod(both, n)
    sizes = sizes[kept]
    home = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return _Tables(
        sizes=sizes,
        edge_index=np.stack([u, v]) - starts[home[u]],
        edge_counts=np.bincount(home[u], minlength=len(sizes)),
        degrees=np.bincount(u, minlength=len(order)),
        labels=None if labels is None else labels[order],
        attributes=None if attributes is None else attributes[order],
        y=y[kept],
        dropped=int(np.sum(~kept)),
    )


def _table(
    name: str, texts: dict[str, bytes], what: str, *, columns: int | None = None, dtype: type = np.int64
) -> np.ndarray:
    """The numbers of one file [lines, columns]."""
    file = f"{name}_{what}.txt"
    if what not in texts:
        why = ": without classes it is a dataset for regression" if what == "graph_labels" else ""
        raise ValueError(f"{name} has no file {file}{why}")
    text = texts[what].decode("utf-8-sig", errors="replace")
    if not text.strip():
        return np.empty((0, columns or 1), dtype)  # NumPy would warn; a dataset without edges is fine
    try:
        table: np.ndarray = np.loadtxt(io.StringIO(text), dtype=dtype, delimiter=",", comments=None, ndmin=2)
    except ValueError as error:
        kind = "whole numbers" if dtype is np.int64 else "numbers"
        raise ValueError(f"{file} is not a table of {kind}: {error}") from None
    if columns and table.shape[1] != columns:
        raise ValueError(f"{file} has {table.shape[1]} columns, expected {columns}")
    return table


def _check_lines(name: str, what: str, bad: Any, complaint: str) -> None:
    """Refuses a file by its first bad line; bad: booleans [lines]."""
    if bad.any():
        raise ValueError(f"{name}_{what}.txt, line {bad.argmax() + 1}, {complaint}")


# --- features -------------------------------------------------------------------------------------------------------


def _features(name: str, tables: _Tables, features: str | None) -> np.ndarray | None:
    """Float32 [S, q], as `load_tu` describes them."""
    if features is None:
        return None if tables.attributes is None else tables.attributes.astype(np.float32)
    has = {"labels": tables.labels is not None, "attributes": tables.attributes is not None}
    if features == "auto":
        found = [what for what in has if has[what]]
        features = "fuse" if len(found) == 2 else found[0] if found else "degree"
    wanted = {"fuse": ("attributes", "labels"), "degree": ()}.get(features, (features,))
    missing = [what for what in wanted if not has[what]]
    if missing:
        rest = " and ".join(f"node {what}" for what in has if has[what]) or "neither labels nor attributes"
        raise ValueError(
            f"features={features!r}: {name} has no node {' and no node '.join(missing)}. It has {rest}; "
            "features='degree' works for every dataset"
        )
    blocks = []
    if "attributes" in wanted and tables.attributes is not None:
        blocks.append(_standardise(name, tables.attributes))
    if "labels" in wanted and tables.labels is not None:
        blocks += [_one_hot(name, column - min(column.min(), 0)) for column in tables.labels.T]
    if features == "degree":
        blocks.append(_one_hot(name, tables.degrees - 1))
    return np.concatenate(blocks, axis=1)


def _standardise(name: str, attributes: np.ndarray) -> np.ndarray:
    finite = np.isfinite(attributes).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"{name}_node_attributes.txt holds NaN or infinite values: load with features=None, clean them"
        )
    # Asking the deviation whether a column is constant would let rounding through: that of 0.1, 0.1, 0.1 is not 0.
    varies = np.ptp(attributes, axis=0) > 0
    scale = np.where(varies, attributes.std(axis=0), np.inf)
    return ((attributes - attributes.mean(axis=0)) / scale).astype(np.float32)


def _one_hot(name: str, index: np.ndarray) -> np.ndarray:
    """Float32 [S, largest index + 1], a row of zeros where the index is −1."""
    width = max(int(index.max()) + 1, 1)
    if len(index) * width * 4 > LARGEST_FEATURES:
        raise ValueError(
            f"one-hot features of {name} would take {len(index) * width * 4 / 2**30:.0f} GiB ({len(index)} nodes, "
            f"{width} columns): load with features=None and make narrower ones"
        )
    rows = np.zeros((len(index), width), dtype=np.float32)
    at = np.flatnonzero(index >= 0)
    rows[at, index[at]] = 1
    return rows
