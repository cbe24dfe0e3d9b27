"""``nbest --trees``: lists of bracketed trees, their counts and features; what is refused, and wrong usage of ``nbest``."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from wordkit.formats.nbest import read_lists
from wordkit.formats.nbest_counts import read_counts

TREES = """1\t-2\t(S1 (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))
1\t-3\t(S1 (S (NP (DT the)) (VP (NN cat) (VBZ sleeps))))
2\t-1\t(S1 (S (NP (NN a)) (VP (VB b)) (. .)))
2\t-9\t(S1 (NP (NN a) (VB b) (. .)))
2\t-9.5\t(S1 (S (NN a) (VP (VB b) (. .))))
"""
GOLD = "1\t(S1 (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))\n2\t(S1 (S (NP (NN a)) (VP (VB b)) (. .)))\n"


def report(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.splitlines())


def test_bracketed_trees(tmp_path, inside):
    (tmp_path / "trees").write_text(TREES)
    (tmp_path / "gold.gz").write_bytes(gzip.compress(GOLD.encode()))
    both = ("nbest", "--trees", "trees", "--gold", "gold.gz")
    outputs = (
        "--counts-out",
        "counts",
        "--model-out",
        "model",
        "--features-out",
        "features",
        "--trees-out",
        "first",
    )
    result = report(succeeds(inside(*both, "-o", "lists", *outputs, "--min-feature-count", "1")))
    _, counts = read_counts(tmp_path / "counts")
    assert counts.tolist() == [[3, 3, 3], [1, 3, 3], [3, 3, 3], [0, 3, 1], [2, 3, 2]]
    lists = read_lists(tmp_path / "lists")
    assert lists.scores.tolist() == pytest.approx([1, 1 / 3, 1, 0, 0.8])
    names = [line.split("\t")[1] for line in (tmp_path / "features").read_text().splitlines()]
    rows = lists.rows(len(names)).toarray()
    assert rows[:, 0].tolist() == [0, -1, 0, -8, -8.5]
    rule = rows[:, names.index("rule NP > DT NN")]
    assert (rule[0] - rule[1], rule[2:].tolist()) == (1, [0, 0, 0])
    assert (result["first_fscore"], result["covered"], result["total"]) == ("1", "2", "2")
    assert (tmp_path / "first").read_text().splitlines() == [TREES.splitlines()[0], TREES.splitlines()[2]]
    # the same trees with the model's features, and a choice
    (tmp_path / "choices").write_text("1\t2\n2\t3\n")
    succeeds(
        inside(
            "nbest",
            "--trees",
            "trees",
            "--model",
            "model",
            "-o",
            "again",
            "--choices",
            "choices",
            "--trees-out",
            "chosen",
        )
    )
    other = read_lists(tmp_path / "again").rows(len(names)).toarray()
    assert np.array_equal(other, rows)
    assert (tmp_path / "chosen").read_text().splitlines() == [TREES.splitlines()[1], TREES.splitlines()[4]]
    # a word that the model has not seen
    (tmp_path / "new").write_text(TREES.replace("sleeps", "snores"))
    assert (
        int(
            report(succeeds(inside("nbest", "--trees", "new", "--model", "model", "-o", "new.lists")))[
                "dropped_features"
            ]
        )
        > 0
    )


def test_faults_of_bracketed_trees(tmp_path, inside):
    (tmp_path / "trees").write_text(TREES)
    (tmp_path / "gold").write_text(GOLD.splitlines()[0] + "\n")
    both = ("nbest", "--trees", "trees", "--gold", "gold", "-o", "lists")
    fails(inside(*both), "trees:3: qid 2 has no gold tree, expected one in --gold")
    (tmp_path / "gold").write_text(GOLD.replace("(NN a)", "(NN a) (NN c)"))
    fails(inside(*both), "trees:3: a tree of 3 words; the gold tree has 4")
    (tmp_path / "gold").write_text(GOLD)
    (tmp_path / "trees").write_text(TREES.replace("(VBZ sleeps))))", "(VBZ sleeps)))", 1))
    fails(inside(*both), "trees:1: 1 bracket not closed, expected a bracketed tree")
    fails(inside(*both, "--model", "gold"), "gold: is not a model file, or is damaged")
    assert not (tmp_path / "lists").exists()


def test_trees_with_other_words_than_the_gold_tree_are_told(tmp_path, inside):
    (tmp_path / "trees").write_text("# candidates\n" + TREES.replace("sleeps", "snores", 1))
    (tmp_path / "gold").write_text("# gold\n\n" + GOLD)
    both = ("nbest", "--trees", "trees", "--gold", "gold", "-o", "lists")
    run = inside(*both)
    assert report(succeeds(run))["first_fscore"] == "1"
    says = "trees:2: word 3 is `snores`, `sleeps` in the gold tree"
    assert f"warning: {says} (tree with other words than its gold tree)" in run.stderr.decode()
    fails(inside(*both, "--strict"), says)


@pytest.mark.parametrize(
    ("score", "says"), [("-1e38", "is too large, expected at most 1e+37"), ("inf", "is not a number")]
)
def test_scores_whose_differences_are_no_feature_values_are_refused(tmp_path, inside, score, says):
    (tmp_path / "trees").write_text(TREES.replace("-9.5", score))
    fails(inside("nbest", "--trees", "trees", "-o", "lists"), f"trees:5: score `{score}` {says}")
    run = inside("nbest", "--trees", "trees", "-o", "lists", "--skip-invalid")
    assert report(succeeds(run))["candidates"] == "4"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "x"], "give INPUT, or candidates with --trees"),
        (["t", "--trees", "t", "-o", "x"], "not both"),
        (["t"], "nothing to write"),
        (["t", "-o", "x", "--gold", "g"], "--gold belongs to --trees"),
        (["t", "-o", "x", "--choices", "c"], "--choices needs --trees-out"),
        (["t", "-o", "x", "--features-out", "c"], "--features-out needs --model-out"),
        (["t", "-o", "x", "--model", "m", "--model-out", "n"], "--model-out does not go with --model"),
        (["t", "--model-out", "-"], "cannot be written to standard output"),
        (["t", "-o", "-", "--trees-out", "-"], "can be only one of the outputs"),
        (["-", "-o", "x", "--model", "-"], "standard input (-) can be only one"),
        (["t", "-o", "x", "--counts-out", "x"], "two outputs have the same path"),
        (["t", "-o", "t"], "an output has the path of an input"),
        (["t", "-o", "-", "--json"], "--json wants standard output"),
        (["t", "-o", "x", "--folds", "1"], "--folds"),
    ],
)
def test_what_contradicts_is_refused(inside, tmp_path, arguments, says):
    fails(inside("nbest", *arguments), says, code=2)
