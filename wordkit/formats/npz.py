"""``.npz`` archives of plain arrays, no pickled object in them: what model files and counts files share.

Arrays are streamed out, stored as they are, and each is read when it is asked for. Equal arrays give equal bytes.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO

import numpy as np

from wordkit import __version__
from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import Input, open_output, opened, seekable

ZIP = b"PK\x03\x04"  # how an archive begins
COUNTS_FILE, COUNTS_FIRST = "a counts file", "data"  # and the name of its first array
_NAME_AT = 30  # where a member's header has its name, and so an archive that of its first member
_ZIP64_FIELD = 20  # bytes that zipfile adds to a header for sizes beyond 4 GiB
_PADDING_FIELD = 0xD935  # known as such to other programs that align members
_ALIGNMENT = 64
# What zipfile and NumPy raise where bytes have changed; RuntimeError is for members that seem to be encrypted.
DAMAGE = (
    ValueError, KeyError, EOFError, OSError, RuntimeError, OverflowError, SyntaxError, tokenize.TokenError, struct.error,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def pack_words(words: list[str]) -> np.ndarray:
    """Words as one uint8 array of UTF-8, a line feed after each (words never hold one)."""
    text = "".join([word + "\n" for word in words])
    if text.count("\n") != len(words):
        bad = next(word for word in words if "\n" in word)
        raise ValueError(f"a word holds a line feed: {bad!r}")
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def unpack_words(packed: np.ndarray) -> list[str]:
    """Inverse of :func:`pack_words`."""
    return packed.tobytes().decode("utf-8").split("\n")[:-1]


def check_description(name: str, description: Any, what: str, form: str, newest: int) -> dict[str, Any]:
    """The JSON object of a file that says what it is, if it is of a form and version that can be read, and can be printed.

    Args:
        what: ``model`` or ``counts``. form: what its ``format`` must be. newest: the greatest ``format_version`` known.

    Raises:
        ValueError: another kind of object. WordkitError: a newer version.
    """
    if not isinstance(description, dict) or description.get("format") != form:
        raise ValueError(f"no description of {what}")
    version = description.get("format_version")
    if not isinstance(version, int):
        raise ValueError("version")
    if version > newest:
        raise WordkitError(
            f"{name}: {what} format {version} (written by wordkit {description.get('wordkit_version')}) is newer than this "
            f"wordkit {__version__}, which reads up to format {newest}"
        )
    # Names of files may hold bytes that are not UTF-8, as surrogates; other surrogates could not be printed.
    json.dumps(description, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return description


def write_archive(path: str | os.PathLike[str], arrays: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write arrays under their names, whole or not at all; they are streamed, not copied, and object arrays refused.

    Their values begin at multiples of 64 bytes, so that they can be mapped into memory.
    """
    with open_output(path) as out:
        stream = _Forward(out)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, array in arrays:
                info = zipfile.ZipInfo(f"{name}.npy")
                info.extra = _padding(stream.tell() + _NAME_AT + len(info.filename.encode()) + _ZIP64_FIELD)
                with archive.open(info, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _padding(place: int) -> bytes:
    """A field of a member's header that brings what begins at ``place`` to a multiple of 64; NumPy does the same for its own."""
    size = -place % _ALIGNMENT
    size += _ALIGNMENT if 0 < size < 4 else 0  # its own head has four bytes
    return struct.pack("<HH", _PADDING_FIELD, size - 4) + bytes(size - 4) if size else b""


class _Forward(io.RawIOBase):
    """A stream that zipfile takes for one that cannot seek, so that pipes and compressors can follow."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._written = 0

    def tell(self) -> int:
        return self._written

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        self._written += memoryview(data).nbytes
        return memoryview(data).nbytes

    def flush(self) -> None:
        self._stream.flush()


class Archive:
    """The arrays of an archive, each read when asked for; nothing that the file claims of itself takes memory unchecked.

    ``names``: of the arrays, in file order.

    Raises ValueError, or another of what zipfile and NumPy raise, where the file is damaged.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._zip = stream, zipfile.ZipFile(stream)
        members = self._zip.infolist()
        # Arrays are stored as they are, and share no bytes: what is read is no larger than the file.
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("compressed member")
        if sum(member.file_size for member in members) > stream.seek(0, os.SEEK_END):
            raise ValueError("members larger than the file")
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        self.names = list(self._members)

    def open(self, name: str) -> tuple[IO[bytes], tuple[int, ...], bool, np.dtype]:
        """An array open at its first value, its shape, whether it is stored by columns, its type.

        The file holds exactly the values that the array's header says.
        """
        member = self._zip.open(self._members[name])
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError("array version")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # NumPy would mend headers that Python 2 wrote
                shape, by_columns, dtype = np.lib.format.read_array_header_1_0(member)
        except (
            TypeError,
            LookupError,
            MemoryError,
            Warning,
        ):  # of headers that are no dictionary of its keys
            raise ValueError("array header") from None
        size = self._members[name].file_size - member.tell()
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size or not dtype.itemsize:
            raise ValueError("array size")
        return member, shape, by_columns, dtype

    def mapped(self, name: str) -> np.ndarray:
        """An array mapped into memory, which cannot be written to; the archive must be a file."""
        member, shape, by_columns, dtype = self.open(name)
        with member:
            header = member.tell()
        info = self._members[name]
        self._stream.seek(info.header_offset + _NAME_AT - 4)
        start = info.header_offset + _NAME_AT + sum(struct.unpack("<HH", self._stream.read(4))) + header
        order: Any = "F" if by_columns else "C"
        return np.memmap(self._stream, dtype, "r", start, shape, order).view(np.ndarray)  # type: ignore[call-overload]

    def __getitem__(self, name: str) -> np.ndarray:
        self.open(name)[0].close()
        with self._zip.open(self._members[name]) as member:
            return np.lib.format.read_array(member, allow_pickle=False)


@contextlib.contextmanager
def open_archive(
    path: str | os.PathLike[str] | Input, what: str, expected: str
) -> Iterator[tuple[str, Archive]]:
    """Name of the input and its archive, held open; an open input stays open.

    Raises:
        DataError: it is empty; it is no archive, or what the block reads of it, or checks with a ValueError, is damaged:
            "is not ``what``, or is damaged, expected ``expected``".
    """
    with opened(path) as source:
        first = first_member(source)
        try:
            if not source.peek(1):
                raise DataError(source.name, None, "is empty")
            if source.peek(len(ZIP)) != ZIP:  # told before a compressed file is read to its end
                raise ValueError("no zip file")
            yield source.name, Archive(seekable(source))
        except DAMAGE as error:
            if isinstance(error, OSError) and error.errno not in (
                None,
                errno.EINVAL,
            ):  # EINVAL: a place before the start
                raise
            found = (
                f"is {COUNTS_FILE}"
                if first == COUNTS_FIRST and what != COUNTS_FILE
                else f"is not {what}, or is damaged"
            )
            raise DataError(source.name, None, found, expected) from None


def first_member(source: Input) -> str | None:
    """Name of the first array of an archive, looked at without reading on; None for what is no archive."""
    start = source.peek(_NAME_AT)
    if len(start) < _NAME_AT or not start.startswith(ZIP):
        return None
    size = int.from_bytes(start[26:28], "little")
    return source.peek(_NAME_AT + size)[_NAME_AT:].decode("utf-8", "replace").removesuffix(".npy")
