"""``wordkit evaluate``: a group with one module an evaluation."""

from __future__ import annotations

import click

from wordkit.cli import LazyGroup

EVALUATIONS = {
    "Evaluations": {
        "analogy": ("analogy", "Accuracy of word vectors on analogies: a is to b as c is to what?"),
        "bless": ("bless", "Which relations word vectors favour, and how well they find related words."),
        "categorization": (
            "categorization",
            "Purity and entropy of clusters of words beside people's classes.",
        ),
        "classification": (
            "classification",
            "Accuracy, F1 and confusion of a classifier on labelled documents.",
        ),
        "completion": ("completion", "Accuracy of word vectors on sentences with a gap."),
        "composition": (
            "composition",
            "Phrases composed of word vectors beside people's judgements.",
        ),
        "likelihood": ("likelihood", "Log-likelihood and perplexity of sentences under a tree model."),
        "ner": ("ner", "Named entities found with word representations: precision, recall, F1."),
        "sentences": (
            "sentences",
            "Accuracy of logistic regression on sentences as averages of their words' vectors.",
        ),
        "similarity": ("similarity", "Correlation of word vectors with people's scores of word pairs."),
        "supersense": (
            "supersense",
            "Accuracy of supersenses of nouns and verbs, found with word representations.",
        ),
    }
}


@click.group(
    "evaluate",
    cls=LazyGroup,
    package="wordkit.cli.evaluate",
    commands_in=EVALUATIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="\b\nExample:\n  wordkit evaluate classification questions.model data_samples/questions.test.txt",
)
def command() -> None:
    """Score vectors and models on labelled data.

    Every evaluation prints name<TAB>value lines, or one JSON object with --json, and says how many items it could score
    (covered) of how many there are (total).
    """
