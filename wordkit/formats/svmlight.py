"""svmlight files, ``label [qid:N] index:value ... [# comment]`` a line, to compressed sparse rows and back.

Labels are strings, compared as they are written but for one thing: ``+1`` is read as ``1``. So ``0``, ``-1``
and ``1.0`` are three labels. A line whose first field is ``digits:...`` or ``qid:...`` has no label.

Indices may start from 0 or from 1. Which of the two is a property of the training data, decided once: a file
read with ``zero_based=None`` starts from 0 if it holds an index 0, else from 1. Keep ``zero_based`` of the
result with the model and pass it when reading files for that model; stored indices always start from 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import csr_array

from wordkit._kernels import format_floats
from wordkit._kernels import parse_svmlight as kernel
from wordkit.errors import DataError, WordkitError
from wordkit.formats.number_rows import write_rows
from wordkit.formats.opening import BLOCK_BYTES, Input, open_output, opened, text_blocks
from wordkit.tally import Tally

MAX_INDEX = 2**31 - 1
MOST_QID_DIGITS = 18
ROWS_AT_ONCE = 4096  # of a matrix that is written
_RECORD = "label index:value ..."
_PLUS_NUMBER = re.compile(r"^\+(?=[0-9.])")
# A label that would be read as something else: a comment, a feature, several fields, nothing.
_UNFIT_LABEL = re.compile("#|\ufeff|qid:|[0-9]+:|.*[ \t\r\n\0\ud800-\udfff]|$", re.DOTALL)


@dataclass
class SvmlightData:
    """Records as compressed sparse rows.

    Attributes:
        labels: one a record, empty where a record has none.
        qids: int64, or None where the file has none.
        data, indices, indptr: float32, int32 (from 0, ascending in a record) and int64, as in ``csr_array``.
        zero_based: whether indices start from 0 in the file.
        n_features: the greatest stored index plus one, or the width that was asked for.
        lines: int64, the line of each record. covers: all lines that were read for them, blank ones and comments too.
    """

    labels: list[str]
    qids: np.ndarray | None
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    zero_based: bool
    n_features: int
    lines: np.ndarray
    covers: range

    def matrix(self) -> csr_array:
        """The features as a sparse matrix of records x ``n_features``, the values not copied."""
        shape = (len(self.labels), self.n_features)
        return csr_array((self.data, self.indices, self.indptr), shape=shape, copy=False)


class _Buffers:
    """What the kernel fills: made for the largest block seen, used again for each."""

    def __init__(self, size: int, rows: int) -> None:
        places = size // 4 + 1
        self.size, self.rows = size, rows
        self.spans = np.empty((rows, 2), np.int64)
        self.qids, self.lines, self.indptr = (np.empty(rows + extra, np.int64) for extra in (0, 0, 1))
        self.indices, self.values = np.empty(places, np.int32), np.empty(places, np.float32)
        self.undecided, self.scratch = np.empty((places, 3), np.int64), np.empty(places, np.uint64)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """In the order of the kernel's arguments."""
        rows = (self.spans, self.qids, self.lines, self.indptr)
        return (*rows, self.indices, self.values, self.undecided, self.scratch)


def _fault(name: str, state: np.ndarray, status: int, block: bytes, base: int, record: str) -> DataError:
    """What to say of the line that the kernel has just refused."""
    start = int(state[kernel.FIELD])
    field = re.split(rb"[ \t\r\n]", block[start : start + 60], maxsplit=1)[0].decode("utf-8", "replace")
    index, _, value = field.partition(":")
    if status == kernel.BAD_VALUE and re.fullmatch(r"[+-]?(nan|inf|infinity)", value, re.IGNORECASE):
        status = kernel.NOT_FINITE
    found, expected = {
        kernel.NO_LABEL: ("no label", record),
        kernel.BAD_FIELD: (f"field `{field}`", "index:value with an index of digits"),
        kernel.BAD_VALUE: (f"field `{field}`: `{value}` is not a number", "index:value"),
        kernel.NOT_FINITE: (f"field `{field}`: not a finite float32 number", None),
        kernel.TOO_LARGE: (f"index {index} is too large", f"at most {MAX_INDEX}"),
        kernel.BELOW_BASE: (f"index {index}", f"indices from {base}, as in the training data"),
        kernel.TWICE: (f"index {state[kernel.INDEX]} twice", "each index once a record"),
        kernel.QID_MISSING: ("no qid", "a qid in every record, as in those before"),
        kernel.QID_UNEXPECTED: ("a qid", "none, as in the records before"),
    }[status]
    if status == kernel.BAD_FIELD and field.startswith("qid:"):
        expected = f"qid:N behind the label, N a whole number of at most {MOST_QID_DIGITS} digits"
    elif status == kernel.QID_MISSING and record != _RECORD:  # the first record may lack it as well
        expected = record
    return DataError(name, int(state[kernel.LINE]) - 1, found, expected)


def _parse(
    name: str, block: bytes, state: np.ndarray, base: int, labelled: bool, tally: Tally, buffers: _Buffers, record: str
) -> None:  # fmt: skip
    """Run the kernel over a block, telling the tally of every line at fault."""
    arrays = buffers.arrays()
    while status := kernel.parse_lines(block, state, base, labelled, *arrays):
        tally.invalid(_fault(name, state, status, block, base, record), "svmlight line")
    for place, start, end in buffers.undecided[: state[kernel.UNDECIDED]]:
        buffers.values[place] = float(block[start:end])


class _Labels(dict[bytes, str]):
    """Bytes of a label to its string, made once, so that equal labels are one object."""

    def __missing__(self, text: bytes) -> str:
        self[text] = label = _PLUS_NUMBER.sub("", text.decode("utf-8"))
        return label


def _labels(block: bytes, spans: np.ndarray) -> list[str]:
    known = _Labels()  # for one block: where labels are scores, nearly all differ
    return [known[block[start:end]] for start, end in zip(*spans.T.tolist(), strict=True)]


def _within(piece: SvmlightData, width: int, name: str, tally: Tally) -> SvmlightData:
    """The piece without the features that a model of ``width`` features does not know."""
    piece.n_features = width
    unknown = piece.indices >= width
    count = int(np.count_nonzero(unknown))
    if count:
        at = int(unknown.argmax())
        line = int(piece.lines[np.searchsorted(piece.indptr, at, side="right") - 1])
        index = int(piece.indices[at]) + (not piece.zero_based)
        error = DataError(name, line, f"index {index} is not among the model's {width} features")
        tally.warn("unknown feature ignored", error, count)
        piece.indptr = np.concatenate([[0], np.cumsum(~unknown)])[piece.indptr]
        piece.indices, piece.data = piece.indices[~unknown], piece.data[~unknown]
    return piece


def iter_svmlight(
    path: str | os.PathLike[str] | Input,
    *,
    zero_based: bool,
    n_features: int | None = None,
    labelled: bool = True,
    qids: bool | None = None,
    tally: Tally | None = None,
    block_bytes: int = BLOCK_BYTES,
    record: str = _RECORD,
) -> Iterator[SvmlightData]:
    """Read in pieces of about ``block_bytes`` of text, some of which may have no record; memory does not grow with the file.

    Args:
        path: a path, ``-``, or an open :class:`Input`.
        zero_based: where indices start; an index below that is an invalid record.
        n_features: the model's width: greater indices are left out and counted as a warning. None takes all.
        labelled: a record without a label is an invalid record; False gives it the empty label.
        qids: whether each record has a qid; None goes by the first one.
        tally: policy and counts of odd records; errors are raised when None.
        record: what a line should look like, for messages.

    Raises:
        DataError: an invalid record, no record at all (where they are ``labelled``), a file that is no text.
    """
    tally = tally or Tally()
    base = 0 if zero_based else 1
    buffers = _Buffers(0, 0)
    state = np.zeros(kernel.STATE_SIZE, np.int64)
    state[kernel.QID] = -1 if qids is None else qids
    total = 0
    with opened(path) as source:
        for line, block in text_blocks(source, tally, block_bytes):
            if not block.endswith(b"\n"):
                block += b"\n"
            rows = block.count(b"\n")
            if len(block) > buffers.size or rows > buffers.rows:
                buffers = _Buffers(max(len(block), buffers.size), max(rows, buffers.rows))
            state[[kernel.AT, kernel.ROWS, kernel.FILLED, kernel.UNDECIDED]] = 0
            state[kernel.LINE] = line
            _parse(source.name, block, state, base, labelled, tally, buffers, record)
            rows, filled = int(state[kernel.ROWS]), int(state[kernel.FILLED])
            total += rows
            indices = buffers.indices[:filled].copy()
            piece = SvmlightData(
                labels=_labels(block, buffers.spans[:rows]),
                qids=buffers.qids[:rows].copy() if state[kernel.QID] else None,
                data=buffers.values[:filled].copy(),
                indices=indices,
                indptr=buffers.indptr[: rows + 1].copy(),
                zero_based=zero_based,
                n_features=int(indices.max()) + 1 if filled else 0,
                lines=buffers.lines[:rows].copy(),
                covers=range(line, line + block.count(b"\n")),
            )
            yield piece if n_features is None else _within(piece, n_features, source.name, tally)
        if total == 0 and labelled:
            raise DataError(source.name, None, "holds no record", record)


def read_svmlight(
    path: str | os.PathLike[str] | Input,
    *,
    zero_based: bool | None = None,
    n_features: int | None = None,
    labelled: bool = True,
    tally: Tally | None = None,
) -> SvmlightData:
    """Read a whole file; arguments and errors as for :func:`iter_svmlight`.

    A file without any record is a DataError.

    Args:
        zero_based: None, for training data, decides by the file: from 0 if an index 0 occurs, else from 1.
    """
    if zero_based is None and n_features is not None:
        raise ValueError("n_features comes from a model, which knows zero_based too")
    first = True if zero_based is None else zero_based
    with opened(path) as source:
        everything = iter_svmlight(
            source, zero_based=first, n_features=n_features, labelled=labelled, tally=tally
        )
        pieces = [piece for piece in everything if piece.labels]
        if not pieces:
            raise DataError(source.name, None, "holds no record", _RECORD)
    filled = np.cumsum([0] + [len(piece.data) for piece in pieces])
    ends = (piece.indptr[1:] + before for piece, before in zip(pieces, filled[:-1], strict=True))
    width = max(piece.n_features for piece in pieces)
    whole = SvmlightData(
        labels=[label for piece in pieces for label in piece.labels],
        qids=None if pieces[0].qids is None else np.concatenate([piece.qids for piece in pieces]),
        data=np.concatenate([piece.data for piece in pieces]),
        indices=np.concatenate([piece.indices for piece in pieces]),
        indptr=np.concatenate([[0], *ends]),
        zero_based=first,
        n_features=width,
        lines=np.concatenate([piece.lines for piece in pieces]),
        covers=range(1, pieces[-1].covers.stop),
    )
    if zero_based is None and not (whole.indices.size and whole.indices.min() == 0):
        whole.indices -= 1
        whole.zero_based, whole.n_features = False, max(width - 1, 0)
    return whole


def write_records(out: BinaryIO, heads: bytes, matrix: csr_array, base: int) -> None:
    """Write the rows of a canonical float32 matrix, whose columns count from ``base`` in the file; ``heads``: what each line
    begins with, a line feed after each."""
    values, indices = matrix.data, matrix.indices.astype(np.int32)
    indptr = matrix.indptr.astype(np.int64)

    def fill(row: int, at: int, buffer: np.ndarray) -> tuple[int, int, int]:
        return format_floats.format_features(values, indices, indptr, base, row, heads, at, buffer)

    def by_python(row: int) -> bytes:
        places = range(indptr[row], indptr[row + 1])
        return "".join(f" {indices[k] + base}:{str(values[k]).removesuffix('.0')}" for k in places).encode()

    longest = int(np.diff(indptr).max(initial=0)) * format_floats.LONGEST_FEATURE
    write_rows(out, heads, matrix.shape[0], longest, fill, by_python)


def write_svmlight(
    path: str | os.PathLike[str],
    labels: Sequence[str],
    X: Any,
    *,
    qids: Sequence[int] | np.ndarray | None = None,
    zero_based: bool = False,
) -> None:
    """Write records, values as the shortest decimals that read back as the same float32.

    Args:
        labels: one a row. ``+1`` will be read back as ``1``.
        X: sparse or dense matrix of rows x features.
        qids: not negative, one a row.
        zero_based: whether indices start from 0 in the file.

    Raises:
        WordkitError: a label, a qid or a value that could not be read back.
    """
    matrix = csr_array(X, dtype=np.float32)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if len(labels) != matrix.shape[0] or (qids is not None and len(qids) != matrix.shape[0]):
        raise ValueError(f"{matrix.shape[0]} rows need as many labels and qids")
    bad = next((label for label in labels if _UNFIT_LABEL.match(label)), None)
    if bad is not None:
        raise WordkitError(f"{os.fspath(path)}: label {bad!r} cannot be stored in an svmlight file")
    if qids is not None and len(qids) and not 0 <= min(qids) <= max(qids) < 10**18:
        raise WordkitError(f"{os.fspath(path)}: a qid must be between 0 and 10**18")
    if not np.isfinite(matrix.data).all():
        raise WordkitError(f"{os.fspath(path)}: a value is not finite, which svmlight files cannot hold")
    base = 0 if zero_based else 1
    if matrix.indices.size and int(matrix.indices.max()) + base > MAX_INDEX:
        raise WordkitError(f"{os.fspath(path)}: an index is greater than {MAX_INDEX}")
    with open_output(path) as out:
        for first in range(0, len(labels), ROWS_AT_ONCE):
            rows = range(first, min(first + ROWS_AT_ONCE, len(labels)))
            if qids is None:
                heads = "".join(f"{labels[row]}\n" for row in rows)
            else:
                heads = "".join(f"{labels[row]} qid:{qids[row]}\n" for row in rows)
            write_records(out, heads.encode("utf-8"), matrix[rows.start : rows.stop], base)
