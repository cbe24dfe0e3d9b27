"""``wordkit plot context``."""

from __future__ import annotations

import click

from wordkit.cli import options


@options.command(
    "context",
    example="wordkit plot context trees.model data_samples/trees.conllu animal food tool bridge -o context.png",
)
@options.input_argument("model")
@options.input_argument("input")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@options.output_option("The figure: .png, .svg or .pdf.")
@click.option("--most", type=options.count, default=12, help="Sentences that are drawn, the first of INPUT.")
@click.option("--method", type=click.Choice(["mds", "tsne", "pca"]), default="mds",
              help="Multidimensional scaling, t-SNE, or principal components.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(["auto", "text", "conll", "conllu", "conllx", "conllulex"]),
              default="auto", help="Format of INPUT; auto goes by its first lines.")  # fmt: skip
@click.option("--title", default="", show_default=False, help="A line above the figure.")
@options.policy_options
@options.seed_option
def command(
    model: str, input: str, words: tuple[str, ...], output: str, most: int, method: str, format: str, title: str,
    skip_invalid: bool, strict: bool, seed: int,
) -> None:  # fmt: skip
    """Draw the first WORD in the sentences of INPUT that hold it, among WORDs out of context.

    Places are those of distributions over the classes of MODEL, of train-hmtm: of the token in its sentence (blue, the sentences
    are listed below), or of all training tokens of the word (red). Near are those of little Hellinger distance. Needs the extras
    plot and eval (scikit-learn).
    """
    import numpy as np

    from wordkit.cli.plot import tell_missing_glyphs
    from wordkit.cli.report import message, report_tally
    from wordkit.evaluation.contexts import contexts_of
    from wordkit.models.tree_model import TreeModel
    from wordkit.plotting.classes import context_figure
    from wordkit.plotting.figure import check_figure
    from wordkit.plotting.words import projection
    from wordkit.tally import Tally

    options.not_standard_output(output, "a figure")
    options.one_standard_input(model, input)
    options.check_outputs(output, inputs=[model, input])
    check_figure(output)
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    found = contexts_of(
        TreeModel.load(model), words[0], words[1:], input, tally, format=format, most=most, name=model
    )
    # Euclidean distances of square roots are those of Hellinger.
    places = projection(np.sqrt(found.vectors), method=method, similarity="euclidean", seed=seed)
    tell_missing_glyphs(context_figure(places.points, found.words, found.sentences, output, title=title))
    report_tally(tally)
    message(f"{found.words[0]}: {len(found.sentences)} of {found.total} occurrences drawn")
