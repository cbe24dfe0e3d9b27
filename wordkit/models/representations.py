"""Tokens and words as a hidden Markov tree model sees them: classes, and distributions over classes (thesis, section 4.2).

``viterbi``: the class of each token in the most probable assignment of its sentence. ``posterior-token``: its distribution over
the classes. ``posterior-type``: that of all training tokens of its word. ``both``: the last two one behind the other, the word's
classes numbered from C on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from wordkit.formats.conll import Sentence, read_conll
from wordkit.formats.opening import Input
from wordkit.formats.tagged import read_tagged
from wordkit.formats.text import TypeTable, read_token_ids
from wordkit.models.corpus_tokens import is_text, refuse_text
from wordkit.models.tree_corpus import TreeCorpus, Trees
from wordkit.models.tree_model import TreeModel
from wordkit.tally import Tally

REPRESENTATIONS = ("viterbi", "posterior-token", "posterior-type", "both")
_SENTENCES = 256  # worked on at once


class Decoded(NamedTuple):
    """One sentence: its words as the file has them, one text a word (``5`` or ``5:0.93,17:0.07``), the CoNLL sentence if any."""

    words: list[str]
    texts: list[str]
    sentence: Sentence | None


class Decoder:
    """Gives the tokens of a corpus their representation.

    Args:
        kind: one of :data:`REPRESENTATIONS`.
        projection: how messages are passed (see :class:`wordkit.models.hmtm.HiddenMarkovTree`).
        least: smaller probabilities are left out, but never the largest.

    Attributes:
        n_tokens, n_unknown: tokens decoded, and how many of them the model does not know.
    """

    def __init__(self, model: TreeModel, kind: str, projection: str = "exact", least: float = 0.001) -> None:
        if kind not in REPRESENTATIONS:
            raise ValueError(f"kind is {kind!r}, expected one of {', '.join(REPRESENTATIONS)}")
        self.model, self.kind, self.least = model, kind, least
        self.inference = model.model.inference(projection)
        self.n_tokens = self.n_unknown = 0

    def decode(self, path: str, tally: Tally, format: str = "auto") -> Iterator[Decoded]:
        """The sentences of a file in its order, bad ones as the tally says; text gives no CoNLL sentences.

        ``columns`` is the format of :mod:`wordkit.formats.tagged`, whose words are taken as text.
        """
        with Input(path) as source:
            tree = self.model.model.structure == "tree"
            text = format in ("text", "columns") or (format == "auto" and is_text(source, tree))
            pairs: Iterable[tuple[list[str], Sentence | None]]
            if text:
                refuse_text(source.name, self.model.model.structure, self.model.reading["token"])
                sentences = (
                    read_tagged(source, tally=tally).words
                    if format == "columns"
                    else _text_sentences(source, tally)
                )
                pairs = ((words, None) for words in sentences)
            else:
                form = "auto" if format == "conll" else format
                heads = "tree" if tree else "none"
                pairs = ((s.forms, s) for s in read_conll(source, heads=heads, format=form, tally=tally))
            while chunk := list(itertools.islice(pairs, _SENTENCES)):
                texts = iter(self._texts(self._trees(chunk)))
                for words, sentence in chunk:
                    yield Decoded(words, list(itertools.islice(texts, len(words))), sentence)

    def _trees(self, chunk: list[tuple[list[str], Sentence | None]]) -> Trees:
        reading, model = self.model.reading, self.model.model
        tokens = [self._tokens(words, sentence) for words, sentence in chunk]
        sentences = [sentence for _, sentence in chunk if sentence is not None]
        tree, labelled = model.structure == "tree", reading["labels"] != "none"
        corpus = TreeCorpus.from_sentences(
            tokens,
            [s.heads for s in sentences] if tree else None,
            [s.deprels for s in sentences] if labelled else None,
            vocabulary=model.vocabulary_,
            label_names=model.label_names_,
        )
        self.n_tokens += corpus.n_tokens
        self.n_unknown += int(corpus.word_counts[0])
        return next(corpus.batches(len(chunk)))

    def _tokens(self, words: list[str], sentence: Sentence | None) -> list[str]:
        reading = self.model.reading
        if sentence is not None and reading["token"] != "form":
            words = sentence.lemmas
        if reading["lowercase"]:
            words = [word.lower() for word in words]
        if sentence is not None and reading["token"] == "lemma/pos":
            words = [
                f"{word}/{tag}"
                for word, tag in zip(words, sentence.column(reading["tag_column"]), strict=True)
            ]
        return words

    def _texts(self, trees: Trees) -> list[str]:
        statistics = self.model.model.statistics_
        if self.kind == "viterbi":
            return [str(c) for c in self.inference.viterbi(trees, statistics).tolist()]
        parts = []
        if self.kind != "posterior-type":
            parts.append(self.inference.posteriors(trees, statistics))
        if self.kind != "posterior-token":
            parts.append(statistics.classes_of(trees.words))
        columns = [_sparse(part, self.least, i * statistics.classes) for i, part in enumerate(parts)]
        return [",".join(texts) for texts in zip(*columns, strict=True)]


def _sparse(rows: np.ndarray, least: float, first: int) -> list[str]:
    """``number:probability`` of what is large enough in each row, classes numbered from ``first``."""
    kept = rows >= np.minimum(least, rows.max(axis=1, keepdims=True))
    row, column = np.nonzero(kept)
    cells = [f"{c}:{p:.4g}" for c, p in zip((column + first).tolist(), rows[kept].tolist(), strict=True)]
    bounds = np.searchsorted(row, np.arange(len(rows) + 1)).tolist()
    return [",".join(cells[a:b]) for a, b in itertools.pairwise(bounds)]


def _text_sentences(source: Input, tally: Tally) -> Iterator[list[str]]:
    types = TypeTable()
    for block in read_token_ids(source, types, tally):
        names = types.words()
        ids, ends = block.ids.tolist(), block.line_ends.tolist()
        for start, end in itertools.pairwise([0, *ends]):
            if end > start:
                yield [names[i] for i in ids[start:end]]
        types.clear()
