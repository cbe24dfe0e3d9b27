"""Analogy questions as the published set has them, and as users make them."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.questions import is_syntactic, read_questions
from wordkit.tally import Tally

GOOD = ": capital\nOslo Norway Rome Italy\n: gram1-plural\ncat cats dog dogs\n"
EXPECTED = [("Oslo", "Norway", "Rome", "Italy"), ("cat", "cats", "dog", "dogs")]


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes, name: str = "q.txt") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD.rstrip("\n"),
        GOOD.replace(": ", ":").replace(" ", "\t"),
        GOOD.replace("\n", " \n\n \t\n").replace("Oslo", "  Oslo"),
    ],
)
def test_forms_of_a_set(written, content):
    for path in (written(content), written(gzip.compress(content.encode()), "q.gz")):
        found = read_questions(path)
        assert (found.words, found.sections, found.names) == (EXPECTED, [0, 1], ["capital", "gram1-plural"])
        assert len(found) == 2


def test_sections_of_one_name_are_one_and_names_may_hold_spaces(written):
    found = read_questions(written(": a b\n1 2 3 4\n: c\n1 2 3 4\n: a b\n5 6 7 8\n: empty\n"))
    assert found.names == ["a b", "c", "empty"] and found.sections == [0, 1, 0]


def test_a_no_break_space_is_part_of_a_word(written):
    assert read_questions(written(": a\nx\xa0y b c d\n")).words == [("x\xa0y", "b", "c", "d")]


def test_a_word_may_begin_with_a_colon(written):
    found = read_questions(written(": a\n:) :( good bad\n:b c\ngood bad :) :(\n"))
    assert found.words == [(":)", ":(", "good", "bad"), ("good", "bad", ":)", ":(")]
    assert found.names == ["a", "b c"] and found.sections == [0, 1]


def test_which_sections_are_syntactic():
    assert [is_syntactic(name) for name in ("gram1-a", "grammar", "family", "my-gram")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("a b c", "3: 3 words, expected 4: a is to b as c is to d"),
        ("a", "3: 1 word, expected 4: a is to b as c is to d"),
        ("a b c d e", "3: 5 words, expected 4: a is to b as c is to d"),
        (":", "3: a section without a name"),
        ("a b c \udcff", "3: byte 0xff at offset 18, expected UTF-8 text"),
    ],
)
def test_bad_lines_are_errors_or_counted(written, line, says):
    path = written(f": s\na b c d\n{line}\ne f g h\n".encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError) as caught:
        read_questions(path)
    assert str(caught.value) == f"{path}:{says}"
    tally = Tally(skip_invalid=True)
    assert len(read_questions(path, tally)) == 2 and sum(tally.counts.values()) == 1


def test_a_question_before_the_first_section(written):
    with pytest.raises(
        DataError, match=r"q\.txt:1: a question before the first section, expected a line `: NAME`"
    ):
        read_questions(written("a b c d\n: s\na b c d\n"))


@pytest.mark.parametrize(
    ("content", "says"), [("", "is empty"), ("\n", "holds no question"), (": s\n", "holds no que")]
)
def test_u082_sets_without_a_question(written, content, says):
    with pytest.raises(DataError, match=says):
        read_questions(written(content))


pieces = st.sampled_from(
    [b"\t", b":", b" ", b"\n", b"\r", b"a", b"gram", b"\xff", b"\0", b"\xef\xbb\xbf", b"\xc2\xa0"]
)


@settings(max_examples=300)
@given(st.lists(pieces, max_size=40).map(b"".join), st.booleans())
def test_any_bytes_are_questions_or_a_clean_error(tmp_path_factory, content, skip):
    path = tmp_path_factory.getbasetemp() / "hostile_questions.txt"
    path.write_bytes(content)
    with contextlib.suppress(WordkitError):
        found = read_questions(path, Tally(skip_invalid=skip))
        assert len(found) == len(found.sections) and all(all(words) for words in found.words)
        assert all(0 <= section < len(found.names) for section in found.sections)


@pytest.mark.realdata
def test_the_published_set(real_data):
    found = read_questions(real_data / "analogy" / "questions-words.txt")
    syntactic = sum(is_syntactic(found.names[section]) for section in found.sections)
    assert (len(found), len(found.names), syntactic) == (19_544, 14, 10_675)
