"""``wordkit plot``: a group with one module a kind of figure."""

from __future__ import annotations

import click

from wordkit.cli import LazyGroup

PLOTS = {
    "Figures": {
        "forest": ("forest", "Codes of words on a tree of their forest, or as a heat map."),
        "curves": ("curves", "Learning curves: a metric against epochs or seconds."),
        "path": ("path", "Coefficients of a regression against lambda."),
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
    """Draw figures from results, as png, svg or pdf by the suffix of --output. Needs matplotlib: pip install 'wordkit[plot]'."""
