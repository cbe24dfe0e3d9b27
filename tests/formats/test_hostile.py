"""What a hostile tester found in the readers: time and memory that grow too fast, messages that break."""

from __future__ import annotations

import gzip
import os
import time
import tracemalloc

import numpy as np
import pytest
import zstandard

from wordkit.errors import DataError, WordkitError
from wordkit.formats import opening
from wordkit.formats.conll import read_conll
from wordkit.formats.opening import Input, check_output, line_blocks, open_output, text_blocks
from wordkit.formats.svmlight import iter_svmlight, read_svmlight
from wordkit.formats.vectors import read_vectors, vector_writer
from wordkit.formats.vectors_sniff import is_number
from wordkit.tally import Tally


def within(seconds: float, work, *args, **kwargs):
    """The result of what must not take longer."""
    start = time.process_time()
    result = work(*args, **kwargs)
    assert time.process_time() - start < seconds
    return result


def test_long_runs_of_digits_take_linear_time(tmp_path):
    digits = b"1" * 300_000
    assert not within(1, is_number, digits + b"x")
    assert not within(1, is_number, digits + b"." + digits + b"e" + digits + b"x")
    for number in (b"1", b"1.", b".5", b"1.5", b"-1e-5", b"1.e5", b"INF", b"nan"):
        assert is_number(number)
    assert not any(map(is_number, (b"", b".", b"e5", b"1.5.", b"+", b"1e")))
    (tmp_path / "v").write_bytes(b"a " + digits + b"x")
    with pytest.raises(DataError, match="neither a header nor a row"):
        within(1, read_vectors, tmp_path / "v")


@pytest.mark.parametrize(
    ("row", "policy", "kind"),
    [
        (b"word%d 0.1 0.2 0.3\n", {}, "duplicate word"),
        (b"word%d\t7 0.1 0.2 0.3\n", {}, "word that ends in a number"),
        (b"word%d 0.1 x 0.3\n", {"skip_invalid": True}, "row with wrong fields skipped"),
        (b"word%d\xff 0.1 0.2 0.3\n", {"skip_invalid": True}, "row with an invalid word skipped"),
    ],
)
def test_many_rows_of_one_fault_take_linear_time(tmp_path, row, policy, kind):
    (tmp_path / "v").write_bytes(
        b"a 1 2 3\nb 1 2 3\n" * 60 + b"".join(row % (i % 50) for i in range(200_000))
    )
    tally = Tally(**policy)
    within(5, read_vectors, tmp_path / "v", tally=tally)
    assert tally.counts[kind] >= 199_950


def test_tally_makes_the_errors_that_it_keeps():
    calls = []

    def fault() -> DataError:
        calls.append(1)
        return DataError("x", 1, "odd")

    tally = Tally(skip_invalid=True)
    for _ in range(5):
        tally.warn("kind", fault)
        tally.invalid(fault, "bad")
    assert tally.counts == {"kind": 5, "bad skipped": 5} and len(calls) == 2
    assert list(tally.lines()) == ["x:1: odd (5 x kind)", "x:1: odd (5 x bad skipped)"]
    for raising in (lambda: Tally().invalid(fault), lambda: Tally(strict=True).warn("kind", fault)):
        with pytest.raises(DataError, match="x:1: odd"):
            raising()


def test_messages_are_one_line():
    assert str(WordkitError("a\nb\r\0\x1b[1m\x85\u2028é")) == r"a\nb\r\x00\x1b[1m\x85\u2028é"
    error = DataError("a\nb", 3, "the word " + repr("x\ny"), "c\n")
    assert str(error) == r"a\nb:3: the word 'x\ny', expected c\n"
    assert error.path == "a\nb"


# --- memory ------------------------------------------------------------------------------------------------------


def peak(work) -> int:
    """Bytes that some work takes at most (of Python's own)."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def zstd_zeros(size: int) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join([packer.compress(bytes(1 << 20)) for _ in range(size >> 20)]) + packer.flush()


def test_zstd_bomb_is_read_in_pieces(tmp_path):
    (tmp_path / "x.zst").write_bytes(zstd_zeros(256 << 20))

    def work():
        with Input(tmp_path / "x.zst") as source:
            while source.read(1 << 20):
                pass
            assert source.size == 256 << 20

    assert peak(work) < 48 << 20


def test_zstd_frames_of_any_size_follow_each_other(tmp_path):
    pack = zstandard.ZstdCompressor().compress
    parts = [os.urandom(size) for size in (0, 1, 255, 256, 70_000, 3)] + [b"%d" % i for i in range(2000)]
    skippable = b"\x50\x2a\x4d\x18" + (300).to_bytes(4, "little") + bytes(300)
    data = pack(b"") + skippable.join(map(pack, parts))
    (tmp_path / "x.zst").write_bytes(data)
    with Input(tmp_path / "x.zst") as source:
        assert source.read() == b"".join(parts)
    (tmp_path / "x.zst").write_bytes(data[:-1])
    with Input(tmp_path / "x.zst") as source, pytest.raises(DataError, match="is incomplete"):
        source.read()


@pytest.mark.parametrize("name", ["x.gz", "x.zst"])
def test_nul_bytes_are_found_at_once(tmp_path, name):
    zeros = gzip.compress(bytes(256 << 20), 1) if name == "x.gz" else zstd_zeros(256 << 20)
    (tmp_path / name).write_bytes(zeros)

    def work():
        with Input(tmp_path / name) as source, pytest.raises(DataError, match=r":1: NUL byte at offset 0"):
            list(text_blocks(source, Tally()))

    assert peak(work) < 48 << 20


def test_vectors_with_nul_bytes_are_refused_at_once(tmp_path):
    data = b"a 1 2\nb 1 2\n" * 30_000 + bytes(256 << 20)
    (tmp_path / "x.gz").write_bytes(gzip.compress(data, 1))

    def work():
        with pytest.raises(DataError, match=":60001: "):
            read_vectors(tmp_path / "x.gz")

    assert peak(work) < 96 << 20


def test_longest_line(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "_LONGEST_LINE", 1000)
    for before in (b"", b"a\n", b"a" * 900 + b"\n"):
        (tmp_path / "x").write_bytes(before + b"b" * 1100)
        with (
            Input(tmp_path / "x") as source,
            pytest.raises(DataError, match=r"x:[12]: a line over 1000 bytes"),
        ):
            list(line_blocks(source, 64))
    (tmp_path / "x").write_bytes((b"b" * 900 + b"\n") * 5 + b"b" * 900)
    with Input(tmp_path / "x") as source:
        assert sum(len(block) for _, block in line_blocks(source, 64)) == 5405


def test_memory_that_a_header_asks_for(tmp_path, monkeypatch):
    def take(size):
        raise MemoryError

    for name, error in (("x.xz", DataError), ("x", MemoryError)):
        (tmp_path / name).write_bytes(b"")
        with Input(tmp_path / name) as source:
            monkeypatch.setattr(source, "_take", take)
            with pytest.raises(error, match="damaged" if error is DataError else None):
                source.read()


# --- last lines, files without records ---------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"a b\n\xff", b"a b\n\xff\n", b"\n\0", b"\xff\n\xff"])
def test_emptied_last_line_stays_a_line(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    for size in (1, 3, 100):
        with Input(tmp_path / "x") as source:
            blocks = [block for _, block in text_blocks(source, Tally(skip_invalid=True), size)]
        assert b"".join(blocks).count(b"\n") == 2
    pieces = list(
        iter_svmlight(tmp_path / "x", zero_based=False, labelled=False, tally=Tally(skip_invalid=True))
    )
    assert sum(len(piece.covers) for piece in pieces) == 2


def test_last_line_of_a_treebank(tmp_path):
    row = b"1\ta\t_\tX\t_\t_\t0\troot\t_\t_"
    (tmp_path / "x").write_bytes(row + b"\n\n" + row.replace(b"a", b"\xff"))
    tally = Tally(skip_invalid=True)
    assert len(list(read_conll(tmp_path / "x", tally=tally))) == 1
    assert tally.counts == {"sentence skipped": 1}


def test_svmlight_without_records(tmp_path):
    (tmp_path / "x").write_bytes(b"\n# a comment\n \n")
    (piece,) = iter_svmlight(tmp_path / "x", zero_based=False, labelled=False)
    assert piece.labels == [] and len(piece.covers) == 3
    with pytest.raises(DataError, match="x: holds no record"):
        list(iter_svmlight(tmp_path / "x", zero_based=False))
    for labelled in (True, False):
        with pytest.raises(DataError, match="x: holds no record"):
            read_svmlight(tmp_path / "x", labelled=labelled)


@pytest.mark.parametrize(
    "data",
    [
        b"2 3\n\xff 1 2 3\n\xfe 1 2 3\n",
        b"2 3\na 1 2\n\xfe 1 2 3\n",
        b"2 3\na 1 2\nb 1 2\n",
        b"2 3\n",
        b"2 1\n\xff \0\0\0\0\xff \0\0\0\0",
    ],
)
def test_vectors_without_a_valid_row(tmp_path, data):
    (tmp_path / "v").write_bytes(data)
    with pytest.raises(DataError, match="v: none of its 2 rows is valid"):
        read_vectors(tmp_path / "v", tally=Tally(skip_invalid=True))
    words, vectors = read_vectors(tmp_path / "v", max_rows=0, tally=Tally(skip_invalid=True))
    assert words == [] and len(vectors) == 0


def test_vectors_without_rows_as_announced(tmp_path):
    (tmp_path / "v").write_bytes(b"0 3\n")
    assert read_vectors(tmp_path / "v")[1].shape == (0, 3)


# --- outputs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("", "the name of an output is empty"),
        ("a" * 300, "aaa: File name too long"),
        ("fresh/", "fresh/: is a folder"),
        ("/dev/stdout/", "is a folder"),
    ],
)
def test_names_that_no_output_can_have(tmp_path, monkeypatch, name, what):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WordkitError, match=what):
        check_output(name)
    with pytest.raises(WordkitError), open_output(name):
        pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "npz", "glove"])
def test_vectors_into_an_open_pipe(tmp_path, format):
    read, write = os.pipe()
    with open(read, "rb") as reader, open(write, "wb") as writer:
        path = f"/dev/fd/{writer.fileno()}"
        check_output(path)
        with vector_writer(path, 2, format=format) as rows:
            rows(["a", "b"], np.ones((2, 2), np.float32))
        writer.close()
        (tmp_path / "v").write_bytes(reader.read())
    words, vectors = read_vectors(tmp_path / "v", format=format)
    assert words == ["a", "b"] and (vectors == 1).all()
