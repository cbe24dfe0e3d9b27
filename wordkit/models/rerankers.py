"""Rerankers of n-best lists: Tensor-MIRA (Cao and Khudanpur 2014), MIRA and the averaged perceptron, on the same arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wordkit import rng
from wordkit.checks import require, value_of
from wordkit.models.base import one_of, positive, whole
from wordkit.models.nbest_corpus import PackedLists
from wordkit.models.rerank_weights import (
    STARTS,
    Layout,
    Learner,
    Steps,
    TensorLearner,
    VectorLearner,
)
from wordkit.models.reranker import Reranker
from wordkit.models.tensor_shape import (
    MAPPINGS,
    MOST_ORDER,
    approximate_positions,
    check_modes,
    mode_sizes,
)

STEPS, RIVALS, AVERAGES = ("exact", "printed"), ("model", "cost"), ("tensors", "modes")


class _VectorReranker(Reranker):
    """A weight a feature."""

    def _how(self) -> Steps:
        raise NotImplementedError

    def _new_learner(self, packed: PackedLists) -> Learner:
        return VectorLearner(len(self.table_), self._how(), averaged=self.average)

    def _learner_of(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Learner:
        return VectorLearner(len(self.table_), self._how(), averaged=self.average)


class Perceptron(_VectorReranker):
    """The averaged perceptron (Collins 2002).

    Args:
        epochs: passes over the lists. average: decode with the average of the weights after each list.
        min_feature_count: learn weights of features that vary in so many training lists; 0: of all up to the greatest.
        keep: with held-out lists, keep the weights of the ``best`` epoch on them, or of the ``last``.
        standardize: divide each feature's values by their standard deviation within lists.
        shuffle: another order of the lists each epoch. threads: for scoring; results do not depend on it.
    """

    algorithm = "perceptron"

    def __init__(
        self, *, epochs: int = 10, min_feature_count: int = 1, average: bool = True, keep: str = "best",
        standardize: bool = False, shuffle: bool = True, seed: int = 1, threads: int = 1,
    ) -> None:  # fmt: skip
        self.epochs, self.min_feature_count, self.average, self.keep = (
            epochs,
            min_feature_count,
            average,
            keep,
        )
        self.standardize, self.shuffle, self.seed, self.threads = standardize, shuffle, seed, threads

    def _how(self) -> Steps:
        return Steps(perceptron=True)


class Mira(_VectorReranker):
    """One-best MIRA (Crammer et al. 2006).

    Args:
        C: the longest step. rival: the candidate to step away from: the ``model``'s best, or the best by score + ``cost``.
        step: ``exact``, or ``printed``: min(C, loss / length^2) without the loss being held at 0.
        The others: see :class:`Perceptron`.
    """

    algorithm = "mira"

    def __init__(
        self, *, C: float = 0.001, step: str = "exact", rival: str = "model", epochs: int = 10, min_feature_count: int = 1,
        average: bool = False, keep: str = "best", standardize: bool = False, shuffle: bool = True, seed: int = 1,
        threads: int = 1,
    ) -> None:  # fmt: skip
        self.C, self.step, self.rival = C, step, rival
        self.epochs, self.min_feature_count, self.average, self.keep = (
            epochs,
            min_feature_count,
            average,
            keep,
        )
        self.standardize, self.shuffle, self.seed, self.threads = standardize, shuffle, seed, threads

    def _how(self) -> Steps:
        return Steps(C=positive("C", self.C), rival=self.rival, step=self.step)

    def _check(self) -> None:
        super()._check()
        positive("C", self.C)
        one_of("step", self.step, STEPS)
        one_of("rival", self.rival, RIVALS)


class TensorMira(Reranker):
    """Tensor-MIRA: weights in a tensor of order D, a sum of H tensors of rank one (Cao and Khudanpur 2014).

    Args:
        order: D; 1 is MIRA. rank: H. modes: D mode sizes; None for the rule of section 3.2.
        mapping: ``approximate`` groups features by a surrogate, the weights of a perceptron after ``surrogate_epochs`` epochs
            (Figure 2); ``sequential`` keeps their order.
        start: ``constant`` entries, |W|_F = 1 (the paper's); or ``zero`` vectors in the last mode, so that W = 0.
        C, step, rival: see :class:`Mira`; an exact step is at most C by the product of the other modes' squared lengths.
        plain: so many features, those that vary in the most lists, have weights of their own beside the tensor.
        average: decode with an average: of the ``tensors`` at the ends of the epochs, which has rank H times their number, or of
            the vectors of each of the ``modes`` after each list, which is no average of tensors (``average_of``).
        The others: see :class:`Perceptron`.

    Attributes:
        layout_: where the features stand. surrogate_: float64 (V - plain,), the surrogate's weights, with ``approximate``.
    """

    algorithm = "tmira"

    def __init__(
        self, *, order: int = 2, rank: int = 1, mapping: str = "approximate", modes: Any = None,
        start: str = "constant", C: float = 0.01,
        step: str = "exact", rival: str = "model", surrogate_epochs: int = 1, plain: int = 0, epochs: int = 10,
        min_feature_count: int = 1, average: bool = False, average_of: str = "tensors", keep: str = "best",
        standardize: bool = False, shuffle: bool = True, seed: int = 1, threads: int = 1,
    ) -> None:  # fmt: skip
        self.order, self.rank, self.mapping, self.modes, self.C = order, rank, mapping, modes, C
        self.start = start
        self.step, self.rival, self.surrogate_epochs, self.plain = step, rival, surrogate_epochs, plain
        self.epochs, self.min_feature_count, self.average, self.average_of = (
            epochs,
            min_feature_count,
            average,
            average_of,
        )
        self.keep, self.standardize, self.shuffle, self.seed, self.threads = (
            keep,
            standardize,
            shuffle,
            seed,
            threads,
        )

    def _check(self) -> None:
        super()._check()
        positive("C", self.C)
        for name in ("order", "rank", "surrogate_epochs"):
            whole(name, getattr(self, name))
        if int(self.order) > MOST_ORDER:
            raise ValueError(f"order is {self.order}, expected at most {MOST_ORDER}")
        if self.plain != 0:
            whole("plain", self.plain)
        one_of("mapping", self.mapping, MAPPINGS)
        one_of("start", self.start, STARTS)
        one_of("step", self.step, STEPS)
        one_of("rival", self.rival, RIVALS)
        one_of("average_of", self.average_of, AVERAGES)

    def _new_learner(self, packed: PackedLists) -> Learner:
        features = len(self.table_)
        plain = min(int(self.plain), features)
        inside = features - plain
        order = int(self.order)
        modes = check_modes(self.modes, inside, order) if self.modes else mode_sizes(max(inside, 1), order)
        positions = None
        if self.mapping == "approximate":
            self.surrogate_ = self._surrogate(packed)[plain:]
            positions = approximate_positions(self.surrogate_, modes)
        self.layout_ = Layout(features, plain, modes, self.mapping, positions)
        return self._learner_in(self.layout_)

    def _learner_of(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Learner:
        self.layout_ = Layout.from_state(arrays, value_of(values, "weights", dict), len(self.table_))
        return self._learner_in(self.layout_)

    def _learner_in(self, layout: Layout) -> Learner:
        how = Steps(C=positive("C", self.C), rival=self.rival, step=self.step)
        average = self.average_of if self.average else None
        return TensorLearner(
            layout, int(self.rank), how, average=average, seed=int(self.seed), start=self.start
        )

    def _surrogate(self, packed: PackedLists) -> np.ndarray:
        """float64 (V,): the weights of a perceptron."""
        learner = VectorLearner(len(self.table_), Steps(perceptron=True), averaged=True)
        for epoch in range(int(self.surrogate_epochs)):
            order = self._order(len(packed), rng.SURROGATE, epoch)
            self._learn(learner, packed, order, epoch * len(packed), np.zeros(2))
        return learner.current(int(self.surrogate_epochs) * len(packed)).weights


RERANKERS: dict[str, type[Reranker]] = {kind.algorithm: kind for kind in (TensorMira, Mira, Perceptron)}


def reranker_from_state(arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Reranker:
    """The fitted model of :meth:`Reranker.state`; ValueError for what is no state."""
    algorithm = value_of(values, "algorithm", str)
    require(algorithm in RERANKERS, f"algorithm is {algorithm!r}")
    model = RERANKERS[algorithm]()
    model.take_state(arrays, values)
    return model
