"""Writers of vector files, block by block, so that no file need be in memory."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, BinaryIO

import numpy as np

from wordkit._kernels import format_floats
from wordkit.errors import WordkitError
from wordkit.formats.model_file import write_model
from wordkit.formats.number_rows import write_rows
from wordkit.formats.opening import open_output, uncompressed_suffix, written_in_place
from wordkit.formats.vectors_sniff import FORMATS, is_number

# write(words, vectors): the next rows
WriteRows = Callable[[list[str], np.ndarray], None]
_BUFFER_BYTES = 1 << 20
_BY_SUFFIX = {".bin": "word2vec-binary", ".glove": "glove", ".npz": "npz"}
_SEPARATORS = re.compile("[ \t]+")


def output_format(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format given, else the one that the path's suffix means: ``.bin``, ``.glove``, ``.npz``, otherwise word2vec
    text.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
    return format or _BY_SUFFIX.get(uncompressed_suffix(path), "word2vec")


def _word_fault(word: str, format: str, first: bool) -> str | None:
    """Why this word would not come back as it is from a file of this format."""
    if not word:
        return "it is empty"
    if "\n" in word:
        return "it holds a line feed"
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    if format != "npz" and "\0" in word:
        return "it holds a NUL byte"
    if format == "word2vec-binary" and " " in word:
        return "it holds a space"
    if format == "glove":
        if first and word.startswith("\ufeff"):
            return "it would be taken for a byte-order mark"
        pieces = [piece for piece in _SEPARATORS.split(word) if piece]
        if pieces and _SEPARATORS.search(word) and is_number(pieces[-1].encode()):
            return "it ends in a number, and the format has no header that tells how many numbers a row has"
    return None


def _packed(path: str, words: list[str], format: str, first: bool) -> bytes:
    """The words in UTF-8, a line feed after each; WordkitError for the first that the format cannot hold."""
    text = "\n".join([*words, ""])
    doubtful = "\0" in text or text.startswith("\n") or "\n\n" in text or text.count("\n") != len(words)
    if format in ("word2vec-binary", "glove"):
        doubtful = doubtful or " " in text or "\t" in text or text.startswith("\ufeff")
    packed = b""
    if not doubtful:
        try:
            packed = text.encode("utf-8")
        except UnicodeEncodeError:
            doubtful = True
    if doubtful:
        for row, word in enumerate(words):
            if fault := _word_fault(word, format, first and row == 0):
                raise WordkitError(
                    f"{path}: the word {word!r} cannot be stored in the format {format}: {fault}"
                )
        packed = text.encode("utf-8")
    return packed


def _write_text(out: BinaryIO, packed: bytes, vectors: np.ndarray) -> None:
    def fill(row: int, at: int, buffer: np.ndarray) -> tuple[int, int, int]:
        return format_floats.format_rows(vectors, row, packed, at, buffer)

    def by_python(row: int) -> bytes:
        return b"".join(b" " + str(value).encode("ascii") for value in vectors[row])

    longest = vectors.shape[1] * format_floats.LONGEST_NUMBER
    write_rows(out, packed, len(vectors), longest, fill, by_python)


def _write_binary(out: BinaryIO, packed: bytes, vectors: np.ndarray) -> None:
    if sys.byteorder == "big":
        vectors = vectors.byteswap()
    buffer = np.empty(len(packed) + len(vectors) * (4 * vectors.shape[1] + 1), dtype=np.uint8)
    out.write(buffer[: format_floats.join_rows(vectors, packed, buffer)].data)


def _spool(path: str) -> IO[bytes]:
    """A nameless temporary file on the disk that the output goes to."""
    folder = None if written_in_place(path) else os.path.dirname(os.path.realpath(path))
    try:
        return tempfile.TemporaryFile(dir=folder if folder and os.access(folder, os.W_OK) else None)
    except OSError as error:
        raise WordkitError(f"{path}: {error.strerror or error}") from None


@contextlib.contextmanager
def _npz_writer(path: str, dim: int) -> Iterator[WriteRows]:
    """The archive tells shapes before values, so values wait in a temporary file."""
    names: list[bytes] = []
    count = 0
    with _spool(path) as values:

        def write(words: list[str], vectors: np.ndarray) -> None:
            nonlocal count
            names.append(_packed(path, words, "npz", count == 0))
            values.write(np.ascontiguousarray(vectors, dtype="<f4").data)
            count += len(words)

        yield write
        values.flush()
        shape = (count, dim)
        stored = np.memmap(values, dtype="<f4", mode="r", shape=shape) if count else np.empty(shape, "<f4")
        arrays = {"words": np.frombuffer(b"".join(names), dtype=np.uint8), "vectors": stored}
        write_model(path, "vectors", arrays, {"rows": count, "dim": dim})


@contextlib.contextmanager
def _stream_writer(path: str, dim: int, rows: int | None, format: str) -> Iterator[WriteRows]:
    """Text and binary. A header needs the number of rows: where it is not known, rows wait in a temporary
    file.
    """
    count = 0
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(open_output(path))
        waiting = rows is None and format != "glove"
        body: BinaryIO = stack.enter_context(_spool(path)) if waiting else out  # type: ignore[assignment]
        if rows is not None and format != "glove":
            out.write(b"%d %d\n" % (rows, dim))

        def write(words: list[str], vectors: np.ndarray) -> None:
            nonlocal count
            if vectors.shape != (len(words), dim):
                raise ValueError(f"vectors are {vectors.shape}, expected ({len(words)}, {dim})")
            packed = _packed(path, words, format, count == 0)
            vectors = np.ascontiguousarray(vectors, dtype=np.float32)
            if words:
                (_write_binary if format == "word2vec-binary" else _write_text)(body, packed, vectors)
            count += len(words)

        yield write
        if waiting:
            out.write(b"%d %d\n" % (count, dim))
            body.seek(0)
            shutil.copyfileobj(body, out, _BUFFER_BYTES)
        elif rows is not None and count != rows:
            raise ValueError(f"{count} rows were written, expected {rows}")
        if count == 0 and format == "glove":
            raise WordkitError(f"{path}: there is no row to write, and the format glove has no header")


@contextlib.contextmanager
def vector_writer(
    path: str | os.PathLike[str], dim: int, *, rows: int | None = None, format: str | None = None
) -> Iterator[WriteRows]:
    """A function that writes blocks of rows; the file appears whole when the ``with`` block ends, or not at
    all.

    Args:
        path: file, or ``-`` for standard output.
        dim: columns, at least 1.
        rows: how many rows will come, where known (saves a temporary copy where the format starts with that
            number).
        format: one of FORMATS; by suffix when None (``.bin``, ``.npz``, otherwise word2vec text).

    The function takes ``words`` (strings, no word twice in a file) and ``vectors`` (float32, words x dim).

    Raises:
        WordkitError: a word that the format cannot hold, named; a file that cannot be written.
    """
    if dim < 1:
        raise ValueError(f"dim is {dim}, expected at least 1")
    path = os.fspath(path)
    format = output_format(path, format)
    with _npz_writer(path, dim) if format == "npz" else _stream_writer(path, dim, rows, format) as write:
        yield write
