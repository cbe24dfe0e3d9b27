"""Sentence completion: the word whose average similarity to the other words of the sentence is highest fills the gap.

Section 3.2 of Yogatama, Faruqui, Dyer and Smith (ICML 2015), on the challenge of Zweig and Burges (2011).
"""

from __future__ import annotations

import numpy as np

from wordkit.evaluation.known_vectors import KnownVectors, check_policy, refuse_negative, stand_in
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.result import Result, Sample
from wordkit.formats.completion_questions import CompletionQuestions

PUNCTUATION = "\"'`.,;:!?()[]{}-\u2013\u2014\u2018\u2019\u201c\u201d\u2026*"


def bare(token: str) -> str:
    """The token without punctuation at its ends."""
    return token.strip(PUNCTUATION)


def words_of(questions: CompletionQuestions) -> list[str]:
    """Everything that may have to be looked up."""
    tokens = [token for sentence in questions.sentences for token in sentence]
    choices = [word for words in questions.choices for word in words]
    return list(dict.fromkeys([*choices, *tokens, *map(bare, tokens)]))


def completion_result(
    questions: CompletionQuestions,
    known: KnownVectors,
    *,
    data: str,
    similarity: str = "cosine",
    unknown: str = "skip",
) -> Result:
    """Share of the gaps that are filled rightly. Nothing that is passed in is changed.

    Words of a sentence are its tokens that hold more than punctuation, looked up as they are or else without punctuation at their
    ends. Where several choices are best, the question counts as the share of them that is right: constant scores give chance.

    Args:
        questions: with their answers.
        unknown: what becomes of unknown words. ``skip``: a word of the sentence is left out of the average, a question with an
            unknown choice, or of whose sentence no word is known, is left out. ``zero``, ``mean``: the word has the zero vector,
            or the mean vector. ``lowercase``: its lower case is taken, and where that is unknown too, it is as with ``skip``.

    Returns:
        A :class:`Result` with ``accuracy``; ``covered``: questions whose choices all have vectors, and a word of the sentence.
        Details: ``used``, ``ties`` (questions with several best choices), ``unknown_words`` (choices first).

    Raises:
        ValueError: no such similarity or policy. WordkitError: negative values, and a measure for probabilities.
    """
    if similarity not in MEASURES:
        raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(MEASURES)}")
    check_policy(unknown)
    lowercase, takes_all = unknown == "lowercase", unknown in ("zero", "mean")
    choice_rows = {
        word: known.row(word, lowercase)
        for word in dict.fromkeys(w for words in questions.choices for w in words)
    }
    context_rows = {
        token: _context_row(known, token, lowercase)
        for token in dict.fromkeys(t for sentence in questions.sentences for t in sentence)
        if bare(token)
    }
    if similarity in OF_PROBABILITIES:
        refuse_negative(known, [*choice_rows.items(), *context_rows.items()], similarity)
    table = np.vstack([known.vectors, stand_in(known, unknown)])  # the last row, -1, is that of unknown words
    scores = np.full(len(questions), np.nan)
    covered = ties = 0
    for i, (sentence, choices) in enumerate(zip(questions.sentences, questions.choices, strict=True)):
        left = np.array([choice_rows[word] for word in choices])
        right = np.array([context_rows[token] for token in sentence if token in context_rows], dtype=np.int64)
        is_covered = bool((left >= 0).all() and (right >= 0).any())
        covered += is_covered
        if not takes_all:
            right = right[right >= 0]
        if not (is_covered or takes_all) or not len(right):
            continue
        means = MEASURES[similarity](table[left][:, None], table[right][None]).mean(axis=1)
        best = np.flatnonzero(means >= means.max())
        ties += len(best) > 1
        scores[i] = float(questions.answers[i] in best) / len(best)
    sample = Sample.of_mean(scores)
    missing = [word for rows in (choice_rows, context_rows) for word, row in rows.items() if row < 0]
    return Result(
        name="completion",
        data=data,
        metrics={"accuracy": float(sample.values.mean()) if len(sample.values) else None},
        covered=covered,
        total=len(questions),
        details={"used": len(sample.values), "ties": ties, "unknown_words": list(dict.fromkeys(missing))},
        parameters={"similarity": similarity, "unknown": unknown, "ignore_case": known.ignore_case},
        samples={"accuracy": sample},
    )


def _context_row(known: KnownVectors, token: str, lowercase: bool) -> int:
    row = known.row(token, lowercase)
    return row if row >= 0 else known.row(bare(token), lowercase)
