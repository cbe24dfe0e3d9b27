"""The only place that starts workers: threads over kernels that release the GIL.

Work is cut into a number of blocks that does not depend on the thread count, and results come back in block order,
so that one thread and many give the same bits.
"""

from __future__ import annotations

import _thread
import collections
import contextlib
import ctypes
import functools
import importlib.util
import itertools
import math
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import PathFinder
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@functools.cache
def available_threads() -> int:
    """Processors this process may use; fewer where OMP_NUM_THREADS says so (as it stood at the first call)."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        processors = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return (
        max(1, min(processors, int(limit[:9])))
        if limit.isascii() and limit.isdecimal() and int(limit[:9])
        else processors
    )


def memory() -> float:
    """Bytes of this machine's memory; infinite where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return math.inf


@functools.cache
def _openblas() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """What tells and sets the threads of each OpenBLAS that NumPy and SciPy have loaded; none where they use another BLAS.

    The libraries are found through the extension modules that are linked with them. That of SciPy is opened, not imported: the
    rest of scipy.linalg would take every command a tenth of a second that it does not use.
    """
    found = []
    for package, name in (("numpy.linalg", "_umath_linalg"), ("scipy.linalg", "_fblas")):
        where = importlib.util.find_spec(package)
        module = where and PathFinder.find_spec(f"{package}.{name}", where.submodule_search_locations)
        try:
            library = ctypes.CDLL(module.origin if module else None)  # None: linked into the interpreter
        except (OSError, TypeError):
            continue
        for prefix, suffix in itertools.product(("scipy_openblas", "openblas"), ("64_", "_64", "", "_")):
            tell = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            put = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            if tell is not None and put is not None:
                tell.argtypes, tell.restype, put.argtypes, put.restype = (
                    [],
                    ctypes.c_int,
                    [ctypes.c_int],
                    None,
                )
                found.append((tell, put))
                break
    return found


_blas_lock = threading.Lock()
_blas_users: list[list[int]] = []  # of each block that is running: the threads there were before the first


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """While the block runs, OpenBLAS works on one thread, in the whole process; blocks may lie in each other, and in threads.

    BLAS on several threads rounds otherwise than on one, and its threads and wordkit's workers wait for each other.
    """
    with _blas_lock:
        before = _blas_users[0] if _blas_users else [tell() for tell, _ in _openblas()]
        _blas_users.append(before)
        for _, put in _openblas():
            put(1)
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users.pop()
            if not _blas_users:
                for (_, put), threads in zip(_openblas(), before, strict=True):
                    put(threads)


class _Share:
    """One thread's part in a map: the thread takes it up or, where it has not yet, the caller gives it up.

    Every step of the caller may be cut off by a signal's exception and done again. The locks of ``threading`` and of
    ``concurrent.futures`` are taken by Python code that such an exception leaves with the lock held, and all wait for ever.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self.error: BaseException | None = None
        self._taken: dict[None, str] = {}  # setdefault() is atomic
        self._ended, self._signal = False, _thread.allocate_lock()
        self._signal.acquire()

    def run(self) -> None:
        """In the thread."""
        if self._taken.setdefault(None, "thread") == "thread":
            try:
                self._work()
            except BaseException as error:
                self.error = error
            self._ended = True
            self._signal.release()

    def finish(self) -> None:
        """By the caller: it will not be begun, or it has ended."""
        if self._taken.setdefault(None, "caller") == "thread":
            while not self._ended:
                self._signal.acquire()


def _serve(shares: queue.SimpleQueue[_Share | None]) -> None:
    while (share := shares.get()) is not None:
        share.run()
        del share  # and what it holds, while the thread waits
    shares.put(None)  # for the next thread


class Workers:
    """Threads that are kept from one map to the next, where maps are many and short; they end when it is dropped.

    The calling thread works too, and every thread takes the next item as soon as it is free: handing over an item costs
    about a microsecond, not the waking of a thread.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._shares: queue.SimpleQueue[_Share | None] = queue.SimpleQueue()
        self._running = 0

    def __reduce__(self) -> tuple[type[Workers], tuple[int]]:
        """A copy, of an estimator with them, has threads of its own."""
        return Workers, (self.threads,)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """``[function(item) for item in items]``, results in the items' order.

        An exception, a signal's too, is raised after the blocks already running have ended; those not yet begun are dropped.
        """
        items = list(items)
        others = min(self.threads, len(items)) - 1
        if others < 1:
            return [function(item) for item in items]
        results: list[Any] = [None] * len(items)
        left = iter(range(len(items)))  # next() on it is atomic

        def drop() -> None:
            """After an exception nothing is left to the others."""
            collections.deque(left, maxlen=0)

        def work() -> None:
            try:
                for place in left:
                    results[place] = function(items[place])
            finally:
                drop()

        while self._running < others:
            self._running += 1
            _thread.start_new_thread(_serve, (self._shares,))
        shares = [_Share(work) for _ in range(others)]
        try:
            for share in shares:
                self._shares.put(share)
            work()
        finally:
            drop()
            for share in shares:
                share.finish()
        for share in shares:
            if share.error is not None:
                raise share.error
        return results

    def run(self, jobs: Iterable[Callable[[], None]]) -> None:
        """Call some functions, which must not touch one another's results."""
        self.map(_call, jobs)

    def close(self) -> None:
        """End the threads."""
        self._shares.put(None)
        self._running = 0

    __del__ = close


def _call(job: Callable[[], None]) -> None:
    job()


@one_blas_thread()
def map_blocks(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """:meth:`Workers.map` on up to ``threads`` threads of its own, each with a BLAS on one thread."""
    items = list(items)
    workers = Workers(min(threads, len(items)))
    try:
        return workers.map(function, items)
    finally:
        workers.close()
