"""``wordkit plot words``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options


@options.command(
    "words", example="wordkit plot words data_samples/vectors.txt --top 40 --restarts 2 -o words.png"
)
@options.input_argument("vec")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@options.output_option("The figure: .png, .svg or .pdf.")
@options.path_option(
    "--words", "word_file", help="Draw the words of this file, one a line (- is standard input)."
)
@click.option("--top", type=options.count, metavar="N", help="Draw the words of the first N rows of VEC.")
@click.option("--groups", is_flag=True, help="Colour words by what follows them and a tab in the list.")
@click.option("--method", type=click.Choice(["tsne", "mds", "pca"]), default="tsne",
              help="t-SNE, multidimensional scaling, or principal components.")  # fmt: skip
@click.option("--similarity", type=click.Choice(["cosine", "euclidean"]), default="cosine",
              help="Bring vectors to length 1 first, or take them as they are.")  # fmt: skip
@click.option("--restarts", type=click.IntRange(1, 10_000), default=10,
              help="Random beginnings of tsne and mds; the best is drawn.")  # fmt: skip
@click.option("--perplexity", type=options.positive, show_default="30, of few words a third of the others",
              help="How many neighbours of a word tsne looks at.")  # fmt: skip
@click.option("--title", default="", show_default=False, help="A line above the figure.")
@options.policy_options
@options.seed_option
@options.json_option
@click.pass_context
def command(
    context: click.Context, vec: str, words: tuple[str, ...], output: str, word_file: str | None, top: int | None, groups: bool,
    method: str, similarity: str, restarts: int, perplexity: float | None, title: str, skip_invalid: bool, strict: bool,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Draw words of vector file VEC on a plane, near each other where their vectors are.

    The words are the arguments, a file of --words, the first rows with --top, or else standard input, one a line; words without
    a vector are counted and left out. Prints what tells how good the map is: kl_divergence of tsne (least of the restarts),
    stress of mds, explained (share of the variance) of pca. Needs the extras plot and eval (scikit-learn).
    """
    from wordkit.cli.plot import tell_missing_glyphs
    from wordkit.cli.report import ProgressMonitor, message, print_results, report_tally
    from wordkit.errors import WordkitError
    from wordkit.evaluation.known_vectors import read_chosen_vectors
    from wordkit.evaluation.result import Result
    from wordkit.formats.opening import Input
    from wordkit.formats.word_list import read_grouped_words
    from wordkit.plotting.figure import check_figure
    from wordkit.plotting.words import projection, words_figure
    from wordkit.signature import signature
    from wordkit.tally import Tally

    if bool(words) + (word_file is not None) + (top is not None) > 1:
        raise click.UsageError("words are given once: as arguments, by --words or by --top")
    listed = not words and top is None
    if listed:
        word_file = word_file or "-"
    if groups and not listed:
        raise click.UsageError("--groups are those of a list of words (--words, or standard input)")
    options.not_standard_output(output, "a figure")
    options.one_standard_input(vec, word_file)
    options.check_outputs(output, inputs=[vec, word_file])
    check_figure(output)
    unread = {"pca": ("restarts", "perplexity", "seed"), "mds": ("perplexity",)}
    meaningless = {("method", name): others for name, others in unread.items()}
    options.warn_meaningless(meaningless, context.params, options.given_by_user(context))
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    group_of: dict[str, str] = {}
    if listed:
        assert word_file is not None
        chosen, names = read_grouped_words(word_file, tally)
        group_of = dict(zip(reversed(chosen), reversed(names), strict=True))  # a word's first line counts
        words = tuple(chosen)
    with Input(vec, digest=True) as source:
        drawn = read_chosen_vectors(source, None if top else words, top=top, tally=tally)
        name, record = source.name, source.record()
    monitor = ProgressMonitor("plot words")
    try:
        found = projection(
            drawn.vectors, method=method, similarity=similarity, restarts=restarts, perplexity=perplexity, seed=seed,
            monitor=monitor,
        )  # fmt: skip
    except WordkitError as error:
        report_tally(tally)
        raise WordkitError(f"{name}: {error}") from None
    finally:
        monitor.close()
    labels = [group_of.get(word, "") for word in drawn.words] if groups else None
    tell_missing_glyphs(words_figure(drawn.words, found.points, output, groups=labels, title=title))
    report_tally(tally)
    if len(found.restarts) > 1:
        message(
            f"{found.measure} of {len(found.restarts)} restarts: {found.value:.4f} to {max(found.restarts):.4f}"
        )
    parameters = {
        "method": method, "similarity": similarity, "restarts": restarts, "perplexity": perplexity, "top": top, "seed": seed,
    }  # fmt: skip
    result = Result(
        name="words", data=vec, metrics={found.measure: found.value}, covered=len(drawn.words), total=drawn.total,
        parameters=parameters,
    )  # fmt: skip
    print_results(
        "plot words", signature("plot-words", parameters, [record]), time.monotonic() - started, [result], as_json=as_json
    )  # fmt: skip
