"""``wordkit cooccur``: counts of words near each other."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import ProgressMonitor, message, print_results, report_tally


@options.command(
    "cooccur", example="wordkit cooccur data_samples/corpus.txt -o corpus.counts.npz --min-count 5"
)
@options.input_argument("corpus", many=True)
@options.output_option("The counts file (.npz).")
@click.option(
    "--window", type=click.IntRange(1, 10_000), default=5, help="Words this many places apart stand near."
)
@click.option("--min-count", type=options.count, default=10, help="Rarer words become #rare#.")
@click.option(
    "--max-vocab", type=options.count, metavar="N", help="The N most frequent words; others become #rare#."
)
@click.option("--lowercase", is_flag=True, help="Fold case.")
@click.option("--context", type=click.Choice(["both", "left", "right"]), default="both",
              help="Count words on both sides of a word, or on one.")  # fmt: skip
@click.option("--distance-weighting", type=click.Choice(["none", "harmonic"]), default="none",
              help="What a pair counts: 1, or 1 / distance.")  # fmt: skip
@click.option("--no-rare-token", is_flag=True, help="Leave rare words out; they keep their places.")
@click.option(
    "--no-number-token", is_flag=True, help="Numbers are words like others, and do not become #number#."
)
@click.option("--memory", type=options.memory_size, default="4G",
              help="For text and counts; what goes beyond is kept in temporary files (TMPDIR).")  # fmt: skip
@options.threads_option
@options.policy_options
@options.json_option
def command(
    corpus: tuple[str, ...], output: str, window: int, min_count: int, max_vocab: int | None, lowercase: bool, context: str,
    distance_weighting: str, no_rare_token: bool, no_number_token: bool, memory: int, threads: int, skip_invalid: bool,
    strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Count how often words stand within a window of each other.

    CORPUS is text, one sentence or document a line, which no window crosses; it is read once. COUNTS holds a sparse matrix, cell
    (i, j) for word j in the window of word i, with the words by falling count: sparse-code takes it in place of a corpus, NumPy
    and SciPy read it. A number is made of digits with single . , : / - between them, after an optional sign: -3.5, 1,000, 3:45.
    """
    from wordkit.evaluation.result import Result
    from wordkit.formats.counts import Counts, write_counts
    from wordkit.models.cooccurrence import count_cooccurrences
    from wordkit.models.word_choice import NUMBER, RARE
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.not_standard_output(output, "a counts file")
    options.one_standard_input(*corpus)
    options.check_outputs(output, inputs=corpus)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    monitor = ProgressMonitor("cooccur")
    try:
        found = count_cooccurrences(
            corpus, window=window, min_count=min_count, memory=memory, distance_weighting=distance_weighting, context=context,
            rare_token=not no_rare_token, number_token=not no_number_token, lowercase=lowercase, max_vocab=max_vocab,
            threads=threads, tally=tally, monitor=monitor, tell=message,
        )  # fmt: skip
    finally:
        monitor.close()
    report_tally(tally)
    inputs, tokens = found.meta["inputs"], found.meta["tokens"]
    parameters = {key: value for key, value in found.meta.items() if key not in ("inputs", "tokens")}
    run = signature("cooccur", parameters, inputs)
    write_counts(
        output,
        Counts(
            found.matrix, found.words, found.counts, {"command": "cooccur", "signature": run, **found.meta}
        ),
    )
    whole = distance_weighting == "none"
    pairs = found.matrix.data.sum(dtype="int64" if whole else "float64").item()
    count_of = dict(zip(found.words, found.counts.tolist(), strict=True))
    covered = int(found.counts.sum()) - count_of.get(RARE, 0)
    result = Result(
        name="cooccur",
        data=", ".join(record["name"] for record in inputs),
        metrics={
            "words": len(found.words),
            "cells": int(found.matrix.nnz),
            "pairs": pairs,
            "tokens": tokens,
            "rare_tokens": tokens - covered,
            "number_tokens": count_of.get(NUMBER, 0),
        },
        covered=covered,
        total=tokens,
    )
    print_results("cooccur", run, time.monotonic() - started, [result], as_json=as_json)
