"""Analogies: wordkit against gensim's ``evaluate_word_analogies`` on the same vectors and questions, in one run.

    python -m tests.benchmarks.bench_analogy [--peer-python PATH] [--rows 100000] [--dim 100] [--questions 19544] [--threads 2]

Made-up vectors in which pairs share their offsets, so that a part of the questions is answered. gensim answers the first
``--peer-questions`` of them and its time is multiplied up: it takes the same time for each. Prints
``task<TAB>ours<TAB>peer<TAB>unit<TAB>ratio``; processor time where the unit is s. Both must find the same number right.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy: as the command line does, and for the peer too

import numpy as np

from tests.benchmarks.measure import in_process, least_seconds, row
from wordkit.evaluation.analogy import analogy_result
from wordkit.evaluation.known_vectors import read_all_vectors
from wordkit.formats.questions import Questions, read_questions
from wordkit.formats.vectors import write_vectors

SECTIONS, PAIRS = 14, 38  # 14 x 38 x 37 = 19,684 questions, about as many as the published set has

PEER = """
import json, sys, time
from gensim.models import KeyedVectors
vectors = KeyedVectors.load_word2vec_format(sys.argv[1], binary=True)
vectors.fill_norms()
started, wall = time.process_time(), time.monotonic()
score, sections = vectors.evaluate_word_analogies(sys.argv[2], restrict_vocab=len(vectors), case_insensitive=False)
seconds, wall = time.process_time() - started, time.monotonic() - wall
print(json.dumps({"seconds": seconds, "wall": wall, "right": len(sections[-1]["correct"])}))
"""


def make_files(folder: Path, rows: int, dim: int, questions: int, of_peer: int) -> tuple[Path, Path, Path]:
    """Vectors, all questions, and the first ones for the peer."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((rows, dim)).astype(np.float32)
    first = rng.permutation(min(rows, 20_000))[: 2 * SECTIONS * PAIRS].reshape(SECTIONS, PAIRS, 2)
    lines = []
    for section, pairs in enumerate(first):
        offset = 1.3 * rng.standard_normal(dim)
        vectors[pairs[:, 1]] = vectors[pairs[:, 0]] + offset + 0.9 * rng.standard_normal((PAIRS, dim))
        lines += [f": {'gram' if section > 4 else 'topic'}{section}\n"]
        lines += [f"w{a} w{b} w{c} w{d}\n" for a, b in pairs for c, d in pairs if a != c]
    write_vectors(folder / "v.bin", [f"w{i}" for i in range(rows)], vectors)
    for name, count in (("all.txt", questions), ("peer.txt", of_peer)):
        kept = np.cumsum([not line.startswith(":") for line in lines]) <= count
        (folder / name).write_text("".join(line for line, keep in zip(lines, kept, strict=True) if keep))
    return folder / "v.bin", folder / "all.txt", folder / "peer.txt"


def right(result) -> int:
    return sum(section["correct"] for section in result.details["sections"].values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="an interpreter that has gensim")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--questions", type=int, default=19_544)
    parser.add_argument("--peer-questions", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    print("task\tours\tpeer\tunit\tratio")
    with tempfile.TemporaryDirectory() as folder:
        vec, every, few = make_files(
            Path(folder), options.rows, options.dim, options.questions, options.peer_questions
        )
        known, questions, some = read_all_vectors(vec), read_questions(every), read_questions(few)

        def work(asked: Questions, method: str = "add", threads: int = 1, **more):
            return lambda: analogy_result(asked, known, data="", method=method, threads=threads, **more)

        size = f"{len(questions)} questions, {options.rows} x {options.dim}"
        ours = least_seconds(work(questions), options.repeat)
        peer = in_process(options.peer_python, PEER, str(vec), str(few)) if options.peer_python else None
        times = len(questions) / len(some)
        row(
            f"analogies, {size}, one thread",
            ours,
            peer and peer["seconds"] * times,
            "s",
            lower_is_better=True,
        )
        wall = least_seconds(work(questions, threads=options.threads), options.repeat, time.monotonic)
        row(
            f"the same, elapsed, {options.threads} threads",
            wall,
            peer and peer["wall"] * times,
            "s",
            lower_is_better=True,
        )
        row("3CosMul", least_seconds(work(questions, "mul"), 1), None, "s")
        row("log-likelihood too", least_seconds(work(questions, outputs=known), 1), None, "s")
        if peer is not None and right(work(some)()) != peer["right"]:
            print(f"right answers: {right(work(some)())}, the peer {peer['right']}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
