"""Word vectors against people's judgements of word pairs: correlation of two lists of scores."""

from __future__ import annotations

import warnings

import numpy as np

from wordkit.evaluation.known_vectors import KnownVectors, check_policy, refuse_negative, stand_in
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.result import Result, Sample
from wordkit.formats.word_pairs import WordPairs


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
        known: vectors of the words, from :func:`wordkit.evaluation.known_vectors.read_known_vectors`.
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
    check_policy(unknown)
    lowercase = unknown == "lowercase"
    row_of = {word: known.row(word, lowercase) for word in dict.fromkeys([*pairs.first, *pairs.second])}
    if similarity in OF_PROBABILITIES:
        refuse_negative(known, row_of.items(), similarity)
    rows = np.array([[row_of[a], row_of[b]] for a, b in zip(pairs.first, pairs.second, strict=True)]).reshape(
        -1, 2
    )
    covered = (rows >= 0).all(axis=1)
    used = covered if unknown in ("skip", "lowercase") else np.ones(len(rows), dtype=bool)
    table = np.vstack([known.vectors, stand_in(known, unknown)])  # the last row, -1, is that of unknown words
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
        samples={
            name: Sample(np.flatnonzero(used), scores, pairs.scores[used], name)
            for name in ("spearman", "pearson")
        },
    )
