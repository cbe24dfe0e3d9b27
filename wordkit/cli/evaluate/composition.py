"""``wordkit evaluate composition``."""

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
    "composition",
    example="wordkit evaluate composition trees.vec data_samples/pairs.txt --transition trees.model --json > pairs.json",
)
@options.input_argument("vec")
@options.input_argument("dataset", many=True)
@options.similarity_option(*options.SIMILARITIES)
@options.transition_option(
    "Model of train-hmtm, whose --vectors-out is VEC: t_add and t_mult transform dependents by its transitions, and "
    "acceptability is computed from them."
)
@click.option("--ratings", type=click.Choice(["each", "mean"]), default="each",
              help="Every judgement is a point of the correlation, or every item, with the mean of its judgements.")  # fmt: skip
@options.tagged_word_option
@options.lookup_options(
    "Items with an unknown word: left out; scored with the zero vector or the mean of all vectors; or the word in lower "
    "case, and left out if that is unknown too."
)
@options.comparison_options
@click.option(
    "--details", is_flag=True, help="Spearman's correlations and unknown words too (--json always has them)."
)
@options.policy_options
@options.json_option
def command(
    vec: str, dataset: tuple[str, ...], similarity: str, transition: str | None, ratings: str, word_form: str, unknown: str,
    ignore_case: bool, restrict_vocab: int | None, mmap: bool, summary: bool, intervals: bool, against: str | None, seed: int,
    details: bool, skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Pearson's correlation of similarities of phrases, composed of the vectors in VEC, with people's judgements.

    A DATASET has pairs of two-word phrases (Mitchell and Lapata's form: participant, type, group, four words, score; or type,
    four words, score), verbs in context beside a landmark (Grefenstette and Sadrzadeh's: columns verb, subject, object,
    landmark, input), or adjective, noun and class, acceptable or deviant. Of a phrase with the head u and the dependent v,
    baseline is u, add is u + v, mult is u * v; t_add and t_mult have T^T v for v (T v on chains). Acceptability is v^T T u, with
    Welch's t-test of deviant against acceptable pairs. covered: judgements whose words all have a vector. `plot acceptability`
    draws the results of --json.
    """
    from wordkit.evaluation.composition import composition_results, tagged_words
    from wordkit.evaluation.transitions import Transitions
    from wordkit.formats.phrases import read_phrases
    from wordkit.tally import Tally

    options.one_standard_input(vec, against, transition, *dataset)
    refuse_comparison_by_transitions(transition, against)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    transitions = None if transition is None else Transitions.load(transition)
    set_records: list = []
    vector_records: list = []
    sets = read_each(dataset, read_phrases, tally, set_records)
    if transitions is None and any(each.kind == "acceptability" for each in sets):
        raise click.UsageError(
            "acceptable and deviant pairs are told apart by the transitions of --transition MODEL"
        )
    every = list(dict.fromkeys(word for each in sets for word in tagged_words(each)))

    def evaluate(path: str) -> list[Result]:
        lookup = lookup_of(unknown, ignore_case, restrict_vocab, mmap)
        known, form = read_vectors_in_form(
            path, every, word_form, similarity, unknown, lookup, tally, vector_records
        )
        return [
            result
            for data, each in zip(dataset, sets, strict=True)
            for result in composition_results(
                each, known, data=data, form=form, similarity=similarity, transitions=transitions, unknown=unknown,
                ratings=ratings,
            )
        ]  # fmt: skip

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    tell_unknown(results, "judgements", unknown, strict)
    report_tally(tally)
    parameters = {
        "similarity": similarity, "transition": transition is not None, "ratings": ratings, "word-form": word_form,
        "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "seed": seed if intervals or against else None,
    }  # fmt: skip
    records = [vector_records[0], *set_records, *vector_records[1:]]
    print_evaluation("composition", parameters, records, started, results, as_json, details, summary)
