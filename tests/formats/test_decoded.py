"""What ``decode`` writes, read back."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.decoded import read_decoded


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes) -> str:
        path = tmp_path / "d.tsv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def test_classes_and_distributions_in_columns(written):
    found = read_decoded(written("the\t2\ncat\t0\n\nsat\t1\n"))
    assert (found.words, found.lines, found.kind) == ([["the", "cat"], ["sat"]], [1, 4], "Class")
    assert found.vectors.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    found = read_decoded(written("the\t1:0.75,3:1e-3\r\ncat\t0:1"))
    assert found.kind == "Posterior"
    assert found.vectors.toarray().tolist() == [[0, 0.75, 0, 1e-3], [1, 0, 0, 0]]


def test_misc_of_conll_and_of_conllulex(written):
    row = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t{}"
    lines = [
        "# a comment",
        row.format("1-2", "ab", "_"),
        row.format(1, "a", "SpaceAfter=No|Class=7"),
        row.format(2, "b", "Class=1"),
    ]
    assert read_decoded(written("\n".join(lines) + "\n\n")).words == [["a", "b"]]
    wide = [line + "\t_" * 9 if line[0] != "#" else line for line in lines]
    found = read_decoded(written("\n".join(wide) + "\n\n"))
    assert (
        found.vectors.shape == (2, 8) and found.vectors.toarray()[0, 7] == found.vectors.toarray()[1, 1] == 1
    )


def test_it_reads_what_decode_writes(inside, samples, tmp_path):
    (tmp_path / "c.txt").write_text("the cat sat\nthe dog ran\n" * 5)
    assert (
        inside(
            "train-hmtm", "c.txt", "-o", "m", "--structure", "chain", "--states", "3", "--min-count", "1"
        ).returncode
        == 0
    )
    kinds = [("viterbi", "tsv"), ("both", "tsv"), ("posterior-token", "conll"), ("viterbi", "conll")]
    shapes = []
    for representation, form in kinds:
        run = inside("decode", "m", "c.txt", "--representation", representation, "--format", form, "-o", "d")
        assert run.returncode == 0
        found = read_decoded(tmp_path / "d")
        assert found.words[:2] == [["the", "cat", "sat"], ["the", "dog", "ran"]] and len(found.words) == 10
        total = found.vectors.sum(axis=1)
        assert abs(total - (2 if representation == "both" else 1)).max() < 0.02
        shapes.append(found.vectors.shape[1])
    assert max(shapes[0], shapes[2], shapes[3]) <= 3 < shapes[1] <= 6


def test_u039_marks_of_documents_are_left_out(written):
    assert read_decoded(written("-DOCSTART-\t1\n\na\t0\n")).words == [["a"]]


def test_words_must_be_those_of_the_data(written):
    path = written("the\t2\ncat\t0\n\nsat\t1\n")
    found = read_decoded(path)
    found.check_words([["the", "cat"], ["sat"]], "n")
    for sentences, says in (
        ([["the", "dog"], ["sat"]], f"{path}:1: sentence 1, word 2 is `cat`, expected `dog`, as in n"),
        (
            [["the", "cat"], ["sat", "on"]],
            f"{path}:4: sentence 2, word 2 is `(the end of the sentence)`, expected `on`, as in n",
        ),
        ([["the", "cat"]], f"{path}:4: sentence 2, expected the 1 sentences of n"),
        ([["the", "cat"], ["sat"], ["x"]], f"{path}: 2 sentences, expected those of n, which has more"),
    ):
        with pytest.raises(DataError) as caught:
            found.check_words(sentences, "n")
        assert str(caught.value) == says


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a\t1\nb\n", "2: no word and representation between tabs"),
        ("a\t1\n\nb\tx\n", "3: `x` of the word `b`"),
        ("a\t1:\n", "1: `1:` of the word `a`"),
        ("a\t1:nan\n", "1: `1:nan` of the word `a`"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", "1: `` of the word `a`"),
    ],
)
def test_what_is_not_decoded_is_one_line(written, content, says):
    path = written(content)
    with pytest.raises(DataError) as caught:
        read_decoded(path)
    assert str(caught.value) == f"{path}:{says}, expected what wordkit decode writes: 5 or 5:0.93,17:0.07"


@settings(max_examples=200)
@given(st.binary(max_size=60) | st.text("ab1:,.\t\n\r_#", max_size=60).map(str.encode))
def test_arbitrary_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "d"
    path.write_bytes(content)
    with contextlib.suppress(WordkitError):
        found = read_decoded(path)
        assert found.vectors.shape[0] == sum(map(len, found.words))
