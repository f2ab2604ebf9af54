"""One way to show how far work has come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm

_hidden = False  # inside `no_bars`


@contextmanager
def no_bars() -> Iterator[None]:
    """Inside, bars that nobody asked for are not shown, not even on a terminal."""
    global _hidden
    before, _hidden = _hidden, True
    try:
        yield
    finally:
        _hidden = before


def progress_bar(
    progress: bool | None, desc: str | None = None, *, total: int | None, unit: str, delay: float = 0.0, **options: Any
) -> Any:
    """A tqdm bar: True shows it, False hides it, None shows it on a terminal only, from `delay` seconds to the end."""
    if progress is None and _hidden:
        progress = False
    leave = progress is True or not delay
    disable, delay = (None, delay) if progress is None else (not progress, 0.0)
    return tqdm(desc=desc, total=total, unit=unit, leave=leave, disable=disable, delay=delay, **options)
