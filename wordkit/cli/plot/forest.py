"""``wordkit plot forest``."""

from __future__ import annotations

import click

from wordkit.cli import options
from wordkit.cli.report import message
from wordkit.errors import DataError, WordkitError


@options.command(
    "forest", example="wordkit plot forest data_samples/vectors.txt good city -o forest.png --heat-map"
)
@options.input_argument("vec")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--tree-shape", default="3x3", metavar="SHAPE", help="Of the forest, as for sparse-code.")
@options.path_option("--forest", help="The forest from a file, as --forest-out of sparse-code writes it.")
@click.option("--tree", type=options.count, default=1, help="Which tree of the forest is drawn.")
@click.option(
    "--heat-map", is_flag=True, help="Draw all dimensions as rows of colours, in place of one tree."
)
@click.option("--title", default="", show_default=False, help="A line above the figure.")
@options.policy_options
@click.pass_context
def command(
    context: click.Context,
    vec: str,
    words: tuple[str, ...],
    output: str,
    tree_shape: str,
    forest: str | None,
    tree: int,
    heat_map: bool,
    title: str,
    skip_invalid: bool,
    strict: bool,
) -> None:
    """Draw the codes of words that `sparse-code` wrote, on a tree of their forest or as a heat map.

    Red is below zero, blue above, white near zero, grey exactly zero. Dimensions are numbered from 0, under the nodes of a tree
    and along the heat map, where they go from the lowest mean to the highest; `wordkit neighbors VEC --dimension N` lists
    their words.
    """
    import numpy as np

    from wordkit.cli.plot import tell_missing_glyphs
    from wordkit.cli.report import report_tally
    from wordkit.formats.forest import read_forest
    from wordkit.formats.opening import Input
    from wordkit.formats.vectors import read_vectors
    from wordkit.models.forests import Forest, forest_of_shape
    from wordkit.plotting.figure import check_figure
    from wordkit.plotting.forest import heat_figure, tree_figure
    from wordkit.tally import Tally

    explicit = options.given_by_user(context)
    if forest and "tree_shape" in explicit:
        raise click.UsageError("--forest does not go with --tree-shape")
    if heat_map:
        for name in sorted(explicit & {"forest", "tree_shape", "tree"}):
            message(f"warning: --{name.replace('_', '-')} means nothing to --heat-map")
    options.not_standard_output(output, "a figure")
    options.one_standard_input(vec, forest)
    options.check_outputs(output, inputs=[vec, forest])
    check_figure(output)
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    with Input(vec) as source:
        names, vectors = read_vectors(source, only_words=words, tally=tally)
        name = source.name
    row_of = {word: row for row, word in enumerate(names)}
    for word in words:
        if word not in row_of:
            raise DataError(name, None, f"the word `{word}` is not there")
        if not np.isfinite(vectors[row_of[word]]).all():
            raise DataError(name, None, f"the vector of `{word}` holds nan or inf")
    codes = np.stack([vectors[row_of[word]] for word in words])
    report_tally(tally)
    if heat_map:
        tell_missing_glyphs(heat_figure(words, codes, output, title=title))
        return
    try:
        shape = Forest(read_forest(forest)) if forest else forest_of_shape(tree_shape, dim=codes.shape[1])
        if len(shape) != codes.shape[1]:
            raise ValueError(f"the forest has {len(shape)} nodes, the vectors {codes.shape[1]} dimensions")
        tell_missing_glyphs(tree_figure(words, codes, shape, output, tree=tree - 1, title=title))
    except ValueError as error:
        raise WordkitError(f"{name}: {error}") from None
