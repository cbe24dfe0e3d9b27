"""Vector files: word2vec text and binary, GloVe text (no header), wordkit's ``.npz``.

What a file is, is found in its bytes (``vectors_sniff``), its rows are read in blocks by kernels
(``vectors_rows``) and written in blocks (``vectors_write``). Policy, as for every reader: a row that cannot
be used is an error, or with ``skip_invalid`` counted; duplicate words (the first is kept), a header with a
wrong number of rows, and nan or inf are counted, or with ``strict`` errors. Words are separated from their
numbers by one space or tab and may hold both: the last ``dim`` fields are the numbers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import BLOCK_BYTES, Input, compression_of, opened
from wordkit.formats.vectors_map import map_vectors
from wordkit.formats.vectors_rows import Rows, Take, binary_rows, npz_rows, text_rows
from wordkit.formats.vectors_sniff import FORMATS, Kind, sniff
from wordkit.formats.vectors_write import output_format, vector_writer
from wordkit.tally import Tally

__all__ = [
    "FORMATS",
    "describe_vectors",
    "iter_vectors",
    "output_format",
    "read_vectors",
    "vector_writer",
    "write_vectors",
]


def _new_block(rows: int, dim: int) -> np.ndarray:
    return np.empty((rows, dim), dtype=np.float32)


class _Store:
    """The rows kept so far in one growing array, which blocks are read straight into.

    It starts at what the header promises or the file's size allows, whichever is less; untouched memory costs
    nothing.
    """

    def __init__(self, path: str, kind: Kind, wanted: int | None) -> None:
        self.rows = 0
        self.array: np.ndarray | None = None
        bounds = [wanted, kind.announced, _row_bound(path, kind)]
        bound = min((b for b in bounds if b is not None), default=0) if bounds[2] is not None else 0
        self.bound = (
            bound + BLOCK_BYTES // (2 * kind.dim) + 2 if bound and kind.dim else 0
        )  # a last block asks for a bit more

    def take(self, rows: int, dim: int) -> np.ndarray:
        need = self.rows + rows
        if self.array is None:
            self.array = _new_block(max(need, self.bound), dim)
        elif need > len(self.array):
            # refcheck off: views of the old place are those of blocks already done with
            self.array.resize((max(need, len(self.array) + len(self.array) // 8), dim), refcheck=False)
        return self.array[self.rows : need]

    def keep(self, vectors: np.ndarray) -> None:
        """Count the block's rows in; they are copied unless they lie where ``take`` said."""
        assert self.array is not None
        place = self.array[self.rows : self.rows + len(vectors)]
        if len(vectors) and vectors.ctypes.data != place.ctypes.data:
            place[:] = vectors
        self.rows += len(vectors)

    def result(self) -> np.ndarray:
        assert self.array is not None
        self.array.resize((self.rows, self.array.shape[1]), refcheck=False)
        return self.array


def _row_bound(path: str, kind: Kind) -> int | None:
    """The most rows that a plain file of this size can hold; None for pipes and compressed files."""
    if path == "-" or compression_of(path) or not os.path.isfile(path) or not kind.dim:
        return None
    return os.path.getsize(path) // (
        4 * kind.dim + 2 if kind.format == "word2vec-binary" else 2 * kind.dim + 2
    )


class _Words:
    """Which rows to keep: the first of each word, and of those the wanted ones."""

    def __init__(self, name: str, only: Collection[str] | None, tally: Tally) -> None:
        self.name, self.tally = name, tally
        self.only = None if only is None else frozenset(only)
        self.seen: set[str] = set()

    def kept(self, rows: Rows) -> tuple[list[str], np.ndarray]:
        words, vectors = rows.words, rows.vectors
        new = set(words)
        if len(new) == len(words) and self.seen.isdisjoint(new):
            self.seen |= new
        else:
            keep = [row for row, word in enumerate(words) if not self._is_duplicate(rows, row, word)]
            words, vectors = [words[row] for row in keep], vectors[keep]
        if self.only is not None:
            keep = [row for row, word in enumerate(words) if word in self.only]
            words, vectors = [words[row] for row in keep], vectors[keep]
        return words, vectors

    def _is_duplicate(self, rows: Rows, row: int, word: str) -> bool:
        if word not in self.seen:
            self.seen.add(word)
            return False
        what = f"the word {word!r} was there before"
        self.tally.warn("duplicate word", partial(rows.error, self.name, row, what))
        return True


def _skipped(tally: Tally) -> int:
    """Rows that the readers passed over without counting them as read."""
    return tally.counts.get("row with wrong fields skipped", 0)


def _check_count(source: Input, kind: Kind, read: int, limit: int | None, tally: Tally) -> None:
    if kind.announced is not None and read != kind.announced and not (limit is not None and read >= limit):
        what = f"the header announces {kind.announced} rows, {read} read"
        tally.warn("header count", DataError(source.name, 1, what))


def _blocks(
    source: Input,
    kind: Kind,
    take: Take,
    limit: int | None,
    only: Collection[str] | None,
    tally: Tally,
    errors: str,
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Kept words and vectors, block by block, from an input that :func:`sniff` has looked at."""
    read = kept = 0
    skipped_before = _skipped(tally)
    words = _Words(source.name, only, tally)
    if kind.format == "npz":
        blocks = npz_rows(source, take, tally, limit)
    else:
        yield [], take(0, kind.dim)[:0]
        reader = binary_rows if kind.format == "word2vec-binary" else text_rows
        blocks = reader(source, kind, take, tally, errors, limit)
    for rows in blocks:
        yield words.kept(rows)
        read, kept = rows.read, kept + len(rows.words)
    skipped = _skipped(tally) - skipped_before
    promised = read + skipped or kind.announced
    if promised and not kept and limit != 0:
        raise DataError(source.name, None, f"none of its {promised} rows is valid")
    _check_count(source, kind, read + skipped, limit, tally)


def _check_limit(max_rows: int | None) -> None:
    if max_rows is not None and max_rows < 0:
        raise ValueError(f"max_rows is {max_rows}, expected at least 0")


def iter_vectors(
    path: str | os.PathLike[str] | Input,
    *,
    max_rows: int | None = None,
    only_words: Collection[str] | None = None,
    format: str | None = None,
    tally: Tally | None = None,
    errors: str = "strict",
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Blocks ``(words, float32 array of words x dim)`` of a vector file, in file order; at least one, which
    may be empty.

    Arguments and errors as for :func:`read_vectors`; memory is a block's and the words'.
    """
    _check_limit(max_rows)
    own = Tally() if tally is None else tally
    with opened(path) as source:
        kind = sniff(source, format)
        yield from _blocks(source, kind, _new_block, max_rows, only_words, own, errors)
    if tally is None:
        own.emit()


def read_vectors(
    path: str | os.PathLike[str] | Input,
    *,
    max_rows: int | None = None,
    only_words: Collection[str] | None = None,
    format: str | None = None,
    tally: Tally | None = None,
    errors: str = "strict",
    mapped: bool = False,
) -> tuple[list[str], np.ndarray]:
    """Words and vectors of a file in any of FORMATS, compressed or not.

    Args:
        path: file, ``-`` for standard input, or an open input, which stays open.
        max_rows: read the first rows only.
        only_words: keep only these words (memory is that of the rows kept).
        format: one of FORMATS; found in the bytes when None.
        tally: policy and counter for odd rows; when None, bad rows are errors and counts become Python
            warnings.
        errors: what to do with bytes that are not UTF-8: ``strict``, or ``replace`` and the like as in
            ``bytes.decode``.
        mapped: map the array of a plain npz file into memory instead of reading it: it is read-only, and rows with nan or inf
            are not counted. Nothing of the other arguments but ``max_rows`` goes with it.

    Returns:
        words (no word twice) and a float32 array of shape (words, dim).

    Raises:
        DataError: empty, damaged or no vector file; a bad row unless the tally skips them.
    """
    _check_limit(max_rows)
    if mapped:
        words, vectors = map_vectors(path)
        return words[:max_rows], vectors[:max_rows]
    own = Tally() if tally is None else tally
    words = []
    with opened(path) as source:
        kind = sniff(source, format)
        store = _Store(source.path, kind, max_rows if only_words is None else len(only_words))
        take = store.take if only_words is None else _new_block
        for block, vectors in _blocks(source, kind, take, max_rows, only_words, own, errors):
            if only_words is not None:
                store.take(len(block), vectors.shape[1])
            words += block
            store.keep(vectors)
    if tally is None:
        own.emit()
    return words, store.result()


def write_vectors(
    path: str | os.PathLike[str], words: list[str], vectors: np.ndarray, format: str | None = None
) -> None:
    """Write words and their vectors (words x dim, stored as float32), whole or not at all; reading gives the
    same back.

    Args:
        format: one of FORMATS; by suffix when None (``.bin``, ``.npz``, otherwise word2vec text).

    Raises:
        WordkitError: a word twice, or one that the format cannot hold; a file that cannot be written.
        ValueError: shapes that do not fit.
    """
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise ValueError(f"vectors are {vectors.shape}, expected ({len(words)}, dim)")
    if len(set(words)) != len(words):
        twice = next(word for word, count in Counter(words).items() if count > 1)
        raise WordkitError(
            f"{os.fspath(path)}: the word {twice!r} is there twice; a vector file holds each word once"
        )
    step = max(1, BLOCK_BYTES // (4 * max(vectors.shape[1], 1)))
    with vector_writer(path, vectors.shape[1], rows=len(words), format=format) as write:
        for first in range(0, len(words), step):
            write(words[first : first + step], vectors[first : first + step])


def describe_vectors(path: str | os.PathLike[str] | Input, tally: Tally) -> dict[str, str | int]:
    """``format``, ``rows`` and ``dim`` of a vector file, by reading it through; errors as for :func:`read_vectors`."""
    with opened(path) as source:
        kind = sniff(source, None)
        rows = dim = 0
        for words, vectors in _blocks(source, kind, _new_block, None, None, tally, "replace"):
            rows, dim = rows + len(words), vectors.shape[1]
    return {"format": kind.format, "rows": rows, "dim": dim}
