"""Counts files: how often words stand near each other, a sparse matrix with its words in one ``.npz``.

Arrays: ``data indices indptr shape format`` are a matrix in compressed rows, cell (i, j) for word j in the window of word i, as
SciPy reads it: ``scipy.sparse.load_npz("counts.npz")``. (``format`` may be missing: files of earlier versions have none.)
``words``: uint8, the words in UTF-8, a line feed after each. ``counts``: int64, how often each word occurs. ``meta``: uint8, JSON
text with all parameters of the run and its inputs. Data are int32 or int64, or float32 where distances are weighted. Within a row
columns rise; no cell is zero. Nothing is pickled; equal counts give equal bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wordkit import __version__
from wordkit.checks import array_of, require
from wordkit.errors import DataError
from wordkit.formats.npz import (
    COUNTS_FILE,
    COUNTS_FIRST,
    Archive,
    check_description,
    first_member,
    open_archive,
    pack_words,
    unpack_words,
    write_archive,
)
from wordkit.formats.opening import Input, opened

if TYPE_CHECKING:  # is_counts() is asked of every file that info shows, and needs none of it
    import scipy.sparse

FORMAT, FORMAT_VERSION = "wordkit-counts", 1
_SCIPY_FORMAT = np.array(b"csr")
_TYPES = (np.int32, np.int64, np.float32, np.float64)
_EXPECTED = "the -o of wordkit cooccur"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts:
    """Co-occurrence counts of V words.

    Attributes:
        matrix: scipy.sparse.csr_array (V, V); cell (i, j) tells how often word j stands in the window of word i.
        words: V distinct words, by falling count. counts: (V,) int64, how often each occurs.
        meta: how they were counted: JSON values, among them ``window``, ``context``, ``distance_weighting``, ``tokens``,
            ``inputs``.
    """

    matrix: scipy.sparse.csr_array
    words: list[str]
    counts: np.ndarray
    meta: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        cells, tokens = self.matrix.nnz, int(self.counts.sum())
        return f"Counts({len(self.words)} words, {cells} cells of {self.matrix.dtype}, {tokens} tokens)"

    def __post_init__(self) -> None:
        size = len(self.words)
        if self.matrix.shape != (size, size) or self.counts.shape != (size,):
            raise ValueError(f"{size} words, a matrix {self.matrix.shape} and counts {self.counts.shape}")


def write_counts(path: str | os.PathLike[str], counts: Counts) -> None:
    """Write a counts file, whole or not at all.

    Raises:
        WordkitError: it cannot be written.
        ValueError: a word that holds a line feed, a matrix that is no such table (negative cells, NaN).
    """
    matrix = counts.matrix
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    fixed = {"format": FORMAT, "format_version": FORMAT_VERSION, "wordkit_version": __version__}
    text = json.dumps({**fixed, **counts.meta}, ensure_ascii=False, indent=1, allow_nan=False)
    arrays = {
        COUNTS_FIRST: matrix.data,
        "indices": matrix.indices.astype(np.int32, copy=False),
        "indptr": matrix.indptr.astype(np.int64, copy=False),
        "shape": np.array(matrix.shape, dtype=np.int64),
        "format": _SCIPY_FORMAT,
        "words": pack_words(counts.words),
        "counts": counts.counts.astype(np.int64, copy=False),
        "meta": np.frombuffer(text.encode("utf-8", "surrogateescape"), dtype=np.uint8),
    }
    _checked(arrays)
    write_archive(path, arrays.items())


def read_counts(path: str | os.PathLike[str] | Input) -> Counts:
    """Read a counts file.

    Raises:
        DataError: not a counts file, or a damaged one.
        WordkitError: written in a newer format than this version reads.
    """
    import scipy.sparse

    with open_archive(path, COUNTS_FILE, _EXPECTED) as (name, archive):
        meta = _meta(name, archive)
        arrays = {key: archive[key] for key in archive.names if key != "meta"}
        try:
            words = _checked(arrays)
        except ValueError as error:
            raise DataError(name, None, f"the counts are damaged: {error}") from None
        matrix = scipy.sparse.csr_array(
            (arrays[COUNTS_FIRST], arrays["indices"], arrays["indptr"]), shape=(len(words), len(words))
        )
        matrix.has_canonical_format = True  # columns rise; SciPy need not look again
        return Counts(matrix, words, arrays["counts"], meta)


def is_counts(path: str | os.PathLike[str] | Input) -> bool:
    """Whether a file is a counts file rather than text or another archive, by its first bytes.

    An open input stays as it is, to be read from its start: so also for standard input, which a path cannot name twice.
    """
    with opened(path) as source:
        return first_member(source) == COUNTS_FIRST


def describe_counts(source: Input) -> dict[str, Any]:
    """What a counts file says of itself: ``kind``, its parameters and inputs, ``words``, ``cells``; no cell is read.

    Raises:
        DataError: as :func:`read_counts`.
    """
    with open_archive(source, COUNTS_FILE, _EXPECTED) as (name, archive):
        meta = _meta(name, archive)
        member, shape, _, dtype = archive.open(COUNTS_FIRST)
        member.close()
        words = unpack_words(archive["words"])
        return {"kind": "counts", **meta, "words": len(words), "cells": shape[0], "type": dtype.name}


def _meta(name: str, archive: Archive) -> dict[str, Any]:
    text = array_of({"meta": archive["meta"]}, "meta", np.uint8, (None,)).tobytes()
    meta = json.loads(text.decode("utf-8", "surrogateescape"))
    return check_description(name, meta, "counts", FORMAT, FORMAT_VERSION)


def _checked(arrays: Mapping[str, np.ndarray]) -> list[str]:
    """The words of arrays that fit each other; ValueError for others."""
    words = unpack_words(array_of(arrays, "words", np.uint8, (None,)))
    size = len(words)
    require(len(set(words)) == size, "words are doubled")
    require(
        array_of(arrays, "shape", np.int64, (2,)).tolist() == [size, size], "shape is not that of the words"
    )
    require(bool((array_of(arrays, "counts", np.int64, (size,)) >= 0).all()), "counts are negative")
    kind = arrays.get("format", _SCIPY_FORMAT)
    require(kind.dtype.kind == "S" and kind.shape == () and kind.item() == b"csr", "format is not csr")
    require(COUNTS_FIRST in arrays and arrays[COUNTS_FIRST].dtype in _TYPES, "data are no counts")
    data = array_of(arrays, COUNTS_FIRST, arrays[COUNTS_FIRST].dtype.type, (None,))
    indices = array_of(arrays, "indices", np.int32, data.shape)
    indptr = array_of(arrays, "indptr", np.int64, (size + 1,))
    require(indptr[0] == 0 and indptr[-1] == len(data), "indptr does not span the cells")
    require(bool((np.diff(indptr) >= 0).all()), "indptr falls")
    if len(data):
        require(min(indices.min(), size - 1 - indices.max()) >= 0, "a column lies outside the matrix")
        rises = indices[1:] > indices[:-1]
        starts = indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(data))] - 1] = True  # a new row begins anywhere
        require(bool(rises.all()), "columns do not rise")
        low, high = data.min(), data.max()  # NaN where there is one
        require(bool(0 < low <= high < np.inf), "a cell is not a positive number")
    return words
