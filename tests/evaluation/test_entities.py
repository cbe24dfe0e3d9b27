"""Entities and their scores: hand-computed cases, conlleval's rules, the two readings, the baseline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit.evaluation.entities import SCHEMES, Lexicon, entities, entity_scores, iob2, scheme_of


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


def test_scores_computed_by_hand():
    gold = [["B-PER", "I-PER", "O", "B-LOC", "O", "O"], ["B-ORG", "O"], ["O", "B-LOC"]]
    found = [["B-PER", "I-PER", "O", "B-ORG", "O", "B-LOC"], ["B-ORG", "I-ORG"], ["O", "I-LOC"]]
    metrics, details = entity_scores(gold, found)
    # gold PER(0,2) LOC(3) ORG(0) LOC(1); found PER(0,2) ORG(3) LOC(5) ORG(0,2) LOC(1); right PER, the last LOC
    assert metrics == {"precision": 2 / 5, "recall": 2 / 4, "f1": 4 / 9, "accuracy": 6 / 10}
    assert details["entities"] == {"gold": 4, "predicted": 5, "correct": 2}
    assert details["per_type"]["LOC"] == {
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "gold": 2, "predicted": 2, "correct": 1,
    }  # fmt: skip
    assert details["per_type"]["ORG"]["f1"] == 0.0 and list(details["per_type"]) == ["LOC", "ORG", "PER"]
    metrics, _ = entity_scores(gold, found, "iob2")
    assert metrics["precision"] == 1 / 4 and metrics["recall"] == 1 / 4


def test_u040_i_behind_o_in_both_schemes():
    gold, found = [["B-P", "I-P"]], [["I-P", "I-P"]]
    assert entity_scores(gold, found, "conlleval")[0]["f1"] == 1
    assert entity_scores(gold, found, "iob2")[0]["f1"] == 0


def test_nothing_to_find_or_nothing_found():
    assert entity_scores([["B-P"]], [["O"]])[0] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "accuracy": 0.0,
    }
    assert entity_scores([["O"]], [["B-P"]])[0] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "accuracy": 0.0,
    }
    assert entity_scores([["O"]], [["O"]])[0] == {
        "precision": None,
        "recall": None,
        "f1": None,
        "accuracy": 1.0,
    }
    assert entity_scores([], [])[0]["accuracy"] is None
    with pytest.raises(ValueError, match="zip"):
        entity_scores([["O"]], [["O", "O"]])


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("B-P I-P O B-P B-P", "IOB2"), ("I-P I-P B-P O", "IOB1"), ("I-P O I-L", "IOB1"), ("B-P O I-P", "mixed"), ("O", "IOB2"),
        ("B-P E-P", "IOBES"), ("B-P L-P U-P", "BILOU"),
    ],
)  # fmt: skip
def test_schemes_are_recognized(tags, scheme):
    assert scheme_of([tags.split()]) == scheme


def test_the_baseline_takes_the_longest_and_leaves_out_what_had_two_types():
    words = [
        ["New", "York", "Times", "wrote", "in", "New", "York", "about", "Paris"],
        ["Paris", "Hilton", "saw", "Paris"],
    ]
    tags = [
        ["B-ORG", "I-ORG", "I-ORG", "O", "O", "B-LOC", "I-LOC", "O", "B-PER"],
        ["B-PER", "I-PER", "O", "B-LOC"],
    ]
    lexicon = Lexicon(words, tags, "conlleval")
    assert lexicon.ambiguous == 1 and len(lexicon.types) == 3
    found = lexicon.tag(["New", "York", "Times", "New", "York", "New", "Paris", "Hilton", "Paris"])
    assert found == ["B-ORG", "I-ORG", "I-ORG", "B-LOC", "I-LOC", "O", "B-PER", "I-PER", "O"]
    assert lexicon.tag([]) == [] and lexicon.tag(["New", "York"]) == ["B-LOC", "I-LOC"]
