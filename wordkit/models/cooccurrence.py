"""Co-occurrence counts of the words of a text: how often each stands within a window around each other one.

Text is read once and kept as numbers on disk; it is counted in parts that memory holds, and the parts' tables, on disk too, are
summed. Counts are whole numbers all the way. A harmonic weight 1 / distance is counted as a whole multiple of 1 / L, L being the
least common multiple of the distances (for windows over 22, of 1 / 2^28, rounded), and divided at the end. So neither the number
of threads nor the parts change a bit of the result.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.errors import Interrupted, WordkitError, told_of
from wordkit.formats.counts import Counts
from wordkit.formats.opening import Input, names_of
from wordkit.models.cell_store import CellStore
from wordkit.models.row_counting import Rows, rows_of_stream, rows_of_tables
from wordkit.models.text_corpus import TextCorpus, read_text_corpus
from wordkit.models.word_choice import WordChoice, choose_words
from wordkit.monitor import Monitor
from wordkit.parallel import Workers
from wordkit.tally import Tally

DEFAULT_MEMORY = 4 << 30
MAX_WINDOW = 10_000
CONTEXTS = ("both", "left", "right")
WEIGHTINGS = ("none", "harmonic")
_LARGEST_LCM_WINDOW, _FIXED_POINT = 22, 1 << 28
_BYTES_A_TOKEN = 8  # of a part: its number and its place
_SMALLEST_PART = 1 << 8


def window_weights(
    window: int, context: str = "both", distance_weighting: str = "none"
) -> tuple[np.ndarray, np.ndarray, int]:
    """Whole weights of the words 1, 2, ..., ``window`` places before and after, and the unit that they are multiples of.

    Plain counts have int32 weights 1 and unit 1; harmonic ones int64 weights round(unit / distance).
    """
    if distance_weighting == "none":
        unit, weights = 1, np.ones(window, dtype=np.int32)
    else:
        exact = window <= _LARGEST_LCM_WINDOW
        unit = math.lcm(*range(1, window + 1)) if exact else _FIXED_POINT
        weights = np.array([(2 * unit + d) // (2 * d) for d in range(1, window + 1)], dtype=np.int64)
    none = weights[:0]
    return (none if context == "right" else weights), (none if context == "left" else weights), unit


def count_cooccurrences(
    sources: Iterable[str | os.PathLike[str] | Input],
    *,
    window: int = 5,
    min_count: int = 10,
    memory: int = DEFAULT_MEMORY,
    distance_weighting: str = "none",
    context: str = "both",
    rare_token: bool = True,
    number_token: bool = True,
    lowercase: bool = False,
    max_vocab: int | None = None,
    threads: int = 1,
    tally: Tally | None = None,
    monitor: Monitor | None = None,
    tell: Callable[[str], None] | None = None,
    cache_folder: str | os.PathLike[str] | None = None,
) -> Counts:
    """Count which words of a text stand near each other.

    Args:
        sources: inputs one after the other, ``-`` for standard input; text, a sentence or document a line.
        window: words that are at most so many places apart stand near each other; a window never crosses the end of a line.
        min_count: rarer words are counted as ``#rare#``.
        memory: bytes that text and counts may take in memory while counting; what goes beyond is kept in temporary files, which
            the matrix returned is then mapped from. Words, and a number a word and thread, come in addition.
        distance_weighting: ``none``: each pair counts 1; ``harmonic``: 1 / distance.
        context: ``both``, or only words to the ``left`` or to the ``right`` of a word; a cell's row is the word, its column
            the one beside it.
        rare_token: without it words under ``min_count`` and ``max_vocab`` are not counted. They keep their places: the words
            around them come no nearer to each other.
        number_token: numbers are counted as ``#number#``; see :mod:`wordkit.models.word_choice` for what a number is.
        lowercase: fold case.
        max_vocab: exactly so many of the most frequent words are kept, ties by first occurrence, ``#rare#`` aside.
        threads: the result does not depend on it.
        tally: what is done with bad lines; raised by default.
        monitor: is told of progress; asked to stop, the counting raises Interrupted.
        tell: is called with lines for the user: what was cut, how large the result may be.
        cache_folder: where temporary files are made.

    Raises:
        DataError, WordkitError: inputs that cannot be read, hold no token, or no word that is frequent enough; a full disk.
        Interrupted: the monitor asked to stop.
        ValueError: parameters out of range.
    """
    _check(window, min_count, memory, distance_weighting, context, max_vocab, threads)
    tell = tell or (lambda line: None)
    sources = list(sources)
    names = names_of(sources)
    corpus = read_text_corpus(sources, lowercase=lowercase, tally=tally, cache_folder=cache_folder)
    with told_of(names):
        choice = choose_words(
            corpus.names, corpus.counts, min_count=min_count, max_vocab=max_vocab, rare_token=rare_token,
            number_token=number_token,
        )  # fmt: skip
    corpus.names = []  # large, and told apart by number now
    for note in choice.notes:
        tell(note)
    counting = _Counting(choice, window, context, distance_weighting, memory, cache_folder)
    tell(counting.estimate())
    workers = Workers(threads)
    try:
        matrix = counting.run(corpus, workers, monitor or Monitor())
    finally:
        workers.close()
    meta: dict[str, Any] = {
        "window": window, "context": context, "distance_weighting": distance_weighting, "min_count": min_count,
        "max_vocab": max_vocab, "rare_token": rare_token, "number_token": number_token, "lowercase": lowercase,
        "tokens": corpus.n_tokens, "inputs": corpus.inputs,
    }  # fmt: skip
    return Counts(matrix, choice.words, choice.counts, meta)


def _check(
    window: int,
    min_count: int,
    memory: int,
    weighting: str,
    context: str,
    max_vocab: int | None,
    threads: int,
) -> None:
    for name, value, most in (
        ("window", window, MAX_WINDOW), ("min_count", min_count, None), ("memory", memory, None),
        ("max_vocab", 1 if max_vocab is None else max_vocab, None), ("threads", threads, None),
    ):  # fmt: skip
        if value < 1 or (most is not None and value > most):
            raise ValueError(
                f"{name} is {value}, expected at least 1" + (f", at most {most}" if most else "")
            )
    for name, chosen, allowed in (
        ("distance_weighting", weighting, WEIGHTINGS),
        ("context", context, CONTEXTS),
    ):
        if chosen not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {chosen!r}")


class _Counting:
    """One run: from numbers on disk to a matrix."""

    def __init__(
        self,
        choice: WordChoice,
        window: int,
        context: str,
        distance_weighting: str,
        memory: int,
        folder: str | os.PathLike[str] | None,
    ) -> None:
        self.choice, self.window, self.memory, self.folder = choice, window, memory, folder
        self.size = len(choice.words)
        self.before, self.after, self.unit = window_weights(window, context, distance_weighting)
        self.reach = len(self.before) + len(self.after)
        # A cell is at most what all windows around its word give.
        most = int(self.before.sum() + self.after.sum()) * int(choice.counts.max())
        if most >= 2**63:
            raise WordkitError(
                f"a window of {window} over so many tokens passes what can be counted; lower --window"
            )
        self.harmonic = distance_weighting == "harmonic"
        self.dtype: type = np.float32 if self.harmonic else np.int32 if most < 2**31 else np.int64

    def estimate(self) -> str:
        """A line on the size of the result."""
        cells = int(np.minimum(self.choice.counts * self.reach, self.size).sum())
        size = cells * (4 + np.dtype(self.dtype).itemsize)
        where = (
            "in memory"
            if size <= self.memory // 2
            else f"beyond {_in_units(self.memory // 2)} in temporary files"
        )
        return f"a matrix of {self.size} words, at most {cells} cells ({_in_units(size)}), {where}"

    def run(self, corpus: TextCorpus, workers: Workers, monitor: Monitor) -> scipy.sparse.csr_array:
        # Half the memory for a part of the text, half for the cells; an int32 must hold the cells of a part.
        part = max(
            min(self.memory // 2 // _BYTES_A_TOKEN, (2**31 - 1) // max(self.reach, 2) - 1), _SMALLEST_PART
        )
        bounds = [*range(0, len(corpus), part), len(corpus)]
        result = CellStore(self.dtype, self.memory // 2, self.folder)
        monitor.begin(len(corpus), "tokens")
        if len(bounds) == 2:
            self._fill(result, self._part(corpus, 0, len(corpus), workers), monitor, len(corpus))
        else:
            tables = []
            for lo, hi in itertools.pairwise(bounds):
                table = CellStore(self.before.dtype.type, 0, self.folder)
                self._fill(table, self._part(corpus, lo, hi, workers), monitor, hi - lo)
                tables.append(table)
            total = sum(map(len, tables))
            monitor.begin(total, "cells")
            self._fill(result, rows_of_tables(tables, self.size, workers), monitor, total)
        indptr = result.starts()
        columns, values = result.arrays()
        matrix = scipy.sparse.csr_array((values, columns, indptr), shape=(self.size, self.size))
        matrix.has_canonical_format = True
        return matrix

    def _part(self, corpus: TextCorpus, lo: int, hi: int, workers: Workers) -> Iterable[Rows]:
        """Rows around the words from ``lo`` to ``hi``, whose windows may reach beyond."""
        start, stop = max(lo - self.window, 0), min(hi + self.window, len(corpus))
        stream = corpus.numbered(self.choice.number_of, start, stop)
        first = 1 + lo - start
        return rows_of_stream(stream, first, first + hi - lo, self.size, self.before, self.after, workers)

    def _fill(self, store: CellStore, rows: Iterable[Rows], monitor: Monitor, work: int) -> None:
        """Put rows into a store, as they are or, into the last one, as counts; ``work``: what all of them are worth."""
        done = told = 0
        for columns, values, lengths in rows:
            if monitor.stopping:
                raise Interrupted("interrupted while counting")
            if store.dtype != values.dtype:
                values = (values / self.unit if self.harmonic else values).astype(store.dtype)
            store.append(columns, values, lengths)
            done += len(lengths)
            now = work * done // self.size
            monitor.advance(now - told)
            told = now


def _in_units(size: int) -> str:
    """Bytes as people write them."""
    for unit, exponent in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << exponent:
            return f"{size / (1 << exponent):.3g} {unit}"
    return f"{size} bytes"
