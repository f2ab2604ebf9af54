"""A folder of graph files, one graph each, with a CSV of their classes."""

from __future__ import annotations

import copy
import csv
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._core.validation import one_of
from ..graphs.sources.smiles import NothingReadError
from .limits import check_unpacked, check_xml

SUFFIXES = (".graphml", ".json", ".pt", ".safetensors")
# Under which names `as_graphs` looks for vectors and labels of nodes and edges.
_VECTORS, _LABELS = {"node": "x", "edge": "edge_attr"}, {"node": "node_labels", "edge": "edge_type"}
_WEIGHT = "weight"
_MOST_LISTED = 5  # files in a warning
_LARGEST_BITS = 1000  # of whole numbers in files: what float64 can hold


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
            if path.stem in files:
                raise ValueError(f"{folder} holds two files for one graph, {files[path.stem].name} and {path.name}")
            files[path.stem] = path
    if not files:
        raise ValueError(f"{folder} holds no graph files ({', '.join(SUFFIXES)})")
    return files


def _read_labels(path: Path) -> dict[str, str]:
    """Class by graph name, in the order of the file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {path}: it is not text in UTF-8") from None
    except (OSError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not rows or not {"graph", "label"} <= set(rows[0][1]):
        raise ValueError(f"{path} needs a header with the columns graph,label and at least one row")
    classes: dict[str, str] = {}
    for number, row in rows:
        if None in row:
            raise ValueError(f"{path}, line {number} has more values than the header has columns")
        name, label = (row["graph"] or "").strip(), (row["label"] or "").strip()
        stem = Path(name).stem if Path(name).suffix.lower() in SUFFIXES else name
        if not name or not label:
            raise ValueError(f"{path}, line {number}: graph or label is empty")
        if stem in classes:
            raise ValueError(f"{path}, line {number}: {name} is listed twice")
        classes[stem] = label
    return classes


def read_files(files: Mapping[str, Path], *, skip: bool) -> dict[str, Any]:
    """The graphs in files, by name; with `skip`, without those that cannot be read, which one warning lists."""
    found: list[tuple[str, Path, Any]] = []
    broken = []
    for name, path in files.items():
        try:
            found.append((name, path, _with_nodes(_read(path), path.name)))
        except ValueError as error:
            if not skip:
                raise
            broken.append(str(error))
    if broken:
        more = f" and {len(broken) - _MOST_LISTED} more" if len(broken) > _MOST_LISTED else ""
        listed = "; ".join(broken[:_MOST_LISTED]) + more
        if not found:
            raise NothingReadError(f"none of {len(broken)} files can be read: {listed}")
        warnings.warn(f"{len(broken)} of {len(files)} files left out: {listed}", stacklevel=3)
    graphs = _alike((path, graph) for _, path, graph in found)
    return dict(zip((name for name, *_ in found), graphs, strict=True))


def graphs_from_node_link(found: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Graphs in node-link format as NetworkX graphs, read as :func:`load_folder` reads files of these names.

    >>> square = {"nodes": [{"id": i, "mass": i / 2} for i in range(4)], "edges": [{"source": 0, "target": 1}]}
    >>> graph, = graphs_from_node_link([square], ["square"])
    >>> graph.nodes[3], graph.graph["node_columns"]
    ({'x': [1.5]}, ['mass'])
    """
    graphs = []
    for one, name in zip(found, names, strict=True):
        try:
            graph = _from_node_link(copy.deepcopy(one))
        except Exception as error:  # NetworkX raises many types
            raise ValueError(f"cannot read {name}: {error}") from None
        graphs.append((Path(f"{name}.json"), _with_nodes(graph, name)))
    return _alike(graphs)


def _with_nodes(graph: Any, name: str) -> Any:
    """The graph, or a ValueError that names it if it has no nodes."""
    count = graph.num_nodes if hasattr(graph, "num_nodes") else graph.number_of_nodes()
    if count == 0:
        raise ValueError(f"{name} has no nodes: drop it or give it one")
    return graph


def _alike(read: Iterable[tuple[Path, Any]]) -> list[Any]:
    """Graphs with their files, of which all must have attributes of the same names, or a ValueError that names both."""
    graphs = []
    first: dict[str, tuple[Path, list[str]]] = {}
    for path, graph in read:
        graph.name = path.stem
        graphs.append(graph)
        if path.suffix.lower() not in (".graphml", ".json"):
            continue
        for what, items in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
            graph.graph.pop(f"{what}_columns", None)  # what a file itself says under this name
            if len(items):
                columns, labelled = _gather([attributes for *_, attributes in items], what, path)
                if columns:
                    graph.graph[f"{what}_columns"] = columns
                names = columns + ["label"] * labelled
                _check_names(names, what, path, *first.setdefault(what, (path, names)))
    return graphs


def _check_names(names: list[str], what: str, path: Path, other: Path, others: list[str]) -> None:
    for without, having, missing in ((path, other, set(others) - set(names)), (other, path, set(names) - set(others))):
        if missing:
            lacks = f"{without.name} has no {what} attribute {min(missing)!r}"
            raise ValueError(f"{lacks}, {having.name} has: give all files the same attributes")


def _read(path: Path) -> Any:
    """The graph in a file, or a ValueError that names the file."""
    try:
        if path.suffix.lower() == ".graphml":
            import networkx as nx

            check_xml(path)
            return _with_numbers_of_use(nx.read_graphml(path))
        if path.suffix.lower() == ".json":
            return _read_node_link(path)
        if path.suffix.lower() == ".safetensors":
            from safetensors.torch import load_file

            return _as_data(load_file(path), path)
        check_unpacked(path)
        return _read_pt(path)
    except Exception as error:  # parsers raise many types
        if isinstance(error, ValueError) and path.name in str(error):
            raise
        raise ValueError(f"cannot read {path.name}: {error}") from None


def _read_node_link(path: Path) -> Any:
    """A graph of any kind of NetworkX from its node-link format."""
    return _from_node_link(json.loads(path.read_text(encoding="utf-8-sig")))


def _from_node_link(found: Any) -> Any:
    import networkx as nx

    links = [key for key in ("links", "edges") if isinstance(found, dict) and key in found]
    if not links or "nodes" not in found:
        raise ValueError('expected the node-link format of NetworkX, with the keys "nodes" and "links" or "edges"')
    if not isinstance(found.get("graph", {}), dict):
        raise ValueError(f'"graph" must be an object, got {found["graph"]!r}')  # noqa: TRY004
    graph = nx.node_link_graph(found, edges=links[0])
    if len(graph) != len(found["nodes"]):
        raise ValueError("edges name nodes that are not listed, or a node is listed twice")
    return _with_numbers_of_use(graph)


def _with_numbers_of_use(graph: Any) -> Any:
    """The same graph; a ValueError where a whole number of a node or edge is too large for any arithmetic."""
    for what, items in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
        for *_, attributes in items:
            for name, value in attributes.items():
                for one in value if isinstance(value, list) else [value]:
                    if isinstance(one, int) and one.bit_length() > _LARGEST_BITS:
                        raise ValueError(f"{what} attribute {name!r} is a number of hundreds of digits")
    return graph


def _gather(items: list[dict[str, Any]], what: str, path: Path) -> tuple[list[str], bool]:
    """Puts the numbers of each node or edge into one vector, and its label where `as_graphs` looks for it.

    Text that is no label stays as it is. Returns the names of the numbers, and whether there are labels, which is the
    same on every item.
    """
    vector_key, label_key = _VECTORS[what], _LABELS[what]
    rows: list[dict[tuple[str, int], float]] = []
    labels: list[Any] = []
    for attributes in items:
        row: dict[tuple[str, int], float] = {}
        label = attributes.pop(label_key, None)
        if label is None and isinstance(attributes.get("label"), str):
            label = attributes.pop("label")
        if label is not None:
            labels.append(label)
        for name in list(attributes):
            if not (what == "edge" and name == _WEIGHT):
                row |= {(name, i): value for i, value in _numbers(attributes[name])}
            if attributes[name] is None or (what == "edge" and name == "id") or (name, 0) in row:
                del attributes[name]
        rows.append(row)
    counts = Counter(column for row in rows for column in row)
    if labels:
        counts["label", 0] = len(labels)
    incomplete = [name for (name, _), count in counts.items() if count != len(items)]
    if incomplete:
        raise ValueError(f"{path.name}: attribute {incomplete[0]!r} is missing on some {what}s")
    columns = sorted(rows[0])
    for i, attributes in enumerate(items):
        if columns:
            attributes[vector_key] = [rows[i][column] for column in columns]
        if labels:
            attributes[label_key] = labels[i]
    wide = Counter(name for name, _ in columns)
    return [name if wide[name] == 1 else f"{name}[{i}]" for name, i in columns], bool(labels)


def _numbers(value: Any) -> list[tuple[int, float]]:
    """A number, or a list of numbers, as (place, number); nothing where it is something else."""
    values = value if isinstance(value, list) else [value]
    return [(i, float(v)) for i, v in enumerate(values)] if all(isinstance(v, (int, float)) for v in values) else []


def _read_pt(path: Path) -> Any:
    """A `Data` from a file of `torch.save`; other types than those of `Data` are refused."""
    import torch
    from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

    safe = [Data, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]
    with torch.serialization.safe_globals(safe):
        found = torch.load(path, map_location="cpu", weights_only=True)
    found = found if isinstance(found, Data) else _as_data(found, path)
    for key, value in found.to_dict().items():
        held = isinstance(value, torch.Tensor) and value.layout == torch.strided
        if held and value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise ValueError(f"{key} claims {value.numel()} numbers, but the file holds fewer")
    return found


def _as_data(tensors: Any, path: Path) -> Any:
    """A `Data` from a dict of tensors."""
    from torch_geometric.data import Data

    if not isinstance(tensors, dict) or "edge_index" not in tensors:
        raise ValueError(f"{path.name} holds no graph: expected tensors named edge_index and x")
    return Data(**{name: value for name, value in tensors.items() if isinstance(name, str)})
