"""What the benchmarks share: made-up corpora, CPU times of callables and of peers, rows of the result table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np


def row(task: str, ours: float, peer: float | None, unit: str, *, lower_is_better: bool = False) -> None:
    """Print ``task<TAB>ours<TAB>peer<TAB>unit<TAB>ratio``; the ratio is above 1 where we are better."""
    ratio = "" if peer is None else f"{(peer / ours if lower_is_better else ours / peer):.2f}"
    print(f"{task}\t{ours:.4g}\t{'' if peer is None else f'{peer:.4g}'}\t{unit}\t{ratio}", flush=True)


def least_seconds(
    work: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.process_time
) -> float:
    """Least time of some repetitions: processor time (other work on the machine does not count), or by another clock."""
    best = float("inf")
    for _ in range(repeats):
        started = clock()
        work()
        best = min(best, clock() - started)
    return best


def in_process(python: str, code: str, *arguments: str) -> dict:
    """Run code in an interpreter of its own; it prints one JSON object as its last line."""
    done = subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{python} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def zipf_documents(
    path: Path, *, documents: int, length: int, types: int, classes: int, seed: int = 1, signal: float = 0.1
) -> int:
    """Write labelled documents of Zipf-distributed made-up words, and return their number of tokens.

    A share of each document's tokens is drawn from words that only its class uses, so that there is something to learn.
    """
    random = np.random.default_rng(seed)
    words = np.array([f"w{i:x}" for i in range(types)])
    lengths = random.integers(length // 2, length * 3 // 2 + 1, documents)
    total = int(lengths.sum())
    ranks = np.minimum(np.exp(random.random(total) * np.log(types)).astype(np.int64), types - 1)
    labels = random.integers(0, classes, documents)
    of_class = random.random(total) < signal
    ranks[of_class] = ranks[of_class] // classes * classes + np.repeat(labels, lengths)[of_class]
    tokens = words[np.minimum(ranks, types - 1)]
    with open(path, "w", encoding="utf-8") as out:
        at = 0
        for label, size in zip(labels.tolist(), lengths.tolist(), strict=True):
            out.write(f"__label__c{label} {' '.join(tokens[at : at + size])}\n")
            at += size
    return total


THIS_PYTHON = sys.executable
