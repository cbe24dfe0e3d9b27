"""Tells vector formats apart by content: word2vec text and binary, GloVe text, wordkit's ``.npz``."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from wordkit.errors import DataError
from wordkit.formats.npz import COUNTS_FIRST, first_member
from wordkit.formats.opening import Input

FORMATS = ("word2vec", "glove", "word2vec-binary", "npz")
MAX_DIM = 2**31 - 1
_HEAD_BYTES, _LONGEST_LINE = 1 << 18, 1 << 24
_SAMPLE_LINES = 100
_TEXT_BYTES = 1 << 16  # of a text that are looked at
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"[ \t]*(\d{1,30})[ \t]+(\d{1,30})[ \t\r]*(?:\n|\Z)")
_NUMBER = re.compile(rb"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_FIELDS = re.compile(rb"[ \t]+")


@dataclass(frozen=True)
class Kind:
    """What a vector file is.

    Attributes:
        format: one of FORMATS.
        dim: columns; 0 for ``npz``, which says so itself.
        announced: rows that a header promises, or None.
        header_bytes: length of the header line (after a byte-order mark).
        has_bom: the file starts with a byte-order mark.
    """

    format: str
    dim: int = 0
    announced: int | None = None
    header_bytes: int = 0
    has_bom: bool = False


def is_number(field: bytes) -> bool:
    """Whether the kernel reads this field as a number."""
    return _NUMBER.fullmatch(field) is not None


def trailing_numbers(line: bytes) -> int:
    """How many fields at the end of a text row are numbers, leaving one field for the word."""
    line = line.rstrip(b" \t\r\n")
    fields = _FIELDS.split(line)
    if len(fields) == 1 or not line:
        return 0
    # A row that starts with separators has a word made of them (or none): its first field comes out empty.
    count = 0
    for field in reversed(fields[1:]):
        if not is_number(field):
            break
        count += 1
    return count


def quoted(text: bytes) -> str:
    """A piece of input for a message: short, on one line."""
    shown = text.rstrip(b"\r\n")[:40].decode("utf-8", errors="replace")
    return repr(shown) + ("..." if len(text.rstrip(b"\r\n")) > 40 else "")


def _head(source: Input) -> tuple[bytes, bool]:
    """The start of the input with at least one whole line in it, and whether that is all there is."""
    size = _HEAD_BYTES
    head = source.peek(size)
    while len(head) == size and b"\n" not in head and size < _LONGEST_LINE:
        size *= 4
        head = source.peek(size)
    return head, len(head) < size


def _lines(body: bytes, complete: bool, most: int) -> list[bytes]:
    """The first whole lines; the last piece counts as one where the input ends there."""
    lines = body.split(b"\n", most)
    if len(lines) > most or not complete:
        lines.pop()
    return [line for line in lines if line.strip(b" \t\r")]


def _is_text(body: bytes, complete: bool, dim: int) -> bool:
    """Whether one of the first lines is a word and ``dim`` numbers (or begins so, where the line is very
    long).
    """
    if any(trailing_numbers(line) >= dim for line in _lines(body, complete, 20)):
        return True
    if b"\n" in body or complete:
        return False
    begun = _FIELDS.split(body[: body.rfind(b" ") + 1].rstrip())
    return len(begun) > 16 and all(map(is_number, begun[-16:]))


def _is_binary(body: bytes, complete: bool) -> bool:
    """Bytes that no text has: control characters, or no UTF-8 (a character cut where the sample ends does not count)."""
    sample = body[: 1 << 16]
    if _CONTROL.search(sample):
        return True
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        whole = complete and len(sample) == len(body)
        return whole or error.reason != "unexpected end of data"
    return False


def _fits_binary(body: bytes, dim: int) -> bool:
    """Whether all of a short body is rows of a word, a space and ``dim`` four-byte numbers."""
    at = 0
    while at < len(body):
        space = body.find(b" ", at)
        at = space + 1 + 4 * dim
        if space < 0 or at > len(body):
            return False
        at += body[at : at + 1] == b"\n"
    return True


def _text_dim(name: str, body: bytes, complete: bool) -> int:
    """Columns of a file without header: the most frequent count of trailing numbers, the earliest on a
    tie.
    """
    counts = Counter(filter(None, map(trailing_numbers, _lines(body, complete, _SAMPLE_LINES))))
    if counts:
        return counts.most_common(1)[0][0]
    if _is_binary(body, complete):
        raise DataError(name, None, "this looks like a binary file without a word2vec header", "vectors")
    if not complete and b"\n" not in body:
        raise DataError(
            name, 1, f"the first line is longer than {_LONGEST_LINE >> 20} MB", "rows of a word and numbers"
        )
    first = quoted(body.partition(b"\n")[0])
    raise DataError(
        name, 1, f"{first} is neither a header nor a row", "vectors: a word and its numbers a line"
    )


def _checked_header(name: str, match: re.Match[bytes]) -> tuple[int, int]:
    announced, dim = int(match[1]), int(match[2])
    if not 1 <= dim <= MAX_DIM:
        raise DataError(name, 1, f"the header announces {dim} dimensions", f"between 1 and {MAX_DIM}")
    return announced, dim


def refuse_vectors(source: Input) -> None:
    """DataError if an input that is to be text begins as a word2vec file does; nothing of it is consumed.

    That is a header and then rows of a word and so many numbers, at least two, or bytes that no text has.
    """
    head = source.peek(_TEXT_BYTES)
    complete = len(head) < _TEXT_BYTES
    head = head.removeprefix(_BOM)
    match = _HEADER.match(head)
    if match is None or not 2 <= int(match[2]) <= MAX_DIM:
        return
    body, dim = head[match.end() :], int(match[2])
    rows = _lines(body, complete, 3)
    fields = [len(_FIELDS.split(row.strip(b" \t\r"))) for row in rows]
    as_text = bool(rows) and set(fields) == {dim + 1} and set(map(trailing_numbers, rows)) == {dim}
    if as_text or _is_binary(body, complete):
        raise DataError(source.name, None, "is a vector file", "text, a sentence or document a line")


def sniff(source: Input, format: str | None = None) -> Kind:
    """What the input is; nothing of it is consumed.

    Args:
        format: one of FORMATS where the user says so; then the content must agree.

    Raises:
        DataError: empty, no vector file, or not of the given format.
        ValueError: ``format`` is none of FORMATS.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
    name = source.name
    head, complete = _head(source)
    if not head.removeprefix(_BOM).strip(b" \t\r\n"):
        raise DataError(name, None, "is empty")
    # A zip file has NUL bytes right after its mark; a text row cannot.
    if format == "npz" or (format is None and head[:4] == b"PK\x03\x04" and b"\0" in head[:30]):
        if first_member(source) == COUNTS_FIRST:
            raise DataError(name, None, "is a counts file", "vectors")
        return Kind("npz")
    has_bom = head.startswith(_BOM)
    head = head.removeprefix(_BOM)
    match = _HEADER.match(head)
    if format == "glove" or (format is None and match is None):
        return Kind("glove", _text_dim(name, head, complete), has_bom=has_bom)
    if match is None:
        first = quoted(head.partition(b"\n")[0])
        raise DataError(name, 1, f"the first line is {first}", "a header: how many rows, how many dimensions")
    announced, dim = _checked_header(name, match)
    body = head[match.end() :]
    is_text = _is_text(body, complete, dim)
    # Some numbers' bytes are letters: then only the lengths of the rows tell.
    looks_binary = _is_binary(body, complete) or (complete and not is_text and _fits_binary(body, dim))
    binary = bool(body) and not is_text and looks_binary
    if format == "word2vec" and binary:
        raise DataError(name, None, "this looks like a binary file", "text (format word2vec-binary reads it)")
    if format == "word2vec-binary" and is_text and not looks_binary:
        raise DataError(
            name, None, "this looks like a text file", "binary vectors (format word2vec reads it)"
        )
    found = format or ("word2vec-binary" if binary else "word2vec")
    return Kind(found, dim, announced, match.end(), has_bom)
