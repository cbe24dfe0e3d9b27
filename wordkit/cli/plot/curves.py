"""``wordkit plot curves``."""

from __future__ import annotations

import click

from wordkit.cli import options
from wordkit.cli.report import message


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
    apart, and with several files their names do. The objectives of different methods are not on one scale; held-out likelihoods
    are.
    """
    from pathlib import Path

    from wordkit.errors import told_of
    from wordkit.plotting.curves import CurvePoint, curves_figure, read_curves
    from wordkit.plotting.figure import check_figure

    options.not_standard_output(output, "a figure")
    options.one_standard_input(*curves)
    options.check_outputs(output, inputs=list(curves))
    check_figure(output)
    files = list(dict.fromkeys(curves))
    stems = [Path(path).stem for path in files]
    drawn: dict[str, list[CurvePoint]] = {}
    for path, stem in zip(files, stems, strict=True):
        # Runs in folders of their own have files of the same name.
        of = stem if stems.count(stem) == 1 else path
        for name, points in read_curves(path).items():
            drawn[f"{of} {name}".strip() if len(files) > 1 else name] = points
    with told_of(", ".join(files)):
        left_out = curves_figure(drawn, metric, output, against=against)
    for name in left_out:
        message(f"warning: {name.strip() or 'a curve'}: has no {metric}, and is left out")
