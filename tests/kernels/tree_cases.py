"""Calls of the doors of projected inference with arrays of the right shapes, for the tests of tree kernels."""

from __future__ import annotations

import numpy as np

from tests.reference import hmtm as twin
from wordkit._kernels import pseudocounts, tree_messages


def arguments(model):
    """The arrays of a twin's model in the doors' types; a tuple of arrays is left alone."""
    return model.arguments(np.float32) if isinstance(model, twin.Model) else model


class Outputs:
    """What ``infer`` writes."""

    names = ("support", "sizes", "below", "above", "posterior", "log_likelihood")

    def __init__(self, T, S, K):
        self.support = np.full((T, K), -1, np.int32)
        self.sizes = np.full(T, -1, np.int32)
        self.below, self.above, self.posterior = np.full((3, T, K), np.nan, np.float32)
        self.log_likelihood = np.full(S, np.nan)

    def arrays(self):
        return [getattr(self, name) for name in self.names]

    def supports(self):
        return [row[:size] for row, size in zip(self.support, self.sizes, strict=True)]

    def dense(self, values, C):
        """(T, C) of values on the nodes' own supports."""
        full = np.zeros((len(self.sizes), C))
        for t, size in enumerate(self.sizes):
            full[t, self.support[t, :size]] = values[t, :size]
        return full


def infer(
    trees, model, k, epsilon=0.0, lo=0, hi=None, K=None, upward_only=False, preference=None, outputs=None
):
    model = arguments(model)
    S, C = len(trees[4]) - 1, len(model[-1])
    outputs = outputs or Outputs(len(trees[0]), S, K or min(k, C))
    preference = np.ones(C, np.float32) if preference is None else np.asarray(preference, np.float32)
    hi = S if hi is None else hi
    tree_messages.infer(*trees, lo, hi, *model, preference, k, float(epsilon), upward_only, *outputs.arrays())
    return outputs


def add_transitions(trees, model, outputs, target, weight, lo=0, hi=None, image=None):
    _, heads, labels, _, offsets = trees
    pseudocounts.add_transitions(
        heads, labels, offsets, outputs.support, outputs.sizes, outputs.below, outputs.above, *arguments(model)[3:6],
        target, image, weight, lo, target.shape[1] if hi is None else hi,
    )  # fmt: skip
