"""Opens every input and output of wordkit: paths, pipes, compression, whole-or-nothing writing.

Readers take blocks of whole lines from :func:`line_blocks` or :func:`text_blocks`; writers write into
:func:`open_output`. Nothing else in the package calls ``open`` on a user's file.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO

from wordkit._kernels import utf8_check
from wordkit.errors import DataError, WordkitError
from wordkit.formats.compression import (
    compressed,
    compression_of,
    decompressed,
    sniffed,
    uncompressed_suffix,
    zstandard_for,
)
from wordkit.tally import Tally

__all__ = [
    "BLOCK_BYTES",
    "Input",
    "check_output",
    "compression_of",
    "line_blocks",
    "open_output",
    "seekable",
    "text_blocks",
    "uncompressed_suffix",
    "written_in_place",
]

BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 1 << 30
STDIN_NAME, STDOUT_NAME = "<stdin>", "<stdout>"
_BOM = b"\xef\xbb\xbf"


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
        self.mark = 0  # bytes of a byte-order mark that line_blocks has left out
        self._hash = hashlib.sha256() if digest else None
        self._raw: BinaryIO | None = None
        self._ahead = b""
        try:
            if self.path == "-":
                if sys.stdin is None:
                    raise WordkitError(f"{STDIN_NAME}: is closed")
                raw, suffix = sniffed(sys.stdin.buffer)  # never closed: it is the process's, not ours
            else:
                if os.path.isdir(self.path):
                    raise WordkitError(f"{self.path}: is a folder, expected a file")
                raw = self._raw = open(self.path, "rb", buffering=1 << 16)  # noqa: SIM115
                suffix = compression_of(self.path)
            self._packed = bool(suffix)
            self._stream = decompressed(raw, suffix, self.name)
            # A pipe's bytes are taken as they come, so that a filter answers before its input ends.
            self._take = raw.read1 if self.path == "-" and not suffix else self._stream.read
        except OSError as error:
            raise _os_error(self.name, error) from None

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
        except MemoryError:  # xz and zstd allocate what a header asks for
            if not self._packed:
                raise
            raise DataError(
                self.name, None, "compressed file is damaged (asks for too much memory)"
            ) from None
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
        name = os.path.basename(os.fsencode(self.name)).decode(
            "utf-8", "surrogateescape"
        )  # under every locale
        return {"name": name, "bytes": self.size, "sha256": digest}

    def close(self) -> None:
        if self._raw is not None:
            if self._stream is not self._raw:
                self._stream.close()
            self._raw.close()

    def __enter__(self) -> Input:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def names_of(sources: Iterable[str | os.PathLike[str] | Input]) -> str:
    """Inputs as errors name them, with commas between."""
    paths = [source.path if isinstance(source, Input) else os.fspath(source) for source in sources]
    return ", ".join(STDIN_NAME if path == "-" else path for path in paths)


@contextlib.contextmanager
def opened(path: str | os.PathLike[str] | Input) -> Iterator[Input]:
    """The input at a path, closed at the end; an open one passes through and stays the caller's."""
    if isinstance(path, Input):
        yield path
    else:
        with Input(path) as source:
            yield source


def line_blocks(
    source: Input, block_bytes: int = BLOCK_BYTES, *, cut_at_nul: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines: ``(number of the first line, bytes)``.

    Every block ends with a line feed, but for the last one of a file without a final one. A byte-order mark at the start of the
    file is dropped. A line longer than a block makes that block longer, nothing is cut, but with ``cut_at_nul`` a line that has
    shown a NUL byte (for readers that end there). A line over 1 GiB is a DataError.
    """
    line = 1
    rest: list[bytes] = []
    waiting = 0
    first = True
    while chunk := source.read(block_bytes):
        if first:
            while len(chunk) < len(_BOM) and _BOM.startswith(chunk) and (more := source.read(block_bytes)):
                chunk += more
            if chunk.startswith(_BOM):
                chunk, source.mark = chunk[len(_BOM) :], len(_BOM)
            first = False
        cut = chunk.rfind(b"\n") + 1
        if cut == 0:
            rest.append(chunk)
            waiting += len(chunk)
            if cut_at_nul and b"\0" in chunk:
                break
            if waiting > _LONGEST_LINE:
                raise DataError(source.name, line, f"a line over {_LONGEST_LINE} bytes", "lines")
            continue
        block = b"".join([*rest, chunk[:cut]]) if rest else chunk[:cut]
        rest = [chunk[cut:]] if cut < len(chunk) else []
        waiting = len(chunk) - cut
        yield line, block
        line += block.count(b"\n")
    tail = b"".join(rest)
    if tail:
        yield line, tail


def _text_fault(source: Input, line: int, text: bytes, offset: int) -> DataError | None:
    """What to say of a line that cannot be text."""
    at, what = text.find(b"\0"), "NUL byte"
    try:
        text[: at if at >= 0 else len(text)].decode("utf-8")
    except UnicodeDecodeError as error:
        at, what = error.start, f"byte 0x{text[error.start]:02x}"
    if at < 0:
        return None
    hint = " (this looks like UTF-16)" if offset == 0 and text[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    return DataError(source.name, line, f"{what} at offset {offset + at}", f"UTF-8 text{hint}")


def _is_text(block: bytes) -> bool:
    return block.find(b"\0") < 0 and utf8_check.first_fault(block) < 0


def _without_faults(source: Input, line: int, block: bytes, offset: int, tally: Tally) -> bytes:
    """The block with every line that cannot be text emptied: line numbers and line counts stay true."""
    lines = block.split(b"\n")
    for i, text in enumerate(lines):
        if fault := _text_fault(source, line + i, text, offset):
            tally.invalid(fault, "line that is not UTF-8 text")
            lines[i] = b"" if i < len(lines) - 1 else b"\n"  # a last line without line feed stays a line
        offset += len(text) + 1
    return b"\n".join(lines)


def text_blocks(source: Input, tally: Tally, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """As :func:`line_blocks`, and every block is UTF-8 without NUL.

    A line that is not is an invalid record: raised, or with ``skip_invalid`` counted and left as an empty line.
    Raises DataError for an input with no byte in it.
    """
    offset = 0
    for line, block in line_blocks(source, block_bytes, cut_at_nul=not tally.skip_invalid):
        size = len(block)
        if offset == 0 and block.startswith(b"PK\x03\x04"):
            raise DataError(source.name, None, "is a zip archive, such as a model or a counts file", "text")
        if not _is_text(block):
            block = _without_faults(source, line, block, source.mark + offset, tally)
        if block:
            yield line, block
        offset += size
    if source.size == 0:
        raise DataError(source.name, None, "is empty")


# --- outputs ---------------------------------------------------------------------------------------------------


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise WordkitError now if ``path`` could not be written later: before a long run, not after it."""
    path = _file_name(path)
    if written_in_place(path):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise WordkitError(f"{path}: there is no folder {os.path.dirname(path) or folder}")
    with _named(path), contextlib.suppress(FileNotFoundError):
        os.lstat(path)  # names that no file can have
    if not os.access(folder, os.W_OK):
        raise WordkitError(f"{path}: the folder cannot be written")
    if compression_of(path) == ".zst":
        zstandard_for(path)


def _file_name(path: str | os.PathLike[str]) -> str:
    path = os.fspath(path)
    if not path:
        raise WordkitError("the name of an output is empty, expected a file name")
    if path.endswith("/") or os.path.isdir(path):
        raise WordkitError(f"{path}: is a folder, expected a file name")
    return path


def written_in_place(path: str) -> bool:
    """Whether the path is standard output, an open descriptor, a pipe, a device or a socket: nothing to rename over."""
    try:
        return path == "-" or _own_descriptor(path) is not None or not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _own_descriptor(path: str) -> int | None:
    """N of ``/dev/stdout``, ``/dev/fd/N``, ...: opened by its name, what the file already holds would be lost."""
    if path in ("/dev/stdout", "/dev/stderr"):
        return 1 if path == "/dev/stdout" else 2
    match = re.fullmatch("/(?:dev|proc/self)/fd/([0-9]+)", path)
    return int(match[1]) if match else None


@contextlib.contextmanager
def _writing(stream: BinaryIO, path: str) -> Iterator[BinaryIO]:
    packed = compressed(stream, path)
    if packed is None:
        yield stream
    else:
        yield packed
        packed.close()


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Tells OSErrors with the output's name; a closed pipe stays BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _os_error(path, error) from None


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose content appears at ``path`` whole, or not at all if the block raises.

    Written beside the target, synced, renamed; compressed by suffix; ``-`` is standard output. A link is followed, an
    existing file keeps its permissions, a pipe, a device or an open descriptor (``/dev/stdout``) is written in place.
    """
    path = _file_name(path)
    if path == "-":
        with _named(STDOUT_NAME):
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    number = _own_descriptor(path)
    with _named(path):
        if written_in_place(path):
            if number == 1:
                sys.stdout.flush()
            with (
                open(path if number is None else os.dup(number), "wb") as stream,
                _writing(stream, path) as out,
            ):
                yield out
        else:
            with _beside(path) as out:
                yield out


@contextlib.contextmanager
def _beside(path: str) -> Iterator[BinaryIO]:
    """A stream to a temporary file in the target's folder, renamed to the target at the end."""
    target = os.path.realpath(path)
    folder, base = os.path.split(target)
    if os.path.exists(target):
        mode = stat.S_IMODE(os.stat(target).st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    handle, temporary = tempfile.mkstemp(prefix=f".{base[:40]}.", suffix=".part", dir=folder)
    try:
        with open(handle, "wb", buffering=1 << 18) as stream:
            os.chmod(temporary, mode)
            with _writing(stream, path) as out:
                yield out
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def seekable(source: Input) -> IO[bytes]:
    """The whole input as a stream that can seek: the file itself where it can, else its bytes in memory.

    Bytes that were only peeked at are part of it. An input in memory stays to be read: it can be asked for again.
    """
    if source._stream is source._raw and source._raw is not None and source._raw.seekable():
        if source._hash is not None:  # what the caller reads from the raw file would not be counted
            while source.read(BLOCK_BYTES):
                pass
        source._raw.seek(0)
        return source._raw
    source._ahead = source.read()
    return io.BytesIO(source._ahead)  # shares the bytes
