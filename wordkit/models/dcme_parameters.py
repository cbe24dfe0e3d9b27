"""Parameters that word vectors and classifiers of the dual-clustering family share: what may be, and what is taken by default."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordkit.models.base import one_of, positive, whole

OBJECTIVES = ("dcme", "nce", "ns", "gd")
VARIANTS = ("exact", "printed")
PRIORS = ("unigram", "none")
# First step sizes of windows of text: what did best, or close to it and far from diverging, on Brown and a mixed corpus.
RATES = {"exact": 0.25, "printed": 0.005, "nce": 0.25, "ns": 0.05, "gd": 0.25}
BETAS = {"exact": 0.3, "printed": 1.0}


def _kind(model: Any) -> str:
    return model.variant if model.objective == "dcme" else model.objective


def default_rate(model: Any, default: bool = False) -> float:
    """The first step size in force, or what it is by default."""
    return RATES[_kind(model)] if default or model.learning_rate is None else float(model.learning_rate)


def default_beta(model: Any) -> float:
    """Share of the items that makes a cluster due, in force."""
    return BETAS[model.variant] if model.beta is None else float(model.beta)


def default_prior(model: Any) -> str:
    """The prior in force: negative sampling is made for scores without one."""
    if model.prior is None:
        return "none" if model.objective == "ns" else "unigram"
    return model.prior


def check_parameters(model: Any) -> None:
    """ValueError that names the parameter and what was expected."""
    one_of("objective", model.objective, OBJECTIVES)
    one_of("variant", model.variant, VARIANTS)
    one_of("prior", model.prior, (*PRIORS, None))
    one_of("dynamic_window", model.dynamic_window, (True, False))
    one_of("shuffle", model.shuffle, (True, False))
    for name in ("clusters", "negative", "dim", "window", "epochs", "min_count", "threads"):
        whole(name, getattr(model, name))
    if model.max_vocab is not None:
        whole("max_vocab", model.max_vocab)
    for name in ("beta", "learning_rate"):
        if getattr(model, name) is not None:
            positive(name, getattr(model, name))
    for name in ("decay", "sample", "noise_power"):
        value = getattr(model, name)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise ValueError(f"{name} is {value!r}, expected a number from 0 on")
    for name in ("top", "seed"):
        value = getattr(model, name)
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name} is {value!r}, expected a whole number from 0 on")
