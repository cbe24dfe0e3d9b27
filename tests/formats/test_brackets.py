"""Bracketed trees: what is read, that writing gives it back, what is wrong with a line; choices of candidates."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.brackets import Tree, iter_candidates, parse_tree, read_gold
from wordkit.formats.choices import read_choices
from wordkit.tally import Tally

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="() \t\n\r\0"), min_size=1, max_size=5)
LEAVES = st.builds(lambda tag, word: f"({tag} {word})", NAMES, NAMES)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda label, parts: f"({label} {' '.join(parts)})", NAMES, st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
).filter(lambda text: text.count("(") > 1)


def spans(tree):
    return [(part.label, part.start, part.end) for part in tree.phrases()]


def test_by_hand():
    tree = parse_tree("(S1 (NP (DT the) (NN cat)) (VP (VBZ sleeps)))")
    assert spans(tree) == [("S1", 0, 3), ("NP", 0, 2), ("VP", 2, 3)]
    assert [(leaf.label, leaf.word) for leaf in tree.leaves()] == [
        ("DT", "the"),
        ("NN", "cat"),
        ("VBZ", "sleeps"),
    ]
    assert spans(parse_tree("( (S(NP (N a))))  ")) == [("", 0, 1), ("S", 0, 1), ("NP", 0, 1)]


@given(TREES)
def test_writing_gives_back_what_was_read(text):
    assert str(parse_tree(text)) == text
    known = {}
    assert parse_tree(text, known) is parse_tree(text.replace(" ", "  "), known)


def test_a_deep_tree():
    text = "(A " * 50_000 + "(T w)" + ")" * 50_000
    assert str(parse_tree(text)) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "no bracket"),
        ("word", "`word` outside of brackets"),
        ("(S (NP (N a))", "1 bracket not closed"),
        ("(S (NP (N a", "3 brackets not closed"),
        ("(S (N a)))", "a closing bracket too many"),
        ("(S (N a)) (S (N b))", "more than one tree"),
        ("(S ())", "nothing in the bracket `()`"),
        ("(S (NP))", "nothing in the bracket `(NP)`"),
        ("(S (N a b))", "`b` beside another word or a bracket"),
        ("(S (N a (N b)))", "a bracket behind the word `a`"),
        ("(S (NP (N a)) b)", "`b` beside another word or a bracket"),
        ("(N a)", "a word with its tag alone"),
    ],
)
def test_what_is_no_tree(text, found):
    with pytest.raises(ValueError) as caught:
        parse_tree(text)
    assert str(caught.value) == found


LINES = "1\t-3.5\t(S1 (A (N a)))\n1\t-4\t(S1 (B (N a)))\n\n7\t0\t(S1 (N b))\n"


def read(path, content, tally=None):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(iter_candidates(path, tally))


def test_candidates_by_qid(tmp_path):
    one, other = read(tmp_path / "trees", LINES)
    assert (one.qid, one.scores, one.lines) == (1, [-3.5, -4.0], [1, 2])
    assert [str(tree) for tree in one.trees] == ["(S1 (A (N a)))", "(S1 (B (N a)))"]
    assert one.trees[0].children[0].children[0] is one.trees[1].children[0].children[0]
    assert (other.qid, other.texts) == (7, ["7\t0\t(S1 (N b))"])


def test_u013_u024_u034_crlf_mark_and_compression(tmp_path):
    plain = [one.texts for one in read(tmp_path / "trees", LINES)]
    changed = b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n").encode()
    assert [one.texts for one in read(tmp_path / "trees.gz", gzip.compress(changed))] == plain
    with pytest.raises(DataError, match="compressed file is incomplete"):
        read(tmp_path / "trees.gz", gzip.compress(changed)[:-9])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "holds no tree, expected qid<TAB>score<TAB>tree"),
        ("1\t(S1 (N a))\n", "1: 2 columns, expected qid<TAB>score<TAB>tree"),
        ("\n1 -3 (S1 (N a))\n", "2: 1 column, expected qid<TAB>score<TAB>tree"),
        ("x\t1\t(S1 (N a))\n", "1: qid `x`, expected qid<TAB>score<TAB>tree"),
        ("1\tnan\t(S1 (N a))\n", "1: score `nan` is not a number, expected qid<TAB>score<TAB>tree"),
        ("1\t1_0\t(S1 (N a))\n", "1: score `1_0` is not a number, expected qid<TAB>score<TAB>tree"),
        ("1\t1\t(S1 (N a)\n", "1: 1 bracket not closed, expected a bracketed tree"),
        (
            "1\t1\t(S1 (N a))\n1\t0\t(S1 (N a) (N b))\n",
            "2: a tree of 2 words; the first of its qid has 1, expected a bracketed tree",
        ),
        (
            "1\t1\t(S1 (N a))\n2\t0\t(S1 (N a))\n1\t0\t(S1 (N a))\n",
            "3: qid 1 again, expected its lines one after the other",
        ),
        (b"1\t1\t(S1 (N \xff))\n", "1: byte 0xff at offset 11, expected UTF-8 text"),
    ],
)
def test_faults_name_their_line(tmp_path, content, message):
    path = tmp_path / "trees"
    with pytest.raises(DataError) as caught:
        read(path, content)
    between = ":" if message[0].isdigit() else ": "
    assert str(caught.value) == f"{path}{between}{message}"


def test_bad_lines_are_counted_and_passed_over_where_that_is_wanted(tmp_path):
    tally = Tally(skip_invalid=True)
    content = LINES + "7\t0\t(S1 (N b)\n8\tx\t(S1 (N b))\n1\t0\t(S1 (N a))\n9\t0\t(S1 (N c))\n"
    assert [one.qid for one in read(tmp_path / "trees", content, tally)] == [1, 7, 9]
    assert tally.counts == {"tree skipped": 3}


@given(st.binary(max_size=60) | st.text("()\t 1Sa\n", max_size=60).map(str.encode))
def test_arbitrary_bytes_raise_nothing_else(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("trees") / "trees"
    for tally in (Tally(), Tally(skip_invalid=True)):
        try:
            for one in read(path, content, tally):
                assert one.trees and isinstance(one.trees[0], Tree)
            read_gold(path, tally)
            read_choices(path)
        except WordkitError:
            pass


def test_gold_trees(tmp_path):
    path = tmp_path / "gold"
    path.write_text("3\t(S (N a))\n1\t(S (N b))\n")
    assert {qid: str(tree) for qid, tree in read_gold(path).items()} == {3: "(S (N a))", 1: "(S (N b))"}
    path.write_text("3\t(S (N a))\n3\t(S (N b))\n")
    with pytest.raises(DataError, match=r"gold:2: qid 3 again, expected one gold tree a qid"):
        read_gold(path)


def test_choices(tmp_path):
    path = tmp_path / "choices"
    path.write_text("# qid candidate\n3\t2\t0.7\n\n1 1\n")
    assert read_choices(path) == {3: 2, 1: 1}
    for content, message in (
        ("3\t0\n", "1: candidate 0"),
        ("3\n", "1: `3`"),
        ("3\t-1\n", "1: `3\\t-1`"),
        ("3\t1\n3\t2\n", "2: qid 3 again"),
        ("# nothing\n", " holds no choice"),
    ):
        path.write_text(content)
        with pytest.raises(DataError) as caught:
            read_choices(path)
        assert f"choices:{message}" in str(caught.value)
