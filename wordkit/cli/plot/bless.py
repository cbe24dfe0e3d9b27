"""``wordkit plot bless``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command(
    "bless",
    example="wordkit plot bless bless.json -o bless.png",
)
@options.input_argument("result", many=True)
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--title", default="", show_default=False, help="A line above the figure.")
def command(result: tuple[str, ...], output: str, title: str) -> None:
    """Draw box plots of the scores of each relation, and precision against recall of related words.

    Each RESULT is what `evaluate bless --json` printed: several models or data sets are drawn side by side.
    """
    from wordkit.cli.plot import named_results, tell_missing_glyphs
    from wordkit.errors import told_of
    from wordkit.plotting.evaluations import bless_figure
    from wordkit.plotting.figure import check_figure

    options.not_standard_output(output, "a figure")
    options.one_standard_input(*result)
    options.check_outputs(output, inputs=result)
    check_figure(output)
    results = named_results(result, "evaluate bless")
    with told_of(", ".join(result)):
        missing = bless_figure(results, output, title=title)
    tell_missing_glyphs(missing)
