"""Text to ids, against Python's own strings."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import tokenizing as twin
from wordkit._kernels import tokenizing
from wordkit.errors import DataError
from wordkit.formats.opening import Input
from wordkit.formats.text import TypeMap, TypeTable, checked_token, read_token_ids, write_text
from wordkit.tally import Tally

# Separators, what looks like one in Unicode, and some letters of one to four bytes.
pieces = st.sampled_from(
    [*" \t\n\r\x0c\x0b\x1c\x85\xa0\u2028\u3000\ufeff", "\r\n", "a", "bc", "é", "語", "𝄞"]
)
texts = st.lists(pieces, max_size=40).map("".join)


def encode(table: TypeTable, text: str) -> tuple[list[int], list[int]]:
    ids, ends = table.encode(text.encode())
    assert ids.dtype == np.int32 and ends.dtype == np.int64
    return ids.tolist(), ends.tolist()


@given(st.lists(texts, max_size=4))
def test_equals_its_twin(blocks):
    table, types = TypeTable(), {}
    for text in blocks:
        assert encode(table, text) == twin.encode(text, types)
        assert table.words() == list(types) and len(table) == len(types)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_equals_its_twin_on_any_text(text):
    types: dict[str, int] = {}
    table = TypeTable()
    assert encode(table, text) == twin.encode(text, types)
    assert table.words() == list(types)


@pytest.mark.parametrize("odd", ["\xa0", "\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x1c", "\u3000", "\r"])
def test_u005_u047_only_space_and_tab_separate(odd):
    table = TypeTable()
    assert encode(table, f"a{odd}b c\n{odd}{odd}x\nd\n") == ([0, 1, 2, 3], [2, 3, 4])
    assert table.words() == [f"a{odd}b", "c", f"{odd}{odd}x", "d"]


def test_u024_crlf_is_lf():
    plain, windows = TypeTable(), TypeTable()
    text = "a b\n\nc\td \ne"
    assert encode(plain, text) == encode(windows, text.replace("\n", "\r\n"))
    assert encode(TypeTable(), "a\r\nb\r") == ([0, 1], [1, 2])
    assert plain.words() == windows.words() == ["a", "b", "c", "d", "e"]


def test_u019_nul_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"a \0 b\n")
    with Input(tmp_path / "x") as source, pytest.raises(DataError, match=r"x:1: NUL byte at offset 2"):
        list(read_token_ids(source, TypeTable(), Tally()))


def test_grows_over_many_types():
    words = [f"w{i}" * (1 + i % 7) for i in range(60_000)]
    table = TypeTable()
    ids, ends = table.encode((" ".join(words) + "\n").encode())
    assert ids.tolist() == list(range(60_000)) and ends.tolist() == [60_000]
    again, _ = table.encode((" ".join(reversed(words)) + "\n").encode())
    assert again.tolist() == list(range(59_999, -1, -1))
    assert table.words() == words and table.words(59_990) == words[59_990:] and table.words(60_000) == []


def test_grows_for_one_long_token():
    long = "語" * 100_000
    table = TypeTable()
    assert encode(table, f"a {long}\tb {long}\n{long}") == ([0, 1, 2, 1, 1], [4, 5])
    assert table.words() == ["a", long, "b"]


def test_u064_line_of_25_000_tokens(tmp_path):
    (tmp_path / "x").write_text("a b c d e " * 5000)
    table = TypeTable()
    with Input(tmp_path / "x") as source:
        blocks = list(read_token_ids(source, table, Tally()))
    assert [len(block.ids) for block in blocks] == [25_000]
    assert np.bincount(blocks[0].ids).tolist() == [5000] * 5


def test_lines_are_counted_over_blocks(tmp_path):
    (tmp_path / "x").write_text("a b\n" * 300_000)
    with Input(tmp_path / "x") as source:
        lines = [(block.line, len(block.line_ends)) for block in read_token_ids(source, TypeTable(), Tally())]
    assert len(lines) > 1
    assert all(line + n == following for (line, n), (following, _) in pairwise(lines))
    assert sum(n for _, n in lines) == 300_000


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=8),
    st.binary(min_size=12, max_size=12),
)
def test_spans_are_numbered_as_tokens_are(spans, block):
    starts, ends = (np.array([f(span) for span in spans], dtype=np.int32) for f in (min, max))
    types: dict[bytes, int] = {}
    expected = [types.setdefault(block[a:b], len(types)) for a, b in zip(starts, ends, strict=True)]
    assert TypeTable().encode_spans(block, starts, ends).tolist() == expected


def test_span_outside_the_text():
    with pytest.raises(ValueError, match="outside"):
        TypeTable().encode_spans(b"abc", np.array([1], np.int32), np.array([4], np.int32))


def test_type_map_follows_its_table():
    table = TypeTable()
    asked: list[str] = []

    def lengths(types, start):
        words = types.words(start)
        asked.extend(words)
        return np.array([len(word) for word in words], dtype=np.int32)

    numbers = TypeMap(table, lengths)
    assert numbers(table.encode(b"a bb a\n")[0]).tolist() == [1, 2, 1]
    assert numbers(table.encode(b"ccc a\n")[0]).tolist() == [3, 1]
    assert asked == ["a", "bb", "ccc"]
    table.clear()
    assert len(table) == 0 and table.words() == []
    assert numbers(table.encode(b"dddd\n")[0]).tolist() == [4]
    assert numbers(np.empty(0, dtype=np.int32)).tolist() == []


@given(st.lists(st.lists(st.integers(-1, 5), max_size=8), max_size=6))
def test_distinct_in_rows_equals_its_twin(rows):
    ids = np.array([i for row in rows for i in row], dtype=np.int32)
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    out, out_ends = np.empty_like(ids), np.empty_like(ends)
    n = tokenizing.distinct_in_rows(ids, ends, np.full(6, -1, dtype=np.int64), out, out_ends)
    assert (out[:n].tolist(), out_ends.tolist()) == twin.distinct_in_rows(ids.tolist(), ends.tolist())


def test_distinct_in_rows_checks_its_arrays():
    ids, ends = np.array([7], dtype=np.int32), np.array([1], dtype=np.int64)
    with pytest.raises(ValueError, match="outside the scratch"):
        tokenizing.distinct_in_rows(ids, ends, np.full(6, -1, dtype=np.int64), ids.copy(), ends.copy())
    with pytest.raises(ValueError, match="no room"):
        tokenizing.distinct_in_rows(ids, ends + 1, np.full(9, -1, dtype=np.int64), ids.copy(), ends.copy())


tokens = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\0"), min_size=1).filter(
    lambda token: not token.endswith("\r")
)


@given(st.lists(st.lists(tokens, max_size=4), min_size=1, max_size=4))
def test_u004_written_text_is_read_back(tmp_path_factory, lines):
    if lines[0][:1] and lines[0][0].startswith("\ufeff"):
        lines[0] = []
    path = tmp_path_factory.mktemp("written") / "x.txt"
    write_text(path, lines)
    table = TypeTable()
    with Input(path) as source:
        blocks = list(read_token_ids(source, table, Tally()))
    words = table.words()
    read = [words[i] for block in blocks for i in block.ids]
    assert read == [token for line in lines for token in line]
    assert [n for block in blocks for n in np.diff(block.line_ends, prepend=0)] == [
        len(line) for line in lines
    ]


@pytest.mark.parametrize("token", ["", "a b", "a\tb", "a\n", "a\r", "\0"])
def test_u004_what_text_cannot_hold_is_refused(tmp_path, token):
    with pytest.raises(ValueError, match=re.escape(repr(token))):
        checked_token(token)
    with pytest.raises(ValueError, match="cannot hold"):
        write_text(tmp_path / "x", [["good", token]])
    assert not (tmp_path / "x").exists()
