"""One way to do many independent pieces of work: here, in processes, or on a cluster, as joblib is told."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from .compiled import helped
from .linear import one_thread_for_products

_MISSING = object()  # in the place of what is not done yet


def in_parallel(
    function: Callable[..., Any], tasks: Iterable[Any], shared: Any = None, *, threads: bool = False
) -> Iterator[Any]:
    """function(shared, task) for each task, in the order of the tasks.

    Tasks are drawn as they are needed, a few ahead. Without more ado they are done here, one after the other or by
    `threads`; inside ``joblib.parallel_config("loky", n_jobs=2)`` or ``joblib.parallel_config("dask")`` by processes or
    a cluster.

    The function must be one of a module. What is `shared` by all tasks goes to each worker once. `threads` are for work
    that leaves Python, see :func:`by_threads`.

    Examples
    --------
    >>> list(in_parallel(pow, [1, 2, 3], 2))
    [2, 4, 8]
    """
    from joblib import Parallel, delayed

    if not is_parallel():
        yield from (by_threads if threads else map)(partial(function, shared), tasks)
        return
    _send_to_one_worker_too()
    package = Package(shared)
    yield from Parallel(return_as="generator", pre_dispatch="2*n_jobs")(
        delayed(_unpacked)(function, package, task) for task in tasks
    )


def by_threads(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    """function(task) for each task, in the order of the tasks, by the threads of compiled loops.

    For work that leaves Python, such as products and decompositions of matrices, each of which then has one thread.
    All tasks are drawn at once.

    Examples
    --------
    >>> list(by_threads(abs, [1, -2, 3]))
    [1, 2, 3]
    """
    tasks = list(tasks)
    results: list[Any] = [_MISSING] * len(tasks)
    left, shown = iter(range(len(tasks))), 0

    def rounds() -> Generator[None, None, None]:
        try:
            for index in left:
                results[index] = function(tasks[index])
                yield
        finally:
            deque(left, maxlen=0)  # after an error nobody begins another task

    with one_thread_for_products(), helped(lambda: deque(rounds(), maxlen=0)), closing(rounds()) as own:
        for _ in own:
            while shown < len(results) and results[shown] is not _MISSING:
                yield results[shown]
                shown += 1
    yield from results[shown:]


def is_parallel() -> bool:
    """Whether joblib was told to use several workers, or others than this process."""
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    if _is_cluster(backend):
        return True
    return n_jobs not in (None, 1) and effective_n_jobs(n_jobs) > 1


def n_workers() -> int:
    """How many workers joblib was told to use; 1 without."""
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    return max(1, effective_n_jobs(get_active_backend()[1])) if is_parallel() else 1


def _is_cluster(backend: Any) -> bool:
    """Whether workers are on other machines, as those of Dask may be."""
    return type(backend).__name__ == "DaskDistributedBackend"


def _send_to_one_worker_too() -> None:
    """Makes joblib use a cluster of one worker with one thread: where it counts one, it does the work here."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    if _is_cluster(backend):
        backend.effective_n_jobs = lambda n_jobs: max(2, type(backend).effective_n_jobs(backend, n_jobs))


class Package:
    """Something that is sent to workers once; schedulers go by its size."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __sizeof__(self) -> int:
        return size_of(self.content)


def size_of(content: Any) -> int:
    """About how many bytes an object takes, arrays inside it included.

    >>> size_of({"a": np.zeros(1000)})
    8000
    """
    seen: set[int] = set()

    def add(one: Any) -> int:
        if id(one) in seen:
            return 0
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            return one.nbytes
        if isinstance(one, dict):
            return sum(map(add, one.values()))
        if isinstance(one, (list, tuple)):
            return sum(map(add, one))
        return sys.getsizeof(one) + add(getattr(one, "__dict__", {}))

    return add(content)


def _unpacked(function: Callable[..., Any], package: Package, task: Any) -> Any:
    return function(package.content, task)
