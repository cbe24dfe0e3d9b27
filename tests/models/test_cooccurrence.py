"""Counts of texts against every pair of tokens looked at; what must not change them: threads, memory, how text comes."""

from __future__ import annotations

import gzip
import mmap
import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reference import cooccurrence as twin
from wordkit.errors import DataError, Interrupted, WordkitError
from wordkit.formats.counts import write_counts
from wordkit.formats.opening import Input
from wordkit.models import cooccurrence, row_counting
from wordkit.models.cooccurrence import count_cooccurrences, window_weights
from wordkit.models.text_corpus import read_text_corpus
from wordkit.monitor import Monitor
from wordkit.tally import Tally

PLAIN = {"min_count": 1, "rare_token": False, "number_token": False}


@pytest.fixture
def text(tmp_path):
    """Write lines of tokens, and give the path."""

    def write(lines, name="text.txt", end="\n"):
        data = end.join(line if isinstance(line, str) else " ".join(line) for line in lines) + end
        (tmp_path / name).write_bytes(data.encode())
        return tmp_path / name

    return write


def zipf_lines(seed: int, tokens: int, types: int, mean: float = 8.0) -> list[list[str]]:
    random = np.random.default_rng(seed)
    ranks = np.minimum(np.exp(random.random(tokens) * np.log(types)).astype(int), types - 1)
    cuts = np.flatnonzero(random.random(tokens) < 1 / mean)
    return [[f"w{i}" for i in part] for part in np.split(ranks, cuts)]


sentences = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "7", "8,5", "#rare#", "é"]), max_size=12),
    max_size=12,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sentences.filter(any), st.integers(1, 24), st.sampled_from(["both", "left", "right"]),
    st.sampled_from(["none", "harmonic"]), st.integers(1, 3), st.booleans(), st.booleans(), st.sampled_from([1, 1 << 30]),
)  # fmt: skip
def test_counts_equal_the_definition(
    text, lines, window, context, weighting, min_count, rare, number, memory
):
    path = text(lines)
    options = {"window": window, "context": context, "distance_weighting": weighting}
    flat = ["#number#" if number and token in ("7", "8,5") else token for line in lines for token in line]
    of = {token: flat.count(token) for token in flat}
    kept = {token for token, count in of.items() if count >= min_count and not (rare and token == "#rare#")}

    def token_of(token):
        token = "#number#" if number and token in ("7", "8,5") else token
        return token if token in kept else "#rare#" if rare else None

    mapped = [[token_of(token) for token in line] for line in lines]
    if not kept:
        with pytest.raises(WordkitError, match="0 of"):
            count_cooccurrences([path], min_count=min_count, rare_token=rare, number_token=number, **options)
        return
    found = count_cooccurrences(
        [path], min_count=min_count, rare_token=rare, number_token=number, memory=memory, **options
    )
    flat = [token for line in mapped for token in line if token is not None]
    assert set(found.words) == set(flat)
    assert found.counts.tolist() == [flat.count(word) for word in found.words]
    assert sorted(found.counts.tolist(), reverse=True) == found.counts.tolist()
    expected = twin.of_sentences(mapped, found.words, window, context, weighting)
    assert found.matrix.has_sorted_indices and (found.matrix.data > 0).all()
    assert found.matrix.nnz == np.count_nonzero(expected)
    if weighting == "none":
        assert found.matrix.dtype == np.int32
        np.testing.assert_array_equal(found.matrix.toarray(), expected)
    else:  # windows over 22 are counted in rounded weights
        assert found.matrix.dtype == np.float32
        np.testing.assert_allclose(found.matrix.toarray(), expected, rtol=2e-7)


def saved(tmp_path, counts) -> bytes:
    write_counts(tmp_path / "saved.npz", counts)
    return (tmp_path / "saved.npz").read_bytes()


@pytest.mark.parametrize("weighting", ["none", "harmonic"])
@pytest.mark.parametrize("context", ["both", "right"])
def test_threads_and_spilling_change_no_byte(text, tmp_path, monkeypatch, weighting, context):
    monkeypatch.setattr(row_counting, "BLOCK_CELLS", 200)
    path = text(zipf_lines(1, 6000, 400))
    options = {"distance_weighting": weighting, "context": context, "min_count": 2}
    expected = saved(tmp_path, count_cooccurrences([path], **options))
    for threads in (1, 2, 8):
        for memory in (1, 20_000, 1 << 30):
            found = count_cooccurrences([path], threads=threads, memory=memory, **options)
            assert saved(tmp_path, found) == expected, (threads, memory)


def test_spilled_counts_are_mapped_and_leave_no_file(text, tmp_path):
    (tmp_path / "cache").mkdir()
    path = text(zipf_lines(2, 4000, 300))
    found = count_cooccurrences([path], memory=1000, cache_folder=tmp_path / "cache", **PLAIN)
    assert not os.listdir(tmp_path / "cache")
    base = found.matrix.data
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, (np.memmap, mmap.mmap))
    in_memory = count_cooccurrences([path], **PLAIN)
    assert (found.matrix != in_memory.matrix).nnz == 0
    found.matrix.data[:] = 1  # as any matrix


def test_a_full_disk_is_told(text, tmp_path):
    with pytest.raises(WordkitError, match="cache"):
        count_cooccurrences([text(["a b"])], cache_folder=tmp_path / "no" / "cache", **PLAIN)


def test_symmetry(text):
    path = text(zipf_lines(3, 3000, 200))
    tables = {c: count_cooccurrences([path], context=c, **PLAIN).matrix for c in ("both", "left", "right")}
    assert (tables["both"] != tables["both"].T).nnz == 0
    assert (tables["left"] != tables["right"].T).nnz == 0
    assert (tables["left"] + tables["right"] != tables["both"]).nnz == 0


def test_by_hand(text):
    """a b c in a line: a-b 1, a-c 1/2; the next line, its empty neighbours and lines of one word add nothing."""
    path = text(["a b c", "", "a", "b", "", ""])
    found = count_cooccurrences([path], distance_weighting="harmonic", **PLAIN)
    assert found.words == ["a", "b", "c"] and found.counts.tolist() == [2, 2, 1]
    np.testing.assert_array_equal(found.matrix.toarray(), [[0, 1, 0.5], [1, 0, 1], [0.5, 1, 0]])
    assert found.meta["tokens"] == 5 and found.meta["window"] == 5
    right = count_cooccurrences([path], context="right", window=1, **PLAIN)
    np.testing.assert_array_equal(right.matrix.toarray(), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert count_cooccurrences([text(["a", "b"])], **PLAIN).matrix.nnz == 0


def test_words_left_out_keep_their_places(text):
    path = text(["a x a", "a y a"])
    found = count_cooccurrences([path], window=1, min_count=2, rare_token=False)
    assert found.words == ["a"] and found.matrix.nnz == 0
    found = count_cooccurrences([path], window=2, min_count=2, rare_token=False)
    assert found.matrix.toarray().tolist() == [[4]]
    found = count_cooccurrences([path], window=1, min_count=2)
    assert found.words == ["a", "#rare#"] and found.matrix.toarray().tolist() == [[0, 4], [4, 0]]


def test_u024_u009_how_text_comes_does_not_matter(text, tmp_path, monkeypatch):
    lines = zipf_lines(4, 2000, 100)
    path = text(lines)
    expected = count_cooccurrences([path], **PLAIN)
    (tmp_path / "t.gz").write_bytes(gzip.compress(path.read_bytes()))
    halves = [text(lines[:70], "1.txt"), text(lines[70:], "2.txt")]
    unended = tmp_path / "unended.txt"
    unended.write_bytes(path.read_bytes().rstrip(b"\n"))
    marked = tmp_path / "marked.txt"
    marked.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    for sources in (
        [tmp_path / "t.gz"], halves, [unended], [marked], [text(lines, "crlf.txt", "\r\n")], (p for p in halves),
    ):  # fmt: skip
        found = count_cooccurrences(sources, **PLAIN)
        assert found.words == expected.words and (found.matrix != expected.matrix).nnz == 0
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(path.read_bytes(),))
    writer.start()
    found = count_cooccurrences([tmp_path / "pipe"], **PLAIN)
    writer.join()
    assert (found.matrix != expected.matrix).nnz == 0
    with Input(path, digest=True) as source:  # an open input, looked at before
        source.peek(10)
        found = count_cooccurrences([source], **PLAIN)
        assert (found.matrix != expected.matrix).nnz == 0 and found.meta == expected.meta
        assert found.meta["inputs"][0]["bytes"] == path.stat().st_size


def test_u064_a_line_of_25000_tokens_is_used_whole(text):
    """Parts of the text meet within the line."""
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in random.integers(0, 20, 25_000)]
    for memory in (1, 1 << 30):
        found = count_cooccurrences([text([words])], window=3, memory=memory, **PLAIN)
        assert found.matrix.sum() == 2 * (24_999 + 24_998 + 24_997) and found.counts.sum() == 25_000
        ids = np.array([-1, *(found.words.index(word) for word in words), -1])
        ones = np.ones(3, int)
        np.testing.assert_array_equal(found.matrix.toarray(), twin.table(ids, 0, len(ids), 20, ones, ones))


def test_lowercase(text):
    found = count_cooccurrences([text(["The the É é x"])], lowercase=True, window=1, **PLAIN)
    assert found.words == ["the", "é", "x"] and found.counts.tolist() == [2, 2, 1]
    assert found.matrix.toarray().tolist() == [[2, 1, 0], [1, 2, 1], [0, 1, 0]]


@pytest.mark.parametrize("window", [1, 2, 5, 10, 22, 23, 100, 10_000])
def test_harmonic_weights_are_whole(window):
    before, after, unit = window_weights(window, "both", "harmonic")
    np.testing.assert_array_equal(before, after)
    assert before.dtype == np.int64 and before[0] == unit and len(before) == window
    exact = window <= 22
    np.testing.assert_allclose(
        before / unit, 1 / np.arange(1, window + 1), rtol=0, atol=1e-15 if exact else 2**-29
    )
    if exact:
        assert all(unit % d == 0 for d in range(1, window + 1))


def test_types_of_data_follow_from_the_counts(text, monkeypatch):
    path = text(["a b"])
    choice = cooccurrence.choose_words(["a", "b"], np.array([2**29, 1]))
    of = lambda window, weighting="none": cooccurrence._Counting(choice, window, "both", weighting, 1, None)  # noqa: E731
    assert of(1).dtype is np.int32 and of(2).dtype is np.int64 and of(2, "harmonic").dtype is np.float32
    with pytest.raises(WordkitError, match="lower --window"):
        choice.counts = np.array([2**40, 1])
        of(22, "harmonic")
    monkeypatch.setattr(cooccurrence, "_BYTES_A_TOKEN", 1)
    assert count_cooccurrences([path], **PLAIN).matrix.sum() == 2


def test_inputs_that_hold_nothing(text, tmp_path):
    with pytest.raises(DataError, match="is empty"):
        (tmp_path / "empty").write_bytes(b"")
        count_cooccurrences([tmp_path / "empty"])
    with pytest.raises(DataError, match="holds no token"):
        count_cooccurrences([text(["", " "])])
    with pytest.raises(DataError, match="holds no token"):
        count_cooccurrences([text(["a b"], "good.txt"), text([""])], **PLAIN)
    with pytest.raises(ValueError, match="no input"):
        count_cooccurrences([])
    with pytest.raises(ValueError, match="not kept"):
        read_text_corpus([text(["a b"])], keep=False).numbered(np.zeros(2, np.int32), 0, 1)


def test_bad_lines_are_counted(tmp_path):
    (tmp_path / "x").write_bytes(b"a b\nc \xff d\na b\n")
    with pytest.raises(DataError, match="x:2: byte 0xff"):
        count_cooccurrences([tmp_path / "x"], **PLAIN)
    tally = Tally(skip_invalid=True)
    found = count_cooccurrences([tmp_path / "x"], tally=tally, **PLAIN)
    assert found.matrix.sum() == 4 and list(tally.counts.values()) == [1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 0), ("window", 10_001), ("min_count", 0), ("memory", 0), ("max_vocab", 0), ("threads", 0),
        ("context", "up"), ("distance_weighting", "linear"),
    ],
)  # fmt: skip
def test_parameters_out_of_range(text, name, value):
    with pytest.raises(ValueError, match=name):
        count_cooccurrences([text(["a b"])], **{name: value})


class Told(Monitor):
    def __init__(self, stop_at: str | None = None):
        self.begun, self.done, self.stop_at = [], 0, stop_at

    def begin(self, total, unit):
        self.begun.append((total, unit))
        self.done = 0
        self.stopping = self.stopping or unit == self.stop_at

    def advance(self, done):
        self.done += done


def test_progress_and_stopping(text, monkeypatch):
    monkeypatch.setattr(row_counting, "BLOCK_CELLS", 50)
    path = text(zipf_lines(5, 3000, 100))
    monitor, told = Told(), []
    count_cooccurrences([path], memory=4000, monitor=monitor, tell=told.append, **PLAIN)
    (tokens, unit), (cells, second) = monitor.begun
    assert tokens > 3000 and (unit, second) == ("tokens", "cells") and monitor.done == cells
    assert "100.0% of 3000 tokens" in told[0] and "in temporary files" in told[1]
    for unit in ("tokens", "cells"):
        with pytest.raises(Interrupted, match="interrupted while counting"):
            count_cooccurrences([path], memory=4000, monitor=Told(unit), **PLAIN)
