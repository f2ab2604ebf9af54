"""Models on disk: a folder with a JSON file and a safetensors file. No pickle, so loading runs no code.

The JSON file is the model: it names the file of tensors and holds its digest, and a digest of itself. A model is
replaced by replacing that one file, so there is a whole model at the path at any moment: the old one or the new one.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from .. import __version__
from .._core.files import clear_disk_errors, current_umask, locked, new_file, sync
from .._core.schema import FieldError, Saved, read
from .tensors import read_tensors

FORMAT = "graph-metric-learn"
VERSION = 5  # 1 to 3 were never published; GraphMetric was another one in 4
CONFIG, TENSORS = "model.json", "tensors.safetensors"

_TENSOR_FILE = r"tensors(-[0-9a-f]{16})?\.safetensors"
_DIGEST = re.compile(r'"digest": "([0-9a-f]{64})"')
_NO_DIGEST = f'"digest": "{"0" * 64}"'
_ATTEMPTS = 5  # at reading a model that is being replaced


class Head(Saved):
    """The JSON file."""

    format: str
    version: int
    library: str  # the version that wrote it
    kind: str  # the class that is saved
    tensors: Annotated[str, Meta(pattern=rf"^{_TENSOR_FILE}\Z")]
    sha256: str  # of that file
    digest: str  # of this one, with zeros in this place
    config: dict[str, Any]


def save_model(
    path: str | Path, kind: str, config: dict[str, Any], tensors: dict[str, np.ndarray], *, overwrite: bool = False
) -> Path:
    """Writes a model folder in one step; refuses to replace one unless told to.

    Parameters
    ----------
    kind : str
        Name of the class that is saved.
    config, tensors
        What JSON can hold, and arrays by name.
    overwrite : bool
        Whether an existing model folder may be replaced. Anything else is never replaced.
    """
    from safetensors.numpy import save

    path = Path(path)
    check_free(path, overwrite=overwrite)
    for name, value in tensors.items():
        if value.dtype.kind == "f" and np.isnan(value).any():
            raise ValueError(f"{name} of the {kind} holds NaN: it cannot be saved")
    data = save({name: np.ascontiguousarray(value) for name, value in tensors.items()})
    path.parent.mkdir(parents=True, exist_ok=True)
    with clear_disk_errors(path):
        _remove_leftovers(path)
        if not path.exists() and _make(path, kind, config, data):
            return path
        check_free(path, overwrite=overwrite)
        _replace(path, kind, config, data)
    return path


def check_free(path: str | Path, *, overwrite: bool) -> None:
    """A `ValueError` unless a model may be saved at the path; for use before a model is fitted, too."""
    path = Path(path)
    if path.exists():
        if not overwrite:
            raise ValueError(f"{path} exists already: choose another name or pass overwrite=True")
        if not (path / CONFIG).is_file():
            raise ValueError(f"{path} exists and is not a model folder: choose another name")


def _make(path: Path, kind: str, config: dict[str, Any], data: bytes) -> bool:
    """A new folder, which appears when it is complete; False if another one was there first."""
    new = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        with locked(new) as alone:  # whoever finds this folder without a lock knows that nobody is writing to it
            if not alone or not new.exists():  # somebody has found it before it was locked
                return _make(path, kind, config, data)
            (new / TENSORS).write_bytes(data)
            (new / CONFIG).write_text(_document(kind, config, data, TENSORS))
            for name in (new / TENSORS, new / CONFIG, new):
                sync(name)
            new.chmod(0o777 & ~current_umask())
            os.rename(new, path)
        sync(path.parent)
    except BaseException as error:
        if isinstance(error, FileNotFoundError) and not new.exists():  # as above: it was taken for a leftover
            return _make(path, kind, config, data)
        shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError) and path.exists():
            return False
        raise
    return True


def _replace(path: Path, kind: str, config: dict[str, Any], data: bytes) -> None:
    """Puts another model into a folder: first its tensors, then, in one step, the file that names them."""
    with locked(path) as alone:
        if not alone:
            raise ValueError(f"{path} is being written by somebody else: save to another name, or try again")
        name = f"tensors-{hashlib.sha256(data).hexdigest()[:16]}.safetensors"
        with new_file(path / name, overwrite=True) as temporary:
            temporary.write_bytes(data)
        try:
            with new_file(path / CONFIG, overwrite=True) as temporary:
                temporary.write_text(_document(kind, config, data, name))
        finally:
            _remove_unused(path)


def _document(kind: str, config: dict[str, Any], data: bytes, tensors: str) -> str:
    """The text of the JSON file, with the digest of itself."""
    head = {"format": FORMAT, "version": VERSION, "library": __version__, "kind": kind, "tensors": tensors}
    head |= {"sha256": hashlib.sha256(data).hexdigest(), "digest": "0" * 64}
    text = json.dumps({**head, "config": config}, indent=1, allow_nan=False, default=_plain)
    return text.replace(_NO_DIGEST, f'"digest": "{hashlib.sha256(text.encode()).hexdigest()}"', 1)


def _plain(value: Any) -> Any:
    """What JSON can hold for NumPy's numbers and for names like torch.device."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _remove_leftovers(path: Path) -> None:
    """Removes folders beside the path that a save which was killed has left there."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        with suppress(FileNotFoundError):  # somebody else removes it, or has given it its name
            if left.is_dir() and {one.name for one in left.iterdir()} <= {TENSORS, CONFIG}:
                with locked(left) as alone:
                    if alone:
                        shutil.rmtree(left, ignore_errors=True)


def _remove_unused(path: Path) -> None:
    """Removes files of tensors that the model does not name, and what writing was interrupted at."""
    try:
        used = json.loads((path / CONFIG).read_text()).get("tensors")
    except (OSError, ValueError, AttributeError):
        return
    for name in os.listdir(path):
        half = name.startswith((f".{CONFIG}.", ".tensors"))
        if half or (re.fullmatch(_TENSOR_FILE, name) and name != used):
            (path / name).unlink(missing_ok=True)


@contextmanager
def opened_model(
    path: str | Path, kinds: tuple[str, ...] | str
) -> Iterator[tuple[str, dict[str, Any], dict[str, np.ndarray]]]:
    """A model folder while it is made into a model: what is found wrong with a field is said with the file's name."""
    model = load_model(path, kinds)
    try:
        yield model
    except FieldError as error:
        raise ValueError(f"{path} is damaged or was edited: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is damaged or was edited: lists in lists are too deep") from None


def load_model(path: str | Path, kinds: tuple[str, ...] | str) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """Reads a model folder: (kind, config, tensors), or says in one line what is wrong with it."""
    path = Path(path)
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    for attempt in range(_ATTEMPTS):
        if not (path / CONFIG).is_file():
            raise ValueError(f"{path} is not a model folder: it needs {CONFIG} and {TENSORS}")
        head = _checked_head(path / CONFIG, (path / CONFIG).read_bytes(), kinds)
        tensors = path / head.tensors
        try:
            data = tensors.read_bytes()
            break
        except FileNotFoundError:  # removed, because the model was replaced in between
            if attempt == _ATTEMPTS - 1:
                raise ValueError(f"{path} is not a model folder: it needs {CONFIG} and {tensors.name}") from None
    if hashlib.sha256(data).hexdigest() != head.sha256:
        raise ValueError(f"{tensors} is damaged: it is not the file that was saved")
    return head.kind, head.config, read_tensors(tensors, data)


def digest(path: str | Path) -> str:
    """What tells the model in a folder from all others: a digest of its JSON file, which holds that of the tensors."""
    return hashlib.sha256((Path(path) / CONFIG).read_bytes()).hexdigest()


def _checked_head(file: Path, content: bytes, kinds: tuple[str, ...]) -> Head:
    """What the JSON file says, if it is what was saved."""
    try:
        text = content.decode()
        tree = json.loads(text, parse_constant=_refused, object_pairs_hook=_without_repeats)
        ours, version = tree["format"] == FORMAT, tree["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{file} is damaged or not ours") from None
    if not ours:
        raise ValueError(f"{file} is not a {FORMAT} model")
    if version != VERSION or isinstance(version, (bool, float)):
        raise ValueError(
            f"{file.parent} has format version {version}, this library reads {VERSION}: use the version of the library "
            "that it is from, or fit and save the model anew"
        )
    try:
        head: Head = read(Head, tree)
    except FieldError as error:
        raise ValueError(f"{file} is damaged: {error}") from None
    if head.kind not in kinds:
        raise ValueError(f"{file.parent} holds a {head.kind}, not a {' or '.join(kinds)}")
    if hashlib.sha256(_DIGEST.sub(_NO_DIGEST, text, count=1).encode()).hexdigest() != head.digest:
        raise ValueError(f"{file} is damaged or was edited: it is not the file that was saved")
    return head


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name stands there twice")
    return dict(pairs)
