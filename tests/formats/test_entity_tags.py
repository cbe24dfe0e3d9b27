"""What tags span: conlleval's rules, the strict reading, schemes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit.formats.entity_tags import SCHEMES, entities, iob2, scheme_of


@pytest.mark.parametrize(
    ("tags", "conlleval", "strict"),
    [
        ("B-P I-P O B-P", [(0, 2, "P"), (3, 4, "P")], [(0, 2, "P"), (3, 4, "P")]),
        ("I-P I-P", [(0, 2, "P")], []),
        ("O I-P O", [(1, 2, "P")], []),
        ("B-P I-L I-L", [(0, 1, "P"), (1, 3, "L")], [(0, 1, "P")]),
        ("I-P B-P I-P", [(0, 1, "P"), (1, 3, "P")], [(1, 3, "P")]),
        ("B-P B-P", [(0, 1, "P"), (1, 2, "P")], [(0, 1, "P"), (1, 2, "P")]),
        ("B-P O I-P", [(0, 1, "P"), (2, 3, "P")], [(0, 1, "P")]),
        ("B-P I-P E-P S-P S-P", [(0, 3, "P"), (3, 4, "P"), (4, 5, "P")], [(0, 2, "P")]),
        ("B-P L-P U-L", [(0, 2, "P"), (2, 3, "L")], [(0, 1, "P")]),
        ("E-P E-P I-P", [(0, 1, "P"), (1, 2, "P"), (2, 3, "P")], []),
        ("B-a-b I-a-b", [(0, 2, "a-b")], [(0, 2, "a-b")]),
        ("O", [], []),
    ],
)
def test_two_readings_of_tags(tags, conlleval, strict):
    assert entities(tags.split()) == conlleval
    assert entities(tags.split(), "iob2") == strict


def test_no_such_scheme():
    with pytest.raises(ValueError, match="scheme is 'bio', expected one of conlleval, iob2"):
        entities(["O"], "bio")


ANY_TAGS = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B", "E-A", "S-B"]), max_size=12)


@given(ANY_TAGS)
def test_iob2_tags_of_entities_give_them_back(tags):
    found = entities(tags)
    for scheme in SCHEMES:
        assert entities(iob2(len(tags), found), scheme) == found
    assert scheme_of([iob2(len(tags), found)]) == "IOB2"


def rules_of_the_shared_task(tags):
    """The begin and end conditions of conlleval, written as its documentation lists them."""
    found, start = [], None
    for i, tag in enumerate([*tags, "O"]):
        before = tags[i - 1] if i else "O"
        (p, a), (q, b) = (before.partition("-")[::2], tag.partition("-")[::2])
        ends = (
            (p in "BI" and q in "BO")
            or (p in "ES" and q in "BIEOS")
            or (p in "BIES" and q == "S")
            or (p != "O" and a != b)
        )
        begins = q in "BS" or (p in "EO" and q in "EI") or (p == "S" and q in "EI") or (q != "O" and a != b)
        if ends and start is not None:
            found.append((start, i, a))
            start = None
        if begins and q != "O":
            start = i
    return found


@given(ANY_TAGS)
def test_begins_and_ends_are_conllevals(tags):
    assert entities(tags) == rules_of_the_shared_task(tags)


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("B-P I-P O B-P B-P", "IOB2"), ("I-P I-P B-P O", "IOB1"), ("I-P O I-L", "IOB1"), ("B-P O I-P", "mixed"), ("O", "IOB2"),
        ("B-P E-P", "IOBES"), ("B-P L-P U-P", "BILOU"),
    ],
)  # fmt: skip
def test_schemes_are_recognized(tags, scheme):
    assert scheme_of([tags.split()]) == scheme
