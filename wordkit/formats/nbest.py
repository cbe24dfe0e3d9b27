"""n-best lists, ``score qid:N index:value ...`` a line. Counts of their candidates: :mod:`wordkit.formats.nbest_counts`.

A line is a candidate of sentence N; a higher score is better. The lines of a qid stand together, over all inputs; indices start
from 1 in the file and from 0 in memory. Lines that begin with ``#`` and blank lines say nothing.
"""

from __future__ import annotations

import contextlib
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import csr_array

from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import BLOCK_BYTES, Input, open_output, opened
from wordkit.formats.svmlight import MAX_INDEX, SvmlightData, iter_svmlight, write_records
from wordkit.tally import LinesPassedOver, Tally

_RECORD = "score qid:N index:value ..."
MOST_QID = 10**18
MOST_SCORE = 1e100  # beyond it differences and sums would not be finite


@dataclass(repr=False)
class NbestLists:
    """S lists with R candidates in all.

    Attributes:
        qids: int64 (S,), all different.
        starts: int64 (S + 1,): list s has the candidates ``starts[s]`` to ``starts[s + 1]``, at least one.
        scores: float64 (R,), higher is better.
        indptr, indices, values: int64 (R + 1,), int32 (from 0, ascending in a candidate), float32: features as in ``csr_array``.
        lines: int64 (R,), where each candidate stands in its file.
    """

    qids: np.ndarray
    starts: np.ndarray
    scores: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.qids)

    def __repr__(self) -> str:
        return f"NbestLists({len(self)} lists, {len(self.scores)} candidates, {self.n_features} features)"

    @staticmethod
    def of_candidates(qids: Any, scores: Any, rows: Any) -> NbestLists:
        """Lists of what Python has.

        Args:
            qids: (R,) whole numbers, the list of each candidate; those of a list stand together.
            scores: (R,), higher is better. rows: (R, V) features, a SciPy matrix or an array.

        Raises:
            ValueError: see :meth:`check`.
        """
        matrix = csr_array(rows, dtype=np.float32)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        own = np.asarray(qids, dtype=np.int64)
        firsts = np.flatnonzero(np.diff(own, prepend=own[:1] - 1)) if len(own) else np.empty(0, np.int64)
        lists = NbestLists(
            own[firsts],
            np.append(firsts, len(own)).astype(np.int64),
            np.asarray(scores, dtype=np.float64),
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32),
            matrix.data,
            np.arange(1, len(own) + 1),
        )
        lists.check()
        return lists

    def check(self) -> None:
        """ValueError for arrays that are not as the attributes are described."""
        starts, indptr = self.starts, self.indptr
        ends = [(starts, len(self.qids), len(self.scores)), (indptr, len(self.scores), len(self.indices))]
        for own, size, last in ends:
            if own.shape != (size + 1,) or own[0] != 0 or own[-1] != last or (np.diff(own) < 0).any():
                raise ValueError("starts or indptr do not fit the lists, candidates and features")
        if len(self.values) != len(self.indices) or (np.diff(starts) < 1).any():
            raise ValueError("values do not fit the indices, or a list has no candidate")
        if len(np.unique(self.qids)) < len(self.qids):
            raise ValueError("a qid comes twice: candidates of a list stand together")
        if self.indices.min(initial=0) < 0:
            raise ValueError("an index is negative")
        if not ((np.abs(self.scores) <= MOST_SCORE).all() and np.isfinite(self.values).all()):
            raise ValueError(f"a value is not finite, or a score is not, or is beyond {MOST_SCORE:g}")

    @property
    def n_features(self) -> int:
        """The greatest index plus one."""
        return int(self.indices.max(initial=-1)) + 1

    def candidate_qids(self) -> np.ndarray:
        """int64 (R,): the qid of each candidate."""
        return np.repeat(self.qids, np.diff(self.starts))

    def rows(self, n_features: int | None = None) -> csr_array:
        """The features as a sparse matrix of candidates x ``n_features``, the values not copied."""
        shape = (len(self.scores), self.n_features if n_features is None else n_features)
        return csr_array((self.values, self.indices, self.indptr), shape=shape, copy=False)

    def part(self, first: int, last: int) -> NbestLists:
        """Lists ``first`` to ``last``; nothing is copied but the ends."""
        begin, end = int(self.starts[first]), int(self.starts[last])
        at, to = int(self.indptr[begin]), int(self.indptr[end])
        return NbestLists(
            self.qids[first:last],
            self.starts[first : last + 1] - begin,
            self.scores[begin:end],
            self.indptr[begin : end + 1] - at,
            self.indices[at:to],
            self.values[at:to],
            self.lines[begin:end],
        )

    @staticmethod
    def join(parts: Iterable[NbestLists]) -> NbestLists:
        """The parts one after the other."""
        parts = list(parts)
        return NbestLists(
            _joined([part.qids for part in parts], np.int64),
            joined_ends([part.starts for part in parts]),
            _joined([part.scores for part in parts], np.float64),
            joined_ends([part.indptr for part in parts]),
            _joined([part.indices for part in parts], np.int32),
            _joined([part.values for part in parts], np.float32),
            _joined([part.lines for part in parts], np.int64),
        )


def _joined(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *arrays])


def joined_ends(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Running ends of several parts, each of which begins with 0, as those of the whole."""
    before = np.cumsum([0, *(ends[-1] for ends in arrays)])
    shifted = [ends[1:] + shift for ends, shift in zip(arrays, before[:-1], strict=True)]
    return _joined([np.zeros(1, np.int64), *shifted], np.int64)


# --- reading lists ---------------------------------------------------------------------------------------------------


class ListReader:
    """Reads lists from one input or several, which are one sequence: a qid occurs once in all of them.

    Args:
        n_features: greater indices are left out and counted as a warning; None takes all.
        tally: policy and counts of odd records; errors are raised when None.
        block_bytes: text that is parsed at once.

    ``passed_over``: places, from 0 among all candidates of all inputs and ascending, of those that were skipped as invalid; known
    up to the end of the pieces that were handed out, and somewhat further. Counts go by these places.
    """

    def __init__(
        self, *, n_features: int | None = None, tally: Tally | None = None, block_bytes: int = BLOCK_BYTES
    ) -> None:
        self.n_features, self.block_bytes = n_features, block_bytes
        self.tally = Tally() if tally is None else tally
        self.passed_over = array("q")
        self._bad_lines = LinesPassedOver(self.tally)
        self._read = 0  # candidates, those passed over too
        self._seen: set[int] = set()
        self._open: int | None = None  # the qid that the last block ended in
        self._refused = False  # whether that was one which had returned

    def pieces(self, path: str | os.PathLike[str] | Input) -> Iterator[NbestLists]:
        """The lists of an input in pieces of whole lists, about a block of text each; memory does not grow with the file.

        Raises:
            DataError: a line that is no candidate, a score that is no finite number, a qid that returns after others, no
                candidate at all.
        """
        with opened(path) as source:
            held: list[NbestLists] = []  # of the last list, which may go on
            found = False
            records = iter_svmlight(
                source,
                zero_based=False,
                qids=True,
                n_features=self.n_features,
                tally=self._bad_lines,
                block_bytes=self.block_bytes,
                record=_RECORD,
            )
            for block in records:
                piece = self._candidates(source.name, block)
                if not len(piece):
                    continue
                found = True
                if held and piece.qids[0] != held[0].qids[0]:
                    yield _one_list(held)
                    held = []
                if len(piece) > 1:
                    if held:
                        yield _one_list([*held, piece.part(0, 1)])
                        piece = piece.part(1, len(piece))
                        held = []
                    if len(piece) > 1:
                        yield piece.part(0, len(piece) - 1)
                    piece = piece.part(len(piece) - 1, len(piece))
                held.append(piece)
            if held:
                yield _one_list(held)
            if not found:
                raise DataError(source.name, None, "holds no candidate", _RECORD)
            self._open = None

    def _candidates(self, name: str, block: SvmlightData) -> NbestLists:
        """The records of a block as lists, the last one perhaps cut."""
        assert block.qids is not None
        qids = block.qids
        scores = _scores(block.labels)
        good = np.isfinite(scores)
        for row in np.flatnonzero(~good).tolist():
            found = f"score `{block.labels[row]}` is {_what_is_wrong(block.labels[row])}"
            self.tally.invalid(DataError(name, int(block.lines[row]), found), "n-best line")
        firsts = np.flatnonzero(np.diff(qids, prepend=-1) != 0) if len(qids) else np.empty(0, np.int64)
        for first, qid in zip(firsts.tolist(), qids[firsts].tolist(), strict=True):
            if qid != self._open:
                self._refused = qid in self._seen
                self._seen.add(qid)
                self._open = qid
            if self._refused:
                fault = DataError(
                    name, int(block.lines[first]), f"qid {qid} again", "its lines one after the other"
                )
                self.tally.invalid(fault, "n-best list")
                good[first : _run_end(qids, first)] = False
        self._note_places(block.lines, good)
        if not good.all():
            return _grouped(_some(block, good), qids[good], scores[good])
        return _grouped(block, qids, scores)

    def _note_places(self, lines: np.ndarray, good: np.ndarray) -> None:
        """Count a block's candidates, records and lines that are none, and note the places of those passed over."""
        bad = np.unique(np.array(self._bad_lines.take(), np.int64))
        if len(bad) or not good.all():
            every = np.concatenate([lines, bad])
            kept = np.concatenate([good, np.zeros(len(bad), bool)])[np.argsort(every)]
            self.passed_over.extend((self._read + np.flatnonzero(~kept)).tolist())
        self._read += len(lines) + len(bad)


def _run_end(qids: np.ndarray, first: int) -> int:
    others = np.flatnonzero(qids[first:] != qids[first])
    return first + int(others[0]) if len(others) else len(qids)


def _scores(labels: list[str]) -> np.ndarray:
    """Numbers as they are written; NaN for what is none (or infinite)."""
    try:
        if "_" not in "".join(labels):  # float() would take it for a separator of digits
            scores = np.array(labels, dtype=np.float64)
            scores[~(np.abs(scores) <= MOST_SCORE)] = np.nan
            return scores
    except ValueError:
        pass
    return np.array([_score(label) for label in labels])


def _score(label: str) -> float:
    try:
        value = float(label) if "_" not in label else math.nan
    except ValueError:
        return math.nan
    return value if abs(value) <= MOST_SCORE else math.nan


def _what_is_wrong(score: str) -> str:
    with contextlib.suppress(ValueError):
        if "_" not in score and math.isfinite(float(score)):
            return f"too large, expected at most {MOST_SCORE:g}"
    return "not a number"


def _some(block: SvmlightData, keep: np.ndarray) -> SvmlightData:
    """The block without some of its records."""
    rows = block.matrix()[np.flatnonzero(keep)]
    block.data, block.indices, block.indptr = rows.data, rows.indices, rows.indptr
    block.lines = block.lines[keep]
    return block


def _grouped(block: SvmlightData, qids: np.ndarray, scores: np.ndarray) -> NbestLists:
    firsts = np.flatnonzero(np.diff(qids, prepend=-1) != 0)
    return NbestLists(
        qids[firsts],
        np.append(firsts, len(qids)).astype(np.int64),
        scores,
        block.indptr.astype(np.int64, copy=False),
        block.indices.astype(np.int32, copy=False),
        block.data,
        block.lines,
    )


def _one_list(parts: list[NbestLists]) -> NbestLists:
    """Parts of one list, each with the same qid, as that list."""
    whole = NbestLists.join(parts) if len(parts) > 1 else parts[0]
    whole.qids, whole.starts = whole.qids[:1], np.array([0, len(whole.scores)])
    return whole


def iter_lists(
    path: str | os.PathLike[str] | Input, *, n_features: int | None = None, tally: Tally | None = None
) -> Iterator[NbestLists]:
    """The lists of one input in pieces; see :meth:`ListReader.pieces`."""
    return ListReader(n_features=n_features, tally=tally).pieces(path)


def read_lists(
    *paths: str | os.PathLike[str] | Input, n_features: int | None = None, tally: Tally | None = None
) -> NbestLists:
    """All lists of one or several inputs, in memory; arguments and errors as for :class:`ListReader`."""
    reader = ListReader(n_features=n_features, tally=tally)
    return NbestLists.join(piece for path in paths for piece in reader.pieces(path))


# --- writing lists ---------------------------------------------------------------------------------------------------


class ListWriter:
    """Writes lists one by one into an open binary stream; see :func:`list_writer`."""

    def __init__(self, out: BinaryIO, name: str) -> None:
        self._out, self.name = out, name
        self._seen: set[int] = set()

    def add(self, qid: int, scores: Sequence[float] | np.ndarray, rows: Any) -> None:
        """One list: its candidates' scores, and their features as a matrix of candidates x features, column 0 for index 1.

        Raises:
            WordkitError: what could not be read back: a qid written before, a value that is not finite.
            ValueError: numbers of scores and rows that differ, or no candidate.
        """
        matrix = csr_array(rows, dtype=np.float32)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        numbers = np.asarray(scores, dtype=np.float64)
        if numbers.shape != (matrix.shape[0],) or not len(numbers):
            raise ValueError(f"{numbers.shape} scores of a list of {matrix.shape[0]} candidates")
        if not 0 <= qid < MOST_QID or int(qid) in self._seen:
            raise WordkitError(
                f"{self.name}: qid {qid} cannot be written (twice, or outside 0 to {MOST_QID})"
            )
        if not ((np.abs(numbers) <= MOST_SCORE).all() and np.isfinite(matrix.data).all()):
            raise WordkitError(
                f"{self.name}: a number of qid {qid} is not finite, or a score beyond {MOST_SCORE:g}"
            )
        if matrix.indices.size and int(matrix.indices.max()) >= MAX_INDEX:
            raise WordkitError(f"{self.name}: an index of qid {qid} is greater than {MAX_INDEX}")
        self._seen.add(int(qid))
        heads = "".join(f"{number!r} qid:{qid}\n" for number in numbers.tolist())
        write_records(self._out, heads.encode(), matrix, base=1)


def write_header(out: BinaryIO, text: str | None) -> None:
    """Lines of text, each behind a ``#``; none for None."""
    for line in (text or "").splitlines():
        out.write(f"# {line}\n".encode())


@contextlib.contextmanager
def list_writer(path: str | os.PathLike[str], header: str | None = None) -> Iterator[ListWriter]:
    """A writer of lists into a file that appears whole or not at all; compressed by suffix, ``-`` is standard output.

    Args:
        header: text for the first lines, written as comments.
    """
    with open_output(path) as out:
        write_header(out, header)
        yield ListWriter(out, os.fspath(path))


def write_lists(path: str | os.PathLike[str], lists: NbestLists, header: str | None = None) -> None:
    """Write lists, each number as the shortest decimal that reads back as the same one."""
    rows = lists.rows()
    with list_writer(path, header) as writer:
        for s, qid in enumerate(lists.qids.tolist()):
            begin, end = int(lists.starts[s]), int(lists.starts[s + 1])
            writer.add(qid, lists.scores[begin:end], rows[begin:end])
