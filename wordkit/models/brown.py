"""Brown clustering: hard classes of words by the mutual information of neighbours, in a binary hierarchy (Brown et al. 1992)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from wordkit.errors import DataWarning, Interrupted
from wordkit.models.agglomeration import brown, exchange, joins
from wordkit.models.base import Estimator, one_of, whole
from wordkit.models.bigrams import Bigrams
from wordkit.models.tree_corpus import TreeCorpus, as_corpus
from wordkit.monitor import Monitor

ALGORITHMS = ("brown", "exchange")


class BrownClustering(Estimator):
    """Word classes whose bigrams have high average mutual information.

    Args:
        clusters: how many classes; one a word where there are no more words.
        algorithm: ``brown``: merge classes, greedily; ``exchange``: move words between classes.
        structure: ``chain``: bigrams of a word and the next; ``tree``: of a word and one that hangs on it.
        min_count: rarer words, and bigrams with them, are left out.
        sweeps: of ``exchange`` over the words, after they have been dealt out.

    Attributes:
        words_: V clustered words, by falling count. counts_ (V,): how often each occurs.
        labels_ (V,) int32: cluster of each word, numbered in the order of their bit strings.
        paths_: bit string of each cluster: its way from the root of the hierarchy.
        mutual_information_: average, in bits, on the training data.
        bigrams_: their counts, :class:`wordkit.models.bigrams.Bigrams`.
    """

    def __init__(
        self,
        *,
        clusters: int = 100,
        algorithm: str = "brown",
        structure: str = "chain",
        min_count: int = 1,
        sweeps: int = 2,
    ) -> None:
        self.clusters, self.algorithm, self.structure = clusters, algorithm, structure
        self.min_count, self.sweeps = min_count, sweeps

    def fit(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
        *,
        rare: bool = False,
        monitor: Monitor | None = None,
    ) -> BrownClustering:
        """Cluster the words of a corpus, or of lists of tokens with their heads.

        Args:
            rare: the corpus's token for rare words is clustered as any other word.

        Raises:
            ValueError: parameters or data that do not fit. Interrupted: the monitor was stopping.
        """
        self._check_parameters()
        self._cluster(*self._counted(data, heads, int(self.min_count), rare), monitor)
        return self

    def partial_fit(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None = None,
        *,
        monitor: Monitor | None = None,
    ) -> BrownClustering:
        """Add the counts of more data, and cluster all of it anew: greedy merging cannot be gone on with.

        ``min_count`` is of the first data: words that were left out then are as new, and all words of later data count.
        """
        if not hasattr(self, "bigrams_"):
            return self.fit(data, heads, monitor=monitor)
        self._check_parameters()
        before, words, counts = self.bigrams_, self.words_, self.counts_
        fresh, fresh_counts, more = self._counted(data, heads, 1, False)
        index = {word: i for i, word in enumerate(words)}
        place = np.array([index.setdefault(word, len(index)) for word in fresh], dtype=np.int64)
        sums = np.concatenate([counts, np.zeros(len(index) - len(words), dtype=np.int64)])
        sums[place] += fresh_counts
        order = np.argsort(-sums, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        codes = [_renumbered(before, rank[: len(words)]), _renumbered(more, rank[place])]
        rows, columns, cells = (np.concatenate(arrays) for arrays in zip(*codes, strict=True))
        names = list(index)
        bigrams = Bigrams.from_counts(rows, columns, cells, len(order), before.n_dropped + more.n_dropped)
        self._cluster([names[i] for i in order.tolist()], sums[order], bigrams, monitor)
        return self

    def _counted(
        self,
        data: TreeCorpus | Sequence[Sequence[str]],
        heads: Sequence[Sequence[int]] | None,
        min_count: int,
        rare: bool,
    ) -> tuple[list[str], np.ndarray, Bigrams]:
        """Words by falling count, their counts, their bigrams."""
        corpus = as_corpus(data, heads, self.structure)
        counts = corpus.word_counts
        kept = np.flatnonzero(counts >= max(1, min_count))
        kept = kept[(kept > 0) | rare]
        kept = kept[np.argsort(-counts[kept], kind="stable")]
        number_of = np.full(len(counts), -1, dtype=np.int32)
        number_of[kept] = np.arange(len(kept))
        words = [corpus.vocabulary.words[i] for i in kept.tolist()]
        return words, counts[kept].astype(np.int64), Bigrams.from_corpus(corpus, number_of, len(kept))

    def _check_parameters(self) -> None:
        one_of("algorithm", self.algorithm, ALGORITHMS)
        one_of("structure", self.structure, ("chain", "tree"))
        for name in ("clusters", "min_count", "sweeps"):
            whole(name, getattr(self, name))

    def _cluster(
        self, words: list[str], counts: np.ndarray, bigrams: Bigrams, monitor: Monitor | None
    ) -> None:
        """Cluster words, and only then become what was fitted."""
        count = int(self.clusters)
        if not bigrams.size:
            raise ValueError("there is no word to cluster")
        if count > bigrams.size:
            warnings.warn(
                f"{bigrams.size} words make no {count} clusters: each has its own", DataWarning, stacklevel=3
            )
            count = bigrams.size
        if self.algorithm == "brown":
            classes = brown(bigrams, count, monitor)
        else:
            classes = exchange(bigrams, count, monitor, sweeps=int(self.sweeps))
        pairs = joins(
            bigrams, classes
        )  # does not look at the monitor, and takes seconds for thousands of classes
        if monitor is not None and monitor.stopping:
            raise Interrupted("interrupted after the last word, in the hierarchy of the clusters")
        paths = _paths(pairs, int(classes.max()) + 1)
        order = sorted(range(len(paths)), key=paths.__getitem__)
        rank = np.empty(len(paths), dtype=np.int32)
        rank[order] = np.arange(len(paths))
        self.words_, self.counts_, self.bigrams_ = words, counts, bigrams
        self.labels_, self.paths_ = rank[classes], [paths[c] for c in order]
        self.mutual_information_ = bigrams.mutual_information(self.labels_)

    def transform(self, words: Sequence[str]) -> np.ndarray:
        """Cluster (n,) int32 of each word, -1 for words that are in none."""
        self._check_fitted("labels_")
        index = {word: i for i, word in enumerate(self.words_)}
        labels = np.append(self.labels_, np.int32(-1))
        return labels[[index.get(word, -1) for word in words]]

    def score(
        self, data: TreeCorpus | Sequence[Sequence[str]], heads: Sequence[Sequence[int]] | None = None
    ) -> float:
        """Average mutual information of the clusters, in bits, on other data; bigrams with unknown words are left out."""
        self._check_fitted("labels_")
        corpus = as_corpus(data, heads, self.structure)
        labels = self.transform(corpus.vocabulary.words)
        size = len(labels)
        return Bigrams.from_corpus(corpus, np.arange(size, dtype=np.int32), size).mutual_information(labels)


def _renumbered(bigrams: Bigrams, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts, second, counts = bigrams.successors
    return np.repeat(numbers, np.diff(starts)), numbers[second], counts


def _paths(pairs: np.ndarray, n_classes: int) -> list[str]:
    """Bit string of each class: at each node, 0 for the way to the class that was first there. One class alone has `0`."""
    if n_classes == 1:
        return ["0"]
    paths = [""] * (n_classes + len(pairs))
    for k in range(len(pairs) - 1, -1, -1):
        for bit, node in enumerate(pairs[k].tolist()):
            paths[node] = paths[n_classes + k] + str(bit)
    return paths[:n_classes]
