"""Model files: one ``.npz`` of plain arrays with a JSON header, no pickled object in it.

The header always holds ``format``, ``format_version``, ``kind`` (what sort of model), ``wordkit_version``; the command line
adds the command, its parameters, seed, signature and inputs. Equal models give equal bytes.
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
from collections.abc import Iterator, Mapping
from typing import IO, Any, BinaryIO

import numpy as np

from wordkit import __version__
from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import Input, open_output, opened, seekable

FORMAT, FORMAT_VERSION = "wordkit-model", 1
_ZIP = b"PK\x03\x04"
_EXPECTED = "a wordkit model file (the -o of a train command)"
# What zipfile and NumPy raise where bytes have changed; RuntimeError is for members that seem to be encrypted.
_DAMAGE = (
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


def write_model(
    path: str | os.PathLike[str], kind: str, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> None:
    """Write a model whole or not at all; arrays are streamed, not copied.

    Args:
        kind: what reads it back, for example ``rpa``.
        arrays: name to array; object arrays are refused.
        header: JSON values beside the fixed keys.
    """
    fixed = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": kind, "wordkit_version": __version__}
    text = json.dumps({**fixed, **header}, ensure_ascii=False, indent=1, allow_nan=False)
    with open_output(path) as out, zipfile.ZipFile(_Forward(out), "w", zipfile.ZIP_STORED) as archive:
        for name, array in [("header", np.array(text)), *arrays.items()]:
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


class _Forward(io.RawIOBase):
    """A stream that zipfile takes for one that cannot seek, so that pipes and compressors can follow."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        return memoryview(data).nbytes

    def flush(self) -> None:
        self._stream.flush()


class Archive:
    """The arrays of a model file, each read when asked for; nothing that the file claims of itself takes memory unchecked.

    ``names``: of the arrays, in file order, the header's among them.

    Raises ValueError, or another of what zipfile and NumPy raise, where the file is damaged.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(stream)
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

    def __getitem__(self, name: str) -> np.ndarray:
        self.open(name)[0].close()
        with self._zip.open(self._members[name]) as member:
            return np.lib.format.read_array(member, allow_pickle=False)


@contextlib.contextmanager
def _archive(path: str | os.PathLike[str] | Input) -> Iterator[tuple[str, Archive]]:
    with opened(path) as source:
        try:
            if source.peek(len(_ZIP)) != _ZIP:  # told before a compressed file is read to its end
                raise ValueError("no zip file")
            yield source.name, Archive(seekable(source))
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno not in (
                None,
                errno.EINVAL,
            ):  # EINVAL: a place before the start
                raise
            raise DataError(source.name, None, "is not a model file, or is damaged", _EXPECTED) from None


def _checked_header(name: str, archive: Archive) -> dict[str, Any]:
    header = json.loads(str(archive["header"]))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("foreign header")
    version = header.get("format_version")
    if not isinstance(version, int):
        raise ValueError("version")
    if version > FORMAT_VERSION:
        raise WordkitError(
            f"{name}: model format {version} (written by wordkit {header.get('wordkit_version')}) is newer than this wordkit "
            f"{__version__}, which reads up to format {FORMAT_VERSION}"
        )
    if not isinstance(header.get("kind"), str):
        raise ValueError("kind")
    # Names of files may hold bytes that are not UTF-8, as surrogates; other surrogates could not be printed.
    json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return header


def read_header(path: str | os.PathLike[str] | Input) -> dict[str, Any]:
    """The JSON header of a model file."""
    with _archive(path) as (name, archive):
        return _checked_header(name, archive)


@contextlib.contextmanager
def open_model(
    path: str | os.PathLike[str] | Input, kinds: Mapping[str, str] | None = None
) -> Iterator[tuple[dict[str, Any], Archive]]:
    """Header and archive (``archive["name"]`` loads an array) of a model file, held open.

    Arguments and errors as for :func:`read_model`; an open input stays open.
    """
    with _archive(path) as (name, archive):
        header = _checked_header(name, archive)
        kind = header["kind"]
        if kinds is not None and kind not in kinds:
            raise DataError(
                name, None, f"this is a model of kind {kind!r}", " or ".join(sorted(set(kinds.values())))
            )
        yield header, archive


def read_model(
    path: str | os.PathLike[str] | Input, kinds: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a model file.

    Args:
        kinds: accepted kinds with the words for them (``{"rpa": "a classifier"}``); any kind when None.

    Raises:
        DataError: not a model file, a damaged one, or a model of another kind.
        WordkitError: written in a newer format than this version reads.
    """
    with open_model(path, kinds) as (header, archive):
        return header, {key: archive[key] for key in archive.names if key != "header"}
