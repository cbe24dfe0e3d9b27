"""Reading svmlight against scikit-learn: ``bench_svmlight.py --peer-python PATH [--megabytes N]``.

Prints ``task<TAB>ours<TAB>peer<TAB>unit<TAB>ratio``; processor time, the best of some runs,
each reader in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

OURS = "from wordkit.formats.svmlight import read_svmlight as read"
PEER = (
    "from sklearn.datasets import load_svmlight_file as load\nread = lambda path: load(path, dtype='float32')"
)
TIMED = """
import sys, time
{read}
best = 1e9
for _ in range({runs}):
    start = time.process_time()
    read(sys.argv[1])
    best = min(best, time.process_time() - start)
print(best)
"""


def documents(path: Path, size: int, width: int, per_line: int, form: str) -> None:
    """Random records until the file has about ``size`` bytes."""
    rng = np.random.default_rng(1)
    with path.open("w") as out:
        while out.tell() < size:
            indices = np.unique((rng.random(per_line) ** 2 * width).astype(int)) + 1
            values = rng.random(len(indices)) if form == "{:.6g}" else rng.integers(1, 4, len(indices))
            fields = [f"{i}:{form.format(value)}" for i, value in zip(indices, values, strict=True)]
            out.write(f"{rng.integers(6)} " + " ".join(fields) + "\n")


def seconds(python: str, code: str, path: Path, runs: int) -> float:
    """Processor time of the best run."""
    program = TIMED.format(read=code, runs=runs)
    done = subprocess.run([python, "-c", program, path], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter with scikit-learn")
    parser.add_argument("--megabytes", type=int, default=20)
    arguments = parser.parse_args()
    tasks = {
        "word counts, 12 a line": (50_000, 12, "{}"),
        "word counts, 200 a line": (500_000, 200, "{}"),
        "six digits, 100 a line": (100_000, 100, "{:.6g}"),
    }
    print("task\tours\tpeer\tunit\tratio")
    with tempfile.TemporaryDirectory() as folder:
        for task, (width, per_line, form) in tasks.items():
            path = Path(folder, "data.svmlight")
            documents(path, arguments.megabytes * 10**6, width, per_line, form)
            megabytes = path.stat().st_size / 1e6
            ours = megabytes / seconds(sys.executable, OURS, path, 3)
            time.sleep(0.2)  # let the processor cool down between the two
            peer = megabytes / seconds(arguments.peer_python, PEER, path, 2)
            print(f"{task}\t{ours:.1f}\t{peer:.1f}\tMB/s\t{ours / peer:.1f}", flush=True)


if __name__ == "__main__":
    main()
