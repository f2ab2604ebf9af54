"""One way to show how far work has come."""

from __future__ import annotations

from typing import Any

from tqdm.auto import tqdm


def progress_bar(
    progress: bool | None, desc: str | None = None, *, total: int | None, unit: str, delay: float = 0.0, **options: Any
) -> Any:
    """A tqdm bar: True shows it, False hides it, None shows it on a terminal only, from `delay` seconds to the end."""
    return tqdm(
        desc=desc,
        total=total,
        unit=unit,
        leave=progress is True or not delay,
        disable=None if progress is None else not progress,
        delay=delay if progress is None else 0.0,
        **options,
    )
