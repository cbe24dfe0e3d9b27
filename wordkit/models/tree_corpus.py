"""Corpora of trees and chains as numbers, read once, kept on disk, given out in batches of sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wordkit._kernels.tree_shape import check_trees
from wordkit.errors import DataError, WordkitError, told_of
from wordkit.formats.conll import TAG_COLUMN
from wordkit.formats.opening import Input, names_of
from wordkit.models.corpus_tokens import CorpusTokens, SentenceBlock
from wordkit.models.stored_sentences import StoredSentences
from wordkit.models.trees import Trees, joined, part_of
from wordkit.models.vocabulary import UNKNOWN, Vocabulary, folded, learned, most_frequent
from wordkit.tally import Tally

__all__ = ["UNKNOWN", "TreeCorpus", "Trees", "Vocabulary", "as_corpus", "read_corpus"]


class TreeCorpus:
    """Sentences that were read by :func:`read_corpus` or :meth:`from_sentences`.

    Words and structure lie in temporary files, which are gone when the corpus is; memory holds the vocabulary.

    Attributes:
        vocabulary: words with numbers. Word 0 is :data:`UNKNOWN`.
        word_counts: int64 (len(vocabulary),) how often each word occurs here.
        label_names: names of the labels by number; the first is :data:`UNKNOWN`, the only one without labels.
        label_counts: int64, how often each label occurs on arcs between words.
        n_sentences, n_tokens: what there is; n_types_seen: distinct words before any was cut.
        n_long, n_long_tokens: sentences over the greatest length, and their tokens; they are not in the corpus.
        notes: lines for the user.
        inputs: name, bytes and sha256 of each input.
    """

    def __init__(
        self,
        stored: StoredSentences,
        words: Sequence[str],
        label_words: Sequence[str],
        *,
        min_count: int = 1,
        max_vocab: int | None = None,
        label_min_count: int = 1,
        vocabulary: Vocabulary | None = None,
        label_names: Sequence[str] | None = None,
        extend: bool = False,
    ) -> None:
        self._stored, self._bounds = stored, stored.chunks()
        self.n_sentences, self.n_tokens = stored.n_sentences, len(stored.ids)
        self.n_long = self.n_long_tokens = 0
        self.notes: list[str] = []
        self.inputs: list[dict[str, Any]] = []
        names, place_of = folded(words)
        per_id = stored.counts(stored.ids, len(words))
        counts = np.zeros(len(names), dtype=np.int64)
        np.add.at(counts, place_of, per_id)
        self.n_types_seen = int(np.count_nonzero(counts))
        if vocabulary is None or extend:
            try:
                fresh, notes = learned(names, counts, min_count=min_count, max_vocab=max_vocab)
                self.notes += notes
                vocabulary = fresh if vocabulary is None else vocabulary.extended(fresh)
            except WordkitError:
                if vocabulary is None:
                    raise
        self.vocabulary = vocabulary
        numbers = vocabulary.numbers(names)
        self.word_counts = np.zeros(len(vocabulary), dtype=np.int64)
        np.add.at(self.word_counts, numbers, counts)
        if not self.notes:  # it was given, and has not grown
            unknown = int(self.word_counts[0])
            share = 100 * unknown / max(self.n_tokens, 1)
            self.notes.append(f"{unknown} of {self.n_tokens} tokens ({share:.1f}%) are not in the vocabulary")
        self._number_of = numbers[place_of]
        self._set_labels(label_words, label_names, label_min_count)

    def _set_labels(self, words: Sequence[str], names: Sequence[str] | None, min_count: int) -> None:
        spool = self._stored.labels
        counts = (
            np.zeros(len(words), dtype=np.int64) if spool is None else self._stored.counts(spool, len(words))
        )
        if names is None:
            names, _ = most_frequent(words, counts, min_count)
            if spool is not None:
                pooled = int(np.count_nonzero(counts)) - len(names) + 1
                rare = f"; {pooled} rarer ones are one label, `{UNKNOWN}`" if pooled else ""
                self.notes.append(f"{len(names) - 1} labels occur at least {min_count} times{rare}")
        elif list(names[:1]) != [UNKNOWN]:
            raise ValueError(f"label_names begin with {UNKNOWN}")
        self.label_names = list(names)
        index = {name: number for number, name in enumerate(self.label_names)}
        numbers = np.array([index.get(word, 0) for word in words], dtype=np.int32)
        self.label_counts = np.zeros(len(self.label_names), dtype=np.int64)
        np.add.at(self.label_counts, numbers, counts)
        self._label_of = np.append(numbers, np.int32(0))  # the last, -1, is that of roots

    @property
    def structure(self) -> str:
        """``tree`` or ``chain``."""
        return "chain" if self._stored.heads is None else "tree"

    @classmethod
    def from_sentences(
        cls,
        sentences: Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
        labels: Sequence[Sequence[str]] | None = None,
        *,
        min_count: int = 1,
        max_vocab: int | None = None,
        label_min_count: int = 1,
        vocabulary: Vocabulary | None = None,
        label_names: Sequence[str] | None = None,
        extend: bool = False,
        cache_folder: str | os.PathLike[str] | None = None,
    ) -> TreeCorpus:
        """A corpus of sentences in memory; without ``heads`` they are chains. Empty sentences are left out.

        Args:
            sentences: words of each sentence.
            heads: a parent for every word, counted from 1, 0 for a root.
            labels: a label for every word; only with heads.
            min_count, max_vocab, label_min_count, vocabulary, label_names, extend, cache_folder: as for
                :func:`read_corpus`.

        Raises:
            ValueError: heads that are not trees, lengths that do not fit, no sentence, what is no word, an empty word.
        """
        if labels is not None and heads is None:
            raise ValueError("labels are of the arcs of trees: heads are missing")
        stored = StoredSentences(heads is not None, labels is not None, cache_folder)
        words: dict[str, int] = {}
        names: dict[str, int] = {}
        for s, sentence in enumerate(sentences):
            if isinstance(sentence, str):
                raise ValueError(f"sentence {s} is a string, expected a list of words")
            if not len(sentence):
                continue
            ids = np.array([words.setdefault(word, len(words)) for word in sentence], dtype=np.int32)
            stored.append(
                SentenceBlock(
                    ids,
                    np.array([len(ids)], dtype=np.int64),
                    None if heads is None else _checked_heads(s, heads[s], len(ids)),
                    None if labels is None else _label_ids(s, labels[s], len(ids), names),
                )
            )
        for word in words:
            if not isinstance(word, str):
                raise ValueError(f"a word is {word!r:.60}, expected a string")
        if "" in words or not words:
            raise ValueError("a word is empty" if words else "there is no sentence")
        return cls(
            stored, list(words), list(names), min_count=min_count, max_vocab=max_vocab, extend=extend,
            label_min_count=label_min_count, vocabulary=vocabulary, label_names=label_names,
        )  # fmt: skip

    def n_batches(self, batch_size: int) -> int:
        """How many batches a pass has."""
        return -(-self.n_sentences // batch_size)

    def batches(
        self, batch_size: int, rng: np.random.Generator | None = None, start: int = 0
    ) -> Iterator[Trees]:
        """The sentences in batches of ``batch_size``; the last one may be smaller.

        Args:
            rng: one number is drawn from it, now, for the order of the sentences: chunks of some thousands are taken in
                random order, and shuffled. Without it they come in the order of the input.
            start: so many batches are passed over; the following are the same as without it.
        """
        if batch_size < 1 or start < 0:
            raise ValueError(f"batch_size is {batch_size} and start is {start}, expected at least 1 and 0")
        seed = None if rng is None else int(rng.integers(2**63))
        return self._batches(batch_size, seed, start * batch_size)

    def _batches(self, batch_size: int, seed: int | None, skip: int) -> Iterator[Trees]:
        waiting: list[Trees] = []
        count = 0
        for first, chosen in self._runs(seed, skip, batch_size):
            chunk = self._read(first, chosen)
            at = 0
            while at < chunk.n_sentences:
                to = min(at + batch_size - count, chunk.n_sentences)
                waiting.append(part_of(chunk, at, to))
                count, at = count + to - at, to
                if count == batch_size:
                    yield joined(waiting)
                    waiting, count = [], 0
        if waiting:
            yield joined(waiting)

    def _runs(self, seed: int | None, skip: int, batch_size: int) -> Iterator[tuple[int, np.ndarray]]:
        """(first sentence of a chunk, which of its sentences in which order), past the first ``skip`` sentences."""
        generator = None if seed is None else np.random.default_rng(seed)
        chunks = np.arange(len(self._bounds) - 1)
        if generator is not None:
            chunks = generator.permutation(chunks)
        for c in chunks.tolist():
            first, n = self._bounds[c], self._bounds[c + 1] - self._bounds[c]
            if skip >= n and generator is None:
                skip -= n
                continue
            chosen = np.arange(n) if generator is None else generator.permutation(n)
            passed, skip = min(skip, n), max(skip - n, 0)
            if passed < n:
                yield first, chosen[passed:]

    def _read(self, first: int, chosen: np.ndarray) -> Trees:
        """Sentences ``first + chosen``, which lie near each other, in that order."""
        low, high = int(chosen.min()), int(chosen.max()) + 1
        stored, chosen = self._stored, chosen - low
        offsets = stored.offsets.read(first + low, first + high + 1)
        start, end = int(offsets[0]), int(offsets[-1])
        lengths = np.diff(offsets)[chosen]
        ends = np.cumsum(lengths)
        # Where each word lies among those that are read: its sentence's first place there, and its position.
        positions = np.arange(len_ := int(ends[-1])) - np.repeat(ends - lengths, lengths)
        places = np.repeat(offsets[:-1][chosen] - start, lengths) + positions
        words = self._number_of[stored.ids.read(start, end)[places]]
        heads = positions.astype(np.int32) if stored.heads is None else stored.heads.read(start, end)[places]
        if stored.labels is None:
            labels = np.zeros(len_, dtype=np.int32)
        else:
            labels = self._label_of[stored.labels.read(start, end)[places]]
        return Trees(words, heads, labels, np.concatenate([[0], ends]).astype(np.int32))


def as_corpus(
    data: TreeCorpus | Sequence[Sequence[str]],
    heads: Sequence[Sequence[int]] | None,
    structure: str,
    *,
    vocabulary: Vocabulary | None = None,
    label_names: Sequence[str] | None = None,
) -> TreeCorpus:
    """What an estimator was given: a corpus as it is, or sentences with heads where the structure is ``tree``.

    Raises:
        ValueError: trees without heads, a corpus of the other structure; as :meth:`TreeCorpus.from_sentences`.
    """
    if isinstance(data, TreeCorpus):
        if data.structure != structure:
            raise ValueError(f"the corpus holds {data.structure}s, structure is {structure!r}")
        return data
    if any(isinstance(sentence, str) for sentence in data):
        raise ValueError("a sentence is a list of words, not a string")
    if structure == "tree" and heads is None:
        raise ValueError("trees need heads; structure='chain' does without")
    if structure == "tree" and heads is not None and len(heads) != len(data):
        raise ValueError(f"there are {len(data)} sentences, and heads of {len(heads)}")
    return TreeCorpus.from_sentences(
        data, heads if structure == "tree" else None, vocabulary=vocabulary, label_names=label_names
    )


def _checked_heads(sentence: int, heads: Sequence[int], length: int) -> np.ndarray:
    array = np.asarray(heads)
    if array.shape != (length,) or array.dtype.kind not in "iu":
        raise ValueError(f"sentence {sentence} has {length} words, and heads {array.dtype} {array.shape}")
    array = array.clip(-1, length + 1).astype(np.int32)
    status, word, roots = (np.empty(1, dtype=np.int32) for _ in range(3))
    check_trees(array, np.array([0, length], dtype=np.int32), status, word, roots, np.empty(length, np.int32))
    if status[0]:
        raise ValueError(f"sentence {sentence} is not a tree (word {word[0] + 1})")
    return array


def _label_ids(sentence: int, labels: Sequence[str], length: int, names: dict[str, int]) -> np.ndarray:
    if len(labels) != length:
        raise ValueError(f"sentence {sentence} has {length} words and {len(labels)} labels")
    return np.array([names.setdefault(label, len(names)) for label in labels], dtype=np.int32)


def read_corpus(
    paths: Sequence[str | os.PathLike[str]],
    *,
    structure: str = "tree",
    format: str = "auto",
    token: str = "form",
    tag_column: str = TAG_COLUMN,
    labels: str = "none",
    label_min_count: int = 1,
    min_count: int = 1,
    max_vocab: int | None = None,
    max_length: int | None = 50,
    lowercase: bool = False,
    tally: Tally | None = None,
    cache_folder: str | os.PathLike[str] | None = None,
    vocabulary: Vocabulary | None = None,
    label_names: Sequence[str] | None = None,
    extend: bool = False,
) -> TreeCorpus:
    """Read a corpus, once, from start to end: pipes will do.

    Args:
        paths: files one after the other, ``-`` for standard input.
        structure: ``tree``: heads are read, and must be trees; several roots are fine. ``chain``: each word hangs on the one
            before it, and heads are not looked at.
        format: ``auto`` (CoNLL or, for chains, text, by content), ``text`` (a sentence a line), ``conll``, or one of its
            kinds: ``conllu``, ``conllx``, ``conllulex``.
        token: ``form``, ``lemma``, or ``lemma/pos``: lemma and tag with a slash between them.
        tag_column: column of the tag.
        labels: ``none``, or ``deprel``: the arcs have labels, but those of roots.
        label_min_count: rarer labels are pooled into label 0.
        min_count, max_vocab: rarer words, and those after the ``max_vocab`` most frequent, become word 0.
        max_length: longer sentences are passed over and counted; None: no limit.
        lowercase: fold the case of forms and lemmas.
        tally: what is done with bad sentences; raised by default.
        cache_folder: where the temporary files are made.
        vocabulary, label_names: numbers that words and labels have already; what is not there becomes 0.
        extend: words that ``vocabulary`` lacks, and that are frequent enough here, are appended to it.

    Raises:
        DataError: as the readers of the formats.
        WordkitError: no word is left, or no sentence.
        ValueError: options that do not go together.
    """
    tally = Tally() if tally is None else tally
    tokens = CorpusTokens(
        structure=structure, format=format, token=token, tag_column=tag_column, labels=labels, max_length=max_length,
        lowercase=lowercase, tally=tally,
    )  # fmt: skip
    stored = StoredSentences(structure == "tree", labels != "none", cache_folder)
    inputs = []
    for path in paths:
        with Input(path, digest=True) as source:
            for block in tokens.read(source):
                stored.append(block)
            inputs.append(source.record())
    long = f"longer than {max_length} tokens (--max-length)"
    if not stored.n_sentences:
        if tokens.n_long:
            raise WordkitError(f"{names_of(paths)}: all {tokens.n_long} sentences are {long}")
        passed = "".join(f"; {line}" for line in tally.lines())
        raise WordkitError(f"{names_of(paths)}: no sentence is left{passed}" if inputs else "no input")
    with told_of(names_of(paths)):
        corpus = TreeCorpus(
            stored, tokens.words(), tokens.label_words(), min_count=min_count, max_vocab=max_vocab, extend=extend,
            label_min_count=label_min_count, vocabulary=vocabulary, label_names=label_names,
        )  # fmt: skip
    corpus.inputs, corpus.n_long, corpus.n_long_tokens = inputs, tokens.n_long, tokens.n_long_tokens
    if tokens.n_long:
        corpus.notes.append(
            f"{tokens.n_long} sentences with {tokens.n_long_tokens} tokens are passed over: {long}"
        )
    if tokens.tag is not None:
        _tell_of_tags(corpus, len(tokens.tag_types), tokens.tag, source.name, tally)
    return corpus


def _tell_of_tags(corpus: TreeCorpus, n_tags: int, column: str, name: str, tally: Tally) -> None:
    """A line about the number of tags; a warning where a column of numbers or names was taken for tags."""
    corpus.notes.append(f"{n_tags} distinct tags in column {column}")
    if n_tags > 200 + corpus.n_tokens / 30 or 20 < n_tags > corpus.n_tokens / 2:
        what = (
            f"{n_tags} distinct tags for {corpus.n_tokens} tokens in column {column}: is it a column of tags?"
        )
        tally.warn("many tags", DataError(name, None, what))
