"""``wordkit evaluate bless``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import (
    lookup_of,
    print_evaluation,
    read_each,
    read_vectors_in_form,
    refuse_comparison_by_transitions,
    tell_unknown,
    with_comparisons,
)
from wordkit.cli.report import report_tally
from wordkit.evaluation.result import Result


@options.command(
    "bless",
    example="wordkit evaluate bless data_samples/vectors.txt data_samples/relations.txt --json > bless.json",
)
@options.input_argument("vec")
@options.input_argument("dataset", many=True)
@options.similarity_option(*options.SIMILARITIES)
@options.transition_option(
    "Transform adjectives before they are compared with their concept, and concepts before they are compared with verbs, by "
    "the transitions of this model of train-hmtm, whose --vectors-out is VEC."
)
@options.tagged_word_option
@options.lookup_options(
    "Tuples with an unknown word: left out; scored with the zero vector or the mean of all vectors; or the word in lower "
    "case, and left out if that is unknown too."
)
@options.comparison_options
@click.option(
    "--details",
    is_flag=True,
    help="Mean and quartiles of each relation, and unknown words (--json always has them).",
)
@options.policy_options
@options.json_option
def command(
    vec: str, dataset: tuple[str, ...], similarity: str, transition: str | None, word_form: str, unknown: str,
    ignore_case: bool, restrict_vocab: int | None, mmap: bool, summary: bool, intervals: bool, against: str | None, seed: int,
    details: bool, skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Similarities of the vectors in VEC by the relation of the words, and retrieval of related words.

    Each DATASET has lines of concept, class, relation and relatum, as BLESS has; relations that begin with `random` hold words
    that are not related. average_precision: of the related words in the ranking of all a concept's words, mean over concepts.
    median_...: of the score of each concept's nearest word in a relation, after the scores of a concept have been brought to
    mean 0 and standard deviation 1. covered: lines whose words both have a vector. `plot bless` draws the results of --json.
    """
    from wordkit.evaluation.bless import bless_result, tagged_words
    from wordkit.evaluation.transitions import Transitions
    from wordkit.formats.relations import read_relations
    from wordkit.tally import Tally

    options.one_standard_input(vec, against, transition, *dataset)
    refuse_comparison_by_transitions(transition, against)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    transitions = None if transition is None else Transitions.load(transition)
    set_records: list = []
    vector_records: list = []
    sets = read_each(dataset, read_relations, tally, set_records)
    every = list(dict.fromkeys(word for each in sets for word in tagged_words(each)))

    def evaluate(path: str) -> list[Result]:
        lookup = lookup_of(unknown, ignore_case, restrict_vocab, mmap)
        known, form = read_vectors_in_form(
            path, every, word_form, similarity, unknown, lookup, tally, vector_records
        )
        return [
            bless_result(
                each,
                known,
                data=data,
                form=form,
                similarity=similarity,
                transitions=transitions,
                unknown=unknown,
            )
            for data, each in zip(dataset, sets, strict=True)
        ]

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    tell_unknown(results, "tuples", unknown, strict)
    report_tally(tally)
    parameters = {
        "similarity": similarity, "transition": transition is not None, "word-form": word_form, "unknown": unknown,
        "ignore-case": ignore_case, "restrict-vocab": restrict_vocab, "seed": seed if intervals or against else None,
    }  # fmt: skip
    records = [vector_records[0], *set_records, *vector_records[1:]]
    print_evaluation("bless", parameters, records, started, results, as_json, details, summary)
