"""``wordkit plot acceptability``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command(
    "acceptability",
    example="wordkit plot acceptability pairs.json -o pairs.png",
)
@options.input_argument("result", many=True)
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--title", default="", show_default=False, help="A line above the figure.")
def command(result: tuple[str, ...], output: str, title: str) -> None:
    """Draw how the scores of acceptable and of deviant pairs are distributed, a dashed line at each median.

    Each RESULT is what `evaluate composition --json` printed of such pairs: several are drawn side by side.
    """
    from wordkit.cli.plot import named_results, tell_missing_glyphs
    from wordkit.errors import told_of
    from wordkit.plotting.evaluations import acceptability_figure
    from wordkit.plotting.figure import check_figure

    options.not_standard_output(output, "a figure")
    options.one_standard_input(*result)
    options.check_outputs(output, inputs=result)
    check_figure(output)
    results = named_results(result, "evaluate composition")
    with told_of(", ".join(result)):
        missing = acceptability_figure(results, output, title=title)
    tell_missing_glyphs(missing)
