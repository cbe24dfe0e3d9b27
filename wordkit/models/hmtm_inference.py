"""Drives the inference kernels over batches of trees and threads; see :mod:`wordkit.models.hmtm`.

Two ways, with one interface. :class:`Exact` passes messages over all classes in float64, level by level over groups of sentences,
as matrix products. :class:`Projected` keeps the k likeliest classes of each token (or the fewest that hold 1 - epsilon of
the whole), in float32, with work linear in the number of classes.

The thesis projects a token's upward vector u and its downward vector v separately; pair counts then do not sum to the token's
posteriors. Here a token has one support, that of u, in both passes: inference is exact in the model whose token classes are
limited to their supports, its log-likelihood is a lower bound of the exact one, and EM on it is variational EM.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from wordkit._kernels import exact_messages, pseudocounts, tree_messages, tree_viterbi
from wordkit.models.hmtm_statistics import Parameters, Statistics
from wordkit.models.trees import Trees
from wordkit.parallel import Workers

_GROUP_TOKENS = 2048  # of a group of exact inference: its products are large enough, its vectors not too many
# A batch is cut for several threads, if that leaves groups of some size.
_LEAST_GROUPS, _LEAST_TOKENS = 4, 256
_WORD_BLOCKS = 8  # whose class totals are summed in order, whatever the number of threads


def _cuts(offsets: np.ndarray, parts: int) -> list[tuple[int, int]]:
    """Up to ``parts`` runs of sentences (or words, or classes) with about as many tokens each."""
    marks = np.searchsorted(offsets, np.arange(parts + 1) * (offsets[-1] / parts))
    marks[0], marks[-1] = 0, len(offsets) - 1
    return [(int(lo), int(hi)) for lo, hi in pairwise(marks) if hi > lo]


def _longest(trees: Trees, cut: tuple[int, int]) -> int:
    return int(np.diff(trees.offsets[cut[0] : cut[1] + 1]).max(initial=1))


class Inference(ABC):
    """A way of passing messages.

    Args:
        threads: results do not depend on it.
    """

    def __init__(self, threads: int) -> None:
        self.workers = Workers(threads)

    @abstractmethod
    def add(self, trees: Trees, source: Statistics, target: Statistics, weight: float) -> float:
        """Add ``weight`` times the expected statistics of a batch under ``source`` to ``target``; its log-likelihood."""

    @abstractmethod
    def log_likelihoods(self, trees: Trees, source: Statistics) -> np.ndarray:
        """(S,) log-likelihood of each sentence."""

    @abstractmethod
    def posteriors(self, trees: Trees, source: Statistics) -> np.ndarray:
        """(T, C) float64 distribution over the classes of each token."""

    @abstractmethod
    def viterbi(self, trees: Trees, source: Statistics) -> np.ndarray:
        """(T,) int32 the jointly most probable classes of each sentence."""


class Exact(Inference):
    """Inference over all classes."""

    def _infer(
        self, trees: Trees, source: Statistics, matrix: np.ndarray, posterior: np.ndarray, pairs: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-likelihoods (S,), and summed over groups U'V of the edges (L, C, C)."""
        p = source.parameters()
        classes, tokens = source.classes, len(trees.words)
        log_likelihood = np.empty(trees.n_sentences)
        cuts = _cuts(
            trees.offsets, max(min(_LEAST_GROUPS, tokens // _LEAST_TOKENS), -(-tokens // _GROUP_TOKENS))
        )
        sums = [np.zeros(matrix.shape if pairs else (0, classes, classes)) for _ in cuts]
        roots = np.empty(0)  # what they add is in the posteriors

        def part(number: int) -> None:
            lo, hi = cuts[number]
            size = int(trees.offsets[hi] - trees.offsets[lo])
            work, plan = exact_messages.scratch_shapes(size, len(matrix), classes)
            exact_messages.infer(
                trees.words, trees.heads, trees.labels, trees.order, trees.offsets, lo, hi,
                p.emissions, p.floors, p.emission_scale, matrix, p.start, not (pairs or len(posterior)),
                posterior, sums[number], roots, log_likelihood, np.empty(work), np.empty(plan, dtype=np.int32),
            )  # fmt: skip

        self.workers.map(part, range(len(cuts)))
        for more in sums[1:]:
            sums[0] += more
        return log_likelihood, sums[0]

    def add(self, trees: Trees, source: Statistics, target: Statistics, weight: float) -> float:
        matrix = source.transition_matrix()
        posterior = np.empty((len(trees.words), source.classes))
        log_likelihood, pairs = self._infer(trees, source, matrix, posterior, True)
        matrix *= pairs
        matrix *= weight
        target.transitions += matrix
        if target is source:  # else the image is made when all is there
            target.image[:] = target.transitions
        words = _Words(trees, len(target.emissions))
        words.group()

        def add_marginals() -> None:
            pseudocounts.add_marginals_dense(
                trees.heads, trees.labels, trees.offsets, posterior, weight,
                target.starts, target.child_mass, target.parent_mass,
            )  # fmt: skip

        def add_emissions(cut: tuple[int, int], totals: np.ndarray) -> None:
            pseudocounts.add_emissions_dense(
                trees.words, words.order, words.runs, posterior, target.emissions, target.floors, target.smoothing, weight,
                totals, *cut,
            )  # fmt: skip

        words.run(self.workers, target, add_emissions, beside=[add_marginals])
        return float(log_likelihood.sum())

    def log_likelihoods(self, trees: Trees, source: Statistics) -> np.ndarray:
        return self._infer(trees, source, source.transition_matrix(), np.empty((0, source.classes)), False)[0]

    def posteriors(self, trees: Trees, source: Statistics) -> np.ndarray:
        out = np.empty((len(trees.words), source.classes))
        self._infer(trees, source, source.transition_matrix(), out, False)
        return out

    def viterbi(self, trees: Trees, source: Statistics) -> np.ndarray:
        p, matrix = source.parameters(), source.transition_matrix()
        classes, log_probability = np.zeros(len(trees.words), np.int32), np.empty(trees.n_sentences)

        def part(cut: tuple[int, int]) -> None:
            longest = _longest(trees, cut)
            tree_viterbi.decode(
                trees.words, trees.heads, trees.labels, trees.order, trees.offsets, *cut, p.emissions, p.floors,
                p.emission_scale, matrix, p.start, classes, log_probability,
                np.empty((2 * longest + 1, source.classes)), np.empty(longest, np.int32),
            )  # fmt: skip

        self.workers.map(part, _cuts(trees.offsets, 4 * self.workers.threads))
        return classes


class _Batch:
    """What the projected kernels give of a batch: supports (T, K), their sizes (T,) and the messages on them."""

    def __init__(self, tokens: int, room: int, sentences: int) -> None:
        self.support = np.empty((tokens, room), dtype=np.int32)
        self.sizes = np.empty(tokens, dtype=np.int32)
        self.below, self.above, self.posterior = (np.empty((tokens, room), np.float32) for _ in range(3))
        self.log_likelihood = np.empty(sentences)


class Projected(Inference):
    """Inference on the likeliest classes of each token.

    Args:
        k: most classes a token keeps; None for no limit.
        epsilon: 0, or the share of the whole that may be lost: then the fewest classes are kept that hold the rest.
        prefer_frequent: choose classes by u times their share of all tokens, that is by p(class | below) and not by
            p(below | class), which favours classes that emit little.
    """

    def __init__(self, k: int | None, epsilon: float, threads: int, *, prefer_frequent: bool = True) -> None:
        super().__init__(threads)
        self.k, self.epsilon, self.prefer_frequent = k, epsilon, prefer_frequent

    def _infer(
        self,
        trees: Trees,
        source: Statistics,
        p: Parameters,
        *,
        upward_only: bool,
        beside: Sequence[Callable[[], None]] = (),
    ) -> _Batch:
        """``beside``: what can be done by a free thread at the same time."""
        room = min(self.k or source.classes, source.classes)
        batch = _Batch(len(trees.words), room, len(trees.offsets) - 1)
        shares = source.class_shares() if self.prefer_frequent else np.ones(source.classes)
        preference = shares.astype(np.float32)
        start = p.start.astype(np.float32)

        def part(cut: tuple[int, int]) -> None:
            tree_messages.infer(
                trees.words, trees.heads, trees.labels, trees.order, trees.offsets, *cut,
                p.emissions, p.floors, p.emission_scale, p.transitions, p.back_off, p.transition_scale, start, preference,
                room, self.epsilon, upward_only,
                batch.support, batch.sizes, batch.below, batch.above, batch.posterior, batch.log_likelihood,
            )  # fmt: skip

        cuts = _cuts(trees.offsets, 8 * self.workers.threads)
        self.workers.run([*(partial(part, cut) for cut in cuts), *beside])
        return batch

    def add(self, trees: Trees, source: Statistics, target: Statistics, weight: float) -> float:
        p = source.parameters()
        words = _Words(trees, len(target.emissions))
        batch = self._infer(trees, source, p, upward_only=False, beside=[words.group])
        image = target.image if target is source else None  # else it is made when all is there

        def add_transitions(cut: tuple[int, int]) -> None:
            pseudocounts.add_transitions(
                trees.heads, trees.labels, trees.offsets, batch.support, batch.sizes, batch.below, batch.above,
                p.transitions, p.back_off, p.transition_scale, target.transitions, image, weight, *cut,
            )  # fmt: skip

        def add_marginals() -> None:
            pseudocounts.add_marginals(
                trees.heads, trees.labels, trees.offsets, batch.support, batch.sizes, batch.above, batch.posterior, weight,
                target.starts, target.child_mass, target.parent_mass,
            )  # fmt: skip

        def add_emissions(cut: tuple[int, int], totals: np.ndarray) -> None:
            pseudocounts.add_emissions(
                trees.words, words.order, words.runs, batch.support, batch.sizes, batch.posterior,
                target.emissions, target.floors, target.smoothing, weight, totals, *cut,
            )  # fmt: skip

        rows = _cuts(np.append(0.0, np.cumsum(source.class_shares())), self.workers.threads)
        self.workers.run([*(partial(add_transitions, cut) for cut in rows), add_marginals])
        words.run(self.workers, target, add_emissions)
        return float(batch.log_likelihood.sum())

    def log_likelihoods(self, trees: Trees, source: Statistics) -> np.ndarray:
        return self._infer(trees, source, source.parameters(), upward_only=True).log_likelihood

    def supports(self, trees: Trees, source: Statistics) -> np.ndarray:
        """(T,) how many classes each token keeps (Figure 2.3 of the thesis)."""
        return self._infer(trees, source, source.parameters(), upward_only=True).sizes

    def posteriors(self, trees: Trees, source: Statistics) -> np.ndarray:
        batch = self._infer(trees, source, source.parameters(), upward_only=False)
        out = np.zeros((len(trees.words), source.classes))
        kept = np.arange(batch.support.shape[1]) < batch.sizes[:, None]
        out[np.nonzero(kept)[0], batch.support[kept]] = batch.posterior[kept]
        return out

    def viterbi(self, trees: Trees, source: Statistics) -> np.ndarray:
        p = source.parameters()
        batch = self._infer(trees, source, p, upward_only=True)
        classes, log_probability = np.zeros(len(trees.words), np.int32), np.empty(trees.n_sentences)

        def part(cut: tuple[int, int]) -> None:
            longest = _longest(trees, cut)
            tree_viterbi.decode_supports(
                trees.words, trees.heads, trees.labels, trees.order, trees.offsets, *cut, p.emissions, p.floors,
                p.emission_scale, p.transitions, p.back_off, p.transition_scale, p.start.astype(np.float32), batch.support,
                batch.sizes, classes, log_probability, np.empty((3, longest * batch.support.shape[1])),
                np.empty(longest, np.int32),
            )  # fmt: skip

        self.workers.map(part, _cuts(trees.offsets, 4 * self.workers.threads))
        return classes


class _Words:
    """Tokens of a batch side by side by their word, and the runs of distinct words that are one block of work each."""

    def __init__(self, trees: Trees, vocabulary: int) -> None:
        self.words, self.vocabulary = trees.words, vocabulary
        self.order = np.empty(len(trees.words), dtype=np.int32)
        self.runs = np.empty(len(trees.words) + 1, dtype=np.int32)
        self.distinct = 0

    def group(self) -> None:
        """Sort the tokens; before :meth:`run`."""
        scratch = np.empty(self.vocabulary + 1, dtype=np.int32)
        self.distinct = pseudocounts.group_words(self.words, scratch, self.order, self.runs)

    def run(
        self,
        workers: Workers,
        target: Statistics,
        add: Callable[[tuple[int, int], np.ndarray], None],
        beside: Sequence[Callable[[], None]] = (),
    ) -> None:
        """Run ``add(block, totals)`` over blocks of distinct words, add up their class totals in order; and what is beside."""
        blocks = _cuts(self.runs[: self.distinct + 1], _WORD_BLOCKS)
        partial_totals = np.zeros((len(blocks), target.classes))
        jobs = [partial(add, block, totals) for block, totals in zip(blocks, partial_totals, strict=True)]
        workers.run([*beside, *jobs])
        for totals in partial_totals:
            target.totals += totals
