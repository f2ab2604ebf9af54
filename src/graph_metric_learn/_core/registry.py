"""Tables of things by name, open to additions from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")


class Registry(dict[str, Thing]):
    """Things by name; an unknown name is a `ValueError` that lists the known ones.

    Parameters
    ----------
    what : str
        What the things are, for the message.

    Examples
    --------
    >>> COLOURS: Registry[str] = Registry("colour")
    >>> COLOURS["red"] = "#f00"
    >>> COLOURS["blue"]
    Traceback (most recent call last):
    ValueError: unknown colour 'blue': use one of 'red'
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def __missing__(self, name: str) -> Thing:
        raise ValueError(f"unknown {self.what} {name!r}: use one of {', '.join(map(repr, self))}")

    def register(self, name: str) -> Callable[[Thing], Thing]:
        """A decorator that adds what it decorates.

        >>> SHAPES: Registry[type] = Registry("shape")
        >>> @SHAPES.register("square")
        ... class Square: ...
        >>> SHAPES["square"].__name__
        'Square'
        """

        def add(thing: Thing) -> Thing:
            if name in self:
                raise ValueError(f"there is a {self.what} {name!r} already")
            self[name] = thing
            return thing

        return add
