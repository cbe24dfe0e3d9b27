"""The first statistics of a hidden Markov tree model: random, or those of a hard clustering of the words."""

from __future__ import annotations

import numpy as np

from wordkit.models.brown import BrownClustering
from wordkit.models.hmtm_statistics import Statistics
from wordkit.models.tree_corpus import TreeCorpus

SENTENCES = 1024  # read at once where nothing depends on it


def unseen_share(corpus: TreeCorpus) -> float:
    """Of the unknown word: where no training token is one, that of one token, spread as all tokens are; else 0."""
    return 0.0 if corpus.word_counts[0] else 1.0 / (corpus.n_tokens + 1)


def brown_clusters(corpus: TreeCorpus, classes: int, structure: str) -> np.ndarray:
    """(V,) the Brown cluster of each word, that of rare words among them."""
    found = BrownClustering(clusters=classes, structure=structure).fit(corpus, rare=True)
    return found.transform(corpus.vocabulary.words)


def begin(statistics: Statistics, corpus: TreeCorpus, clusters: np.ndarray | None, seed: int) -> None:
    """Fill empty statistics: from ``clusters`` (V,), or at random where there are none."""
    if clusters is None:
        edges = corpus.label_counts + 1 if statistics.labels > 1 else np.ones(1)
        statistics.randomize(seed, edges / edges.sum(), corpus.n_sentences / corpus.n_tokens)
    else:
        edges, roots = class_counts(corpus, clusters, statistics.classes)
        statistics.from_clusters(clusters, corpus.word_counts, edges, roots)


def class_counts(corpus: TreeCorpus, clusters: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of a hard clustering over the arcs of a corpus: (L, C child, C parent) of arcs, (C,) of roots.

    Words without a cluster (-1) count in all classes alike.
    """
    labels = len(corpus.label_names)
    edges, roots = np.zeros((labels, classes + 1, classes + 1)), np.zeros(classes + 1)
    for trees in corpus.batches(SENTENCES):
        found = clusters[trees.words]  # -1 is the last place
        parent, child = trees.arcs()
        np.add.at(edges, (trees.labels[child], found[child], found[parent]), 1.0)
        np.add.at(roots, found[trees.heads == 0], 1.0)
    for axis in (1, 2):
        any_class = edges.take([classes], axis=axis)
        edges = edges.take(range(classes), axis=axis) + any_class / classes
    return edges, roots[:-1] + roots[-1] / classes
