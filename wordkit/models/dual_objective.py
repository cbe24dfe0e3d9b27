"""The objective of dual clustering on a table of scores, in plain NumPy: for small data, tests and understanding.

Wang, Wang and Zhai, AAAI 2017. ``scores``: f_t(j), float (M, N), M instances and N items, log priors included; ``items``: i_t,
int (M,); ``alpha``: (K, N), rows that sum to 1; ``clusters``: c_t, int (M,).
"""

from __future__ import annotations

import numpy as np


def _log_sums(scores: np.ndarray) -> np.ndarray:
    highest = scores.max(axis=1)
    return highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))


def entropies(alpha: np.ndarray) -> np.ndarray:
    """H(alpha_k) in nats (K,)."""
    return -np.sum(alpha * np.log(np.where(alpha > 0, alpha, 1)), axis=1)


def log_likelihood(scores: np.ndarray, items: np.ndarray) -> float:
    """Equation (4)."""
    return float((scores[np.arange(len(items)), items] - _log_sums(scores)).sum())


def dual_objective(scores: np.ndarray, items: np.ndarray, alpha: np.ndarray, clusters: np.ndarray) -> float:
    """Equation (8): the sum of Q_t, never below (4)."""
    own = scores[np.arange(len(items)), items]
    return float((own - bounds(scores, alpha)[np.arange(len(items)), clusters]).sum())


def bounds(scores: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """E_alpha_k[f_t] + H(alpha_k), (M, K): bounds of the log-partition from below, lemma 3.1."""
    return scores @ alpha.T + entropies(alpha)


def nearest_clusters(scores: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Equation (9), (M,)."""
    return bounds(scores, alpha).argmax(axis=1)


def centres(scores: np.ndarray, clusters: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Equation (13): the soft-max of each cluster's mean score; clusters without instances stay as they are in ``alpha``."""
    out = alpha.copy()
    for k in np.unique(clusters):
        mean = scores[clusters == k].mean(axis=0)
        out[k] = np.exp(mean - mean.max())
        out[k] /= out[k].sum()
    return out


def within_cluster_divergence(scores: np.ndarray, alpha: np.ndarray, clusters: np.ndarray) -> float:
    """Equation (19): the sum of KL(alpha_c_t || P_t), which is (8) minus (4) (theorem 4.1)."""
    log_p = scores - _log_sums(scores)[:, None]
    own = alpha[clusters]
    return float(np.sum(own * (np.log(np.where(own > 0, own, 1)) - log_p)))
