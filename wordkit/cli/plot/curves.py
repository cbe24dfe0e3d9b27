"""``wordkit plot curves``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command(
    "curves", example="wordkit plot curves curves.tsv -o curves.png --metric heldout_log_likelihood"
)
@options.input_argument("curves", many=True)
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--metric", default="heldout_log_likelihood", help="Which of the metrics in the files to draw.")
@click.option(
    "--against", type=click.Choice(["epoch", "seconds"]), default="epoch", help="What goes to the right."
)
def command(curves: tuple[str, ...], output: str, metric: str, against: str) -> None:
    """Draw learning curves that `dcme --curves` and the experiments wrote.

    CURVES are TSV files with the columns epoch, metric, value and seconds; what other columns say tells curves of a file
    apart, and with several files their names do.
    """
    from pathlib import Path

    from wordkit.errors import told_of
    from wordkit.plotting.curves import CurvePoint, curves_figure, read_curves
    from wordkit.plotting.figure import check_figure

    options.not_standard_output(output, "a figure")
    options.one_standard_input(*curves)
    options.check_outputs(output, inputs=list(curves))
    check_figure(output)
    drawn: dict[str, list[CurvePoint]] = {}
    for path in curves:
        for name, points in read_curves(path).items():
            label = f"{Path(path).stem} {name}".strip() if len(curves) > 1 else name
            drawn.setdefault(label, []).extend(points)
    with told_of(", ".join(curves)):
        curves_figure(drawn, metric, output, against=against)
