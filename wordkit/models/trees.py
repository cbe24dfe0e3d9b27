"""Sentences as trees: arrays of words, heads and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wordkit._kernels.tree_shape import order_trees


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A batch of sentences, S of them with T words in all.

    Attributes:
        words: int32 (T,) word numbers; 0 stands for unknown words.
        heads: int32 (T,) position of the parent in its sentence, from 1; 0 for a root, of which there may be several. In
            a chain each word's parent is the one before it.
        labels: int32 (T,) labels of the arcs to the parents; 0 for roots, and where there are no labels.
        offsets: int32 (S + 1,) first word of each sentence.
    """

    words: np.ndarray
    heads: np.ndarray
    labels: np.ndarray
    offsets: np.ndarray
    _order: list[np.ndarray] = field(default_factory=list, init=False, repr=False)

    @property
    def order(self) -> np.ndarray:
        """int32 (T,): positions in the sentence, from 0, parents before their children; made once."""
        if not self._order:
            order = np.empty(len(self.heads), dtype=np.int32)
            longest = int(np.diff(self.offsets).max(initial=0))
            order_trees(self.heads, self.offsets, order, np.empty((2, longest + 1), dtype=np.int32))
            self._order.append(order)
        return self._order[0]

    def arcs(self) -> tuple[np.ndarray, np.ndarray]:
        """Words of the batch, arc by arc: the parents, and the children."""
        children = np.flatnonzero(self.heads)
        first = np.repeat(self.offsets[:-1], np.diff(self.offsets))[children]
        return first + self.heads[children] - 1, children

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.words)


def part_of(trees: Trees, start: int, stop: int) -> Trees:
    """Sentences ``start`` to ``stop`` of a batch."""
    if start == 0 and stop == trees.n_sentences:
        return trees
    lo, hi = int(trees.offsets[start]), int(trees.offsets[stop])
    offsets = trees.offsets[start : stop + 1] - trees.offsets[start]
    return Trees(trees.words[lo:hi], trees.heads[lo:hi], trees.labels[lo:hi], offsets)


def joined(parts: Sequence[Trees]) -> Trees:
    """One batch of some, in their order."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    return Trees(
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.heads for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
    )
