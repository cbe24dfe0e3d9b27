"""What a hostile tester found in the readers: time and memory that grow too fast, messages that break."""

from __future__ import annotations

import time

import pytest

from wordkit.errors import DataError, WordkitError
from wordkit.formats.vectors import read_vectors
from wordkit.formats.vectors_sniff import is_number
from wordkit.tally import Tally


def within(seconds: float, work, *args, **kwargs):
    """The result of what must not take longer."""
    start = time.perf_counter()
    result = work(*args, **kwargs)
    assert time.perf_counter() - start < seconds
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
