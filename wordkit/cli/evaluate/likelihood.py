"""``wordkit evaluate likelihood``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from wordkit.cli import options
from wordkit.cli.report import print_results, refuse_unknown, report_tally
from wordkit.errors import WordkitError

if TYPE_CHECKING:
    from wordkit.models.tree_model import TreeModel


@options.command(
    "likelihood", example="wordkit evaluate likelihood trees.model data_samples/trees.conllu --json"
)
@options.input_argument("model")
@options.input_argument("data", many=True)
@click.option("--projection", type=click.Choice(["exact", "kbest", "ebest"]), default="exact",
              help="Exact messages, or those of the training, which give a lower bound.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(["auto", "text", "conll", "conllu", "conllx", "conllulex"]),
              default="auto", help="Format of DATA; auto goes by its first lines.")  # fmt: skip
@options.against_options(
    "MODEL2",
    "Score under this model too, and test whether it differs: permutation test, sentence by "
    "sentence. Both must know the same words.",
)
@options.policy_options
@options.threads_option
@options.json_option
def command(
    model: str, data: tuple[str, ...], projection: str, format: str, summary: bool, intervals: bool, against: str | None,
    seed: int, skip_invalid: bool, strict: bool, threads: int, as_json: bool,
) -> None:  # fmt: skip
    """Log-likelihood a token (natural logarithm) and perplexity of sentences under a model of train-hmtm.

    Each DATA file is scored by itself, sentences of all lengths. A word that the model does not know counts as its token for rare
    words: models with other vocabularies cannot be compared by their perplexities. covered: tokens whose word the model knows.
    """
    from wordkit.evaluation.likelihood import likelihood_result
    from wordkit.evaluation.uncertainty import compared
    from wordkit.models.tree_model import TreeModel
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.one_standard_input(model, against, *data)
    started = time.monotonic()
    loaded = TreeModel.load(model)
    loaded.model.threads = threads
    other = None if against is None else TreeModel.load(against)
    if other is not None:
        other.model.threads = threads
        _check_comparable(loaded, other, model, str(against))
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    results, others, inputs = [], [], []
    for path in data:
        corpus = loaded.read([path], tally, format=format)
        inputs += corpus.inputs
        if strict:
            refuse_unknown(path, int(corpus.word_counts[0]), corpus.n_tokens, "tokens")
        results.append(likelihood_result(loaded.model, corpus, data=path, projection=projection))
        if other is not None:
            corpus = other.read([path], Tally(skip_invalid=skip_invalid, strict=strict), format=format)
            others.append(likelihood_result(other.model, corpus, data=path, projection=projection))
            if others[-1].parameters["sentences"] != results[-1].parameters["sentences"]:
                raise WordkitError(f"{path}: {model} and {against} do not read the same sentences of it")
    results = compared(results, None if other is None else others, against, intervals, seed)
    report_tally(tally)
    parameters: dict[str, Any] = {"model": _signature(loaded), "projection": projection}
    if other is not None:
        parameters["against"] = _signature(other)
    if intervals or against:
        parameters["seed"] = seed
    run = signature("evaluate-likelihood", parameters, inputs)
    print_results(
        "evaluate likelihood", run, time.monotonic() - started, results, as_json=as_json, summary=summary
    )


def _signature(model: TreeModel) -> str:
    return str(model.header["signature"]).replace("|", ",")


def _check_comparable(one: TreeModel, other: TreeModel, name: str, other_name: str) -> None:
    """A model that knows fewer words gives more of them the probability of the rare one's."""
    if set(one.model.vocabulary_.words) != set(other.model.vocabulary_.words):
        raise WordkitError(f"{other_name}: knows other words than {name}: their likelihoods do not compare")
    if one.reading["token"] != other.reading["token"]:
        raise WordkitError(f"{other_name}: takes other tokens for words than {name}")
