"""``wordkit plot dendrogram``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command(
    "dendrogram",
    example="wordkit plot dendrogram tree.json --data data_samples/categories.txt:kind -o tree.png",
)
@options.input_argument("result")
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--data", metavar="NAME", help="Which of several data sets, as RESULT names them.")
@click.option("--title", default="", show_default=False, help="A line above the figure.")
def command(result: str, output: str, data: str | None, title: str) -> None:
    """Draw the tree of clusters in RESULT, which `evaluate categorization --json` printed, words coloured by class."""
    from wordkit.cli.plot import tell_missing_glyphs
    from wordkit.errors import DataError
    from wordkit.formats.result_file import read_results
    from wordkit.plotting.evaluations import dendrogram_figure
    from wordkit.plotting.figure import check_figure

    options.not_standard_output(output, "a figure")
    options.check_outputs(output, inputs=[result])
    check_figure(output)
    found = read_results(result, "evaluate categorization")
    names = [each["data"] for each in found]
    if data is None and len(found) > 1:
        raise click.UsageError(f"{len(found)} data sets; --data says which: {', '.join(names)}")
    if data is not None and data not in names:
        raise DataError(result, None, f"holds no data set `{data}`", f"one of {', '.join(names)}")
    chosen = found[0 if data is None else names.index(data)]
    tell_missing_glyphs(dendrogram_figure(chosen, output, name=result, title=title))
