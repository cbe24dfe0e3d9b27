"""Held-out likelihood of sentences under a hidden Markov tree model."""

from __future__ import annotations

import math

import numpy as np

from wordkit.evaluation.result import Result, Sample
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import TreeCorpus


def likelihood_result(
    model: HiddenMarkovTree, corpus: TreeCorpus, *, data: str, projection: str = "exact"
) -> Result:
    """Natural log-likelihood a token and perplexity of a corpus in the model's numbers.

    A word that the model does not know is its token for rare words. ``covered``: tokens whose word
    the model knows. With a projection other than ``exact`` the log-likelihood is a lower bound.
    """
    found = list(model.log_likelihoods(corpus, projection))
    value = sum(float(part.sum()) for part, _ in found) / corpus.n_tokens
    sentences, tokens = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Result(
        name="likelihood",
        data=data,
        metrics={
            "log_likelihood_per_token": value,
            "perplexity": math.exp(-value) if -value < 700 else None,
            "tokens": corpus.n_tokens,
        },
        covered=corpus.n_tokens - int(corpus.word_counts[0]),
        total=corpus.n_tokens,
        parameters={
            "projection": projection,
            "vocabulary": len(corpus.vocabulary),
            "sentences": corpus.n_sentences,
        },
        samples={"log_likelihood_per_token": Sample.of_ratio(sentences, tokens)},
    )
