"""What rerankers of n-best lists share, whatever their weights: epochs over packed lists, the best epoch, scores, states.

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
from wordkit.models.base import Estimator, one_of, whole
from wordkit.models.nbest_corpus import FeatureTable, ListCorpus, PackedLists, Packer, pack_lists
from wordkit.models.rerank_weights import Arrays, Learner, Weights, score_all, weights_from_state
from wordkit.monitor import Monitor

_LISTS = 512  # between two looks at the monitor
_SMALLER = "take a smaller C, or exact steps"


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
            ValueError: parameters, lists or counts that do not fit. WordkitError: no feature is left, or the weights became
                infinite.
            Interrupted: the monitor was asked to stop; the state is that after the last whole epoch.
        """
        self._check()
        for given in (lists, dev):
            if given is not None:
                given.check()
        corpus = ListCorpus()
        corpus.add(lists)
        table = self.choose_features(corpus)
        held_out = pack_lists([dev], table)[0] if dev is not None else None
        own = None if counts is None else np.asarray(counts)
        of_dev = None if dev_counts is None else np.asarray(dev_counts)
        return self.fit_packed(corpus.pack(table), table, own, held_out, of_dev, monitor=monitor)

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
            if not (np.isfinite(record["loss"]) and all(np.isfinite(a).all() for a in now.arrays().values())):
                raise WordkitError(f"the weights became infinite in epoch {epoch + 1}: {_SMALLER}")
            if curves:
                record.update(self.measured("train", now, packed, counts))
            value = None
            if dev is not None:
                ((name, value),) = self.measured("dev", now, dev, dev_counts).items()
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
            raise WordkitError(f"the weights became infinite in epoch {epoch}, at qid {list_}: {_SMALLER}")

    def _order(self, lists: int, purpose: int, epoch: int) -> np.ndarray:
        if not self.shuffle:
            return np.arange(lists)
        return rng.stream(int(self.seed), purpose, epoch).permutation(lists)

    def measured(
        self, what: str, weights: Weights, packed: PackedLists, counts: np.ndarray | None
    ) -> dict[str, float | None]:
        """What weights choose: ``what`` with ``_fscore`` where there are counts, else with ``_mean_score``."""
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
        return self._scored(lists)[0]

    def predict(self, lists: NbestLists) -> np.ndarray:
        """int32 (S,): the place in each list, from 0, of the first candidate with the highest score."""
        return self._scored(lists)[1]

    def _scored(self, lists: NbestLists) -> tuple[np.ndarray, np.ndarray]:
        self._check_fitted("weights_")
        lists.check()
        return score_all(self.weights_, Packer(self.table_).packed(lists), int(self.threads))

    def score(self, lists: NbestLists, counts: np.ndarray | None = None) -> float | None:
        """F of the chosen candidates, or without counts the mean of their scores; None where there is nothing to measure."""
        if counts is not None and np.shape(counts) != (len(lists.scores), 3):
            raise ValueError("counts must be (R, 3), a row for each candidate")
        if not len(lists):
            return None
        counts = None if counts is None else np.asarray(counts)
        return chosen_quality(lists.starts, lists.scores, counts, self.predict(lists))[1]

    # --- states ----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and JSON values of a fitted model, for :func:`wordkit.models.rerankers.reranker_from_state`."""
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

    def take_state(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Become the fitted model of :meth:`state`; ValueError for what is no state of this algorithm."""
        parameters = value_of(values, "parameters", dict)
        require({*parameters, "threads"} == set(self.get_params()), "parameters are those of another model")
        self.set_params(**parameters)
        self._check()
        self.table_ = FeatureTable.from_arrays(arrays)
        self.weights_ = weights_from_state(arrays, value_of(values, "weights", dict), len(self.table_))
        self.n_iter_ = value_of(values, "epochs_done", int, 1)
        self.best_epoch_ = value_of(values, "best_epoch", int, 1, self.n_iter_)
        self.history_ = value_of(values, "history", list)
        require(len(self.history_) == self.n_iter_, "history is not that of the epochs")
        require(all(isinstance(record, dict) for record in self.history_), "history is no records")


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    return (
        value.item() if isinstance(value, np.generic) else list(value) if isinstance(value, tuple) else value
    )
