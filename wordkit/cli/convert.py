"""``wordkit convert``: vector files from one format to another."""

from __future__ import annotations

import click

from wordkit.cli.options import (
    check_outputs,
    input_argument,
    not_standard_output,
    one_standard_input,
    path_option,
    policy_options,
)
from wordkit.cli.options import command as wordkit_command

FORMATS = click.Choice(["word2vec", "glove", "word2vec-binary", "npz"])


@wordkit_command("convert", example="wordkit convert data_samples/vectors.txt vectors.bin")
@input_argument("in")
@click.argument("out", type=click.Path(allow_dash=True), metavar="OUT")
@click.option(
    "--from", "from_format", type=FORMATS, show_default="found in the content", help="Format of IN."
)
@click.option(
    "--to",
    "to_format",
    type=FORMATS,
    show_default=".bin word2vec-binary, .glove glove, .npz npz, otherwise word2vec",
    help="Format of OUT.",
)
@click.option("--max-rows", type=click.IntRange(1), metavar="N", help="Read the first N rows only.")
@path_option("--only-words", help="Keep these words only: one a line, what follows a tab is ignored.")
@policy_options
def command(
    out: str,
    from_format: str | None,
    to_format: str | None,
    max_rows: int | None,
    only_words: str | None,
    skip_invalid: bool,
    strict: bool,
    **arguments: str,
) -> None:
    """Convert vector file IN to OUT: word2vec text or binary, GloVe text (no header), or npz.

    Rows are streamed: a file larger than memory converts. Values are kept to the last bit; text is the
    shortest that reads back the same. Duplicate words keep their first row. IN may be - for standard input,
    OUT - for standard output (text formats).
    """
    import itertools

    from wordkit.cli.report import message, report_tally
    from wordkit.errors import DataError, WordkitError, one_line
    from wordkit.formats.vectors import iter_vectors, output_format, vector_writer
    from wordkit.formats.word_list import read_word_list
    from wordkit.tally import Tally

    path = arguments["in"]
    one_standard_input(path, only_words)
    to_format = output_format(out, to_format)
    if to_format in ("word2vec-binary", "npz"):
        not_standard_output(out, f"the binary format {to_format}")
    check_outputs(out, inputs=[path, only_words])

    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    wanted = None if only_words is None else frozenset(read_word_list(only_words, tally))
    blocks = iter_vectors(path, max_rows=max_rows, only_words=wanted, format=from_format, tally=tally)
    first = next(blocks)  # always there, and tells the number of dimensions
    dim = first[1].shape[1]
    missing, rows = set(wanted or ()), 0
    with vector_writer(out, dim, format=to_format) as write:
        for words, vectors in itertools.chain([first], blocks):
            write(words, vectors)
            missing.difference_update(words)
            rows += len(words)
        listed = "standard input" if only_words == "-" else only_words
        if wanted is not None and rows == 0:
            raise WordkitError(f"{path}: none of the {len(wanted)} words of {listed} is there")
        if missing:
            share = f"{len(missing)} of {len(wanted or ())} words of {listed}"
            what = f"{share} are not there, such as {min(missing)!r}"
            tally.warn("incomplete word list", DataError(path, None, what))
    report_tally(tally)
    message(f"{rows} vectors of {dim} dimensions written to {one_line(out)} ({to_format})")
