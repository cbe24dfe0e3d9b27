"""``wordkit evaluate similarity``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import message, print_results, refuse_unknown, report_tally, some_words


@options.command(
    "similarity", example="wordkit evaluate similarity data_samples/vectors.txt data_samples/similarity.txt"
)
@options.input_argument("vec")
@options.input_argument("dataset", many=True)
@click.option(
    "--similarity",
    type=click.Choice(
        ["cosine", "dot", "euclidean", "kl", "chi-squared", "jensen-shannon", "hellinger", "bhattacharyya"]
    ),
    default="cosine",
    help="Distances are taken with a minus, so that higher is nearer; from kl on for rows of probabilities.",
)
@options.lookup_options(
    "Pairs with an unknown word: left out; scored with the zero vector or the mean of all vectors; or the word in lower "
    "case, and left out if that is unknown too."
)
@click.option(
    "--details", is_flag=True, help="Pairs used and unknown words as well (--json always has them)."
)
@options.policy_options
@options.json_option
def command(
    vec: str, dataset: tuple[str, ...], similarity: str, unknown: str, ignore_case: bool, restrict_vocab: int | None,
    details: bool, skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Spearman's and Pearson's correlation of the vectors in VEC with people's scores of word pairs.

    Each DATASET has a pair a line: word, word and score, between tabs, commas or spaces, maybe after a line of names. The
    correlations are positive where near vectors go with high scores, whatever the measure; they are n/a where fewer than
    two pairs are left or all scores are equal. covered: pairs whose words both have a vector.
    """
    from wordkit.evaluation.known_vectors import read_known_vectors, warn_of_zero_vectors
    from wordkit.evaluation.similarity import similarity_result
    from wordkit.formats.opening import Input
    from wordkit.formats.word_pairs import read_word_pairs
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.one_standard_input(vec, *dataset)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    sets, inputs = [], []
    for path in dataset:
        with Input(path, digest=True) as source:
            sets.append(read_word_pairs(source, tally))
            inputs.append(source.record())
        for note in sets[-1].notes:
            message(note)
    words = list(dict.fromkeys(word for pairs in sets for word in (*pairs.first, *pairs.second)))
    with Input(vec, digest=True) as source:
        known = read_known_vectors(
            source, words, ignore_case=ignore_case, restrict_vocab=restrict_vocab, tally=tally
        )
        inputs.insert(0, source.record())
    results = [
        similarity_result(pairs, known, data=path, similarity=similarity, unknown=unknown)
        for path, pairs in zip(dataset, sets, strict=True)
    ]
    if similarity == "cosine":
        warn_of_zero_vectors(known, words, tally, unknown == "lowercase")
    for result in results:
        used, missing = result.details["used"], result.details["unknown_words"]
        if result.metrics["spearman"] is None:
            message(f"{result.data}: n/a ({used} of {result.total} pairs to score)")
        if missing:
            counts = (
                f"{used} of {result.total} pairs scored, {result.total - result.covered} have an unknown word"
            )
            message(f"{result.data}: {counts} (--unknown {unknown}): {some_words(missing)}")
        if strict:
            refuse_unknown(
                result.data, result.total - result.covered, result.total, "pairs have words that are"
            )
    report_tally(tally)
    parameters = {
        "similarity": similarity, "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
    }  # fmt: skip
    run = signature("evaluate-similarity", parameters, inputs)
    print_results(
        "evaluate similarity", run, time.monotonic() - started, results, as_json=as_json, details=details
    )
