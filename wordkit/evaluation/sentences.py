"""Sentence classification with word vectors: the average of a sentence's vectors, and logistic regression on it.

The l2 penalty is the one that does best on development data (section 3 of Yogatama, Faruqui, Dyer and Smith 2015); the regression
itself is scikit-learn's, of the extra ``eval``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.errors import MissingLibrary, WordkitError
from wordkit.evaluation.known_vectors import KnownVectors, check_policy, stand_in
from wordkit.evaluation.result import Result, Sample
from wordkit.formats.labelled import Documents

# C of the regression on sentences of mean squared length 1, so that the choice does not depend on the vectors' length.
GRID = tuple(float(10 ** (k / 2)) for k in range(-4, 11))
_TOLERANCE, _MOST_ITERATIONS = 1e-6, 1000


def logistic_regression() -> Any:
    """scikit-learn's class. Raises WordkitError where it is not installed."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingLibrary("evaluate sentences needs", "scikit-learn", "eval") from None
    return LogisticRegression


@dataclass(frozen=True)
class Sentences:
    """Sentences as averages.

    Attributes:
        vectors: float64 (sentences, dim); a sentence without words that count has the zero vector.
        labels: str (sentences,).
        known: int64 (sentences,), how many of its tokens have a vector; ``tokens``: how many there are.
    """

    vectors: np.ndarray
    labels: np.ndarray
    known: np.ndarray
    tokens: np.ndarray


def average(
    documents: Documents,
    words: Sequence[str],
    names: Sequence[str],
    known: KnownVectors,
    *,
    unknown: str = "skip",
) -> Sentences:
    """Average the vectors of each sentence's tokens.

    Args:
        documents: token ids and label numbers.
        words: word of each token id.
        names: label of each number.
        known: vectors of the words.
        unknown: what a token without a vector is. ``skip``: nothing. ``zero``, ``mean``: it counts with the zero vector, or with
            the mean vector. ``lowercase``: its lower case, and nothing where that is unknown too.

    Raises:
        ValueError: no such policy.
    """
    check_policy(unknown)
    row_of = np.array([known.row(word, unknown == "lowercase") for word in words], dtype=np.int64)
    rows = row_of[documents.ids]
    starts = np.concatenate([[0], documents.ends])
    is_known = rows >= 0
    known_before = np.concatenate([[0], np.cumsum(is_known)])[starts]
    tokens, n_known = np.diff(starts), np.diff(known_before)
    stands_in = unknown in ("zero", "mean")
    table = np.vstack([known.vectors, stand_in(known, unknown)]).astype(np.float64)
    rows = np.where(is_known, rows, len(table) - 1)
    counted = np.ones(len(rows), dtype=bool) if stands_in else is_known
    bounds = starts if stands_in else known_before
    counts = scipy.sparse.csr_array(
        (np.ones(int(counted.sum())), rows[counted], bounds), shape=(len(tokens), len(table))
    )
    vectors = counts @ table / np.maximum(np.diff(bounds), 1)[:, None]
    return Sentences(vectors, np.array(names, dtype=np.str_)[documents.labels], n_known, tokens)


@dataclass(frozen=True)
class Tuned:
    """A classifier and how it was chosen.

    Attributes:
        model: fitted scikit-learn estimator, for vectors divided by ``scale``.
        C: inverse of the penalty on the vectors as they are.
        dev_accuracy: of the chosen one; ``grid``: (C, accuracy) of all.
        converged: whether the chosen fit met its tolerance.
    """

    model: Any
    scale: float
    C: float
    dev_accuracy: float
    grid: list[tuple[float, float]]
    converged: bool

    def accuracy(self, sentences: Sentences) -> float | None:
        """Share of right labels; None without sentences."""
        return float(np.mean(self.right(sentences))) if len(sentences.labels) else None

    def right(self, sentences: Sentences) -> np.ndarray:
        """bool (sentences,): whether the predicted label is the given one."""
        if not len(sentences.labels):
            return np.zeros(0, dtype=bool)
        return np.asarray(self.model.predict(sentences.vectors / self.scale) == sentences.labels)


def tune(
    train: Sentences, dev: Sentences, names: tuple[str, str] = ("training data", "development data")
) -> Tuned:
    """Fit on ``train`` with each penalty of GRID; the best on ``dev`` is kept, of equal ones the strongest.

    Raises:
        WordkitError: one label only in ``train``, or no token with a vector; no document in ``dev``; scikit-learn is not
            installed. ``names`` are what it says of the two.
    """
    regression = logistic_regression()
    labels = np.unique(train.labels)
    if len(labels) < 2:
        what = f"all documents have the label `{labels[0]}`" if len(labels) else "there is no document"
        raise WordkitError(f"{names[0]}: {what}; a classifier needs two labels at least")
    if not len(dev.labels):
        raise WordkitError(f"{names[1]}: there is no document to choose the penalty by")
    if not train.known.any():
        raise WordkitError(f"{names[0]}: no token has a vector, so there is nothing to learn from")
    scale = float(np.sqrt((train.vectors**2).sum(axis=1).mean())) or 1.0
    grid: list[tuple[float, float]] = []
    best: Tuned | None = None
    for C in GRID:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = regression(C=C, tol=_TOLERANCE, max_iter=_MOST_ITERATIONS).fit(
                train.vectors / scale, train.labels
            )
        converged = not any("converge" in str(warning.message) for warning in said)
        fitted = Tuned(model, scale, C / scale**2, 0.0, grid, converged)
        accuracy = fitted.accuracy(dev)
        assert accuracy is not None
        grid.append((fitted.C, accuracy))
        if best is None or accuracy > best.dev_accuracy:
            best = Tuned(model, scale, fitted.C, accuracy, grid, converged)
    assert best is not None
    return best


def sentences_result(tuned: Tuned, test: Sentences, *, data: str, unknown: str, ignore_case: bool) -> Result:
    """Accuracy on test sentences.

    Returns:
        A :class:`Result` with ``accuracy`` over all sentences, those without a known word included, None where none has one;
        ``covered``: sentences with a known word. Details: ``dev_accuracy``, ``C`` (chosen), ``grid`` (C to accuracy on dev),
        ``tokens`` and ``known_tokens`` of the test data, ``unseen_labels``, which the training data lack: they count as errors.
    """
    right = tuned.right(test)
    return Result(
        name="sentences",
        data=data,
        metrics={"accuracy": tuned.accuracy(test) if test.known.any() else None},
        covered=int(np.count_nonzero(test.known)),
        total=len(test.labels),
        details={
            "dev_accuracy": tuned.dev_accuracy,
            "C": tuned.C,
            "grid": {f"{C:.6g}": accuracy for C, accuracy in tuned.grid},
            "tokens": int(test.tokens.sum()),
            "known_tokens": int(test.known.sum()),
            "unseen_labels": [str(label) for label in np.setdiff1d(test.labels, tuned.model.classes_)],
        },
        parameters={"unknown": unknown, "ignore_case": ignore_case},
        samples={"accuracy": Sample(np.arange(len(right)), right.astype(np.float64))},
    )
