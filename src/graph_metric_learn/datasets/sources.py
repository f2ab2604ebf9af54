"""Graphs by what a user names on the command line: a TU dataset, a folder in TU format, a folder of graph files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .folder import load_folder
from .tu import load_tu


def load_source(
    source: str, *, root: str | Path | None = None, labels: str | Path | None = None
) -> tuple[list[str], list[Any], np.ndarray | None]:
    """Names, graphs and classes (None where unknown).

    Parameters
    ----------
    source : str
        The name of a TU dataset, or a folder: of TU files (then the graphs are named "0", "1", …), or of graph files as
        `load_folder` takes them.
    root : path, optional
        Folder that holds NAME.zip or NAME/ of a TU dataset.
    labels : path, optional
        CSV with the classes of a folder of graph files.
    """
    folder = Path(source)
    if folder.is_dir() and not (folder / f"{folder.name}_A.txt").is_file():
        return load_folder(folder, labels)
    if labels is not None:
        raise ValueError("--labels goes with a folder of graph files; TU datasets have their own")
    if ("/" in source or "\\" in source) and not folder.is_dir():
        raise ValueError(f"there is no folder {source}")
    if folder.is_dir():
        dataset = load_tu(folder.resolve().name, features=None, root=folder.resolve().parent)
    else:
        dataset = load_tu(source, features=None, root=root)
    return [str(i) for i in range(len(dataset))], dataset.graphs, dataset.y
