"""A first-order projective dependency parser (McDonald, Crammer and Pereira, ACL 2005), trained online, with k best trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordkit import rng
from wordkit._kernels import arc_features as kernel
from wordkit._kernels.eisner_kbest import best_trees
from wordkit.checks import array_of, require, value_of
from wordkit.errors import Interrupted
from wordkit.models.base import Estimator, positive, whole
from wordkit.models.tagged_sentences import TaggedSentences
from wordkit.monitor import Monitor
from wordkit.parallel import map_blocks

_BLOCK = 64  # sentences that a thread parses at a time


class DependencyParser(Estimator):
    """Scores arcs by words, tags, distance and the tags between; the best tree is found by Eisner's algorithm.

    Exactly one word hangs on the root, and no arcs cross. Weights are learned by MIRA with the best rival of the cost-augmented
    scores (a point for each wrong head) and averaged over all steps.

    Args:
        epochs: passes over the sentences.
        C: greatest step.
        hash_bits: the features share a table of 2^hash_bits weights.
        seed: of the order of the sentences.
        threads: for :meth:`parse`; results do not depend on it.

    Attributes:
        weights_: float32 (2^hash_bits,).
        n_words_, n_tags_: sizes of the vocabularies.
        history_: a record an epoch: share of words whose head was right before the step.
    """

    def __init__(
        self, *, epochs: int = 5, C: float = 0.01, hash_bits: int = 22, seed: int = 1, threads: int = 1
    ) -> None:
        self.epochs, self.C, self.hash_bits = epochs, C, hash_bits
        self.seed, self.threads = seed, threads

    def fit(
        self, sentences: TaggedSentences, n_words: int, n_tags: int, *, monitor: Monitor | None = None
    ) -> DependencyParser:
        """Learn from sentences whose heads are trees.

        Trees with crossing arcs or several words on the root are learned as :func:`closest_projective` makes them.

        Args:
            sentences: numbers below ``n_words`` and ``n_tags``.
            monitor: told of each sentence and epoch; ``begin`` is the caller's.

        Raises:
            ValueError: a parameter out of range, no sentence.
            Interrupted: the monitor was asked to stop.
        """
        epochs, bits, C = whole("epochs", self.epochs), self._bits(), positive("C", self.C)
        if not len(sentences):
            raise ValueError("there is no sentence to learn from")
        monitor = Monitor() if monitor is None else monitor
        targets = projective_heads(sentences)
        weights = np.zeros(1 << bits, np.float32)
        totals = np.zeros(1 << bits, np.float64)
        delta = np.zeros(1 << bits, np.int16)
        longest = int(sentences.lengths.max())
        scratch = _Scratch(longest, n_tags)
        places = np.empty(2 * longest * (kernel.PLACES_PER_ARC + min(longest, n_tags)), np.uint64)
        amounts = np.empty(len(places), np.float32)
        self.history_: list[dict[str, Any]] = []
        time = 0
        for epoch in range(1, epochs + 1):
            wrong = 0
            order = rng.stream(self.seed, rng.SHUFFLE, epoch).permutation(len(sentences))
            for done, s in enumerate(order.tolist(), 1):
                span = sentences.span(s)
                words, tags, gold = sentences.words[span], sentences.tags[span], targets[span]
                arcs = scratch.scores(words, tags, weights, bits)
                arcs += 1
                arcs[gold, np.arange(1, len(gold) + 1)] -= 1
                predicted, _ = _best(arcs, 1)
                kernel.step(
                    words, tags, gold, predicted[0], C, time, weights, totals, bits,
                    scratch.parts, scratch.seen, delta, places, amounts,
                )  # fmt: skip
                wrong += int(np.count_nonzero(predicted[0] != gold))
                time += 1
                if done % 64 == 0 or done == len(order):
                    monitor.advance(done % 64 or 64)
                    if monitor.stopping:
                        raise Interrupted(f"interrupted in epoch {epoch} of the parser's training")
            record: dict[str, Any] = {"epoch": epoch, "agreement": 1 - wrong / len(sentences.words)}
            monitor.epoch(record)
            self.history_.append(record)
        self.weights_ = (weights - totals / time).astype(np.float32)
        self.n_words_, self.n_tags_ = n_words, n_tags
        return self

    def _bits(self) -> int:
        bits = whole("hash_bits", self.hash_bits)
        if bits > kernel.LARGEST_TABLE:
            raise ValueError(f"hash_bits is {bits}, expected at most {kernel.LARGEST_TABLE}")
        return bits

    def arc_scores(self, words: np.ndarray, tags: np.ndarray) -> np.ndarray:
        """(n + 1, n + 1) scores [head, word] of a sentence's arcs; column 0 and the diagonal say nothing."""
        self._check_fitted("weights_")
        return _Scratch(len(words), self.n_tags_).scores(words, tags, self.weights_, self._bits())

    def kbest(self, words: np.ndarray, tags: np.ndarray, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Heads (K, n) int32 and scores (K,) of the best trees of a sentence, best first; K is k, or fewer if no more exist."""
        return _best(self.arc_scores(words, tags), k)

    def parse(
        self, sentences: TaggedSentences, k: int = 1, *, monitor: Monitor | None = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """:meth:`kbest` of every sentence.

        Raises:
            Interrupted: the monitor was asked to stop.
        """
        monitor = Monitor() if monitor is None else monitor

        def work(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
            if monitor.stopping:
                raise Interrupted("interrupted while parsing")
            spans = [sentences.span(s) for s in range(first, min(first + _BLOCK, len(sentences)))]
            found = [self.kbest(sentences.words[span], sentences.tags[span], k) for span in spans]
            monitor.advance(len(found))
            return found

        blocks = map_blocks(work, range(0, len(sentences), _BLOCK), self.threads)
        return [one for block in blocks for one in block]

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes."""
        self._check_fitted("weights_")
        values = {"epochs": self.epochs, "C": float(self.C), "hash_bits": self.hash_bits, "seed": self.seed}
        return {"weights": self.weights_}, {"parser": values}

    @classmethod
    def from_state(
        cls, arrays: dict[str, np.ndarray], header: dict[str, Any], n_words: int, n_tags: int
    ) -> DependencyParser:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        values = value_of(header, "parser", dict)
        parser = cls(
            epochs=value_of(values, "epochs", int, 1),
            C=value_of(values, "C", float, 0),
            hash_bits=value_of(values, "hash_bits", int, 1, kernel.LARGEST_TABLE),
            seed=value_of(values, "seed", int, 0),
        )
        parser.weights_ = array_of(arrays, "weights", np.float32, (1 << parser.hash_bits,))
        require(bool(np.isfinite(parser.weights_).all()), "weights are not finite")
        parser.n_words_, parser.n_tags_, parser.history_ = n_words, n_tags, []
        return parser


class _Scratch:
    """Room for the arcs of sentences up to a length, used again for each."""

    def __init__(self, longest: int, n_tags: int) -> None:
        self.parts = np.empty((3, longest + 1, kernel.PARTS_PER_WORD), np.uint64)
        self.seen = np.empty(n_tags, np.int32)

    def scores(self, words: np.ndarray, tags: np.ndarray, weights: np.ndarray, bits: int) -> np.ndarray:
        out = np.empty((len(words) + 1, len(words) + 1))
        kernel.score_arcs(words, tags, weights, bits, self.parts, self.seen, out)
        return out


def _best(arcs: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    heads, scores = np.empty((k, len(arcs) - 1), np.int32), np.empty(k)
    found = best_trees(arcs, heads, scores)
    return heads[:found], scores[:found]


# --- trees that the parser cannot make -----------------------------------------------------------------------------------------


def projective_heads(sentences: TaggedSentences) -> np.ndarray:
    """The heads (T,) int32 of trees, those that cross or have several roots replaced by :func:`closest_projective`."""
    gaps, roots = sentences.shapes()
    heads = sentences.heads.copy()
    for s in np.flatnonzero((gaps > 0) | (roots != 1)).tolist():
        span = sentences.span(s)
        heads[span] = closest_projective(heads[span])
    return heads


def closest_projective(heads: np.ndarray) -> np.ndarray:
    """The projective tree with one word on the root that keeps the most heads of a tree.

    Among those, words that lose their head hang on ancestors, near ones first (Nivre and Nilsson 2005 lift arcs so); for words on
    the root beside the first, that is the first.
    """
    n = len(heads)
    arcs = np.zeros((n + 1, n + 1))
    words = np.arange(1, n + 1)
    first_root = int(words[heads == 0][0])
    up = np.concatenate([[0], heads])
    up[words[heads == 0][1:]] = first_root
    ancestor, gain = (
        heads,
        1.0,
    )  # of n words that lose their heads, the ancestors bring less than one kept head
    for _ in range(n):
        arcs[ancestor, words] = np.maximum(arcs[ancestor, words], gain)
        ancestor = up[ancestor]
        gain = gain / 2 if gain < 1 else 0.25 / n
        if not ancestor.any():
            break
    arcs[up[1:], words] = np.maximum(arcs[up[1:], words], 0.25 / n)
    return _best(arcs, 1)[0][0]
