"""BLESS: which relations the similarities of word vectors favour, and how well related words are told from random ones.

Baroni and Lenci (GEMS 2011) and Grave (thesis, 2014, section 3.2). Of each concept and relation the nearest relatum counts; the
scores of a concept are brought to mean 0 and standard deviation 1 over its relations. For retrieval all relata of a concept are
ranked by similarity; the related ones should come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation.known_vectors import KnownVectors, check_policy, refuse_negative, stand_in
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.result import Result, Sample
from wordkit.evaluation.transitions import Transitions, as_distributions
from wordkit.evaluation.word_forms import TaggedWord, written
from wordkit.formats.relations import Relations, is_random

ROUNDING = 1e-12  # scores that differ by less, relative to the largest, are equal
RECALL_LEVELS = 101  # 0, 0.01, ..., 1
_ROWS = 4096


def tagged_words(relations: Relations) -> list[TaggedWord]:
    """All words, concepts first."""
    words = [TaggedWord(word, "n") for word in relations.concepts]
    words += [TaggedWord(word, tag) for word, tag in zip(relations.relata, relations.tags, strict=True)]
    return list(dict.fromkeys(words))


def bless_result(
    relations: Relations,
    known: KnownVectors,
    *,
    data: str,
    form: str = "plain",
    similarity: str = "cosine",
    transitions: Transitions | None = None,
    unknown: str = "skip",
) -> Result:
    """Distributions of similarities by relation, and retrieval of related words. Nothing that is passed in is changed.

    Args:
        form: how the vector file writes words, one of :data:`wordkit.evaluation.word_forms.FORMS`.
        transitions: transform adjectives before they are compared with their concept, and concepts before they are compared with
            verbs; for measures of probabilities what comes out is divided by its sum.
        unknown: what becomes of a tuple with an unknown word. ``skip``: left out. ``zero``, ``mean``: the word has the zero
            vector, or the mean vector. ``lowercase``: its lower case is taken, and where that is unknown too, it is left out.

    Returns:
        A :class:`Result` with ``average_precision``, the mean over the concepts that have related and random words (equal scores
        share one rank, so that constant scores give the share of related words), and ``median_NAME`` of the normalized scores of
        each relation; a concept whose scores are all equal has 0 everywhere, one with a single relation is left out. None where
        nothing is left. ``covered``: tuples whose words are both known. Details: ``used``, ``concepts`` (ranked),
        ``relations`` (concepts, mean, quartiles), ``unknown_words``; series: ``scores`` (relation to the normalized score of each
        concept, None where it has none), ``recall`` and ``precision`` (interpolated, mean over the concepts).

    Raises:
        ValueError: no such similarity or policy. WordkitError: negative values, and a measure for probabilities; transitions of
            another dimension.
    """
    if similarity not in MEASURES:
        raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(MEASURES)}")
    check_policy(unknown)
    words = tagged_words(relations)
    row_of = {word: known.row(written(word, form), unknown == "lowercase") for word in words}
    if similarity in OF_PROBABILITIES:
        refuse_negative(known, [(written(word, form), row) for word, row in row_of.items()], similarity)
    left = np.array([row_of[TaggedWord(word, "n")] for word in relations.concepts])
    relata = [TaggedWord(word, tag) for word, tag in zip(relations.relata, relations.tags, strict=True)]
    right = np.array([row_of[word] for word in relata])
    covered = (left >= 0) & (right >= 0)
    used = np.ones(len(left), dtype=bool) if unknown in ("zero", "mean") else covered
    scores = np.full(len(left), np.nan)
    tags = np.array(relations.tags)
    table = np.vstack([known.vectors, stand_in(known, unknown)])  # the last row, -1, is that of unknown words
    moved = None if transitions is None else transitions.of_dependents(table)
    if moved is not None and similarity in OF_PROBABILITIES:
        moved = as_distributions(moved)
    for tag in dict.fromkeys(relations.tags):
        rows = np.flatnonzero(used & (tags == tag))
        concept = table if moved is None or tag != "v" else moved
        relatum = table if moved is None or tag != "j" else moved
        for lo in range(0, len(rows), _ROWS):
            some = rows[lo : lo + _ROWS]
            scores[some] = MEASURES[similarity](concept[left[some]], relatum[right[some]])
    return _result(relations, relata, scores, data).completed(
        covered=int(np.count_nonzero(covered)),
        details={"unknown_words": [written(word, form) for word, row in row_of.items() if row < 0]},
        parameters={
            "similarity": similarity, "word_form": form, "transition": transitions is not None, "unknown": unknown,
            "ignore_case": known.ignore_case,
        },
    )  # fmt: skip


def _result(relations: Relations, relata: Sequence[TaggedWord], scores: np.ndarray, data: str) -> Result:
    """The numbers from the scores of all tuples, nan where one is left out."""
    names, concepts = relations.names(), list(dict.fromkeys(relations.concepts))
    best = _best(relations, names, concepts, scores)
    normalized = normalize(best)
    ranked = [
        _ranked(relations, relata, concept, scores) for concept in _rows_by_concept(relations, concepts)
    ]
    precision = np.array([average_precision(*pair) for pair in ranked])
    there = ~np.isnan(precision)
    curves = [interpolated_precision(*pair) for pair, good in zip(ranked, there, strict=True) if good]
    medians = {f"median_{name.replace('-', '_')}": _median(normalized[:, i]) for i, name in enumerate(names)}
    return Result(
        name="bless",
        data=data,
        metrics={"average_precision": float(precision[there].mean()) if there.any() else None, **medians},
        covered=0,
        total=len(relations),
        details={
            "used": int(np.count_nonzero(~np.isnan(scores))),
            "concepts": int(there.sum()),
            "relations": {name: _summary(normalized[:, i]) for i, name in enumerate(names)},
        },
        series={
            "scores": {
                name: [None if np.isnan(z) else float(z) for z in normalized[:, i]]
                for i, name in enumerate(names)
            },
            "recall": np.linspace(0, 1, RECALL_LEVELS).tolist(),
            "precision": np.mean(curves, axis=0).tolist() if curves else None,
        },
        samples={"average_precision": Sample.of_mean(precision)},
    )


def _best(
    relations: Relations, names: Sequence[str], concepts: Sequence[str], scores: np.ndarray
) -> np.ndarray:
    """(concepts, relations) score of the nearest relatum, nan where there is none."""
    row = {concept: i for i, concept in enumerate(concepts)}
    column = {name: i for i, name in enumerate(names)}
    best = np.full((len(concepts), len(names)), -np.inf)
    used = np.flatnonzero(~np.isnan(scores))
    rows = np.array([row[concept] for concept in relations.concepts])[used]
    columns = np.array([column[name] for name in relations.relations])[used]
    np.maximum.at(best, (rows, columns), scores[used])
    return np.where(np.isneginf(best), np.nan, best)


def normalize(best: np.ndarray) -> np.ndarray:
    """Each row to mean 0 and standard deviation 1; ones equal but for rounding become 0, a row with fewer than two nan."""
    there = ~np.isnan(best)
    counts = there.sum(axis=1, keepdims=True)
    mean = np.where(there, best, 0).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    centred = np.where(there, best - mean, 0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / np.maximum(counts, 1))
    low = np.where(there, best, np.inf).min(axis=1, keepdims=True)
    high = np.where(there, best, -np.inf).max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # rows without any score
        varies = high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high))
    normal = np.divide(centred, spread, out=np.zeros(best.shape), where=varies & there)
    return np.where(there & (counts > 1), normal, np.nan)


def _rows_by_concept(relations: Relations, concepts: Sequence[str]) -> list[list[int]]:
    rows: dict[str, list[int]] = {concept: [] for concept in concepts}
    for i, concept in enumerate(relations.concepts):
        rows[concept].append(i)
    return list(rows.values())


def _ranked(
    relations: Relations, relata: Sequence[TaggedWord], rows: Sequence[int], scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a concept's distinct relata, and whether each is related."""
    found: dict[TaggedWord, tuple[float, bool]] = {}
    for row in rows:
        if not np.isnan(scores[row]):
            related = not is_random(relations.relations[row])
            before = found.get(relata[row], (0.0, False))
            found[relata[row]] = (float(scores[row]), related or before[1])
    return np.array([score for score, _ in found.values()]), np.array(
        [related for _, related in found.values()], dtype=bool
    )


def _precision_recall(scores: np.ndarray, related: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall among those with a score of at least each distinct one, from the highest down."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(related[order])
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    return hits[last] / (last + 1), hits[last] / related.sum()


def average_precision(scores: np.ndarray, related: np.ndarray) -> float:
    """Sum of precision times gain in recall over the distinct scores; nan without related or without other words."""
    if not related.any() or related.all():
        return float("nan")
    precision, recall = _precision_recall(scores, related)
    return float((precision * np.diff(recall, prepend=0.0)).sum())


def interpolated_precision(scores: np.ndarray, related: np.ndarray) -> np.ndarray:
    """(RECALL_LEVELS,) highest precision at each recall or a higher one."""
    precision, recall = _precision_recall(scores, related)
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    levels = np.linspace(0, 1, RECALL_LEVELS)
    return np.asarray(highest[np.searchsorted(recall, levels - 1e-12)])


def _median(values: np.ndarray) -> float | None:
    there = values[~np.isnan(values)]
    return float(np.median(there)) if len(there) else None


def _summary(values: np.ndarray) -> dict[str, Any]:
    there = values[~np.isnan(values)]
    if not len(there):
        return {"concepts": 0, "mean": None, "lower_quartile": None, "median": None, "upper_quartile": None}
    low, median, high = np.quantile(there, [0.25, 0.5, 0.75]).tolist()
    return {
        "concepts": len(there), "mean": float(there.mean()), "lower_quartile": low, "median": median, "upper_quartile": high,
    }  # fmt: skip


def figure_data(result: dict[str, Any], name: str) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Scores by relation, recall and precision of a result of ``evaluate bless --json``.

    Raises:
        WordkitError: it is not one, or has nothing to draw.
    """
    try:
        scores = {
            str(relation): np.array([z for z in values if z is not None], dtype=np.float64)
            for relation, values in result["scores"].items()
        }
        recall, precision = (np.array(result[key], dtype=np.float64) for key in ("recall", "precision"))
        good = recall.ndim == 1 and recall.shape == precision.shape and len(recall) > 0
        good = good and all(np.isfinite(values).all() for values in (recall, precision, *scores.values()))
    except (KeyError, TypeError, ValueError, AttributeError):
        good = False
    if not good:
        raise WordkitError(
            f"{name}: holds no scores of relations, expected a result of wordkit evaluate bless --json"
        )
    return scores, recall, precision
