"""``wordkit evaluate sentences``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import (
    lookup_of,
    print_evaluation,
    read_each,
    read_vectors_of,
    with_comparisons,
)
from wordkit.cli.report import message, refuse_unknown, report_tally
from wordkit.evaluation.result import Result


@options.command(
    "sentences",
    example="wordkit evaluate sentences data_samples/vectors.txt data_samples/reviews.{train,dev,test}.txt",
)
@options.input_argument("vec")
@options.input_argument("train")
@options.input_argument("dev")
@options.input_argument("test", many=True)
@options.lookup_options(
    "Words without a vector: left out of the average; counted with the zero vector or the mean of all vectors; or "
    "looked up in lower case, and left out if that is unknown too."
)
@options.comparison_options
@click.option(
    "--details", is_flag=True, help="Penalties, known tokens and unseen labels too (--json always has them)."
)
@options.policy_options
@options.json_option
def command(
    vec: str, train: str, dev: str, test: tuple[str, ...], unknown: str, ignore_case: bool, restrict_vocab: int | None,
    mmap: bool,
    summary: bool, intervals: bool, against: str | None, seed: int, details: bool, skip_invalid: bool, strict: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Accuracy of logistic regression on sentences, each the average of its words' vectors in VEC.

    TRAIN, DEV and each TEST have a sentence a line, `__label__NAME token token ...`. The regression (scikit-learn: the extra
    eval) is trained on TRAIN with 15 strengths of its l2 penalty; the best on DEV is tested on each TEST file by itself.
    covered: sentences with a known word; those without one count in accuracy too, as the zero vector. n/a where all lack one.
    """
    from wordkit.evaluation.sentences import average, logistic_regression, sentences_result, tune
    from wordkit.formats.labelled import Documents, LabelledReader
    from wordkit.formats.opening import Input, names_of
    from wordkit.tally import Tally

    options.one_standard_input(vec, train, dev, against, *test)
    logistic_regression()
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    reader = LabelledReader(hint="")
    set_records: list = []
    vector_records: list = []

    def read(source: Input, tally: Tally) -> Documents:
        return Documents.join(list(reader.labelled(source, tally)))

    parts = read_each((train, dev, *test), read, tally, set_records)
    words = reader.types.words()

    def evaluate(path: str) -> list[Result]:
        lookup = lookup_of(unknown, ignore_case, restrict_vocab, mmap)
        known = read_vectors_of(path, words, lookup, tally, vector_records)
        sentences = [average(part, words, reader.names, known, unknown=unknown) for part in parts]
        if strict:
            for name, each in zip((train, dev, *test), sentences, strict=True):
                total = int(each.tokens.sum())
                refuse_unknown(name, total - int(each.known.sum()), total, "tokens are")
        tuned = tune(sentences[0], sentences[1], names=(names_of([train]), names_of([dev])))
        message(f"C {tuned.C:.4g} of {len(tuned.grid)} values, accuracy on {dev} {tuned.dev_accuracy:.4f}")
        if not tuned.converged:
            message("warning: the regression did not converge with it")
        return [
            sentences_result(tuned, each, data=data, unknown=unknown, ignore_case=ignore_case)
            for data, each in zip(test, sentences[2:], strict=True)
        ]

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    for result in results:
        tokens, known_tokens = result.details["tokens"], result.details["known_tokens"]
        message(f"{result.data}: {known_tokens} of {tokens} tokens have a vector (--unknown {unknown})")
        if unseen := result.details["unseen_labels"]:
            message(f"{result.data}: labels that the training data lack: {', '.join(unseen)}")
    report_tally(tally)
    parameters = {
        "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "seed": seed if intervals or against else None,
    }  # fmt: skip
    records = [vector_records[0], *set_records, *vector_records[1:]]
    print_evaluation("sentences", parameters, records, started, results, as_json, details, summary)
