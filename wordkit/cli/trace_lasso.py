"""``wordkit trace-lasso``: from a matrix and a target to selected variables, a path or a cross-validated fit."""

from __future__ import annotations

import time
import warnings
from typing import Any

import click

from wordkit.cli import options
from wordkit.cli.report import ProgressMonitor, graceful_stop, message, print_results, report_tally
from wordkit.errors import Interrupted

# What an option means nothing to: (option, value) and the options that it switches off.
_MEANINGLESS = {
    ("penalty", "lasso"): ("solver", "penalty_matrix", "group_weights", "l1_ratio"),
    ("penalty", "ridge"): ("solver", "penalty_matrix", "group_weights", "l1_ratio", "max_iter"),
    ("penalty", "elastic-net"): ("solver", "penalty_matrix", "group_weights"),
    ("penalty", "pairwise-elastic-net"): ("solver", "penalty_matrix", "group_weights", "l1_ratio"),
    ("penalty", "trace"): ("group_weights", "l1_ratio"),
    ("loss", "logistic"): ("solver",),
}


@options.command(
    "trace-lasso",
    example="wordkit trace-lasso data_samples/regression.csv data_samples/regression.y.txt -o path.tsv --path 40",
)
@options.input_argument("x")
@options.input_argument("y", required=False)
@options.output_option("Where the coefficients go, or with --path the path.")
@click.option(
    "--target",
    metavar="NAME",
    help="The column of X that is the target (a number where columns have no names); no Y then.",
)
@click.option("--penalty", type=click.Choice(["trace", "lasso", "ridge", "elastic-net", "pairwise-elastic-net", "group"]),
              default="trace", help="What keeps the coefficients small.")  # fmt: skip
@click.option("--solver", type=click.Choice(["irls", "admm", "subgradient", "irls-plain"]), default="irls",
              help="For trace and group: irls follows the central path; irls-plain is the thesis's.")  # fmt: skip
@click.option("--lam", type=options.not_negative, show_default="a tenth of the least that gives zero",
              help="Weight of the penalty beside 1/(2n)||y - Xw||^2.")  # fmt: skip
@click.option(
    "--path",
    "path",
    type=click.IntRange(2, 100_000),
    metavar="N",
    help="Solve at N lambdas, from the least that gives zero.",
)
@click.option("--path-ratio", type=options.between(1e-30, 1, max_open=True),
              help="The last lambda of a path, as a share of the first: 0.01, less for penalties with squares.")  # fmt: skip
@click.option("--cv", type=click.IntRange(2), metavar="K", help="Choose lambda by K-fold cross-validation.")
@click.option("--cv-rule", type=click.Choice(["min", "1se"]), default="min",
              help="The lambda with the least error, or the greatest within a standard error of it.")  # fmt: skip
@click.option(
    "--l1-ratio",
    type=options.between(1e-30, 1),
    default=0.5,
    help="Share of l1 in the elastic net.",
)
@options.path_option("--groups", help="For --penalty group: one group name a column of X, in order.")
@click.option("--group-weights", type=click.Choice(["none", "sqrt"]), default="none",
              help="Weigh groups alike, or by the square root of their size.")  # fmt: skip
@options.path_option(
    "--penalty-matrix", metavar="P.npy", help="P of the penalty ||P Diag(w)||_*, in place of X."
)
@click.option("--loss", type=click.Choice(["squared", "logistic"]), default="squared",
              help="Logistic: the target has two values (trace and group, by ADMM).")  # fmt: skip
@click.option("--model-out", type=click.Path(), metavar="MODEL", help="Write a model for predict.")
@click.option("--tol", type=options.positive, show_default="1e-6, and 1e-4 with --path",
              help="Duality gap to reach, as a share of the objective at 0.")  # fmt: skip
@click.option("--max-iter", type=options.count, show_default="the solver's own", help="Most iterations.")
@click.option("--no-normalize", "normalize", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Leave the columns' lengths as they are.")  # fmt: skip
@click.option("--no-intercept", "fit_intercept", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Fit no intercept, and do not centre.")  # fmt: skip
@options.policy_options
@options.seed_option
@options.threads_option
@options.json_option
@click.pass_context
def command(context: click.Context, x: str, y: str | None, output: str, **given: Any) -> None:
    """Regression that selects variables, also where they are strongly correlated: the trace Lasso.

    X is .npy, .npz (SciPy's sparse form), csv, tsv or numbers between spaces, with or without a line of names, or vectors in
    word2vec's form; Y has a number a line. Without Y and --target X is svmlight, whose labels are the target. The coefficients
    are written as name, value, selected (1 or 0), on the scale of the data, the intercept last. gap is certified: the objective
    is at most that far above its minimum. lam_max is the least lambda known to make all coefficients zero, n/a where none does;
    rank is that of the selected columns. Method: Grave, Obozinski and Bach, NIPS 2011.
    """
    from wordkit.models.regression_run import Run
    from wordkit.tally import Tally

    _check(context, x, y, output, given)
    started = time.monotonic()
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = Run(given, tally)
    for note in run.read(x, y):
        message(note)
    report_tally(tally)
    monitor = ProgressMonitor("trace-lasso")
    try:
        with graceful_stop(monitor), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a solver says, the gap says better
            run.fit(monitor)
    except Interrupted as error:
        raise Interrupted(f"{error}; nothing was written") from None
    finally:
        monitor.close()
    for note in run.notes():
        message(note)
    run.write(output, given["model_out"])
    if output == "-":
        message(run.summary())
        return
    results = [run.result()]
    print_results("trace-lasso", run.signature, time.monotonic() - started, results, as_json=given["as_json"])


def _check(context: click.Context, x: str, y: str | None, output: str, given: dict[str, Any]) -> None:
    """Options that contradict one another, or have no effect."""
    from wordkit.formats.regression_data import LARGEST, SMALLEST

    if output == "-" and given["as_json"]:
        raise click.UsageError("--json and -o - both want standard output")
    if y is not None and given["target"] is not None:
        raise click.UsageError(f"--target says that X holds the target, and {y} is given as Y")
    if sum(given[name] is not None for name in ("lam", "path", "cv")) > 1:
        raise click.UsageError("only one of --lam, --path and --cv can choose lambda")
    if (given["penalty"] == "group") != (given["groups"] is not None):
        raise click.UsageError("--penalty group needs --groups FILE, and only it does")
    if given["penalty_matrix"] and given["penalty"] != "trace":
        raise click.UsageError("--penalty-matrix goes with --penalty trace only")
    if given["lam"] and not SMALLEST <= given["lam"] <= LARGEST:
        raise click.UsageError(
            f"--lam {given['lam']:g}: expected 0, or a number from {SMALLEST:g} to {LARGEST:g}"
        )
    if given["loss"] == "logistic" and given["penalty"] not in ("trace", "group"):
        raise click.UsageError("--loss logistic goes with --penalty trace or group only")
    if given["penalty"] == "pairwise-elastic-net" and not given["normalize"]:
        raise click.UsageError(
            "--penalty pairwise-elastic-net is made of correlations: it needs normalized columns"
        )
    if given["path"] and given["model_out"]:
        raise click.UsageError("--model-out needs one lambda: use --lam or --cv")
    options.not_standard_output(given["model_out"], "a model")
    inputs = [x, y, given["groups"], given["penalty_matrix"]]
    options.one_standard_input(*inputs)
    options.check_outputs(output, given["model_out"], inputs=inputs)
    explicit = options.given_by_user(context) & set(given)
    if not given["cv"]:
        for name in sorted(explicit & {"cv_rule", "seed"}):
            message(f"warning: --{name.replace('_', '-')} means nothing without --cv")
        if not given["path"] and "path_ratio" in explicit:
            message("warning: --path-ratio means nothing without --path or --cv")
    options.warn_meaningless(_MEANINGLESS, given, explicit)
