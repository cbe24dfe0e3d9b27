"""``wordkit plot transitions``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command("transitions", example="wordkit plot transitions trees.model -o transitions.png")
@options.input_argument("model", many=True)
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option(
    "--by-share", is_flag=True, help="Order the classes by their share of the tokens, the largest first."
)
@click.option("--title", default="", show_default=False, help="A line above the figure.")
def command(model: tuple[str, ...], output: str, by_share: bool, title: str) -> None:
    """Draw the transition matrices of models of train-hmtm, several side by side.

    A row is the class of a parent (on chains, of the word before), a column that of its child. A model with labels has the mean
    over the labels of a class's children.
    """
    import os

    import numpy as np

    from wordkit.cli.plot import tell_missing_glyphs
    from wordkit.evaluation.transitions import overall_transitions
    from wordkit.models.tree_model import TreeModel
    from wordkit.plotting.classes import transitions_figure
    from wordkit.plotting.figure import check_figure

    options.not_standard_output(output, "a figure")
    options.one_standard_input(*model)
    options.check_outputs(output, inputs=model)
    check_figure(output)
    matrices = []
    for path in model:
        loaded = TreeModel.load(path).model
        matrix = overall_transitions(loaded)
        if by_share:
            order = np.argsort(-loaded.class_shares_, kind="stable")
            matrix = matrix[np.ix_(order, order)]
        matrices.append((f"{os.path.basename(path)} ({loaded.structure}, {len(matrix)} classes)", matrix))
    tell_missing_glyphs(transitions_figure(matrices, output, title=title))
