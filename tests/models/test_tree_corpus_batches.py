"""Corpora of trees on disk: in which order batches come, what memory they take, and the files that they lie in."""

from __future__ import annotations

import io
import os
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.corpus_cases import TREES, conll, sentences, whole
from wordkit.errors import WordkitError
from wordkit.models import stored_sentences
from wordkit.models.array_spool import ArraySpool
from wordkit.models.tree_corpus import TreeCorpus, read_corpus


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(stored_sentences, "CHUNK_SENTENCES", 7)
    monkeypatch.setattr(stored_sentences, "CHUNK_TOKENS", 30)
    monkeypatch.setattr(stored_sentences, "PIECE", 11)


def numbered(n: int, seed: int = 0) -> TreeCorpus:
    """n sentences that are all different, some longer than a chunk."""
    lengths = np.random.default_rng(seed).choice([1, 2, 3, 9, 40], size=n)
    return TreeCorpus.from_sentences([[f"s{s}"] * int(length) for s, length in enumerate(lengths)])


@settings(max_examples=30)
@given(n=st.integers(1, 60), size=st.integers(1, 70), seed=st.integers(0, 5), start=st.integers(0, 12))
def test_batches_are_complete_repeatable_and_go_on(n, size, seed, start):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_sentences, "CHUNK_SENTENCES", 7)
        patch.setattr(stored_sentences, "CHUNK_TOKENS", 30)
        corpus = numbered(n)
        for rng in (lambda: None, lambda: np.random.default_rng(seed)):
            batches = list(corpus.batches(size, rng()))
            assert len(batches) == corpus.n_batches(size)
            assert [b.n_sentences for b in batches[:-1]] == [size] * (len(batches) - 1)
            found = sentences(corpus, batches)
            assert sorted(found) == sorted(sentences(corpus))
            rest = [sentences(corpus, [batch]) for batch in corpus.batches(size, rng(), start=start)]
            assert rest == [sentences(corpus, [batch]) for batch in batches[start:]]


def test_shuffles_differ_by_seed_and_draw_one_number(small_chunks):
    corpus = numbered(60)
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    first, second = corpus.batches(8, rng), corpus.batches(8, rng)
    other.integers(2**63, size=2)
    assert rng.random() == other.random()  # both drew when they were made
    first, second = sentences(corpus, first), sentences(corpus, second)
    assert first != second != sentences(corpus) != first and sorted(first) == sorted(second)
    starts = [int(words[0][1:]) // 7 for words, _, _ in first]
    assert starts != sorted(starts)
    with pytest.raises(ValueError):
        corpus.batches(0)
    with pytest.raises(ValueError):
        corpus.batches(1, start=-1)


def test_chunks_do_not_depend_on_how_the_input_comes(tmp_path, monkeypatch):
    text = conll(*(f"w{s}/X/0/r " * (1 + s % 5) for s in range(200)))

    class Trickle(io.RawIOBase):
        def __init__(self, data):
            self.data = data

        def readable(self):
            return True

        def readinto(self, out):
            n = min(len(out), 700, len(self.data))
            out[:n], self.data = self.data[:n], self.data[n:]
            return n

    (tmp_path / "corpus").write_text(text)
    one = read_corpus([tmp_path / "corpus"])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(Trickle(text.encode()), 512)))
    two = read_corpus(["-"])
    orders = [sentences(c, c.batches(9, np.random.default_rng(2))) for c in (one, two)]
    assert orders[0] == orders[1] and one.inputs[0]["sha256"] == two.inputs[0]["sha256"]


def test_passes_over_a_corpus_may_run_side_by_side(small_chunks):
    corpus = numbered(40)
    pairs = list(zip(corpus.batches(3), corpus.batches(3), strict=True))
    assert all(np.array_equal(a.words, b.words) for a, b in pairs)
    assert sentences(corpus, [a for a, _ in pairs]) == sentences(corpus)


def test_no_file_is_left_even_while_the_corpus_is_in_use(tmp_path):
    path = tmp_path / "corpus"
    path.write_text(TREES)
    folder = tmp_path / "cache"
    folder.mkdir()
    corpus = read_corpus([path], labels="deprel", cache_folder=folder)
    assert whole(corpus).n_tokens == 7 and os.listdir(folder) == []
    with pytest.raises(WordkitError, match=r"nowhere: No such file or directory; .*TMPDIR"):
        read_corpus([path], cache_folder=tmp_path / "nowhere")


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    sizes = []
    for n in (60_000, 180_000):
        path = tmp_path / f"{n}.txt"
        path.write_text("the cat sat on the mat and all is well with it\n" * n)
        tracemalloc.start()
        corpus = read_corpus([path], structure="chain")
        for _ in corpus.batches(500, np.random.default_rng(1)):
            pass
        sizes.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert corpus.n_tokens == 12 * n
    assert sizes[1] < 1.2 * sizes[0]


def test_a_spool_gives_back_what_it_took():
    spool = ArraySpool(np.int64)
    for n in (3, 0, 200_000, 1):
        spool.append(np.arange(n))
    assert len(spool) == 200_004 and spool.read(1, 5).tolist() == [1, 2, 0, 1] and len(spool.read(7, 7)) == 0
    assert spool.read(200_000, 200_004).tolist() == [199_997, 199_998, 199_999, 0]
    spool.append(np.array([9]))
    assert spool.read(200_003, 200_005).tolist() == [0, 9]
    with pytest.raises(IndexError):
        spool.read(0, 200_006)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_said(monkeypatch):
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: open("/dev/full", "r+b", buffering=0))  # noqa: SIM115
    spool = ArraySpool(np.int64)
    with pytest.raises(WordkitError, match="No space left on device; the corpus is kept there"):
        spool.append(np.zeros(1 << 20))
