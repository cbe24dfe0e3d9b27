"""The solver of codes against plain proximal gradients, the conditions of a minimum, and what its gap promises."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_brown_merge import others_work_during
from tests.reference import forest_prox as twin
from wordkit._kernels import forest_codes
from wordkit.models.sparse_codes import Inverses

seeds = st.integers(0, 2**32 - 1)


def problem(random, M, n, d, dtype=np.float64):
    D = random.normal(size=(d, M))
    D /= np.linalg.norm(D, axis=0)
    on = random.random((M, n)) < 0.3
    X = D @ (random.normal(size=(M, n)) * on) + 0.1 * random.normal(size=(d, n))
    X = X.astype(dtype).astype(float)
    return D.astype(dtype).astype(float), X, twin.random_parents(random, M)


def arguments(
    D,
    X,
    parents,
    lam,
    *,
    nonnegative=False,
    tol=1e-9,
    max_iter=5000,
    dtype=np.float64,
    warm=None,
    lo=0,
    hi=None,
):
    """Everything ``advance`` takes, by name, for columns lo to hi - 1 that have made no step."""
    G, B = (D.T @ D).astype(dtype), (D.T @ X).astype(dtype)
    n = X.shape[1]
    hi = n if hi is None else hi
    work, column, progress = (
        np.zeros((5, len(G) * (hi - lo)), dtype),
        np.empty(hi - lo, np.int32),
        np.empty(4, np.int32),
    )
    work[0] = B[:, lo:hi].ravel()
    if warm is not None:
        work[1] = warm[:, lo:hi].ravel()
    forest_codes.begin_block(progress, column, lo)
    rho = float(np.trace(G)) / len(G)
    return {
        "gram": G, "inverse": Inverses(G, rho)[0], "parents": parents, "lam": lam, "rho": rho, "before": rho,
        "mu": max(np.linalg.eigvalsh(G.astype(float))[0], 0), "nonnegative": nonnegative, "tol": tol, "max_iter": max_iter,
        "warm": warm is not None, "work": work, "column": column, "progress": progress, "squares": (X**2).sum(axis=0),
        "codes": np.full(B.shape, np.nan, dtype), "gaps": np.full(n, np.nan), "objectives": np.full(n, np.nan),
        "iterations": np.full(n, -1, np.int32),
    }  # fmt: skip


def finish(made):
    """Call after call, with another rho each time, until the columns are done; the rho of each step."""
    inverses, power, rhos = Inverses(made["gram"], made["rho"]), 0, []
    while doublings := forest_codes.advance(*made.values()):
        assert abs(doublings) <= 3
        rhos += [made["rho"]] * (made["progress"][1] - len(rhos))
        made["before"], power = made["rho"], power + doublings
        made["rho"], made["inverse"] = inverses.rho(power), inverses[power]
    return rhos + [made["rho"]] * (made["progress"][1] - len(rhos))


def run(*args, **kwargs):
    made = arguments(*args, **kwargs)
    finish(made)
    assert made["progress"][0] == 0
    return made["codes"], made["gaps"], made["objectives"], made["iterations"]


@settings(max_examples=25)
@given(
    seed=seeds, M=st.integers(1, 25), n=st.sampled_from([1, 5, 70]), lam=st.sampled_from([0.01, 0.3, 2.0]),
    nonnegative=st.booleans(),
)  # fmt: skip
def test_equals_the_twin(seed, M, n, lam, nonnegative):
    random = np.random.default_rng(seed)
    D, X, parents = problem(random, M, n, M + 20)
    codes, gaps, objectives, _ = run(D, X, parents, lam, nonnegative=nonnegative)
    np.testing.assert_allclose(objectives, twin.objective(D, X, codes, parents, lam), rtol=1e-9, atol=1e-12)
    assert ((gaps >= 0) & (gaps <= 1e-9 * objectives)).all()
    assert not nonnegative or (codes >= 0).all()
    expected = twin.codes(D, X, parents, lam, nonnegative, steps=100)
    least = twin.objective(D, X, expected, parents, lam)
    assert (objectives <= least + 1e-9 * (1 + least)).all()
    assert (objectives - gaps <= least * (1 + 1e-12) + 1e-12).all()
    assert (twin.stationarity(D, X, codes, parents, lam, nonnegative) < 1e-3).all()


@settings(max_examples=40)
@given(
    seed=seeds,
    M=st.integers(1, 40),
    lam=st.sampled_from([0.01, 0.3, 2.0]),
    nonnegative=st.booleans(),
    steps=st.integers(0, 12),
)
def test_the_gap_bounds_what_is_missing_at_every_step(seed, M, lam, nonnegative, steps):
    random = np.random.default_rng(seed)
    D, X, parents = problem(random, M, 9, random.integers(1, 60))
    codes, gaps, objectives, iterations = run(
        D, X, parents, lam, nonnegative=nonnegative, tol=0, max_iter=steps
    )
    best = run(D, X, parents, lam, nonnegative=nonnegative, tol=1e-8)[2]
    np.testing.assert_allclose(objectives, twin.objective(D, X, codes, parents, lam), rtol=1e-9, atol=1e-12)
    assert (objectives - best <= gaps + 1e-9 * (1 + objectives)).all()
    assert (iterations <= steps).all() and (iterations[gaps > 0] == steps).all()


@settings(max_examples=40)
@given(
    seed=seeds, M=st.integers(1, 30), lam=st.sampled_from([0.05, 0.5]), nonnegative=st.booleans(), steps=st.integers(1, 30),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
)  # fmt: skip
def test_every_step_equals_the_twin(seed, M, lam, nonnegative, steps, scale):
    """Also where rho changes, and where the block closes up over columns whose codes are zero."""
    random = np.random.default_rng(seed)
    D, X, parents = problem(random, M, 9, M + 5)
    D, X = D * scale, X * np.where(np.arange(9) % 3 == 0, 1e-7, 1)
    made = arguments(D, X, parents, lam, nonnegative=nonnegative, tol=0, max_iter=steps)
    rhos = finish(made)
    assert len(rhos) <= steps and (made["iterations"][::3] == 0).all()
    for made_steps in set(made["iterations"].tolist()):
        expected = twin.alternate(D, X, parents, lam, rhos[:made_steps], nonnegative)
        columns = made["iterations"] == made_steps
        np.testing.assert_allclose(
            made["codes"][:, columns], expected[:, columns], rtol=0, atol=1e-8 * (1 + np.abs(expected).max())
        )


@settings(max_examples=25)
@given(seed=seeds, M=st.integers(1, 30), lam=st.sampled_from([0.05, 0.5, 2.0]))
def test_subgradients_at_the_minimum(seed, M, lam):
    random = np.random.default_rng(seed)
    D, X, parents = problem(random, M, 6, M + 10)
    codes = run(D, X, parents, lam, tol=1e-13)[0]
    for x, a in zip(X.T, codes.T, strict=True):
        assert twin.subgradient_violation(D, x, a, parents, lam) < 1e-4


def test_hand_computed_codes():
    """D = 1: the operator itself, with half of lam. A chain 0 - 1, x = (3, 4), lam = 2: 4 - 1 = 3, then 1 - 1 / (3 sqrt 2)."""
    codes, gaps, objectives, iterations = run(
        np.eye(2), np.array([[3.0, 0.5], [4.0, 0.5]]), np.array([-1, 0], np.int32), 2.0
    )
    kept = 3 * (1 - 1 / np.sqrt(18))
    np.testing.assert_allclose(codes, [[kept, 0], [kept, 0]], rtol=1e-9)
    assert (codes[:, 1] == 0).all() and iterations[1] == 0 and gaps[1] == 0 and objectives[1] == 0.5
    np.testing.assert_allclose(
        objectives[0], (3 - kept) ** 2 + (4 - kept) ** 2 + 2 * kept * (1 + np.sqrt(2)), rtol=1e-12
    )


def test_non_negative_least_squares():
    random = np.random.default_rng(3)
    D, X, parents = problem(random, 20, 30, 40)
    codes, gaps, objectives, _ = run(D, X, parents, 0.0, nonnegative=True)
    slope = 2 * D.T @ (X - D @ codes)
    assert (codes >= 0).all() and (slope <= 1e-3).all() and (np.abs(slope[codes > 0]) < 1e-3).all()
    assert (gaps <= 1e-9 * objectives).all()


@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_single_precision_reaches_the_same_objectives(lam):
    random = np.random.default_rng(4)
    D, X, parents = problem(random, 78, 200, 60, np.float32)
    objectives = run(D, X, parents, lam, tol=1e-4)[2]
    codes, gaps, claimed, _ = run(D, X, parents, lam, tol=1e-4, dtype=np.float32)
    assert codes.dtype == np.float32 and (gaps <= 1e-4 * claimed).all()
    true = twin.objective(D, X, codes, parents, lam)
    np.testing.assert_allclose(claimed, true, rtol=1e-5)
    np.testing.assert_allclose(true, objectives, rtol=2e-4)


def test_a_column_does_not_depend_on_when_others_end():
    """The block closes up as columns finish; each lands at its own place. From a solution nothing is left to do."""
    random = np.random.default_rng(5)
    D, X, parents = problem(random, 30, 150, 40)
    X *= 10.0 ** random.integers(-3, 3, 150)
    codes, _, _, iterations = run(D, X, parents, 0.2, tol=1e-11)
    assert len(set(iterations.tolist())) > 3 and iterations.min() == 0
    for c in range(0, 150, 7):
        alone = run(D, X[:, c : c + 1], parents, 0.2, tol=1e-11)[0][:, 0]
        np.testing.assert_allclose(codes[:, c], alone, rtol=1e-3, atol=1e-4)
    again = run(D, X, parents, 0.2, tol=1e-10, warm=codes)
    assert (again[3] == 0).all()
    np.testing.assert_array_equal(again[0], codes)


def test_only_its_columns_are_written():
    random = np.random.default_rng(6)
    D, X, parents = problem(random, 12, 20, 15)
    made = arguments(D, X, parents, 0.3, lo=5, hi=12)
    finish(made)
    inside = np.isin(np.arange(20), np.arange(5, 12))
    for name in ("codes", "gaps", "objectives"):
        np.testing.assert_array_equal(np.isfinite(np.atleast_2d(made[name])).all(axis=0), inside)
    np.testing.assert_array_equal(made["iterations"] >= 0, inside)
    np.testing.assert_allclose(made["codes"][:, 5:12], run(D, X, parents, 0.3)[0][:, 5:12], rtol=0, atol=1e-3)
    assert forest_codes.advance(*made.values()) == 0  # nothing is left


BAD = [
    ("gram", np.ones((3, 4))), ("gram", np.ones((4, 4))), ("inverse", np.ones((3, 4))), ("inverse", np.ones((4, 3))),
    ("parents", np.array([-1, 0], np.int32)), ("parents", np.array([-1, 1, 0], np.int32)), ("lam", -1.0), ("lam", np.nan),
    ("rho", 0.0), ("rho", np.inf), ("before", 0.0), ("mu", -1.0), ("tol", -1.0), ("max_iter", -1), ("work", np.ones((5, 14))),
    ("work", np.ones((4, 15))), ("column", np.arange(1, 6, dtype=np.int32)), ("column", np.arange(-1, 4, dtype=np.int32)),
    ("column", np.arange(4, dtype=np.int32)), ("progress", np.zeros(3, np.int32)), ("progress", np.array([6, 0, 0, 3], np.int32)),
    ("progress", np.array([-1, 0, 0, 3], np.int32)), ("progress", np.array([5, -1, 0, 3], np.int32)), ("squares", np.ones(4)),
    ("codes", np.ones((3, 4))), ("codes", np.ones((2, 5))), ("gaps", np.ones(4)), ("objectives", np.ones(4)),
    ("iterations", np.ones(4, np.int32)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD, ids=[f"{name}{i}" for i, (name, _) in enumerate(BAD)])
def test_the_door_refuses_what_does_not_fit(name, value):
    random = np.random.default_rng(7)
    D, X = random.normal(size=(6, 3)), random.normal(size=(6, 5))
    made = arguments(D, X, np.array([-1, 0, 0], np.int32), 0.1)
    with pytest.raises(ValueError):
        forest_codes.advance(*{**made, name: value}.values())


def test_beginnings_that_do_not_fit():
    for progress, lo in ((np.zeros(3, np.int32), 0), (np.zeros(4, np.int32), -1)):
        with pytest.raises(ValueError):
            forest_codes.begin_block(progress, np.zeros(5, np.int32), lo)


def test_read_only_inputs_and_the_lock():
    random = np.random.default_rng(8)
    D, X, parents = problem(random, 200, 128, 150)
    made = arguments(D, X, parents, 0.01, tol=0, max_iter=60)
    for name in ("gram", "inverse", "squares", "parents"):
        made[name].setflags(write=False)
    assert others_work_during(partial(finish, made))
