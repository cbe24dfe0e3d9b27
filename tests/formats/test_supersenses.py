"""Supersenses in STREUSLE's columns and in columns of tags."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.supersenses import kind_of, read_supersenses
from wordkit.tally import Tally

ROW = "{}\t{}" + "\t_" * 8 + "\t_\tX\tx\t{}" + "\t_" * 5
LINES = [
    "# sent_id = 1", ROW.format("1-2", "dontcare", "_"), ROW.format(1, "Dogs", "n.ANIMAL"), ROW.format(2, "run", "v.motion"),
    ROW.format("2.1", "gone", "n.ACT"), ROW.format(3, "in", "p.Locus"), ROW.format(4, "a", "_"), "",
    ROW.format(1, "him", "`$"), ROW.format(2, "Parks", "n.LOCATION"), "",
]  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes) -> str:
        path = tmp_path / "s"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def test_kinds_of_labels():
    labels = ["n.PERSON", "noun.person", "v.motion", "verb.motion", "p.Locus", "n.", "_", "", "`$", "??"]
    assert [kind_of(label) for label in labels] == ["noun", "noun", "verb", "verb", *[""] * 6]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_conllulex(written, end):
    for text in (end.join(LINES) + end, "\ufeff" + end.join(LINES[:-1])):
        found = read_supersenses(written(text))
        assert found.words == [["Dogs", "run", "in", "a"], ["him", "Parks"]]
        assert found.labels == [["n.ANIMAL", "v.motion", "", ""], ["", "n.LOCATION"]]
        assert found.others == 2


def test_columns_of_tags_count_first_words(written):
    found = read_supersenses(
        written(
            "New B-noun.location\nYork I-noun.location\nruns B-verb.motion\non B-p.Time\n\n# O\nx I-n.ACT\n"
        )
    )
    assert found.labels == [["noun.location", "", "verb.motion", ""], ["", "n.ACT"]]
    assert found.words[1] == ["#", "x"] and found.others == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", ": is empty"),
        ("a O\nb NN\n", ":2: tag `NN`, expected O, B-TYPE or I-TYPE"),
        ("1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n", ":1: 10 columns, expected 19"),
        (
            ROW.format(1, "a", "p.Locus") + "\n\n",
            ": has no supersense, expected labels such as n.PERSON and v.motion",
        ),
        (ROW.format(1, "a", "n.ACT") + "\n" + ROW.format(3, "a", "n.ACT") + "\n", ":2: ID 3, expected 2"),
    ],
)
def test_faults(written, content, says):
    path = written(content)
    with pytest.raises(DataError) as caught:
        read_supersenses(path)
    assert str(caught.value) == path + says


def test_a_bad_sentence_is_passed_over_if_asked(written):
    tally = Tally(skip_invalid=True)
    found = read_supersenses(written("\n".join([LINES[2].replace("1\t", "7\t", 1), "", *LINES])), tally=tally)
    assert len(found.words) == 2 and tally.counts == {"sentence skipped": 1}
    with pytest.raises(ValueError, match="format is 'x'"):
        read_supersenses("none", format="x")


@settings(max_examples=150)
@given(st.binary(max_size=60) | st.text("ab1.n\t\n\r_#-BO ", max_size=80).map(str.encode))
def test_arbitrary_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "s"
    path.write_bytes(content)
    with contextlib.suppress(WordkitError):
        found = read_supersenses(path)
        assert [len(words) for words in found.words] == [len(labels) for labels in found.labels]


@pytest.mark.realdata
def test_streusle(real_data):
    found = read_supersenses(real_data / "supersense/streusle.ud_dev.conllulex")
    labels = [label for own in found.labels for label in own if label]
    assert len(found.words) == 554 and sum(map(len, found.words)) == 5396
    assert [sum(kind_of(label) == kind for label in labels) for kind in ("noun", "verb")] == [1040, 660]
