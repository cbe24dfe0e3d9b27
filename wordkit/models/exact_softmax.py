"""Exact probabilities of a huge soft-max, in blocks that fit in memory: the score that training avoids is the one that counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordkit._kernels import dual_clustering
from wordkit.parallel import map_blocks

_CELLS = 1 << 22  # scores held at a time by a thread


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Row by row, in place, with sums in double precision; float array (n, N)."""
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True, dtype=np.float64)).astype(scores.dtype)
    return scores


def rows_at_once(n_items: int) -> int:
    """Instances in a block."""
    return max(1, _CELLS // max(n_items, 1))


def sum_over_blocks(n: int, step: int, score: Callable[[int, int], np.ndarray], threads: int) -> np.ndarray:
    """Sum of ``score(lo, hi)`` over blocks of ``step`` instances, in their order whatever the number of threads."""
    blocks = [(lo, min(lo + step, n)) for lo in range(0, n, step)]
    return np.sum(map_blocks(lambda block: score(*block), blocks, threads) or [np.zeros(2)], axis=0)


def text_log_likelihood(
    words: np.ndarray, bounds: np.ndarray, inputs: np.ndarray, outputs: np.ndarray, bias: np.ndarray, window: int,
    threads: int = 1,
) -> tuple[float, int]:  # fmt: skip
    """Sum of log P(word | context) in nats over the words that have a context, and their number.

    Args:
        words, bounds: int32 items and int64 sentence ends, as the kernels take them.
        inputs, outputs: float32 (N, d), d a multiple of 8; bias: (N,).
    """
    dual_clustering.check_words(words, bounds, len(outputs))
    starts = (
        np.searchsorted(bounds, np.arange(0, len(words) + 1, rows_at_once(len(outputs))), side="right") - 1
    )
    step = rows_at_once(len(outputs))

    def score(lo: int, hi: int) -> np.ndarray:
        contexts = np.empty((hi - lo, inputs.shape[1]), dtype=np.float32)
        found = np.empty(hi - lo, dtype=np.uint8)
        first = int(starts[lo // step])  # bounds from this sentence on are enough
        dual_clustering.mean_contexts(words, bounds[first:], lo, hi, inputs, window, contexts, found)
        scores = log_softmax(contexts @ outputs.T + bias)
        own = scores[np.arange(hi - lo), words[lo:hi]][found > 0]
        return np.array([own.sum(dtype=np.float64), len(own)])

    total, count = sum_over_blocks(len(words), step, score, threads)
    return float(total), int(count)
