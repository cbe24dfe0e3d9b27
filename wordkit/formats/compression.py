"""Compression of inputs and outputs: which one it is by suffix or by magic bytes, and the streams that undo and do it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from typing import IO, Any, BinaryIO

from wordkit.errors import MissingLibrary

_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_SUFFIXES = tuple(_MAGIC.values())
# Four compressed bytes can stand for 128 KiB, so this many for 8 MiB: more at a time is hardly faster.
_ZSTD_PIECE = 256


def compression_of(path: str | os.PathLike[str]) -> str:
    """The compression suffix of a path, or the empty string."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    return suffix if suffix in _SUFFIXES else ""


def uncompressed_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix that names the format: ``.bin`` for ``vectors.bin.gz``."""
    path = os.fspath(path)
    if compression_of(path):
        path = os.path.splitext(path)[0]
    return os.path.splitext(path)[1].lower()


def zstandard_for(path: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingLibrary(f"{path}: .zst needs", "zstandard", "zstd") from None
    return zstandard


def decompressed(raw: BinaryIO, suffix: str, name: str) -> IO[bytes]:
    """The stream without its compression; ``name`` is for messages."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[return-value]
    if suffix == ".bz2":
        return bz2.BZ2File(raw)
    if suffix == ".xz":
        return lzma.LZMAFile(raw)
    if suffix == ".zst":
        return _ZstdReader(zstandard_for(name), raw)  # type: ignore[return-value]
    return raw


def compressed(stream: BinaryIO, path: str) -> Any:
    """A stream that compresses into ``stream`` as the path's suffix says, or None for no compression."""
    suffix = compression_of(path)
    if suffix == ".gz":  # no name and no time inside, so that equal results are equal files
        return gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0)
    if suffix == ".bz2":
        return bz2.BZ2File(stream, "wb")
    if suffix == ".xz":
        return lzma.LZMAFile(stream, "wb")
    if suffix == ".zst":
        return zstandard_for(path).ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False)
    return None


class _ZstdReader(io.RawIOBase):
    """Decompressed bytes of zstd frames; EOFError where the last frame is cut, which zstandard's own reader lets pass."""

    def __init__(self, zstandard: Any, raw: BinaryIO) -> None:
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._raw, self._packed, self._ready = raw, memoryview(b""), memoryview(b"")
        self._frame: Any = None

    def readable(self) -> bool:
        return True

    def _unpack(self) -> memoryview:
        """What the next few compressed bytes hold."""
        if self._frame is None or self._frame.eof:
            self._frame = self._new_frame()
        piece = self._packed[:_ZSTD_PIECE]
        ready = self._frame.decompress(piece)
        used = len(piece) - len(self._frame.unused_data if self._frame.eof else b"")
        self._packed = self._packed[used:]
        return memoryview(ready)

    def readinto(self, buffer: Any) -> int:
        filled = 0
        while filled < len(buffer):
            if not self._ready:
                if not self._packed:
                    if filled:
                        break  # it may be long until the input has more
                    self._packed = memoryview(self._raw.read(1 << 14))
                    if not self._packed:
                        if self._frame is not None and not self._frame.eof:
                            raise EOFError
                        break
                self._ready = self._unpack()
            data, self._ready = self._ready[: len(buffer) - filled], self._ready[len(buffer) - filled :]
            buffer[filled : filled + len(data)] = data
            filled += len(data)
        return filled


class _Rejoined(io.RawIOBase):
    """Bytes already taken from a stream, then the rest of it as it comes."""

    def __init__(self, head: bytes, stream: Any) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._stream.read1(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def sniffed(stream: Any) -> tuple[Any, str]:
    """A buffered stream from its start, and its compression by magic bytes, even if a pipe brings them in pieces."""
    head = stream.peek(6)[:6] if hasattr(stream, "peek") else b""
    if any(len(head) < len(magic) and magic.startswith(head) for magic in _MAGIC):
        head = stream.read1(len(head))
        while any(len(head) < len(magic) and magic.startswith(head) for magic in _MAGIC):
            more = stream.read1(1)
            if not more:
                break
            head += more
        stream = io.BufferedReader(_Rejoined(head, stream))
    return stream, next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")
