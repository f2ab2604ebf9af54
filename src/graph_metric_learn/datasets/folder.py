"""A folder of graph files, one graph each, with a CSV of their classes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._core.validation import first_few, one_of
from ..graphs.sources.smiles import NothingReadError
from .json_graphs import check_attributes, check_has_nodes, graph_from_node_link, name_of, with_vectors
from .limits import check_unpacked, check_xml
from .molecule_csv import csv_tables

SUFFIXES = (".graphml", ".json", ".pt", ".safetensors")
_MOST_LISTED = 5  # files in a warning


def load_folder(
    folder: str | Path, labels: str | Path | None = None, *, on_error: str = "raise"
) -> tuple[list[str], list[Any], np.ndarray | None]:
    """Reads the graphs of a folder.

    Parameters
    ----------
    folder : path
        Holds files of these kinds:

        - NAME.graphml: numeric node attributes, in alphabetical order of their names, become the features; a text
          attribute "label" becomes the node label. The same holds for edges, but that a numeric attribute "weight" is
          the weight. Directed graphs are directed, and there may be parallel edges;
        - NAME.json: the same in the node-link format of NetworkX, a dict with the keys "nodes" and "links" or "edges"
          and, if wanted, "directed" and "multigraph". Attributes may also be lists of numbers. Those with the names
          "node_labels" and "edge_type" are labels, be they text or whole numbers;
        - NAME.pt: a `torch_geometric.data.Data` or a dict of tensors with "edge_index" and, if there, "x",
          "node_labels", "edge_attr", "edge_type" and "edge_weight"; code in the file is not run;
        - NAME.safetensors: the same tensors.

        In all GraphML and JSON files nodes must have attributes of the same names, and edges too. The names stay with
        the graphs: a metric fitted on one folder finds its columns in another by name.
    labels : path, optional
        CSV with a header and the columns "graph" (file name, with or without its extension) and "label". Without it,
        all graphs are read and have no class.
    on_error : {"raise", "skip"}
        What to do with a file that cannot be read: raise a `ValueError` that names it, or leave it out and name all
        such files in one warning.

    Returns
    -------
    names : list of str
        File names without their extension, sorted, or in the order of the CSV.
    graphs : list of networkx.Graph or torch_geometric.data.Data
        Attributes of nodes and edges bear the names under which `as_graphs` looks for them. Each graph is called by
        the name of its file, in `graph.name`. Names of columns are in `graph.graph["node_columns"]` and
        `graph.graph["edge_columns"]`.
    y : ndarray of str [G] or None
        Classes, as the CSV writes them.
    """
    files = graph_files(folder)
    one_of("on_error", on_error, ("raise", "skip"))
    if labels is None:
        graphs = read_files(files, skip=on_error == "skip")
        return list(graphs), list(graphs.values()), None
    classes = _read_labels(Path(labels))
    missing = [name for name in classes if name not in files]
    if missing:
        raise ValueError(f"{labels} names {missing[0]!r}, but {folder} holds no such graph file")
    if len(classes) < len(files):
        unlisted = next(name for name in files if name not in classes)
        warnings.warn(
            f"{len(files) - len(classes)} of {len(files)} files left out, {unlisted!r} first: {labels} lacks them",
            stacklevel=2,
        )
    graphs = read_files({name: files[name] for name in classes}, skip=on_error == "skip")
    return list(graphs), list(graphs.values()), np.array([classes[name] for name in graphs])


def graph_files(folder: str | Path) -> dict[str, Path]:
    """The graph files of a folder by the names of the graphs, sorted."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in SUFFIXES:
            name = name_of(path)
            if name in files:
                raise ValueError(f"{folder} holds two files for one graph, {files[name].name} and {path.name}")
            files[name] = path
    if not files:
        raise ValueError(f"{folder} holds no graph files ({', '.join(SUFFIXES)})")
    return files


def _read_labels(path: Path) -> dict[str, str]:
    """Class by graph name, in the order of the file."""
    (table,) = csv_tables(path)
    classes: dict[str, str] = {}
    for i, (line, name, label) in enumerate(
        zip(table.lines, table.column("graph"), table.column("label"), strict=True)
    ):
        if i in table.problems:
            raise ValueError(f"{path}, line {line} {table.problems[i]}")
        stem = Path(name).stem if Path(name).suffix.lower() in SUFFIXES else name
        if not name or not label:
            raise ValueError(f"{path}, line {line}: graph or label is empty")
        if stem in classes:
            raise ValueError(f"{path}, line {line}: {name} is listed twice")
        classes[stem] = label
    return classes


def read_files(files: Mapping[str, Path], *, skip: bool) -> dict[str, Any]:
    """The graphs in files, by name; with `skip`, without those that cannot be read, which one warning lists."""
    read: dict[str, Any] = {}
    broken = []
    for name, path in files.items():
        try:
            read[name] = check_has_nodes(_read(path), path.name)
        except ValueError as error:
            if not skip:
                raise
            broken.append(str(error))
    if broken:
        listed = first_few(broken, _MOST_LISTED, "; ")
        if not read:
            raise NothingReadError(f"none of {len(broken)} files can be read: {listed}")
        warnings.warn(f"{len(broken)} of {len(files)} files left out: {listed}", stacklevel=3)
    return dict(zip(read, with_vectors((files[name], graph) for name, graph in read.items()), strict=True))


def _read(path: Path) -> Any:
    """The graph in a file, or a ValueError that names the file."""
    try:
        if path.suffix.lower() == ".graphml":
            import networkx as nx

            check_xml(path)
            return check_attributes(nx.read_graphml(path))
        if path.suffix.lower() == ".json":
            return graph_from_node_link(json.loads(path.read_text(encoding="utf-8-sig")))
        if path.suffix.lower() == ".safetensors":
            from safetensors.torch import load_file

            return _as_data(load_file(path), path)
        check_unpacked(path)
        return _read_pt(path)
    except Exception as error:  # parsers raise many types
        if isinstance(error, ValueError) and path.name in str(error):
            raise
        raise ValueError(f"cannot read {path.name}: {error}") from None


def _read_pt(path: Path) -> Any:
    """A `Data` from a file of `torch.save`; other types than those of `Data` are refused."""
    import torch
    from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

    safe = [Data, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]
    with torch.serialization.safe_globals(safe):
        content = torch.load(path, map_location="cpu", weights_only=True)
    data = content if isinstance(content, Data) else _as_data(content, path)
    for key, value in data.to_dict().items():
        dense = isinstance(value, torch.Tensor) and value.layout == torch.strided
        if dense and value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise ValueError(f"{key} claims {value.numel()} numbers, but the file holds fewer")
    return data


def _as_data(tensors: Any, path: Path) -> Any:
    """A `Data` from a dict of tensors."""
    from torch_geometric.data import Data

    if not isinstance(tensors, dict) or "edge_index" not in tensors:
        raise ValueError(f"{path.name} holds no graph: expected tensors named edge_index and x")
    return Data(**{name: value for name, value in tensors.items() if isinstance(name, str)})
