"""Twin of the hidden Markov tree kernels: enumeration, message passing and Viterbi on dense vectors, straight from the equations.

Also makes the batches of random trees and the random parameters that the kernels' tests share.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

SHAPES = ("tree", "chain", "forest", "star", "mixed")


class Batch(NamedTuple):
    """Sentences one after the other; heads are counted from 1 in a sentence, 0 is a root's."""

    words: np.ndarray  # int32 (T,)
    heads: np.ndarray  # int32 (T,)
    labels: np.ndarray  # int32 (T,)
    order: np.ndarray  # int32 (T,): positions in the sentence from 0, parents before children
    offsets: np.ndarray  # int32 (S + 1,)

    def sentences(self):
        """(words, heads, labels, order) of each sentence."""
        for low, high in itertools.pairwise(self.offsets.tolist()):
            yield tuple(a[low:high] for a in self[:4])


class Model(NamedTuple):
    """Statistics and what they are multiplied with when they are read; all float64."""

    emissions: np.ndarray  # (V, C)
    floors: np.ndarray  # (V,)
    emission_scale: np.ndarray  # (C,)
    transitions: np.ndarray  # (L, C child, C parent)
    back_off: np.ndarray  # (L, C child)
    transition_scale: np.ndarray  # (L, C parent)
    start: np.ndarray  # (C,)

    def O(self):  # noqa: N802, E743
        """p(word | class), (V, C): columns sum to 1."""
        return np.maximum(self.emissions, self.floors[:, None]) * self.emission_scale

    def T(self):  # noqa: N802
        """p(child class i | parent class j), (L, C, C): columns sum to 1."""
        return (self.transitions + self.back_off[:, :, None]) * self.transition_scale[:, None, :]

    def arguments(self, dtype=np.float64):
        """The seven arrays in order, those of edges and roots in dtype."""
        return (*self[:3], *(a.astype(dtype) for a in self[3:]))


class Inference(NamedTuple):
    """Dense results; a class that is not kept has zeros."""

    support: list  # a token: kept classes, rising
    below: np.ndarray  # (T, C): u, sums to 1
    above: np.ndarray  # (T, C): v over the parent's classes; roots: zeros. Scaled so that ``pair`` sums to 1
    pair: np.ndarray  # (T, C, C): posterior of (class, parent's class); roots: zeros
    posterior: np.ndarray  # (T, C)
    log_likelihood: (
        np.ndarray
    )  # (S,); -inf where the probability is zero: that sentence's posteriors are zeros


def depths(heads):
    """Of each word of a sentence; a root's is 0."""
    out = np.full(len(heads), -1)
    for n in range(len(heads)):
        path = [n]
        while out[path[-1]] < 0 and heads[path[-1]]:
            path.append(heads[path[-1]] - 1)
        top = max(0, out[path[-1]])
        out[path] = np.arange(top + len(path) - 1, top - 1, -1)
    return out


def order_of(heads):
    return np.argsort(depths(np.asarray(heads)), kind="stable").astype(np.int32)


def make_batch(sentences):
    """From (words, heads, labels) of each sentence."""
    sentences = [tuple(np.asarray(a, np.int32) for a in s) for s in sentences]
    columns = [np.concatenate([np.zeros(0, np.int32), *(s[i] for s in sentences)]) for i in range(3)]
    order = np.concatenate([np.zeros(0, np.int32), *(order_of(s[1]) for s in sentences)])
    offsets = np.cumsum([0, *(len(s[0]) for s in sentences)]).astype(np.int32)
    return Batch(*columns, order, offsets)


def random_heads(rng, length, shape="mixed"):
    """Heads of a sentence: recursive trees over shuffled positions (seldom projective), chains, several trees, stars."""
    if shape == "mixed":
        shape = rng.choice(SHAPES[:-1])
    if shape == "chain":
        return np.arange(length, dtype=np.int32)
    place = rng.permutation(length)  # place[t] is the position of the t-th word that is hung up
    heads = np.zeros(length, np.int32)
    for t in range(1, length):
        if shape == "forest" and rng.random() < 0.3:
            continue
        heads[place[t]] = 1 + place[0 if shape == "star" else rng.integers(t)]
    return heads


def random_trees(rng, sentences=6, max_length=9, words=20, labels=2, shape="mixed", min_length=1):
    """A batch of sentences of min_length..max_length words."""
    made = []
    for length in rng.integers(min_length, max_length + 1, sentences):
        made.append(
            (
                rng.integers(0, words, length),
                random_heads(rng, length, shape),
                rng.integers(0, labels, length),
            )
        )
    return make_batch(made)


def random_model(rng, words=20, classes=5, labels=2, sharpness=3.0, scale=1.0, smoothing=0.01):
    """Statistics drawn at random, with floors and back-off; higher sharpness makes classes more certain.

    ``scale`` multiplies all statistics, which changes no probability.
    """
    emissions = rng.random((words, classes)) ** sharpness
    emissions[rng.random((words, classes)) < 0.2] = 0
    floors = smoothing * (emissions.max(axis=1) + 0.1)
    transitions = rng.random((labels, classes, classes)) ** sharpness
    transitions[rng.random(transitions.shape) < 0.2] = 0
    # Of what float32 holds, so that kernels of either precision start from the same numbers.
    transitions = transitions.astype(np.float32).astype(np.float64)
    back_off = (smoothing * (0.1 + rng.random((labels, classes)))).astype(np.float32).astype(np.float64)
    start = rng.random(classes) + 0.05
    return Model(
        emissions * scale,
        floors * scale,
        1 / np.maximum(emissions, floors[:, None]).sum(axis=0) / scale,
        transitions * scale,
        back_off * scale,
        1 / (transitions.sum(axis=1) + back_off.sum(axis=1)[:, None]) / scale,
        start / start.sum(),
    )


def kept(u, k=None, epsilon=0.0, preference=None):
    """Classes of the k largest u * preference, or of as few as make 1 - epsilon of its sum (k at most); rising."""
    score = u if preference is None else u * preference
    best = np.argsort(-score, kind="stable")
    if epsilon > 0:
        enough = np.cumsum(score[best]) >= (1 - epsilon) * score.sum()
        best = best[: int(np.argmax(enough)) + 1 if enough.any() else len(best)]
    return np.sort(best if k is None else best[:k])


def on(support, vector):
    out = np.zeros_like(vector)
    out[support] = vector[support]
    return out


def infer(batch, model, k=None, epsilon=0.0, preference=None, thesis=False, supports=None):
    """Upward and downward messages: exact, k-best or epsilon-best.

    A node has one support, that of u, in both passes. With ``thesis`` v is projected by itself, on its own k best, and a
    node's posterior is the marginal of its edge (Grave 2014, section 2.2.2). ``supports`` (a token: classes) are taken as given.
    """
    O, T, start = model.O(), model.T(), model.start
    C, total = len(start), len(batch.words)
    support: list = [None] * total
    below, above, posterior = (np.zeros((total, C)) for _ in range(3))
    pair = np.zeros((total, C, C))
    log_likelihood = np.zeros(len(batch.offsets) - 1)
    for s, (words, heads, labels, order) in enumerate(batch.sentences()):
        at = int(batch.offsets[s])
        children = [np.flatnonzero(heads == n + 1) for n in range(len(words))]
        message = np.zeros((len(words), C))  # to the parent
        for n in order[::-1]:
            u = O[words[n]] * np.prod([message[m] for m in children[n]], axis=0)
            support[at + n] = kept(u, k, epsilon, preference) if supports is None else supports[at + n]
            u = on(support[at + n], u)
            with np.errstate(divide="ignore"):
                log_likelihood[s] += np.log(u.sum()) + (
                    np.log(start @ u / u.sum()) if heads[n] == 0 and u.sum() else 0
                )
            if u.sum() == 0:
                break
            below[at + n] = u / u.sum()
            message[n] = T[labels[n]].T @ below[at + n]
        if not np.isfinite(log_likelihood[s]):
            below[at : at + len(words)] = 0
            continue
        down = np.zeros((len(words), C))  # from the parent
        for n in order:
            mine = support[at + n]
            if heads[n] == 0:
                down[n] = start
                posterior[at + n] = start * below[at + n]
                posterior[at + n] /= posterior[at + n].sum()
            for m in children[n]:
                v = down[n] * O[words[n]] * np.prod([message[o] for o in children[n] if o != m], axis=0)
                v = on(kept(v, k, epsilon, preference) if thesis else mine, v)
                down[m] = T[labels[m]] @ (v / v.sum())
                edge = below[at + m][:, None] * T[labels[m]] * v
                above[at + m] = v / edge.sum()
                pair[at + m] = edge / edge.sum()
                posterior[at + m] = pair[at + m].sum(axis=1)
    return Inference(support, below, above, pair, posterior, log_likelihood)


def statistics(batch, model, found):
    """Expected counts (transitions (L, C, C), emissions (V, C), start (C)) of a batch, from what ``infer`` found."""
    transitions, emissions = np.zeros_like(model.transitions), np.zeros_like(model.emissions)
    np.add.at(transitions, batch.labels, found.pair)
    np.add.at(emissions, batch.words, found.posterior)
    return transitions, emissions, found.posterior[batch.heads == 0].sum(axis=0)


def enumerate_classes(batch, model, supports=None):
    """(log-likelihood (S), posterior (T, C), pair (T, C, C), best (T), log-probability of best (S)) over all assignments.

    Of equal assignments the one with the lower class at the first difference, parents first.
    """
    O, T, start = model.O(), model.T(), model.start
    C, total, n_sentences = len(start), len(batch.words), len(batch.offsets) - 1
    posterior, pair = np.zeros((total, C)), np.zeros((total, C, C))
    best, best_log, log_likelihood = np.zeros(total, np.int32), np.zeros(n_sentences), np.zeros(n_sentences)
    for s, (words, heads, labels, order) in enumerate(batch.sentences()):
        at, n_words, highest, likelihood = int(batch.offsets[s]), len(words), -1.0, 0.0
        choices = [range(C) if supports is None else supports[at + n] for n in order]
        for assignment in itertools.product(*choices):
            c = np.zeros(n_words, int)
            c[order] = assignment
            p = 1.0
            for n in range(n_words):
                p *= O[words[n], c[n]] * (
                    start[c[n]] if heads[n] == 0 else T[labels[n], c[n], c[heads[n] - 1]]
                )
            likelihood += p
            for n in range(n_words):
                posterior[at + n, c[n]] += p
                if heads[n]:
                    pair[at + n, c[n], c[heads[n] - 1]] += p
            if p > highest:
                highest, best[at : at + n_words] = p, c
        with np.errstate(divide="ignore"):
            log_likelihood[s], best_log[s] = np.log(likelihood), np.log(highest)
        if likelihood:
            posterior[at : at + n_words] /= likelihood
            pair[at : at + n_words] /= likelihood
    return log_likelihood, posterior, pair, best, best_log


def viterbi(batch, model, supports=None):
    """(most probable classes (T), log-probability of each sentence's (S)); equal scores go to the lower class."""
    with np.errstate(divide="ignore"):
        O, T, start = np.log(model.O()), np.log(model.T()), np.log(model.start)
    C = len(start)
    best, value = np.zeros(len(batch.words), np.int32), np.zeros(len(batch.offsets) - 1)
    for s, (words, heads, labels, order) in enumerate(batch.sentences()):
        at = int(batch.offsets[s])
        score = O[words].copy()
        choice = np.zeros((len(words), C), int)
        for n in order[::-1]:
            if supports is not None:
                score[n][np.setdiff1d(np.arange(C), supports[at + n])] = -np.inf
            if heads[n]:
                through = score[n][:, None] + T[labels[n]]
                choice[n] = through.argmax(axis=0)
                score[heads[n] - 1] += through.max(axis=0)
        for n in order:
            if heads[n] == 0:
                best[at + n] = np.argmax(score[n] + start)
                value[s] += np.max(score[n] + start)
            else:
                best[at + n] = choice[n][best[at + heads[n] - 1]]
    return best, value


def log_probability(batch, model, classes):
    """log p(words, classes) of each sentence."""
    with np.errstate(divide="ignore"):
        O, T, start = np.log(model.O()), np.log(model.T()), np.log(model.start)
    out = np.zeros(len(batch.offsets) - 1)
    for s, (words, heads, labels, _) in enumerate(batch.sentences()):
        c = classes[batch.offsets[s] : batch.offsets[s + 1]]
        out[s] = O[words, c].sum()
        for n, head in enumerate(heads):
            out[s] += T[labels[n], c[n], c[head - 1]] if head else start[c[n]]
    return out


def run_model(infer_with, batch, model, iterations):
    """Log-likelihoods before each of some M-steps of batch EM without smoothing: they never fall with exact inference."""
    history = []
    for _ in range(iterations):
        found = infer_with(batch, model)
        history.append(float(found.log_likelihood.sum()))
        transitions, emissions, start = statistics(batch, model, found)
        with np.errstate(divide="ignore"):
            model = Model(
                emissions, np.zeros(len(emissions)), 1 / emissions.sum(axis=0), transitions, np.zeros(transitions.shape[:2]),
                1 / np.maximum(transitions.sum(axis=1), 1e-300), start / start.sum(),
            )  # fmt: skip
    return history
