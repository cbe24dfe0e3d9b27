"""What the parameters of :class:`wordkit.models.hmtm.HiddenMarkovTree` may be."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

from wordkit.models.base import one_of, positive, whole
from wordkit.models.fitted_tree import PROJECTIONS

INITS = ("random", "brown")
_CHOICES = {
    "structure": ("tree", "chain"), "projection": PROJECTIONS, "method": ("online", "batch"), "init": INITS,
    "resplit": (True, False), "shuffle": (True, False),
}  # fmt: skip
_WHOLE = ("states", "start_states", "k", "split_every", "batch_size", "epochs", "restarts", "threads")
_MAY_BE_NONE = ("start_states", "split_every")
_LARGEST = {"offset": math.inf, "smoothing": 1.0, "back_off": 1000.0, "gamma": 1.0}  # and above 0


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ValueError for a parameter that is not what it can be.

    Args:
        parameters: all of them by name.
    """
    for name, choices in _CHOICES.items():
        one_of(name, parameters[name], choices)
    for name in _WHOLE:
        if parameters[name] is not None or name not in _MAY_BE_NONE:
            whole(name, parameters[name])
    seed, start_states, states = (parameters[name] for name in ("seed", "start_states", "states"))
    if not isinstance(seed, numbers.Integral) or not 0 <= int(seed) < 2**63:
        raise ValueError(f"seed is {seed!r}, expected a whole number from 0 on")
    if start_states is not None and start_states > states:
        raise ValueError(f"start_states is {start_states}, more than the {states} states")
    for name, largest in _LARGEST.items():
        value = parameters[name]
        positive(name, value)
        if value > largest:
            raise ValueError(f"{name} is {value!r}, expected a number above 0 and up to {largest:g}")
    epsilon, tol = parameters["epsilon"], parameters["tol"]
    positive("epsilon", epsilon)
    if epsilon >= 1:
        raise ValueError(f"epsilon is {epsilon!r}, expected a number between 0 and 1")
    if not isinstance(tol, numbers.Real) or not 0 <= float(tol) < math.inf:
        raise ValueError(f"tol is {tol!r}, expected a finite number from 0 on")
