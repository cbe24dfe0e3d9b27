"""Dual-clustering maximum entropy: word vectors by a continuous bag of words with the whole vocabulary as its soft-max.

Wang, Wang and Zhai, "Dual-Clustering Maximum Entropy with Application to Classification and Word Embedding", AAAI 2017, and
its baselines NCE, negative sampling and maximum likelihood. P(j | context h) is proportional to exp(V_j.h + b_j), h the mean
input vector of the words around, b_j the log share of word j (``prior="unigram"``) or 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from wordkit import rng
from wordkit._kernels import dual_clustering
from wordkit.checks import array_of, records_of, require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.base import Estimator
from wordkit.models.dcme_parameters import (
    LOOKED_AT,
    check_clusters,
    check_parameters,
    default_beta,
    default_rate,
    default_top,
    log_prior,
    run_away,
    what_is_left,
)
from wordkit.models.dual_clusters import DualClusters
from wordkit.models.exact_softmax import log_softmax, rows_at_once, text_log_likelihood
from wordkit.models.tree_corpus import TreeCorpus
from wordkit.models.vocabulary import Vocabulary
from wordkit.models.window_training import BLOCK, Diverged, Noise, Steps, WindowTrainer, padded
from wordkit.monitor import Monitor

_SENTENCES = 4096  # shuffled and sampled together
_LEAST_RATE = 1e-4  # of the first step size


class _Runaway(Exception):
    """Finite, but senseless; the argument is the log-likelihood of a word."""


class DualClusteringEmbedding(Estimator):
    """Continuous bag of words with a full soft-max, learned by dual clustering or a baseline.

    Args:
        objective: ``dcme``, ``nce``, ``ns`` or ``gd``. variant: ``exact`` or ``printed`` (dcme; see the manual).
        clusters: K. beta: instances between refreshes, at most, as a share of the vocabulary (with ``printed``, of a cluster);
            None: 1.2; printed: 1. top: Q (None: 20; printed: 10), the most frequent items, whose probabilities are exact, or
            with ``printed`` those of a cluster whose term (b) is not delayed.
        prior: ``unigram`` or ``none``; None: unigram, but none for ns. negative, noise_power: drawn words an instance, and
            the power of the counts that they are drawn by (nce, ns).
        dim, window, dynamic_window: length of vectors, words on each side, whether each target draws its width.
        epochs, learning_rate, decay: passes; first step size, falling to 0 in a line (None: by objective); share of
            a word's input vector, times the step size, that is lost at each occurrence.
        min_count, max_vocab: the words there are. sample: words more frequent than this share are thinned out (0: none).
        shuffle: a new seeded order of sentences each epoch. threads: more than one share their memory without locks, and
            results then differ from run to run in the last digits.

    Attributes:
        vocabulary_: word 0 is the token for all others; item j is word j + 1. input_vectors_, output_vectors_: float32
        (N, dim). bias_: float32 (N,). n_iter_: epochs done. history_: one dict an epoch (``objective`` a word;
        ``heldout_log_likelihood``).
    """

    def __init__(
        self, *, objective: str = "dcme", variant: str = "exact", clusters: int = 20, beta: float | None = None,
        top: int | None = None, prior: str | None = None, negative: int = 20, noise_power: float = 0.75, dim: int = 100,
        window: int = 10, dynamic_window: bool = False, epochs: int = 5, learning_rate: float | None = None, decay: float = 0.0,
        min_count: int = 5, max_vocab: int | None = None, sample: float = 0.0, shuffle: bool = True, seed: int = 1,
        threads: int = 1,
    ) -> None:  # fmt: skip
        self.objective, self.variant, self.clusters, self.beta, self.top = (
            objective,
            variant,
            clusters,
            beta,
            top,
        )
        self.prior, self.negative, self.noise_power = prior, negative, noise_power
        self.dim, self.window, self.dynamic_window = dim, window, dynamic_window
        self.epochs, self.learning_rate, self.decay = epochs, learning_rate, decay
        self.min_count, self.max_vocab, self.sample = min_count, max_vocab, sample
        self.shuffle, self.seed, self.threads = shuffle, seed, threads

    # First step sizes: what did best, or close to it and far from diverging, on Brown and a mixed corpus.
    RATES: ClassVar[dict[str, float]] = {"exact": 0.25, "printed": 0.002, "nce": 0.25, "ns": 0.05, "gd": 0.25}
    BETAS: ClassVar[dict[str, float]] = {"exact": 1.2, "printed": 1.0}
    TOP: ClassVar[dict[str, int]] = {"exact": 20, "printed": 10}

    vocabulary_: Vocabulary
    n_iter_: int
    position_: int  # batches of sentences done of the epoch that was interrupted
    offset_: int  # words done of the next one
    passed_: int  # known words of the batches done
    history_: list[dict[str, Any]]
    trainer_: WindowTrainer

    @property
    def bias_(self) -> np.ndarray:
        return self.trainer_.bias

    @property
    def input_vectors_(self) -> np.ndarray:
        return self.trainer_.inputs[:, : self.dim]

    @property
    def output_vectors_(self) -> np.ndarray:
        return self.trainer_.true_outputs()[:, : self.dim]

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(
        self, data: TreeCorpus | Sequence[Sequence[str]], *, heldout: TreeCorpus | None = None,
        monitor: Monitor | None = None,
    ) -> DualClusteringEmbedding:  # fmt: skip
        """Learn from a corpus (as :func:`wordkit.models.tree_corpus.read_corpus` gives it), or from lists of words.

        Args:
            heldout: a corpus with the same vocabulary, whose exact log-likelihood a word joins each epoch's record.

        Raises:
            ValueError: parameters that cannot be. Interrupted: the monitor was stopping; :meth:`resume` goes on.
            WordkitError: the numbers are not finite any more; the model is that of the last full epoch.
        """
        check_parameters(self)
        if not isinstance(data, TreeCorpus):
            data = TreeCorpus.from_sentences(data, min_count=int(self.min_count), max_vocab=self.max_vocab)
        self.begin(data.vocabulary)
        return self.resume(data, heldout=heldout, monitor=monitor)

    def begin(self, vocabulary: Vocabulary) -> None:
        """Vectors before the first word: inputs uniform on (-1/2, 1/2)/dim, outputs 0."""
        if len(vocabulary) < 3:
            raise WordkitError("the vocabulary has one word only: there is nothing to tell it from")
        self.vocabulary_ = vocabulary
        self._start(_random_inputs(len(vocabulary) - 1, int(self.dim), int(self.seed)))
        self.history_ = []
        self.n_iter_ = self.position_ = self.offset_ = self.passed_ = 0

    def _start(self, inputs: np.ndarray) -> None:
        counts = self.vocabulary_.counts[1:]
        self.trainer_ = make_trainer(self, padded(inputs), log_prior(self, counts), counts)

    def resume(
        self, corpus: TreeCorpus, *, heldout: TreeCorpus | None = None, monitor: Monitor | None = None
    ) -> DualClusteringEmbedding:
        """Go on with an interrupted or loaded fit on the same data, up to ``epochs`` passes in all."""
        self._check_fitted("trainer_")
        check_parameters(self)
        monitor = monitor or Monitor()
        self.trainer_.use_threads(int(self.threads))
        known = corpus.n_tokens - int(corpus.word_counts[0])
        if not known:
            raise WordkitError("no word of the data is in the vocabulary")
        if (self.position_ and self.position_ >= corpus.n_batches(_SENTENCES)) or self.passed_ > known:
            raise WordkitError("the data are shorter than those that the fit was interrupted in")
        monitor.begin((self.epochs - self.n_iter_) * known - self.passed_ - self.offset_, "words")
        good = self._snapshot()
        while self.n_iter_ < self.epochs:
            try:
                self._epoch(corpus, known, monitor)
            except Diverged:
                epoch = self.n_iter_ + 1
                self._go_back(good)
                raise WordkitError(self._diverged(f"a number is not finite in epoch {epoch}")) from None
            except _Runaway as error:
                epoch = self.n_iter_ + 1
                self._go_back(good)
                what = f"the vectors have run away in epoch {epoch} (log-likelihood of a word {error.args[0]:.4g})"
                raise WordkitError(self._diverged(what)) from None
            self._end_epoch(heldout, monitor)
            good = self._snapshot()
        return self

    def continue_on(
        self, corpus: TreeCorpus, *, heldout: TreeCorpus | None = None, monitor: Monitor | None = None
    ) -> DualClusteringEmbedding:
        """``epochs`` more passes, over other data; words that its vocabulary has beside the model's are appended."""
        self._check_fitted("trainer_")
        check_parameters(self)
        old, dim = self.trainer_, int(self.dim)
        before, n_old = len(self.vocabulary_), len(self.vocabulary_) - 1
        if corpus.vocabulary.words[:before] != self.vocabulary_.words:
            raise ValueError("the corpus has another vocabulary")
        outputs = old.true_outputs()
        self.vocabulary_ = corpus.vocabulary
        inputs = _random_inputs(len(corpus.vocabulary) - 1, dim, int(self.seed))
        inputs[:n_old] = old.inputs[:, :dim]
        self._start(inputs)
        self.trainer_.outputs[:n_old] = outputs
        if self.trainer_.clusters is not None:
            self.trainer_.clusters.measure(self.trainer_.outputs)
        self.history_ = []
        self.n_iter_ = self.position_ = self.offset_ = self.passed_ = 0
        return self.resume(corpus, heldout=heldout, monitor=monitor)

    def _epoch(self, corpus: TreeCorpus, known: int, monitor: Monitor) -> None:
        """One pass over the sentences, or the rest of an interrupted one."""
        rate, total = default_rate(self), known * int(self.epochs)
        for words, bounds, n_known in self._batches(corpus):
            key = int(rng.stream(self.seed, rng.SAMPLING, self.n_iter_, self.position_).integers(2**62))
            dual_clustering.check_words(words, bounds, len(self.trainer_.outputs))
            each = n_known / max(len(words), 1)  # words of the text for one that is left after thinning
            slope = -rate * each / total
            while self.offset_ < len(words):
                if monitor.stopping:
                    raise Interrupted(
                        f"interrupted in epoch {self.n_iter_ + 1}, after {self.passed_ + round(self.offset_ * each)} words of it"
                    )
                end = min(self.offset_ + BLOCK, len(words))
                done = self.n_iter_ * known + self.passed_ + self.offset_ * each
                now = max(rate * (1 - done / total), rate * _LEAST_RATE)
                steps = Steps(key, now, max(slope, -now / BLOCK), float(self.decay))
                self.trainer_.train(words, bounds, self.offset_, end, steps)
                monitor.advance(round((end - self.offset_) * each))
                self.offset_ = end
            self.position_, self.offset_, self.passed_ = self.position_ + 1, 0, self.passed_ + n_known
        self._check_sense(words, bounds)

    def _check_sense(self, words: np.ndarray, bounds: np.ndarray) -> None:
        """Raise where the model has run away on some words of the text."""
        n = min(len(words), LOOKED_AT, rows_at_once(len(self.bias_)))
        cut = np.append(bounds[bounds < n], n)
        with np.errstate(all="ignore"):
            total, count = text_log_likelihood(
                words[:n],
                cut,
                self.trainer_.inputs,
                self.trainer_.true_outputs(),
                self.bias_,
                int(self.window),
            )
        if count and run_away(total / count, len(self.bias_)):
            raise _Runaway(total / count)

    def _batches(self, corpus: TreeCorpus) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """Items and sentence ends of the batches from ``position_`` on, without unknown and thinned words; known words."""
        order = rng.stream(self.seed, rng.SHUFFLE, self.n_iter_) if self.shuffle else None
        keep = self._kept_shares(corpus)
        for batch in corpus.batches(_SENTENCES, order, self.position_):
            kept = batch.words > 0
            n_known = int(np.count_nonzero(kept))
            if keep is not None:
                draws = rng.stream(self.seed, rng.NOISE, self.n_iter_, self.position_).random(len(kept))
                kept &= draws < keep[batch.words]
            ends = np.concatenate([[0], np.cumsum(kept)])
            yield batch.words[kept] - np.int32(1), ends[batch.offsets].astype(np.int64), n_known

    def _kept_shares(self, corpus: TreeCorpus) -> np.ndarray | None:
        """How often each word is kept, as word2vec: sqrt(t/f) + t/f for a word with a share of f."""
        if not self.sample:
            return None
        counts = corpus.word_counts.astype(float)
        ratio = float(self.sample) * max(counts[1:].sum(), 1) / np.maximum(counts, 1)
        return np.sqrt(ratio) + ratio

    def _end_epoch(self, heldout: TreeCorpus | None, monitor: Monitor) -> None:
        objective, targets = self.trainer_.sums
        if not targets:
            raise WordkitError(f"--sample {self.sample:g} leaves no word of the text; 1e-5 to 1e-3 is usual")
        if not (objective or self.n_iter_):
            thinned = f" (--sample {self.sample:g} has thinned them out)" if self.sample else ""
            raise WordkitError(
                f"no line has two known words{thinned}: nothing to learn from; a line is a sentence, words between spaces"
            )
        self.n_iter_ += 1
        self.position_ = self.offset_ = self.passed_ = 0
        self.trainer_.sums[:] = 0
        record: dict[str, Any] = {"epoch": self.n_iter_, "objective": float(objective / targets)}
        if self.sample:
            record["words"] = int(targets)
        if self.trainer_.clusters is not None:
            record["clusters_used"] = int(np.count_nonzero(self.trainer_.clusters.totals[3]))
        if heldout is not None:
            value = self.score(heldout)
            record["heldout_log_likelihood"] = None if math.isnan(value) else value
        self.history_.append(record)
        monitor.epoch(record)

    def _snapshot(self) -> tuple[Any, ...]:
        progress = (self.n_iter_, self.position_, self.offset_, self.passed_)
        return (*progress, self.trainer_.copy_state())

    def _go_back(self, good: tuple[Any, ...]) -> None:
        self.n_iter_, self.position_, self.offset_, self.passed_, arrays = good
        self.trainer_.restore(arrays)

    def _diverged(self, what: str) -> str:
        kept = what_is_left(self, bool(self.position_ or self.offset_))
        return (
            f"{what}, with a learning rate of {default_rate(self):g}; {kept}; "
            f"use a smaller --learning-rate (by default {default_rate(self, True):g})"
            f"{' or --decay' if self.decay else ''}{' or --negative' if self.objective == 'ns' else ''}"
        )

    # --- what it has learned ---------------------------------------------------------------------------------------

    def score(self, data: TreeCorpus | Sequence[Sequence[str]]) -> float:
        """Exact log-likelihood a word, in nats, of the known words that have a known word beside them; NaN without any."""
        self._check_fitted("trainer_")
        if not isinstance(data, TreeCorpus):
            data = TreeCorpus.from_sentences(data, vocabulary=self.vocabulary_)
        outputs, total, count = self.trainer_.true_outputs(), 0.0, 0
        for batch in data.batches(_SENTENCES):
            kept = batch.words > 0
            bounds = np.concatenate([[0], np.cumsum(kept)])[batch.offsets].astype(np.int64)
            words = batch.words[kept] - np.int32(1)
            value, n = text_log_likelihood(
                words, bounds, self.trainer_.inputs, outputs, self.bias_, int(self.window), int(self.threads)
            )
            total, count = total + value, count + n
        return total / count if count else math.nan

    def unigram_score(self, data: TreeCorpus) -> float:
        """Log-likelihood a known word of the shares of the training data, which a model should pass."""
        counts = np.maximum(self.vocabulary_.counts[1:], 0.5)
        log_shares = np.log(counts / counts.sum())
        found = data.word_counts[1:]
        return float(found @ log_shares / found.sum()) if found.any() else math.nan

    def predict_log_proba(self, contexts: Sequence[Sequence[str]]) -> np.ndarray:
        """Log-probabilities of all items (n, N) given the words around; unknown words are left out, without any: the prior."""
        self._check_fitted("trainer_")
        h = np.zeros((len(contexts), self.trainer_.inputs.shape[1]), dtype=np.float32)
        for row, context in zip(h, contexts, strict=True):
            if isinstance(context, str):
                raise ValueError(f"a context is the string {context!r:.60}, expected a list of words")
            items = self.vocabulary_.numbers(list(context)) - 1
            if (items := items[items >= 0]).size:
                row[:] = self.trainer_.inputs[items].mean(axis=0)
        return log_softmax(h @ self.trainer_.true_outputs().T + self.bias_)

    # --- state -----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes; ``threads`` is not part of a model."""
        self._check_fitted("trainer_")
        parameters = {key: value for key, value in self.get_params().items() if key != "threads"}
        arrays = {**self.vocabulary_.state(), "bias": self.bias_, **self.trainer_.state()}
        return arrays, {
            "parameters": parameters, "epochs_done": self.n_iter_, "position": self.position_, "offset": self.offset_,
            "passed": self.passed_, "history": self.history_,
        }  # fmt: skip

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> DualClusteringEmbedding:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        model = cls._of_parameters(values)
        check_parameters(model)
        model.vocabulary_ = Vocabulary.from_state(arrays)
        require(len(model.vocabulary_) >= 3, "the vocabulary is too small")
        check_clusters(model, arrays)
        wide = array_of(arrays, "inputs", np.float32, (len(model.vocabulary_) - 1, None)).shape[1]
        require(wide >= model.dim, "inputs are shorter than the vectors")
        model._start(np.zeros((len(model.vocabulary_) - 1, int(model.dim)), dtype=np.float32))
        bias = array_of(arrays, "bias", np.float32, model.bias_.shape)
        require(bool(np.isfinite(bias).all()), "bias is not finite")
        model.bias_[:] = bias
        model.trainer_.restore(arrays)
        model.n_iter_, model.position_, model.offset_, model.passed_ = (
            value_of(values, name, int, 0) for name in ("epochs_done", "position", "offset", "passed")
        )
        model.history_ = records_of(values, "history")
        return model


def _random_inputs(n: int, dim: int, seed: int) -> np.ndarray:
    """Vectors uniform on (-1/2, 1/2)/dim, float32 (n, dim), as word2vec begins; the first rows do not depend on n."""
    vectors = rng.stream(seed, rng.VECTORS).random((n, dim), dtype=np.float32)
    vectors -= np.float32(0.5)
    vectors /= dim
    return vectors


def make_trainer(
    model: DualClusteringEmbedding, inputs: np.ndarray, bias: np.ndarray, counts: np.ndarray
) -> WindowTrainer:
    """A trainer for a model's parameters, with outputs of 0."""
    printed = model.variant == "printed"
    clusters = noise = None
    if model.objective == "dcme":
        clusters = DualClusters(
            bias, clusters=int(model.clusters), d=inputs.shape[1], beta=default_beta(model), curvature=not printed,
            printed=printed, top=default_top(model), head=default_top(model),
        )  # fmt: skip
    elif model.objective != "gd":
        noise = Noise.of(np.maximum(counts, 0.5), float(model.noise_power), int(model.negative))
    return WindowTrainer(
        inputs, np.zeros_like(inputs), bias, objective="printed" if clusters and printed else model.objective,
        window=int(model.window), dynamic=bool(model.dynamic_window), clusters=clusters, noise=noise, threads=int(model.threads),
    )  # fmt: skip
