"""Word categorization: words are clustered by their vectors, and the clusters compared with classes that people gave.

Grave (thesis, 2014, section 3.3), after the shared task of ESSLLI 2008. With f_c the share of a cluster's words that are of
class c and C classes, the purity of a cluster is max_c f_c and its entropy -1/log(C) sum_c f_c log(f_c); both are averaged over
the clusters by their sizes. The clustering is SciPy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation.known_vectors import KnownVectors, check_policy, refuse_negative, stand_in
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.result import Result, Sample

LINKAGES = ("complete", "single", "average")
# Those of the measures that are distances, or make one: 1 - cosine, 1 - Bhattacharyya's coefficient.
SIMILARITIES = tuple(name for name in MEASURES if name != "dot")
ROUNDING = 1e-12  # distances that differ by less, relative to the larger, are equal
_FROM_ONE = ("cosine", "bhattacharyya")


def purity(counts: np.ndarray) -> float | None:
    """Share of the words that are of the most frequent class of their cluster.

    Args:
        counts: (classes, clusters), how many words. None where fewer than two classes have words.
    """
    counts = np.asarray(counts)
    if np.count_nonzero(counts.sum(axis=1)) < 2:
        return None
    return float(counts.max(axis=0).sum() / counts.sum())


def entropy(counts: np.ndarray) -> float | None:
    """Mean entropy of the classes in a word's cluster, from 0 (one class a cluster) to 1 (all classes alike in each).

    Args:
        counts: (classes, clusters), how many words; C is the number of rows that are not empty. None with fewer than two.
    """
    counts = np.asarray(counts, dtype=np.float64)
    classes = np.count_nonzero(counts.sum(axis=1))
    if classes < 2:
        return None
    return float((counts * _surprise(counts)).sum() / counts.sum() / np.log(classes))


def _surprise(counts: np.ndarray) -> np.ndarray:
    """-log of each class's share of its cluster, 0 where it has no word."""
    shares = np.divide(counts, counts.sum(axis=0), out=np.ones(counts.shape), where=counts > 0)
    return -np.log(shares)


@dataclass(frozen=True)
class Clustering:
    """Words merged pair by pair.

    Attributes:
        words: in the order of their numbers, sorted.
        merges: float64 (words - 1, 4), as SciPy's linkage: the two clusters that are merged (numbers from the number of words on
            are earlier merges), their distance, the size of the union.
    """

    words: list[str]
    merges: np.ndarray

    def cut(self, clusters: int) -> np.ndarray:
        """int (words,): cluster of each word, the largest cluster first, of equal ones that with the first word."""
        count = len(self.words)
        if count <= clusters:
            return np.arange(count)
        from scipy.cluster.hierarchy import cut_tree

        found = cut_tree(self.merges, n_clusters=clusters)[:, 0]
        sizes = np.bincount(found)
        firsts = np.array([np.argmax(found == number) for number in range(len(sizes))])
        order = np.lexsort((firsts, -sizes))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return np.asarray(rank[found])

    def is_constant(self) -> bool:
        """Whether all merges are at one distance, so that nothing but the order of the words decides them."""
        heights = self.merges[:, 2]
        return len(heights) > 1 and _equal(heights[0], heights[-1])

    def is_tied(self, clusters: int) -> bool:
        """Whether the last merge that was made and the first that was not have the same distance."""
        heights, made = self.merges[:, 2], len(self.words) - clusters
        return 0 < made < len(heights) and _equal(heights[made - 1], heights[made])


def _equal(low: float, high: float) -> bool:
    return bool(high - low <= ROUNDING * high)


def cluster_words(
    words: Sequence[str], vectors: np.ndarray, *, similarity: str = "cosine", linkage: str = "complete"
) -> Clustering:
    """Agglomerative clustering. Words are sorted first, so that ties are decided by their spelling, not by the order of a file.

    Args:
        words: distinct. vectors: float64 (words, dim).
        similarity: one of SIMILARITIES. linkage: one of LINKAGES.

    Raises:
        ValueError: no such similarity or linkage.
    """
    if similarity not in SIMILARITIES:
        raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(SIMILARITIES)}")
    if linkage not in LINKAGES:
        raise ValueError(f"linkage is {linkage!r}, expected one of {', '.join(LINKAGES)}")
    order = sorted(range(len(words)), key=words.__getitem__)
    vectors = vectors[order]
    if len(words) < 2:
        return Clustering([words[i] for i in order], np.empty((0, 4)))
    from scipy.cluster.hierarchy import linkage as merge

    measure, farthest = MEASURES[similarity], 1.0 if similarity in _FROM_ONE else 0.0
    rows = [farthest - measure(vectors[i + 1 :], vectors[i]) for i in range(len(vectors) - 1)]
    distances = np.concatenate(rows)
    distances[distances < ROUNDING * farthest] = 0.0
    return Clustering([words[i] for i in order], merge(distances, method=linkage))


def categorization_result(
    words: Sequence[str],
    classes: Sequence[str],
    forms: Sequence[str],
    known: KnownVectors,
    *,
    data: str,
    similarity: str = "cosine",
    linkage: str = "complete",
    clusters: int | None = None,
    unknown: str = "skip",
    with_unclassed: bool = False,
) -> Result:
    """Purity and entropy of a clustering of words. Nothing that is passed in is changed.

    Args:
        words: distinct; classes: of each, "" where it has none; forms: what the vector file calls each.
        known: vectors of the forms.
        clusters: how many; by default as many as there are classes among the words that are clustered.
        unknown: what becomes of a word without a vector. ``skip``: left out. ``zero``, ``mean``: clustered with the zero
            vector, or the mean vector. ``lowercase``: its lower case is taken, and left out where that is unknown too.
        with_unclassed: cluster words without a class too; they are listed, and not counted.

    Returns:
        A :class:`Result` with ``purity`` and ``entropy``, None where fewer than two classes have words, or all merges are at one
        distance; ``covered``: words with a class and a vector, of all words with a class. Details: ``used``, ``classes``,
        ``confusion`` (a row a class, a column a cluster, the largest cluster first), ``clusters`` (the words of each),
        ``tied_cut`` (equal distances where the tree is cut: the order of the words decided), ``unknown_words``; series:
        ``words`` and ``merges`` of the tree, and ``word_classes``.

    Raises:
        ValueError: no such similarity, linkage or policy. WordkitError: negative values, and a measure for probabilities.
    """
    check_policy(unknown)
    rows = np.array([known.row(form, unknown == "lowercase") for form in forms], dtype=np.int64)
    if similarity in OF_PROBABILITIES:
        refuse_negative(known, zip(forms, rows.tolist(), strict=True), similarity)
    has_class = np.array([bool(name) for name in classes], dtype=bool)
    taken = np.ones(len(rows), dtype=bool) if unknown in ("zero", "mean") else rows >= 0
    if not with_unclassed:
        taken &= has_class
    table = np.vstack([known.vectors, stand_in(known, unknown)])  # the last row, -1, is that of unknown words
    tree = cluster_words(
        [words[i] for i in np.flatnonzero(taken).tolist()],
        table[rows[taken]],
        similarity=similarity,
        linkage=linkage,
    )
    place = {word: i for i, word in enumerate(words)}
    items = np.array([place[word] for word in tree.words], dtype=np.int64)
    gold = [classes[i] for i in items.tolist()]
    names = sorted(set(gold) - {""})
    number = clusters or max(len(names), 1)
    assigned = tree.cut(number)
    used = np.array([bool(name) for name in gold], dtype=bool)
    codes = np.array([names.index(name) for name in gold if name], dtype=np.int64)
    counts = np.zeros((len(names), int(assigned.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(counts, (codes, assigned[used]), 1)
    defined = not tree.is_constant()
    headline = {
        "purity": purity(counts) if defined else None,
        "entropy": entropy(counts) if defined else None,
    }
    return Result(
        name="categorization",
        data=data,
        metrics=headline,
        covered=int(np.count_nonzero((rows >= 0) & has_class)),
        total=int(np.count_nonzero(has_class)),
        details={
            "used": int(np.count_nonzero(used)),
            "classes": len(names),
            "confusion": {
                "labels": names,
                "columns": [str(i + 1) for i in range(counts.shape[1])],
                "counts": counts.tolist(),
            },
            "clusters": _members(tree.words, assigned),
            "tied_cut": tree.is_tied(number),
            "unknown_words": [word for word, row in zip(words, rows.tolist(), strict=True) if row < 0],
        },
        parameters={
            "similarity": similarity, "linkage": linkage, "clusters": number, "unknown": unknown,
            "ignore_case": known.ignore_case,
        },
        series={"words": tree.words, "word_classes": gold, "merges": tree.merges.tolist()},
        samples=_samples(counts, codes, assigned[used], items[used]) if headline["purity"] is not None else {},
    )  # fmt: skip


def _members(words: Sequence[str], assigned: np.ndarray) -> dict[str, str]:
    """Cluster to its words, separated by spaces."""
    return {
        str(number + 1): " ".join(
            word for word, own in zip(words, assigned.tolist(), strict=True) if own == number
        )
        for number in range(int(assigned.max(initial=-1)) + 1)
    }


def _samples(
    counts: np.ndarray, codes: np.ndarray, assigned: np.ndarray, items: np.ndarray
) -> dict[str, Sample]:
    """Purity and entropy as means over words: is the word of its cluster's first class, and the surprise at its class."""
    order = np.argsort(items)
    codes, assigned, items = codes[order], assigned[order], items[order]
    surprise = _surprise(counts.astype(np.float64)) / np.log(len(counts))
    return {
        "purity": Sample(items, (counts.argmax(axis=0)[assigned] == codes).astype(np.float64)),
        "entropy": Sample(items, surprise[codes, assigned]),
    }


def figure_data(result: dict[str, Any], name: str) -> tuple[list[str], list[str], np.ndarray]:
    """Words, their classes and merges of a result of ``evaluate categorization --json``.

    Raises:
        WordkitError: it is not one.
    """
    try:
        words, classes = list(map(str, result["words"])), list(map(str, result["word_classes"]))
        merges = np.array(result["merges"], dtype=np.float64)
        good = len(words) == len(classes) and merges.shape == (len(words) - 1, 4) and len(words) > 1
        good = good and bool(np.isfinite(merges).all()) and _is_tree(merges, len(words))
    except (KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise WordkitError(
            f"{name}: holds no tree, expected a result of wordkit evaluate categorization --json"
        )
    return words, classes, merges


def _is_tree(merges: np.ndarray, words: int) -> bool:
    """Whether these merges make a tree of so many leaves."""
    from scipy.cluster.hierarchy import is_valid_linkage

    return bool(is_valid_linkage(merges)) and len(merges) == words - 1
