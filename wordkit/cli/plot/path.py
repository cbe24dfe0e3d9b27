"""``wordkit plot path``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command("path", example="wordkit plot path path.tsv -o path.png")
@options.input_argument("path")
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--title", default="", show_default=False, help="A line above the figure.")
def command(path: str, output: str, title: str) -> None:
    """Draw the coefficients that `trace-lasso --path` wrote, one curve a column, against lambda.

    PATH is its TSV. The curves that end farthest from zero bear their column's name.
    """
    from wordkit.cli.plot import tell_missing_glyphs
    from wordkit.errors import told_of
    from wordkit.formats.opening import names_of
    from wordkit.formats.regression_files import read_path
    from wordkit.plotting.figure import check_figure
    from wordkit.plotting.regression_path import path_figure

    options.not_standard_output(output, "a figure")
    options.check_outputs(output, inputs=[path])
    check_figure(output)
    table = read_path(path)
    with told_of(names_of([path])):
        missing = path_figure(table, output, title=title)
    tell_missing_glyphs(missing)
