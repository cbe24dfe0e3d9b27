"""Corpora of trees: what is read, and how words are numbered."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.corpus_cases import TREES, conll, sentences, whole, words_of
from wordkit.errors import DataError, WordkitError
from wordkit.formats.conll import read_conll
from wordkit.models.tree_corpus import UNKNOWN, TreeCorpus, Vocabulary, read_corpus
from wordkit.tally import Tally

PLAIN = "a b a\nc a\n\nb\n"


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes, name: str = "corpus") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def test_trees_of_a_small_treebank(written):
    corpus = read_corpus([written(TREES)], labels="deprel")
    none = UNKNOWN
    assert sentences(corpus) == [
        (("The", "dog", "barks"), (2, 3, 0), ("det", "nsubj", none)),
        (("dog", "the"), (0, 1), (none, "det")),
        (("Up", "Up"), (0, 0), (none, none)),  # a forest
    ]
    trees = whole(corpus)
    assert trees.order.tolist() == [2, 1, 0, 0, 1, 0, 1] and trees.order is trees.order
    assert {
        array.dtype for array in (trees.words, trees.heads, trees.labels, trees.offsets, trees.order)
    } == {np.dtype(np.int32)}
    assert (corpus.n_sentences, corpus.n_tokens, corpus.n_types_seen) == (3, 7, 5)
    assert (trees.n_sentences, trees.n_tokens) == (3, 7)
    assert corpus.label_names == [none, "det", "nsubj"] and corpus.label_counts.tolist() == [0, 2, 1]
    assert [record["bytes"] for record in corpus.inputs] == [len(TREES)] and len(
        corpus.inputs[0]["sha256"]
    ) == 64
    unlabelled = read_corpus([written(TREES)])
    assert unlabelled.label_names == [none] and not whole(unlabelled).labels.any()


def test_tokens_are_forms_lemmas_or_lemmas_with_tags(written):
    path = written(TREES)
    assert words_of(read_corpus([path], token="lemma"))[1] == "dog the"
    both = read_corpus([path], token="lemma/pos")
    assert words_of(both) == ["the/D dog/N barks/V", "dog/N the/D", "up/A up/A"]
    assert "4 distinct tags in column upos" in both.notes
    assert words_of(read_corpus([path], token="lemma/pos", tag_column="xpos"))[1] == "dog/x the/x"
    assert words_of(read_corpus([path], lowercase=True))[0] == "the dog barks"
    assert read_corpus([path], lowercase=True).n_types_seen == 4
    # Different pairs that are spelled alike are one word; the case of a tag is kept.
    slashes = "1\tA\tA/B\tC\t_\t_\t0\tr\t_\t_\n2\tA\ta\tb/C\t_\t_\t1\tr\t_\t_\n\n"
    assert words_of(read_corpus([written(slashes)], token="lemma/pos", lowercase=True)) == ["a/b/C a/b/C"]
    assert read_corpus([written(slashes)], token="lemma/pos", lowercase=True).vocabulary.counts.tolist() == [
        0,
        2,
    ]


def test_pairs_of_lemma_and_tag_over_many_blocks(written):
    rng = np.random.default_rng(3)
    text = conll(
        *(" ".join(f"w{a}/T{b}/0/r" for a, b in rng.integers(0, (900, 9), (30, 2))) for _ in range(900))
    )
    corpus = read_corpus([written(text)], token="lemma/pos")
    rows = [line.split("\t") for line in text.splitlines()]
    expected = [" ".join(f"{r[2]}/{r[3]}" for r in rows[i : i + 30]) for i in range(0, len(rows), 31)]
    assert words_of(corpus) == expected


def test_u043_a_column_of_numbers_that_is_taken_for_tags_is_warned_of(written):
    path = written(conll(*(" ".join(f"w/t{s}{i}/0/r" for i in range(10)) for s in range(9))))
    tally = Tally()
    read_corpus([path], token="lemma/pos", tally=tally)
    assert "90 distinct tags for 90 tokens in column upos" in str(tally.first["many tags"])
    with pytest.raises(DataError, match="90 distinct tags"):
        read_corpus([path], token="lemma/pos", tally=Tally(strict=True))


def test_u027_chains_read_text_and_conll_alike(written):
    text = read_corpus([written(PLAIN)], structure="chain")
    assert words_of(text) == ["a b a", "c a", "b"]  # a blank line is no sentence
    assert [heads for _, heads, _ in sentences(text)] == [(0, 1, 2), (0, 1), (0,)]
    assert whole(text).order.tolist() == [0, 1, 2, 0, 1, 0]
    no_heads = conll("a/_/_/_ b/_/_/_ a/_/_/_", "c/_/_/_ a/_/_/_", "b/_/_/_")
    assert sentences(read_corpus([written(no_heads)], structure="chain")) == sentences(text)
    with pytest.raises(DataError, match=r"corpus:1: word 1 has no head \(`_`\), expected a tree"):
        read_corpus([written(no_heads)])


@pytest.mark.parametrize(
    ("start", "is_text"),
    [("# a\n\n1\tb\tc\tX\n", False), ("1-2\ta\t_\tX\n", False), ("0.1\ta\t_\tX\n", False), ("1\t2\n", True),
     ("# a\n", True), ("1 a b\n", True), ("\ufeff1\ta\t_\tX\n", False), ("12\ta\t_\tX\n", True),
     ("#\n" * 70_000 + "1\ta\t_\tX\n", False), ("w " * 70_000, True)],
)  # fmt: skip
def test_the_format_of_a_chain_is_found_in_the_content(written, start, is_text):
    path = written(start)
    if is_text:
        assert read_corpus([path], structure="chain", max_length=None).n_tokens == len(start.split())
    else:
        with pytest.raises(DataError, match="column"):
            read_corpus([path], structure="chain")


def test_trees_of_plain_text_are_refused_clearly(written):
    with pytest.raises(DataError, match=r"corpus:1: plain text has no trees: .* --structure chain"):
        read_corpus([written("the cat sat\n")])
    with pytest.raises(DataError, match=r"corpus:1: 9 columns, expected 10 \(space instead of tab"):
        read_corpus([written("1 a\ta\tX\t_\t_\t0\troot\t_\t_\n\n")])
    with pytest.raises(DataError, match="no lemmas"):
        read_corpus([written("the cat\n")], structure="chain", token="lemma")
    # So is what is said to be text, whatever it looks like.
    with pytest.raises(DataError, match="no trees"):
        read_corpus([written(TREES)], format="text")
    with pytest.raises(DataError, match="no lemmas"):
        read_corpus([written(TREES)], structure="chain", format="text", token="lemma")


@pytest.mark.parametrize(
    "options",
    [{"structure": "graph"},
     {"structure": "chain", "labels": "deprel"}, {"token": "stem"}, {"format": "xml"}, {"max_length": 0},
     {"labels": "deprel", "label_names": ["det"]}, {"tag_column": "sense", "token": "lemma/pos"}],
)  # fmt: skip
def test_options_that_do_not_go_together(written, options):
    with pytest.raises(ValueError):
        read_corpus([written(TREES)], **options)


def test_u025_u026_ranges_and_empty_nodes_are_no_words(written):
    text = (
        "1\tI\t_\t_\t_\t_\t2\ts\t_\t_\n2-3\tdont\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\t_\t_\t_\t_\t0\tr\t_\t_\n"
        "2.1\tx\t_\t_\t_\t_\t_\t_\t0:root\t_\n3\tnot\t_\t_\t_\t_\t2\tm\t_\t_\n\n"
    )
    for structure, heads in (("tree", (2, 0, 2)), ("chain", (0, 1, 2))):
        (found,) = sentences(read_corpus([written(text)], structure=structure))
        assert found[:2] == (("I", "do", "not"), heads)


def test_u024_u032_u033_u034_bytes_that_editors_leave_change_nothing(written):
    plain, trees = PLAIN.encode(), TREES.encode()
    for content, options in ((plain, {"structure": "chain"}), (trees, {"labels": "deprel"})):
        expected = sentences(read_corpus([written(content)], **options))
        for variant in (
            b"\xef\xbb\xbf" + content,
            content.replace(b"\n", b"\r\n"),
            content.rstrip(b"\n"),
            content.replace(b"\n\n", b"\n \t\n"),
        ):
            assert sentences(read_corpus([written(variant)], **options)) == expected
        assert sentences(read_corpus([written(gzip.compress(content), "c.gz")], **options)) == expected
        assert sentences(read_corpus([written(bz2.compress(content), "c.bz2")], **options)) == expected


def test_standard_input_is_read_once(monkeypatch):
    for content, options in ((PLAIN, {"structure": "chain"}), (TREES, {})):
        for data in (content.encode(), gzip.compress(content.encode())):
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
            corpus = read_corpus(["-"], **options)
            assert corpus.n_sentences == 3 and corpus.inputs[0]["name"] == "<stdin>"
            assert corpus.inputs[0]["bytes"] == len(content)


def test_several_files_follow_each_other(written):
    paths = [written(PLAIN, "one"), written(TREES, "two")]
    corpus = read_corpus(paths, structure="chain")
    assert words_of(corpus) == ["a b a", "c a", "b", "The dog barks", "dog the", "Up Up"]
    assert [record["name"] for record in corpus.inputs] == ["one", "two"]


def test_u017_u019_inputs_with_nothing_in_them(written):
    for structure in ("tree", "chain"):
        with pytest.raises(DataError, match="corpus: is empty"):
            read_corpus([written("")], structure=structure)
    with pytest.raises(DataError, match="holds no token"):
        read_corpus([written("\n \n")], structure="chain")
    with pytest.raises(DataError, match="holds no sentence"):
        read_corpus([written("# only\n\n")])
    with pytest.raises(WordkitError, match="no input"):
        read_corpus([])
    with pytest.raises(DataError, match="corpus:1: NUL byte"):
        read_corpus([written("a \0 b\n")], structure="chain")
    with pytest.raises(WordkitError, match="no sentence is left"):
        read_corpus([written(conll("a/X/1/r"))], tally=Tally(skip_invalid=True))


def test_bad_trees_are_errors_or_counted(written):
    text = conll("a/X/2/r b/X/0/r", "c/X/2/r d/X/1/r", "e/X/9/r", "f/X/1/r", "g/X/0/r")
    with pytest.raises(DataError, match="corpus:4: the heads from word 1 on go round"):
        read_corpus([written(text)])
    tally = Tally(skip_invalid=True)
    corpus = read_corpus([written(text)], tally=tally)
    assert words_of(corpus) == ["a b", "g"] and tally.counts == {"sentence skipped": 3}
    assert corpus.n_types_seen == 3
    assert read_corpus([written(text)], structure="chain").n_sentences == 5


def test_u064_long_sentences_are_counted_and_said(written):
    corpus = read_corpus([written("a b c\nd e\nf g h i\n")], structure="chain", max_length=2)
    assert words_of(corpus) == ["d e"] and (corpus.n_long, corpus.n_long_tokens) == (2, 7)
    assert corpus.n_types_seen == 2 and len(corpus.vocabulary) == 3
    assert "2 sentences with 7 tokens are passed over: longer than 2 tokens (--max-length)" in corpus.notes
    corpus = read_corpus([written(TREES)], max_length=2, labels="deprel", token="lemma/pos")
    assert words_of(corpus) == ["dog/N the/D", "up/A up/A"] and corpus.label_counts.tolist() == [0, 1]
    with pytest.raises(WordkitError, match="all 3 sentences are longer than 1 tokens"):
        read_corpus([written(TREES)], max_length=1)
    assert read_corpus([written("w " * 25_000 + "\n")], structure="chain", max_length=None).n_tokens == 25_000


@pytest.mark.parametrize("heads", [list(range(5000)), [0] + [1] * 4999, [0] * 5000, [*range(2, 5001), 0]])
def test_u038_sentences_of_5000_words(written, heads):
    path = written(conll(" ".join(f"w{i % 7}/X/{head}/r" for i, head in enumerate(heads))))
    trees = whole(read_corpus([path], max_length=None))
    assert trees.heads.tolist() == heads and sorted(trees.order.tolist()) == list(range(5000))
    place = np.empty(5001, dtype=int)
    place[trees.order + 1], place[0] = np.arange(5000), -1
    assert (place[trees.heads] < place[1:]).all()


def test_u051_u059_words_are_numbered_by_count_then_first_occurrence(written):
    path = written("b a c b d a e c b\n")
    words = read_corpus([path], structure="chain").vocabulary
    assert words.words == [UNKNOWN, "b", "a", "c", "d", "e"] and words.counts.tolist() == [0, 3, 2, 2, 1, 1]
    cut = read_corpus([path], structure="chain", min_count=2)
    assert cut.vocabulary.words == [UNKNOWN, "b", "a", "c"] and cut.vocabulary.counts.tolist() == [2, 3, 2, 2]
    assert cut.notes == [
        "3 of 5 word types kept (--min-count 2), 77.8% of 9 tokens; the other 2 are rare (`-*-`)"
    ]
    assert whole(cut).words.tolist() == [1, 2, 3, 1, 0, 2, 0, 3, 1]
    assert cut.word_counts.tolist() == [2, 3, 2, 2]
    capped = read_corpus([path], structure="chain", max_vocab=2)
    assert capped.vocabulary.words == [UNKNOWN, "b", "a"] and "--max-vocab 2" in capped.notes[0]


def test_u050_min_count_that_leaves_nothing(written):
    with pytest.raises(WordkitError) as caught:
        read_corpus([written("a b a c d\n")], structure="chain", min_count=5)
    place, said = str(caught.value).split(": ", 1)
    assert place.endswith("corpus")
    assert said == "0 of 4 word types occur at least 5 times (most frequent: `a`, 2); lower --min-count"


def test_u018_the_token_of_rare_words_in_the_text(written):
    corpus = read_corpus([written("-*- a b -*- a b\n")], structure="chain", max_vocab=1)
    assert corpus.vocabulary.words == [UNKNOWN, "a"] and corpus.vocabulary.counts.tolist() == [4, 2]
    assert (
        corpus.notes[0].startswith("`-*-` occurs 2 times in the text")
        and "1 of 2 word types" in corpus.notes[1]
    )
    with pytest.raises(WordkitError, match=r"no word but `-\*-`"):
        read_corpus([written("-*-\n")], structure="chain")


def test_rare_labels_are_pooled(written):
    path = written(conll("a/X/0/root b/X/1/x c/X/1/y d/X/1/x e/X/1/z", "a/X/0/z"))
    corpus = read_corpus([path], labels="deprel", label_min_count=2)
    assert corpus.label_names == [UNKNOWN, "x"] and corpus.label_counts.tolist() == [2, 2]
    assert whole(corpus).labels.tolist() == [0, 1, 0, 1, 0, 0]
    assert "1 labels occur at least 2 times; 2 rarer ones are one label, `-*-`" in corpus.notes
    later = read_corpus([path], labels="deprel", label_names=[UNKNOWN, "y", "x"])
    assert whole(later).labels.tolist() == [0, 2, 1, 2, 0, 0] and later.label_names == [UNKNOWN, "y", "x"]


def test_a_vocabulary_that_is_given_stays_or_grows(written):
    vocabulary = read_corpus([written("a a b\n")], structure="chain").vocabulary
    path = written("c b c a d\n")
    held_out = read_corpus([path], structure="chain", vocabulary=vocabulary, min_count=9)
    assert held_out.vocabulary is vocabulary and whole(held_out).words.tolist() == [0, 2, 0, 1, 0]
    assert held_out.word_counts.tolist() == [3, 1, 1] and vocabulary.counts.tolist() == [0, 2, 1]
    assert held_out.notes == ["3 of 5 tokens (60.0%) are not in the vocabulary"]
    grown = read_corpus([path], structure="chain", vocabulary=vocabulary, extend=True, min_count=2)
    assert grown.vocabulary.words == [UNKNOWN, "a", "b", "c"] and grown.word_counts.tolist() == [1, 1, 1, 2]
    same = read_corpus([path], structure="chain", vocabulary=vocabulary, extend=True, min_count=3)
    assert same.vocabulary is vocabulary


def test_a_vocabulary_is_saved_and_checked():
    vocabulary = Vocabulary([UNKNOWN, "a b", "é"], np.array([0, 2, 1]))
    again = Vocabulary.from_state(vocabulary.state())
    assert again.words == vocabulary.words and again.counts.tolist() == [0, 2, 1] and len(again) == 3
    assert again.numbers(["é", "zzz", UNKNOWN]).tolist() == [2, 0, 0]
    for words, counts in (([], []), (["a"], [1]), ([UNKNOWN, "a"], [1])):
        with pytest.raises(ValueError):
            Vocabulary(words, np.array(counts))
    for words, counts in (([UNKNOWN, "a", "a"], [0, 1, 1]), ([UNKNOWN, "a"], [0, -1])):
        with pytest.raises(ValueError):
            Vocabulary.from_state(Vocabulary(words, np.array(counts)).state())


def test_sentences_of_a_program_are_as_those_of_a_file(written):
    words = [["The", "dog", "barks"], [], ["dog", "the"], ["Up", "Up"]]
    heads, labels = (
        [[2, 3, 0], [], [0, 1], [0, 0]],
        [["det", "nsubj", "root"], [], ["root", "det"], ["root"] * 2],
    )
    corpus = TreeCorpus.from_sentences(words, heads, labels, min_count=2)
    read = read_corpus([written(TREES)], labels="deprel", min_count=2)
    assert sentences(corpus) == sentences(read) and corpus.notes == read.notes
    assert [h for _, h, _ in sentences(TreeCorpus.from_sentences(words))] == [(0, 1, 2), (0, 1), (0, 1)]
    for bad in (
        {"sentences": []},
        {"sentences": [["a", ""]]},
        {"sentences": [["a"]], "heads": [[1]]},
        {"sentences": [["a"]], "heads": [[-1]]},
        {"sentences": [["a", "b"]], "heads": [[2**33, 0]]},
        {"sentences": [["a", "b"]], "heads": [[0]]},
        {"sentences": [["a"]], "labels": [["x"]]},
        {"sentences": [["a"]], "heads": [[0]], "labels": [["x", "y"]]},
    ):
        with pytest.raises(ValueError):
            TreeCorpus.from_sentences(**bad)


lines = st.sampled_from(
    ["1\ta\ta\tN\tn\t_\t0\tr\t_\t_", "2\tb\tb\tN\tn\t_\t1\tx\t_\t_", "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_", "# c", "",
     "1\ta\tb", "w x", "2\tb\tb\tN\tn\t_\t2\tx\t_\t_", "\0", "\ufeff", "\r", "1 a"]
)  # fmt: skip


@settings(max_examples=200)
@given(
    st.lists(lines, max_size=8), st.sampled_from(["tree", "chain"]), st.booleans(), st.sampled_from([None, 1])
)
def test_any_input_is_a_corpus_or_a_clean_error(tmp_path_factory, content, structure, skip, longest):
    path = tmp_path_factory.getbasetemp() / "hostile.txt"
    path.write_text("\n".join(content), newline="")
    labels = "deprel" if structure == "tree" else "none"
    with contextlib.suppress(WordkitError):
        tally = Tally(skip_invalid=skip)
        corpus = read_corpus([path], structure=structure, labels=labels, tally=tally, max_length=longest)
        assert whole(corpus).n_tokens == corpus.n_tokens == corpus.word_counts.sum() > 0
        assert sorted(whole(corpus).order.tolist())[0] == 0


@pytest.mark.realdata
def test_a_real_treebank(real_data):
    path = real_data / "ud" / "gum-dev.conllu.gz"
    corpus = read_corpus([path], token="lemma/pos", labels="deprel", max_length=None)
    expected = list(read_conll(path))
    assert corpus.n_sentences == len(expected) and corpus.n_tokens == sum(len(s.heads) for s in expected)
    assert [heads for _, heads, _ in sentences(corpus)] == [tuple(s.heads) for s in expected]
