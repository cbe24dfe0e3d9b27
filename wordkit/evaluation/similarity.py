"""Word vectors against people's judgements of word pairs: correlation of two lists of scores."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.result import Result
from wordkit.formats.opening import Input, opened
from wordkit.formats.vectors import iter_vectors
from wordkit.formats.word_pairs import WordPairs
from wordkit.tally import Tally

UNKNOWN_POLICIES = ("skip", "zero", "mean", "lowercase")


@dataclass(frozen=True)
class KnownVectors:
    """The vectors that some evaluation needs.

    Attributes:
        name: the vector file as errors name it.
        rows: row of each word, in lower case with ``ignore_case``.
        vectors: float64 (rows, dim), all finite.
        mean: float64 (dim,), mean of all vectors of the file that were looked at, those of other words included.
        ignore_case: whether words are looked up in lower case; of words that differ in case alone the first in the file counts.
    """

    name: str
    rows: Mapping[str, int]
    vectors: np.ndarray
    mean: np.ndarray
    ignore_case: bool = False

    def row(self, word: str, lowercase: bool = False) -> int:
        """Row of a word, with ``lowercase`` that of its lower case if it has none itself; -1 if there is none."""
        found = self.rows.get(word.lower() if self.ignore_case else word, -1)
        return self.rows.get(word.lower(), -1) if lowercase and found < 0 else found


def read_known_vectors(
    path: str | os.PathLike[str] | Input,
    words: Iterable[str],
    *,
    ignore_case: bool = False,
    restrict_vocab: int | None = None,
    tally: Tally | None = None,
) -> KnownVectors:
    """The vectors of some words and of their lower cases; of a large file no more is kept.

    Vectors that hold nan or inf are left out, as if the word were unknown.

    Args:
        restrict_vocab: only the first rows of the file are looked at.

    Raises:
        DataError: as :func:`wordkit.formats.vectors.read_vectors`.
    """
    wanted = {form for word in words for form in ((word.lower(),) if ignore_case else (word, word.lower()))}
    rows: dict[str, int] = {}
    kept: list[np.ndarray] = []
    total, count = np.zeros(1), 0
    with opened(path) as source:
        for names, vectors in iter_vectors(source, max_rows=restrict_vocab, tally=tally):
            finite = np.isfinite(vectors).all(axis=1)
            total = total + vectors[finite].sum(axis=0, dtype=np.float64)
            count += int(np.count_nonzero(finite))
            if ignore_case:
                names = [name.lower() for name in names]
            some = []
            for i, name in enumerate(names):
                if name in wanted and name not in rows and finite[i]:
                    rows[name] = len(rows)
                    some.append(i)
            kept.append(vectors[some].astype(np.float64))
        return KnownVectors(source.name, rows, np.concatenate(kept), total / max(count, 1), ignore_case)


def correlations(x: np.ndarray, y: np.ndarray) -> tuple[float | None, float | None]:
    """Spearman's and Pearson's correlation, equal values with their mean rank; None where fewer than two pairs are there or a
    side is constant."""
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return None, None
    from scipy.stats import pearsonr, spearmanr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nearly constant input
        values = float(spearmanr(x, y)[0]), float(pearsonr(x, y)[0])
    spearman, pearson = (value if np.isfinite(value) else None for value in values)
    return spearman, pearson


def similarity_result(
    pairs: WordPairs,
    known: KnownVectors,
    *,
    data: str,
    similarity: str = "cosine",
    unknown: str = "skip",
) -> Result:
    """Correlation of the similarities of word vectors with given scores. Nothing that is passed in is changed.

    Args:
        pairs: words and scores.
        known: vectors of the words, from :func:`read_known_vectors`.
        data: name of the data set.
        similarity: one of :data:`wordkit.evaluation.measures.MEASURES`; all are such that higher is nearer, so a good
            correlation is positive.
        unknown: what becomes of a pair with an unknown word. ``skip``: left out. ``zero``, ``mean``: the word has the zero
            vector, or the mean vector. ``lowercase``: its lower case is taken, and where that is unknown too, it is skipped.

    Returns:
        A :class:`Result` with ``spearman`` and ``pearson``; ``covered``: pairs whose words are both known. Details: ``used``,
        how many pairs were scored, and ``unknown_words``.

    Raises:
        ValueError: no such similarity or policy.
        WordkitError: negative values in a vector, and a similarity that is for probabilities.
    """
    if similarity not in MEASURES:
        raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(MEASURES)}")
    if unknown not in UNKNOWN_POLICIES:
        raise ValueError(f"unknown is {unknown!r}, expected one of {', '.join(UNKNOWN_POLICIES)}")
    lowercase = unknown == "lowercase"
    row_of = {word: known.row(word, lowercase) for word in dict.fromkeys([*pairs.first, *pairs.second])}
    if similarity in OF_PROBABILITIES:
        _refuse_negative(known, row_of, similarity)
    rows = np.array([[row_of[a], row_of[b]] for a, b in zip(pairs.first, pairs.second, strict=True)]).reshape(
        -1, 2
    )
    covered = (rows >= 0).all(axis=1)
    used = covered if unknown in ("skip", "lowercase") else np.ones(len(rows), dtype=bool)
    stand_in = known.mean if unknown == "mean" else np.zeros_like(known.mean)
    table = np.vstack([known.vectors, stand_in])  # the last row, -1, is that of unknown words
    scores = MEASURES[similarity](table[rows[used, 0]], table[rows[used, 1]])
    spearman, pearson = correlations(pairs.scores[used], scores)
    return Result(
        name="similarity",
        data=data,
        metrics={"spearman": spearman, "pearson": pearson},
        covered=int(np.count_nonzero(covered)),
        total=len(pairs),
        details={
            "used": int(np.count_nonzero(used)),
            "unknown_words": [word for word, row in row_of.items() if row < 0],
        },
        parameters={"similarity": similarity, "unknown": unknown, "ignore_case": known.ignore_case},
    )


def _refuse_negative(known: KnownVectors, row_of: Mapping[str, int], similarity: str) -> None:
    negative = np.any(known.vectors < 0, axis=1)
    for word, row in row_of.items():
        if row >= 0 and negative[row]:
            what = f"the vector of {word!r} holds negative values"
            raise WordkitError(f"{known.name}: {what}: {similarity} is for probabilities")


def warn_of_zero_vectors(
    known: KnownVectors, words: Iterable[str], tally: Tally, lowercase: bool = False
) -> None:
    """Count the words whose vector is zero, which has cosine 0 with everything."""
    zero = np.all(known.vectors == 0, axis=1)
    found = [word for word in words if (row := known.row(word, lowercase)) >= 0 and zero[row]]
    if found:
        what = f"the vector of {found[0]!r} is zero: its cosine with anything is 0"
        tally.warn("zero vector", DataError(known.name, None, what), len(found))
