"""Generators of rows, one a vector format: blocks of words and float32 rows, faults told to the tally.

They know nothing of duplicates or of which rows are wanted; ``vectors.py`` does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from wordkit._kernels import parse_floats
from wordkit.errors import DataError
from wordkit.formats.model_file import open_model
from wordkit.formats.opening import BLOCK_BYTES, Input, line_blocks
from wordkit.formats.vectors_map import check_vectors_arrays
from wordkit.formats.vectors_sniff import Kind, is_number, quoted, trailing_numbers
from wordkit.tally import Tally

# take(rows, dim) gives the float32 array that the next block is read into; it may be larger than what comes.
Take = Callable[[int, int], np.ndarray]
_UNDECIDED_PLACES = 256
_LONGEST_WORD = 1 << 16
_SEPARATORS = re.compile("[ \t]")


class Rows(NamedTuple):
    """A block of rows.

    Attributes:
        words: one a row.
        vectors: float32 (rows, dim).
        places: which rows of the block they are (all, or less those with an invalid word).
        line: line number of a place (None where the format has no lines).
        first: number of rows before this block.
        read: number of rows up to its end.
    """

    words: list[str]
    vectors: np.ndarray
    places: Sequence[int]
    line: Callable[[int], int | None]
    first: int
    read: int

    def error(self, name: str, row: int, what: str) -> DataError:
        """What is the matter with a row."""
        place = self.places[row]
        return DataError(name, self.line(place), f"row {self.first + place + 1}: {what}")


def no_line(row: int) -> None:
    """Line of a row in a format without lines."""


def _word_fault(word: bytes, text_format: bool) -> tuple[int, str] | None:
    """The first byte of a word that it cannot hold, and what to say of it."""
    if (nul := word.find(b"\0")) >= 0:
        return nul, "NUL byte"
    if not text_format and (feed := word.find(b"\n")) >= 0:
        return feed, "line feed inside the word"
    if not word:
        return 0, "empty word"
    try:
        word.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start, f"byte 0x{word[error.start]:02x} is not UTF-8"
    return None


class _Decoder:
    """Words of one input: bytes to strings, all at once where every byte is in order."""

    def __init__(self, source: Input, kind: Kind, tally: Tally, errors: str) -> None:
        self.name, self.tally, self.errors = source.name, tally, errors
        self.is_text = kind.format != "word2vec-binary"
        self.of = "" if kind.announced is None else f" of {kind.announced}"

    def rows(
        self,
        block: bytes,
        offset: int,
        spans: np.ndarray,
        vectors: np.ndarray,
        line: Callable[[int], int | None],
        first: int,
    ) -> Rows:
        """The block's rows, less those whose word is invalid. ``offset``: of the block's first byte in the
        input.
        """
        count = len(vectors)
        packed = np.empty(int((spans[:, 1] - spans[:, 0]).sum()) + count, dtype=np.uint8)
        parse_floats.pack_spans(block, spans, count, packed)
        raw = packed.tobytes()
        words: list[str] | None = None
        if b"\0" not in raw and b"\n\n" not in raw and not raw.startswith(b"\n"):
            try:
                words = raw.decode("utf-8").split("\n")[:-1]
            except UnicodeDecodeError:
                words = None
        if words is None or len(words) != count:
            return self._one_by_one(block, offset, spans, vectors, line, first)
        rows = Rows(words, vectors, range(count), line, first, first + count)
        if self.is_text and (b" " in raw or b"\t" in raw):
            self._warn_of_wide_rows(rows)
        return rows

    def _one_by_one(
        self,
        block: bytes,
        offset: int,
        spans: np.ndarray,
        vectors: np.ndarray,
        line: Callable[[int], int | None],
        first: int,
    ) -> Rows:
        words, kept = [], []
        for row, (start, end) in enumerate(spans.tolist()):
            word = block[start:end]
            fault = _word_fault(word, self.is_text)
            if fault is not None and (self.errors == "strict" or not fault[1].endswith("UTF-8")):
                what = f"row {first + row + 1}{self.of}: {fault[1]} (offset {offset + start + fault[0]})"
                self.tally.invalid(partial(self._bad_word, line, row, what), "row with an invalid word")
            else:
                words.append(word.decode("utf-8", errors=self.errors))
                kept.append(row)
        return Rows(words, vectors[kept], kept, line, first, first + len(vectors))

    def _bad_word(self, line: Callable[[int], int | None], row: int, what: str) -> DataError:
        return DataError(self.name, line(row), what, "a word in UTF-8")

    def _warn_of_wide_rows(self, rows: Rows) -> None:
        for row, word in enumerate(rows.words):
            pieces = _SEPARATORS.split(word)
            if len(pieces) > 1 and is_number(pieces[-1].encode()):
                what = f"the word {word!r} ends in a number: does the row hold more numbers than the others?"
                self.tally.warn("word that ends in a number", partial(rows.error, self.name, row, what))


def _warn_of_nonfinite(name: str, rows: Rows, tally: Tally) -> None:
    count, first = parse_floats.nonfinite_rows(rows.vectors)
    if count:
        what = f"the vector of {rows.words[first]!r} holds nan or inf"
        tally.warn("row with nan or inf", partial(rows.error, name, first, what), count)


# --- text ------------------------------------------------------------------------------------------


def _bad_row(name: str, line: int, text: bytes, dim: int) -> DataError:
    """What is wrong with a line that is no row of ``dim`` numbers."""
    fields = re.split(rb"[ \t]+", text.rstrip(b" \t\r\n"))
    numbers = trailing_numbers(text)
    if len(fields) > dim and numbers < dim:
        wrong = next(field for field in reversed(fields[-dim:]) if not is_number(field))
        if numbers or len(fields) == dim + 1:
            return DataError(name, line, f"{quoted(wrong)} is not a number", f"a word and {dim} numbers")
    if numbers >= dim:
        return DataError(name, line, f"no word before the {numbers} numbers", f"a word and {dim} numbers")
    return DataError(name, line, f"{numbers} number{'s' if numbers != 1 else ''} after the word", f"{dim}")


def _parse_block(
    name: str, line: int, block: bytes, start: int, dim: int, take: Take, limit: int | None, tally: Tally
) -> tuple[np.ndarray, np.ndarray]:
    """Spans and vectors of the valid rows of a block of whole lines, at most ``limit``."""
    # A row takes a line, and two bytes a number at least: what a header says of ``dim`` allocates nothing.
    most = min(block.count(b"\n", start), (len(block) - start) // (2 * dim + 2)) + 1
    most = most if limit is None else min(most, limit)
    out, spans = take(most, dim)[:most], np.empty((most, 2), dtype=np.int64)
    undecided = np.empty((dim + _UNDECIDED_PLACES if most else dim, 4), dtype=np.int64)
    at, rows, counted = start, 0, 0
    while True:
        status, at, done, hard = parse_floats.parse_rows(block, at, out[rows:], spans[rows:], undecided)
        with np.errstate(over="ignore"):
            for row, column, first, end in undecided[:hard].tolist():
                out[rows + row, column] = np.float32(float(block[first:end]))
        rows += done
        if status in (parse_floats.DONE, parse_floats.FULL):
            return spans[:rows], out[:rows]
        if status == parse_floats.BAD_ROW:
            line += block.count(b"\n", counted, at)
            following = block.index(b"\n", at) + 1
            tally.invalid(partial(_bad_row, name, line, block[at:following], dim), "row with wrong fields")
            counted, at = at, following


def text_rows(
    source: Input, kind: Kind, take: Take, tally: Tally, errors: str, limit: int | None
) -> Iterator[Rows]:
    """Rows of word2vec or GloVe text; at most ``limit``."""
    decoder = _Decoder(source, kind, tally, errors)
    offset, start, first = (3 if kind.has_bom else 0), kind.header_bytes, 0
    for line, block in line_blocks(source, cut_at_nul=not tally.skip_invalid):
        size = len(block)
        if not block.endswith(b"\n"):
            block += b"\n"
        skipped, start = min(start, len(block)), 0
        if 2 * kind.dim > len(block) - skipped and len(block) > skipped:
            _refuse_short_lines(source.name, line, block, skipped, kind.dim, tally)
        elif len(block) > skipped:
            left = None if limit is None else limit - first
            spans, vectors = _parse_block(source.name, line, block, skipped, kind.dim, take, left, tally)
            if len(vectors):

                def line_of(
                    row: int, line: int = line, block: bytes = block, spans: np.ndarray = spans
                ) -> int:
                    return line + block.count(b"\n", 0, int(spans[row, 0]))

                rows = decoder.rows(block, offset, spans, vectors, line_of, first)
                _warn_of_nonfinite(source.name, rows, tally)
                yield rows
                first += len(vectors)
        if limit is not None and first >= limit:
            return
        offset += size


def _refuse_short_lines(name: str, line: int, block: bytes, start: int, dim: int, tally: Tally) -> None:
    """A block too short for even one row of ``dim`` numbers: no buffer of that width is made for it."""
    line += block.count(b"\n", 0, start)
    for text in block[start:].split(b"\n"):
        if text.strip(b" \t\r"):
            tally.invalid(partial(_bad_row, name, line, text, dim), "row with wrong fields")
        line += 1


# --- binary ------------------------------------------------------------------------------------------


def _read_at_least(source: Input, size: int) -> bytes:
    """The next bytes: ``size`` of them or more, fewer only at the end; never more memory than there are
    bytes.
    """
    parts, total = [], 0
    while total < size and (chunk := source.read(BLOCK_BYTES)):
        parts.append(chunk)
        total += len(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _told_end(name: str, rest: bytes, row: int, kind: Kind, tally: Tally) -> None:
    """Bytes that are left when the file ends: a cut row, or something after the last one."""
    word, space, vector = rest.partition(b" ")
    what = f"word {row + 1} of {kind.announced}"
    if row >= (kind.announced or 0):
        tally.warn("end that is no row", DataError(name, None, f"{len(rest)} bytes after the last row"))
    elif space:
        shown = word[:40].decode("utf-8", errors="replace")
        fault = f"{what} (`{shown}`): {len(vector)} of {4 * kind.dim} bytes"
        tally.invalid(DataError(name, None, fault), "row that is cut")
    else:
        tally.invalid(DataError(name, None, f"{what}: the file ends inside the word"), "row that is cut")


def binary_rows(
    source: Input, kind: Kind, take: Take, tally: Tally, errors: str, limit: int | None
) -> Iterator[Rows]:
    """Rows of word2vec's binary format, with or without a line feed after each; at most ``limit``."""
    decoder = _Decoder(source, kind, tally, errors)
    width, first = 4 * kind.dim, 0
    offset = kind.header_bytes + (3 if kind.has_bom else 0)
    source.read(offset)
    pending = b""
    while limit is None or first < limit:
        chunk = _read_at_least(source, max(1, width + 2 - len(pending)))
        data = pending + chunk if pending else chunk
        at = 0
        most = len(data) // (width + 2) if limit is None else min(len(data) // (width + 2), limit - first)
        if most:
            out, spans = take(most, kind.dim), np.empty((most, 2), dtype=np.int64)
            at, done = parse_floats.copy_rows(data, 0, out[:most], spans)
            if done:
                vectors = out[:done]
                if sys.byteorder == "big":
                    vectors.byteswap(inplace=True)
                rows = decoder.rows(data, offset, spans[:done], vectors, no_line, first)
                _warn_of_nonfinite(source.name, rows, tally)
                yield rows
                first += done
        rest = data[at:].lstrip(b"\n")
        offset += len(data) - len(rest)
        pending = rest
        if not chunk:
            if rest:
                _told_end(source.name, rest, first, kind, tally)
            return
        if len(rest) > _LONGEST_WORD and b" " not in rest[:_LONGEST_WORD]:
            place = f"offset {offset}, where word {first + 1} of {kind.announced} should be"
            what = f"no space in the {_LONGEST_WORD} bytes from {place}"
            raise DataError(source.name, None, what, "word2vec binary vectors")


# --- npz ------------------------------------------------------------------------------------------


def npz_rows(source: Input, take: Take, tally: Tally, limit: int | None) -> Iterator[Rows]:
    """Rows of a model file of kind ``vectors``; the array is read in blocks, at most ``limit`` rows."""
    # A ValueError inside is told by open_model as a damaged file.
    with open_model(source, {"vectors": "vectors"}) as (_, archive):
        words, (rows_there, dim) = check_vectors_arrays(archive)
        member = archive.open("vectors")[0]
        total = rows_there if limit is None else min(rows_there, limit)
        step = max(1, BLOCK_BYTES // (4 * dim))
        for first in range(0, max(total, 1), step):
            count = min(step, total - first)
            values = np.frombuffer(member.read(4 * dim * count), dtype="<f4")
            if len(values) < dim * count:
                raise ValueError("vectors end early")
            vectors = take(count, dim)[:count]
            vectors[:] = values.reshape(count, dim)
            rows = Rows(words[first : first + count], vectors, range(count), no_line, first, first + count)
            _warn_of_nonfinite(source.name, rows, tally)
            yield rows
