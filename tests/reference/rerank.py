"""Rerankers of n-best lists straight from the equations, on dense arrays: slow and obvious."""

from __future__ import annotations

import numpy as np


def outer(vectors):
    """The rank-one tensor of some mode vectors."""
    tensor = np.ones(())
    for vector in vectors:
        tensor = np.multiply.outer(tensor, vector)
    return tensor


def dense(components):
    """W, the sum of rank-one tensors; ``components[h][d]`` is a mode vector (equation 2)."""
    return sum(outer(vectors) for vectors in components)


def oracle_of(scores):
    return int(np.argmax(scores))  # the first of equal ones


def rival_of(values, costs, by_cost):
    return int(np.argmax(values + costs if by_cost else values))


def step_size(loss, squares, most, printed):
    """Equation 6 as printed, and held at 0 otherwise."""
    return min(most, loss / squares if printed else max(0.0, loss) / squares)


def vector_steps(lists, weights, *, C=1.0, by_cost=False, printed=False, perceptron=False):
    """Weights after each list; ``lists``: (scores (n,), features (n, V)) of each."""
    after = []
    for scores, rows in lists:
        oracle = oracle_of(scores)
        costs = scores[oracle] - scores
        rival = rival_of(rows @ weights, costs, by_cost)
        x = rows[oracle] - rows[rival]
        if costs[rival] > 0 and x.any():
            tau = 1.0 if perceptron else step_size(costs[rival] - x @ weights, x @ x, C, printed)
            weights = weights + tau * x
        after.append(weights)
    return after


def tensor_steps(lists, components, place, *, C=1.0, by_cost=False, printed=False, plain=()):
    """Components and plain weights after each list (section 4 of Cao and Khudanpur 2014).

    Args:
        components: ``components[h][d]``, the mode vectors. plain: weights of the first features, beside the tensor.
        place: for each other feature its index in the tensor, a tuple.
    """
    components = [[vector.copy() for vector in vectors] for vectors in components]
    plain = np.array(plain, float)
    p = len(plain)
    shape = tuple(len(vector) for vector in components[0])
    after = []

    def tensor_of(row):
        phi = np.zeros(shape)
        for f, value in enumerate(row[p:]):
            phi[place[f]] += value
        return phi

    for scores, rows in lists:
        oracle = oracle_of(scores)
        costs = scores[oracle] - scores
        values = np.array([row[:p] @ plain + (dense(components) * tensor_of(row)).sum() for row in rows])
        rival = rival_of(values, costs, by_cost)
        x = rows[oracle] - rows[rival]
        if costs[rival] > 0:
            phi = tensor_of(x)

            def loss(plain, cost=costs[rival], x=x, phi=phi):
                return cost - x[:p] @ plain - (dense(components) * phi).sum()

            if x[:p].any():
                plain = plain + step_size(loss(plain), x[:p] @ x[:p], C, printed) * x[:p]
            for vectors in components:
                for d in range(len(shape)):
                    g = phi  # equation 5: the products with the vectors of all other modes
                    for e in reversed(range(len(shape))):
                        if e != d:
                            g = np.tensordot(g, vectors[e], axes=([e], [0]))
                    if (g != 0).any():
                        others = np.prod([vectors[e] @ vectors[e] for e in range(len(shape)) if e != d])
                        tau = step_size(loss(plain), g @ g, C if printed else C / others, printed)
                        vectors[d] = vectors[d] + tau * g
        after.append(([[vector.copy() for vector in vectors] for vectors in components], plain))
    return after
