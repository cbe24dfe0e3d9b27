"""Kernels that read vectors against their twins: bits of every number, places of every word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.reference import vector_text as twin
from wordkit._kernels import parse_floats

SETTINGS = settings(max_examples=150)


def parse(block: bytes, dim: int, capacity: int = 1000, places: int = 50):
    """(words, rows, lines that are bad), going on after every stop as the reader does."""
    words, rows, bad, at = [], [], [], 0
    while True:
        out = np.full((capacity, dim), -7, dtype=np.float32)
        spans = np.full((capacity, 2), -1, dtype=np.int64)
        undecided = np.empty((max(dim, places), 4), dtype=np.int64)
        status, at, n, hard = parse_floats.parse_rows(block, at, out, spans, undecided)
        for row, column, start, end in undecided[:hard]:
            out[row, column] = twin.to_float32(block[start:end])
        words += [block[start:end] for start, end in spans[:n]]
        rows.append(out[:n])
        assert (out[n:] == -7).all() or status == parse_floats.BAD_ROW
        if status == parse_floats.DONE:
            assert at == len(block)
            return words, np.concatenate(rows), bad
        if status == parse_floats.BAD_ROW:
            bad.append(block.count(b"\n", 0, at))
            at = block.index(b"\n", at) + 1


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    nan = np.isnan(b)
    assert np.array_equal(nan, np.isnan(a))
    assert np.array_equal(a[~nan].view(np.int32), b[~nan].view(np.int32))


def bits_of(numbers: list[bytes]) -> None:
    block = b"".join(b"w " + number + b"\n" for number in numbers)
    words, rows, bad = parse(block, 1, capacity=len(numbers) + 1)
    assert bad == [] and len(words) == len(numbers)
    with np.errstate(over="ignore"):
        assert_same_bits(rows[:, 0], np.array([twin.to_float32(number) for number in numbers]))


digits = st.text("0123456789", min_size=1, max_size=30)
numbers = st.builds(
    lambda sign, whole, part, exponent: (sign + whole + part + exponent).encode(),
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(st.just(""), st.just("."), digits.map("".join).map(lambda d: "." + d)),
    st.one_of(
        st.just(""),
        st.integers(-400, 400).map(lambda e: f"e{e:+d}"),
        st.integers(-9, 9).map(lambda e: f"E{e}"),
    ),
)


@SETTINGS
@given(st.lists(numbers, min_size=1, max_size=40))
@example(
    [
        b"1e5",
        b"-0",
        b"-0.0",
        b"00000000000000000000000001",
        b".5",
        b"5.",
        b"-.5e-3",
        b"1e99999999999999999999",
    ]
)
@example(
    [
        b"0." + b"0" * 400 + b"1e400",
        b"1" + b"0" * 400 + b"e-400",
        b"1e-99999999999999999999",
        b"0e999999999999",
    ]
)
@example(
    [
        b"9007199254740992",
        b"9007199254740993",
        b"18446744073709551615",
        b"18446744073709551616",
        b"1e22",
        b"1e23",
    ]
)
@example(
    [
        b"3.4028235e38",
        b"3.4028236e38",
        b"3.40282357e38",
        b"1e39",
        b"1e308",
        b"1e309",
        b"1.4e-45",
        b"7e-46",
        b"7.1e-46",
    ]
)
def test_any_number_has_the_bits_of_python(texts):
    bits_of(texts)


@SETTINGS
@given(
    st.lists(st.floats(width=32), min_size=1, max_size=60),
    st.sampled_from(["{:.5g}", "{:.18e}", "{!r}", "{:.9g}", "{:f}"]),
)
def test_printed_floats_have_the_bits_of_python(values, form):
    bits_of([form.format(value).encode() for value in values])


def test_halfway_cases_are_left_to_python():
    """Just beside the middle between two floats the interval check must not decide wrongly."""
    random = np.random.default_rng(0)
    low = random.integers(0x00800000, 0x7F000000, 300).astype(np.uint32)
    middle = (low.view(np.float32).astype(np.float64) + (low + 1).astype(np.uint32).view(np.float32)) / 2
    texts = []
    for value in middle.tolist():
        exact = f"{value:.60e}"
        texts += [
            exact,
            exact.replace("e", "000000001e"),
            f"{np.nextafter(value, 0):.60e}",
            f"{value:.17e}",
            f"{value:.18e}",
            f"{value:.16e}",
            f"{value:.15e}",
        ]
    bits_of([text.encode() for text in texts])


def test_values_by_name_and_what_is_no_number():
    block = b"a nan -NaN\nb inf -Infinity\nc +INF infinity\n"
    words, rows, bad = parse(block, 2)
    assert words == [b"a", b"b", b"c"] and bad == []
    assert np.isnan(rows[0]).all() and rows[1:].tolist() == [[np.inf, -np.inf], [np.inf, np.inf]]
    for text in (
        b"1_0",
        b"0x1",
        b"1,5",
        b"--1",
        b"1e",
        b"1e+",
        b".",
        b"-",
        b"nano",
        b"infi",
        b"e5",
        b"1.2.3",
        b"1\xc2\xa02",
        b"1\r2",
    ):
        assert parse(b"w " + text + b"\n", 1)[2] == [0], text


pieces = st.sampled_from(
    [b" ", b"\t", b"\r", b"\n", b"\n", b"a", b"\xc2\xa0", b"1", b"-2.5", b"1e3", b"nan", b"x1", b"."]
)


@settings(max_examples=400)
@given(st.lists(pieces, max_size=40).map(b"".join), st.integers(1, 3), st.integers(1, 4))
@example(b"  1 2\nnew york 1 2\n1 2 3\n a  1 2\na\t1 2 \r\n\n \n 1 2\nb 1", 2, 1)
def test_rows_equal_the_twin(block, dim, capacity):
    block += b"\n"
    words, rows, bad = parse(block, dim, capacity)
    expected = twin.parse_rows(block, dim)
    assert (words, bad) == (expected[0], expected[2])
    assert_same_bits(rows, expected[1])


def test_hand_computed_row():
    out, spans, undecided = (
        np.empty((2, 3), np.float32),
        np.empty((2, 2), np.int64),
        np.empty((3, 4), np.int64),
    )
    result = parse_floats.parse_rows(b"?\nnew york 1 -2.5e1 .5 \r\n", 2, out, spans, undecided)
    assert result == (parse_floats.DONE, 25, 1, 0)
    assert out[0].tolist() == [1, -25, 0.5] and spans[0].tolist() == [2, 10]


def test_stops_where_the_list_of_undecided_numbers_is_full():
    hard = b"1.00000005960464477539062500000000000001"  # a hair above the middle of 1 and the next float
    block = b"".join(b"w%d %s %s\n" % (i, hard, hard) for i in range(5))
    undecided = np.empty((3, 4), np.int64)
    status, at, rows, n = parse_floats.parse_rows(
        block, 0, np.empty((9, 2), np.float32), np.empty((9, 2), np.int64), undecided
    )
    assert (status, rows, n) == (parse_floats.UNDECIDED_FULL, 1, 2) and block[at:].startswith(b"w1")
    words, values, _ = parse(block, 2, places=3)
    assert len(words) == 5 and (values == np.float32(float(hard))).all()


def test_doors_refuse_what_does_not_fit():
    out, spans, undecided = (
        np.empty((2, 3), np.float32),
        np.empty((2, 2), np.int64),
        np.empty((3, 4), np.int64),
    )
    for arguments in (
        (b"a 1 2 3", 0, out, spans, undecided),
        (b"a\n", 3, out, spans, undecided),
        (b"a\n", -1, out, spans, undecided),
        (b"a\n", 0, out, spans[:1], undecided),
        (b"a\n", 0, out, spans, undecided[:2]),
        (b"a\n", 0, out[:, :0].copy(), spans, undecided),
    ):
        with pytest.raises(ValueError):
            parse_floats.parse_rows(*arguments)
    for arguments in ((b"a", 2, out, spans), (b"a", 0, out, spans[:1]), (b"a", 0, out[:, :0].copy(), spans)):
        with pytest.raises(ValueError):
            parse_floats.copy_rows(*arguments)
    with pytest.raises(ValueError):
        parse_floats.pack_spans(b"abc", np.array([[0, 4]]), 1, np.empty(9, np.uint8))
    with pytest.raises(ValueError):
        parse_floats.pack_spans(b"abc", np.array([[0, 3]]), 1, np.empty(3, np.uint8))


def test_empty_and_read_only_inputs():
    out, spans = np.empty((0, 2), np.float32), np.empty((0, 2), np.int64)
    assert parse_floats.parse_rows(b"", 0, out, spans, np.empty((2, 4), np.int64)) == (0, 0, 0, 0)
    assert parse_floats.copy_rows(b"", 0, out, spans) == (0, 0)
    assert parse_floats.nonfinite_rows(out) == (0, -1)
    rows = np.array([[1, 2], [np.nan, 1], [0, -np.inf]], np.float32)
    rows.setflags(write=False)
    assert parse_floats.nonfinite_rows(rows) == (2, 1)


@SETTINGS
@given(st.binary(max_size=80), st.integers(1, 3), st.integers(0, 5))
@example(b"\n\na 12345678\nb 12345678", 2, 5)
@example(b"a 12345678b 1234567", 2, 5)
def test_binary_rows_equal_the_twin(data, dim, capacity):
    out, spans = np.empty((capacity, dim), np.float32), np.empty((capacity, 2), np.int64)
    at, n = parse_floats.copy_rows(data, 0, out, spans)
    words, rows = twin.copy_rows(data, dim)
    assert n == min(len(words), capacity) and [data[s:e] for s, e in spans[:n]] == words[:n]
    assert out[:n].tobytes() == rows[:n].tobytes()
    packed = np.empty(len(data) + n, np.uint8)
    used = parse_floats.pack_spans(data, spans, n, packed)
    assert packed[:used].tobytes() == b"".join(word + b"\n" for word in words[:n])
    assert n == 0 or at == spans[n - 1, 1] + 1 + 4 * dim
