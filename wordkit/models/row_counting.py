"""Rows of co-occurrence counts in blocks, on several threads: of a stream of words, or summed over several tables.

Blocks follow from the counts alone, and cells are sums of whole numbers: any number of threads gives the same cells in the
same order.
"""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from wordkit._kernels import cooccurrence
from wordkit.models.cell_store import CellStore
from wordkit.parallel import Workers

BLOCK_CELLS = 1 << 18  # a block's cells stay in the cache until they are copied out
_BLOCKS_AT_ONCE = 8  # a thread, before the results are taken away

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # columns, values, lengths of the rows


class _Scratch:
    """What a thread needs to count rows of V cells: sums, marks and room for a block's cells."""

    def __init__(self, size: int, dtype: np.dtype, cells: int) -> None:
        self.arrays = (
            np.zeros(size + 1, dtype),
            np.zeros((size >> 6) + 1, np.uint64),
            np.zeros((size >> 12) + 1, np.uint8),
            np.empty(cells, np.int32),
            np.empty(cells, dtype),
        )

    def rows(self, cells: int, lengths: np.ndarray) -> Rows:
        """Copies of what a kernel has written."""
        return self.arrays[3][:cells].copy(), self.arrays[4][:cells].copy(), lengths


def _blocks(rooms: np.ndarray) -> list[tuple[int, int]]:
    """Runs of rows whose rooms sum up to a block at most, or that are one row."""
    ends = np.concatenate([[0], np.cumsum(rooms)])
    bounds = [0]
    while bounds[-1] < len(rooms):
        far = int(np.searchsorted(ends, ends[bounds[-1]] + BLOCK_CELLS, side="right")) - 1
        bounds.append(max(far, bounds[-1] + 1))
    return list(itertools.pairwise(bounds))


def _largest(rooms: np.ndarray, blocks: Sequence[tuple[int, int]]) -> int:
    return max((int(rooms[lo:hi].sum()) for lo, hi in blocks), default=0)


def _in_order(
    count: Callable[[int, int, _Scratch], Rows],
    blocks: Sequence[tuple[int, int]],
    scratch: Callable[[], _Scratch],
    workers: Workers,
) -> Iterator[Rows]:
    """The blocks' rows, as they come; each thread has a scratch of its own."""
    idle: queue.SimpleQueue[_Scratch] = queue.SimpleQueue()
    for _ in range(workers.threads):
        idle.put(scratch())

    def one(block: tuple[int, int]) -> Rows:
        mine = idle.get()
        try:
            return count(*block, mine)
        finally:
            idle.put(mine)

    step = _BLOCKS_AT_ONCE * workers.threads
    for first in range(0, len(blocks), step):
        yield from workers.map(one, blocks[first : first + step])


def rows_of_stream(
    stream: np.ndarray,
    first: int,
    last: int,
    size: int,
    before: np.ndarray,
    after: np.ndarray,
    workers: Workers,
) -> Iterator[Rows]:
    """Counts around the words of ``stream[first:last]``, all rows from 0 to ``size`` - 1, block after block.

    Args:
        stream, before, after: as for the kernel ``cooccurrence.count_rows``, the type of the weights being that of the values.
    """
    starts, places = np.empty(size + 1, np.int64), np.empty(last - first, np.int32)
    cooccurrence.list_places(stream, first, last, size, starts, places)
    rooms = np.minimum(np.diff(starts) * (len(before) + len(after)), size)
    blocks = _blocks(rooms)
    cells = _largest(rooms, blocks)

    def count(lo: int, hi: int, scratch: _Scratch) -> Rows:
        lengths = np.empty(hi - lo, np.int64)
        found = cooccurrence.count_rows(
            stream, places, starts[lo : hi + 1], before, after, *scratch.arrays, lengths
        )
        return scratch.rows(found, lengths)

    return _in_order(count, blocks, lambda: _Scratch(size, before.dtype, cells), workers)


def rows_of_tables(tables: Sequence[CellStore], size: int, workers: Workers) -> Iterator[Rows]:
    """Sums (int64) of the tables, all rows from 0 to ``size`` - 1, block after block; the tables are in files."""
    starts = np.stack([table.starts() for table in tables])
    rooms = np.diff(starts).sum(axis=0)
    blocks = _blocks(rooms)
    cells = _largest(rooms, blocks)

    def count(lo: int, hi: int, scratch: _Scratch) -> Rows:
        parts = [table.read(int(own[lo]), int(own[hi])) for table, own in zip(tables, starts, strict=True)]
        columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        bounds = starts[:, lo : hi + 1] - starts[:, lo : lo + 1]
        bounds += np.concatenate([[0], np.cumsum(bounds[:-1, -1])])[:, None]
        lengths = np.empty(hi - lo, np.int64)
        found = cooccurrence.sum_rows(columns, values, bounds, *scratch.arrays, lengths)
        return scratch.rows(found, lengths)

    return _in_order(count, blocks, lambda: _Scratch(size, np.dtype(np.int64), cells), workers)
