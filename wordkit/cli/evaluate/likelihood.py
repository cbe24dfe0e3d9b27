"""``wordkit evaluate likelihood``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import print_results, refuse_unknown, report_tally


@options.command(
    "likelihood", example="wordkit evaluate likelihood trees.model data_samples/trees.conllu --json"
)
@options.input_argument("model")
@options.input_argument("data", many=True)
@click.option("--projection", type=click.Choice(["exact", "kbest", "ebest"]), default="exact",
              help="Exact messages, or those of the training, which give a lower bound.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(["auto", "text", "conll", "conllu", "conllx", "conllulex"]),
              default="auto", help="Format of DATA; auto goes by its first lines.")  # fmt: skip
@options.summary_option
@options.policy_options
@options.threads_option
@options.json_option
def command(
    model: str, data: tuple[str, ...], projection: str, format: str, summary: bool, skip_invalid: bool, strict: bool,
    threads: int, as_json: bool,
) -> None:  # fmt: skip
    """Log-likelihood a token (natural logarithm) and perplexity of sentences under a model of train-hmtm.

    Each DATA file is scored by itself, sentences of all lengths. A word that the model does not know counts as its token for rare
    words: models with other vocabularies cannot be compared by their perplexities. covered: tokens whose word the model knows.
    """
    from wordkit.evaluation.likelihood import likelihood_result
    from wordkit.models.tree_model import TreeModel
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.one_standard_input(model, *data)
    started = time.monotonic()
    loaded = TreeModel.load(model)
    loaded.model.threads = threads
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    results, inputs = [], []
    for path in data:
        corpus = loaded.read([path], tally, format=format)
        inputs += corpus.inputs
        if strict:
            refuse_unknown(path, int(corpus.word_counts[0]), corpus.n_tokens, "tokens")
        results.append(likelihood_result(loaded.model, corpus, data=path, projection=projection))
    report_tally(tally)
    parameters = {"model": loaded.header["signature"].replace("|", ","), "projection": projection}
    run = signature("evaluate-likelihood", parameters, inputs)
    print_results(
        "evaluate likelihood", run, time.monotonic() - started, results, as_json=as_json, summary=summary
    )
