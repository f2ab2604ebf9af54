"""A folder of graph files, one graph each, with a CSV of their classes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

SUFFIXES = (".graphml", ".pt", ".safetensors")
_NODE_ATTRIBUTE, _NODE_LABEL = "x", "node_labels"


def load_folder(folder: str | Path, labels: str | Path | None = None) -> tuple[list[str], list[Any], np.ndarray | None]:
    """Reads the graphs of a folder.

    Parameters
    ----------
    folder : path
        Holds files of these kinds:

        - NAME.graphml: numeric node attributes, in alphabetical order of their names, become the features; a text
          attribute "label" becomes the node label;
        - NAME.pt: a `torch_geometric.data.Data` or a dict of tensors with "edge_index" and, if there, "x" and
          "node_labels"; code in the file is not run;
        - NAME.safetensors: the same tensors.
    labels : path, optional
        CSV with a header and the columns "graph" (file name, with or without its extension) and "label". Without it,
        all graphs are read and have no class.

    Returns
    -------
    names : list of str
        File names without their extension, sorted, or in the order of the CSV.
    graphs : list of networkx.Graph or torch_geometric.data.Data
    y : ndarray of str [G] or None
        Classes, as the CSV writes them.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    files = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES}
    if not files:
        raise ValueError(f"{folder} holds no graph files ({', '.join(SUFFIXES)})")
    if labels is None:
        return list(files), [_read(path) for path in files.values()], None
    classes = _read_labels(Path(labels))
    missing = [name for name in classes if name not in files]
    if missing:
        raise ValueError(f"{labels} names {missing[0]!r}, but {folder} holds no such graph file")
    return list(classes), [_read(files[name]) for name in classes], np.array(list(classes.values()))


def _read_labels(path: Path) -> dict[str, str]:
    """Class by graph name, in the order of the file."""
    try:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    if not rows or not {"graph", "label"} <= set(rows[0]):
        raise ValueError(f"{path} needs a header with the columns graph,label and at least one row")
    classes: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        name, label = (row["graph"] or "").strip(), (row["label"] or "").strip()
        stem = Path(name).stem if Path(name).suffix.lower() in SUFFIXES else name
        if not name or not label:
            raise ValueError(f"{path}, line {number}: graph or label is empty")
        if stem in classes:
            raise ValueError(f"{path}, line {number}: {name} is listed twice")
        classes[stem] = label
    return classes


def _read(path: Path) -> Any:
    """The graph in a file, or a ValueError that names the file."""
    try:
        if path.suffix.lower() == ".graphml":
            return _read_graphml(path)
        if path.suffix.lower() == ".safetensors":
            from safetensors.torch import load_file

            return _as_data(load_file(path), path)
        return _read_pt(path)
    except ValueError:
        raise
    except Exception as error:  # parsers raise many types
        raise ValueError(f"cannot read {path.name}: {error}") from None


def _read_graphml(path: Path) -> Any:
    """A `networkx.Graph` whose nodes have the attributes "x" and "node_labels" and no others."""
    import networkx as nx

    graph = nx.Graph(nx.read_graphml(path))
    numeric: dict[str, int] = {}
    for _, attributes in graph.nodes(data=True):
        for name, value in attributes.items():
            if isinstance(value, (int, float)):
                numeric[name] = numeric.get(name, 0) + 1
    incomplete = [name for name, count in numeric.items() if count != len(graph)]
    if incomplete:
        raise ValueError(f"{path.name}: attribute {incomplete[0]!r} is missing on some nodes")
    names = sorted(numeric)
    for _, attributes in graph.nodes(data=True):
        label = attributes.get("label")
        values = [float(attributes[name]) for name in names]
        attributes.clear()
        if values:
            attributes[_NODE_ATTRIBUTE] = values
        if isinstance(label, str):
            attributes[_NODE_LABEL] = label
    return graph


def _read_pt(path: Path) -> Any:
    """A `Data` from a file of `torch.save`; other types than those of `Data` are refused."""
    import torch
    from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

    safe = [Data, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]
    with torch.serialization.safe_globals(safe):
        found = torch.load(path, map_location="cpu", weights_only=True)
    return found if isinstance(found, Data) else _as_data(found, path)


def _as_data(tensors: Any, path: Path) -> Any:
    """A `Data` from a dict of tensors."""
    from torch_geometric.data import Data

    if not isinstance(tensors, dict) or "edge_index" not in tensors:
        raise ValueError(f"{path.name} holds no graph: expected tensors named edge_index and x")
    return Data(**{name: value for name, value in tensors.items() if isinstance(name, str)})
