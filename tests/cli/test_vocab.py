"""``wordkit vocab``: words and counts."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.cli.conftest import fails, succeeds


@pytest.fixture
def small(tmp_path):
    (tmp_path / "small.txt").write_text("the cat 2\nThe dog\n\nthe cat the\n")
    return tmp_path


def test_words_by_falling_count(samples, inside):
    run = inside("vocab", samples / "corpus.txt")
    rows = [line.split("\t") for line in succeeds(run).splitlines()]
    expected = Counter((samples / "corpus.txt").read_text().split())  # in order of first occurrence
    assert [(word, int(count)) for word, count in rows] == expected.most_common()
    assert (
        run.stderr.decode()
        == "wordkit: 1501 words kept of 1501 types (--min-count 1), 100.0% of 59099 tokens\n"
    )


def test_options(small, inside):
    assert succeeds(inside("vocab", "small.txt")) == "the\t3\ncat\t2\n2\t1\nThe\t1\ndog\t1\n"
    assert succeeds(inside("vocab", "small.txt", "--lowercase", "--min-count", "2")) == "the\t4\ncat\t2\n"
    assert succeeds(inside("vocab", "small.txt", "small.txt", "--max-vocab", "1")) == "the\t6\n"
    assert succeeds(inside("-q", "vocab", "small.txt", "-o", "v.tsv.gz")) == ""
    text = (small / "small.txt").read_bytes()
    run = inside("-q", "vocab", "-", stdin=text.replace(b"\n", b"\r\n"))
    assert succeeds(run) == succeeds(inside("vocab", "small.txt")) and run.stderr == b""


def test_u059_a_cap_keeps_exactly_that_many(small, inside):
    (small / "ten").write_text("b a c d e f g h i j j\n")
    run = inside("vocab", "ten", "--max-vocab", "3")
    assert succeeds(run) == "j\t2\nb\t1\na\t1\n"
    assert (
        b"3 words kept of 10 types (--min-count 1, --max-vocab 3)" in run.stderr
        and run.stderr.count(b"\n") == 1
    )


def test_what_is_refused(small, inside):
    fails(inside("vocab", "small.txt", "--min-count", "9"), "0 of 5 word types occur at least 9 times")
    (small / "bad").write_bytes(b"a\n\xff b\n")
    fails(inside("vocab", "bad", "-o", "v"), "bad:2: byte 0xff")
    assert not (small / "v").exists()
    assert succeeds(inside("vocab", "bad", "--skip-invalid")) == "a\t1\n"
    fails(inside("vocab"), code=2)
    fails(inside("vocab", "small.txt", "-o", "small.txt"), code=2)
