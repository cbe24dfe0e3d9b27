"""``wordkit vocab``: words and counts."""

from __future__ import annotations

import click

from wordkit.cli import options
from wordkit.cli.report import message, report_tally


@options.command("vocab", example="wordkit vocab data_samples/corpus.txt --min-count 100")
@options.input_argument("corpus", many=True)
@options.output_option("Where to write the list; standard output by default.", default="-")
@click.option("--min-count", type=options.count, default=1, help="Leave out rarer words.")
@click.option("--max-vocab", type=options.count, metavar="N", help="Only the N most frequent words.")
@click.option("--lowercase", is_flag=True, help="Fold case.")
@options.policy_options
def command(
    corpus: tuple[str, ...], output: str, min_count: int, max_vocab: int | None, lowercase: bool, skip_invalid: bool, strict: bool
) -> None:  # fmt: skip
    """List the words of a text with their counts.

    CORPUS is text, tokens between spaces. Output: `word<TAB>count`, a word a line, by falling count; words of the same count come
    in the order of their first occurrence.
    """
    from wordkit.errors import told_of
    from wordkit.formats.opening import names_of
    from wordkit.formats.word_list import write_word_counts
    from wordkit.models.text_corpus import read_text_corpus
    from wordkit.models.word_choice import choose_words
    from wordkit.tally import Tally

    options.one_standard_input(*corpus)
    options.check_outputs(output, inputs=corpus)
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    text = read_text_corpus(corpus, lowercase=lowercase, tally=tally, keep=False)
    report_tally(tally)
    with told_of(names_of(corpus)):
        choice = choose_words(text.names, text.counts, min_count=min_count, max_vocab=max_vocab)
    for note in choice.notes:
        message(note)
    write_word_counts(output, choice.words, choice.counts)
