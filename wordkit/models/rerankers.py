"""Rerankers of n-best lists: Tensor-MIRA (Cao and Khudanpur 2014), MIRA and the averaged perceptron, on the same arrays.

A list's oracle is its first candidate with the highest score, a candidate's cost the oracle's score less its own. A step is
taken where the rival (the model's first best candidate, or the first best by score + cost) costs something: a rival as good as
the oracle, a list of equal candidates or of one alone teach nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wordkit import rng
from wordkit.checks import require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.evaluation.reranking import chosen_quality
from wordkit.formats.nbest import NbestLists
from wordkit.models.base import Estimator, one_of, positive, whole
from wordkit.models.nbest_corpus import FeatureTable, ListCorpus, PackedLists, Packer, pack_lists
from wordkit.models.rerank_weights import (
    STARTS,
    Arrays,
    Layout,
    Learner,
    Steps,
    TensorLearner,
    VectorLearner,
    Weights,
    score_all,
    weights_from_state,
)
from wordkit.models.tensor_shape import (
    MAPPINGS,
    MOST_ORDER,
    approximate_positions,
    check_modes,
    mode_sizes,
)
from wordkit.monitor import Monitor

_LISTS = 512  # between two looks at the monitor
STEPS, RIVALS, AVERAGES = ("exact", "printed"), ("model", "cost"), ("tensors", "modes")


class Reranker(Estimator):
    """What the three share: epochs over packed lists, the best epoch on held-out lists, scores.

    Attributes:
        table_: the features it knows. weights_: the weights to score with; last_weights_: those of the last epoch, where a better
            epoch was kept. n_parameters_: how many numbers were learned. n_iter_: epochs done. best_epoch_: the epoch of
            ``weights_``. history_: a record an epoch.
    """

    table_: FeatureTable
    n_iter_: int
    best_epoch_: int
    history_: list[dict[str, Any]]
    weights_: Weights
    last_weights_: Weights
    _best: float | None
    _learner: Learner
    epochs: int
    min_feature_count: int
    average: bool
    keep: str
    standardize: bool
    shuffle: bool
    seed: int
    threads: int
    plain = 0

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(
        self, lists: NbestLists, counts: np.ndarray | None = None, *, dev: NbestLists | None = None,
        dev_counts: np.ndarray | None = None, monitor: Monitor | None = None,
    ) -> Reranker:  # fmt: skip
        """Learn from lists.

        Args:
            lists: with R candidates.
            counts: (R, 3) what each has right: matched, gold, proposed; with them the history has f-scores, not mean scores.
            dev, dev_counts: held-out lists: with ``keep="best"`` the weights of the epoch that is best on them are kept.

        Raises:
            ValueError: parameters or arrays that do not fit. WordkitError: no feature is left, or the weights became infinite.
            Interrupted: the monitor was asked to stop; the state is that after the last whole epoch.
        """
        self._check()
        corpus = ListCorpus()
        corpus.add(lists)
        table = self.choose_features(corpus)
        held_out = pack_lists([dev], table)[0] if dev is not None else None
        return self.fit_packed(corpus.pack(table), table, counts, held_out, dev_counts, monitor=monitor)

    def choose_features(self, corpus: ListCorpus) -> FeatureTable:
        """The features to learn weights of; WordkitError if none is left."""
        return corpus.choose(int(self.min_feature_count), plain=int(self.plain), standardize=self.standardize)

    def fit_packed(
        self, packed: PackedLists, table: FeatureTable, counts: np.ndarray | None = None, dev: PackedLists | None = None,
        dev_counts: np.ndarray | None = None, *, monitor: Monitor | None = None, curves: bool = True,
        earlier: tuple[Mapping[str, np.ndarray], Mapping[str, Any]] | None = None,
    ) -> Reranker:  # fmt: skip
        """As :meth:`fit`, with lists that are packed already.

        Args:
            curves: measure each epoch on the training lists too.
            earlier: :meth:`training_state` of an interrupted fit of the same lists, to go on with.
        """
        self._check()
        for lists, numbers in ((packed, counts), (dev, dev_counts)):
            if numbers is not None and (lists is None or numbers.shape != (len(lists.scores), 3)):
                raise ValueError("counts must be (R, 3), a row for each candidate")
        monitor = monitor or Monitor()
        self.table_ = table
        if earlier is None:
            self._begin(packed)
        else:
            self._go_on(packed, *earlier)
        monitor.begin((int(self.epochs) - self.n_iter_) * len(packed), "lists")
        for epoch in range(self.n_iter_, int(self.epochs)):
            record = self._epoch(packed, epoch, monitor)
            now = self._learner.current((epoch + 1) * len(packed))
            if curves:
                record.update(self._measured("train", now, packed, counts))
            value = None
            if dev is not None:
                ((name, value),) = self._measured("dev", now, dev, dev_counts).items()
                record[name] = value
            if self.keep == "last" or value is None or self._best is None or value > self._best:
                self.weights_, self._best, self.best_epoch_ = now, value, epoch + 1
            self.last_weights_ = now
            self.n_iter_ = epoch + 1
            self.history_.append(record)
            monitor.epoch(record)
        return self

    def _begin(self, packed: PackedLists) -> None:
        self._learner = self._new_learner(packed)
        self._best = None
        self.history_ = []
        self.n_iter_ = self.best_epoch_ = 0

    def _epoch(self, packed: PackedLists, epoch: int, monitor: Monitor) -> dict[str, Any]:
        order = self._order(len(packed), rng.SHUFFLE, epoch)
        before = self._learner.state()
        totals = np.zeros(2)
        for low in range(0, len(order), _LISTS):
            if monitor.stopping:
                self._learner.restore(before)
                raise Interrupted(f"interrupted after {epoch} of {self.epochs} epochs")
            part = order[low : low + _LISTS]
            self._learn(self._learner, packed, part, epoch * len(packed) + low, totals)
            monitor.advance(len(part))
        self._learner.epoch_done()
        return {"epoch": epoch + 1, "loss": float(totals[0]) / len(packed), "steps": int(totals[1])}

    def _learn(
        self, learner: Learner, packed: PackedLists, order: np.ndarray, seen: int, totals: np.ndarray
    ) -> None:
        done = learner.learn(packed, order, seen, totals)
        if done < len(order):
            epoch, list_ = seen // len(packed) + 1, packed.qids[order[done]]
            raise WordkitError(
                f"the weights became infinite in epoch {epoch}, at qid {list_}: take a smaller C, or exact steps"
            )

    def _order(self, lists: int, purpose: int, epoch: int) -> np.ndarray:
        if not self.shuffle:
            return np.arange(lists)
        return rng.stream(int(self.seed), purpose, epoch).permutation(lists)

    def _measured(
        self, what: str, weights: Weights, packed: PackedLists, counts: np.ndarray | None
    ) -> dict[str, float | None]:
        _, best = score_all(weights, packed, int(self.threads))
        name, value = chosen_quality(packed.starts, packed.scores, counts, best)
        return {f"{what}_{name}": value}

    def _new_learner(self, packed: PackedLists) -> Learner:
        raise NotImplementedError

    def _check(self) -> None:
        for name in ("epochs", "threads"):
            whole(name, getattr(self, name))
        if self.min_feature_count != 0:
            whole("min_feature_count", self.min_feature_count)
        one_of("keep", self.keep, ("best", "last"))

    # --- scoring ---------------------------------------------------------------------------------------------------

    @property
    def n_parameters_(self) -> int:
        return self.weights_.parameters

    def decision_function(self, lists: NbestLists) -> np.ndarray:
        """float64 (R,): the score of each candidate; features that the model does not know count nothing."""
        self._check_fitted("weights_")
        return score_all(self.weights_, Packer(self.table_).packed(lists), int(self.threads))[0]

    def predict(self, lists: NbestLists) -> np.ndarray:
        """int32 (S,): the place in each list, from 0, of the first candidate with the highest score."""
        self._check_fitted("weights_")
        return score_all(self.weights_, Packer(self.table_).packed(lists), int(self.threads))[1]

    def score(self, lists: NbestLists, counts: np.ndarray | None = None) -> float | None:
        """F of the chosen candidates, or without counts the mean of their scores."""
        return chosen_quality(lists.starts, lists.scores, counts, self.predict(lists))[1]

    # --- states ----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and JSON values of a fitted model, for :meth:`from_state`."""
        self._check_fitted("weights_")
        values = {
            "algorithm": self.algorithm,
            "parameters": {
                key: _plain(value) for key, value in self.get_params().items() if key != "threads"
            },
            "weights": self.weights_.values(),
            "epochs_done": self.n_iter_,
            "best_epoch": self.best_epoch_,
            "history": self.history_,
        }
        return {**self.table_.arrays(), **self.weights_.arrays()}, values

    algorithm = ""

    def training_state(self) -> tuple[Arrays, dict[str, Any]]:
        """As :meth:`state`, with all that an interrupted fit needs to go on to the same bytes."""
        arrays, values = self.state()
        last = {f"last_{name}": array for name, array in self.last_weights_.arrays().items()}
        return {**arrays, **last, **self._learner.state()}, {**values, "best": self._best}

    def _go_on(
        self, packed: PackedLists, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]
    ) -> None:
        learner = self._learner_of(arrays, values)
        learner.restore(arrays)
        self._learner = learner
        last = {name[5:]: array for name, array in arrays.items() if name.startswith("last_")}
        self.last_weights_ = weights_from_state(last, value_of(values, "weights", dict), len(self.table_))
        self._best = values["best"]
        require(self._best is None or isinstance(self._best, float), "best is no number")

    def _learner_of(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Learner:
        raise NotImplementedError

    @staticmethod
    def from_state(arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Reranker:
        """A fitted model; ValueError for what is no state."""
        algorithm = value_of(values, "algorithm", str)
        require(algorithm in RERANKERS, f"algorithm is {algorithm!r}")
        model = RERANKERS[algorithm]()
        parameters = value_of(values, "parameters", dict)
        require({*parameters, "threads"} == set(model.get_params()), "parameters are those of another model")
        model.set_params(**parameters)
        model._check()
        model.table_ = FeatureTable.from_arrays(arrays)
        model.weights_ = weights_from_state(arrays, value_of(values, "weights", dict), len(model.table_))
        model.n_iter_ = value_of(values, "epochs_done", int, 1)
        model.best_epoch_ = value_of(values, "best_epoch", int, 1, model.n_iter_)
        model.history_ = value_of(values, "history", list)
        require(len(model.history_) == model.n_iter_, "history is not that of the epochs")
        require(all(isinstance(record, dict) for record in model.history_), "history is no records")
        return model


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    return (
        value.item() if isinstance(value, np.generic) else list(value) if isinstance(value, tuple) else value
    )


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
