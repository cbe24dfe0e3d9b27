"""``wordkit evaluate completion``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import (
    lookup_of,
    print_evaluation,
    read_each,
    read_vectors_of,
    tell_unknown,
    with_comparisons,
)
from wordkit.cli.report import message, report_tally
from wordkit.errors import times
from wordkit.evaluation.result import Result


@options.command(
    "completion", example="wordkit evaluate completion data_samples/vectors.txt data_samples/completion.csv"
)
@options.input_argument("vec")
@options.input_argument("questions", many=True)
@click.option("--answers", type=click.Path(allow_dash=True), multiple=True, metavar="FILE",
              help="Answers of QUESTIONS without a column of them; once for each of several files, in their order.")  # fmt: skip
@options.similarity_option(*options.SIMILARITIES)
@options.lookup_options(
    "Unknown words are left out of the average, and questions with an unknown choice altogether; or words have the zero vector "
    "or the mean of all vectors; or their lower case is looked up first."
)
@options.comparison_options
@click.option("--details", is_flag=True, help="Ties and unknown words as well (--json always has them).")
@options.policy_options
@options.json_option
def command(
    vec: str, questions: tuple[str, ...], answers: tuple[str, ...], similarity: str, unknown: str, ignore_case: bool,
    restrict_vocab: int | None, mmap: bool, summary: bool, intervals: bool, against: str | None, seed: int, details: bool,
    skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Share of the sentences whose gap is filled with the right one of some words, by the vectors in VEC.

    The word is chosen that has the highest average similarity to the other words of the sentence; of k equal ones each counts
    1/k. QUESTIONS and answers are those of the Microsoft challenge: columns id, question (with the gap `_____`), a) to e) and
    maybe answer, between commas or tabs; or lines `1a) ... [word] ...`. covered: questions whose choices all have vectors.
    """
    from wordkit.evaluation.completion import completion_result, words_of
    from wordkit.evaluation.known_vectors import warn_of_zero_vectors
    from wordkit.formats.completion_questions import read_completion_answers, read_completion_questions
    from wordkit.tally import Tally

    options.one_standard_input(vec, against, *questions, *answers)
    if answers and len(answers) != len(questions):
        raise click.UsageError(f"{len(questions)} files of questions, but {len(answers)} of --answers")
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    set_records: list = []
    vector_records: list = []
    sets = read_each(questions, read_completion_questions, tally, set_records)
    keys = read_each(answers, read_completion_answers, tally, set_records) if answers else [None] * len(sets)
    for each, key in zip(sets, keys, strict=True):
        each.answer(key)
    words = list(dict.fromkeys(word for each in sets for word in words_of(each)))

    def evaluate(path: str) -> list[Result]:
        lookup = lookup_of(unknown, ignore_case, restrict_vocab, mmap)
        known = read_vectors_of(path, words, lookup, tally, vector_records)
        if similarity == "cosine":
            warn_of_zero_vectors(known, words, tally, unknown == "lowercase")
        return [
            completion_result(each, known, data=data, similarity=similarity, unknown=unknown)
            for data, each in zip(questions, sets, strict=True)
        ]

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    for result in results:
        if ties := result.details["ties"]:
            found = f"{times(ties, 'question')} with several best words, of which each counts a share"
            message(f"{result.data}: {found}")
    tell_unknown(results, "questions", unknown, strict)
    report_tally(tally)
    parameters = {
        "similarity": similarity, "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "seed": seed if intervals or against else None,
    }  # fmt: skip
    records = [vector_records[0], *set_records, *vector_records[1:]]
    print_evaluation("completion", parameters, records, started, results, as_json, details, summary)
