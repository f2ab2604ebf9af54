"""Models on disk: a folder with a JSON file and a safetensors file. No pickle, so loading runs no code."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .._core.files import current_umask

FORMAT = "graph-metric-learn"
VERSION = 2  # 1 had no options of embeddings, no objective and no edges; it is still read
READABLE = (1, 2)
CONFIG, TENSORS = "model.json", "tensors.safetensors"


def save_model(
    path: str | Path, kind: str, config: dict[str, Any], tensors: dict[str, np.ndarray], *, overwrite: bool = False
) -> Path:
    """Writes a model folder in one step; refuses to replace one unless told to.

    Parameters
    ----------
    path : path
        The folder to make.
    kind : str
        Name of the class that is saved.
    config : dict
        Anything JSON can hold.
    tensors : dict of arrays
        The rest.
    overwrite : bool
        Whether an existing model folder may be replaced. Anything else is never replaced.
    """
    from safetensors.numpy import save

    path = Path(path)
    if path.exists():
        if not overwrite:
            raise ValueError(f"{path} exists already: choose another name or pass overwrite=True")
        if not (path / CONFIG).is_file():
            raise ValueError(f"{path} exists and is not a model folder: choose another name")
    data = save({name: np.ascontiguousarray(value) for name, value in tensors.items()})
    head = {"format": FORMAT, "version": VERSION, "kind": kind, "sha256": hashlib.sha256(data).hexdigest()}
    text = json.dumps({**head, "config": config}, indent=1, allow_nan=False, default=_plain)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        (new / TENSORS).write_bytes(data)
        (new / CONFIG).write_text(text)
        new.chmod(0o777 & ~current_umask())
        if path.exists():
            old = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
            os.replace(path, old / "old")
            os.replace(new, path)
            shutil.rmtree(old)
        else:
            os.replace(new, path)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return path


def _plain(value: Any) -> Any:
    """What JSON can hold for NumPy's numbers and for names like torch.device."""
    return value.item() if isinstance(value, np.generic) else str(value)


def load_model(path: str | Path, kinds: tuple[str, ...] | str) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """Reads a model folder: (kind, config, tensors), or says in one line what is wrong with it."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = Path(path)
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if not (path / CONFIG).is_file() or not (path / TENSORS).is_file():
        raise ValueError(f"{path} is not a model folder: it needs {CONFIG} and {TENSORS}")
    try:
        head = json.loads((path / CONFIG).read_text())
        known = head["format"] == FORMAT
        version, kind, digest, config = head["version"], head["kind"], head["sha256"], head["config"]
    except (ValueError, KeyError, TypeError, UnicodeDecodeError):
        raise ValueError(f"{path / CONFIG} is damaged or not ours") from None
    if not known:
        raise ValueError(f"{path / CONFIG} is not a {FORMAT} model")
    if version not in READABLE:
        raise ValueError(
            f"{path} has format version {version}, this library reads {' and '.join(map(str, READABLE))}: "
            "use the version of the library that it is from"
        )
    if kind not in kinds:
        raise ValueError(f"{path} holds a {kind}, not a {' or '.join(kinds)}")
    data = (path / TENSORS).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"{path / TENSORS} is damaged: it is not the file that was saved")
    try:
        return kind, config, load(data)
    except SafetensorError as error:
        raise ValueError(f"{path / TENSORS} is damaged: {error}") from None


def strip_prefix(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Entries whose name starts with `prefix`, with the prefix removed.

    >>> strip_prefix({"metric.theta": np.ones(1), "y": np.zeros(1)}, "metric.")
    {'theta': array([1.])}
    """
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
