"""``wordkit tmira``: from n-best lists to a reranker."""

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
    tell_results,
)


class _Modes(click.ParamType):
    """Sizes with an x between them."""

    name = "N1xN2x..."

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        parts = value.lower().split("x")
        if not all(part.isascii() and part.isdecimal() and 0 < int(part[:12]) < 2**31 for part in parts):
            self.fail(f"{value!r} is no shape, expected sizes like 493x494", param, context)
        return tuple(map(int, parts))


@options.command(
    "tmira",
    example="wordkit tmira data_samples/nbest.txt -o small.model --counts data_samples/nbest.counts",
)
@options.input_argument("nbest", many=True)
@options.output_option("The model file.")
@click.option("--algorithm", type=click.Choice(["tmira", "mira", "perceptron"]), default="tmira",
              help="Weights in a tensor of low rank; a weight a feature, with steps of MIRA or of the perceptron.")  # fmt: skip
@click.option(
    "--order", type=click.IntRange(1, 32), default=2, metavar="D", help="Modes of the tensor; 1 is MIRA."
)
@click.option(
    "--rank", type=options.count, default=1, metavar="H", help="Tensors of rank one that are added up."
)
@click.option("--mapping", type=click.Choice(["approximate", "sequential"]), default="approximate",
              help="Features in the tensor: grouped by a surrogate's weights, or in the order of their indices.")  # fmt: skip
@click.option("--modes", type=_Modes(), show_default="as equal as can be", help="Sizes of the modes.")
@click.option("--start", type=click.Choice(["constant", "zero"]), default="constant",
              help="Equal entries, |W| = 1, or zeros in the last mode: W = 0.")  # fmt: skip
@click.option("--plain", type=click.IntRange(0), default=0, metavar="N",
              help="The N features that vary in the most lists get weights of their own beside the tensor.")  # fmt: skip
@click.option("--C", "C", type=options.positive, show_default="0.01, 0.001 with mira", help="Longest step.")
@click.option("--step", type=click.Choice(["exact", "printed"]), default="exact",
              help="The exact solution of a step, or min(C, loss / length^2) as printed.")  # fmt: skip
@click.option("--rival", type=click.Choice(["model", "cost"]), default="model",
              help="Step away from the model's best candidate, or from the best by score + cost.")  # fmt: skip
@click.option("--epochs", type=options.count, default=10, help="Passes over the lists.")
@click.option("--min-feature-count", type=click.IntRange(0), default=1, metavar="N",
              help="Keep features that vary in N lists or more; 0 keeps every index up to the greatest.")  # fmt: skip
@click.option(
    "--standardize", is_flag=True, help="Divide values by the feature's standard deviation within lists."
)
@click.option(
    "--surrogate-epochs", type=options.count, default=1, help="Epochs of the surrogate, a perceptron."
)
@click.option("--average/--no-average", default=None, show_default="only the perceptron",
              help="Decode with averaged weights.")  # fmt: skip
@click.option("--average-of", type=click.Choice(["tensors", "modes"]), default="tensors",
              help="Of tmira: average the tensors after each epoch, or each mode vector (no average of tensors).")  # fmt: skip
@options.path_option("--counts", help="Counts of the lists' candidates: `qid matched gold proposed` a line.")
@options.path_option("--dev", help="Held-out lists: measured after each epoch, the best epoch is kept.")
@options.path_option("--dev-counts", help="Counts of the held-out candidates.")
@click.option("--keep", type=click.Choice(["best", "last"]), default="best", help="Which epoch, with --dev.")
@click.option("--last-out", type=click.Path(), metavar="FILE", help="Write the model of the last epoch too.")
@click.option("--curves", type=click.Path(allow_dash=True), metavar="FILE",
              help="Write all measures of each epoch as TSV: epoch, metric, value, seconds.")  # fmt: skip
@click.option("--no-shuffle", "shuffle", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Keep the order of the lists.")  # fmt: skip
@options.training_options
@options.policy_options
@options.seed_option
@options.threads_option
@options.json_option
@click.pass_context
def command(context: click.Context, nbest: tuple[str, ...], output: str, **given: Any) -> None:
    """Learn to rerank n-best lists.

    NBEST has a candidate a line, `score qid:N index:value ...`: a higher score is better, lines of a sentence (qid) stand
    together, the first candidate with the highest score is to be chosen. Several files are read one after the other, once. The
    model is for `rerank`. With counts measures are f-scores of all chosen candidates together, without them the mean of their
    scores.
    Method: Cao and Khudanpur, ACL 2014.
    """
    from wordkit.formats.curves import write_curves
    from wordkit.models.rerank_training import Run
    from wordkit.tally import Tally

    options.not_standard_output(output, "a model")
    for name in ("last_out", "checkpoint", "log"):
        options.not_standard_output(given[name], f"--{name.replace('_', '-')}")
    read = [*nbest, given["counts"], given["dev"], given["dev_counts"]]
    options.one_standard_input(*read, given["resume"])
    written = (given["last_out"], given["curves"], given["log"])
    options.check_outputs(output, given["checkpoint"], *written, inputs=read)
    options.check_outputs(*written, inputs=[given["resume"]])
    explicit = options.given_by_user(context) & set(given)
    _check_meaning(given, explicit)
    started = time.monotonic()
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = Run(given, explicit, tally)
    for note in run.read(nbest):
        message(note)
    report_tally(tally)
    monitor = ProgressMonitor(
        "tmira", log=given["log"], append=bool(given["resume"]), tell=bool(given["dev"])
    )

    def on_epoch() -> None:
        run.epoch_done()
        if given["checkpoint"]:
            run.save(given["checkpoint"])

    monitor.on_epoch = on_epoch
    with resumable(monitor, given["checkpoint"], lambda: run.save if run.begun else None):
        run.fit(monitor)
    run.write(output, given["last_out"])
    result = run.result()
    if given["curves"]:
        write_curves(given["curves"], run.model.history_, run.seconds)
    if given["curves"] == "-":  # the curves are what standard output has
        tell_results(run.signature(), result)
    else:
        print_results(
            "tmira", run.signature(), time.monotonic() - started, [result], as_json=given["as_json"]
        )


_TENSOR = ("order", "rank", "mapping", "modes", "start", "plain", "surrogate_epochs", "average_of")
# What an option means nothing to: (option, value) and the options that it switches off.
_MEANINGLESS = {
    ("algorithm", "mira"): _TENSOR,
    ("algorithm", "perceptron"): (*_TENSOR, "C", "step", "rival"),
    ("mapping", "sequential"): ("surrogate_epochs",),
}


def _check_meaning(given: dict[str, Any], explicit: set[str]) -> None:
    """Refuse what contradicts, and say which options have no effect."""
    if given["dev_counts"] and not given["dev"]:
        raise click.UsageError("--dev-counts needs --dev")
    if given["modes"] and len(given["modes"]) != given["order"]:
        if "order" in explicit:
            raise click.UsageError(
                f"--modes has {len(given['modes'])} sizes, and --order is {given['order']}"
            )
        given["order"] = len(given["modes"])
    if given["curves"] == "-" and given["as_json"]:
        raise click.UsageError("--json and --curves - both want standard output")
    if "keep" in explicit and not given["dev"]:
        message("warning: --keep means nothing without --dev")
    if (
        "average_of" in explicit
        and given["algorithm"] == "tmira"
        and not (given["average"] or given["resume"])
    ):
        message("warning: --average-of means nothing without --average")
    options.warn_meaningless(_MEANINGLESS, given, explicit)
