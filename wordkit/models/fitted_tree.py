"""What a fitted hidden Markov tree model gives: its distributions, likelihoods, the classes of tokens, words as vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from wordkit.models.base import Estimator, one_of
from wordkit.models.hmtm_beginnings import SENTENCES
from wordkit.models.hmtm_inference import Exact, Inference, Projected
from wordkit.models.hmtm_statistics import Statistics
from wordkit.models.tree_corpus import TreeCorpus, Trees, Vocabulary, as_corpus

PROJECTIONS = ("kbest", "ebest", "exact")


class FittedTree(Estimator):
    """The part of :class:`wordkit.models.hmtm.HiddenMarkovTree` that learns nothing."""

    structure: str
    projection: str
    k: int
    epsilon: float
    batch_size: int
    threads: int
    vocabulary_: Vocabulary
    label_names_: list[str]
    statistics_: Statistics

    @property
    def emissions_(self) -> np.ndarray:
        self._check_fitted("statistics_")
        return self.statistics_.emission_matrix()

    @property
    def transitions_(self) -> np.ndarray:
        self._check_fitted("statistics_")
        return self.statistics_.transition_matrix()

    @property
    def start_(self) -> np.ndarray:
        self._check_fitted("statistics_")
        return self.statistics_.start()

    @property
    def class_shares_(self) -> np.ndarray:
        self._check_fitted("statistics_")
        return self.statistics_.class_shares()

    @property
    def dead_states_(self) -> np.ndarray:
        self._check_fitted("statistics_")
        return self.statistics_.dead()

    def inference(self, projection: str | None = None) -> Inference:
        """How messages are passed; the model's own way by default."""
        projection = one_of("projection", projection or self.projection, PROJECTIONS)
        if projection == "exact":
            return Exact(int(self.threads))
        if projection == "kbest":
            return Projected(int(self.k), 0.0, int(self.threads))
        return Projected(None, float(self.epsilon), int(self.threads))

    def log_likelihood(self, corpus: TreeCorpus, projection: str = "exact") -> float:
        """Natural logarithm of p(words), a token; a lower bound of it with a projection other than ``exact``."""
        return (
            sum(float(part.sum()) for part, _ in self.log_likelihoods(corpus, projection)) / corpus.n_tokens
        )

    def log_likelihoods(
        self, corpus: TreeCorpus, projection: str = "exact"
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """log p(words) of each sentence, and its tokens (S,), of some thousand sentences after the other."""
        self._check_fitted("statistics_")
        inference = self.inference(projection)
        for trees in corpus.batches(SENTENCES):
            yield inference.log_likelihoods(trees, self.statistics_), np.diff(trees.offsets)

    def score(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
    ) -> float:
        """Exact log-likelihood a token; see :meth:`log_likelihood`."""
        return self.log_likelihood(self._corpus(data, heads))

    def transform(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
        projection: str = "exact",
    ) -> list[np.ndarray]:
        """Posterior-Token: for each sentence the distributions (tokens, C) over the classes of its tokens."""
        self._check_fitted("statistics_")
        inference = self.inference(projection)
        return self._by_sentence(self._corpus(data, heads), inference.posteriors)

    def decode(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
        projection: str = "exact",
    ) -> list[np.ndarray]:
        """Viterbi: for each sentence the classes (tokens,) int32 of its jointly most probable assignment."""
        self._check_fitted("statistics_")
        inference = self.inference(projection)
        return self._by_sentence(self._corpus(data, heads), inference.viterbi)

    def _by_sentence(
        self, corpus: TreeCorpus, of_tokens: Callable[[Trees, Statistics], np.ndarray]
    ) -> list[np.ndarray]:
        """What is found for the tokens of each batch, a sentence at a time."""
        return [
            part
            for trees in corpus.batches(int(self.batch_size))
            for part in np.split(of_tokens(trees, self.statistics_), trees.offsets[1:-1])
        ]

    def word_vectors(self, lo: int = 0, hi: int | None = None) -> np.ndarray:
        """Posterior-Type: (words, C) float32, the distribution over classes of each word's training tokens (section 2.3.4)."""
        self._check_fitted("statistics_")
        return self.statistics_.classes_of(slice(lo, hi)).astype(np.float32)

    def _corpus(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None,
        *,
        anew: bool = False,
    ) -> TreeCorpus:
        fitted = hasattr(self, "statistics_") and not anew
        return as_corpus(
            data,
            heads,
            self.structure,
            vocabulary=self.vocabulary_ if fitted else None,
            label_names=self.label_names_ if fitted else None,
        )
