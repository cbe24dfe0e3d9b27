"""``wordkit sparse-code``: word vectors with exact zeros, from co-occurrence counts."""

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
    "sparse-code",
    example="wordkit sparse-code data_samples/corpus.txt -o codes.vec --dim 26 --min-count 5 --epochs 2",
)
@options.input_argument("corpus", many=True)
@options.output_option("The vectors: the code of each word, in word2vec format by default.")
@click.option("--dim", type=options.count, default=52, metavar="M", help="Dimensions of the codes.")
@click.option("--regularizer", type=click.Choice(["forest", "l1", "none"]), default="forest",
              help="A dimension only where the one above it is used; any few dimensions; no zeros.")  # fmt: skip
@click.option("--lam", type=options.not_negative, default=0.1,
              help="Weight of the regularizer. At 0.1 some 96 % of the codes are not zero, at 1 40 %, at 2 12 %.")  # fmt: skip
@click.option("--tree-shape", default="3x3", metavar="SHAPE",
              help="Children of a node at each level: 3x3 is trees of 1 + 3 + 9 nodes.")  # fmt: skip
@options.path_option(
    "--forest", help="The forest from a file: a line a node, its parent's number from 0, -1 for roots."
)
@click.option("--nonnegative", is_flag=True, help="Codes do not go below zero.")
@click.option("--algorithm", type=click.Choice(["online", "sgd", "svd"]), default="online",
              help="Batches of words; single cells, for counts of any size; singular vectors (PCA, not centred).")  # fmt: skip
@click.option("--epochs", type=options.count, show_default="5, 20 with sgd", help="Passes over the data.")
@click.option("--batch-size", type=options.count, default=512, help="Words of a step of online.")
@click.option("--tol", type=options.positive, default=1e-3, help="Relative duality gap of a finished code.")
@click.option("--max-iter", type=options.count, default=200, help="Most iterations of a code.")
@click.option("--heldout", type=options.part, default=0.01,
              help="Share of the words (sgd: of the cells) to measure with, not to learn atoms from.")  # fmt: skip
@click.option("--power", type=options.finite, default=0.5, help="Of the singular values in the codes of svd.")
@click.option("--learning-rate", type=options.positive, default=0.03, help="Of sgd.")
@click.option("--tau", type=options.not_negative, default=0.0, help="Weight of the squared atoms in sgd.")
@click.option("--sgd-step", type=click.Choice(["scaled", "printed"]), default="scaled",
              help="Share the penalties out over a word's cells, or apply them whole at each, as printed.")  # fmt: skip
@click.option("--sampling", type=click.Choice(["alias", "uniform"]), default="alias",
              help="Draw cells by their size, or all alike with steps of their size.")  # fmt: skip
@click.option(
    "--zeros",
    type=options.share,
    default=0.9,
    help="Share of the draws of sgd that are any cells, mostly zeros.",
)
@click.option("--weighting", type=click.Choice(["pmi", "ppmi", "count"]), default="pmi",
              help="Pointwise mutual information, its positive part, or the counts.")  # fmt: skip
@click.option("--shift", type=options.not_negative, default=0.0, metavar="K", help="Subtract log K from PMI.")
@click.option(
    "--window", type=click.IntRange(1, 10_000), default=5, help="Words this many places apart stand near."
)
@click.option("--min-count", type=options.count, default=10, help="Rarer words become #rare#.")
@click.option(
    "--max-vocab", type=options.count, metavar="N", help="The N most frequent words; others become #rare#."
)
@click.option("--lowercase", is_flag=True, help="Fold case.")
@click.option(
    "--dictionary-out", type=click.Path(), metavar="FILE", help="Write the atoms: a row a context word."
)
@click.option(
    "--forest-out", type=click.Path(), metavar="FILE", help="Write the forest, as --forest reads it."
)
@click.option("--no-shuffle", "shuffle", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Keep the order of the words.")  # fmt: skip
@options.training_options
@options.policy_options
@options.seed_option
@options.lock_free_threads_option("sgd")
@options.json_option
@click.pass_context
def command(context: click.Context, corpus: tuple[str, ...], output: str, **given: Any) -> None:
    """Learn word vectors as sparse codes, whose zeros follow trees of dimensions.

    CORPUS is text, one sentence or document a line, or a counts file of `cooccur`. A word's row of associations is coded as a
    combination of atoms: |x - D a|^2 + lam Omega(a). Method: Yogatama, Faruqui, Dyer and Smith, ICML 2015.

    Printed: objective (a word) and the relative squared errors as of the last epoch, before all words are coded once more for the
    finished atoms; density, the share of the codes that is not zero; covered, the words whose code is not all zero.
    """
    from wordkit.models.coding_training import MEANINGLESS, Run
    from wordkit.tally import Tally

    outputs = (output, given["dictionary_out"], given["forest_out"], given["checkpoint"], given["log"])
    for name in ("dictionary_out", "forest_out", "checkpoint", "log"):
        options.not_standard_output(given[name], f"--{name.replace('_', '-')}")
    options.one_standard_input(*corpus, given["forest"], given["resume"])
    options.check_outputs(*outputs, inputs=[*corpus, given["forest"]])
    options.check_outputs(
        output, given["dictionary_out"], given["forest_out"], given["log"], inputs=[given["resume"]]
    )
    explicit = options.given_by_user(context) & set(given)
    _check_meaning(given, explicit, output)
    started = time.monotonic()
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = Run(given, explicit, tally)
    options.warn_meaningless(MEANINGLESS, run.settings, explicit)
    monitor = ProgressMonitor("sparse-code", log=given["log"], append=bool(given["resume"]), tell=True)
    with resumable(monitor, given["checkpoint"], lambda: run.save if run.begun else None):
        run.read(corpus, monitor, message)
        report_tally(tally)
        if given["checkpoint"]:
            monitor.on_epoch = lambda: run.save(given["checkpoint"])
        monitor.epochs = run.coder.n_epochs
        run.fit(monitor)
    run.write(output, given["dictionary_out"], given["forest_out"])
    result, signature = run.result(), run.signature()
    if not result.covered:
        message("warning: all codes are zero; a smaller --lam lets them live")
    if output == "-":  # the vectors are the result
        message(f"density {result.metrics['density']:.4g}")
        message(f"signature: {signature}")
    else:
        print_results(
            "sparse-code", signature, time.monotonic() - started, [result], as_json=given["as_json"]
        )


def _check_meaning(given: dict[str, Any], explicit: set[str], output: str) -> None:
    """Refuse what contradicts."""
    from wordkit.models.forests import forest_of_shape

    if output == "-" and given["as_json"]:
        raise click.UsageError("--json and -o - both want standard output")
    if given["forest"] and "tree_shape" in explicit:
        raise click.UsageError("--forest does not go with --tree-shape")
    if given["resume"] and given["algorithm"] == "svd":
        raise click.UsageError("--algorithm svd has no epochs to go on with")
    if (
        given["regularizer"] == "forest"
        and not given["forest"]
        and given["algorithm"] != "svd"
        and not given["resume"]
    ):
        try:
            forest_of_shape(given["tree_shape"], dim=given["dim"])
        except ValueError as error:
            raise click.UsageError(f"--dim, --tree-shape: {error}") from None
