"""Sentences made, changed, written and read back."""

from __future__ import annotations

import copy
import gzip
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.test_conll import tree
from wordkit.formats.conll import Sentence, read_conll, read_conll_blocks, write_conll


def saved(folder, text):
    (folder / "in.conll").write_text(text, encoding="utf-8")
    return folder / "in.conll"


def test_columns_that_were_not_read(tmp_path):
    (sentence,) = read_conll(saved(tmp_path, tree([0])), columns=["form"], heads="none")
    for name in ("lemmas", "heads", "nothing"):
        with pytest.raises(AttributeError):
            getattr(sentence, name)
    with pytest.raises(ValueError, match="no column 'tag'"):
        sentence.column("tag")
    assert repr(sentence) == "<Sentence line 1, 1 words>"
    (block,) = read_conll_blocks(saved(tmp_path, tree([0])), ["id", "head", "id"])
    assert block.columns == ("id", "head")
    assert block.texts("head") == ["0"]


def test_conllulex_is_read_by_its_first_ten_columns(tmp_path):
    text = tree([0, 1]).replace("\t_\n", "\t_" + "\tlex" * 9 + "\n")
    (sentence,) = read_conll(saved(tmp_path, text), format="conllulex")
    sentence.set_misc("Class", [1, 2])
    write_conll(tmp_path / "out", [sentence])
    assert (tmp_path / "out").read_text() == text.replace("\t_\tlex", "\tClass=1\tlex", 1).replace(
        "\t_\tlex", "\tClass=2\tlex", 1
    )


def test_copies_and_pickles(tmp_path):
    (sentence,) = read_conll(saved(tmp_path, tree([2, 0])))
    for again in (copy.copy(sentence), copy.deepcopy(sentence), pickle.loads(pickle.dumps(sentence))):
        assert (again.forms, again.heads, again.line) == (["w1", "w2"], [2, 0], 1)


def test_misc_is_set_and_all_else_kept(tmp_path):
    text = (
        "# text = a b\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "1\ta\t_\t_\t_\tA=b|C=d\t0\tr\t0:r\tX=1|Class=9|Y\n2\tb c\t_\t_\t_\t_\t1\td\t_\t_\n"
        "2.1\tz\t_\t_\t_\t_\t_\t_\t_\t_\n3\td\t_\t_\t_\t_\t1\td\t_\tClass=4\n\n"
    )
    (sentence,) = read_conll(saved(tmp_path, text))
    sentence.set_misc("Class", [3, "0:0.5,1:0.5", None])
    assert sentence.misc == ["X=1|Class=3|Y", "Class=0:0.5,1:0.5", "_"]
    assert write_conll(tmp_path / "out.gz", [sentence, sentence]) == 2
    wanted = text.replace("Class=9", "Class=3").replace("1\td\t_\t_\n", "1\td\t_\tClass=0:0.5,1:0.5\n")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == wanted.replace("Class=4", "_") * 2


def test_misc_fills_up_short_lines(tmp_path):
    (sentence,) = read_conll(saved(tmp_path, tree([0], width=8)))
    sentence.set_misc("Class", [7])
    write_conll(tmp_path / "out", [sentence])
    assert (tmp_path / "out").read_text() == tree([0]).replace("_\n", "Class=7\n")


def test_misc_refuses_what_would_break_the_column(tmp_path):
    (sentence,) = read_conll(saved(tmp_path, tree([0])))
    for name, values in [("A", [1, 2]), ("A", ["x|y"]), ("A", ["x\ty"]), ("", [1]), ("A\n", [1])]:
        with pytest.raises(ValueError):
            sentence.set_misc(name, values)


def test_from_columns_refuses_what_cannot_be_read_back():
    for arguments in (
        {"forms": []},
        {"forms": [""]},
        {"forms": ["a\tb"]},
        {"forms": ["a\nb"]},
        {"forms": ["a"], "heads": [0, 1]},
        {"forms": ["a"], "comments": ["no hash"]},
        {"forms": ["a"], "comments": ["# a\n1"]},
    ):
        with pytest.raises(ValueError):
            Sentence.from_columns(**arguments)


text_field = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"), min_size=1, max_size=6
)


@st.composite
def sentences(draw):
    n = draw(st.integers(1, 5))
    column = st.lists(text_field, min_size=n, max_size=n)
    names = ["forms", "lemmas", "upos", "xpos", "feats", "deprels", "deps", "misc"]
    columns = {name: draw(column) for name in names if name == "forms" or draw(st.booleans())}
    heads = draw(st.none() | st.lists(st.integers(-1, 9), min_size=n, max_size=n))
    comments = draw(st.lists(text_field.map("#{}".format), max_size=2))
    return Sentence.from_columns(**columns, heads=heads, comments=comments)


@settings(max_examples=150)
@given(st.lists(sentences(), min_size=1, max_size=4), st.integers(1, 300))
def test_written_and_read_back_is_the_same(tmp_path_factory, written, block_bytes):
    path = tmp_path_factory.getbasetemp() / "round.conllu"
    write_conll(path, written)
    first = path.read_bytes()
    again = list(read_conll(path, heads="any", block_bytes=block_bytes))
    names = [
        "forms",
        "lemmas",
        "upos",
        "xpos",
        "feats",
        "deprels",
        "deps",
        "misc",
        "heads",
        "comments",
        "lines",
    ]
    for name in names:
        assert [getattr(s, name) for s in again] == [getattr(s, name) for s in written]
    write_conll(path, again)
    assert path.read_bytes() == first


def test_heads_are_set_and_what_hung_on_them_is_gone(tmp_path):
    text = "# c\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
        f"{i}\t{form}\t_\tX\t_\t_\t{head}\tdep\t{head}:dep\tM=1\n"
        for i, form, head in ((1, "a", 2), (2, "b", 0))
    )
    (sentence,) = read_conll(saved(tmp_path, text))
    before = list(sentence.lines)
    sentence.set_heads([0, -1])
    assert sentence.heads == [0, -1] and sentence.deprels == sentence.deps == ["_", "_"]
    assert sentence.lines[:2] == before[:2]
    assert sentence.lines[2:] == ["1\ta\t_\tX\t_\t_\t0\t_\t_\tM=1", "2\tb\t_\tX\t_\t_\t_\t_\t_\tM=1"]
    with pytest.raises(ValueError, match="1 heads for 2 words"):
        sentence.set_heads([0])
