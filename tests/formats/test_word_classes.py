"""Words with classes: columns, names, separators, repeated words."""

from __future__ import annotations

import pytest

from wordkit.errors import DataError
from wordkit.formats.word_classes import read_word_classes
from wordkit.tally import Tally


def read(tmp_path, text: str, tally: Tally | None = None):
    (tmp_path / "c.txt").write_text(text)
    return read_word_classes(tmp_path / "c.txt", tally)


def test_names_of_columns(tmp_path):
    found = read(tmp_path, "# a comment\nWord\tclass6\tclass2\r\ncat\tanimal\tnatural\r\n\npen\ttool\t-\r\n")
    assert found.words == ["cat", "pen"]
    assert found.columns == {"class6": ["animal", "tool"], "class2": ["natural", ""]}


@pytest.mark.parametrize("separator", ["\t", ",", " ", "   "])
def test_without_names(tmp_path, separator):
    found = read(tmp_path, f"cat{separator}animal\npen{separator}tool\n")
    assert found.words == ["cat", "pen"] and found.columns == {"class": ["animal", "tool"]}
    assert list(read(tmp_path, "a,x,y\n").columns) == ["class1", "class2"]


def test_a_word_twice_counts_once(tmp_path):
    tally = Tally()
    found = read(tmp_path, "cat\tanimal\ncat\ttool\n", tally)
    assert (
        found.words == ["cat"]
        and found.columns == {"class": ["animal"]}
        and tally.counts == {"duplicate word": 1}
    )
    with pytest.raises(DataError, match=r"c.txt:2: the word `cat` was there before"):
        read(tmp_path, "cat\tanimal\ncat\ttool\n", Tally(strict=True))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("word\tclass\n", "holds no word"),
        ("cat\n", ":1: 1 column, expected a word and its class"),
        ("cat\tanimal\npen\n", ":2: 1 column, expected 2 as before"),
        ("cat\tanimal\n\ttool\n", ":2: an empty word"),
        ("word\tc\tc\n", ":1: two columns have one name"),
    ],
)
def test_faults(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read(tmp_path, text)


def test_bad_lines_are_skipped_and_counted(tmp_path):
    tally = Tally(skip_invalid=True)
    assert read(tmp_path, "cat\tanimal\npen\ndog\tanimal\n", tally).words == ["cat", "dog"]
    assert tally.counts == {"word skipped": 1}
