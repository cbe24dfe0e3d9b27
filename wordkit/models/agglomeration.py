"""Word classes of high mutual information: greedy merging (Brown et al. 1992) and exchange (Kneser and Ney 1993).

Both raise the average mutual information of the classes of neighbouring words. :func:`brown` takes words by falling count
into a window of C + 1 classes and merges the two that lose least. :func:`exchange` moves one word after the other to its best
class, some times over. :func:`joins` merges classes to one, which gives the bit strings of either.

Counts in the window, its row and column sums too, are those between words taken in so far.

Bits on the Brown corpus (30,349 words): merging 1.31 and 1.63 at 100 and 256 classes; exchange 1.33, 1.35, 1.36 and 1.37 (1.64,
1.65, 1.66, 1.66) after one, two, three and ten sweeps, of which each takes a sixth of the time of merging. Begun with the words
dealt out by rank, three sweeps reach 1.33 (1.61).
"""

from __future__ import annotations

import numpy as np

from wordkit._kernels import brown_exchange, brown_merge
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.bigrams import Bigrams
from wordkit.monitor import Monitor
from wordkit.parallel import memory

_TABLE = 1 << 20  # most entries of x log x; what is looked up lies near a few counts, and stays in the cache
_STEP = 256  # words between two looks at the monitor


def _xlogx(total: int) -> np.ndarray:
    numbers = np.arange(min(total + 2, _TABLE), dtype=np.float64)
    numbers[1:] *= np.log(numbers[1:])
    return numbers


def check_memory(classes: int) -> None:
    """WordkitError if the tables of so many classes cannot fit: the system would kill the run."""
    size = 4 * 8 * classes**2  # counts both ways, losses, and what is summed for them
    if size > memory():
        raise WordkitError(
            f"the tables of {classes} clusters take {size / 2**30:.0f} GiB, more than this machine has; use fewer --clusters"
        )


class _Window:
    """Counts and losses of up to ``size`` classes; see the kernel."""

    def __init__(self, size: int, total: int) -> None:
        check_memory(size)
        self.counts = np.zeros((2, size, size), dtype=np.int64)
        self.loss = np.full((size, size), np.inf)
        self.sums = np.zeros((2, size), dtype=np.int64)
        self.active = np.zeros(size, dtype=np.uint8)
        self.scratch = np.empty(size)
        self.xlogx = _xlogx(total)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.counts, self.loss, self.sums, self.active, self.scratch, self.xlogx


def _stop(monitor: Monitor, done: int, total: int) -> None:
    if monitor.stopping:
        raise Interrupted(f"interrupted after {done} of {total} words")


def brown(bigrams: Bigrams, clusters: int, monitor: Monitor | None = None) -> np.ndarray:
    """Classes (V,) int32, from 0, of words that are numbered by falling count; ``clusters`` of them, or V if that is less."""
    monitor = monitor or Monitor()
    words = bigrams.size
    window = _Window(min(clusters, words) + 1, bigrams.total)
    member, slot = np.arange(words, dtype=np.int32), np.full(words, -1, dtype=np.int32)
    holder = np.zeros(len(window.active), dtype=np.int32)
    monitor.begin(words, "words")
    for first in range(0, words, _STEP):
        _stop(monitor, first, words)
        last = min(first + _STEP, words)
        brown_merge.add_words(
            *bigrams.successors, *bigrams.predecessors, first, last, member, slot, holder,
            *window.arrays(),
        )  # fmt: skip
        monitor.advance(last - first)
    while not np.array_equal(member, member[member]):  # a word to the first of its class
        member = member[member]
    return np.unique(member, return_inverse=True)[1].astype(np.int32)


def joins(bigrams: Bigrams, classes: np.ndarray) -> np.ndarray:
    """How classes 0 to C - 1 are merged to one: (C - 1, 2) int32, row k joins two nodes to node C + k."""
    count = int(classes.max(initial=-1)) + 1
    window = _Window(max(count, 1), bigrams.total)
    window.counts[0, :count, :count] = bigrams.class_counts(classes, count)
    window.counts[1] = window.counts[0].T
    window.sums[0] = window.counts[0].sum(axis=1)
    window.sums[1] = window.counts[0].sum(axis=0)
    window.active[:count] = 1
    brown_merge.fill(*window.arrays())
    slots = np.empty((max(count - 1, 0), 2), dtype=np.int32)
    brown_merge.join(*window.arrays(), slots)
    node = np.arange(count, dtype=np.int32)
    pairs = np.empty_like(slots)
    for k, (kept, gone) in enumerate(slots.tolist()):
        pairs[k] = sorted((node[kept], node[gone]))
        node[kept] = count + k
    return pairs


def exchange(
    bigrams: Bigrams, clusters: int, monitor: Monitor | None = None, *, sweeps: int = 2
) -> np.ndarray:
    """Classes (V,) int32 by up to ``sweeps`` sweeps over the words, after they have been dealt out.

    Each of the most frequent words begins a class; the others, by falling count, go to the best for what stands already.
    """
    monitor = monitor or Monitor()
    words, count = bigrams.size, min(clusters, bigrams.size)
    classes = np.full(words, -1, dtype=np.int32)
    classes[:count] = np.arange(count)
    if not count:
        return classes
    check_memory(count)
    counts = np.zeros((2, count, count), dtype=np.int64)
    counts[0] = bigrams.class_counts(classes, count)
    counts[1] = counts[0].T
    sums = np.stack([bigrams.left[:count], bigrams.right[:count]]).astype(np.int64)
    sizes = np.ones(count, dtype=np.int64)
    gain, lists = np.empty(count), np.zeros((2, count), dtype=np.int64)
    xlogx = _xlogx(bigrams.total)
    monitor.begin((1 + sweeps) * words, "words")
    for sweep in range(1 + sweeps):
        moved = 0
        for first in range(0, words, _STEP):
            _stop(monitor, sweep * words + first, (1 + sweeps) * words)
            last = min(first + _STEP, words)
            moved += brown_exchange.sweep(
                *bigrams.successors, *bigrams.predecessors, bigrams.left, bigrams.right, first, last, classes, sizes,
                counts, sums, gain, lists, xlogx,
            )  # fmt: skip
            monitor.advance(last - first)
        if moved <= words // 1000:
            break
    return classes
