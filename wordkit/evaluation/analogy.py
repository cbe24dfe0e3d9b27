"""Analogies, a is to b as c is to d: how often the best word is d, and how likely an output matrix makes d.

The sign of the offset is that of Mikolov's papers, b - a + c; the formula of the FOREST paper has it reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation.known_vectors import KnownVectors, check_policy, stand_in
from wordkit.evaluation.result import Result, Sample
from wordkit.evaluation.vector_offsets import METHODS, best_answers, log_normalizers
from wordkit.formats.questions import Questions, is_syntactic


def analogy_result(
    questions: Questions,
    known: KnownVectors,
    *,
    data: str,
    method: str = "add",
    unknown: str = "skip",
    outputs: KnownVectors | None = None,
    threads: int = 1,
) -> Result:
    """Share of the questions whose best answer is the right one. Nothing that is passed in is changed.

    Args:
        questions: four words each, with sections.
        known: vectors of all words that may be an answer, from :func:`wordkit.evaluation.known_vectors.read_all_vectors`.
        data: name of the data set.
        method: ``add`` or ``mul``, see :func:`wordkit.evaluation.vector_offsets.best_answers`.
        unknown: what becomes of a question with an unknown word. ``skip``: left out. ``zero``, ``mean``: a, b and c have the zero
            vector, or the mean vector; where d is unknown the answer is wrong. ``lowercase``: the word's lower case is taken,
            and where that is unknown too, the question is left out.
        outputs: output vectors for the log-likelihood of d, log softmax of d's output vector times b - a + c, the vectors as
            they are, over all rows of ``outputs``.
        threads: the result does not depend on it.

    Returns:
        A :class:`Result` with ``accuracy``, ``semantic`` and ``syntactic`` (of the sections whose names begin with ``gram``)
        accuracy, and ``log_likelihood``, the mean in nats; None where there is no question, and the accuracies where all
        vectors are equal. ``covered``: questions whose four words are known. Details: ``used``, how many questions the policy
        leaves; ``candidates``, among how many words; ``unknown_words``;
        ``sections``, name to numbers; and of the log-likelihood, whose d must be in ``outputs``, ``log_likelihood_used``,
        ``log_likelihood_semantic`` and ``log_likelihood_syntactic``.

    Raises:
        ValueError: no such method or policy.
        WordkitError: outputs of another dimension, or so large that their products overflow.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(METHODS)}")
    check_policy(unknown)
    row_of = _rows(questions, known, unknown)
    rows = _numbers(questions, row_of)
    covered = np.asarray((rows >= 0).all(axis=1))
    used = covered if unknown in ("skip", "lowercase") else np.ones(len(rows), dtype=bool)
    numbers, places = np.unique(rows[used, :3], return_inverse=True)
    queries = places.reshape(-1, 3)
    words = np.where((numbers >= 0)[:, None], known.vectors[numbers], stand_in(known, unknown)).astype(
        np.float64
    )
    answers = best_answers(queries, words, numbers, known.vectors, method=method, threads=threads)
    scores = np.full(len(rows), np.nan)
    if not _all_equal(known.vectors):
        scores[used] = (answers == rows[used, 3]) & (answers >= 0)
    likelihoods = np.full(len(rows), np.nan)
    if outputs is not None:
        targets = _numbers(questions, _rows(questions, outputs, unknown))[used, 3]
        likelihoods[used] = _log_likelihoods(queries, words, targets, known, outputs, threads)
    return Result(
        name="analogy",
        data=data,
        metrics={**_means(questions, scores), "log_likelihood": _mean(likelihoods)},
        covered=int(np.count_nonzero(covered)),
        total=len(questions),
        details={
            "used": int(np.count_nonzero(used)),
            "candidates": len(known.vectors),
            "unknown_words": [word for word, row in row_of.items() if row < 0],
            **({} if outputs is None else _likelihood_details(questions, likelihoods)),
            "sections": _sections(questions, covered, scores, likelihoods, outputs is not None),
        },
        parameters={"method": method, "unknown": unknown, "ignore_case": known.ignore_case},
        samples=_samples(questions, scores, likelihoods),
    )


def _rows(questions: Questions, known: KnownVectors, unknown: str) -> dict[str, int]:
    """Row of every word of the questions, in their order."""
    lowercase = unknown == "lowercase"
    return {word: known.row(word, lowercase) for words in questions.words for word in words}


def _numbers(questions: Questions, row_of: dict[str, int]) -> np.ndarray:
    """int64 (questions, 4): rows of the words."""
    rows = [[row_of[word] for word in words] for words in questions.words]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _log_likelihoods(
    queries: np.ndarray,
    words: np.ndarray,
    targets: np.ndarray,
    known: KnownVectors,
    outputs: KnownVectors,
    threads: int,
) -> np.ndarray:
    """Log softmax of the target rows of ``outputs`` given b - a + c, nan where the target is -1."""
    if outputs.vectors.shape[1] != words.shape[1]:
        widths = f"{outputs.vectors.shape[1]} dimensions, but {known.name} has {words.shape[1]}"
        raise WordkitError(f"{outputs.name}: output vectors of {widths}")
    found = np.full(len(queries), np.nan)
    there = targets >= 0
    a, b, c = (words[queries[there, place]] for place in range(3))
    scores = (outputs.vectors[targets[there]].astype(np.float64) * (b - a + c)).sum(axis=1)
    found[there] = scores - log_normalizers(queries[there], words, outputs.vectors, threads=threads)
    if not np.isfinite(found[there]).all():
        raise WordkitError(f"{outputs.name}: products with the vectors of {known.name} overflow")
    return found


def _all_equal(vectors: np.ndarray) -> bool:
    """Whether several words all have the same vector: then the order of the rows alone would tell what is right."""
    return len(vectors) > 1 and bool((vectors[1] == vectors[0]).all() and (vectors == vectors[0]).all())


def _mean(values: np.ndarray) -> float | None:
    """Mean of those that are not nan."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def _syntactic(questions: Questions) -> np.ndarray:
    """bool (questions,)."""
    kind = np.array([is_syntactic(name) for name in questions.names], dtype=bool)
    return np.asarray(kind[np.array(questions.sections, dtype=np.int64)])


def _samples(questions: Questions, scores: np.ndarray, likelihoods: np.ndarray) -> dict[str, Sample]:
    syntactic = _syntactic(questions)
    values = {
        "accuracy": scores,
        "semantic": np.where(syntactic, np.nan, scores),
        "syntactic": np.where(syntactic, scores, np.nan),
        "log_likelihood": likelihoods,
    }
    return {name: Sample.of_mean(some) for name, some in values.items() if not np.isnan(some).all()}


def _means(questions: Questions, values: np.ndarray) -> dict[str, float | None]:
    """Means over all questions, the semantic and the syntactic ones."""
    syntactic = _syntactic(questions)
    return {
        "accuracy": _mean(values),
        "semantic": _mean(values[~syntactic]),
        "syntactic": _mean(values[syntactic]),
    }


def _likelihood_details(questions: Questions, likelihoods: np.ndarray) -> dict[str, Any]:
    means = _means(questions, likelihoods)
    return {
        "log_likelihood_used": int(np.count_nonzero(~np.isnan(likelihoods))),
        **{f"log_likelihood_{kind}": means[kind] for kind in ("semantic", "syntactic")},
    }


def _sections(
    questions: Questions,
    covered: np.ndarray,
    scores: np.ndarray,
    likelihoods: np.ndarray,
    with_likelihood: bool,
) -> dict[str, dict[str, Any]]:
    """Numbers of each section, in the file's order."""
    table = {}
    section = np.array(questions.sections, dtype=np.int64)
    for number, name in enumerate(questions.names):
        own = section == number
        used = scores[own & ~np.isnan(scores)]
        table[name] = {
            "accuracy": _mean(used),
            "correct": int(used.sum()),
            "used": len(used),
            "covered": int(np.count_nonzero(covered[own])),
            "total": int(np.count_nonzero(own)),
            **({"log_likelihood": _mean(likelihoods[own])} if with_likelihood else {}),
        }
    return table
