"""``wordkit evaluate similarity``."""

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
from wordkit.evaluation.result import Result


@options.command(
    "similarity", example="wordkit evaluate similarity data_samples/vectors.txt data_samples/similarity.txt"
)
@options.input_argument("vec")
@options.input_argument("dataset", many=True)
@options.similarity_option(*options.SIMILARITIES)
@options.lookup_options(
    "Pairs with an unknown word: left out; scored with the zero vector or the mean of all vectors; or the word in lower "
    "case, and left out if that is unknown too."
)
@options.comparison_options
@click.option(
    "--details", is_flag=True, help="Pairs used and unknown words as well (--json always has them)."
)
@options.policy_options
@options.json_option
def command(
    vec: str, dataset: tuple[str, ...], similarity: str, unknown: str, ignore_case: bool, restrict_vocab: int | None, mmap: bool,
    summary: bool, intervals: bool, against: str | None, seed: int, details: bool, skip_invalid: bool, strict: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Spearman's and Pearson's correlation of the vectors in VEC with people's scores of word pairs.

    Each DATASET has a pair a line: word, word and score, between tabs, commas or spaces, maybe after a line of names. The
    correlations are positive where near vectors go with high scores, whatever the measure; they are n/a where fewer than
    two pairs are left or all scores are equal. covered: pairs whose words both have a vector.
    """
    from wordkit.evaluation.known_vectors import warn_of_zero_vectors
    from wordkit.evaluation.similarity import similarity_result
    from wordkit.formats.word_pairs import read_word_pairs
    from wordkit.tally import Tally

    options.one_standard_input(vec, against, *dataset)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    set_records: list = []
    vector_records: list = []
    sets = read_each(dataset, read_word_pairs, tally, set_records)
    for pairs in sets:
        for note in pairs.notes:
            message(note)
    words = list(dict.fromkeys(word for pairs in sets for word in (*pairs.first, *pairs.second)))

    def evaluate(path: str) -> list[Result]:
        lookup = lookup_of(unknown, ignore_case, restrict_vocab, mmap)
        known = read_vectors_of(path, words, lookup, tally, vector_records)
        results = [
            similarity_result(pairs, known, data=data, similarity=similarity, unknown=unknown)
            for data, pairs in zip(dataset, sets, strict=True)
        ]
        if similarity == "cosine":
            warn_of_zero_vectors(known, words, tally, unknown == "lowercase")
        return results

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    tell_unknown(results, "pairs", unknown, strict)
    report_tally(tally)
    parameters = {
        "similarity": similarity, "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "seed": seed if intervals or against else None,
    }  # fmt: skip
    records = [vector_records[0], *set_records, *vector_records[1:]]
    print_evaluation("similarity", parameters, records, started, results, as_json, details, summary)
