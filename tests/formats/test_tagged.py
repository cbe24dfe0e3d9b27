"""Sentences in columns with entity tags: the published forms, what users trip over, arbitrary bytes."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.tagged import read_tagged
from wordkit.tally import Tally

GOOD = "EU I-ORG\nrejects O\n\nPeter B-PER\n"
WORDS, TAGS = [["EU", "rejects"], ["Peter"]], [["I-ORG", "O"], ["B-PER"]]


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes, name: str = "n.conll") -> str:
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
        GOOD.replace(" ", "\t"),
        GOOD.replace(" ", "   "),
        "\n \n" + GOOD.replace("\n\n", " \n\t\n\n") + "\n\t\n",
    ],
)
def test_u033_forms_of_a_file(written, content):
    for path in (written(content), written(gzip.compress(content.encode()), "n.gz")):
        found = read_tagged(path)
        assert (found.words, found.tags, found.pos, found.width) == (WORDS, TAGS, None, 2)
        assert (found.n_tokens, found.marks, found.name) == (3, 0, path)


def test_columns_of_2003_2002_and_by_option(written):
    conll2003 = written("EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n", "2003")
    found = read_tagged(conll2003)
    assert found.pos == [["NNP", "VBZ"]] and found.tags == [["I-ORG", "O"]]
    assert read_tagged(written("EU NC B-ORG\n")).pos == [["NC"]]
    assert read_tagged(conll2003, pos_column=0).pos is None
    found = read_tagged(conll2003, pos_column=3, label_column=4)
    assert found.pos == [["I-NP", "I-VP"]]
    found = read_tagged(written("1\tEU\tB-ORG\tO\n"), word_column=2, label_column=3)
    assert (found.words, found.tags, found.pos) == ([["EU"]], [["B-ORG"]], None)
    found = read_tagged(written("EU NNP B-ORG O\n"), predicted=True)
    assert (found.tags, found.predicted, found.pos) == ([["B-ORG"]], [["O"]], [["NNP"]])
    assert read_tagged(written("EU B-ORG O\n"), predicted=True).pos is None


def test_u035_a_hash_is_a_word(written):
    assert read_tagged(written("#\tO\n#tag\tB-X\n")).words == [["#", "#tag"]]


def test_u039_marks_of_documents_are_counted_and_left_out(written):
    marked = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n-DOCSTART- O\nPeter NNP I-NP I-PER\n\n-DOCSTART-\n-DOCSTART-x N N O\n"
    found = read_tagged(written(marked))
    assert found.words == [["EU"], ["Peter"], ["-DOCSTART-x"]] and found.marks == 3
    with pytest.raises(DataError, match="holds no sentence"):
        read_tagged(written("-DOCSTART- O\n"))


def test_a_no_break_space_is_part_of_a_word(written):
    assert read_tagged(written("x\xa0y O\nz\u2028 O\n")).words == [["x\xa0y", "z\u2028"]]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("a O\nb\n", 2, "1 column, expected 2, as in the lines before"),
        ("a\n", 1, "1 column, expected 2 at least: a word and its tag"),
        ("a O\n\nb NN\n", 3, "tag `NN`, expected O, B-TYPE or I-TYPE"),
        ("a O\nb B-\n", 2, "tag `B-`, expected O, B-TYPE or I-TYPE"),
        ("a\tO\n\tO\n", 2, "an empty word, expected a word and its tag"),
        (b"a O\nb\xff O\n", 2, "byte 0xff at offset 5, expected UTF-8 text"),
    ],
)
def test_bad_sentences_are_errors_or_passed_over_whole(written, content, line, says):
    with pytest.raises(DataError) as caught:
        read_tagged(written(content))
    assert caught.value.line == line and str(caught.value).endswith(f":{line}: {says}")
    tally = Tally(skip_invalid=True)
    good = "\n\nc O\nd O\n" if isinstance(content, str) else b"\n\nc O\nd O\n"
    found = read_tagged(written(content + good), tally=tally)
    assert found.words[-1] == ["c", "d"] and tally.counts == {"sentence skipped": 1}
    assert "b" not in [word for words in found.words for word in words]


def test_an_empty_file_and_one_with_nothing(written):
    with pytest.raises(DataError, match="is empty"):
        read_tagged(written(""))
    with pytest.raises(DataError, match="holds no sentence"):
        read_tagged(written("\n \n"))


@settings(max_examples=200)
@given(
    st.binary(max_size=60) | st.text("ab -#\t\n\rOBI", max_size=60).map(str.encode),
    st.booleans(),
    st.booleans(),
)
def test_arbitrary_bytes(tmp_path_factory, content, skip, predicted):
    path = tmp_path_factory.mktemp("any") / "n.conll"
    path.write_bytes(content)
    with contextlib.suppress(WordkitError):
        found = read_tagged(path, predicted=predicted, tally=Tally(skip_invalid=skip))
        assert [len(words) for words in found.words] == [len(tags) for tags in found.tags]
