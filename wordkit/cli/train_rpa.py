"""``wordkit train-rpa``: from labelled documents to a classifier and its word vectors."""

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


def _grid(
    context: click.Context, option: click.Parameter, text: str | None
) -> dict[str, tuple[Any, ...]] | None:
    """``C=0.1,1:lam=0.01:epochs=5,10`` as values by name."""
    if text is None:
        return None
    types: dict[str, click.ParamType] = {
        "C": options.positive,
        "lam": options.positive,
        "epochs": options.count,
    }
    grid: dict[str, tuple[Any, ...]] = {}
    for part in text.split(":"):
        name, equals, values = part.partition("=")
        if name not in types or not equals or name in grid:
            raise click.BadParameter(
                f"{part!r} is not NAME=VALUE,... with a NAME of {', '.join(types)}, each once"
            )
        grid[name] = tuple(types[name].convert(value, option, context) for value in values.split(","))
    return grid


@options.command(
    "train-rpa", example="wordkit train-rpa data_samples/questions.train.txt -o questions.model --dim 50"
)
@options.input_argument("train", many=True)
@options.output_option("The model file.")
@options.path_option("--vectors", metavar="VEC",
              help="Initial word vectors; words it lacks start at zero.")  # fmt: skip
@click.option(
    "--dim", type=options.count, default=100, help="Length of random initial vectors, uniform(-1, 1)."
)
@click.option("--algorithm", type=click.Choice(["rpa", "pa", "pa-onehot"]), default="rpa",
              help="Learn the vectors (rpa), keep them (pa), or use none (pa-onehot).")  # fmt: skip
@click.option("--update", type=click.Choice(["coordinate", "embedding-first", "printed", "joint"]), default="coordinate",
              help="Solve each block exactly, weights or embedding first, step as Algorithm 1 is printed, or take the "
                   "joint optimum.")  # fmt: skip
@click.option("--C", "C", type=options.positive, show_default="0.01 for rpa, 1 for pa and pa-onehot",
              help="Aggressiveness of a step.")  # fmt: skip
@click.option("--lam", type=options.positive, default=0.001, help="Cost of moving the vectors.")
@click.option("--epochs", type=options.count, default=10, help="Passes over the training data.")
@click.option("--inner-iterations", type=options.count, default=50, help="Most alternations an example.")
@click.option("--class-weight", type=click.Choice(["balanced", "none"]), default="balanced",
              help="C in proportion to the inverse frequency of a class, or the same for all.")  # fmt: skip
@click.option("--embedding", type=click.Choice(["per-class", "shared"]), default="per-class",
              help="One embedding matrix a class, or one for all.")  # fmt: skip
@click.option("--normalize", type=click.Choice(["document", "input", "none"]), default="document",
              help="Unit length of the embedded document, of the bag of words, or neither.")  # fmt: skip
@click.option("--concat-onehot", is_flag=True, help="One-hot weights beside the re-embedded ones.")
@click.option(
    "--average", is_flag=True, help="Classify with the mean of the weights over all steps (twice the memory)."
)
@click.option(
    "--min-count", type=options.count, default=2, help="Leave out words and n-grams that are rarer."
)
@click.option("--lowercase", is_flag=True, help="Fold case.")
@click.option("--dev", metavar="FILE", type=click.Path(allow_dash=True),
              help="Held-out documents: accuracy after each epoch, and without --cv what --grid is judged on.")  # fmt: skip
@click.option(
    "--cv", type=click.IntRange(2), metavar="K", help="Choose from the grid by K-fold cross-validation."
)
@click.option("--grid", callback=_grid, metavar="C=..,..:lam=..:epochs=..",
              help="Values to choose from; with --cv alone the paper's grid.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(["text", "svmlight"]), default="text",
              help="Labelled text or svmlight.")  # fmt: skip
@options.labelled_options
@click.option("--vectors-out", type=click.Path(), metavar="VEC",
              help="Write the re-embedded word vectors; per-class matrices side by side.")  # fmt: skip
@click.option(
    "--init",
    type=click.Path(),
    metavar="MODEL",
    help="Continue a model on this data; new words are appended.",
)
@click.option("--no-shuffle", "shuffle", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Keep the order of the documents.")  # fmt: skip
@options.training_options
@options.policy_options
@options.seed_option
@options.threads_option
@options.json_option
@click.pass_context
def command(context: click.Context, train: tuple[str, ...], output: str, **given: Any) -> None:
    """Train a text classifier that learns its word vectors: Re-embedding Passive-Aggressive.

    TRAIN holds one document a line, `__label__NAME token token ...`, tokens separated by spaces; several files are read one
    after the other. The model is for `predict`, `evaluate classification` and --init. Method: Denis and Ralaivola,
    EACL 2017.
    """
    from wordkit.models.rpa_training import Run, grid_note
    from wordkit.tally import Tally

    options.not_standard_output(output, "a model")
    for name in ("vectors_out", "checkpoint", "log"):
        options.not_standard_output(given[name], f"--{name.replace('_', '-')}")
    options.one_standard_input(*train, given["dev"], given["vectors"], given["init"], given["resume"])
    outputs = (output, given["vectors_out"], given["checkpoint"], given["log"])
    options.check_outputs(*outputs, inputs=[*train, given["dev"], given["vectors"]])
    # A model that is gone on with may be replaced by what becomes of it, and by nothing else.
    options.check_outputs(given["vectors_out"], given["log"], inputs=[given["init"], given["resume"]])
    if given["grid"] and not (given["cv"] or given["dev"]):
        raise click.UsageError("--grid needs --cv K or --dev FILE to judge by")
    if given["init"] and given["vectors"]:
        raise click.UsageError("--init does not go with --vectors")
    explicit = options.given_by_user(context) & set(given)
    _check_meaning(given, explicit)
    started = time.monotonic()
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = Run(given, explicit, tally)
    for note in run.read(train):
        message(note)
    report_tally(tally)
    monitor = ProgressMonitor(
        "train-rpa",
        log=given["log"],
        append=bool(given["resume"]),  # a resumed run has the epochs before it in its log
        decorate=run.held_out_metrics,
    )
    with resumable(monitor, given["checkpoint"], lambda: run.model.save if run.begun else None):
        if points := run.choose(monitor):
            monitor.close()
            message(grid_note(points))
        if given["checkpoint"]:
            monitor.on_epoch = lambda: run.model.save(given["checkpoint"])
        run.fit(monitor)
    run.model.save(output)
    if given["vectors_out"]:
        for note in run.write_vectors(given["vectors_out"]):
            message(note)
    print_results(
        "train-rpa",
        run.model.header["signature"],
        time.monotonic() - started,
        [run.result()],
        as_json=given["as_json"],
    )


# What an option means nothing to: (option, value) and the options that it switches off.
_MEANINGLESS = {
    ("format", "svmlight"): ("min_count", "ngrams", "lowercase", "label_prefix", "multi_label"),
    ("algorithm", "pa"): ("update", "lam", "inner_iterations", "embedding"),
    ("algorithm", "pa-onehot"): (
        "update",
        "lam",
        "inner_iterations",
        "embedding",
        "dim",
        "vectors",
        "concat_onehot",
    ),
}


def _check_meaning(given: dict[str, Any], explicit: set[str]) -> None:
    """Say which options have no effect."""
    for name in sorted(explicit & set(given["grid"] or {})):
        message(f"warning: --grid decides, not --{name}")
    options.warn_meaningless(_MEANINGLESS, given, explicit)
