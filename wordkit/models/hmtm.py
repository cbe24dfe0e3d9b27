"""Hidden Markov models on chains and dependency trees (Grave 2014, chapter 2): classes of words, and words as vectors.

A token's class depends on the class of its parent (on a chain, of the token before), its word on its class alone:

    p(words, classes) = product over tokens of T[class, class of parent] O[word, class]

T may differ between dependency labels. Learning is online EM over mini-batches, or batch EM; inference is exact, or restricted to
the k best classes of each token, which is what makes hundreds of classes affordable (section 2.2.2). Which of the thesis's
projections: one support a token, chosen from what lies below it, in both passes; see :mod:`wordkit.models.hmtm_inference`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wordkit import rng
from wordkit.checks import records_of, require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.fitted_tree import FittedTree
from wordkit.models.hmtm_beginnings import begin, brown_clusters, unseen_share
from wordkit.models.hmtm_inference import Inference
from wordkit.models.hmtm_parameters import check_parameters
from wordkit.models.hmtm_statistics import LEAST_SMOOTHING, Statistics
from wordkit.models.tree_corpus import UNKNOWN, TreeCorpus, Trees, Vocabulary
from wordkit.monitor import Monitor


class HiddenMarkovTree(FittedTree):
    """Hidden Markov tree model.

    Args:
        structure: ``tree`` (heads are needed) or ``chain`` (the parent is the token before).
        states: classes at the end. start_states: classes at the beginning, split in two every ``split_every`` batches (iterations
            of batch EM) until there are ``states``; by default evenly over the first half of the training.
        projection: ``kbest``: each token keeps its k likeliest classes; ``ebest``: the fewest that hold 1 - epsilon of the
            whole; ``exact``: all.
        method: ``online`` (alpha_t = (offset + t)^-gamma) or ``batch`` EM, which ends early where an iteration gains less than
            ``tol`` nats a token.
        batch_size: sentences a mini-batch.
        init: ``random``, or ``brown``: classes of :class:`wordkit.models.brown.BrownClustering` on the training data.
        smoothing: floor of an emission, relative to the largest of its word; not in batch EM, which is maximum likelihood. On
            the UD trees 1e-3 is 0.04 (64 states) to 0.19 (512) nats a held-out token better than 1e-5.
        back_off: weight of a label's overall child classes in each column of T, relative to the mean column.
        resplit: give classes that have died half of the heaviest at the end of an epoch.
        restarts: trainings with as many seeds, of which the likeliest is kept (held-out data decide where they are given).
        shuffle: another order of the sentences each epoch.

    Attributes:
        vocabulary_: V words with their counts. label_names_: names of the L transition matrices.
        emissions_ (V, C): p(word | class). transitions_ (L, C, C): [label, i, j] = p(child class i | parent class j).
        start_ (C,): classes of roots. class_shares_ (C,): tokens by class. dead_states_: classes that emit next to nothing.
        n_iter_: whole epochs done. position_: batches done of the one begun. step_: batches in all.
        history_: a record an epoch. converged_: whether batch EM met its tolerance. stopped_: why it ended.
        restarts_: final log-likelihood of each restart by seed.
    """

    history_: list[dict[str, Any]]
    restarts_: dict[int, float]

    def __init__(
        self,
        *,
        structure: str = "tree",
        states: int = 128,
        start_states: int | None = None,
        projection: str = "kbest",
        k: int = 16,
        epsilon: float = 0.01,
        split_every: int | None = None,
        method: str = "online",
        batch_size: int = 100,
        offset: float = 4.0,
        gamma: float = 0.7,
        epochs: int = 5,
        tol: float = 1e-5,
        init: str = "random",
        smoothing: float = 1e-3,
        back_off: float = 1e-3,
        resplit: bool = False,
        restarts: int = 1,
        shuffle: bool = True,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.structure, self.states, self.start_states = structure, states, start_states
        self.projection, self.k, self.epsilon, self.split_every = projection, k, epsilon, split_every
        self.method, self.batch_size, self.offset, self.gamma = method, batch_size, offset, gamma
        self.epochs, self.tol, self.init, self.smoothing, self.back_off = (
            epochs,
            tol,
            init,
            smoothing,
            back_off,
        )
        self.resplit, self.restarts, self.shuffle = resplit, restarts, shuffle
        self.seed, self.threads = seed, threads

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
        *,
        heldout: TreeCorpus | None = None,
        clusters: np.ndarray | None = None,
        monitor: Monitor | None = None,
    ) -> HiddenMarkovTree:
        """Learn from a corpus, or from lists of tokens with their heads (from 1, 0 for a root).

        Args:
            heldout: a corpus with the same vocabulary and labels, whose exact log-likelihood joins each epoch's record.
            clusters: (V,) first class of each word of the corpus's vocabulary, -1 for any; in place of ``init``.

        Raises:
            ValueError: parameters or data that do not fit. Interrupted: the monitor was stopping; :meth:`resume` goes on.
        """
        self._check_parameters()
        corpus = self._corpus(data, heads, anew=True)
        kept: dict[str, Any] | None = None
        scores: dict[int, float] = {}
        for seed in range(self.seed, self.seed + int(self.restarts)):
            self._run_seed = seed
            self._begin(corpus, clusters)
            self._go_on(corpus, heldout, monitor or Monitor())
            scores[seed] = self._final_score()
            if kept is None or scores[seed] > scores[kept["_run_seed"]]:
                kept = dict(vars(self))
        assert kept is not None
        vars(self).update(kept)
        self.restarts_ = scores
        return self

    def _final_score(self) -> float:
        last = self.history_[-1] if self.history_ else {}
        return float(last.get("heldout_log_likelihood", last.get("log_likelihood", -math.inf)))

    def resume(
        self, corpus: TreeCorpus, *, heldout: TreeCorpus | None = None, monitor: Monitor | None = None
    ) -> HiddenMarkovTree:
        """Go on to ``epochs`` epochs of the same data from where a stopped training was."""
        self._check_parameters()
        self._check_fitted("statistics_")
        require(corpus.vocabulary.words == self.vocabulary_.words, "the corpus numbers words otherwise")
        require(corpus.label_names == self.label_names_, "the corpus numbers labels otherwise")
        self._go_on(corpus, heldout, monitor or Monitor())
        return self

    def continue_on(
        self, corpus: TreeCorpus, *, heldout: TreeCorpus | None = None, monitor: Monitor | None = None
    ) -> HiddenMarkovTree:
        """``epochs`` more passes, over other data than before; the steps stay as small as they had become.

        ``corpus`` has the model's words first in its vocabulary; those that follow are appended to the model.
        """
        self._check_parameters()
        self._check_fitted("statistics_")
        old = len(self.vocabulary_)
        require(corpus.vocabulary.words[:old] == self.vocabulary_.words, "the corpus numbers words otherwise")
        require(corpus.label_names == self.label_names_, "the corpus numbers labels otherwise")
        if len(corpus.vocabulary) > old:
            self.statistics_.extend(corpus.word_counts[old:], corpus.n_tokens)
        if corpus.word_counts[0] or self.method == "batch":  # which forgets what the words were before
            self.statistics_.unseen = unseen_share(corpus)
        self.vocabulary_ = corpus.vocabulary
        self.n_iter_, self.position_, self.history_ = 0, 0, []
        self.converged_, self.stopped_ = False, ""
        self._sums = np.zeros(2)
        self._go_on(corpus, heldout, monitor or Monitor())
        return self

    def partial_fit(
        self, sentences: Sequence[Sequence[str]], heads: Sequence[Sequence[int]] | None = None
    ) -> HiddenMarkovTree:
        """One step of online EM on a mini-batch; the first one fixes the vocabulary, later unknown words are the rare one's."""
        self._check_parameters()
        first = not hasattr(self, "statistics_")
        corpus = self._corpus(sentences, heads)
        if first:
            self._begin(corpus, None)
        elif corpus.word_counts[0]:
            self.statistics_.unseen = 0.0
        for trees in corpus.batches(max(1, corpus.n_sentences)):
            self._online_step(trees, self.inference())
        return self

    def _check_parameters(self) -> None:
        check_parameters(self.get_params())

    def _empty_statistics(self, words: int, classes: int, labels: int, unseen: float) -> Statistics:
        batch = self.method == "batch"
        return Statistics(
            words,
            classes,
            labels,
            smoothing=LEAST_SMOOTHING if batch else float(self.smoothing),
            back_off=LEAST_SMOOTHING if batch else float(self.back_off),
            unseen=unseen,
        )

    def _begin(self, corpus: TreeCorpus, clusters: np.ndarray | None) -> None:
        """The model before the first batch."""
        if not corpus.n_tokens:
            raise ValueError("the corpus holds no token")
        self.vocabulary_, self.label_names_ = corpus.vocabulary, list(corpus.label_names)
        words, labels = len(corpus.vocabulary), len(self.label_names_)
        classes = int(self.start_states or self.states)
        self.statistics_ = self._empty_statistics(words, classes, labels, unseen_share(corpus))
        if clusters is None and self.init == "brown":
            clusters = brown_clusters(corpus, classes, self.structure)
        elif clusters is not None and (
            len(clusters) != words or not -1 <= min(clusters) <= max(clusters) < classes
        ):
            raise ValueError(
                f"clusters need an entry from -1 to {classes - 1} for each of the {words} words of the corpus's vocabulary "
                "(BrownClustering.transform(corpus.vocabulary.words))"
            )
        begin(self.statistics_, corpus, clusters, self._seed())
        self.n_iter_ = self.position_ = self.step_ = 0
        self.history_ = []
        self.converged_, self.stopped_ = False, ""
        self._sums = np.zeros(2)  # log-likelihood and tokens of the epoch so far
        self.restarts_ = {}

    def _seed(self) -> int:
        return int(getattr(self, "_run_seed", self.seed))

    def _go_on(self, corpus: TreeCorpus, heldout: TreeCorpus | None, monitor: Monitor) -> None:
        monitor.begin((int(self.epochs) - self.n_iter_) * corpus.n_tokens, "tokens")
        epoch = self._online_epoch if self.method == "online" else self._batch_epoch
        while self.n_iter_ < self.epochs and not self.converged_:
            epoch(corpus, monitor)
            self._end_epoch(heldout, monitor)
        if not self.stopped_:
            self.stopped_ = "epochs"
        self.restarts_ = {self._seed(): self._final_score()}  # resumed or not, of the one that has just ended

    def _batches(self, corpus: TreeCorpus, monitor: Monitor) -> Iterator[Trees]:
        """The batches of the epoch that are left; the place is kept."""
        order = rng.stream(self._seed(), rng.SHUFFLE, self.n_iter_) if self.shuffle else None
        for trees in corpus.batches(int(self.batch_size), order, start=self.position_):
            if monitor.stopping:
                raise Interrupted(
                    f"interrupted in epoch {self.n_iter_ + 1}, after {self.position_} batches of it"
                )
            yield trees
            self.position_ += 1
            monitor.advance(len(trees.words))

    def _online_epoch(self, corpus: TreeCorpus, monitor: Monitor) -> None:
        inference = self.inference()
        every = self._split_every(corpus.n_batches(int(self.batch_size)) * int(self.epochs))
        for trees in self._batches(corpus, monitor):
            self._online_step(trees, inference)
            if self.statistics_.classes < self.states and self.step_ % every == 0:
                self.statistics_.grow(int(self.states), self._seed(), self.step_)

    def _online_step(self, trees: Trees, inference: Inference) -> None:
        self.step_ += 1
        alpha = (float(self.offset) + self.step_) ** -float(self.gamma)
        weight = self.statistics_.decay(alpha) / len(trees.words)
        log_likelihood = inference.add(trees, self.statistics_, self.statistics_, weight)
        if not np.isfinite(log_likelihood):
            raise WordkitError(
                f"the log-likelihood is not finite in epoch {self.n_iter_ + 1}, batch {self.position_ + 1}"
            )
        self._sums += log_likelihood, len(trees.words)

    def _batch_epoch(self, corpus: TreeCorpus, monitor: Monitor) -> None:
        """One iteration of batch EM; an interrupted one is done anew."""
        inference, old = self.inference(), self.statistics_
        new = self._empty_statistics(len(old.emissions), old.classes, old.labels, old.unseen)
        self.position_, self._sums = 0, np.zeros(2)
        for trees in self._batches(corpus, monitor):
            log_likelihood = inference.add(trees, old, new, 1.0 / corpus.n_tokens)
            self._sums += log_likelihood, len(trees.words)
        new.settle()
        self.statistics_ = new
        self.step_ += 1
        likelihood = self._sums[0] / self._sums[1]
        every = self._split_every(int(self.epochs))
        if new.classes < self.states:
            if self.step_ % every == 0:
                new.grow(int(self.states), self._seed(), self.step_)
        elif self.history_ and not self._has_changed_classes():
            gain = likelihood - self.history_[-1]["log_likelihood"]
            if gain < self.tol:
                self.converged_ = True
                self.stopped_ = "tolerance" if gain >= 0 else "decrease"

    def _has_changed_classes(self) -> bool:
        """Whether the last iteration ended with splits: the likelihoods before and after them do not compare."""
        states = [self.start_states or self.states, *(record["states"] for record in self.history_)]
        return states[-1] != states[-2] or bool(self.history_[-1].get("resplit_states"))

    def _split_every(self, steps: int) -> int:
        """Steps between two splits."""
        if self.split_every is not None:
            return int(self.split_every)
        splits = math.ceil(math.log2(self.states / (self.start_states or self.states)))
        return max(1, steps // (2 * max(1, splits)))

    def _end_epoch(self, heldout: TreeCorpus | None, monitor: Monitor) -> None:
        self.n_iter_ += 1
        self.position_ = 0
        if self.method == "online":
            self.statistics_.settle()
        record: dict[str, Any] = {
            "epoch": self.n_iter_,
            "log_likelihood": float(self._sums[0] / self._sums[1]),
            "states": self.statistics_.classes,
            "dead_states": len(self.statistics_.dead()),
        }
        self._sums = np.zeros(2)
        if self.resplit and self.n_iter_ < self.epochs:
            record["resplit_states"] = self.statistics_.revive(self._seed(), self.step_)
        if heldout is not None:
            record["heldout_log_likelihood"] = self.log_likelihood(heldout)
            if not math.isfinite(record["heldout_log_likelihood"]):
                raise WordkitError(f"the held-out log-likelihood is not finite after epoch {self.n_iter_}")
        self.history_.append(record)
        monitor.epoch(record)

    # --- state -----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes; ``threads`` is not part of a model."""
        self._check_fitted("statistics_")
        parameters = {key: value for key, value in self.get_params().items() if key != "threads"}
        return {**self.vocabulary_.state(), **self.statistics_.arrays(), "epoch_sums": self._sums}, {
            "parameters": parameters,
            "label_names": self.label_names_,
            "statistics": self.statistics_.state(),
            "epochs_done": self.n_iter_,
            "position": self.position_,
            "steps": self.step_,
            "run_seed": self._seed(),
            "history": self.history_,
            "converged": self.converged_,
            "stopped": self.stopped_,
            "restarts": [[seed, score] for seed, score in self.restarts_.items()],
        }

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> HiddenMarkovTree:
        """Inverse of :meth:`state`; the arrays become the model's own. ValueError for what cannot be a state."""
        model = cls._of_parameters(values)
        model._check_parameters()
        model.vocabulary_ = Vocabulary.from_state(arrays)
        model.label_names_ = value_of(values, "label_names", list)
        require(
            all(isinstance(name, str) for name in model.label_names_), "label_names holds what is no name"
        )
        require(model.label_names_[:1] == [UNKNOWN], f"label_names do not begin with {UNKNOWN}")
        statistics = value_of(values, "statistics", dict)
        for name in ("smoothing", "back_off", "unseen", "scale"):
            value_of(statistics, name, float, 0.0)
        model.statistics_ = Statistics.from_arrays(arrays, statistics, len(model.vocabulary_))
        require(model.statistics_.labels == len(model.label_names_), "labels and transitions differ")
        classes = model.statistics_.classes
        require(
            (model.start_states or model.states) <= classes <= model.states,
            f"{classes} classes do not fit the states",
        )
        sums = np.asarray(arrays["epoch_sums"])
        require(sums.shape == (2,) and sums.dtype == np.float64, "epoch_sums is not two numbers")
        model._sums = sums.copy()
        model.n_iter_, model.position_, model.step_, model._run_seed = (
            value_of(values, name, int, 0) for name in ("epochs_done", "position", "steps", "run_seed")
        )
        model.history_ = records_of(values, "history")
        model.converged_, model.stopped_ = (
            value_of(values, "converged", bool),
            value_of(values, "stopped", str),
        )
        model.restarts_ = {int(seed): float(score) for seed, score in value_of(values, "restarts", list)}
        return model
