"""Features of bracketed trees and heads of phrases, by hand."""

from __future__ import annotations

import pytest

from wordkit.formats.brackets import parse_tree
from wordkit.models.head_rules import head_child
from wordkit.models.tree_features import TreeFeatures

CAT = "(S1 (S (NP (DT the) (NN cat)) (VP (VBZ sleeps) (ADVP (RB well))) (. .)))"


def features(*texts):
    known = {}
    trees = [parse_tree(text, known) for text in texts]
    words = [leaf.word for leaf in trees[0].leaves()]
    names, counts = TreeFeatures(words).counts(trees)
    return [{name: n for name, n in zip(names, row, strict=True) if n} for row in counts.tolist()]


@pytest.mark.parametrize(
    ("tree", "head"),
    [
        ("(S (NP (NN a)) (VP (VB b)) (. .))", "VP"),
        ("(NP (DT the) (JJ old) (NN cat) (PP (IN in)))", "NN"),
        ("(NP (NP (NN a)) (PP (IN in)))", "NP"),
        ("(VP (MD can) (VP (VB go)))", "MD"),
        ("(PP (IN in) (NP (NN a)))", "IN"),
        ("(SBAR (IN that) (S (NN a)))", "IN"),
        ("(ADVP-TMP (RB very) (RB well))", "RB"),
        ("(ZP (NN a) (ZZ b) (. .))", "ZZ"),
        ("(QX (NN a) (NN b) (. .))", "NN"),
        ("(QX (, ,) (. .))", "."),
        ("(VP (NP-PRD (NN a)) (JJ b))", "NP-PRD"),
    ],
)
def test_heads(tree, head):
    found = parse_tree(tree)
    assert found.children[head_child(found.label, found.children)].label == head


def test_the_head_of_several_equal_ones_is_on_the_side_of_the_rule():
    noun, adverb, verb = (
        parse_tree(f"({label} ({tag} a) ({tag} b))")
        for label, tag in (("NP", "NN"), ("ADVP", "RB"), ("VP", "VB"))
    )
    assert [head_child(tree.label, tree.children) for tree in (noun, adverb, verb)] == [1, 1, 0]


def test_by_hand():
    (found,) = features(CAT)
    for name in (
        "rule S > NP VP .", "rule-head S > NP VP . VBZ", "rule-word VP > VBZ ADVP sleeps", "rule-parent S NP > DT NN",
        "bigram VP VBZ ADVP", "trigram S < NP VP", "heads S VP NP left VBZ NN", "heads-words sleeps cat left",
        "heads-tags NN DT left", "chain S NP NN", "chain-word S NP cat", "chain ^ S1 S VP VBZ", "word well RB",
        "word-parent RB ADVP", "edges NP DT NN", "around NP <start> sleeps", "heavy VP 2 middle .", "edges-word VP well .",
    ):  # fmt: skip
        assert found[name] == 1, name
    # S1, S, VP and ADVP are on the way to `well`; NP is not
    assert found["right on"] == 4 and found["right off"] == 1


def test_features_of_a_tree_do_not_depend_on_the_others():
    other = "(S1 (S (NP (DT the) (NN cat) (VP (VBZ sleeps))) (ADVP (RB well)) (. .)))"
    both = features(CAT, other, CAT)
    assert both[0] == both[2] == features(CAT)[0]
    assert both[1] == features(other)[0] != both[0]


def test_a_deep_tree():
    depth = 3000
    (found,) = features("(A " * depth + "(T w)" + ")" * depth)
    assert found["rule A > A"] == depth - 1 and found["right on"] == depth
