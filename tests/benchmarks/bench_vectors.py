"""Loading vector files: wordkit against gensim, each in processes of its own, and against a bare ``read()``.

    python tests/benchmarks/bench_vectors.py [--peer-python PATH] [--rows 100000] [--text-dim 100]
    [--binary-dim 300]

Prints ``task<TAB>ours<TAB>peer<TAB>unit<TAB>ratio``; ratio is how many times faster ours is. Each is
processor time, the best of ``--repeat`` runs within one process, so that the file is in the page cache for both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent.parent

TIMER = """
import sys, time
path, repeat = sys.argv[1], int(sys.argv[2])
SETUP
best = float("inf")
for _ in range(repeat):
    start = time.process_time()
    result = CALL
    best = min(best, time.process_time() - start)
    del result
print(best)
"""


def timer(setup: str, call: str) -> str:
    return TIMER.replace("SETUP", setup).replace("CALL", call)


def our_writer(format: str) -> str:
    setup = (
        "from wordkit.formats.vectors import read_vectors, write_vectors\nwords, vectors = read_vectors(path)"
    )
    return timer(setup, f"write_vectors(path + '.out', words, vectors, {format!r})")


def peer_reader(binary: bool) -> str:
    return timer(
        "from gensim.models import KeyedVectors", f"KeyedVectors.load_word2vec_format(path, binary={binary})"
    )


def peer_writer(binary: bool) -> str:
    load = f"loaded = KeyedVectors.load_word2vec_format(path, binary={binary})"
    return timer(
        f"from gensim.models import KeyedVectors\n{load}",
        f"loaded.save_word2vec_format(path + '.out', binary={binary})",
    )


OURS = timer("from wordkit.formats.vectors import read_vectors", "read_vectors(path)")
BARE = timer("", "open(path, 'rb').read()")


def best_seconds(python: str, code: str, path: Path, repeat: int) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [python, "-c", code, str(path), str(repeat)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def make_files(folder: Path, rows: int, text_dim: int, binary_dim: int) -> tuple[Path, Path]:
    """A text file as the C tools write it (six decimals), and a binary one."""
    sys.path.insert(0, str(ROOT))
    from wordkit.formats.vectors import vector_writer

    rng = np.random.default_rng(1)
    text, binary = folder / "random.vec", folder / "random.bin"
    for path, dim in ((text, text_dim), (binary, binary_dim)):
        with vector_writer(path, dim, rows=rows) as write:
            for first in range(0, rows, 1000):
                vectors = rng.standard_normal((min(1000, rows - first), dim)) / 3
                write(
                    [f"word{i}" for i in range(first, first + len(vectors))],
                    np.round(vectors, 6).astype(np.float32),
                )
    return text, binary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="an interpreter that has gensim")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--text-dim", type=int, default=100)
    parser.add_argument("--binary-dim", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()

    def row(task: str, ours: float, peer: float | None) -> None:
        shown = ("n/a", "n/a") if peer is None else (f"{peer:.3f}", f"{peer / ours:.2f}")
        print(f"{task}\t{ours:.3f}\t{shown[0]}\ts\t{shown[1]}", flush=True)

    print("task\tours\tpeer\tunit\tratio")
    with tempfile.TemporaryDirectory() as folder:
        text, binary = make_files(Path(folder), options.rows, options.text_dim, options.binary_dim)
        for name, path, dim in (("text", text, options.text_dim), ("binary", binary, options.binary_dim)):
            size = f"{options.rows}x{dim}, {path.stat().st_size / 1e6:.0f} MB"
            is_binary = name == "binary"
            ours = best_seconds(sys.executable, OURS, path, options.repeat)
            peer = options.peer_python and best_seconds(options.peer_python, peer_reader(is_binary), path, 1)
            row(f"read {name} {size}", ours, peer or None)
            row(
                f"read {name} {size}, peer is read()",
                ours,
                best_seconds(sys.executable, BARE, path, options.repeat),
            )
            code = our_writer("word2vec-binary" if is_binary else "word2vec")
            ours = best_seconds(sys.executable, code, path, 1)
            peer = options.peer_python and best_seconds(options.peer_python, peer_writer(is_binary), path, 1)
            row(f"write {name} {size}", ours, peer or None)


if __name__ == "__main__":
    main()
