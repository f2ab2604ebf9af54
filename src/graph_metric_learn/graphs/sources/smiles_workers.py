"""Untrusted SMILES, read in processes of their own with limits on time and memory; those that die are replaced."""

from __future__ import annotations

import os
import queue
import resource
import select
import signal
import subprocess
import sys
import time
import weakref
from typing import Any

import msgspec
import numpy as np

from .pyg import PlainData
from .smiles import rdkit_chem, read_molecules

MEMORY = 512 << 20  # bytes that a process may take beside what it has at its start
SECONDS = 2  # of a CPU, for one molecule
_PATIENCE = 10  # seconds until an answer, for each second of a CPU: there may be other work
_STARTED = 120  # seconds until a new process is ready
_MOST_DEATHS = 3  # in one request; the molecules behind are not read
_LENGTH = 8  # bytes in which the length of a message is written
_HIDDEN = "GRAPH_METRIC_LEARN_TOKEN"  # of the environment, which no process needs that reads molecules
_START = "import sys; sys.path[:] = {path!r}; from {module} import work; work({memory}, {seconds})"


class SmilesWorkers:
    """Processes that read molecules, started when they are needed.

    Parameters
    ----------
    count : int
        How many at most, and so how many threads are served at a time; others wait.
    memory, seconds : int
        Bytes that a process may take beside what it has at its start, and seconds of a CPU for one molecule.
    """

    def __init__(self, count: int = 2, *, memory: int = MEMORY, seconds: int = SECONDS) -> None:
        self.memory, self.seconds = memory, seconds
        self.deaths = 0  # of processes, so far
        self._free: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(count):
            self._free.put(None)

    def read(self, smiles: list[str], within: float) -> list[PlainData | str]:
        """The molecules as graphs, or what is wrong with them, as in "row 2 ('C1') is not a valid SMILES".

        `within` is how many seconds there are for all of them.
        """
        rdkit_chem()
        end = time.monotonic() + within
        read: list[PlainData | str] = []
        worker, deaths = self._free.get(), 0
        try:
            for row, text in enumerate(smiles):
                if deaths == _MOST_DEATHS or time.monotonic() > end:
                    read.append(f"row {row} was not read: the molecules before it took too long")
                    continue
                if not _is_text(text):
                    read.append(f"row {row} ({text!r}) is not a valid SMILES")
                    continue
                if worker is None:
                    worker = _Worker(self.memory, self.seconds)
                answer = worker.ask(row, text, min(end, time.monotonic() + _PATIENCE * self.seconds))
                if answer is None:
                    deaths += 1
                    self.deaths += 1
                    worker.stop()
                    worker = _Worker(self.memory, self.seconds)
                    answer = f"row {row} ({text!r}) takes more time or memory to read than it may"
                read.append(answer)
        finally:
            self._free.put(worker)
        return read


class _Worker:
    """One process, as seen from outside."""

    def __init__(self, memory: int, seconds: int) -> None:
        code = _START.format(path=sys.path, module=__name__, memory=memory, seconds=seconds)
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0,
            env={name: value for name, value in os.environ.items() if name != _HIDDEN},
        )  # fmt: skip
        self.stop = weakref.finalize(self, _stop, self._process)
        self._ready = False

    def ask(self, row: int, text: str, end: float) -> PlainData | str | None:
        """A molecule, or what is wrong with it; None from a process that is no more, or has not answered in time."""
        try:
            if not self._ready:
                waited = time.monotonic()
                self._ready = self._receive(waited + _STARTED) == b""
                end += time.monotonic() - waited
            if not self._ready:
                return None
            _send(self._process.stdin, msgspec.msgpack.encode((row, text)))
            answer = self._receive(end)
        except OSError:
            return None
        return None if answer is None else _unpacked(answer)

    def _receive(self, end: float) -> bytes | None:
        """A message; None if there is none before the end of time."""
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)  # type: ignore[arg-type]
        read, wanted = b"", _LENGTH
        while len(read) < wanted:
            if not poll.poll(max(0.0, 1000 * (end - time.monotonic()))):
                return None
            part = os.read(self._process.stdout.fileno(), wanted - len(read))  # type: ignore[union-attr]
            if not part:
                return None
            read += part
            if wanted == _LENGTH == len(read):
                wanted += int.from_bytes(read, "little")
        return read[_LENGTH:]


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


def _stop(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def work(memory: int, seconds: int) -> None:
    """What a process does: reads one molecule after the other, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is asked to end is the process that asks
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what libraries print is no answer
    _read(0, "C")  # imports what is needed, before there are limits
    with open("/proc/self/statm") as sizes:
        _limit(resource.RLIMIT_AS, int(sizes.read().split()[0]) * resource.getpagesize() + memory)
    _limit(resource.RLIMIT_CORE, 0)
    _send(target, b"")
    while len(header := source.read(_LENGTH)) == _LENGTH:
        row, text = msgspec.msgpack.decode(source.read(int.from_bytes(header, "little")), type=tuple[int, str])
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)
        _send(target, _packed(_read(row, text)))


def _read(row: int, text: str) -> PlainData | str:
    try:
        return read_molecules([text], [f"row {row}"], plain=True)[0]
    except ValueError as error:
        return str(error)
    except MemoryError:
        raise
    except Exception as error:
        return f"row {row} ({text!r}) cannot be read: {type(error).__name__}"


def _limit(what: int, most: int) -> None:
    """Lowers a limit of this process, which may have a lower one already."""
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _send(pipe: Any, message: bytes) -> None:
    pipe.write(len(message).to_bytes(_LENGTH, "little") + message)


def _packed(graph: PlainData | str) -> bytes:
    """A molecule as a message: arrays as their type, shape and bytes."""
    if isinstance(graph, str):
        return msgspec.msgpack.encode(graph)
    fields: dict[str, Any] = {}
    for key, value in graph.to_dict().items():
        array = None if isinstance(value, (str, int)) else np.ascontiguousarray(value)
        fields[key] = value if array is None else (array.dtype.str, array.shape, array.tobytes())
    return msgspec.msgpack.encode(fields)


def _unpacked(message: bytes) -> PlainData | str:
    import torch

    fields = msgspec.msgpack.decode(message, type=str | dict[str, str | int | tuple[str, tuple[int, ...], bytes]])
    if isinstance(fields, str):
        return fields
    values: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, tuple):
            kind, shape, content = value
            values[key] = torch.from_numpy(np.frombuffer(content, dtype=np.dtype(kind)).reshape(shape).copy())
        else:
            values[key] = value
    return PlainData(**values)
