"""Parameters that word vectors and classifiers of the dual-clustering family share: what may be, and what is taken by default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wordkit.checks import array_of, require
from wordkit.models.base import one_of, positive, whole

OBJECTIVES = ("dcme", "nce", "ns", "gd")
VARIANTS = ("exact", "printed")
PRIORS = ("unigram", "none")
_WHOLE = ("clusters", "negative", "dim", "window", "epochs", "min_count", "threads")
_FROM_ZERO = ("decay", "sample", "noise_power")
LOOKED_AT = 256  # instances, at the end of an epoch, to see whether a model has run away
_FAR = 10.0  # times the log-likelihood of equal shares
_SWITCHES = ("dynamic_window", "shuffle", "normalize")


def _kind(model: Any) -> str:
    return model.variant if model.objective == "dcme" else model.objective


def default_rate(model: Any, default: bool = False) -> float:
    """The first step size in force, or what it is by default: the model's RATES have one for each objective and variant."""
    return model.RATES[_kind(model)] if default or model.learning_rate is None else float(model.learning_rate)


def default_beta(model: Any) -> float:
    """Share of the items that makes a cluster due, in force; the model's BETAS have what it is by default."""
    return model.BETAS[model.variant] if model.beta is None else float(model.beta)


def default_top(model: Any) -> int:
    """Q in force."""
    return model.TOP[model.variant] if model.top is None else int(model.top)


def default_prior(model: Any) -> str:
    """The prior in force: negative sampling is made for scores without one."""
    if model.prior is None:
        return "none" if model.objective == "ns" else "unigram"
    return model.prior


def settle(model: Any) -> None:
    """Put what is in force in the place of None: a file names the value, not "default"."""
    model.set_params(
        learning_rate=default_rate(model),
        beta=default_beta(model),
        top=default_top(model),
        prior=default_prior(model),
    )


def log_prior(model: Any, counts: np.ndarray) -> np.ndarray:
    """b, float32 (N): log shares of the items, or zeros."""
    if default_prior(model) == "none":
        return np.zeros(len(counts), dtype=np.float32)
    shares = np.maximum(counts, 0.5)
    return np.log(shares / shares.sum()).astype(np.float32)


def cluster_numbers(clusters: int, width: int) -> int:
    """Numbers that K clusters keep for themselves, with a copy: sums and means of ``width``, and products of each other."""
    return 2 * clusters * (5 * width + clusters)


def check_clusters(model: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """ValueError unless a state has the clusters that its parameters say, before memory is taken for so many."""
    if model.objective == "dcme":
        array_of(arrays, "clusters_totals", np.float64, (None, int(model.clusters)))
    else:
        require(
            not any(name.startswith("clusters_") for name in arrays), f"{model.objective} has no clusters"
        )


def what_is_left(model: Any, within: bool) -> str:
    """Of a training that has run away; ``within``: it had been resumed within an epoch, and is as it was then."""
    if within:
        return "the model is as it was when it was resumed"
    return f"the model is that of epoch {model.n_iter_}" if model.n_iter_ else "nothing was learned"


def check_parameters(model: Any) -> None:
    """ValueError that names the parameter and what was expected; of the names below a model has some."""
    parameters = model.get_params()
    one_of("objective", model.objective, OBJECTIVES)
    one_of("variant", model.variant, VARIANTS)
    one_of("prior", model.prior, (*PRIORS, None))
    for name in parameters.keys() & set(_SWITCHES):
        one_of(name, parameters[name], (True, False))
    for name in parameters.keys() & set(_WHOLE):
        whole(name, parameters[name])
    if parameters.get("max_vocab") is not None:
        whole("max_vocab", parameters["max_vocab"])
    for name in ("beta", "learning_rate"):
        if parameters[name] is not None:
            positive(name, parameters[name])
    for name in parameters.keys() & set(_FROM_ZERO):
        value = parameters[name]
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float, np.number))
            or not 0 <= value < np.inf
        ):
            raise ValueError(f"{name} is {value!r}, expected a number from 0 on")
    for name in ("top", "seed"):
        value = 0 if name == "top" and parameters[name] is None else parameters[name]
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name} is {value!r}, expected a whole number from 0 on")


def run_away(log_likelihood: float, n: int) -> bool:
    """Whether a mean over instances of training is far below that of equal shares of the n items, or not a number: too high a
    rate can do that with all numbers finite."""
    return not log_likelihood > -_FAR * math.log(max(n, 2))
