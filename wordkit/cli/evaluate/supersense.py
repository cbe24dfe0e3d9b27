"""``wordkit evaluate supersense``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import print_evaluation, with_comparisons
from wordkit.cli.evaluate.token_inputs import Representation, representation_options, token_comparison_options
from wordkit.cli.report import message, refuse_unknown, report_tally
from wordkit.evaluation.result import Result


@options.command(
    "supersense",
    example="wordkit evaluate supersense data_samples/supersenses.conllulex --vectors data_samples/vectors.txt",
)
@options.input_argument("train")
@options.input_argument("test", many=True, required=False)
@representation_options
@click.option("--kernel", type=click.Choice(["auto", "hellinger", "linear"]), default="auto",
              help="Square roots of probabilities, or values as they are; auto: linear for negative values.")  # fmt: skip
@click.option("--C", "C", type=options.positive, default=1.0, help="Inverse of the classifier's l2 penalty.")
@click.option("--cv", type=click.IntRange(2, 1000), default=5, metavar="K", help="Folds, without TEST.")
@click.option("--format", "format", type=click.Choice(["auto", "conllulex", "columns"]), default="auto",
              help="STREUSLE's 19 columns, or a word and a tag such as B-n.PERSON; auto goes by the first line.")  # fmt: skip
@click.option(
    "--details",
    is_flag=True,
    help="Scores of each supersense and the confusion table too (--json always has them).",
)
@token_comparison_options
@options.policy_options
@options.json_option
def command(
    train: str, test: tuple[str, ...], clusters: str | None, vectors: str | None, decoded: tuple[str, ...],
    prefixes: tuple[int, ...], unlexicalized: bool, unknown: str, ignore_case: bool, restrict_vocab: int | None,
    mmap: bool, kernel: str,
    C: float, cv: int, format: str, details: bool, summary: bool, intervals: bool, against: str | None, seed: int,
    skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Accuracy of supersenses of nouns and verbs, found by a linear classifier with word representations as features.

    TRAIN and each TEST have sentences with supersenses (n.PERSON, v.motion); without TEST, TRAIN is cross-validated,
    whole sentences in a fold. The classifier is scikit-learn's linear SVM (the extra eval) on square roots of
    probabilities, the Hellinger kernel. precision, recall and f1 are unweighted means over the supersenses;
    baseline_accuracy: each word's most frequent one. covered: words that the representation knows; without one, those
    of the training data.
    """
    import numpy as np

    from wordkit.evaluation.supersense import (
        cross_validate,
        kernel_of,
        linear_svm,
        sense_items,
        supersense_result,
        train_and_predict,
    )
    from wordkit.formats.opening import Input
    from wordkit.formats.supersenses import read_supersenses
    from wordkit.tally import Tally

    data = (train, *test)
    representation = Representation(
        clusters, vectors, decoded, prefixes, unknown, ignore_case, restrict_vocab, mmap
    )
    representation.check(data, against)
    if unlexicalized and not (clusters or vectors or decoded):
        raise click.UsageError(
            "--unlexicalized needs --vectors, --clusters or --decoded: nothing is left to learn from"
        )
    linear_svm()
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    read, inputs = [], []
    for path in data:
        with Input(path, digest=True) as source:
            read.append(read_supersenses(source, format=format, tally=tally))
            inputs.append(source.record())
    for each in read:
        labels = [label for own in each.labels for label in own if label]
        words, senses = len(labels), len(set(labels))
        message(f"{each.name}: {len(each.words)} sentences, {words} words with one of {senses} supersenses")

    def evaluate(representation: Representation) -> list[Result]:
        features, records = representation.read([(each.name, each.words) for each in read], tally)
        inputs.extend(records)
        own_kernel = kernel_of(features[0], kernel)
        sets = [sense_items(each, own, own_kernel) for each, own in zip(read, features, strict=True)]
        parameters = {
            **representation.parameters(unlexicalized), "kernel": own_kernel, "C": C,
            "cv": None if test else cv, "seed": seed if intervals or against or not test else None,
        }  # fmt: skip
        if test:
            predicted = [
                train_and_predict(sets[0], items, C=C, lexicalized=not unlexicalized) for items in sets[1:]
            ]
        else:
            predicted = [cross_validate(sets[0], cv, seed, C=C, lexicalized=not unlexicalized)]
        return [
            supersense_result(items, own, known_labels=np.unique(sets[0].labels), parameters=parameters)
            for items, own in zip(sets[1:] or sets, predicted, strict=True)
        ]

    results = with_comparisons(representation, representation.instead(against), evaluate, intervals, seed)
    for result in results:
        message(f"{result.data}: {result.covered} of {result.total} words known")
        if not result.details["converged"]:
            message("warning: the training did not converge")
        if unseen := result.details["unseen_labels"]:
            message(f"{result.data}: supersenses that the training data lack: {', '.join(unseen)}")
        if strict:
            refuse_unknown(result.data, result.total - result.covered, result.total, "words are")
    report_tally(tally)
    parameters = dict(results[0].parameters)
    print_evaluation("supersense", parameters, inputs, started, results, as_json, details, summary)
