"""Kernels that write numbers: the text is the shortest that reads back, and laid out as Python does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit._kernels import format_floats


def formatted(values: np.ndarray) -> list[str]:
    rows = np.ascontiguousarray(values, dtype=np.float32).reshape(-1, 1)
    out = np.empty(len(rows) * 24, np.uint8)
    row, at, used = format_floats.format_rows(rows, 0, b"w\n" * len(rows), 0, out)
    assert (row, at) == (len(rows), 2 * len(rows))
    return [line[2:] for line in out[:used].tobytes().decode().split("\n")[:-1]]


def assert_shortest(values: np.ndarray) -> None:
    for value, text in zip(values, formatted(values), strict=True):
        assert text == repr(float(text))  # laid out as Python does
        assert np.float32(float(text)).tobytes() == value.tobytes()
        shortest = np.format_float_scientific(value, unique=True, trim="-").partition("e")[0]
        mine = np.format_float_scientific(float(text), unique=True, trim="-").partition("e")[0]
        assert len(mine) <= len(shortest)


def test_text_is_shortest_and_reads_back():
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**32, 6000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    assert_shortest(bits[(np.abs(bits) > 1e-13) & (np.abs(bits) < 1e21)])
    assert_shortest(np.round(random.standard_normal(1000), 4).astype(np.float32))
    powers = np.ldexp(np.float32(1), np.arange(-43, 70)).astype(np.float32)
    tens = np.array([float(f"1e{e}") for e in range(-12, 21)], dtype=np.float32)
    for edge in (powers, tens):
        for values in (
            edge,
            np.nextafter(edge, np.float32(0)),
            np.nextafter(edge, np.float32(np.inf)),
            -edge,
        ):
            assert_shortest(values)


def test_text_of_special_values_and_where_the_kernel_stops():
    special = np.array([0, -0.0, np.nan, np.inf, -np.inf, 1, 100, 1e16, 1e-5, 123456790528], np.float32)
    assert formatted(special) == [
        "0.0",
        "-0.0",
        "nan",
        "inf",
        "-inf",
        "1.0",
        "100.0",
        "1e+16",
        "1e-05",
        "123456790000.0",
    ]
    rows, out = np.array([[1, 2], [3, 1e-30], [4, 5]], np.float32), np.empty(200, np.uint8)
    row, at, used = format_floats.format_rows(rows, 0, b"a\nbb\nc\n", 0, out)
    assert (row, at, out[:used].tobytes()) == (1, 2, b"a 1.0 2.0\n")
    assert format_floats.format_rows(rows, 0, b"a\nbb\nc\n", 0, out[:10]) == (0, 0, 0)
    for value in (9e-14, -1.1e21, 1e-45, 3e38):
        assert format_floats.format_rows(np.float32([[value]]), 0, b"a\n", 0, out) == (0, 0, 0)
    used = format_floats.join_rows(rows, b"a\nbb\nc\n", out)
    assert out[:used].tobytes() == b"".join(
        w + b" " + r.tobytes() + b"\n" for w, r in zip([b"a", b"bb", b"c"], rows, strict=True)
    )


def features(rows, base: int, heads: bytes, size: int = 10_000):
    """What ``format_features`` gives for rows of (index, value)."""
    pairs = [pair for row in rows for pair in row]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices, values = np.array([i for i, _ in pairs], np.int32), np.array([v for _, v in pairs], np.float32)
    out = np.empty(size, np.uint8)
    row, at, used = format_floats.format_features(values, indices, indptr, base, 0, heads, 0, out)
    return row, at, out[:used].tobytes().decode()


exact = st.floats(2.0**-40, 2.0**66, width=32).flatmap(lambda x: st.sampled_from([x, -x, 0.0, -0.0, 1.0]))
pairs = st.tuples(st.integers(0, 2**31 - 2), exact)


@given(st.lists(st.lists(pairs, max_size=5), max_size=5), st.integers(0, 1))
def test_features_are_texts_of_python(rows, base):
    _, _, text = features(rows, base, b"h\n" * len(rows))
    expected = []
    for row in rows:
        expected.append("h")
        for index, value in row:
            (number,) = formatted(np.float32([value]))
            expected[-1] += f" {index + base}:{number.removesuffix('.0')}"
    assert text == "".join(line + "\n" for line in expected)


def test_features_by_hand_and_where_the_kernel_stops():
    rows = [[(0, 10.0), (2147483646, -0.0)], [], [(3, 1e-30)], [(4, 0.5)]]
    assert features(rows[:2], 1, b"a qid:1\n\n") == (2, 9, "a qid:1 1:10 2147483647:-0\n\n")
    assert features(rows, 0, b"a\nb\nc\nd\n") == (2, 4, "a 0:10 2147483646:-0\nb\n")
    longest = [[(2147483646, np.float32(-1.2345678e-12))] * 3]
    needed = 1 + 3 * format_floats.LONGEST_FEATURE + 1
    row, _, text = features(longest, 1, b"a\n", needed)
    assert row == 1 and len(text) <= needed
    assert features(longest, 1, b"a\n", needed - 1) == (0, 0, "")
    assert features([[], []], 1, b"a\n") == (1, 2, "a\n")
    assert features([], 1, b"") == (0, 0, "")


def test_doors_refuse_what_does_not_fit():
    rows, out = np.empty((2, 3), np.float32), np.empty(99, np.uint8)
    with pytest.raises(ValueError):
        format_floats.join_rows(rows, np.frombuffer(b"a\n", np.uint8), out)
    with pytest.raises(ValueError):
        format_floats.format_rows(rows, 3, b"a\nb\n", 0, out)
    values, indices = np.ones(2, np.float32), np.ones(2, np.int32)
    for indptr, base, first, at in [
        ([0, 2], 2, 0, 0),
        ([0, 2], 0, 2, 0),
        ([0, 2], 0, 0, 3),
        ([0, 3], 0, 0, 0),
        ([-1, 2], 0, 0, 0),
        ([0, 2, 1], 0, 0, 0),
        ([], 0, 0, 0),
    ]:
        with pytest.raises(ValueError):
            ends = np.array(indptr, np.int64)
            format_floats.format_features(values, indices, ends, base, first, b"a\n", at, out)
