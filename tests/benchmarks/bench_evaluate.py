"""Similarity sets beside reading the vectors, neighbours beside the bare products and gensim, vectors mapped into memory.

    python -m tests.benchmarks.bench_evaluate [--peer-python PATH] [--rows 400000] [--dim 300] [--queries 1000]

Made-up vectors. Prints ``task<TAB>ours<TAB>peer<TAB>unit<TAB>ratio``: processor time where the unit is s, the best of
``--repeat`` runs, one thread; memory is the peak of a process of its own, of pages that are not the file's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy: as the command line does, and for the peer too

import numpy as np

from tests.benchmarks.measure import in_process, least_seconds, row
from wordkit.evaluation.known_vectors import read_known_vectors
from wordkit.evaluation.neighbors import nearest_neighbors
from wordkit.evaluation.similarity import similarity_result
from wordkit.formats.vectors import read_vectors, write_vectors
from wordkit.formats.word_pairs import WordPairs, read_word_pairs

SETS = (353, 999, 2034, 3000)  # pairs of WordSim, SimLex, rare words, MEN
BLOCKS = (
    (256, 1024),
    (512, 2048),
    (1000, 2048),
)  # of queries and of rows; the bare product takes what is best for it

PEER = """
import json, sys, time
import numpy as np
from gensim.models import KeyedVectors
vectors = KeyedVectors.load_word2vec_format(sys.argv[1], binary=True)
vectors.fill_norms()
words = [vectors.index_to_key[int(row)] for row in sys.argv[2].split(",")]
started = time.process_time()
found = [vectors.most_similar(word, topn=10) for word in words]
print(json.dumps({"seconds": time.process_time() - started, "found": [[w for w, _ in near] for near in found]}))
"""
# What a process needs to find neighbours in a file, and its words without any vector.
MEMORY = """
import json, sys, time
from wordkit.evaluation.known_vectors import read_known_vectors
from wordkit.formats.word_pairs import read_word_pairs
pairs = read_word_pairs(sys.argv[2])
def private():
    line = next(line for line in open("/proc/self/status") if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024
before, started = private(), time.process_time()
if sys.argv[3] == "similarity":
    kept = read_known_vectors(sys.argv[1], [*pairs.first, *pairs.second], mean=False, mapped=sys.argv[4] == "mapped")
else:
    from wordkit.formats.vectors import read_vectors
    kept = read_vectors(sys.argv[1], mapped=sys.argv[4] == "mapped")
print(json.dumps({"seconds": time.process_time() - started, "mib": private() - before}))
"""


def make_files(folder: Path, rows: int, dim: int) -> tuple[Path, Path, list[Path]]:
    """Vectors in word2vec's binary format and as npz, and sets of word pairs."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(rows)]
    vectors = rng.standard_normal((rows, dim), dtype=np.float32)
    for name in ("v.bin", "v.npz"):
        write_vectors(folder / name, words, vectors)
    paths = []
    for count in SETS:
        pairs = rng.integers(0, rows, (count, 2))
        lines = [f"w{a}\tw{b}\t{score:.2f}\n" for (a, b), score in zip(pairs, rng.random(count), strict=True)]
        paths.append(folder / f"{count}.txt")
        paths[-1].write_text("".join(lines))
    return folder / "v.bin", folder / "v.npz", paths


def similarity(vec: Path, paths: list[Path], mapped: bool = False) -> None:
    """What ``evaluate similarity`` does with these sets."""
    sets: list[WordPairs] = [read_word_pairs(path) for path in paths]
    words = dict.fromkeys(word for pairs in sets for word in (*pairs.first, *pairs.second))
    known = read_known_vectors(vec, words, mean=False, mapped=mapped)
    for pairs in sets:
        similarity_result(pairs, known, data="")


def product(queries: np.ndarray, vectors: np.ndarray, size: tuple[int, int]) -> None:
    """The products of all queries with all rows, in blocks."""
    buffer = np.empty(size[0] * size[1], dtype=np.float32)
    for start in range(0, len(queries), size[0]):
        some = queries[start : start + size[0]]
        for lo in range(0, len(vectors), size[1]):
            block = vectors[lo : lo + size[1]]
            np.matmul(some, block.T, out=buffer[: len(some) * len(block)].reshape(len(some), len(block)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="an interpreter that has gensim")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--peer-queries", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print("task\tours\tpeer\tunit\tratio")
    size = f"{options.rows} x {options.dim}"
    with tempfile.TemporaryDirectory() as folder:
        binary, npz, sets = make_files(Path(folder), options.rows, options.dim)
        reading = least_seconds(lambda: read_vectors(binary), options.repeat)
        ours = least_seconds(lambda: similarity(binary, sets), options.repeat)
        row(
            f"four similarity sets, vectors {size}; peer: reading them",
            ours,
            reading,
            "s",
            lower_is_better=True,
        )
        mapped = least_seconds(lambda: similarity(npz, sets, mapped=True), options.repeat)
        row("the same, --mmap; peer: read", mapped, ours, "s", lower_is_better=True)
        for work in ("similarity", "all vectors"):
            read, mapped_run = (
                in_process(sys.executable, MEMORY, str(path), str(sets[0]), work, how)
                for path, how in ((binary, "read"), (npz, "mapped"))
            )
            task = f"memory of {work}, --mmap; peer: read"
            row(task, mapped_run["mib"], read["mib"], "MiB", lower_is_better=True)

        words, vectors = read_vectors(binary)
        rows = np.random.default_rng(2).permutation(options.rows)[: options.queries]
        left = vectors[rows]
        seconds, bare = np.inf, np.inf
        for _ in range(options.repeat):  # by turns: other work on the machine comes and goes
            seconds = min(seconds, least_seconds(lambda: nearest_neighbors(rows, vectors), 1))
            for blocks in BLOCKS:
                bare = min(bare, least_seconds(lambda blocks=blocks: product(left, vectors, blocks), 1))
        task = f"neighbours of {options.queries} words, {size}; peer: the bare products"
        row(task, seconds, bare, "s", lower_is_better=True)
        if options.peer_python:
            some = rows[: options.peer_queries]
            peer = in_process(options.peer_python, PEER, str(binary), ",".join(map(str, some)))
            times = options.queries / len(some)
            row(
                "the same; peer: gensim, one by one",
                seconds,
                peer["seconds"] * times,
                "s",
                lower_is_better=True,
            )
            found = [[words[near] for near in nears] for nears in nearest_neighbors(some, vectors).rows]
            if found != peer["found"]:
                print("neighbours differ from the peer's", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
