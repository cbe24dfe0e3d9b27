"""Figures 7.1 to 7.4 of Grave's thesis: paths, unit balls, solvers against time, estimators against the size of the support.

    experiment_trace_lasso.py --output results/trace-lasso [--full] [--designs blocks,toeplitz] [--supports 8,32] [--runs 3]

Writes ``OUTPUT.figure3.tsv`` and ``OUTPUT.figure4.tsv`` line by line, so that a run which is called again goes on, and the four
figures as ``.png`` where matplotlib is there. Without ``--full`` all is small: a minute. The designs are those of section
7.5.1: identity, blocks of eight at 0.8, Toeplitz 0.95; signal-to-noise ratio 11. In Figure 7.4 each estimator has the lambda
that is best for the criterion on that data set, as in the thesis; the elastic net takes the better of two l1 ratios, the group
Lasso knows the blocks.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wordkit.errors import WordkitError
from wordkit.models import trace_lasso_path
from wordkit.models.trace_lasso_admm import SquaredLoss, admm
from wordkit.models.trace_lasso_irls import fast_irls, irls
from wordkit.models.trace_lasso_problem import Problem
from wordkit.models.trace_lasso_subgradient import subgradient
from wordkit.models.trace_norm import dual_norm, trace_norm_penalty
from wordkit.parallel import available_threads, map_blocks
from wordkit.plotting.trace_lasso import estimators_figure, path_pair_figure, solvers_figure, unit_ball_figure

DESIGNS = ("identity", "blocks", "toeplitz")
ESTIMATORS = ("trace", "lasso", "ridge", "elastic-net", "pairwise-elastic-net", "group")
FIGURE_3 = ("design", "share", "run", "solver", "seconds", "distance", "gap")
FIGURE_4 = ("criterion", "design", "support", "run", "estimator", "value")


class Size(NamedTuple):
    """``solvers``: n, p, k, runs of Figure 7.3; ``error``, ``recovery``: n, p of 7.4; ``supports``, ``runs``, ``lams`` of 7.4."""

    solvers: tuple[int, int, int, int]
    error: tuple[int, int]
    recovery: tuple[int, int]
    supports: tuple[int, ...]
    runs: int
    lams: int
    designs: tuple[str, ...] = DESIGNS


QUICK = Size((32, 64, 8, 1), (32, 64), (32, 64), (4, 16, 32), 2, 12)
FULL = Size((128, 256, 16, 10), (256, 1024), (128, 512), (8, 16, 32, 64, 128, 256), 20, 30)


def made_up(kind: str, n: int, p: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X (n, p), y (n,), w (p,): rows Gaussian, the first k coefficients uniform on [-1, 1], signal-to-noise ratio 11."""
    draw = np.random.default_rng(seed)
    places = np.arange(p)
    X = draw.standard_normal((n, p))
    if kind == "blocks":
        X = np.sqrt(0.2) * X + np.sqrt(0.8) * draw.standard_normal((n, p // 8 + 1))[:, places // 8]
    elif kind == "toeplitz":
        for column in range(1, p):  # 0.95^|i - j| is that of an autoregression
            X[:, column] = 0.95 * X[:, column - 1] + np.sqrt(1 - 0.95**2) * X[:, column]
    w = np.zeros(p)
    w[:k] = draw.uniform(-1, 1, k)
    signal = X @ w
    return X, signal + draw.standard_normal(n) * np.sqrt(signal.var() / 11), w


# --- Figure 7.3 ------------------------------------------------------------------------------------------------------


def solver_rows(size: Size, done: set[tuple[str, ...]]) -> Iterator[tuple[object, ...]]:
    """Distance to the optimum against seconds; strong and weak regularization, low and strong correlation."""
    n, p, k, runs = size.solvers
    for kind, share, run in itertools.product(("identity", "toeplitz"), (0.5, 0.05), range(runs)):
        if (kind, f"{share:g}", str(run)) in done:
            continue
        X, y, _ = made_up(kind, n, p, k, run)
        X = X / np.linalg.norm(X, axis=0)
        problem = Problem.of(X, y, 0.0)
        problem = problem.at(share * dual_norm(problem.P, problem.correlations).high)
        optimum = fast_irls(problem, tol=1e-8, max_iter=200)
        lowest = optimum.objective - max(optimum.gap, 0.0) / 2
        limit = 300 if size is QUICK else 1000
        traces = {
            "fast IRLS": fast_irls(problem, tol=1e-8, trace=True),
            "IRLS": irls(problem, tol=1e-8, max_iter=limit, check=1, trace=True),
            "ADMM": admm(SquaredLoss(problem), tol=1e-8, max_iter=limit, check=1, trace=True),
            "ADMM, fixed rho": admm(
                SquaredLoss(problem),
                tol=1e-8,
                max_iter=limit,
                check=1,
                trace=True,
                adaptive=False,
                relaxation=1,
            ),
            "subgradient": subgradient(problem, tol=1e-8, max_iter=2 * limit, trace=True),
        }
        for name, found in traces.items():
            least = np.inf
            for seconds, objective, gap in found.trace:
                least = min(least, objective - lowest)
                shares = (max(least, 0) / problem.zero_loss, gap / problem.zero_loss)
                yield kind, f"{share:g}", run, name, f"{seconds:.5f}", *(f"{value:.4g}" for value in shares)


# --- Figure 7.4 ------------------------------------------------------------------------------------------------------


def best_values(kind: str, n: int, p: int, k: int, run: int, lams: int) -> dict[str, tuple[float, float]]:
    """Estimator -> (least estimation error ||w_hat - w||, least Hamming distance of the supports) over its path."""
    X, y, w = made_up(kind, n, p, k, 1000 * run + k)
    truth = w != 0
    values = {}
    for name in ESTIMATORS:
        if name == "group" and kind != "blocks":
            continue
        more = {"groups": (np.arange(p) // 8).tolist(), "group_weights": "sqrt"} if name == "group" else {}
        ratios = (0.5, 0.9) if name == "elastic-net" else (0.5,)
        errors, distances = [], []
        for l1_ratio in ratios:
            # ridge and its like begin far above the Lasso's largest lambda, so their paths are longer
            far = 1e-6 if name in ("ridge", "pairwise-elastic-net") else 1e-2
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                path = trace_lasso_path(
                    X, y, penalty=name, count=lams, ratio=far, l1_ratio=l1_ratio, tol=1e-4, **more
                )
            errors.append(np.linalg.norm(path.coefficients - w, axis=1).min())
            sizes = np.abs(path.coefficients)
            supports = sizes > 1e-3 * sizes.max(axis=1, keepdims=True)
            distances.append((supports != truth).sum(axis=1).min())
        values[name] = float(min(errors)), float(min(distances))
    return values


def estimator_rows(size: Size, done: set[tuple[str, ...]], threads: int) -> Iterator[tuple[object, ...]]:
    """Rows of both halves of Figure 7.4."""
    for place, criterion, (n, p) in ((1, "recovery", size.recovery), (0, "error", size.error)):
        for kind, k in itertools.product(size.designs, size.supports):
            missing = [run for run in range(size.runs) if (criterion, kind, str(k), str(run)) not in done]
            found = map_blocks(
                lambda run, n=n, p=p, kind=kind, k=k: best_values(kind, n, p, k, run, size.lams),
                missing,
                threads,
            )
            for run, values in zip(missing, found, strict=True):
                for name, value in values.items():
                    yield criterion, kind, k, run, name, f"{value[place]:.5g}"


# --- files -----------------------------------------------------------------------------------------------------------


def read_rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Rows of an earlier run; a last line that was cut is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    if not lines or tuple(lines[0].split("\t")) != columns:
        raise SystemExit(f"{path} is not an earlier run of this experiment")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[1:]]


def extended(path: Path, columns: tuple[str, ...], keys: int, make) -> list[dict[str, str]]:
    """Old rows and the missing ones, which are appended a group (equal first ``keys`` columns) at a time."""
    rows = read_rows(path, columns)
    done = {tuple(row[name] for name in columns[:keys]) for row in rows}
    if not rows:
        path.write_text("\t".join(columns) + "\n", encoding="utf-8")
    for _, group in itertools.groupby(make(done), key=lambda row: tuple(map(str, row[:keys]))):
        texts = [[str(value) for value in row] for row in group]
        with open(path, "a", encoding="utf-8") as out:
            out.write("".join("\t".join(text) + "\n" for text in texts))
        rows += [dict(zip(columns, text, strict=True)) for text in texts]
    return rows


def print_summary(rows: list[dict[str, str]]) -> None:
    """Means of Figure 7.4 a criterion, design and support."""
    names = [name for name in ESTIMATORS if any(row["estimator"] == name for row in rows)]
    print("\t".join(["criterion", "design", "support", *names]))
    for key, group in itertools.groupby(
        rows, key=lambda row: (row["criterion"], row["design"], row["support"])
    ):
        own = list(group)
        means = [[float(row["value"]) for row in own if row["estimator"] == name] for name in names]
        print("\t".join([*key, *(f"{np.mean(values):.3g}" if values else "" for values in means)]))


def print_solvers(rows: list[dict[str, str]]) -> None:
    """Seconds to a relative distance of 1e-4 and 1e-6, the median over runs."""
    print("design\tlambda\tsolver\tto 1e-4\tto 1e-6")
    for kind, share, solver in dict.fromkeys((row["design"], row["share"], row["solver"]) for row in rows):
        own = [row for row in rows if (row["design"], row["share"], row["solver"]) == (kind, share, solver)]
        texts = []
        for level in (1e-4, 1e-6):
            reached = [
                min(
                    (
                        float(row["seconds"])
                        for row in own
                        if row["run"] == run and float(row["distance"]) <= level
                    ),
                    default=np.inf,
                )
                for run in dict.fromkeys(row["run"] for row in own)
            ]
            texts.append(f"{np.median(reached):.3g} s" if np.isfinite(np.median(reached)) else "not reached")
        print("\t".join([kind, share, solver, *texts]))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--output", default="results/trace-lasso", help="how the names of the files begin")
    parser.add_argument("--full", action="store_true", help="the thesis's sizes: hours")
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--designs", default=",".join(DESIGNS), help="designs of Figure 7.4")
    parser.add_argument("--supports", help="sizes of the support in Figure 7.4, instead of all")
    parser.add_argument("--runs", type=int, help="data sets a point, instead of all")
    given = parser.parse_args(arguments)
    size = FULL if given.full else QUICK
    size = size._replace(designs=tuple(given.designs.split(",")))
    if given.supports:
        size = size._replace(supports=tuple(int(value) for value in given.supports.split(",")))
    if given.runs:
        size = size._replace(runs=given.runs, solvers=(*size.solvers[:3], min(given.runs, size.solvers[3])))
    start = f"{given.output}{'' if given.full else '.quick'}"
    Path(start).parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    figure_3 = extended(Path(f"{start}.figure3.tsv"), FIGURE_3, 3, lambda done: solver_rows(size, done))
    print_solvers(figure_3)
    figure_4 = extended(
        Path(f"{start}.figure4.tsv"), FIGURE_4, 4, lambda done: estimator_rows(size, done, given.threads)
    )
    print_summary(figure_4)
    try:
        n, p, k, _ = size.solvers
        X, y, _ = made_up("toeplitz", n, p, k, 0)
        paths = {name: trace_lasso_path(X, y, penalty=name, count=40) for name in ("lasso", "trace")}
        path_pair_figure(
            {name: (path.lams, path.coefficients) for name, path in paths.items()}, f"{start}.figure1.png"
        )
        unit_ball_figure(trace_norm_penalty, f"{start}.figure2.png", steps=60 if given.full else 30)
        solvers_figure(figure_3, f"{start}.figure3.png")
        estimators_figure(figure_4, f"{start}.figure4.png")
    except WordkitError as error:
        print(f"no figures: {error}")
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
