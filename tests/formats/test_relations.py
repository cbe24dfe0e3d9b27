"""Tuples of concept, class, relation and relatum."""

from __future__ import annotations

import pytest

from wordkit.errors import DataError
from wordkit.formats.relations import Relations, is_random, read_relations
from wordkit.tally import Tally


def read(tmp_path, text: str, tally: Tally | None = None) -> Relations:
    (tmp_path / "r.txt").write_text(text)
    return read_relations(tmp_path / "r.txt", tally)


def test_words_lose_the_ends_of_their_relation(tmp_path):
    found = read(tmp_path, "cat-n\tmammal\tattri\tblack-j\ncat-n\tmammal\trandom-v\tset-viewer\n")
    assert (found.concepts, found.relata, found.tags) == (
        ["cat", "cat"],
        ["black", "set-viewer"],
        ["j", "v"],
    )


def test_separators_and_order_of_names(tmp_path):
    for separator in ("\t", ",", " "):
        lines = [["q", "c", "random-n", "x-n"], ["q", "c", "coord", "y-n"], ["q", "c", "odd", "z-n"]]
        text = "".join(separator.join(line) + "\r\n" for line in lines)
        found = read(tmp_path, text)
        assert (
            found.names() == ["coord", "random-n", "odd"]
            and found.relata == ["x", "y", "z"]
            and len(found) == 3
        )
    assert is_random("random-n") and not is_random("coord")


def test_a_tuple_twice_counts_once(tmp_path):
    tally = Tally()
    assert len(read(tmp_path, "a c coord b\na-n c coord b-n\n", tally)) == 1
    assert tally.counts == {"duplicate tuple": 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("\n\n", "holds no tuple"),
        ("a\tb\tc\n", ":1: 3 columns, expected 4: concept, class, relation, relatum"),
        ("a\tb\tcoord\t\n", ":1: an empty field"),
    ],
)
def test_faults(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read(tmp_path, text)


@pytest.mark.realdata
def test_real_file(real_data):
    tally = Tally()
    found = read_relations(real_data / "bless" / "BLESS.txt", tally)
    assert len(found) == 26554 and len(set(found.concepts)) == 200 and tally.counts == {}
    assert found.names() == ["coord", "hyper", "mero", "attri", "event", "random-n", "random-j", "random-v"]
    assert found.tags.count("j") == 2731 + 2187
