"""Random batches of trees and models for the tests of tree kernels, and calls of the doors with arrays of the right shapes."""

from __future__ import annotations

import numpy as np

from wordkit._kernels import pseudocounts, tree_messages, tree_shape


def batch(heads_of_sentences, words, labels):
    """The arrays (words, heads, labels, order, offsets) of sentences given by their heads."""
    heads = np.concatenate([np.zeros(0), *heads_of_sentences]).astype(np.int32)
    offsets = np.cumsum([0, *map(len, heads_of_sentences)]).astype(np.int32)
    order = np.zeros(len(heads), np.int32)
    tree_shape.order_trees(heads, offsets, order, np.zeros((2, len(heads) + 1), np.int32))
    return np.asarray(words, np.int32), heads, np.asarray(labels, np.int32), order, offsets


def random_batch(random, sentences, longest, V, L, kind="forest"):
    """Sentences of 0 to ``longest`` tokens: chains, stars, trees or forests."""
    all_heads = []
    for _ in range(sentences):
        n = int(random.integers(0, longest + 1))
        heads = np.zeros(n, int)
        places = np.arange(n) if kind == "chain" else random.permutation(n)
        for i in range(1, n):
            parent = {"chain": i - 1, "star": 0}.get(kind, int(random.integers(0, i)))
            heads[places[i]] = 0 if kind == "forest" and random.random() < 0.3 else places[parent] + 1
        all_heads.append(heads)
    T = sum(map(len, all_heads))
    return batch(all_heads, random.integers(0, V, T), random.integers(0, L, T))


def random_model(random, V, C, L, concentration=0.5):
    """emissions, floors, emission_scale, transitions, back_off, transition_scale, start: with an arbitrary common scale."""
    emissions = 7e3 * random.gamma(concentration, size=(V, C))
    floors = 1e-2 * emissions.max(axis=1)
    transitions = (7e3 * random.gamma(concentration, size=(L, C, C))).astype(np.float32)
    back_off = (70 * random.random((L, C))).astype(np.float32)
    return (
        emissions,
        floors,
        1 / np.maximum(emissions, floors[:, None]).sum(axis=0),
        transitions,
        back_off,
        (1 / (transitions.sum(axis=1) + back_off.sum(axis=1)[:, None])).astype(np.float32),
        random.dirichlet(np.ones(C)).astype(np.float32),
    )


def dense_model(model):
    """O (V, C), T (L, C, C), start (C) in float64."""
    emissions, floors, emission_scale, transitions, back_off, transition_scale, start = model
    O = np.maximum(emissions, floors[:, None]) * emission_scale
    T = (transitions.astype(float) + back_off[:, :, None]) * transition_scale[:, None, :]
    return O, T, start.astype(float)


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

    def dense(self, values, C):
        """(T, C) of values on the nodes' own supports."""
        full = np.zeros((len(self.sizes), C))
        for t, size in enumerate(self.sizes):
            full[t, self.support[t, :size]] = values[t, :size]
        return full


def infer(
    trees, model, k, epsilon=0.0, lo=0, hi=None, K=None, upward_only=False, preference=None, outputs=None
):
    S, C = len(trees[4]) - 1, len(model[-1])
    outputs = outputs or Outputs(len(trees[0]), S, K or min(k, C))
    preference = np.ones(C, np.float32) if preference is None else np.asarray(preference, np.float32)
    hi = S if hi is None else hi
    tree_messages.infer(*trees, lo, hi, *model, preference, k, float(epsilon), upward_only, *outputs.arrays())
    return outputs


def add_transitions(trees, model, outputs, target, weight, lo=0, hi=None):
    _, heads, labels, _, offsets = trees
    pseudocounts.add_transitions(
        heads, labels, offsets, outputs.support, outputs.sizes, outputs.below, outputs.above, *model[3:6], target,
        weight, lo, target.shape[1] if hi is None else hi,
    )  # fmt: skip
