"""Phrases as functions of their words' vectors, beside people's judgements (Grave, thesis, 2014, section 3.4).

With u the vector of the head and v that of a dependent, a phrase is u (baseline), u + v (add), u * v element by element (mult),
and with the transitions T of a hidden Markov tree model u + T^T v (t_add) and u * T^T v (t_mult); on chains with T v. A verb with
subject and object has both added or multiplied, and is compared with the bare landmark. An adjective v and a noun u are
acceptable together by v^T T u, the probability that the classes of the noun have those of the adjective as children.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation.known_vectors import KnownVectors, check_policy, refuse_negative, stand_in
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.result import Result, Sample
from wordkit.evaluation.similarity import correlations
from wordkit.evaluation.transitions import Transitions, as_distributions
from wordkit.evaluation.word_forms import TaggedWord, written
from wordkit.formats.phrases import TYPES, VERBS, Phrases

METHODS = ("baseline", "add", "mult", "t_add", "t_mult")
RATINGS = ("each", "mean")
_VERB_TAGS = ("v", "n", "n")


def tagged_words(phrases: Phrases) -> list[TaggedWord]:
    """All words, each once."""
    found: dict[TaggedWord, None] = {}
    for kind, left, right in zip(phrases.types, phrases.left, phrases.right, strict=True):
        for side in (left, right):
            found.update(dict.fromkeys(_tagged(kind, side)))
    return list(found)


def _tagged(kind: str, words: Sequence[str]) -> list[TaggedWord]:
    tags: Sequence[str | None] = _VERB_TAGS if kind == VERBS else TYPES.get(kind, (None, None))
    return [TaggedWord(word, tag) for word, tag in zip(words, tags, strict=False)]


def compose(method: str, head: np.ndarray, dependents: Sequence[np.ndarray]) -> np.ndarray:
    """Vectors (n, dim) of phrases from those of their heads and of one or more dependents, transformed already for ``t_...``."""
    if method == "baseline":
        return head
    for vectors in dependents:
        head = head * vectors if method.endswith("mult") else head + vectors
    return head


class _Vectors:
    """Vectors of the words of phrases, and what the transitions make of them."""

    def __init__(
        self,
        known: KnownVectors,
        form: str,
        unknown: str,
        similarity: str | None,
        transitions: Transitions | None,
    ) -> None:
        check_policy(unknown)
        self.known, self.form, self.lowercase = known, form, unknown == "lowercase"
        self.takes_all = unknown in ("zero", "mean")
        self.similarity = similarity
        self.table = np.vstack(
            [known.vectors, stand_in(known, unknown)]
        )  # the last row, -1, is that of unknown words
        self.moved = None if transitions is None else transitions.of_dependents(self.table)
        self.unknown_words: dict[str, None] = {}

    def rows(self, kinds: Sequence[str], sides: Sequence[tuple[str, ...]]) -> np.ndarray:
        """int64 (n, words of a phrase): rows of the words, -1 for unknown ones."""
        found = []
        for kind, side in zip(kinds, sides, strict=True):
            names = [written(word, self.form) for word in _tagged(kind, side)]
            found.append([self.known.row(name, self.lowercase) for name in names])
            self.unknown_words.update(
                dict.fromkeys(name for name, row in zip(names, found[-1], strict=True) if row < 0)
            )
        rows = np.array(found, dtype=np.int64)
        if self.similarity in OF_PROBABILITIES:
            named = zip(known_names(self.known), range(len(self.known.rows)), strict=True)
            used = set(rows.ravel().tolist())
            refuse_negative(
                self.known, [(name, row) for name, row in named if row in used], str(self.similarity)
            )
        return rows

    def phrase(self, method: str, rows: np.ndarray) -> np.ndarray:
        """Vectors of phrases whose words are these rows, the head first."""
        table = self.moved if method.startswith("t_") else self.table
        assert table is not None
        composed = compose(
            method, self.table[rows[:, 0]], [table[rows[:, i]] for i in range(1, rows.shape[1])]
        )
        return as_distributions(composed) if self.similarity in OF_PROBABILITIES else composed


def known_names(known: KnownVectors) -> list[str]:
    """Words of the rows, in their order."""
    return sorted(known.rows, key=known.rows.__getitem__)


def composition_results(
    phrases: Phrases,
    known: KnownVectors,
    *,
    data: str,
    form: str = "plain",
    similarity: str = "cosine",
    transitions: Transitions | None = None,
    unknown: str = "skip",
    ratings: str = "each",
) -> list[Result]:
    """Scores of one file: a result for each type of phrase. Nothing that is passed in is changed.

    Args:
        form: how the vector file writes words, one of :data:`wordkit.evaluation.word_forms.FORMS`.
        transitions: without them ``t_add`` and ``t_mult`` are None, and acceptability cannot be computed.
        unknown: what becomes of an item with an unknown word. ``skip``: left out. ``zero``, ``mean``: the word has the zero
            vector, or the mean vector. ``lowercase``: its lower case is taken, and where that is unknown too, it is left out.
        ratings: ``each``: every judgement is a point, as in the papers. ``mean``: every item is, with its mean judgement.

    Returns:
        For pairs and verbs, Pearson's correlation by method as metrics and ``spearman`` by method as a detail; None where it is
        undefined. For acceptability ``t_statistic`` and ``p_value`` of Welch's t-test, deviant against acceptable pairs (negative
        where acceptable ones score higher), the ``mean_acceptable`` and ``mean_deviant`` score; series ``scores``, by class.
        ``covered``: judgements whose words are all known.

    Raises:
        ValueError: no such similarity, policy or ratings. WordkitError: negative values, and a measure for probabilities;
            transitions of another dimension, or none for acceptability.
    """
    if similarity not in MEASURES:
        raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(MEASURES)}")
    if ratings not in RATINGS:
        raise ValueError(f"ratings is {ratings!r}, expected one of {', '.join(RATINGS)}")
    parameters = {
        "similarity": similarity, "word_form": form, "transition": transitions is not None, "unknown": unknown,
        "ignore_case": known.ignore_case, "ratings": ratings,
    }  # fmt: skip
    if phrases.kind == "acceptability":
        del parameters["similarity"], parameters["ratings"]
        if transitions is None:
            raise WordkitError(f"{data}: acceptability needs the transitions of a model of train-hmtm")
        vectors = _Vectors(known, form, unknown, None, transitions)
        return [_acceptability(phrases, vectors, data, parameters)]
    kinds = list(dict.fromkeys(phrases.types))
    results = []
    for kind in kinds:
        rows = np.array([i for i, name in enumerate(phrases.types) if name == kind])
        vectors = _Vectors(known, form, unknown, similarity, transitions)
        name = data if len(kinds) == 1 else f"{data}:{kind}"
        results.append(_correlated(phrases, rows, vectors, ratings, name, parameters))
    return results


def _correlated(
    phrases: Phrases, rows: np.ndarray, vectors: _Vectors, ratings: str, data: str, parameters: dict[str, Any]
) -> Result:
    kinds = [phrases.types[i] for i in rows]
    left = vectors.rows(kinds, [phrases.left[i] for i in rows])
    right = vectors.rows(kinds, [phrases.right[i] for i in rows])
    covered = (left >= 0).all(axis=1) & (right >= 0).all(axis=1)
    used = np.ones(len(rows), dtype=bool) if vectors.takes_all else covered
    gold, left, right, items = phrases.scores[rows][used], left[used], right[used], rows[used]
    if ratings == "mean":
        names = [(phrases.left[i], phrases.right[i]) for i in items]
        gold, left, right, items = _averaged(names, gold, left, right, items)
    pearson: dict[str, float | None] = dict.fromkeys(METHODS)
    spearman: dict[str, float | None] = dict.fromkeys(METHODS)
    samples = {}
    for method in METHODS:
        if method.startswith("t_") and vectors.moved is None:
            continue
        scores = MEASURES[str(vectors.similarity)](
            vectors.phrase(method, left), vectors.phrase(method, right)
        )
        spearman[method], pearson[method] = correlations(scores, gold)
        samples[method] = Sample(items, scores, gold, "pearson")
    return Result(
        name="composition",
        data=data,
        metrics=pearson,
        covered=int(np.count_nonzero(covered)),
        total=len(rows),
        details={"used": int(np.count_nonzero(used)), "points": len(gold), "spearman": spearman,
                 "unknown_words": list(vectors.unknown_words)},
        parameters=parameters,
        samples=samples,
    )  # fmt: skip


def _averaged(
    names: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
    gold: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    items: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One row for each distinct item, the first of its rows, with the mean of the judgements."""
    number: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
    which = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)
    first = np.unique(which, return_index=True)[1]
    means = np.bincount(which, weights=gold, minlength=len(first)) / np.maximum(np.bincount(which), 1)
    return means, left[first], right[first], items[first]


def _acceptability(phrases: Phrases, vectors: _Vectors, data: str, parameters: dict[str, Any]) -> Result:
    rows = vectors.rows(phrases.types, phrases.left)
    covered = (rows >= 0).all(axis=1)
    used = np.ones(len(rows), dtype=bool) if vectors.takes_all else covered
    assert vectors.moved is not None
    scores = (vectors.table[rows[used, 0]] * vectors.moved[rows[used, 1]]).sum(axis=1)
    good = phrases.scores[used] > 0
    parts = {"acceptable": scores[good], "deviant": scores[~good]}
    t, p = welch(parts["deviant"], parts["acceptable"])
    means = {f"mean_{name}": float(values.mean()) if len(values) else None for name, values in parts.items()}
    return Result(
        name="composition",
        data=data,
        metrics={"t_statistic": t, "p_value": p, **means},
        covered=int(np.count_nonzero(covered)),
        total=len(phrases),
        details={
            "used": int(np.count_nonzero(used)),
            **{name: len(values) for name, values in parts.items()},
            "unknown_words": list(vectors.unknown_words),
        },
        parameters=parameters,
        series={"scores": {name: values.tolist() for name, values in parts.items()}},
    )


def welch(x: np.ndarray, y: np.ndarray) -> tuple[float | None, float | None]:
    """t and p of Welch's t-test; None with fewer than two values on a side, or where all of both sides are equal."""
    if len(x) < 2 or len(y) < 2 or np.ptp(x) + np.ptp(y) == 0:
        return None, None
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nearly equal values
        t, p = (float(value) for value in ttest_ind(x, y, equal_var=False))
    return (t, p) if np.isfinite(t) and np.isfinite(p) else (None, None)


def figure_data(result: dict[str, Any], name: str) -> dict[str, np.ndarray]:
    """Scores by class of a result of ``evaluate composition --json`` on acceptability.

    Raises:
        WordkitError: it is not one, or has no scores.
    """
    try:
        scores = {key: np.array(result["scores"][key], dtype=np.float64) for key in ("acceptable", "deviant")}
        good = all(v.ndim == 1 and len(v) and np.isfinite(v).all() for v in scores.values())
    except (KeyError, TypeError, ValueError):
        good = False
    if not good:
        what = "holds no scores of acceptable and deviant pairs"
        raise WordkitError(f"{name}: {what}, expected a result of wordkit evaluate composition --json")
    return scores
