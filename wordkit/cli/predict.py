"""``wordkit predict``: labels for documents, numbers for rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from wordkit.cli import options
from wordkit.cli.report import message, report_tally
from wordkit.errors import times


@options.command(
    "predict", example="wordkit predict questions.model data_samples/questions.test.txt --scores"
)
@options.input_argument("model")
@options.input_argument("input")
@options.output_option("Where the labels go.", default="-")
@click.option("--scores", is_flag=True, help="A label's margin after it, separated by a tab.")
@click.option("--probabilities", is_flag=True,
              help="A label's probability after it, and what --threshold is of; models of dcme have them.")  # fmt: skip
@click.option("--top", type=options.count, default=1, help="This many labels a line, best first.")
@click.option(
    "--threshold",
    type=options.finite,
    metavar="F",
    help="Only labels with a margin of at least F; a line may be empty.",
)
@options.policy_options
@options.threads_option
@click.pass_context
def command(
    context: click.Context, model: str, input: str, output: str, scores: bool, probabilities: bool, top: int,
    threshold: float | None, skip_invalid: bool, strict: bool, threads: int,
) -> None:  # fmt: skip
    """Label documents with a trained classifier, or predict numbers with a regression: one line for each row of INPUT.

    MODEL comes from train-rpa or dcme; INPUT is text, one document a line (labels in it are ignored), or svmlight records
    where the model was trained on them. Labels are written as the training data had them, fields separated by tabs. Margins
    of train-rpa are not probabilities: above 0 speaks for a label; scores of dcme are log-probabilities but for a constant
    a line. A document without any known word gets the most frequent label, with a margin of 0. For a MODEL of trace-lasso,
    INPUT is a matrix with the columns that it was trained on, in any form that trace-lasso reads, svmlight where the model
    was trained on it; each row gives a number, or with logistic loss a class.
    """
    from wordkit.formats.model_file import read_header
    from wordkit.formats.opening import Input, open_output
    from wordkit.models.text_classifier import TextClassifier
    from wordkit.tally import Tally

    options.one_standard_input(model, input)
    options.check_outputs(output, inputs=[model, input])
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    with Input(model) as source:
        if read_header(source)["kind"] == "regression":
            given = options.given_by_user(context) & {"top", "threshold", "probabilities"}
            for name in sorted(given):
                message(f"warning: --{name} means nothing to a regression model")
            _regression(source, input, output, scores, tally)
            return
        classifier = TextClassifier.load(source)
    if probabilities and (scores or not classifier.has_probabilities):
        raise click.UsageError(
            "--probabilities does not go with --scores"
            if scores
            else f"--probabilities: {model} has margins only, see --scores"
        )
    classifier.classifier.threads = threads
    unknown = total = 0
    with open_output(output) as out:
        for block in classifier.predict_stream(input, tally, probabilities=probabilities):
            out.write(
                "".join(_lines(classifier, block, scores or probabilities, top, threshold)).encode("utf-8")
            )
            out.flush()
            total += len(block[2])
            unknown += int(block[2].sum())
    report_tally(tally)
    message(
        f"{total} documents labelled" + (f", {unknown} of them without any known feature" if unknown else "")
    )


def _regression(model: Any, input: str, output: str, scores: bool, tally: Any) -> None:
    """One number or class a row."""
    from wordkit.formats.opening import open_output
    from wordkit.models.regression_model import RegressionModel

    loaded = RegressionModel.load(model)
    if scores and loaded.estimator.loss == "squared":
        message("warning: --scores means nothing to a model with squared loss")
    total = 0
    with open_output(output) as out:
        for line in loaded.predict_lines(input, tally, scores=scores):
            out.write(f"{line}\n".encode())
            total += 1
    report_tally(tally)
    message(f"{times(total, 'row')} predicted")


def _lines(classifier: Any, block: Any, scores: bool, top: int, threshold: float | None) -> Iterator[str]:
    values, best, _ = block
    names = [classifier.features.label_name(str(name)) for name in classifier.classifier.classes_]
    ranked = (-values).argsort(axis=1, kind="stable")
    for row, order, first in zip(values.tolist(), ranked.tolist(), best.tolist(), strict=True):
        if order[0] != first:  # nothing known of it: the most frequent label leads
            order.remove(first)
            order.insert(0, first)
        fields = []
        for c in order[:top]:
            if threshold is None or row[c] >= threshold:
                fields.append(f"{names[c]}\t{row[c]:.6g}" if scores else names[c])
        yield "\t".join(fields) + "\n"
