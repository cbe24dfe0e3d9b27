"""Similarities of vectors, row by row: higher is nearer, so that a distance is given with a minus.

    cosine          p q / (|p| |q|); 0 with a zero vector
    dot             p q
    euclidean       - |p - q|
    kl              - sum_i (p_i ln(p_i / q_i) + q_i ln(q_i / p_i)) / 2, Kullback-Leibler, symmetrised
    chi-squared     - sum_i (p_i - q_i)^2 / (p_i + q_i)
    jensen-shannon  - sum_i (p_i ln(2 p_i / (p_i + q_i)) + q_i ln(2 q_i / (p_i + q_i))) / 2
    hellinger       - sum_i (sqrt(p_i) - sqrt(q_i))^2
    bhattacharyya   sum_i sqrt(p_i q_i)

From ``kl`` on they are for probabilities (Grave, thesis, 2014, section 3.1): rows without negative values, that sum to 1;
the sum is not checked, and nothing is normalized. 0 ln 0 and 0 / 0 are 0, and in ``kl`` no value counts as less than
KL_FLOOR, since a zero beside another value would be infinitely far.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Measure = Callable[[np.ndarray, np.ndarray], np.ndarray]
KL_FLOOR = 1e-12


def cosine(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    norms = np.sqrt((P * P).sum(axis=-1)) * np.sqrt((Q * Q).sum(axis=-1))
    product = (P * Q).sum(axis=-1)
    return np.divide(product, norms, out=np.zeros_like(product), where=norms > 0).clip(-1.0, 1.0)


def dot(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    return (P * Q).sum(axis=-1)


def euclidean(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    return -np.sqrt(((P - Q) ** 2).sum(axis=-1))


def kullback_leibler(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    P, Q = np.maximum(P, KL_FLOOR), np.maximum(Q, KL_FLOOR)
    return -((P - Q) * (np.log(P) - np.log(Q))).sum(axis=-1) / 2


def chi_squared(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    total = P + Q
    return -np.divide((P - Q) ** 2, total, out=np.zeros_like(total), where=total > 0).sum(axis=-1)


def jensen_shannon(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    return -(_against(P, P + Q) + _against(Q, P + Q)).sum(axis=-1) / 2


def _against(P: np.ndarray, total: np.ndarray) -> np.ndarray:
    """p ln(2 p / total)."""
    share = np.divide(2 * P, total, out=np.ones_like(total), where=P > 0)
    return P * np.log(share)


def hellinger(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    return -((np.sqrt(P) - np.sqrt(Q)) ** 2).sum(axis=-1)


def bhattacharyya(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    return np.sqrt(P * Q).sum(axis=-1)


# Each takes float64 arrays whose last axis is the vectors', and gives one number for each pair.
MEASURES: dict[str, Measure] = {
    "cosine": cosine,
    "dot": dot,
    "euclidean": euclidean,
    "kl": kullback_leibler,
    "chi-squared": chi_squared,
    "jensen-shannon": jensen_shannon,
    "hellinger": hellinger,
    "bhattacharyya": bhattacharyya,
}
OF_PROBABILITIES = frozenset(["kl", "chi-squared", "jensen-shannon", "hellinger", "bhattacharyya"])
