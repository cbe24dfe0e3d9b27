"""``wordkit plot``: a group with one module a kind of figure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from wordkit.cli import LazyGroup

PLOTS = {
    "Figures": {
        "acceptability": (
            "acceptability",
            "Scores of acceptable and deviant pairs, of evaluate composition.",
        ),
        "bless": ("bless", "Scores by relation, precision and recall, of evaluate bless."),
        "context": ("context", "A word in its sentences, among words out of context."),
        "dendrogram": ("dendrogram", "The tree of clusters of evaluate categorization."),
        "forest": ("forest", "Codes of words on a tree of their forest, or as a heat map."),
        "curves": ("curves", "Learning curves: a metric against epochs or seconds."),
        "path": ("path", "Coefficients of a regression against lambda."),
        "transitions": ("transitions", "Transitions between the classes of tree models."),
        "words": ("words", "Words on a plane, by their vectors: t-SNE, scaling, principal components."),
    }
}


@click.group(
    "plot",
    cls=LazyGroup,
    package="wordkit.cli.plot",
    commands_in=PLOTS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="\b\nExample:\n  wordkit plot path path.tsv -o path.png",
)
def command() -> None:
    """Draw figures from results, as png, svg or pdf by the suffix of --output. Needs matplotlib (pip install matplotlib)."""


def tell_missing_glyphs(characters: str) -> None:
    """Say which characters of a figure are drawn as boxes."""
    from wordkit.cli.report import message

    if characters:
        more = " ..." if len(characters) > 10 else ""
        message(
            f"warning: the font has no glyph for {len(characters)} characters, drawn as boxes: {characters[:10]}{more}"
        )


def named_results(paths: Sequence[str], command: str) -> list[tuple[str, dict[str, Any]]]:
    """(name, result) of all data sets in files of an evaluation: the file's name, and the data's where there are several."""
    from wordkit.formats.result_file import read_results

    found = []
    for path in paths:
        results = read_results(path, command)
        for result in results:
            names = ["" if path == "-" and len(paths) == 1 else os.path.basename(path).removesuffix(".json")]
            names += [os.path.basename(result["data"])] if len(results) > 1 or not names[0] else []
            found.append((": ".join(filter(None, names)), result))
    return found
