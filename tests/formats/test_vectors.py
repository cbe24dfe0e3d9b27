"""Vector files: what users met (USERLOG)."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from wordkit.errors import DataError, DataWarning, WordkitError
from wordkit.formats.vectors import FORMATS, iter_vectors, read_vectors, vector_writer, write_vectors
from wordkit.tally import Tally

SUFFIX = {"word2vec": ".vec", "glove": ".txt", "word2vec-binary": ".bin", "npz": ".npz"}


@pytest.fixture
def load(tmp_path):
    """Write bytes to a file and read it with a tally of its own."""

    def run(data: bytes, name: str = "v.vec", policy: dict | None = None, **options):
        path = tmp_path / name
        path.write_bytes(data)
        tally = Tally(**(policy or {}))
        words, vectors = read_vectors(path, tally=tally, **options)
        assert vectors.dtype == np.float32 and vectors.flags.c_contiguous and len(words) == len(vectors)
        return SimpleNamespace(words=words, vectors=vectors, tally=tally, lines="\n".join(tally.lines()))

    return run


def refused(load, data: bytes, *parts: str, **options) -> None:
    with pytest.raises(DataError) as caught:
        load(data, **options)
    text = str(caught.value)
    assert "\n" not in text and text.startswith(os.sep) and all(part in text for part in parts), text


def test_u001_header_promises_too_many_or_too_few_rows(load):
    found = load(b"3 2\na 1 0\nb 0 1\n")
    assert found.words == ["a", "b"] and "announces 3 rows, 2 read" in found.lines
    assert "announces 1 rows, 2 read" in load(b"1 2\na 1 0\nb 0 1\n").lines
    refused(load, b"3 2\na 1 0\nb 0 1\n", ":1:", "3 rows", "2 read", policy={"strict": True})
    row = b"a " + np.float32([1, 2]).tobytes()
    found = load(b"3 2\n" + row)
    assert found.words == ["a"] and "3 rows, 1 read" in found.lines
    assert load(b"1 2\n" + row + b"\nb" + row[1:]).words == ["a", "b"]


def test_u002_no_header(load):
    found = load(b"the 0.1 0.2\nof 0.3 0.4\n")
    assert found.words == ["the", "of"] and np.array_equal(
        found.vectors, np.float32([[0.1, 0.2], [0.3, 0.4]])
    )
    assert load(b"1984 0.1 0.2\n7 3 4\n", format="glove").words == ["1984", "7"]


def test_u003_word_with_a_space(load):
    found = load(b"2 3\nnew york 1 2 3\nparis 4 5 6\n")
    assert found.words == ["new york", "paris"] and found.vectors.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert load(b"paris 4 5 6\nnew york 1 2 3\nrome 1 1 1\n").words == ["paris", "new york", "rome"]
    found = load(b"2 2\n26 000 1 2\nb 3 4\n")
    assert found.words == ["26 000", "b"] and "ends in a number" in found.lines


@pytest.mark.parametrize("suffix", [".vec", ".bin", ".npz"])
def test_u004_what_is_saved_reads_back_or_is_refused(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    if suffix == ".bin":
        with pytest.raises(WordkitError, match=r"'my name'.*word2vec-binary.*space"):
            write_vectors(path, ["hello", "my name"], np.eye(2))
        assert not any(tmp_path.iterdir())
    else:
        write_vectors(path, ["hello", "my name"], np.eye(2))
        assert read_vectors(path)[0] == ["hello", "my name"]


def test_u005_no_break_space_is_no_separator(load):
    assert load(b"1 2\na\xc2\xa0b 0.1 0.2\n").words == ["a\xa0b"]


def test_u006_word_that_is_a_space(load):
    found = load(b"2 3\n  1 2 3\nb 4 5 6\n")
    assert found.words == [" ", "b"] and found.vectors.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_u007_trailing_space(load):
    found = load(b"2 2\na 1 0 \nb 0 1 \n")
    assert found.words == ["a", "b"] and found.vectors.tolist() == [[1, 0], [0, 1]]


def test_u008_duplicate_words(load):
    found = load(b"3 2\na 1 0\na 9 9\nb 0 1\n")
    assert found.words == ["a", "b"] and found.vectors.tolist() == [[1, 0], [0, 1]]
    assert found.tally.counts == {"duplicate word": 1} and ":3: row 2" in found.lines
    refused(load, b"3 2\na 1 0\na 9 9\nb 0 1\n", ":3:", "'a'", policy={"strict": True})


def test_u009_undecodable_word(load):
    data = b"2 2\n\xd0 0.1 0.2\nok 0.3 0.4\n"
    refused(load, data, ":2:", "row 1 of 2", "0xd0", "offset 4")
    assert load(data, policy={"skip_invalid": True}).words == ["ok"]
    assert load(data, errors="replace").words == ["\ufffd", "ok"]
    data = b"2 1\nok " + bytes(4) + b"a\xff " + bytes(4)
    refused(load, data, "row 2 of 2", "0xff", "offset 12")
    found = load(data, policy={"skip_invalid": True})
    assert found.words == ["ok"] and sum(found.tally.counts.values()) == 1


@pytest.mark.parametrize("feed", [b"", b"\n"])
def test_u010_binary_with_and_without_line_feeds(load, feed):
    row = b" " + np.float32([1]).tobytes() + feed
    assert row.startswith(b" \x00\x00\x80\x3f")
    for words in (["a"], ["a", "bc"], ["ab", "c", "d"]):
        found = load(b"%d 1\n" % len(words) + b"".join(word.encode() + row for word in words))
        assert found.words == words and (found.vectors == 1).all() and not found.tally.counts


def test_u011_binary_that_is_cut(load):
    data = b"2 2\na " + np.float32([1, 2]).tobytes() + b"b " + np.float32([3]).tobytes()
    refused(load, data, "word 2 of 2 (`b`): 4 of 8 bytes")
    assert load(data, policy={"skip_invalid": True}).words == ["a"]
    refused(load, data[:-5], "ends inside the word")


def test_u012_web_page(load):
    refused(load, b"<!DOCTYPE html>\n<html>\n", ":1:", "<!DOCTYPE html>", "neither a header nor a row")
    refused(load, b"<!DOCTYPE html>\n", ":1:", "<!DOCTYPE", "header", format="word2vec")


def test_u013_truncated_gzip(load):
    data = gzip.compress(b"2 2\na 1 0\nb 0 1\n")
    refused(load, data[:-9], "compressed file is incomplete", name="v.vec.gz")


def test_u014_nan_and_inf_are_counted(load):
    found = load(b"3 2\na nan 1\nb 1 0\nc inf -inf\n")
    assert found.tally.counts == {"row with nan or inf": 2} and ":2: row 1: the vector of 'a'" in found.lines
    assert np.isnan(found.vectors[0, 0]) and found.vectors[1:].tolist() == [[1, 0], [np.inf, -np.inf]]


def test_u015_zero_vector_is_read(load):
    assert not load(b"2 2\na 0 0\nb 1 0\n").tally.counts


def test_u016_decimal_point_under_any_locale(tmp_path):
    code = (
        "import locale, sys, contextlib\n"
        "with contextlib.suppress(locale.Error): locale.setlocale(locale.LC_ALL, '')\n"
        "import numpy as np\n"
        "from wordkit.formats.vectors import read_vectors, write_vectors\n"
        "write_vectors(sys.argv[1], ['a'], np.float32([[0.5, 1e-30]]))\n"
        "assert read_vectors(sys.argv[1])[1].tolist() == np.float32([[0.5, 1e-30]]).tolist()\n"
    )
    results = []
    for name in ("C", "de_DE.UTF-8"):
        environment = {**os.environ, "LC_ALL": name, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], env=environment, check=True)
        results.append((tmp_path / name).read_bytes())
    assert results == [b"1 2\na 0.5 1e-30\n"] * 2


def test_u017_empty_file(load):
    for data in (b"", b"\n", b"\xef\xbb\xbf", b" \r\n"):
        for format in (None, *FORMATS):
            refused(load, data, "is empty", format=format)


def test_u020_first_rows_and_chosen_words(tmp_path):
    path, rows, dim = tmp_path / "big.vec", 4000, 50
    vectors = np.random.default_rng(0).standard_normal((rows, dim)).astype(np.float32)
    words = [f"w{i}" for i in range(rows)]
    for suffix in SUFFIX.values():
        path = tmp_path / f"big{suffix}"
        write_vectors(path, words, vectors, {v: k for k, v in SUFFIX.items()}[suffix])
        some, values = read_vectors(path, max_rows=10)
        assert some == words[:10] and np.array_equal(values, vectors[:10])
        some, values = read_vectors(path, only_words=["w3999", "w7", "absent"])
        assert some == ["w7", "w3999"] and np.array_equal(values, vectors[[7, 3999]])
        some, values = read_vectors(path, only_words={"w7", "w3999"}, max_rows=8)
        assert some == ["w7"] and values.shape == (1, dim)
        assert read_vectors(path, only_words=[])[1].shape == (0, dim)
        assert read_vectors(path, max_rows=0)[1].shape == (0, dim)


def test_u020_memory_is_that_of_the_rows(tmp_path):
    path, rows, dim = tmp_path / "v.vec.gz", 30000, 100  # compressed: the size tells nothing of the rows
    vectors = np.round(np.random.default_rng(0).standard_normal((300, dim)), 2).astype(np.float32)
    with vector_writer(path, dim, rows=rows) as write:
        for first in range(0, rows, 300):
            write([f"w{i}" for i in range(first, first + 300)], vectors)
    tracemalloc.start()
    try:
        words, values = read_vectors(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert values.shape == (rows, dim) and words[-1] == "w29999" and np.array_equal(values[-300:], vectors)
    assert peak < 1.15 * values.nbytes + 300 * rows + 8e6


def test_u021_binary_as_text_and_text_as_binary(load):
    binary = b"2 3\n" + b"".join(w + b" " + np.float32([0.5, -1, 3e-5]).tobytes() for w in (b"a", b"b"))
    assert load(binary).words == ["a", "b"]
    refused(load, binary, "looks like a binary file", format="word2vec")
    refused(load, binary[4:], "looks like a binary file")
    refused(load, b"2 2\na 1 0\nb 0 1\n", "looks like a text file", format="word2vec-binary")


def test_u022_width_changes(load):
    data = b"3 3\na 1 2 3\nb 4 5\nc 7 8 9\n"
    refused(load, data, ":3:", "2 numbers", "expected 3")
    found = load(data, policy={"skip_invalid": True})
    assert found.words == ["a", "c"] and found.vectors.tolist() == [[1, 2, 3], [7, 8, 9]]
    refused(load, data[4:], ":2:", "2 numbers", "expected 3")
    refused(load, b"2 2\na x 0\nb 0 1\n", ":2:", "'x' is not a number")
    refused(load, b"2 2\n 1 2\nb 0 1\n", ":2:", "no word")


def test_u024_carriage_returns(load):
    found = load(b"2 2\r\na 1 0\r\nb 0 1 \r\n")
    assert found.words == ["a", "b"] and found.vectors.tolist() == [[1, 0], [0, 1]]
    assert load(b"a 1 0\r\nb 0 1\r\n").words == ["a", "b"]


def test_u034_byte_order_mark(load):
    for data in (b"1 2\na 1 0\n", b"a 1 0\n", b"1 1\na " + bytes(4)):
        found = load(b"\xef\xbb\xbf" + data)
        assert found.words == ["a"] and not found.tally.counts
    refused(load, b"\xef\xbb\xbf1 2\n\xd0 1 0\n", "offset 7")


def test_without_a_tally_counts_are_python_warnings(tmp_path):
    path = tmp_path / "v.vec"
    path.write_bytes(b"3 2\na 1 0\nb 0 1\n")
    with pytest.warns(DataWarning, match="3 rows, 2 read"):
        read_vectors(path)
    with pytest.warns(DataWarning, match="3 rows, 2 read"):
        list(iter_vectors(path))


def test_odd_headers(load):
    assert load(b"0 5\n").vectors.shape == (0, 5) and load(b"0 5").vectors.shape == (0, 5)
    refused(load, b"2 0\na\nb\n", ":1:", "0 dimensions")
    refused(load, b"2 99999999999999999999\na 1\n", ":1:", "dimensions")
    refused(load, b"9 2000000000\na 1 2\n", ":2:", "2 numbers", "2000000000")
    refused(load, b"99999999999999 2000000000\na \x00\x01", "2 of 8000000000 bytes")
    refused(load, b"1 300\n" + b"\x00" * 200_000, "no space")
    assert load(b"99999999999999999999 2\na 1 2\n").words == ["a"]
    refused(load, b"3 2\nx\ny\nz\n", "none of its 3 rows", policy={"skip_invalid": True})
