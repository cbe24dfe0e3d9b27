"""``wordkit train-hmtm``: from dependency trees or text to classes of words and word vectors."""

from __future__ import annotations

import time
from typing import Any

import click

from wordkit.cli import options
from wordkit.cli.report import (
    ProgressMonitor,
    message,
    print_results,
    report_tally,
    resumable,
)


@options.command(
    "train-hmtm",
    example="wordkit train-hmtm data_samples/trees.conllu -o trees.model --states 16 --vectors-out trees.vec",
)
@options.input_argument("input", many=True)
@options.output_option("The model file.")
@options.structure_option("tree", "chain")
@click.option("--states", type=options.count, default=128, help="Classes at the end.")
@click.option(
    "--start-states", type=options.count, help="Classes at the beginning, split in two as training goes on.",
    show_default="those of --states",
)  # fmt: skip
@options.projection_options
@click.option("--split-every", type=options.count, metavar="BATCHES", show_default="evenly over the first half",
              help="Batches (iterations of batch EM) between splits.")  # fmt: skip
@click.option("--restarts", type=options.count, default=1, metavar="N",
              help="Train with N seeds and keep the likeliest model.")  # fmt: skip
@click.option(
    "--method",
    type=click.Choice(["online", "batch"]),
    default="online",
    help="EM over mini-batches or over all.",
)
@click.option(
    "--batch-size", type=options.count, default=100, metavar="SENTENCES", help="Sentences a mini-batch."
)
@click.option(
    "--offset", type=options.positive, default=4.0, help="Of the steps (offset + t)^-gamma; the thesis's a."
)
@click.option("--gamma", type=options.up_to(1), default=0.7, help="Of the steps; smaller ones forget faster.")
@click.option("--epochs", type=options.count, default=5, help="Passes over the data.")
@click.option(
    "--tol",
    type=options.not_negative,
    default=1e-5,
    help="Batch EM ends where an iteration gains less (nats a token).",
)
@click.option("--init", default="random", metavar="random|brown|MODEL",
              help="Random statistics, those of Brown clusters of the data, or a model to continue on this data; new words "
                   "are appended.")  # fmt: skip
@options.path_option("--clusters", metavar="PATHS", help="Begin with the clusters of this Brown paths file.")
@options.token_options
@click.option("--min-count", type=options.count, default=2, help="Rarer words become the one token `-*-`.")
@click.option("--max-vocab", type=options.count, metavar="N", help="Keep the N most frequent words.")
@click.option(
    "--max-length", type=options.count, default=50, help="Pass over longer sentences; they are counted."
)
@click.option("--labels", type=click.Choice(["none", "deprel"]), default="none",
              help="One transition matrix for all edges, or one a dependency label.")  # fmt: skip
@click.option("--label-min-count", type=options.count, default=100, help="Rarer labels share one matrix.")
@click.option("--smoothing", type=options.up_to(1), default=1e-3,
              help="Least emission of a word in a class, relative to its largest; online EM only.")  # fmt: skip
@click.option("--back-off", type=options.up_to(1000), default=1e-3,
              help="Weight of a label's overall classes in each column of transitions; online EM only.")  # fmt: skip
@click.option(
    "--resplit", is_flag=True, help="Give classes that have died half of the heaviest, after each epoch."
)
@options.path_option("--heldout", help="Exact log-likelihood of this file after each epoch.")
@click.option("--vectors-out", type=click.Path(), metavar="VEC",
              help="Write word vectors: each word's distribution over the classes.")  # fmt: skip
@click.option("--no-shuffle", "shuffle", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Keep the order of the sentences.")  # fmt: skip
@options.training_options
@options.policy_options
@options.seed_option
@options.threads_option
@options.json_option
@click.pass_context
def command(context: click.Context, input: tuple[str, ...], output: str, **given: Any) -> None:
    """Learn classes of words, and words as distributions over them, from dependency trees.

    INPUT is a treebank in CoNLL-X or CoNLL-U, or with --structure chain also plain text, one sentence a line; several files are
    read one after the other, once. The model is for `decode`, `classes`, `evaluate likelihood` and --init.
    Method: Grave, thesis 2014, chapter 2; Grave, Obozinski and Bach, CoNLL 2013.
    """
    from wordkit.models.hmtm_training import Run
    from wordkit.tally import Tally

    options.not_standard_output(output, "a model")
    for name in ("vectors_out", "checkpoint", "log"):
        options.not_standard_output(given[name], f"--{name.replace('_', '-')}")
    init = given["init"] if given["init"] not in ("random", "brown") else None
    options.one_standard_input(*input, given["heldout"], given["clusters"], init, given["resume"])
    outputs = (output, given["vectors_out"], given["checkpoint"], given["log"])
    options.check_outputs(*outputs, inputs=[*input, given["heldout"], given["clusters"]])
    # A model that is gone on with may be replaced by what becomes of it, and by nothing else.
    options.check_outputs(given["vectors_out"], given["log"], inputs=[init, given["resume"]])
    explicit = options.given_by_user(context) & set(given)
    _check_meaning(given, explicit)
    started = time.monotonic()
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = Run(given, explicit, tally)
    for note in run.read(input):
        message(note)
    report_tally(tally)
    monitor = ProgressMonitor(
        "train-hmtm", log=given["log"], append=bool(given["resume"]), tell=bool(given["heldout"])
    )
    if given["checkpoint"]:
        monitor.on_epoch = lambda: run.tree_model.save(given["checkpoint"])
    with resumable(monitor, given["checkpoint"], lambda: run.tree_model.save if run.begun else None):
        run.fit(monitor)
    run.tree_model.save(output)
    if given["vectors_out"]:
        run.write_vectors(given["vectors_out"])
    result = run.result()
    if dead := result.metrics.get("dead_states"):
        message(
            f"warning: {dead} of {result.metrics['states']} states emit next to nothing; --resplit gives them new words"
        )
    if run.model.statistics_.classes < run.model.states:
        message(
            f"warning: {run.model.statistics_.classes} of {run.model.states} states were reached: too few batches to split "
            "in; --split-every, --epochs and --batch-size tell how many"
        )
    print_results(
        "train-hmtm",
        run.tree_model.header["signature"],
        time.monotonic() - started,
        [result],
        as_json=given["as_json"],
    )


# What an option means nothing to: (option, value) and the options that it switches off.
_MEANINGLESS = {
    ("projection", "exact"): ("k", "epsilon"),
    ("projection", "kbest"): ("epsilon",),
    ("projection", "ebest"): ("k",),
    ("method", "batch"): ("offset", "gamma", "smoothing", "back_off", "shuffle"),
    ("method", "online"): ("tol",),
    ("labels", "none"): ("label_min_count",),
}


def _check_meaning(given: dict[str, Any], explicit: set[str]) -> None:
    """Refuse what contradicts, and say which options have no effect."""
    if given["start_states"] and given["start_states"] > given["states"]:
        raise click.UsageError(
            f"--start-states {given['start_states']} is more than --states {given['states']}"
        )
    if given["structure"] == "chain" and given["labels"] != "none":
        raise click.UsageError("--labels deprel needs --structure tree: edges of a chain have no label")
    if given["restarts"] > 1 and (given["checkpoint"] or given["resume"]):
        raise click.UsageError("--restarts does not go with --checkpoint and --resume")
    if given["restarts"] > 1 and given["init"] not in ("random", "brown"):
        raise click.UsageError("--restarts does not go with --init MODEL")
    if given["clusters"] and "init" in explicit:
        raise click.UsageError("--clusters does not go with --init")
    if given["split_every"] and not given["start_states"]:
        message("warning: --split-every means nothing without --start-states")
    options.warn_meaningless(_MEANINGLESS, given, explicit)
