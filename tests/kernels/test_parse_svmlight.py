"""The svmlight kernel against its twin, and its decimals against Python's float()."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.parse_svmlight import parse_line
from wordkit._kernels import parse_svmlight as kernel

FAULTS = {
    kernel.NO_LABEL: "NO_LABEL",
    kernel.BAD_FIELD: "BAD_FIELD",
    kernel.BAD_VALUE: "BAD_VALUE",
    kernel.NOT_FINITE: "NOT_FINITE",
    kernel.TOO_LARGE: "TOO_LARGE",
    kernel.BELOW_BASE: "BELOW_BASE",
    kernel.TWICE: "TWICE",
    kernel.QID_MISSING: "QID_MISSING",
    kernel.QID_UNEXPECTED: "QID_UNEXPECTED",
}


def outputs(rows: int, places: int) -> list[np.ndarray]:
    return [
        np.empty((rows, 2), np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows + 1, np.int64),
        np.empty(places, np.int32),
        np.empty(places, np.float32),
        np.empty((places, 3), np.int64),
        np.empty(places, np.uint64),
    ]


def new_state() -> np.ndarray:
    state = np.zeros(kernel.STATE_SIZE, np.int64)
    state[kernel.LINE], state[kernel.QID] = 1, -1
    return state


def parse(block: bytes, base: int = 0, labelled: bool = True):
    """All records as (label, qid, features) by line, all faults by line, and the final state."""
    arrays = outputs(block.count(b"\n"), len(block) // 4 + 1)
    spans, qids, lines, indptr, indices, values, undecided, _ = arrays
    state, faults = new_state(), {}
    while status := kernel.parse_lines(block, state, base, labelled, *arrays):
        faults[int(state[kernel.LINE]) - 1] = FAULTS[status]
    for place, start, end in undecided[: state[kernel.UNDECIDED]]:
        values[place] = float(block[start:end])
    records = {}
    for row in range(state[kernel.ROWS]):
        part = slice(indptr[row], indptr[row + 1])
        label = block[spans[row, 0] : spans[row, 1]].decode()
        features = list(zip(indices[part].tolist(), values[part], strict=True))
        records[int(lines[row])] = (label, int(qids[row]), features)
    return records, faults, state


def value_of(text: str) -> np.float32 | str:
    records, faults, _ = parse(f"a 1:{text}\n".encode())
    return faults[1] if faults else records[1][2][0][1]


def assert_same_bits(text: str) -> None:
    with np.errstate(over="ignore"):
        expected = np.float32(float(text))
    got = value_of(text)
    if np.isfinite(expected):
        assert not isinstance(got, str), (text, got)
        assert got.tobytes() == expected.tobytes(), text
    else:
        assert got == "NOT_FINITE", text


def test_by_hand():
    records, faults, _ = parse(b"+1 qid:3 2:0.5 7:-1e2 # c 1:1\n\n# x\nb\r\n-1 qid:3\t1:+.25#c\n", base=1)
    assert records == {1: ("+1", 3, [(1, 0.5), (6, -100.0)]), 5: ("-1", 3, [(0, 0.25)])}
    assert faults == {4: "QID_MISSING"}


field = st.one_of(
    st.builds(
        "{}:{}".format, st.integers(0, 6), st.sampled_from(["1", "0", "-2.5", "1e-3", "3.", ".5", "7e+0"])
    ),
    st.sampled_from(
        [
            "qid:1",
            "qid:12",
            "qid:",
            "qid:x",
            "#",
            "# 1:1",
            "1:2#c",
            "3",
            ":",
            "1:",
            ":1",
            "-1:1",
            "0x1:1",
            "a:1",
            "1:1:1",
        ]
    ),
    st.sampled_from(
        ["2147483647:1", "2147483648:1", "99999999999999999999:1", "1:1e39", "1:nan", "1:-inf", "1:1_0"]
    ),
    st.sampled_from(["1:1e", "1:1e+", "1:.", "1:--1", "1:1.2.3", "007:1", "1:0e999", "1:1e-999"]),
)
line = st.builds(
    lambda lead, label, fields, space, tail: lead + space.join([*label, *fields]) + tail,
    st.sampled_from(["", "", " ", "\t"]),
    st.lists(st.sampled_from(["1", "-1", "+1", "a:b", "é", "x#y", "qid", "#"]), max_size=1),
    st.lists(field, max_size=6),
    st.sampled_from([" ", "\t", "  "]),
    st.sampled_from(["", "", " ", "\r"]),
)


@given(st.lists(line, max_size=6), st.integers(0, 1), st.booleans())
def test_equals_twin(lines, base, labelled):
    records, faults, _ = parse("".join(text + "\n" for text in lines).encode(), base, labelled)
    rule = None
    for number, text in enumerate(lines, 1):
        expected = parse_line(text, base, labelled)
        if isinstance(expected, tuple):
            has = expected[1] >= 0
            rule = has if rule is None else rule
            if has != rule:
                expected = "QID_MISSING" if rule else "QID_UNEXPECTED"
        got = records.get(number, faults.get(number))
        assert got == expected, text
        if isinstance(expected, tuple):  # 0.0 == -0.0 to Python
            assert [v.tobytes() for _, v in got[2]] == [v.tobytes() for _, v in expected[2]]


@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from(["{!r}", "{:.3f}", "{:.17g}", "{:.25e}"]),
)
def test_decimals_of_floats(value, form):
    assert_same_bits(form.format(value))


@given(
    st.from_regex(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
def test_decimals_of_any_form(text):
    assert_same_bits(text)


@given(st.integers(1, 0x7F7FFFFE), st.integers(-1, 1))
def test_decimals_half_way_between_floats(bits, nudge):
    low, high = np.array([bits, bits + 1], np.uint32).view(np.float32).tolist()
    middle = (Fraction(low) + Fraction(high)) / 2
    digits = 160
    scaled = middle * 10**digits  # a float32 and its half-way points have fewer decimals than this
    assert scaled.denominator == 1
    text = str(int(scaled) + nudge).rjust(digits + 1, "0")
    assert_same_bits(f"{text[:-digits]}.{text[-digits:]}")


@pytest.mark.parametrize(
    "text", ["3.4028234663852886e38", "3.4028235e38", "3.40282357e38", "3.5e38", "1e400", "-1e39"]
)
def test_top_of_the_range(text):
    assert_same_bits(text)


@pytest.mark.parametrize(
    "text", ["1e-45", "7e-46", "7.1e-46", "1e-400", "0." + "0" * 60 + "1", "-0", "0e99999999999999999999"]
)
def test_bottom_of_the_range(text):
    assert_same_bits(text)


@given(st.integers(1 << 22, 0x7F7FFFFE), st.integers(23, 40), st.integers(-2, 2))
def test_decimals_beside_a_half_way_point(bits, power, nudge):
    """Mantissas below 2**53 with powers of ten that no double holds exactly."""
    low, high = (Fraction(x) for x in np.array([bits, bits + 1], np.uint32).view(np.float32).tolist())
    middle = (low + high) / 2
    for e in (power, -power):
        mantissa = round(middle / Fraction(10) ** e) + nudge
        if 10**14 < mantissa < 2**53:
            assert_same_bits(f"{mantissa}e{e}")


def test_no_trust_in_inexact_powers():
    for bits in range(0x7F000000, 0x7F7FFFFE, 41_000):
        low, high = (Fraction(x) for x in np.array([bits, bits + 1], np.uint32).view(np.float32).tolist())
        assert_same_bits(f"{round((low + high) / 2 / 10**23)}e23")


def test_a_refused_line_leaves_nothing_undecided():
    half = "1.000000059604644775390625"
    records, faults, state = parse(f"a 1:{half} 2:x\nb 1:7\n".encode())
    assert (records, faults) == ({2: ("b", -1, [(1, 7)])}, {1: "BAD_VALUE"})
    assert state[kernel.UNDECIDED] == 0


def test_undecided_values_follow_the_sorting():
    half = "1.000000059604644775390625"  # half-way between 1 and the next float32
    records, _, state = parse(f"a 9:1.0000000596046452 3:5 7:{half} 1:-{half}\n".encode())
    assert state[kernel.UNDECIDED] == 3
    above = np.nextafter(np.float32(1), np.float32(2))
    assert records[1][2] == [(1, -1), (3, 5), (7, 1), (9, above)]


@given(st.lists(st.integers(0, 2**31 - 1), unique=True, max_size=300))
def test_any_order_of_indices(indices):
    block = "a " + " ".join(f"{i}:{k}" for k, i in enumerate(indices)) + "\n"
    records, _, _ = parse(block.encode())
    assert records[1][2] == sorted((i, k) for k, i in enumerate(indices))


def test_long_unsorted_line_is_fast_and_a_duplicate_is_named():
    block = b"a " + b" ".join(b"%d:1" % i for i in range(200_000, 0, -1))
    assert len(parse(block + b"\n")[0][1][2]) == 200_000
    arrays, state = outputs(1, len(block) // 2), new_state()
    assert kernel.parse_lines(block + b" 77:2\n", state, 1, True, *arrays) == kernel.TWICE
    assert state[kernel.INDEX] == 77


def test_stops_when_rows_are_full_and_goes_on():
    block = b"a 1:1\n\nb 2:2 3:3\nc\n"
    arrays, state = outputs(2, 10), new_state()
    assert kernel.parse_lines(block, state, 0, True, *arrays) == kernel.FULL
    assert (state[kernel.AT], state[kernel.LINE], state[kernel.ROWS], state[kernel.FILLED]) == (17, 4, 2, 3)
    state[kernel.ROWS] = state[kernel.FILLED] = 0
    assert kernel.parse_lines(block, state, 0, True, *arrays) == kernel.DONE
    assert arrays[2][0] == 4
    assert arrays[3][:2].tolist() == [0, 0]


def test_empty_block_and_read_only_block():
    assert kernel.parse_lines(b"", new_state(), 0, True, *outputs(0, 1)) == kernel.DONE
    block = np.frombuffer(b"a 1:1\n", np.uint8)
    assert not block.flags.writeable
    assert kernel.parse_lines(block, new_state(), 0, True, *outputs(1, 2)) == kernel.DONE


@pytest.mark.parametrize(
    ("block", "base", "rows", "places", "at"),
    [
        (b"a 1:1", 0, 1, 9, 0),
        (b"a 1:1\n", 2, 1, 9, 0),
        (b"a 1:1\n", 0, 1, 1, 0),
        (b"a 1:1\n", 0, 1, 9, 7),
        (b"a 1:1\n", 0, 1, 9, -1),
    ],
)
def test_wrong_arguments_are_refused(block, base, rows, places, at):
    state = new_state()
    state[kernel.AT] = at
    with pytest.raises(ValueError, match=r"state|output|line feed"):
        kernel.parse_lines(block, state, base, True, *outputs(rows, places))


def test_small_rows_arrays_are_refused():
    arrays = outputs(2, 9)
    arrays[3] = arrays[3][:2]
    with pytest.raises(ValueError, match="output"):
        kernel.parse_lines(b"a 1:1\n", new_state(), 0, True, *arrays)
