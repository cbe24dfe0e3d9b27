"""Paths files: what is written is read back, and what is no record is named."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.clusters import Clusters, read_clusters, write_clusters
from wordkit.tally import Tally

TEXT = "00\tthe\t9\n00\ta\t4\n01\tcat\t3\n1\t.\t7\n"


@pytest.fixture
def stored(tmp_path):
    def store(content: bytes | str, name: str = "x.paths"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return store


def listed(found: Clusters) -> list[tuple[str, str, int]]:
    return [
        (found.paths[c], word, n)
        for c, word, n in zip(found.labels.tolist(), found.words, found.counts.tolist(), strict=True)
    ]


EXPECTED = [("00", "the", 9), ("00", "a", 4), ("01", "cat", 3), ("1", ".", 7)]

letters = st.characters(exclude_characters="\t\n\0", exclude_categories=["Cs"])
names = st.text(letters, min_size=1, max_size=6).filter(lambda word: not word.endswith("\r"))


@settings(max_examples=50)
@given(
    st.lists(st.tuples(names, st.integers(0, 10**18 - 1), st.integers(0, 4)), min_size=1, unique_by=lambda row: row[0]),
    st.sampled_from(["x.paths", "x.gz"]),
)  # fmt: skip
def test_u004_written_is_read(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("clusters") / name
    words, counts, labels = map(list, zip(*rows, strict=True))
    paths = ["1", "00", "010", "0110", "0111"]
    write_clusters(path, paths, words, np.array(counts), np.array(labels))
    found = read_clusters(path)
    expected = sorted(
        ((paths[c], word, n) for word, n, c in rows), key=lambda row: (row[0], -row[2], words.index(row[1]))
    )
    assert listed(found) == expected
    assert found.paths == sorted({paths[c] for c in labels}) and found.labels.dtype == np.int32
    again = path.with_name("again-" + name)
    write_clusters(again, found.paths, found.words, found.counts, found.labels)
    assert listed(read_clusters(again)) == expected


def test_u070_lines_are_path_word_count_in_order(tmp_path):
    path = tmp_path / "x.paths"
    labels = np.array([2, 0, 1, 0])
    write_clusters(path, ["00", "01", "1"], [".", "a", "cat", "the"], np.array([7, 4, 3, 9]), labels)
    assert path.read_text() == TEXT


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.rstrip("\n").encode(),
        TEXT.rstrip("\n").replace("\n", "\r\n").encode() + b"\r\n\r\n",
        b"\n" + TEXT.encode() + b" \t\n\n",
        gzip.compress(TEXT.encode()),
    ],
    ids=["plain", "mark", "crlf", "no last line feed", "crlf and blank", "blank lines", "gz"],
)
def test_u034_variants_of_a_file(stored, content):
    assert (
        listed(read_clusters(stored(content, "x.gz" if content[:2] == b"\x1f\x8b" else "x.paths")))
        == EXPECTED
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("00 the 9", "1 field, expected bit string, word and count between tabs"),
        ("00\tthe", "2 fields, expected bit string, word and count between tabs"),
        ("00\tthe\t9\t1", "4 fields, expected bit string, word and count between tabs"),
        ("00\t\t9", "the word is empty, expected bit string, word and count between tabs"),
        ("\tthe\t9", "bit string '', expected zeros and ones"),
        ("02\tthe\t9", "bit string '02', expected zeros and ones"),
        ("the\t00\t9", "bit string 'the', expected zeros and ones"),
        ("0１\tthe\t9", "bit string '0１', expected zeros and ones"),
        ("00\tthe\t-9", "count '-9', expected a whole number"),
        ("00\tthe\t9.0", "count '9.0', expected a whole number"),
        ("00\tthe\t", "count '', expected a whole number"),
        ("00\tthe\t٣", "count '٣', expected a whole number"),
        ("00\tthe\t" + "9" * 30, "count '" + "9" * 30 + "', expected a whole number"),
    ],
)
def test_lines_that_are_no_record(stored, line, says):
    path = stored(TEXT + "\n" + line + "\n11\tdog\t1\n")
    with pytest.raises(DataError) as error:
        read_clusters(path)
    assert str(error.value) == f"{path}:6: {says}"
    tally = Tally(skip_invalid=True)
    assert listed(read_clusters(path, tally=tally)) == [*EXPECTED, ("11", "dog", 1)]
    assert sum(tally.counts.values()) == 1


def test_word_that_comes_twice(stored):
    path = stored(TEXT + "11\tcat\t5\n")
    tally = Tally()
    assert listed(read_clusters(path, tally=tally)) == EXPECTED and tally.counts == {"duplicate word": 1}
    with pytest.raises(DataError, match=r"x\.paths:5: duplicate word `cat`"):
        read_clusters(path, tally=Tally(strict=True))


def test_u017_nothing_in_it(stored):
    for content, says in ((b"", "is empty"), (b"\n\n", "holds no word"), (b"\xef\xbb\xbf", "holds no word")):
        with pytest.raises(DataError, match=says):
            read_clusters(stored(content))
    with pytest.raises(DataError, match=r"x\.paths:1: "):
        read_clusters(stored(b"00\t\xff\xfe\t3\n"))


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb", "a\0", "a\r", "\r", "\ud800"])
def test_u004_words_that_no_line_can_hold(tmp_path, word):
    path = tmp_path / "x.paths"
    path.write_text("precious")
    with pytest.raises(WordkitError) as error:
        write_clusters(path, ["0"], ["good", word], np.array([2, 1]), np.array([0, 0]))
    assert repr(word) in str(error.value)
    assert path.read_text() == "precious" and len(list(tmp_path.iterdir())) == 1


def test_u005_words_keep_their_spaces(tmp_path):
    words = ["a\xa0b", "new york", " ", "\x85", "a\rb", "\u2028", "\ufeff", "#"]
    write_clusters(tmp_path / "x", ["0"], words, np.arange(8, 0, -1), np.zeros(8, int))
    assert read_clusters(tmp_path / "x").words == words


def test_numbers_of_words(stored):
    found = read_clusters(stored(TEXT))
    assert found.numbers(["cat", "zzz", ".", "a", "the"]).tolist() == [1, -1, 2, 0, 0]
    assert found.numbers([]).shape == (0,) and found.numbers([]).dtype == np.int32
