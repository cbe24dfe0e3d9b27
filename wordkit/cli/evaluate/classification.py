"""``wordkit evaluate classification``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import message, print_results, report_tally


@options.command(
    "classification",
    example="wordkit evaluate classification questions.model data_samples/questions.test.txt --json",
)
@options.input_argument("model")
@options.input_argument("data", many=True)
@click.option(
    "--details",
    is_flag=True,
    help="Per-class scores and the confusion table as well (--json always has them).",
)
@options.interval_options
@options.policy_options
@options.threads_option
@options.json_option
def command(
    model: str,
    data: tuple[str, ...],
    details: bool,
    summary: bool,
    intervals: bool,
    seed: int,
    skip_invalid: bool,
    strict: bool,
    threads: int,
    as_json: bool,
) -> None:
    """Accuracy, macro and micro F1, per-class scores and confusion of MODEL on labelled documents.

    MODEL comes from train-rpa or dcme; each DATA file is in the format that it was trained on, and is scored by itself. A label
    that the model has not seen counts as an error and is named. covered: documents with a known word.
    """
    import numpy as np

    from wordkit.evaluation.classification import classification_result
    from wordkit.evaluation.uncertainty import compared
    from wordkit.models.text_classifier import TextClassifier
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.one_standard_input(model, *data)
    started = time.monotonic()
    loaded = TextClassifier.load(model)
    classifier = loaded.classifier
    classifier.threads = threads
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    results, inputs = [], []
    for path in data:
        read = loaded.features.read([path], tally)
        inputs += read.inputs
        for note in read.notes:
            message(f"{path}: {note}")
        known = int(np.count_nonzero(np.diff(read.rows.indptr)))
        results.append(
            classification_result(
                read.labels,
                classifier.predict(read.rows),
                data=path,
                covered=known,
                known=classifier.classes_,
            )
        )
        if unseen := results[-1].details["unseen_labels"]:
            message(f"{path}: labels that the model has not seen: {', '.join(unseen)}")
    results = compared(results, None, None, intervals, seed)
    report_tally(tally)
    parameters = {
        "model": loaded.header.get("signature", "").replace("|", ","),
        "seed": seed if intervals else None,
    }
    run = signature("evaluate-classification", parameters, inputs)
    print_results(
        "evaluate classification", run, time.monotonic() - started, results, as_json=as_json, details=details,
        summary=summary,
    )  # fmt: skip
