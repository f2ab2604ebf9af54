"""Ways to damage a model folder: bytes at random, or single fields with all digests computed anew."""

import copy
import json
import math
import shutil
import struct

import numpy as np
from safetensors.numpy import load, save

from graph_metric_learn.io.models import _document

SCALARS = (
    None, True, False, 0, -1, 1, 2, 7, 10**6, 10**9, 10**10, 2**63, 10**30, 0.0, -0.5, 1e-310, 1e19, 1e300, -1e300, "",
    "x", "auto", "labels", "trees@1000000", "reference", [], [0], [None], {}, {"a": 1}, "\x00", "trees@1",
)  # fmt: skip


def flip_bytes(folder, rng):
    """Changes, removes or adds a few bytes of one file."""
    files = [path.name for path in folder.iterdir() if path.is_file() and path.stat().st_size]
    file = folder / str(rng.choice(sorted(files)))
    data = bytearray(file.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(max(len(data), 1)))
        how = rng.integers(4)
        if how == 0 and data:
            data[place] ^= 1 << int(rng.integers(8))
        elif how == 1 and data:
            data[place] = int(rng.integers(256))
        elif how == 2:
            del data[place : place + int(rng.integers(1, 20))]
        else:
            data[place:place] = bytes(rng.integers(0, 256, int(rng.integers(1, 9))).tolist())
    file.write_bytes(data)
    return f"{file.name}, bytes"


def paths_of(value, path=()):
    """Paths to everything in a JSON document."""
    found = [path] if path else []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in entries:
        found += paths_of(one, (*path, key))
    return found


def change_field(config, rng):
    """Another value at a random place of a JSON document, or none; the document and what was done."""
    config = copy.deepcopy(config)
    paths = paths_of(config)
    shallow = [path for path in paths if len(path) <= 3]
    pool = shallow if shallow and rng.random() < 0.5 else paths
    path = pool[int(rng.integers(len(pool)))]
    holder = config
    for key in path[:-1]:
        holder = holder[key]
    old, how = holder[path[-1]], rng.integers(6)
    if how == 0:
        del holder[path[-1]]
        return config, f"{path} removed"
    if how == 1 and isinstance(holder, dict):
        holder[f"{path[-1]}x"] = holder.pop(path[-1])
        return config, f"{path} renamed"
    if how == 2 and isinstance(old, (int, float)) and not isinstance(old, bool):
        new = [old + 1, old - 1, old * 10, -old, old * 1e9, old / 1e9, float(old), math.ceil(old)][int(rng.integers(8))]
    elif how == 3 and isinstance(old, list) and old:
        new = [old[:-1], [*old, old[-1]], old[::-1], [*old, None]][int(rng.integers(4))]
    else:
        new = SCALARS[int(rng.integers(len(SCALARS)))]
    holder[path[-1]] = new
    return config, f"{path}: {str(old)[:40]} -> {str(new)[:40]}"


def change_tensor(tensors, rng):
    """One array with other numbers, shape or type, or removed."""
    tensors = {name: value.copy() for name, value in tensors.items()}
    name = str(rng.choice(sorted(tensors)))
    value = tensors[name]
    how = int(rng.integers(9))
    if how == 0:
        del tensors[name]
        return tensors, f"{name} removed"
    if how == 1:
        tensors[f"{name}x"] = tensors.pop(name)
        return tensors, f"{name} renamed"
    if how == 2:
        new = np.concatenate([value, value[:1]]) if value.ndim else value[None]
    elif how == 3:
        new = value[:-1]
    elif how == 4:
        new = np.concatenate([value, value[..., :1]], axis=-1)
    elif how == 5:
        new = value.astype([np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8][int(rng.integers(6))])
    elif how == 6:
        new = value[None] if rng.random() < 0.5 else value.reshape(-1)
    else:
        new = value.copy()
        if new.size:
            odd = [0, -1, 1, 10**6, 10**9, 2**62] if new.dtype.kind in "iu" else [np.nan, np.inf, -1.0, 1e19, 1e38, 0.0]
            new.flat[int(rng.integers(new.size))] = odd[int(rng.integers(len(odd)))]
    tensors[name] = new
    return tensors, f"{name}: {value.dtype}{value.shape} -> {new.dtype}{new.shape} ({how})"


def change_and_sign(folder, rng):
    """Damages a field or an array, and makes all digests fit again: checks of the fields are all that is left."""
    head = json.loads((folder / "model.json").read_text())
    file = folder / head["tensors"]
    config, tensors = head["config"], load(file.read_bytes())
    if rng.random() < 0.6 or not tensors:
        config, said = change_field(config, rng)
    else:
        tensors, said = change_tensor(tensors, rng)
    data = save({name: np.ascontiguousarray(value) for name, value in tensors.items()})
    file.write_bytes(data)
    text = json.dumps(config)
    if "Infinity" in text or "NaN" in text:
        return None
    (folder / "model.json").write_text(_document(head["kind"], config, data, head["tensors"]))
    return said


def with_type(data, name, kind):
    """A safetensors file in which one tensor claims another type of numbers, such as BF16."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    header[name]["dtype"] = kind
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def resigned(folder, data):
    """Other tensors in a folder, with digests that fit."""
    head = json.loads((folder / "model.json").read_text())
    (folder / head["tensors"]).write_bytes(data)
    (folder / "model.json").write_text(_document(head["kind"], head["config"], data, head["tensors"]))


def fresh(source, target):
    """A copy of a model folder in place of another."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target
