"""Runs the command that was asked for: errors and warnings become one line each, and errors an exit code."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack

from .parser import command_parser
from .shared_options import drop_output, workers

# What messages of the library call what is an option here.
_OPTIONS = {
    "on_error='skip'": "--on-error skip",
    'task="numbers"': "--task numbers",
    'task="classes"': "--task classes",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; bad input ends with one line on stderr and exit code 2."""
    options = command_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings(), ExitStack() as stack:
            if options.quiet:
                from .._core.progress import no_bars

                stack.enter_context(no_bars())
            warnings.showwarning = lambda message, *_: _say(options.command, f"warning: {message}")
            if getattr(options, "max_unpacked", None):
                from ..datasets.limits import unpacking_at_most

                stack.enter_context(unpacking_at_most(options.max_unpacked))
            if getattr(options, "scheduler", None):
                stack.enter_context(workers(options.scheduler))
            return options.run(options) or 0
    except BrokenPipeError:  # who reads the output has seen enough
        drop_output()
        return 128 + 13  # as a process that the signal ends
    except (ValueError, ImportError, OSError) as error:
        _say(options.command, _sentence(error))
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def console() -> int:
    """`main` in a process of its own, which seldom looks for garbage in what imports leave behind, and not at its end.

    That is a third of the time of a small prediction.
    """
    gc.set_threshold(100_000, 50, 100)
    try:
        return main()
    finally:
        gc.freeze()


def _say(command: str, text: str) -> None:
    """One line on stderr."""
    print(f"graph-metric-learn {command}: {text}", file=sys.stderr)


def _sentence(error: Exception) -> str:
    """What went wrong; an `OSError` of ours without the system's number before it, advice as options of a command."""
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        return error.strerror
    text = str(error)
    for advice, option in _OPTIONS.items():
        text = text.replace(advice, option)
    return text
