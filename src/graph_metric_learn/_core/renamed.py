"""Public names of before: they work, with a FutureWarning that names the new one."""

from __future__ import annotations

import warnings


def adopt_old_attribute(cls: type, old: str, new: str) -> None:
    """What a subclass says under an old name of a class attribute counts under the new one.

    >>> import warnings
    >>> class Mine:
    ...     old = True
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     adopt_old_attribute(Mine, "old", "new")
    >>> Mine.new
    True
    """
    if old in vars(cls):
        warnings.warn(f"{cls.__name__}.{old} is now called {new}", FutureWarning, stacklevel=4)
        setattr(cls, new, vars(cls)[old])
