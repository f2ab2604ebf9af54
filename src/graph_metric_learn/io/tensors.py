"""Reading safetensors files of any origin: a clear error for what NumPy cannot hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

_KNOWN = {"F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}


def read_tensors(file: Path, data: bytes) -> dict[str, np.ndarray]:
    """Arrays by name, from the bytes of a file; `file` is for messages. NaN is refused."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length]) if 8 + length <= len(data) else None
        types = {name: entry["dtype"] for name, entry in header.items() if name != "__metadata__"}  # type: ignore
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{file} is damaged: its header cannot be read") from None
    for name, kind in types.items():
        if kind not in _KNOWN:
            raise ValueError(
                f"{file}: {name} holds numbers of type {kind}, which models here do not have: save it as F32"
            )
    try:
        tensors = load(data)
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise ValueError(f"{file} is damaged: {error}") from None
    for name, value in tensors.items():
        if value.dtype.kind == "f" and np.isnan(value).any():
            raise ValueError(f"{file} is damaged: {name} holds NaN")
    return tensors
