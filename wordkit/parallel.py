"""The only place that starts workers: threads over kernels that release the GIL.

Work is cut into a number of blocks that does not depend on the thread count, and results come back in block order,
so that one thread and many give the same bits.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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


def map_blocks(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """``[function(item) for item in items]`` on up to ``threads`` threads, results in the items' order.

    The first exception is raised after the blocks already running have ended; those not yet begun are dropped.
    """
    items = list(items)
    if threads <= 1 or len(items) <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise
