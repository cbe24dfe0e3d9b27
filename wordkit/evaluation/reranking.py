"""How good the chosen candidates of n-best lists are, over all lists together."""

from __future__ import annotations

import numpy as np


def aggregated_fscore(counts: np.ndarray) -> float | None:
    """F of a set, 2 matched / (gold + proposed) of the sums over its sentences, in 0..1; None where both are 0.

    Args:
        counts: (S, 3) matched, gold and proposed items of the candidate that was chosen for each sentence.
    """
    matched, gold, proposed = (int(total) for total in counts.sum(axis=0))
    return 2 * matched / (gold + proposed) if gold + proposed else None


def chosen_quality(
    starts: np.ndarray, scores: np.ndarray, counts: np.ndarray | None, chosen: np.ndarray
) -> tuple[str, float | None]:
    """Name and value of what is measured: ``fscore`` where there are counts, else ``mean_score`` of the chosen candidates.

    Args:
        starts: (S + 1,) candidates before each list. scores: (R,) of the data. counts: (R, 3) or None.
        chosen: (S,) places in the lists.
    """
    rows = starts[:-1] + chosen
    if counts is None:
        return "mean_score", float(scores[rows].mean())
    return "fscore", aggregated_fscore(counts[rows])
