"""Speed of trace-lasso: beside cvxpy with SCS and Clarabel at equal accuracy, of paths beside one SVD, and over sizes."""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from tests.benchmarks.experiment_trace_lasso import made_up
from tests.benchmarks.measure import in_process, least_seconds, row
from wordkit.models import TraceLassoCV, trace_lasso_path
from wordkit.models.trace_lasso_admm import SquaredLoss, admm
from wordkit.models.trace_lasso_irls import fast_irls, irls
from wordkit.models.trace_lasso_problem import Problem
from wordkit.models.trace_norm import dual_norm, smoothed

_CVXPY = """
import sys, json, time, numpy, cvxpy
data = numpy.load(sys.argv[1])
X, y, lam = data["X"], data["y"], float(data["lam"])
options = {"SCS": dict(eps=1e-5, max_iters=20000), "CLARABEL": {}}[sys.argv[2]]
seconds = []
for _ in range(int(sys.argv[3])):  # a new problem: one that was solved starts from its solution
    w = cvxpy.Variable(X.shape[1])
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(y - X @ w) + lam * cvxpy.normNuc(X @ cvxpy.diag(w))))
    started = time.process_time()
    problem.solve(solver=sys.argv[2], **options)
    seconds.append(time.process_time() - started)
print(json.dumps({"seconds": min(seconds), "w": w.value.tolist()}))
"""
SHARES = (0.05, 0.3)  # of the lambda that gives zero: many coefficients, and few


def problem_of(kind: str, n: int, p: int, share: float, seed: int = 1) -> Problem:
    """Centred data with unit columns."""
    X, y, _ = made_up(kind, n, p, 16, seed)
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    y = y - y.mean()
    problem = Problem.of(X, y, 0.0)
    return problem.at(share * dual_norm(problem.P, problem.correlations).high)


def against_cvxpy(peer_python: str, sizes: list[tuple[int, int]]) -> None:
    """Processor seconds to the accuracy that the peer reaches: our gap is at most its distance to the optimum.

    The least of some repetitions; milliseconds need more of them than seconds do.
    """
    for n, p in sizes:
        repeats = 20 if n == 32 else 3
        for share in SHARES:
            problem = problem_of("blocks", n, p, share)
            best = fast_irls(problem, tol=1e-8)
            for solver in ("SCS", "CLARABEL") if n == 32 else ("SCS",):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "data.npz"
                    np.savez(path, X=problem.X, y=problem.y, lam=problem.lam)
                    again = "3" if n == 32 and solver == "SCS" else "1"
                    peer = in_process(peer_python, _CVXPY, str(path), solver, again)
                off = (problem.objective(np.array(peer["w"])) - best.objective) / problem.zero_loss
                tol = min(max(off, 1e-7), 1e-3)
                ours = least_seconds(lambda problem=problem, tol=tol: fast_irls(problem, tol=tol), repeats)
                name = f"{n} x {p}, lambda {share:g} of the largest, to {tol:.0e}: {solver}"
                row(name, ours, peer["seconds"], "s", lower_is_better=True)


def solvers() -> None:
    """Our own solvers to a gap of 1e-6, beside the thesis's IRLS to what it reaches in 1000 steps."""
    for kind in ("identity", "toeplitz"):
        for share in SHARES:
            problem = problem_of(kind, 128, 256, share)
            plain = irls(problem, tol=1e-6)
            thesis = least_seconds(lambda problem=problem: irls(problem, tol=1e-6), 1)
            for name, solve in (("irls", fast_irls), ("admm", lambda q: admm(SquaredLoss(q)))):
                seconds = least_seconds(lambda problem=problem, solve=solve: solve(problem), 2)
                reached = "" if plain.converged else f" (which stops at {plain.gap / problem.zero_loss:.0e})"
                text = (
                    f"128 x 256 {kind}, lambda {share:g}: {name} to 1e-6, beside the thesis's IRLS{reached}"
                )
                row(text, seconds, thesis, "s", lower_is_better=True)


def paths(n: int, p: int, count: int) -> None:
    """A path in units of one full SVD of X; steps in p at fixed n; folds on two threads."""
    for kind in ("identity", "blocks", "toeplitz"):
        X, y, _ = made_up(kind, n, p, 16, 1)
        unit = least_seconds(lambda X=X: np.linalg.svd(X, full_matrices=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = time.process_time()
            path = trace_lasso_path(X, y, count=count)
            seconds = time.process_time() - started
        row(f"path of {count}, {n} x {p} {kind}, gap 1e-4", seconds, None, "s")
        row(f"path of {count}, {n} x {p} {kind}", seconds / unit, None, "SVDs of X")
        row(
            f"path of {count}, {n} x {p} {kind}: solutions that reach the gap",
            float(path.converged.mean()),
            None,
            "share",
        )


def growth(n: int) -> None:
    """Seconds a step over p at fixed n: linear where seconds / p stands still."""
    for p in (4 * n, 8 * n, 16 * n, 32 * n):
        problem = problem_of("identity", n, p, 0.05)
        found = fast_irls(problem, tol=1e-6)
        seconds = least_seconds(lambda problem=problem: fast_irls(problem, tol=1e-6), 2)
        row(
            f"n = {n}, p = {p}: microseconds a step and column",
            1e6 * seconds / found.iterations / p,
            None,
            "us",
        )


def linear_systems() -> None:
    """The system of a step by a factorization of the smaller side (what the solvers do) and by conjugate gradients.

    Gradients are on the same side and scaled by the same diagonal, which is their preconditioner; they stop at a relative
    residual of 1e-10. Along the way of the thesis's IRLS, since the weights spread as coefficients vanish.
    """
    for n, p in ((256, 1024), (64, 2048)):
        for share in SHARES:
            problem = problem_of("blocks", n, p, share)
            for steps in (5, 100):
                w = irls(problem, tol=0, max_iter=steps, check=steps).w
                mu = float(np.mean(np.linalg.svd(problem.P * w, compute_uv=False))) ** 2 * 0.9**steps
                D = problem.lam * smoothed(problem.P, w, mu).weights
                A = problem.X / np.sqrt(D)
                products = 0

                def product(v: np.ndarray, A: np.ndarray = A) -> np.ndarray:
                    nonlocal products
                    products += 1
                    return A @ (A.T @ v) + v

                system = LinearOperator((n, n), matvec=product)
                ours = least_seconds(lambda problem=problem, D=D: problem.solve_weighted(D))
                gradients = least_seconds(
                    lambda problem=problem, system=system, A=A, D=D: (
                        (A.T @ cg(system, problem.y, rtol=1e-10, maxiter=10 * len(A))[0]) / np.sqrt(D)
                    )
                )
                name = f"system of step {steps + 1}, {n} x {p}, lambda {share:g}: factorization beside conjugate gradients"
                row(
                    f"{name} ({products // 3} products)",
                    1e3 * ours,
                    1e3 * gradients,
                    "ms",
                    lower_is_better=True,
                )
                step = least_seconds(lambda problem=problem, w=w, mu=mu: smoothed(problem.P, w, mu))
                row(f"the rest of step {steps + 1}: weights of the norm", 1e3 * step, None, "ms")


def folds() -> None:
    """Elapsed time of cross-validation on one thread and on two."""
    X, y, _ = made_up("blocks", 120, 128, 16, 1)

    def elapsed(threads: int) -> float:
        model = TraceLassoCV(cv=4, n_lams=15, ratio=0.05, threads=threads)
        return least_seconds(lambda: model.fit(X, y), 1, time.perf_counter)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row("4 folds: two threads beside one", elapsed(2), elapsed(1), "s", lower_is_better=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True, help="an interpreter that has cvxpy, scs, clarabel")
    parser.add_argument("--quick", action="store_true", help="the smallest sizes only")
    arguments = parser.parse_args()
    quick = arguments.quick
    against_cvxpy(arguments.peer_python, [(32, 64)] if quick else [(32, 64), (64, 128), (128, 256)])
    if not quick:
        solvers()
        linear_systems()
    paths(*(64, 256, 30) if quick else (256, 1024, 100))
    growth(32 if quick else 64)
    folds()


if __name__ == "__main__":
    main()
