"""Exact EM of hidden Markov chains and trees beside hmmlearn: tokens a second of one iteration, and the same log-likelihood."""

from __future__ import annotations

import argparse
import os

# As the command line does, before NumPy loads: a kernel's GEMM is one thread's work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.linalg.blas import dgemm
from scipy.sparse import csr_array

from tests.benchmarks.measure import THIS_PYTHON, in_process, least_seconds, row
from wordkit._kernels import exact_messages, tree_shape, tree_viterbi

SENTENCES_A_GROUP = 128

_HMMLEARN = """
import sys, json, time, warnings
import numpy as np
from hmmlearn.hmm import CategoricalHMM
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
words, lengths = data["words"][:, None], data["lengths"]
def model():
    made = CategoricalHMM(n_components=len(data["start"]), n_iter=1, init_params="", implementation="scaling", tol=0)
    made.n_features = len(data["O"])
    made.startprob_, made.transmat_, made.emissionprob_ = data["start"], data["T"].T, data["O"].T
    return made
seconds = []
for _ in range(int(sys.argv[2])):
    made = model()
    started = time.process_time()
    made.fit(words, lengths)
    seconds.append(time.process_time() - started)
print(json.dumps({"before": model().score(words, lengths), "after": made.score(words, lengths), "seconds": min(seconds)}))
"""

_OURS = """
import sys, json
from tests.benchmarks.bench_hmm import one_iteration
print(json.dumps(one_iteration(sys.argv[1], int(sys.argv[2]))))
"""


class ExactEM:
    """Batch EM with exact messages on the kernels' doors: one E-step over all sentences, one M-step without smoothing."""

    def __init__(self, words, heads, lengths, O, T, start):
        self.words, self.heads = words.astype(np.int32), heads.astype(np.int32)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self.labels, self.order = np.zeros_like(self.words), np.empty_like(self.words)
        tree_shape.order_trees(
            self.heads, self.offsets, self.order, np.empty((2, int(lengths.max()) + 1), np.int32)
        )
        self.emissions, self.transitions, self.start = O.copy(), T[None].copy(), start.copy()
        self.scale, self.floors = np.ones(len(start)), np.zeros(len(O))
        n = len(words)
        self.by_word = csr_array((np.ones(n), (self.words, np.arange(n))), shape=(len(O), n))
        self.bounds = [*range(0, len(lengths), SENTENCES_A_GROUP), len(lengths)]
        room = max(int(self.offsets[hi] - self.offsets[lo]) for lo, hi in pairwise(self.bounds))
        work, plan = exact_messages.scratch_shapes(room, 1, len(start))
        self.scratch = np.empty(work), np.empty(plan, np.int32)
        self.posterior = np.empty((n, len(start)))

    @property
    def trees(self):
        return self.words, self.heads, self.labels, self.order, self.offsets

    def expectations(self, upward_only=False):
        """(pair counts, root counts, log-likelihood); posteriors stay in their array."""
        pairs, starts = np.zeros_like(self.transitions), np.zeros_like(self.start)
        log_likelihood = np.zeros(len(self.offsets) - 1)
        for lo, hi in pairwise(self.bounds):
            exact_messages.infer(
                *self.trees, lo, hi, self.emissions, self.floors, self.scale, self.transitions, self.start, upward_only,
                self.posterior, pairs, starts, log_likelihood, *self.scratch,
            )  # fmt: skip
        return pairs * self.transitions, starts, float(log_likelihood.sum())

    def iterate(self):
        pairs, starts, _ = self.expectations()
        self.emissions = np.ascontiguousarray(self.by_word @ self.posterior)
        self.scale = 1 / np.maximum(self.emissions.sum(axis=0), 1e-300)
        self.transitions = pairs / np.maximum(pairs.sum(axis=1, keepdims=True), 1e-300)
        self.start = starts / starts.sum()

    def decode(self):
        longest = int(np.diff(self.offsets).max())
        tree_viterbi.decode(
            *self.trees, 0, len(self.offsets) - 1, self.emissions, self.floors, self.scale, self.transitions, self.start,
            np.empty_like(self.words), np.empty(len(self.offsets) - 1), np.empty((2 * longest + 1, len(self.start))),
            np.empty(longest, np.int32),
        )  # fmt: skip


def one_iteration(path: str, repeats: int) -> dict:
    """Seconds of one EM iteration, of a pass of log-likelihoods, of decoding; log-likelihood before and after the iteration."""
    data = np.load(path)
    arguments = [data[name] for name in ("words", "heads", "lengths", "O", "T", "start")]
    C, tokens = len(data["start"]), len(data["words"])
    matrices = np.asfortranarray(np.random.default_rng(0).random((2, C, 256)))
    a, b = np.asfortranarray(matrices[0]), np.asfortranarray(np.random.default_rng(1).random((C, C)))
    calls = max(1, 2**30 // (256 * C * C))

    def multiply():
        for _ in range(calls):
            dgemm(1.0, b, a)

    rate, seconds, upward = 0.0, float("inf"), float("inf")
    for _ in range(repeats):  # in turns, since the machine's speed changes
        model = ExactEM(*arguments)
        before = model.expectations(upward_only=True)[2]
        upward = min(upward, least_seconds(partial(model.expectations, upward_only=True), 1))
        seconds = min(seconds, least_seconds(model.iterate, 1))
        rate = max(rate, calls * 256 * C * C / least_seconds(multiply, 1))
    after = model.expectations(upward_only=True)[2]
    return {
        "before": before, "after": after, "seconds": seconds, "upward": upward,
        "decoding": least_seconds(model.decode, repeats), "share": 3 * C * C * tokens / seconds / rate,
    }  # fmt: skip


def write_corpus(path: Path, *, sentences: int, classes: int, types: int, trees: bool, seed: int = 1) -> int:
    """Zipf-distributed words in sentences of 12 to 37 tokens, and random parameters; returns the number of tokens."""
    random = np.random.default_rng(seed)
    lengths = random.integers(12, 38, sentences)
    total = int(lengths.sum())
    words = np.minimum(np.exp(random.random(total) * np.log(types)).astype(np.int64), types - 1)
    words[:types] = np.arange(types)  # each word at least once: hmmlearn estimates no word that is not there
    # A chain's parent is the token before; of a tree, any token before.
    place = np.concatenate([np.arange(n) for n in lengths])
    heads = np.floor(random.random(total) * place).astype(np.int64) + (place > 0) if trees else place
    O, T = random.random((types, classes)) + 0.1, random.random((classes, classes)) + 0.1
    start = random.random(classes) + 0.1
    np.savez(
        path, words=words, heads=heads, lengths=lengths, O=O / O.sum(axis=0), T=T / T.sum(axis=0), start=start / start.sum()
    )  # fmt: skip
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True, help="an interpreter that has hmmlearn")
    parser.add_argument("--sentences", type=int, default=2400)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for classes in (64, 128):
            path = Path(folder) / f"chain{classes}.npz"
            tokens = write_corpus(
                path, sentences=arguments.sentences, classes=classes, types=5000, trees=False
            )
            ours = in_process(THIS_PYTHON, _OURS, str(path), str(arguments.repeats))
            peer = in_process(arguments.peer_python, _HMMLEARN, str(path), "2")
            for name in ("before", "after"):
                if abs(ours[name] - peer[name]) > 1e-8 * abs(peer[name]):
                    raise SystemExit(
                        f"log-likelihood {name} an iteration: {ours[name]}, hmmlearn {peer[name]}"
                    )
            title = f"HMM, {classes} classes, chain"
            row(
                f"{title}: exact EM iteration", tokens / ours["seconds"], tokens / peer["seconds"], "tokens/s"
            )
            row(f"{title}: share of this machine's dgemm rate", ours["share"], None, "of 1")
            row(f"{title}: log-likelihood", tokens / ours["upward"], None, "tokens/s")
            row(f"{title}: Viterbi", tokens / ours["decoding"], None, "tokens/s")
            path = Path(folder) / f"tree{classes}.npz"
            tokens = write_corpus(
                path, sentences=arguments.sentences, classes=classes, types=5000, trees=True
            )
            ours = in_process(THIS_PYTHON, _OURS, str(path), str(arguments.repeats))
            row(
                f"HMM, {classes} classes, trees: exact EM iteration",
                tokens / ours["seconds"],
                None,
                "tokens/s",
            )


if __name__ == "__main__":
    main()
