"""Phrases with judgements: every form that is published, and what is none of them."""

from __future__ import annotations

import pytest

from wordkit.errors import DataError
from wordkit.formats.phrases import Phrases, read_phrases
from wordkit.tally import Tally


def read(tmp_path, text: str, tally: Tally | None = None) -> Phrases:
    (tmp_path / "p.txt").write_text(text)
    return read_phrases(tmp_path / "p.txt", tally)


PAIR = "adjectivenouns old man young boy 4\n"


@pytest.mark.parametrize(
    "text",
    [
        PAIR,
        "type word1 word2 word3 word4 score\n" + PAIR,
        PAIR.replace(" ", "\t"),
        PAIR.replace(" ", ","),
        "participant20 adjectivenouns 3 old man young boy 4\n",
        "participant type group a b c d similarity\nparticipant20 adjectivenouns 3 old man young boy 4\r\n",
    ],
)
def test_pairs(tmp_path, text):
    found = read(tmp_path, text)
    assert (found.kind, found.types, len(found)) == ("pairs", ["adjectivenouns"], 1)
    assert (found.left, found.right, found.scores.tolist()) == ([("man", "old")], [("boy", "young")], [4.0])


@pytest.mark.parametrize(
    "text",
    [
        "participant verb subject object landmark input hilo\np1 provide family home supply 4 HIGH\n",
        "p1 provide family home supply 4 HIGH\n",
        "subject\tverb\tobject\tlandmark\tscore\nfamily\tprovide\thome\tsupply\t4\n",
        "participant\tsent1\tsent2\tscore\np1\tfamily provide home and man does too\tfamily supply home and man does too\t4\n",
    ],
)
def test_verbs(tmp_path, text):
    found = read(tmp_path, text)
    assert (found.kind, found.types) == ("verbs", ["verbs"])
    assert (found.left, found.right, found.scores.tolist()) == (
        [("provide", "family", "home")],
        [("supply",)],
        [4.0],
    )


def test_acceptability(tmp_path):
    rows = "legal\tcelebration\tacceptable\nlegal\tmountain\tDeviant\n"
    for text in (rows, "adjective\tnoun\tclass\n" + rows, rows.replace("\t", " ")):
        found = read(tmp_path, text)
        assert (found.kind, found.scores.tolist(), found.right) == ("acceptability", [1.0, 0.0], [(), ()])
        assert found.left == [("celebration", "legal"), ("mountain", "legal")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("adjective noun class\n", "holds no phrase"),
        ("a b c d\n", ":1: 4 columns of another kind, expected type and four words"),
        ("a b good\n", ":1: 3 columns of another kind"),
        (PAIR + "adjectivenouns a b c 4\n", ":2: 5 columns, expected 6 as before"),
        (PAIR + "adjectivenouns a b c d x\n", ":2: `x` is not a number"),
        (PAIR.replace(" ", "\t") + "adjectivenouns\ta\t\tc\td\t3\n", ":2: an empty word"),
        ("a b acceptable\nc d fine\n", ":2: class `fine`, expected acceptable or deviant"),
        ("sent1\tsent2\tscore\na b\ta b c\t1\n", ":2: a sentence of fewer than three words"),
    ],
)
def test_faults(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read(tmp_path, text)


def test_bad_rows_are_skipped_and_counted(tmp_path):
    tally = Tally(skip_invalid=True)
    assert len(read(tmp_path, PAIR + "x\n" + PAIR, tally)) == 2 and tally.counts == {"row skipped": 1}


@pytest.mark.realdata
def test_real_file(real_data):
    found = read_phrases(real_data / "compositional" / "ELLDIS.txt")
    assert (found.kind, len(found)) == ("verbs", 9167) and 1 <= found.scores.min() < found.scores.max() <= 7
    with pytest.raises(DataError, match="5 columns of another kind"):
        read_phrases(real_data / "compositional" / "reddy2011-noun-compounds.tsv")
