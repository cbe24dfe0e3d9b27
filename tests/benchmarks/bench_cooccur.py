"""Window counts: tokens a second and peak memory, beside a plain NumPy script, and GloVe's counter where it is at hand.

Times are of the processor, from the text file to the counts file: reading, vocabulary, counting, writing; those of Python are
without imports. GloVe reads the text twice, in ``vocab_count`` and in ``cooccur``: it is measured without the first, and with it.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.measure import THIS_PYTHON, in_process, row, zipf_documents

MIN_COUNT, WINDOW = 10, 5
REPEATS = 3

_MEASURED = """
import json, sys, time
{imports}
path, out, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
cpu, wall = [], []
for _ in range(repeats):
    p, w = time.process_time(), time.perf_counter()
    cells = work(path, out)
    cpu.append(time.process_time() - p)
    wall.append(time.perf_counter() - w)
with open("/proc/self/status") as status:  # not rusage, which begins with what the parent took
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps(dict(cpu=min(cpu), wall=min(wall), mib=peak / 1024, cells=cells)))
"""
_OURS = """
from wordkit.formats.counts import write_counts
from wordkit.models.cooccurrence import count_cooccurrences
def work(path, out):
    counts = count_cooccurrences([path], {options})
    write_counts(out, counts)
    return counts.matrix.nnz
"""
# What one writes in a notebook: words to numbers by a dictionary, then for each distance all pairs at once.
_NUMPY = """
import collections
import numpy as np
import scipy.sparse
def work(path, out):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    counts = collections.Counter(word for line in lines for word in line)
    words = [word for word, count in counts.most_common() if count >= {min_count}]
    index = {{word: i for i, word in enumerate(words)}}
    V, get = len(words), index.get
    ids = np.array([get(word, -1) for line in lines for word in line], dtype=np.int64)
    line = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    total = scipy.sparse.csr_matrix((V, V))
    for d in range(1, {window} + 1):
        left, right = ids[:-d], ids[d:]
        kept = (line[:-d] == line[d:]) & (left >= 0) & (right >= 0)
        weights = np.full(np.count_nonzero(kept), 1 / d)
        total = total + scipy.sparse.coo_matrix((weights, (left[kept], right[kept])), shape=(V, V)).tocsr()
    total = (total + total.T).tocsr()
    scipy.sparse.save_npz(out, total, compressed=False)
    return total.nnz
"""


class Run(NamedTuple):
    """Processor seconds, seconds by the clock, peak MiB."""

    cpu: float
    wall: float
    mib: float


def _python(code: str, text: Path, folder: Path, repeats: int = REPEATS) -> Run:
    found = in_process(
        THIS_PYTHON, _MEASURED.format(imports=code), str(text), str(folder / "out.npz"), str(repeats)
    )
    return Run(found["cpu"], found["wall"], found["mib"])


def _ours(text: Path, folder: Path, *, repeats: int = REPEATS, **options: object) -> Run:
    options = {
        "window": WINDOW, "min_count": MIN_COUNT, "rare_token": False, "number_token": False,
        "distance_weighting": "harmonic", **options,
    }  # fmt: skip
    given = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return _python(_OURS.format(options=given), text, folder, repeats)


def _process(command: list[object], text: Path, out: Path) -> Run:
    """A peer that reads standard input and writes standard output."""
    best = Run(float("inf"), float("inf"), 0.0)
    for _ in range(REPEATS):
        with open(text, "rb") as source, open(out, "wb") as target:
            process = subprocess.Popen(
                list(map(str, command)), stdin=source, stdout=target, stderr=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command[0]} failed")
        best = min(best, Run(usage.ru_utime + usage.ru_stime, 0.0, usage.ru_maxrss / 1024))
    return best


def _glove(binaries: Path, text: Path, folder: Path) -> tuple[Run, Run]:
    """The peer's vocabulary, and its counts."""
    vocabulary = folder / "vocab.txt"
    first = _process([binaries / "vocab_count", "-min-count", MIN_COUNT, "-verbose", 0], text, vocabulary)
    command: list[object] = [
        binaries / "cooccur", "-window-size", WINDOW, "-vocab-file", vocabulary, "-verbose", 0, "-overflow-file",
        folder / "overflow", "-distance-weighting", 1,
    ]  # fmt: skip
    return first, _process(command, text, folder / "glove.bin")


def _compare(name: str, text: Path, tokens: int, folder: Path, binaries: Path | None) -> None:
    task, million = f"cooccur +-{WINDOW}, {name}", tokens / 1e6
    one = _ours(text, folder, threads=1)
    script = _python(_NUMPY.format(min_count=MIN_COUNT, window=WINDOW), text, folder)
    row(f"{task}; NumPy and SciPy", million / one.cpu, million / script.cpu, "M tokens/s")
    once, once_script = (
        _ours(text, folder, threads=1, repeats=1),
        _python(_NUMPY.format(min_count=MIN_COUNT, window=WINDOW), text, folder, 1),
    )
    row(f"{task}: peak memory; NumPy and SciPy", once.mib, once_script.mib, "MiB", lower_is_better=True)
    if binaries is not None:
        vocabulary, counts = _glove(binaries, text, folder)
        row(f"{task}; GloVe cooccur alone", million / one.cpu, million / counts.cpu, "M tokens/s")
        both = vocabulary.cpu + counts.cpu
        row(f"{task}; GloVe vocab_count and cooccur", million / one.cpu, million / both, "M tokens/s")
        row(f"{task}: peak memory; GloVe cooccur", once.mib, counts.mib, "MiB", lower_is_better=True)
    plain = _ours(text, folder, threads=1, distance_weighting="none")
    row(f"{task}, plain counts", million / plain.cpu, None, "M tokens/s")
    two = _ours(text, folder, threads=2)
    row(f"{task}, two threads by the clock; one thread", million / two.wall, million / one.wall, "M tokens/s")
    tight = _ours(text, folder, threads=1, memory=8 << 20, repeats=1)
    row(f"{task}, memory 8 MiB (spilling); 4 GiB", million / tight.cpu, million / one.cpu, "M tokens/s")
    row(f"{task}, memory 8 MiB: peak memory; 4 GiB", tight.mib, once.mib, "MiB", lower_is_better=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="not used: the peers are binaries and a script")
    parser.add_argument(
        "--peers", default="", help="folder that holds GloVe's binaries vocab_count and cooccur"
    )
    parser.add_argument(
        "--data", default="", help="folder with text/{brown,mixed}.txt.gz; else a made-up text"
    )
    given = parser.parse_args()
    binaries = Path(given.peers) if given.peers and Path(given.peers, "cooccur").exists() else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts: dict[str, tuple[Path, int]] = {}
        for corpus in ("brown", "mixed"):
            source = Path(given.data, "text", f"{corpus}.txt.gz")
            if given.data and source.exists():
                with gzip.open(source, "rb") as packed, open(folder / corpus, "wb") as out:
                    shutil.copyfileobj(packed, out)
                with open(
                    folder / corpus, "rb"
                ) as lines:  # this process stays small: peers' peaks begin with its size
                    texts[f"{corpus} text"] = folder / corpus, sum(len(line.split()) for line in lines)
        if not texts:
            made = zipf_documents(folder / "text", documents=150_000, length=20, types=50_000, classes=50)
            texts["made-up text"] = folder / "text", made + 150_000
        for name, (text, tokens) in texts.items():
            _compare(f"{name}, {tokens / 1e6:.1f}M tokens", text, tokens, folder, binaries)


if __name__ == "__main__":
    main()
