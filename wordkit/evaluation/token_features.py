"""Tokens as features of a classifier: clusters of a Brown paths file, word vectors, or what ``decode`` wrote.

What tokens of one word share is kept once: a table of rows, and the number of each token's row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from wordkit.evaluation.known_vectors import KnownVectors, check_policy, find_row, stand_in
from wordkit.formats.clusters import Clusters
from wordkit.formats.decoded import Decoded

PREFIXES = (4, 6, 10, 20)  # bits of a cluster's path that are a feature (Koo et al. 2008, Turian et al. 2010)


@dataclass(frozen=True)
class TokenFeatures:
    """Features of the tokens of one data set.

    Attributes:
        kind: ``clusters``, ``vectors`` or ``decoded``.
        table: float64 (rows, features).
        rows: int64 (tokens,), -1 for a token that has none.
        known: bool (tokens,), whether the representation knows the token; one that is unknown may have a row all the same.
        names: of the features; numbers where there are none.
    """

    kind: str
    table: scipy.sparse.csr_array
    rows: np.ndarray
    known: np.ndarray
    names: tuple[str, ...] = ()

    def matrix(self) -> scipy.sparse.csr_array:
        """A row a token, empty for those that have none."""
        empty = scipy.sparse.csr_array((1, self.table.shape[1]))
        return scipy.sparse.vstack([self.table, empty], format="csr")[self.rows]

    def cells(self) -> list[dict[str, float]]:
        """Each row of the table as a mapping from names to values that are not 0."""
        indptr, indices, data = (
            part.tolist() for part in (self.table.indptr, self.table.indices, self.table.data)
        )
        return [
            {
                self.names[i] if self.names else str(i): value
                for i, value in zip(indices[a:b], data[a:b], strict=True)
                if value
            }
            for a, b in itertools.pairwise(indptr)
        ]


def cluster_features(
    clusters: Clusters,
    parts: Sequence[Iterable[str]],
    *,
    prefixes: Sequence[int] = PREFIXES,
    unknown: str = "skip",
    ignore_case: bool = False,
) -> list[TokenFeatures]:
    """The first bits of each token's path, a feature for each of these lengths; a shorter path counts as a whole, once.

    Args:
        parts: the tokens of each data set.
        unknown: ``lowercase``: a word that is in no cluster is looked up in lower case. ``skip``, ``zero``: it has no feature.

    Raises:
        ValueError: another policy, or none of the paths' bits.
    """
    check_policy(unknown)
    if unknown == "mean":
        raise ValueError("clusters have no mean")
    if not prefixes or min(prefixes) < 1:
        raise ValueError(f"prefixes are {prefixes}, expected numbers of bits from 1 on")
    cut = [sorted({path[:length] for length in prefixes}) for path in clusters.paths]
    names = sorted({name for own in cut for name in own})
    number = {name: i for i, name in enumerate(names)}
    columns = [number[name] for own in cut for name in own]
    indptr = np.cumsum([0, *map(len, cut)])
    table = scipy.sparse.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(cut), len(names)))
    index: dict[str, int] = {}
    for word, label in zip(clusters.words, clusters.labels.tolist(), strict=True):
        index.setdefault(word.lower() if ignore_case else word, label)
    found = []
    for tokens in parts:
        rows = np.array(
            [find_row(index, word, ignore_case, unknown == "lowercase") for word in tokens], dtype=np.int64
        )
        found.append(TokenFeatures("clusters", table, rows, rows >= 0, tuple(names)))
    return found


def vector_features(
    known: KnownVectors, parts: Sequence[Sequence[str]], *, unknown: str = "skip"
) -> list[TokenFeatures]:
    """The vector of each token's word.

    Args:
        parts: the tokens of each data set.
        unknown: ``mean``: a word without a vector has the mean of all. ``lowercase``: it has that of its lower case.
            Else it has
            none, or (``zero``) one of zeros, which a classifier cannot tell from none.
    """
    check_policy(unknown)
    table = scipy.sparse.csr_array(np.vstack([known.vectors, stand_in(known, unknown)]).astype(np.float64))
    found = []
    for tokens in parts:
        rows = np.array([known.row(word, unknown == "lowercase") for word in tokens], dtype=np.int64)
        is_known = rows >= 0
        if unknown in ("zero", "mean"):
            rows = np.where(is_known, rows, table.shape[0] - 1)
        found.append(TokenFeatures("vectors", table, rows, is_known))
    return found


def decoded_features(decoded: Sequence[Decoded]) -> list[TokenFeatures]:
    """The class of each token, or its probabilities; every token counts as known, rare words being decoded as such.

    Args:
        decoded: of each data set; a class keeps its number.
    """
    width = max(each.vectors.shape[1] for each in decoded)
    found = []
    for each in decoded:
        csr = each.vectors
        table = scipy.sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=(csr.shape[0], width))
        found.append(
            TokenFeatures("decoded", table, np.arange(csr.shape[0]), np.ones(csr.shape[0], dtype=bool))
        )
    return found


def covered(parts: Sequence[TokenFeatures]) -> np.ndarray:
    """bool (tokens,): whether some representation of a data set knows the token."""
    return np.any([part.known for part in parts], axis=0)
