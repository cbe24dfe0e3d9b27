"""``wordkit decode``: the classes of the words of sentences."""

from __future__ import annotations

from typing import Any

import click

from wordkit.cli import options
from wordkit.cli.report import message, refuse_unknown, report_tally
from wordkit.errors import WordkitError


@options.command(
    "decode", example="wordkit decode trees.model data_samples/trees.conllu --representation viterbi"
)
@options.input_argument("model")
@options.input_argument("input")
@options.output_option("Where the sentences go.", default="-")
@click.option("--representation", type=click.Choice(["viterbi", "posterior-token", "posterior-type", "both"]),
              default="viterbi",
              help="The most probable classes; the distribution over classes of the token, or of its word in the training data; "
                   "or both, the word's classes numbered behind the token's.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(["conll", "tsv"]), show_default="conll for CoNLL, tsv for text",
              help="Write CoNLL with Class= or Posterior= in MISC, or word<TAB>representation.")  # fmt: skip
@click.option("--input-format", type=click.Choice(["auto", "text", "conll", "conllu", "conllx", "conllulex", "columns"]),
              default="auto",
              help="Format of INPUT; auto goes by its first lines. columns: words of a file for evaluate ner.")  # fmt: skip
@click.option("--projection", type=click.Choice(["exact", "kbest", "ebest"]), default="exact",
              help="Infer over all classes, or as the model was trained.")  # fmt: skip
@click.option("--min-probability", type=options.share, default=0.001,
              help="Leave out smaller probabilities; never the largest.")  # fmt: skip
@options.policy_options
@options.threads_option
def command(
    model: str, input: str, output: str, representation: str, format: str | None, input_format: str, projection: str,
    min_probability: float, skip_invalid: bool, strict: bool, threads: int,
) -> None:  # fmt: skip
    """Write the classes of words in their sentences, found by a model of train-hmtm.

    INPUT is CoNLL, or for chain models also text, one sentence a line. In CoNLL all columns, comments and special lines stay as
    they are, and MISC gets Class=5 or Posterior=5:0.93,17:0.07. A word that the model does not know is decoded as its token for
    rare words. Sentences of any length are decoded.
    """
    from wordkit.formats.opening import open_output
    from wordkit.models.representations import Decoder
    from wordkit.models.tree_model import TreeModel
    from wordkit.tally import Tally

    options.one_standard_input(model, input)
    options.check_outputs(output, inputs=[model, input])
    loaded = TreeModel.load(model)
    loaded.model.threads = threads
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    decoder = Decoder(loaded, representation, projection, min_probability)
    attribute = "Class" if representation == "viterbi" else "Posterior"
    with open_output(output) as out:
        for decoded in decoder.decode(input, tally, input_format):
            lines = _tsv(decoded) if (format or _default(decoded)) == "tsv" else _conll(decoded, attribute)
            out.write(("\n".join(lines) + "\n\n").encode("utf-8"))
        if strict:
            refuse_unknown(input, decoder.n_unknown, decoder.n_tokens, "tokens")
    report_tally(tally)
    message(f"{decoder.n_tokens} tokens decoded, {decoder.n_unknown} of them unknown to the model")


def _default(decoded: Any) -> str:
    return "tsv" if decoded.sentence is None else "conll"


def _tsv(decoded: Any) -> list[str]:
    return [f"{word}\t{text}" for word, text in zip(decoded.words, decoded.texts, strict=True)]


def _conll(decoded: Any, attribute: str) -> list[str]:
    from wordkit.formats.conll import Sentence

    try:
        sentence = decoded.sentence or Sentence.from_columns(decoded.words)
    except ValueError as error:  # text may hold what CoNLL cannot, such as a carriage return within a word
        raise WordkitError(f"CoNLL cannot hold a sentence of the text: {error}; use --format tsv") from None
    sentence.set_misc(attribute, decoded.texts)
    return sentence.lines
