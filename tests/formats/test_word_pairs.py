"""Word pairs with scores as the published sets have them, and as users make them."""

from __future__ import annotations

import contextlib
import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.word_pairs import read_word_pairs
from wordkit.tally import Tally


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes, name: str = "pairs") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def listed(pairs) -> list[tuple[str, str, float]]:
    return list(zip(pairs.first, pairs.second, pairs.scores.tolist(), strict=True))


EXPECTED = [("sun", "light", 9.5), ("new york", "Rome", -1.0)]


@pytest.mark.parametrize(
    "content",
    [
        "sun\tlight\t9.5\nnew york\tRome\t-1\n",
        "sun\tlight\t9.5\r\nnew york\tRome\t-1\r\n",
        "\ufeffsun\tlight\t9.5\nnew york\tRome\t-1",
        "\n\nsun\tlight\t9.5\n \t\nnew york\tRome\t-1\n\n",
        "sun,light,9.5\nnew york,Rome,-1\n",
        'sun, light, 9.5\n"new york",Rome,-1e0\n',
        "Word 1,Word 2,Human (mean)\nsun,light,9.5\nnew york,Rome,-1\n",
        "# from people\n#word1\tword2\tscore\nsun\tlight\t9.5\nnew york\tRome\t-1\n",
        "9.5\tsun\tlight\n-1\tnew york\tRome\n",
        "sun\t9.5\tlight\nnew york\t-1\tRome\n",
        "word1\tword2\tPOS\tscore\tconc\nsun\tlight\tN\t9.5\t1\nnew york\tRome\tN\t-1\t2\n",
        "sun\tlight\t9.5\t10\t9\nnew york\tRome\t-1\t0\t-2\n",
    ],
)
def test_forms_of_a_set(written, content):
    assert listed(read_word_pairs(written(content))) == EXPECTED
    assert listed(read_word_pairs(written(gzip.compress(content.encode()), "pairs.gz"))) == EXPECTED


def test_spaces_separate_where_there_is_nothing_else(written):
    pairs = read_word_pairs(written("word1  word2 score\nsun   light 9.5\n1984 2001 3\n# x 1\n"))
    assert listed(pairs) == [("sun", "light", 9.5), ("1984", "2001", 3.0), ("#", "x", 1.0)]
    assert pairs.lines == [2, 3, 4] and len(pairs) == 3
    assert pairs.notes[0].endswith("pairs:1: no number, taken for the names of the columns")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("cat\tcar", "2: 2 columns, expected 3: word, word, score"),
        ("cat", "2: 1 column, expected 3: word, word, score"),
        ("cat\tcar\tlow", "2: `low` is not a number"),
        ("cat\tcar\t7,5", "2: `7,5` is not a number"),
        ("cat\tcar\tnan", "2: `nan` is not a number"),
        ("cat\tcar\t1e999", "2: `1e999` is not a number"),
        ("cat\tcar\t1_0", "2: `1_0` is not a number"),
        ("cat\t\t1", "2: an empty word, expected 3: word, word, score"),
        ("cat\tcar\t1 \udcff", "2: byte 0xff at offset 22, expected UTF-8 text"),
    ],
)
def test_bad_lines_are_errors_or_counted(written, line, says):
    path = written(f"cat\tdog\t7.5\n{line}\na\tb\t1\n".encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError) as caught:
        read_word_pairs(path)
    assert str(caught.value) == f"{path}:{says}"
    tally = Tally(skip_invalid=True)
    assert listed(read_word_pairs(path, tally)) == [("cat", "dog", 7.5), ("a", "b", 1.0)]
    assert sum(tally.counts.values()) == 1


def test_the_wrong_separator_is_told_of_at_the_first_line(written):
    with pytest.raises(DataError, match="pairs:1: 1 column, expected 3"):
        read_word_pairs(written("cat;dog;7.5\na;b;1\n"))


def test_only_one_line_can_be_a_header(written):
    with pytest.raises(DataError, match="pairs:2: `low` is not a number"):
        read_word_pairs(written("cat\tdog\thigh\ncat\tcar\tlow\n"))


@pytest.mark.parametrize("score", ["nan", "-inf", "NaN"])
def test_a_first_pair_without_a_finite_score_is_no_header(written, score):
    with pytest.raises(DataError, match=f"pairs:1: `{score}` is not a number"):
        read_word_pairs(written(f"cat\tdog\t{score}\ncat\tcar\t1\n"))


@pytest.mark.parametrize(
    ("content", "says"), [("", "is empty"), ("\n", "holds no pair"), ("a\tb\tscore\n", "holds no pair")]
)
def test_sets_without_a_pair(written, content, says):
    with pytest.raises(DataError, match=says):
        read_word_pairs(written(content))


def test_pairs_that_are_there_twice_count_twice_and_are_told_of(written):
    pairs = read_word_pairs(written("a b 1\nb a 2\na a 3\na b 4\n"))
    assert len(pairs) == 4 and pairs.notes == [f"{written('a b 1')}: 2 pairs more than once; each counts"]


pieces = st.sampled_from(
    [b"\t", b",", b" ", b"\n", b"\r", b'"', b"#", b"a", b"1", b"-2.5", b"\xff", b"\0", b"\xef\xbb\xbf"]
)


@settings(max_examples=300)
@given(st.lists(pieces, max_size=30).map(b"".join), st.booleans())
def test_any_bytes_are_pairs_or_a_clean_error(tmp_path_factory, content, skip):
    path = tmp_path_factory.getbasetemp() / "hostile.txt"
    path.write_bytes(content)
    with contextlib.suppress(WordkitError):
        pairs = read_word_pairs(path, Tally(skip_invalid=skip))
        assert len(pairs) and all(pairs.first) and all(pairs.second) and np.isfinite(pairs.scores).all()


def test_a_quoted_field_beyond_what_csv_takes(written):
    pairs = read_word_pairs(written('a,b,1\n"' + "c" * 200_000 + '",d,2\n'))
    assert len(pairs) == 2


@pytest.mark.realdata
def test_real_sets(real_data):
    sizes = {"WS-353-ALL": 353, "WS-353-REL": 252, "WS-353-SIM": 203, "SIMLEX-999": 999, "MEN-TR-3k": 3000,
             "RW-STANFORD": 2034}  # fmt: skip
    for name, size in sizes.items():
        pairs = read_word_pairs(real_data / "wordsim" / f"EN-{name}.txt")
        assert len(pairs) == size and pairs.scores.min() >= 0
        assert not any(word.endswith("\r") for word in (*pairs.first, *pairs.second))
