"""``make bench``: all benchmarks one after the other, peers in their own interpreter, one table with the ratios."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

BENCHMARKS = (
    "bench_vectors",
    "bench_conll",
    "bench_svmlight",
    "bench_rpa",
    "bench_hmm",
    "bench_hmtm",
    "bench_brown",
    "bench_forest_sgd",
    "bench_cooccur",
    "bench_forest",
    "bench_trace_lasso",
    "bench_analogy",
    "bench_dcme",
    "bench_evaluate",
    "bench_tmira",
    "bench_nbest",
)
WITH_DATA = (
    "bench_conll",
    "bench_rpa",
    "bench_brown",
    "bench_cooccur",
    "bench_tmira",
    "bench_nbest",
    "bench_dcme",
)
WITH_BINARIES = ("bench_brown", "bench_cooccur", "bench_dcme")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peer-python",
        required=True,
        help="an interpreter that has gensim, fasttext, conllu, scikit-learn, hmmlearn, cvxpy",
    )
    parser.add_argument(
        "--data", default="", help="folder of real texts, for the benchmarks that can use them"
    )
    parser.add_argument(
        "--peers",
        default="",
        help="folder of peers' binaries (wcluster; GloVe's vocab_count and cooccur; word2vec)",
    )
    parser.add_argument("--output", help="write the rows here as TSV")
    parser.add_argument(
        "names", nargs="*", metavar="BENCHMARK", help=f"some of {', '.join(BENCHMARKS)}; all by default"
    )
    arguments = parser.parse_args()
    rows: list[list[str]] = []
    failed = []
    for name in arguments.names or BENCHMARKS:
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--peer-python", arguments.peer_python]
        if arguments.data and name in WITH_DATA:
            command += ["--data", arguments.data]
        if arguments.peers and name in WITH_BINARIES:
            command += ["--peers", arguments.peers]
        print(f"{name} ...", file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        rows += [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 4]
        if done.returncode:
            failed.append(name)
    header = ["task", "ours", "peer", "unit", "ratio"]
    rows = [header, *(row for row in rows if row != header)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if arguments.output:
        Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
        Path(arguments.output).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
