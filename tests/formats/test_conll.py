"""CoNLL readers and writer: what users met (U017, U024 to U043), round trips, real files."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit._kernels import tree_shape
from wordkit.errors import DataError, WordkitError
from wordkit.formats.conll import COLUMNS, TAG_COLUMN, Sentence, read_conll, read_conll_blocks, write_conll
from wordkit.formats.opening import Input
from wordkit.formats.text import TypeTable
from wordkit.tally import Tally


def tree(heads, width=10):
    rows = [
        [f"{i}", f"w{i}", "l", "U", "X", "_", f"{head}", "d", "_", "_"] for i, head in enumerate(heads, 1)
    ]
    return "".join("\t".join(row[:width]) + "\n" for row in rows) + "\n"


@pytest.fixture
def source(tmp_path):
    def write(text):
        path = tmp_path / "in.conll"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def forms(path, **options):
    return [sentence.forms for sentence in read_conll(path, **options)]


def fault(path, **options):
    """The one-line error without the folder."""
    with pytest.raises(DataError) as caught:
        list(read_conll(path, **options))
    assert "\n" not in str(caught.value)
    return str(caught.value).rpartition("in.conll")[2]


def skipped(path, **options):
    """Forms that are left, and how many sentences were passed over."""
    tally = Tally(skip_invalid=True)
    left = forms(path, tally=tally, **options)
    return left, tally.counts.get("sentence skipped", 0)


# --- what users met ---


def test_u017_empty_file(source):
    assert fault(source("")) == ": is empty"
    assert fault(source("\xef\xbb\xbf".encode("latin-1"))).startswith(": holds no sentence")
    assert fault(source("\n \n# only a comment\n")).startswith(": holds no sentence")


def test_u024_crlf(source):
    text = "# c\n" + tree([2, 0]) + tree([0])
    plain = list(read_conll(source(text)))
    windows = list(read_conll(source(text.replace("\n", "\r\n"))))
    assert [s.lines for s in plain] == [s.lines for s in windows]
    assert [s.misc for s in windows] == [["_", "_"], ["_"]]
    assert forms(source(tree([2, 0], width=8).replace("\n", "\r\n"))) == [["w1", "w2"]]


def test_u025_range_lines_are_no_words(source):
    text = (
        "1\tI\t_\t_\t_\t_\t2\ts\t_\t_\n2-3\tdont\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\tdo\t_\t_\t_\t_\t0\tr\t_\t_\n3\tnot\t_\t_\t_\t_\t2\tm\t_\t_\n\n"
    )
    (sentence,) = read_conll(source(text))
    assert sentence.forms == ["I", "do", "not"]
    assert sentence.forms[sentence.heads.index(0)] == "do"
    (block,) = read_conll_blocks(source(text))
    assert block.other_kinds.tolist() == [2]
    assert block.data[block.other_starts[0] :].startswith(b"2-3\t")


def test_u026_empty_nodes_are_skipped(source):
    first, second = tree([2, 0]).splitlines()[:2]
    node = "1.1\tx\t_\t_\t_\t_\t_\t_\t0:root\t_"
    (sentence,) = read_conll(source(f"{first}\n{node}\n{second}\n\n"))
    assert (sentence.forms, sentence.heads) == (["w1", "w2"], [2, 0])
    assert sentence.lines[1] == node


def test_u027_missing_heads(source):
    path = source(tree([0]) + tree(["_", "_"]))
    assert forms(path, heads="none") == [["w1"], ["w1", "w2"]]
    assert [s.heads for s in read_conll(path, heads="any")] == [[0], [-1, -1]]
    assert fault(path) == ":3: word 1 has no head (`_`), expected a tree: a head for every word"
    assert skipped(path) == ([["w1"]], 1)


def test_u028_several_roots(source):
    (sentence,) = read_conll(source(tree([0, 0, 1])))
    assert sentence.heads == [0, 0, 1]


def test_u029_own_head_and_circles(source):
    assert fault(source(tree([0, 2]))) == ":2: word 2 is its own head, expected a tree"
    assert (
        fault(source(tree([0, 3, 2]))) == ":2: the heads from word 2 on go round in a circle, expected a tree"
    )
    assert skipped(source(tree([0, 2]) + tree([0]) + tree([0, 3, 2]))) == ([["w1"]], 2)


def test_u030_space_instead_of_tab(source):
    broken = "1 a\ta\tX\t_\t_\t0\troot\t_\t_\n\n"
    assert fault(source(broken)) == ":1: 9 columns, expected 10 (space instead of tab?)"
    good = tree([0, 1, 1, 1])
    assert fault(source(good + "\n" + broken)) == ":7: 9 columns, expected 10 (space instead of tab?)"
    assert fault(source(good + "1\tb\n")) == ":6: 2 columns, expected 10"
    assert fault(source(good + good.replace("\tl", " l"))).startswith(":6: 9 columns, expected 10 (space")
    assert fault(source("some words\n")) == ":1: 1 column, expected 10 (space instead of tab?)"
    assert skipped(source(broken + good)) == ([["w1", "w2", "w3", "w4"]], 1)


def test_u031_space_inside_a_form(source, tmp_path):
    sentence = Sentence.from_columns(["26 000", "francs", "\u00a0", "a\u2028b"], heads=[2, 0, 2, 2])
    write_conll(tmp_path / "out", [sentence])
    assert forms(tmp_path / "out") == [["26 000", "francs", "\u00a0", "a\u2028b"]]


@pytest.mark.parametrize("cut", [1, 2])
def test_u032_no_blank_line_at_the_end(source, tmp_path, cut):
    path = source((tree([0]) + tree([2, 0]))[:-cut])
    assert forms(path) == [["w1"], ["w1", "w2"]]
    write_conll(tmp_path / "out", read_conll(path))
    assert (tmp_path / "out").read_text() == tree([0]) + tree([2, 0])


def test_u033_separator_of_whitespace(source):
    assert forms(source(tree([0])[:-1] + "\t \n" + tree([0]) + "\n\n \n")) == [["w1"], ["w1"]]


def test_u034_byte_order_mark(source):
    assert forms(source(b"\xef\xbb\xbf" + tree([0]).encode())) == [["w1"]]


def test_u035_hash_as_a_word(source):
    text = "# comment\n1\t#\t#\tSYM\t_\t_\t0\t#\t_\t_\n# one more\n\n"
    (sentence,) = read_conll(source(text))
    assert (sentence.forms, sentence.lemmas, sentence.deprels) == (["#"], ["#"], ["#"])
    assert sentence.comments == ["# comment", "# one more"]


@pytest.mark.parametrize("width", [8, 9, 10])
def test_u036_columns_of_conll_x_and_u(source, width):
    path = source(tree([2, 0], width))
    for options in ({}, {"format": "conllx"}):
        (sentence,) = read_conll(path, **options)
        assert sentence.heads == [2, 0]
        assert sentence.column("cpos") == sentence.column("upos") == sentence.upos == ["U", "U"]
        assert sentence.column("POS") == sentence.xpos == ["X", "X"]
        assert sentence.column(TAG_COLUMN) == ["U", "U"]
    if width < 10:
        assert fault(path, format="conllu") == f":1: {width} columns, expected 10"
        with pytest.raises(ValueError, match=f"'misc' was not read .*has {width} columns"):
            sentence.column("misc")
        with pytest.raises(AttributeError, match="'misc' was not read"):
            _ = sentence.misc


def test_u037_crossing_arcs(source):
    (sentence,) = read_conll(source(tree([3, 0, 2, 1])))
    assert sentence.heads == [3, 0, 2, 1]


@pytest.mark.parametrize("block_bytes", [100, 1 << 20])
def test_u038_a_chain_of_5000_words(source, block_bytes):
    heads = list(range(5000))
    (sentence,) = read_conll(source(tree(heads)), block_bytes=block_bytes)
    assert len(sentence) == 5000
    assert sentence.heads == heads
    heads[0] = 5000
    assert "circle" in fault(source(tree(heads)))


def test_u041_head_beyond_the_sentence(source):
    path = source(tree([2, 9]) + tree([0]))
    assert fault(path) == ":2: head 9 of word 2 is beyond the sentence, expected 0 to 2"
    assert skipped(path) == ([["w1"]], 1)
    assert fault(source(tree([0, -1]))) == ":2: head `-1` of word 2, expected a number or `_`"


def test_u042_odd_values_in_unused_columns(source):
    path = source("1\ta\t\t_SP\t\t_|doc=T1\tnot a head\t\t\tx|y=|\n\n")
    (block,) = read_conll_blocks(path, ["form"], heads="none")
    assert block.texts("form") == ["a"]
    assert block.heads is None
    assert fault(path).startswith(":1: word 1 has an empty LEMMA")
    assert fault(path, columns=["form"]) == ":1: head `not a head` of word 1, expected a number or `_`"


# --- other faults ---


def test_ids_count_up(source):
    joined = tree([0, 1])[:-1] + tree([0])
    assert fault(source(joined)) == ":3: ID 1, expected 3 (is a blank line missing?)"
    assert fault(source(tree([0]).replace("1", "7", 1))) == ":1: ID 7, expected 1"
    long = tree([0]).replace("1", "x" * 50, 1)
    assert fault(source(long)).startswith(f":1: ID `{'x' * 40}...`, expected a number, a range (2-3)")


def test_a_sentence_of_ranges_only(source):
    assert fault(source("1-2" + "\ta" * 9 + "\n\n")).startswith(":1: a sentence without words")
    assert (
        fault(source("1\t" + "\t_" * 4 + "\t0\td\t_\t_\n"))
        == ":1: word 1 has an empty FORM, expected a text or `_`"
    )


@pytest.mark.parametrize("block_bytes", [1, 7, 60, 1 << 20])
@pytest.mark.parametrize("bad", [b"\xff", b"\0"])
@pytest.mark.parametrize("end", [b"\n\n", b"\n", b"", b"\n\n" + tree([0]).encode()])
def test_bytes_that_are_no_text(source, block_bytes, bad, end):
    text = tree([0]).encode() + tree([0, 1, 1]).encode().replace(b"w3", bad).rstrip(b"\n") + end
    path = source(text)
    assert fault(path, block_bytes=block_bytes).startswith(
        (":5: byte 0xff at offset", ":5: NUL byte at offset")
    )
    left, count = skipped(path, block_bytes=block_bytes)
    assert left == [["w1"]] * (2 if len(end) > 2 else 1)
    assert count == 1


def test_skipping_tells_of_the_first_fault(source):
    tally = Tally(skip_invalid=True)
    path = source(tree([0, 2]) + tree([0]) + "x\n")
    assert len(list(read_conll(path, tally=tally, block_bytes=5))) == 1
    (line,) = tally.lines()
    assert line.endswith("in.conll:2: word 2 is its own head, expected a tree (2 x sentence skipped)")


def test_comments_after_the_last_sentence(source):
    path, tally = source(tree([0]) + "# a\n\n# b\n"), Tally()
    assert len(list(read_conll(path, tally=tally))) == 1
    assert tally.counts == {"comment lines after the last sentence": 2}
    with pytest.raises(DataError, match=":3: comment lines after"):
        list(read_conll(path, tally=Tally(strict=True)))


def test_comments_before_a_blank_line_stay_with_the_next_sentence(source):
    (sentence,) = read_conll(source("# a\n\n\n# b\n" + tree([0])))
    assert sentence.comments == ["# a", "# b"]
    assert sentence.line == 1
    assert len(sentence.lines) == 3


def test_wrong_arguments(source):
    path = source(tree([0]))
    for options in ({"columns": ["nope"]}, {"heads": "maybe"}, {"format": "penn"}):
        with pytest.raises(ValueError):
            list(read_conll(path, **options))


# --- blocks and sentences ---


TEXT = "# a\n" + tree([2, 0, 2]) + "1-2" + "\t_" * 9 + "\n" + tree([0, 1]) + "\n\n# é\n" + tree([0])


@pytest.mark.parametrize("block_bytes", [1, 2, 13, 64, 200, 1 << 20])
def test_any_block_size_gives_the_same(source, block_bytes):
    path = source(TEXT)
    whole = list(read_conll(path))
    pieces = list(read_conll(path, block_bytes=block_bytes))
    assert [s.lines for s in pieces] == [s.lines for s in whole]
    assert [s.line for s in pieces] == [1, 6, 12]
    lines, words = [], []
    for block in read_conll_blocks(path, ["form", "deprel"], block_bytes=block_bytes):
        lines += block.lines.tolist()
        starts, ends = block.spans("form")
        words += [block.data[s:e].decode() for s, e in zip(starts, ends, strict=True)]
        assert block.heads.tolist() == block.head_list()
        assert len(block.offsets) == len(block) + 1
        assert block.offsets[-1] == block.n_words == len(block.heads)
        for start, end in block.sentence_spans.T.tolist():
            assert block.data[start:end].endswith(b"\t_\n")
    assert lines == [2, 3, 4, 7, 8, 13]
    assert words == ["w1", "w2", "w3", "w1", "w2", "w1"]


def test_block_arrays_feed_the_tree_doors(source):
    (block,) = read_conll_blocks(source(TEXT))
    order = np.empty(block.n_words, np.int32)
    longest = int(np.diff(block.offsets).max())
    tree_shape.order_trees(block.heads, block.offsets, order, np.empty((2, longest + 1), np.int32))
    assert order.tolist() == [1, 0, 2, 0, 1, 0]
    assert block.sentence_lines.tolist() == [1, 6, 12]


def test_block_spans_feed_a_type_table(source):
    types, ids = TypeTable(), []
    for block in read_conll_blocks(source(TEXT), block_bytes=64):
        ids += types.encode_spans(block.data, *block.spans("form")).tolist()
    assert ids == [0, 1, 2, 0, 1, 0]
    assert types.words() == ["w1", "w2", "w3"]


def test_open_input_stays_open_and_pipes_are_read(source, monkeypatch):
    with Input(source(tree([0]))) as opened:
        assert len(list(read_conll(opened))) == 1
        assert opened.size == len(tree([0]))
    packed = gzip.compress(tree([0]).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(packed))))
    assert forms("-") == [["w1"]]


pieces = st.sampled_from(
    [b"1", b"2", b"\t", b"\t_" * 9, b"\n", b"\n\n", b"#", b"\r", b" ", b"\xff", b"\0", b"0", b"-", b".", b"_"]
)


@settings(max_examples=300)
@given(
    st.lists(pieces | st.binary(max_size=3), max_size=30).map(b"".join),
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from(["tree", "any", "none"]),
)
def test_arbitrary_bytes_raise_nothing_but_wordkit_errors(tmp_path_factory, data, block_bytes, skip, heads):
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(data)
    tally = Tally(skip_invalid=skip)
    try:
        for sentence in read_conll(path, heads=heads, tally=tally, block_bytes=block_bytes):
            assert len(sentence.forms) == len(sentence) > 0
            assert sentence.lines
    except WordkitError as error:
        assert "\n" not in str(error)
        assert not skip or "is empty" in str(error) or "holds no sentence" in str(error)


# --- real files ---


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("ud/gum-train.conllu.gz", (10330, 178797, 3191, 92)),
        ("ud/gum-dev.conllu.gz", (1575, 28119, 517, 12)),
        ("ud/gum-test.conllu.gz", (1464, 28397, 411, 15)),
        ("ptb-dep/wsj-train.conll", (3669, 88120, 0, 0)),
        ("ptb-dep/wsj-test.conll", (245, 5964, 0, 0)),
    ],
)
def test_real_counts(real_data, name, counts):
    seen = np.zeros(4, dtype=np.int64)
    for block in read_conll_blocks(real_data / name, COLUMNS[1:]):
        kinds = block.other_kinds
        seen += [len(block), block.n_words, np.sum(kinds == 2), np.sum(kinds == 3)]
    assert tuple(seen.tolist()) == counts


@pytest.mark.realdata
def test_real_file_written_as_it_was_read(real_data, tmp_path):
    path = real_data / "ud/gum-dev.conllu.gz"
    write_conll(tmp_path / "out", read_conll(path, block_bytes=50_000))
    assert (tmp_path / "out").read_bytes() == gzip.decompress(path.read_bytes())


@pytest.mark.realdata
def test_real_columns_equal_a_split(real_data):
    words = []
    for line in gzip.decompress((real_data / "ud/gum-dev.conllu.gz").read_bytes()).decode().split("\n"):
        fields = line.split("\t")
        if fields[0].isdigit():
            words.append(tuple(fields[1:]))
    read = []
    for s in read_conll(real_data / "ud/gum-dev.conllu.gz"):
        heads = map(str, s.heads)
        read += zip(s.forms, s.lemmas, s.upos, s.xpos, s.feats, heads, s.deprels, s.deps, s.misc, strict=True)
    assert read == words


@pytest.mark.realdata
def test_real_conllulex(real_data):
    path = real_data / "supersense/streusle.ud_dev.conllulex"
    n = [len(sentence) for sentence in read_conll(path, format="conllulex")]
    assert (len(n), sum(n)) == (554, 5396)
