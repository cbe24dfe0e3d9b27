"""Speed of sgd sparse coding (Algorithm 1) at the paper's M = 260, 20 trees of 13 nodes. No peer has it: the paper names 4 hours
on 16 cores for 6.8 billion words, without the number of entries.

The column of peers holds what bounds us, in the same run: steps without penalty as printed (one inner product and the two
updates), and for two threads one thread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse

from tests.benchmarks.measure import least_seconds, row
from wordkit.models.forest_sgd import ForestSgd

_TREE = np.array([-1, 0, 1, 1, 1, 0, 5, 5, 5, 0, 9, 9, 9])
_DRAWS = 400_000


def trees(n: int) -> np.ndarray:
    """Parents of n trees of 1 + 3 + 9 nodes."""
    return np.concatenate([np.where(_TREE < 0, -1, _TREE + 13 * i) for i in range(n)])


def zipf_counts(words: int, pairs: int, seed: int = 1) -> scipy.sparse.csr_array:
    """Logarithms of the counts of word pairs, both words of which follow Zipf's law; some values are negative, as PMI's."""
    random = np.random.default_rng(seed)
    ranks = np.minimum(np.exp(random.random((2, pairs)) * np.log(words)).astype(np.int64), words - 1)
    counts = scipy.sparse.coo_array((np.ones(pairs), (ranks[0], ranks[1])), shape=(words, words)).tocsr()
    counts.data = np.log(counts.data) + random.normal(size=counts.nnz)
    return counts


def rate(model: ForestSgd, threads: int = 1) -> float:
    """Draws a second of an epoch's first draws, after as many that are not counted."""
    model.threads = threads
    clock = time.process_time if threads == 1 else time.perf_counter
    model.run_draws(_DRAWS)
    return _DRAWS / least_seconds(lambda: model.run_draws(_DRAWS), repeats=5, clock=clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="not used: there is no peer")
    parser.parse_args()
    matrices = {
        "20,000 words": zipf_counts(20_000, 20_000_000),
        "100 words (all in cache)": scipy.sparse.csr_array(np.random.default_rng(1).normal(size=(100, 100))),
    }
    for name, X in matrices.items():
        for M, n in ((260, 20), (52, 4)):
            settings = {"epochs": 10**6, "learning_rate": 0.001}
            bare = rate(ForestSgd(X, trees(n), lam=0.0, step="printed", **settings))
            row(
                f"sgd, M = {M}, {name}: beside bare steps",
                rate(ForestSgd(X, trees(n), **settings)),
                bare,
                "entries/s",
            )
            if n == 20 and X.shape[0] > 1000:
                model = ForestSgd(X, trees(n), zeros=0.0, **settings)
                row(f"sgd, M = {M}, {name}, non-zeros alone", rate(model), bare, "entries/s")
                times = [(_wall(model, 1), _wall(model, 2)) for _ in range(5)]
                one, two = (max(pair) for pair in zip(*times, strict=True))
                row(f"sgd, M = {M}, {name}: two threads beside one", two, one, "entries/s")


def _wall(model: ForestSgd, threads: int) -> float:
    model.threads = threads
    started = time.perf_counter()
    model.run_draws(_DRAWS)
    return _DRAWS / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
