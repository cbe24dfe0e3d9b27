"""Paths, pipes, compression, lines and whole-or-nothing outputs."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
import threading
import time

import pytest
import zstandard

from wordkit.errors import DataError, WordkitError
from wordkit.formats import opening
from wordkit.formats.opening import Input, compression_of, line_blocks, text_blocks
from wordkit.tally import Tally

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
TEXT = "".join(f"line {i} naïve — 語\n" for i in range(500)).encode()
suffixes = pytest.mark.parametrize("suffix", COMPRESS)


@pytest.fixture
def stored(tmp_path):
    def store(content: bytes, name: str = "x.txt"):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return store


@pytest.fixture
def piped(monkeypatch):
    """Standard input that holds some bytes, as a real pipe."""

    def feed(*writes: bytes):
        read, write = os.pipe()

        def send():
            with contextlib.suppress(BrokenPipeError), open(write, "wb", buffering=0) as out:
                for data in writes:
                    out.write(data)
                    time.sleep(0.02)

        threading.Thread(target=send, daemon=True).start()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(open(read, "rb")))  # noqa: SIM115

    yield feed
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.close()


def read_all(path, block=1 << 20) -> bytes:
    with Input(path) as source:
        return b"".join(iter(lambda: source.read(block), b""))


def blocks(path, size, **policy) -> list[tuple[int, bytes]]:
    with Input(path) as source:
        return list(text_blocks(source, Tally(**policy), size))


# --- compression -----------------------------------------------------------------------------------------------


@suffixes
def test_compressed_by_suffix(stored, suffix):
    path = stored(COMPRESS[suffix](TEXT), f"x.vec{suffix}")
    assert read_all(path) == read_all(path, 7) == TEXT
    assert compression_of(path) == compression_of(path.upper()) == suffix
    assert opening.uncompressed_suffix(path) == ".vec"


@suffixes
def test_compressed_standard_input_by_magic(piped, suffix):
    piped(COMPRESS[suffix](TEXT))
    assert read_all("-") == TEXT


def test_magic_that_comes_in_pieces(piped):
    data = gzip.compress(TEXT)
    piped(data[:1], data[1:3], data[3:])
    assert read_all("-") == TEXT


def test_plain_standard_input_that_begins_like_a_magic(piped):
    piped(b"B", b"Z", b"ip\n")
    assert read_all("-") == b"BZip\n"


@suffixes
def test_compressed_members_one_after_the_other(stored, suffix):
    path = stored(COMPRESS[suffix](b"a\n") + COMPRESS[suffix](b"b\n"), f"x{suffix}")
    assert read_all(path) == b"a\nb\n"


@suffixes
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_u013_truncated(stored, suffix, share):
    data = COMPRESS[suffix](os.urandom(20_000))
    path = stored(data[: int(len(data) * share)], f"x{suffix}")
    with pytest.raises(DataError, match=rf"x\{suffix}: compressed file is incomplete"):
        read_all(path)


@suffixes
def test_truncated_by_one_byte(stored, suffix):
    with pytest.raises(DataError, match="incomplete"):
        read_all(stored(COMPRESS[suffix](TEXT)[:-1], f"x{suffix}"))


@suffixes
def test_truncated_standard_input(piped, suffix):
    piped(COMPRESS[suffix](TEXT)[:-3])
    with pytest.raises(DataError, match="<stdin>: compressed file is incomplete"):
        read_all("-")


@suffixes
def test_damaged(stored, suffix):
    data = bytearray(COMPRESS[suffix](TEXT * 20))
    middle = len(data) // 2
    data[middle : middle + 8] = bytes(255 - b for b in data[middle : middle + 8])
    with pytest.raises(DataError, match=rf"x\{suffix}: compressed file is (damaged|incomplete)"):
        read_all(stored(bytes(data), f"x{suffix}"))


@suffixes
def test_not_compressed_at_all(stored, suffix):
    with pytest.raises(DataError, match="compressed file is damaged"):
        read_all(stored(b"just text\n" * 3, f"x{suffix}"))


def test_missing_file_folder_and_loop(tmp_path):
    with pytest.raises(WordkitError, match="none: No such file or directory"):
        Input(tmp_path / "none")
    with pytest.raises(WordkitError, match="is a folder"):
        Input(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(WordkitError, match="loop: Too many levels"):
        Input(tmp_path / "loop")


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(WordkitError, match="<stdin>"):
        Input("-")


def test_record_is_of_the_decompressed_bytes(stored):
    records = []
    for path in (stored(TEXT, "a.txt"), stored(gzip.compress(TEXT), "b.gz")):
        with Input(path, digest=True) as source:
            while source.read(100):
                pass
            records.append(source.record())
    assert records[0]["name"] == "a.txt" and records[0]["bytes"] == len(TEXT)
    assert records[0]["sha256"] == records[1]["sha256"]


@pytest.mark.parametrize("ahead", [0, 1, 5, 100_000])
def test_peek_leaves_what_it_saw(stored, ahead):
    with Input(stored(TEXT)) as source:
        assert source.peek(ahead) == TEXT[:ahead]
        assert source.peek(2) == TEXT[:2]
        assert source.read(3) + source.read(-1) == TEXT
        assert source.peek(1) == source.read(1) == b""


# --- lines -----------------------------------------------------------------------------------------------------

ODD = "\ufeffa b\r\nc\r\n\r\nd\u2028e\x85f\x0cg\n\nlast without an end \u00e9".encode()


@pytest.mark.parametrize("content", [ODD, ODD + b"\n", b"\n\n\n", b"x", b"\xef\xbb\xbfx\n", TEXT[:250]])
def test_blocks_of_every_size_are_the_whole(stored, content):
    path = stored(content)
    bare = content.removeprefix(b"\xef\xbb\xbf")
    for size in range(1, len(content) + 2):
        got = blocks(path, size)
        assert b"".join(block for _, block in got) == bare
        assert all(block.endswith(b"\n") for _, block in got[:-1])
        for number, (line, _) in enumerate(got):
            assert line == 1 + sum(block.count(b"\n") for _, block in got[:number])


def test_line_longer_than_a_block(stored):
    long = b"w " * 5000 + b"\n"
    got = blocks(stored(b"a\n" + long + b"b\n" * 40), 16)
    assert got[0] == (1, b"a\n") and got[1][0] == 2
    assert got[1][1].startswith(long) and len(got[1][1]) < len(long) + 16


def test_u034_byte_order_mark_only_at_the_start(stored):
    assert blocks(stored(b"\xef\xbb\xbfthe\n\xef\xbb\xbfcat\n"), 4)[-1][1].endswith(b"\xef\xbb\xbfcat\n")
    assert blocks(stored(b"\xef\xbb\xbf"), 2) == []


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
def test_u017_empty(stored, content):
    name = "x.gz" if content else "x.txt"
    with pytest.raises(DataError, match=rf"{name}: is empty"):
        blocks(stored(content, name), 10)


FAULTS = [
    (b"ok\nb\xffd\nok\n", 2, "byte 0xff at offset 4"),
    (b"ok\nb\0d\nok\n", 2, "NUL byte at offset 4"),
    (b"\xef\xbb\xbfok\nb\xff\n", 2, "byte 0xff at offset 7"),
    ("né\n".encode() * 3 + b"n\xc3", 4, "byte 0xc3 at offset 13"),
    (b"a\xc3\nb\0\n", 1, "byte 0xc3 at offset 1"),
    (b"a\0\nb\xc3\n", 1, "NUL byte at offset 1"),
    (b"\xed\xa0\x80\n", 1, "byte 0xed at offset 0"),
    ("a\n".encode("utf-16"), 1, "looks like UTF-16"),
]


@pytest.mark.parametrize(("content", "line", "says"), FAULTS)
def test_u009_u019_not_text(stored, content, line, says):
    path = stored(content)
    for size in range(1, len(content) + 1):
        with pytest.raises(DataError, match=rf"x\.txt:{line}: .*{says}"):
            blocks(path, size)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_skip_invalid_keeps_line_numbers(stored, end):
    content = b"a\n\xff bad\nb\nbad \0\n\xc3\nc\nlast \xe9" + end
    path = stored(content)
    for size in range(1, len(content) + 1):
        tally = Tally(skip_invalid=True)
        with Input(path) as source:
            got = list(text_blocks(source, tally, size))
        assert b"".join(block for _, block in got) == b"a\n\nb\n\n\nc\n\n"
        assert tally.counts == {"line that is not UTF-8 text skipped": 4}
        assert [line for line, _ in got] == [
            1 + sum(block.count(b"\n") for _, block in got[:n]) for n in range(len(got))
        ]


def test_many_bad_lines_are_passed_over_in_linear_time(stored):
    path = stored(b"caf\xe9 au lait\n" * 60_000)
    started = time.process_time()
    tally = Tally(skip_invalid=True)
    with Input(path) as source:
        assert sum(block.count(b"\n") for _, block in text_blocks(source, tally)) == 60_000
    assert time.process_time() - started < 3
    assert sum(tally.counts.values()) == 60_000


def test_pipe_is_read_as_it_comes(piped):
    piped(b"1\n", b"second\n")
    with Input("-") as source:
        assert next(line_blocks(source)) == (1, b"1\n")
