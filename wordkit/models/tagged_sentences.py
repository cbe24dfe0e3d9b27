"""Sentences of a treebank as numbers: what a dependency parser reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wordkit._kernels.tree_shape import gapped_yields, order_trees
from wordkit.formats.conll import ConllBlock
from wordkit.models.vocabulary import Vocabulary


@dataclass
class TaggedSentences:
    """S sentences with T words in all.

    Attributes:
        words, tags: int32 (T,) numbers of a vocabulary each.
        heads: int32 (T,), from 1 in each sentence, 0 the root, -1 where no head is given.
        offsets: int32 (S + 1,), first word of each sentence.
    """

    words: np.ndarray
    tags: np.ndarray
    heads: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def span(self, s: int) -> slice:
        """Where the words of a sentence are."""
        return slice(int(self.offsets[s]), int(self.offsets[s + 1]))

    def part(self, chosen: np.ndarray) -> TaggedSentences:
        """Some of the sentences, by their numbers, in that order."""
        places = [np.arange(self.offsets[s], self.offsets[s + 1]) for s in chosen.tolist()]
        at = np.concatenate(places) if places else np.empty(0, np.int64)
        offsets = np.concatenate([[0], np.cumsum(self.lengths[chosen])]).astype(np.int32)
        return TaggedSentences(self.words[at], self.tags[at], self.heads[at], offsets)

    def shapes(self) -> tuple[np.ndarray, np.ndarray]:
        """(S,) words whose descendants have a gap (0: the tree is projective), and (S,) words on the root; heads are trees."""
        room = int(self.lengths.max(initial=0)) + 1
        order = np.empty(len(self.heads), np.int32)
        gaps = np.empty(len(self), np.int32)
        order_trees(self.heads, self.offsets, order, np.empty((2, room), np.int32))
        gapped_yields(self.heads, self.offsets, order, gaps, np.empty((3, room), np.int32))
        on_root = np.concatenate([[0], np.cumsum(self.heads == 0)])
        return gaps, np.diff(on_root[self.offsets]).astype(np.int32)


def of_block(block: ConllBlock, tag_column: str, words: Vocabulary, tags: Vocabulary) -> TaggedSentences:
    """The sentences of a block in the numbers of two vocabularies."""
    heads = np.full(block.n_words, -1, np.int32) if block.heads is None else block.heads
    return TaggedSentences(
        words.numbers(block.texts("form")),
        tags.numbers(block.texts(tag_column)),
        np.ascontiguousarray(heads),
        np.ascontiguousarray(block.offsets, dtype=np.int32),
    )


def joined(parts: Sequence[TaggedSentences]) -> TaggedSentences:
    """Several runs of sentences as one."""
    ends = np.cumsum([0, *(len(part.words) for part in parts)])
    offsets = [part.offsets[1:] + shift for part, shift in zip(parts, ends[:-1], strict=True)]
    return TaggedSentences(
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.tags for part in parts]),
        np.concatenate([part.heads for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *offsets]).astype(np.int32),
    )


def counted(texts: Iterable[Sequence[str]]) -> tuple[list[str], np.ndarray]:
    """Distinct texts in order of first occurrence, and how often each occurs."""
    counts: dict[str, int] = {}
    for some in texts:
        for text in some:
            counts[text] = counts.get(text, 0) + 1
    return list(counts), np.array(list(counts.values()), dtype=np.int64)
