"""The tree operator and codes of words beside SPAMS: times of both, the greatest difference, and equal objectives.

SPAMS minimizes 1/2 |x - D a|^2 + lambda/2 Omega(a) here, half of our objective. Its tree has a root group above all trees,
whose weight is 1e-10: with 0 it divides 0 by 0 where a column becomes zero.
"""

from __future__ import annotations

import argparse
import os

# As the command line does, before NumPy loads: a kernel's GEMM is one thread's work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse

from tests.benchmarks.measure import THIS_PYTHON, in_process, least_seconds, row
from tests.reference import forest_prox as twin
from wordkit._kernels import forest_prox
from wordkit.errors import ConvergenceWarning
from wordkit.models.dictionary import Dictionary
from wordkit.models.forests import forest_of_shape
from wordkit.models.sparse_codes import sparse_codes

TOL = 1e-4  # relative, on the objective

_SPAMS = """
import os
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import sys, json, time
import numpy as np, scipy.sparse, spams
data, task, out = np.load(sys.argv[1]), sys.argv[2], sys.argv[3]
parents, lam = data["parents"], float(data["lam"])
M = len(parents)
def tree(dtype):
    edges = (np.ones(M, bool), (np.arange(1, M + 1), parents + 1))
    return {"eta_g": np.r_[1e-10, np.ones(M)].astype(dtype), "groups": scipy.sparse.csc_matrix(edges, shape=(M + 1, M + 1)),
            "own_variables": np.r_[0, np.arange(M)].astype(np.int32), "N_own_variables": np.r_[0, np.ones(M)].astype(np.int32)}
def timed(work, repeats):
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        found = work()
        best = min(best, time.process_time() - started)
    return found, best
if task == "operator":
    A = np.asfortranarray(data["A"])
    groups = tree(A.dtype)
    found, seconds = timed(
        lambda: spams.proximalTree(A, groups, False, numThreads=1, lambda1=lam, regul="tree-l2"), int(sys.argv[4]))
else:
    D, X = (np.asfortranarray(data[name]) for name in "DX")
    groups, zeros = tree(D.dtype), np.zeros((M, X.shape[1]), D.dtype, order="F")
    runs = [timed(lambda: spams.fistaTree(X, D, zeros, groups, False, numThreads=1, lambda1=lam / 2, tol=1e-4, it0=10,
                  max_it=2000, L0=1.0, loss="square", regul="tree-l2", compute_gram=gram), 1) for gram in (False, True)]
    found, seconds = min(runs, key=lambda run: run[1])
np.save(out, found)
print(json.dumps({"seconds": seconds}))
"""

_OURS = """
import sys, json
from tests.benchmarks.bench_forest import codes, operator
print(json.dumps({"seconds": {"operator": operator, "codes": codes}[sys.argv[2]](sys.argv[1], sys.argv[3], int(sys.argv[4]))}))
"""


def operator(path: str, out: str, repeats: int) -> float:
    """Seconds of the operator on a copy of A; the result goes to ``out``."""
    data = np.load(path)
    A, parents = data["A"], data["parents"]
    found, t = np.empty_like(A), np.full(A.shape[1], data["lam"], A.dtype)

    def work():
        np.copyto(found, A)
        forest_prox.shrink(found, parents, t, False, 0, A.shape[1])

    seconds = least_seconds(work, repeats)
    np.save(out, found)
    return seconds


def codes(path: str, out: str, repeats: int) -> float:
    """Seconds from dictionary and words to codes in float32, the products that the kernel needs among them."""
    data = np.load(path)
    D, X = data["D"].astype(np.float32), data["X"].astype(np.float32)
    forest = forest_of_shape("3x3", dim=D.shape[1])

    def work():
        squares = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        return sparse_codes(D.T @ D, D.T @ X, squares, forest=forest, lam=float(data["lam"]), tol=TOL)

    seconds = least_seconds(work, repeats)
    np.save(out, work().codes)
    return seconds


def problem(path: Path, *, dim: int, lam: float, columns: int, words: int) -> dict[str, np.ndarray]:
    """A dictionary of 500 rows with unit columns, words made from three in ten of its trees with noise; A for the operator."""
    random = np.random.default_rng(1)
    D = random.normal(size=(500, dim))
    D /= np.linalg.norm(D, axis=0)
    on = np.repeat(random.random((dim // 13, words)) < 0.3, 13, axis=0)
    X = D @ (random.normal(size=(dim, words)) * on) + 0.3 * random.normal(size=(500, words))
    A = random.normal(size=(dim, columns)).astype(np.float32)
    made = {"A": A, "D": D, "X": X, "parents": forest_of_shape("3x3", dim=dim).parents, "lam": np.array(lam)}
    np.savez(path, **made)
    return made


def both(
    folder: Path, peer: str, task: str, repeats: int, **size: float
) -> tuple[dict, float, float, np.ndarray, np.ndarray]:
    """The problem, seconds of ours and of SPAMS, and what they found."""
    path, ours, theirs = folder / "problem.npz", folder / "ours.npy", folder / "spams.npy"
    made = problem(path, **size)
    mine = in_process(THIS_PYTHON, _OURS, str(path), task, str(ours), str(repeats))["seconds"]
    other = in_process(peer, _SPAMS, str(path), task, str(theirs), str(repeats))["seconds"]
    return made, mine, other, np.load(ours), np.load(theirs)


def compare_operator(folder: Path, peer: str, columns: int) -> None:
    growth = {}
    for lam in (0.1, 0.7):
        for dim in (52, 520):
            _, mine, other, ours, theirs = both(
                folder, peer, "operator", 20, dim=dim, lam=lam, columns=columns, words=1
            )
            title = f"tree operator, M = {dim}, lambda {lam}, {columns} columns"
            row(title, mine * 1e3, other * 1e3, "ms", lower_is_better=True)
            row(f"{title}: greatest difference", float(np.abs(ours - theirs).max()), None, "")
            growth[dim] = mine
        row(f"tree operator, lambda {lam}: time at M = 520 over M = 52", growth[520] / growth[52], None, "")


def compare_codes(folder: Path, peer: str, words: int) -> None:
    for dim, lam, n in ((52, 0.1, words), (52, 1.0, words), (520, 0.1, words // 10), (520, 1.0, words)):
        made, mine, other, ours, theirs = both(folder, peer, "codes", 3, dim=dim, lam=lam, columns=1, words=n)
        values = [twin.objective(made["D"], made["X"], A, made["parents"], lam) for A in (ours, theirs)]
        excess = float(np.max(values[0] / values[1])) - 1
        if not excess <= TOL:
            raise SystemExit(f"codes, M = {dim}, lambda {lam}: objective {excess:.2g} above that of SPAMS")
        title = f"codes of {n} words, 500 rows, M = {dim}, lambda {lam}"
        row(title, n / mine, n / other, "words/s")
        row(f"{title}: objective over that of SPAMS, the worst word, less 1", excess, None, "")
        row(f"{title}: the same, mean", float(np.mean(values[0]) / np.mean(values[1])) - 1, None, "")


def show_growth(words: int) -> None:
    """What a word costs: products with its non-zeros, linear in these, and steps, linear in M^2 (one product with the gram)."""
    random, contexts, iterations = np.random.default_rng(1), 20_000, 20
    atoms = random.normal(size=(260, contexts)).astype(np.float32)
    dictionary = Dictionary(atoms, 1)
    for cells in (100, 200, 400, 800):
        columns = np.sort(random.integers(0, contexts, (words, cells)), axis=1).astype(np.int32)
        values = random.normal(size=words * cells).astype(np.float32)
        bounds = np.arange(0, words * cells + 1, cells)
        rows = scipy.sparse.csr_array((values, columns.ravel(), bounds), shape=(words, contexts))
        seconds = least_seconds(lambda: dictionary.correlations(rows), 5)  # noqa: B023
        row(
            f"products with {cells} non-zeros a word, M = 260",
            seconds / words / cells * 1e9,
            None,
            "ns a non-zero",
        )
    for dim in (65, 130, 260, 520):
        D = random.normal(size=(500, dim)).astype(np.float32) / np.float32(np.sqrt(500))
        X = random.normal(size=(500, words)).astype(np.float32)
        problem = D.T @ D, D.T @ X, np.einsum("ij,ij->j", X, X, dtype=np.float64)
        forest = forest_of_shape("3x3", dim=dim)

        def work():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                sparse_codes(*problem, forest=forest, lam=0.1, tol=0, max_iter=iterations)  # noqa: B023

        seconds = least_seconds(work) / words / iterations
        row(f"a step of a word's codes, M = {dim}", seconds * 1e6, None, "us")
        row(f"the same over M^2, M = {dim}", seconds / dim**2 * 1e9, None, "ns")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True, help="an interpreter that has spams")
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--words", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare_operator(Path(folder), arguments.peer_python, arguments.columns)
        compare_codes(Path(folder), arguments.peer_python, arguments.words)
    show_growth(arguments.words)


if __name__ == "__main__":
    main()
