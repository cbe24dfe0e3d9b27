"""Brackets counted as EVALB does: by hand, and on real parses whose counts are known."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.formats.brackets import iter_candidates, parse_tree, read_gold
from wordkit.formats.nbest_counts import read_counts
from wordkit.models.bracket_counts import GoldBrackets, plain_label


def counts(gold, candidate):
    return GoldBrackets(parse_tree(gold)).counts(parse_tree(candidate))


@pytest.mark.parametrize(
    ("gold", "candidate", "expected"),
    [
        # the root does not count, nor do words with their tags
        ("(S1 (S (NP (N a)) (VP (V b))))", "(S1 (S (NP (X a)) (VP (V b))))", (3, 3, 3)),
        ("(TOP (S (NP (N a)) (VP (V b))))", "( (S (NP (N a) (V b))))", (1, 3, 2)),
        # a bracket that stands twice counts twice, and is matched as often as the gold tree has it
        ("(S1 (NP (NP (N a))))", "(S1 (NP (N a)))", (1, 2, 1)),
        ("(S1 (NP (N a)))", "(S1 (NP (NP (N a))))", (1, 1, 2)),
        # what the gold tree tags as punctuation is taken out of both, whatever the candidate says
        ("(S1 (S (NP (N a)) (. .) (VP (V b))))", "(S1 (S (NP (N a) (X .)) (VP (V b))))", (3, 3, 3)),
        ("(S1 (S (NP (N a)) (X .) (VP (V b))))", "(S1 (S (NP (N a) (. .)) (VP (V b))))", (2, 3, 3)),
        ("(S1 (S (NP (N a)) (PRN (, ,))))", "(S1 (S (NP (N a)) (PRN (, ,))))", (2, 2, 2)),
        # traces, function tags, co-indexing, PRT
        (
            "(S1 (S (NP-SBJ-1 (N a)) (VP (V b) (NP (-NONE- *-1)))))",
            "(S1 (S (NP (N a)) (VP=2 (V b))))",
            (3, 3, 3),
        ),
        ("(S1 (VP (V b) (PRT (RP up))))", "(S1 (VP (V b) (ADVP (RB up))))", (2, 2, 2)),
    ],
)
def test_by_hand(gold, candidate, expected):
    assert counts(gold, candidate) == expected


def test_labels_without_function_tags():
    labels = {
        "NP-SBJ": "NP",
        "NP=2": "NP",
        "S": "S",
        "-LRB-": "-LRB-",
        "": "",
        "ADVP-TMP=3": "ADVP",
        "=2": "=2",
    }
    assert {label: plain_label(label) for label in labels} == labels


def test_another_number_of_words_is_refused():
    with pytest.raises(ValueError, match="a tree of 1 words; the gold tree has 2"):
        counts("(S (N a) (N b))", "(S (N a))")


@pytest.mark.realdata
def test_counts_of_real_parses(real_data):
    """200 sentences of the Penn treebank sample, 9,929 parses: the counts are those of a scorer after EVALB's manner."""
    folder = real_data / "nbest"
    gold = read_gold(folder / "trees" / "gold-trees.dev.gz")
    qids, expected = read_counts(folder / "counts.dev.gz")
    found = []
    for one in iter_candidates(folder / "trees" / "nbest-trees.dev.gz"):
        brackets = GoldBrackets(gold[one.qid])
        found += [(one.qid, *brackets.counts(tree)) for tree in one.trees]
    assert len(found) == 9929
    assert np.array_equal(np.array(found), np.column_stack([qids, expected])[: len(found)])
