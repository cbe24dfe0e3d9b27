"""Figures 1 and 2 of the RPA paper (Denis and Ralaivola 2017): what noise on the vectors does to PA and RPA.

    experiment_rpa_noise.py --output results/rpa-noise

Writes ``rpa-noise.tsv`` (sigma, algorithm, accuracy, std), ``rpa-noise.points.tsv`` (Figure 2's samples and weights) and, where
matplotlib is there, ``rpa-noise.figure1.png`` and ``.figure2.png``. ``--quick`` prints a small table and writes nothing.
The readings of the paper are told in ``wordkit/evaluation/denoising.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation import denoising
from wordkit.formats.opening import open_output
from wordkit.parallel import available_threads
from wordkit.plotting.denoising import hyperplane_figure, noise_figure


def save_points(points: Sequence[denoising.NoisePoint], path: str) -> None:
    with open_output(path) as out:
        out.write(b"sigma\talgorithm\taccuracy\tstd\n")
        for p in points:
            out.write(f"{p.sigma:g}\t{p.algorithm}\t{p.accuracy:.4f}\t{p.std:.4f}\n".encode())


def save_example(example: denoising.Example, path: str) -> None:
    """A line a sample; the weights are lines of their own, without a label."""
    with open_output(path) as out:
        out.write(b"kind\tlabel\tpa_1\tpa_2\trpa_1\trpa_2\n")
        for label, trained, before, after in zip(*example[:4], strict=True):
            numbers = "\t".join(f"{x:.6g}" for x in (*before, *after))
            out.write(f"{'training' if trained else 'held out'}\t{label}\t{numbers}\n".encode())
        numbers = "\t".join(f"{x:.6g}" for x in (*example.pa_weights, *example.rpa_weights))
        out.write(f"weights\t\t{numbers}\n".encode())


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--output", default="results/rpa-noise", help="how the names of the files begin")
    parser.add_argument("--quick", action="store_true", help="print a small table, nothing else")
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--most-noise", type=float, default=10.0)
    parser.add_argument("--step", type=float, default=0.1)
    parser.add_argument("--initializations", type=int, default=10)
    parser.add_argument("--threads", type=int, default=available_threads())
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    given = parse(arguments)
    if given.quick:
        denoising.main()
        return
    Path(given.output).parent.mkdir(parents=True, exist_ok=True)
    points: list[denoising.NoisePoint] = []
    print("sigma\talgorithm\taccuracy\tstd")
    for sigma in np.arange(round(given.most_noise / given.step) + 1) * given.step:
        points += denoising.denoising_curve(
            [round(float(sigma), 6)], n=given.samples, p=given.words, initializations=given.initializations,
            threads=given.threads,
        )  # fmt: skip
        for p in points[-2:]:
            print(f"{p.sigma:g}\t{p.algorithm}\t{p.accuracy:.4f}\t{p.std:.4f}", flush=True)
    save_points(points, f"{given.output}.tsv")
    example = denoising.denoising_example()
    save_example(example, f"{given.output}.points.tsv")
    try:
        noise_figure(points, f"{given.output}.figure1.png")
        hyperplane_figure(example, f"{given.output}.figure2.png")
    except WordkitError as error:
        print(f"no figures: {error}")


if __name__ == "__main__":
    main()
