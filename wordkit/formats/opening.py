"""Opens every input and output of wordkit: paths, pipes, compression, whole-or-nothing writing.

Readers take blocks of whole lines from :func:`line_blocks` or :func:`text_blocks`; writers write into
:func:`open_output`. Nothing else in the package calls ``open`` on a user's file.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

from wordkit._kernels import utf8_check
from wordkit.errors import DataError, WordkitError
from wordkit.tally import Tally

BLOCK_BYTES = 1 << 20
STDIN_NAME, STDOUT_NAME = "<stdin>", "<stdout>"
_BOM = b"\xef\xbb\xbf"
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_SUFFIXES = tuple(_MAGIC.values())


def _zstandard(path: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise WordkitError(f"{path}: .zst needs the extra: pip install 'wordkit[zstd]'") from None
    return zstandard


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


def _os_error(path: str, error: OSError) -> WordkitError:
    return WordkitError(f"{path}: {error.strerror or error}")


class Input:
    """An open input: decompressed bytes, with faults told in wordkit's words.

    Args:
        path: a path, or ``-`` for standard input (compression found by magic bytes there, by suffix elsewhere).
        digest: keep size and SHA-256 of the decompressed bytes for :meth:`record`.
    """

    def __init__(self, path: str | os.PathLike[str], *, digest: bool = False) -> None:
        self.path = os.fspath(path)
        self.name = STDIN_NAME if self.path == "-" else self.path
        self.size = 0
        self._hash = hashlib.sha256() if digest else None
        self._raw: BinaryIO | None = None
        self._ahead = b""
        try:
            if self.path == "-":
                buffered = sys.stdin.buffer
                head = buffered.peek(6)[:6] if hasattr(buffered, "peek") else b""
                suffix = next((s for magic, s in _MAGIC.items() if head.startswith(magic)), "")
                raw: BinaryIO = buffered  # never closed: it is the process's, not ours
            else:
                if os.path.isdir(self.path):
                    raise WordkitError(f"{self.path}: is a folder, expected a file")
                raw = self._raw = open(self.path, "rb", buffering=1 << 16)  # noqa: SIM115
                suffix = compression_of(self.path)
            self._stream = self._decompressed(raw, suffix)
            # A pipe's bytes are taken as they come, so that a filter answers before its input ends.
            self._take = self._stream.read1 if self._stream is sys.stdin.buffer else self._stream.read  # type: ignore[union-attr]
        except OSError as error:
            raise _os_error(self.name, error) from None

    def _decompressed(self, raw: BinaryIO, suffix: str) -> IO[bytes]:
        if suffix == ".gz":
            return gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[return-value]
        if suffix == ".bz2":
            return bz2.BZ2File(raw)
        if suffix == ".xz":
            return lzma.LZMAFile(raw)
        if suffix == ".zst":
            return _zstandard(self.name).ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return raw

    def peek(self, size: int) -> bytes:
        """The first ``size`` bytes not yet read (fewer only at the end), left for the next :meth:`read`."""
        parts = [self._ahead]
        missing = size - len(self._ahead)
        while missing > 0 and (data := self._next(missing)):
            parts.append(data)
            missing -= len(data)
        self._ahead = b"".join(parts)
        return self._ahead[:size]

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, all that is left for -1; empty at the end."""
        if size < 0:
            parts = [self._ahead]
            while data := self._next(BLOCK_BYTES):
                parts.append(data)
            self._ahead = b""
            return b"".join(parts)
        if not self._ahead:
            return self._next(size)
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        return data

    def _next(self, size: int) -> bytes:
        """Up to ``size`` bytes from the stream, past what was peeked at."""
        try:
            data = self._take(size)
        except EOFError:
            raise DataError(self.name, None, "compressed file is incomplete") from None
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise DataError(self.name, None, f"compressed file is damaged ({error})") from None
        except OSError as error:
            if error.errno is None:  # bz2 says "Invalid data stream" this way
                raise DataError(self.name, None, f"compressed file is damaged ({error})") from None
            raise _os_error(self.name, error) from None
        except Exception as error:
            if type(error).__module__.split(".")[0] == "zstandard" or type(error).__name__ == "ZstdError":
                raise DataError(self.name, None, f"compressed file is damaged ({error})") from None
            raise
        self.size += len(data)
        if self._hash is not None:
            self._hash.update(data)
        return data

    def record(self) -> dict[str, Any]:
        """Name (last part of the path), bytes read and their SHA-256: what identifies this input in a run."""
        digest = self._hash.hexdigest() if self._hash is not None else None
        return {"name": os.path.basename(self.name), "bytes": self.size, "sha256": digest}

    def close(self) -> None:
        if self._raw is not None:
            if self._stream is not self._raw:
                self._stream.close()
            self._raw.close()

    def __enter__(self) -> Input:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def line_blocks(source: Input, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines: ``(number of the first line, bytes)``.

    Every block ends with a line feed, but for the last one of a file without a final one. A byte-order mark at the start of the
    file is dropped. A line longer than a block makes that block longer, nothing is cut.
    """
    line = 1
    rest: list[bytes] = []
    first = True
    while chunk := source.read(block_bytes):
        if first:
            while len(chunk) < len(_BOM) and (more := source.read(len(_BOM) - len(chunk))):
                chunk += more
            chunk = chunk.removeprefix(_BOM)
            first = False
        cut = chunk.rfind(b"\n") + 1
        if cut == 0:
            rest.append(chunk)
            continue
        block = b"".join([*rest, chunk[:cut]]) if rest else chunk[:cut]
        rest = [chunk[cut:]] if cut < len(chunk) else []
        yield line, block
        line += block.count(b"\n")
    tail = b"".join(rest)
    if tail:
        yield line, tail


def _blank_line(block: bytes, at: int) -> bytes:
    """The block with the line that holds byte ``at`` emptied: line numbers and line counts stay true."""
    start = block.rfind(b"\n", 0, at) + 1
    end = block.find(b"\n", at)
    return block[:start] + (b"" if end < 0 else block[end:])


def _text_fault(source: Input, line: int, block: bytes, offset: int) -> tuple[int, DataError] | None:
    """The first byte of a block that cannot be text, and what to say of it."""
    nul = block.find(b"\0")
    if nul >= 0:
        where = line + block.count(b"\n", 0, nul)
        return nul, DataError(source.name, where, f"NUL byte at offset {offset + nul}", "UTF-8 text")
    if utf8_check.first_fault(block) < 0:
        return None
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        where = line + block.count(b"\n", 0, error.start)
        hint = (
            "UTF-8 text (this looks like UTF-16)" if block[:2] in (b"\xff\xfe", b"\xfe\xff") else "UTF-8 text"
        )
        byte = block[error.start]
        return error.start, DataError(
            source.name, where, f"byte 0x{byte:02x} at offset {offset + error.start}", hint
        )
    return None


def text_blocks(source: Input, tally: Tally, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """As :func:`line_blocks`, and every block is UTF-8 without NUL.

    A line that is not is an invalid record: raised, or with ``skip_invalid`` counted and left as an empty line.
    Raises DataError for an input with no byte in it.
    """
    offset = 0
    for line, block in line_blocks(source, block_bytes):
        size = len(block)
        while fault := _text_fault(source, line, block, offset):
            at, error = fault
            tally.invalid(error, "line that is not UTF-8 text")
            block = _blank_line(block, at)
        if block:
            yield line, block
        offset += size
    if source.size == 0:
        raise DataError(source.name, None, "is empty")


# --- outputs ---------------------------------------------------------------------------------------------------


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise WordkitError now if ``path`` could not be written later: before a long run, not after it."""
    path = os.fspath(path)
    if path == "-":
        return
    if os.path.isdir(path):
        raise WordkitError(f"{path}: is a folder, expected a file name")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise WordkitError(f"{path}: there is no folder {os.path.dirname(path) or folder}")
    if _is_special(path):
        return
    if not os.access(folder, os.W_OK):
        raise WordkitError(f"{path}: the folder cannot be written")
    if compression_of(path) == ".zst":
        _zstandard(path)


def _is_special(path: str) -> bool:
    """A pipe, a device or a socket: written in place, since there is nothing to rename over."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _compressed(stream: BinaryIO, path: str) -> Any:
    suffix = compression_of(path)
    if suffix == ".gz":  # no name and no time inside, so that equal results are equal files
        return gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0)
    if suffix == ".bz2":
        return bz2.BZ2File(stream, "wb")
    if suffix == ".xz":
        return lzma.LZMAFile(stream, "wb")
    if suffix == ".zst":
        return _zstandard(path).ZstdCompressor().stream_writer(stream, closefd=False)
    return None


@contextlib.contextmanager
def _writing(stream: BinaryIO, path: str) -> Iterator[BinaryIO]:
    packed = _compressed(stream, path)
    if packed is None:
        yield stream
    else:
        yield packed
        packed.close()


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose content appears at ``path`` whole, or not at all if the block raises.

    Written beside the target, synced, renamed; compressed by suffix; ``-`` is standard output. A link is followed, an
    existing file keeps its permissions, a pipe or device is written in place.
    """
    path = os.fspath(path)
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        if _is_special(path):
            with open(path, "wb") as stream, _writing(stream, path) as out:
                yield out
            return
        target = os.path.realpath(path)
        folder, base = os.path.split(target)
        mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
        handle, temporary = tempfile.mkstemp(prefix=f".{base[:40]}.", suffix=".part", dir=folder)
    except OSError as error:
        raise _os_error(path, error) from None
    try:
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        with open(handle, "wb", buffering=1 << 18) as whole:
            with _writing(whole, path) as out:
                yield out
            whole.flush()
            os.fsync(whole.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise _os_error(path, error) from None
        raise


def seekable(source: Input) -> IO[bytes]:
    """The whole input as a stream that can seek: the file itself where it can, else its bytes in memory.

    Bytes that were only peeked at are part of it.
    """
    if source._stream is source._raw and source._raw is not None and source._raw.seekable():
        if source._hash is not None:  # what the caller reads from the raw file would not be counted
            while source.read(BLOCK_BYTES):
                pass
        source._raw.seek(0)
        return source._raw
    return io.BytesIO(source.read())
