"""What the candidates of n-best lists have right: ``qid matched gold proposed`` a line, for the candidate in the same place.

Lines that begin with ``#`` and blank lines say nothing.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence

import numpy as np

from wordkit.errors import DataError, times
from wordkit.formats.nbest import MOST_QID, write_header
from wordkit.formats.opening import Input, open_output, opened, text_blocks
from wordkit.tally import Tally

_COUNTS = "qid matched gold proposed"


class CandidateCounts:
    """Counts of the candidates of some lists, to be taken in their order.

    Args:
        tally: is told of counts that are passed over with their candidates.

    Attributes:
        qids: int64 (R,). counts: int64 (R, 3), matched, gold and proposed items.

    Raises:
        DataError: a line that is no four whole numbers, more matched than gold or proposed, no line at all; even where invalid
            records are skipped, since its candidate would have no counts.
    """

    def __init__(self, path: str | os.PathLike[str] | Input, *, tally: Tally | None = None) -> None:
        rows, lines = array("q"), array("q")
        with opened(path) as source:
            self.name = source.name
            for first, block in text_blocks(source, Tally()):
                for number, line in enumerate(block.split(b"\n"), first):
                    fields = line.split()
                    if fields and not fields[0].startswith(b"#"):
                        rows.extend(_count_row(source.name, number, fields))
                        lines.append(number)
        if not rows:
            raise DataError(self.name, None, "holds no counts", _COUNTS)
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self.qids, self.counts = table[:, 0], np.ascontiguousarray(table[:, 1:])
        self._tally = Tally(skip_invalid=True) if tally is None else tally
        self._lines, self._taken, self._passed = lines, 0, 0

    def take(self, qids: np.ndarray, passed_over: Sequence[int] = ()) -> np.ndarray:
        """int64 (n, 3): the counts of the next n candidates, whose qids these are.

        Args:
            passed_over: places of candidates that are not among them, though they have counts: those of
                :class:`wordkit.formats.nbest.ListReader` so far.

        Raises:
            DataError: a line is of another qid, at the end of the file too.
        """
        passed = np.array(passed_over[self._passed :], np.int64)
        rows = self._taken + np.arange(len(qids))
        # Before row r of those kept come the passed ones whose place, less that of the passed ones before them, is at most r.
        rows += np.searchsorted(passed - np.arange(len(passed)), rows, side="right")
        own = rows[: np.searchsorted(rows, len(self.qids))]
        other = np.flatnonzero(self.qids[own] != qids[: len(own)])
        if len(other):
            at = int(other[0])
            found, expected = f"counts of qid {self.qids[own[at]]}", f"qid {qids[at]} as in the lists"
            if len(passed_over):
                expected += ", where candidates passed over have counts too"
            raise DataError(self.name, self._lines[own[at]], found, expected)
        if len(own) < len(qids):
            self._missing(int(rows[-1]) + 1, passed_over, " or more")
        if len(rows):
            self._pass_over(passed[: np.searchsorted(passed, rows[-1])])
            self._taken = int(rows[-1]) + 1
        return self.counts[rows]

    def finish(self, passed_over: Sequence[int] = ()) -> None:
        """DataError if counts are left, but for those of the last candidates passed over."""
        rest = np.array(passed_over[self._passed :], np.int64)
        if self._taken + len(rest) != len(self.qids):
            self._missing(self._taken + len(rest), passed_over)
        self._pass_over(rest)

    def _pass_over(self, rows: np.ndarray) -> None:
        for row in rows.tolist():
            fault = DataError(self.name, self._lines[row], "counts of a candidate that was passed over")
            self._tally.invalid(fault, "line of counts")
        self._passed += len(rows)

    def _missing(self, candidates: int, passed_over: Sequence[int], more: str = "") -> None:
        found = f"{times(len(self.qids), 'line')} of counts for {times(candidates, 'candidate')}{more}"
        too = ", one passed over too," if len(passed_over) else ","
        raise DataError(self.name, None, found, f"a line for each candidate of the lists{too} and no others")


def read_counts(
    path: str | os.PathLike[str] | Input,
    qids: np.ndarray | None = None,
    *,
    passed_over: Sequence[int] = (),
    tally: Tally | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """What each candidate has right: qids int64 (R,), and int64 (R, 3) of matched, gold and proposed items.

    Args:
        qids: int64 (R,), of the candidates that the counts belong to (:meth:`NbestLists.candidate_qids`), to be the same.
        passed_over: places, among those and themselves, of candidates whose counts are left out with them
            (``ListReader.passed_over``). tally: is told of them.

    Raises:
        DataError: as of :class:`CandidateCounts`, and another qid or number of lines than the candidates have.
    """
    counts = CandidateCounts(path, tally=tally)
    if qids is None:
        return counts.qids, counts.counts
    candidates = len(qids) + len(passed_over)
    short = len(counts.qids) < candidates
    if short and not len(passed_over) and np.array_equal(counts.qids, qids[: len(counts.qids)]):
        counts._missing(candidates, passed_over)
    own = counts.take(qids, passed_over)
    counts.finish(passed_over)
    return np.asarray(qids, np.int64), own


def _count_row(name: str, line: int, fields: list[bytes]) -> tuple[int, ...]:
    if len(fields) != 4:
        raise DataError(name, line, f"{times(len(fields), 'column')}, 4 expected")
    for field in fields:
        if not field.isdigit() or len(field) > 18:
            raise DataError(name, line, f"`{field[:30].decode('utf-8', 'replace')}` is no count", _COUNTS)
    row = tuple(map(int, fields))
    _, matched, gold, proposed = row
    if matched > min(gold, proposed):
        raise DataError(name, line, f"{matched} matched of {min(gold, proposed)}")
    return row


def write_counts(
    path: str | os.PathLike[str],
    qids: Sequence[int] | np.ndarray,
    counts: Sequence[Sequence[int]] | np.ndarray,
    header: str | None = _COUNTS,
) -> None:
    """Write a line a candidate; arguments as :func:`read_counts` returns them.

    Raises:
        ValueError: numbers of lines that differ, counts that could not be read back.
    """
    table = np.column_stack([np.asarray(qids, np.int64), np.asarray(counts, np.int64).reshape(len(qids), 3)])
    if (table < 0).any() or (table[:, 1] > table[:, 2:].min(axis=1, initial=MOST_QID)).any():
        raise ValueError("counts are negative, or more is matched than there is")
    with open_output(path) as out:
        write_header(out, header)
        for first in range(0, len(table), 4096):
            rows = table[first : first + 4096].tolist()
            out.write("".join(f"{a} {b} {c} {d}\n" for a, b, c, d in rows).encode())
