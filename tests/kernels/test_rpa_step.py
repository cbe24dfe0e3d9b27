"""The RPA kernel against its twin, and what must hold of any step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.reference import rpa as twin
from wordkit._kernels import rpa_step

UPDATES = ["fixed", "coordinate", "printed", "embedding-first"]


def csr(X, dtype):
    rows = [np.flatnonzero(row) for row in X]
    indices = np.concatenate([*rows, np.zeros(0, int)]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    values = np.concatenate([*(X[i, row] for i, row in enumerate(rows)), np.zeros(0)]).astype(dtype)
    return values, indices, indptr


def case(seed, k, m, sparse, n=12, p=9, classes=3):
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (n, p)) * random.integers(0, 2, (n, p)) * random.uniform(0.5, 2, (n, p))
    X[3] = 0  # an empty document
    Phi = random.uniform(-1, 1, (k, p))
    Phi[:, 2] = 0
    W = random.normal(size=(m, k)) * 0.3
    O = random.normal(size=(m, p if sparse else 0)) * 0.3
    C = random.uniform(0.1, 3, (m, 2))
    return X, random.integers(0, classes, n).astype(np.int32), Phi, W, O, C


def run(X, targets, Phi, W, O, C, update, iterations, normalize, dtype=np.float64, lam=0.3, average=False):
    values, indices, indptr = csr(X, dtype)
    p = X.shape[1]
    rpa_step.check_rows(values, indices, indptr, p)
    planes = np.zeros((2 if average else 1, 1, 1))
    planes[0] = 1
    phi, w, one_hot = ((A * planes).astype(dtype, order="C") for A in (Phi.T, W, O.T))
    scratch, sums = np.zeros(4 * Phi.shape[0], dtype), np.zeros(3)
    order = np.arange(len(X))
    done = rpa_step.train_pass(
        values, indices, indptr, order, targets, 0, C, lam, rpa_step.UPDATES[update], iterations,
        rpa_step.NORMALIZATIONS[normalize], phi, w, one_hot, 0, scratch, sums,
    )  # fmt: skip
    assert done == len(X)
    phi, w, one_hot = (A[0] - A[1] / len(X) if average else A[0] for A in (phi, w, one_hot))
    out = np.full((len(X), len(W)), np.nan)
    rpa_step.score_rows(
        values, indices, indptr, 0, len(X), rpa_step.NORMALIZATIONS[normalize], phi, w, one_hot, scratch, out
    )
    return phi.T, w, one_hot.T, out, sums


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("normalize", ["none", "input", "document"])
@pytest.mark.parametrize(
    ("k", "m", "sparse"), [(4, 1, False), (4, 3, False), (19, 1, True), (5, 2, True), (0, 3, True)]
)
def test_pass_equals_the_printed_equations(update, normalize, k, m, sparse):
    for seed, iterations in itertools.product(range(3), (1, 2, 50)):
        X, targets, Phi, W, O, C = case(seed, k, m, sparse)
        mine = run(X, targets, Phi, W, O, C, update, iterations, normalize)
        theirs = twin.train_pass(X, targets, range(m), C, 0.3, update, iterations, normalize, Phi, W, O)
        for a, b in zip(mine, theirs, strict=False):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(mine[3], twin.scores(X, normalize, *theirs), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("k", "m", "sparse"), [(4, 1, True), (5, 2, True), (0, 3, True)])
def test_averages_are_means_over_documents(k, m, sparse):
    X, targets, Phi, W, O, C = case(3, k, m, sparse)
    mine = run(X, targets, Phi, W, O, C, "coordinate", 50, "document", average=True)
    states = [
        twin.train_pass(X[:n], targets[:n], range(m), C, 0.3, "coordinate", 50, "document", Phi, W, O)
        for n in range(1, len(X) + 1)
    ]
    for a, *b in zip(mine, *states, strict=False):
        np.testing.assert_allclose(a, np.mean(b, axis=0), rtol=1e-9, atol=1e-10)


def test_single_precision_follows_double():
    X, targets, Phi, W, O, C = case(7, 33, 2, True)
    double = run(X, targets, Phi, W, O, C, "coordinate", 50, "document")
    single = run(X, targets, Phi, W, O, C, "coordinate", 50, "document", dtype=np.float32)
    for a, b in zip(single[:4], double[:4], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


def test_hand_computed_step():
    """w_0 = 0, Phi = 1, x = 1, y = 1, C = 1/2, lam = 1: w = 1 / (1 + 1), then u = (1 - 1/2) / (1/4 + 1) * 1/2."""
    p, q, r, t, beta, n = rpa_step.plane_step(0, 0, 1, 1, 0, 0, 1, 0.5, 1, rpa_step.UPDATES["coordinate"], 1)
    assert (q, r * 0 + t, beta, n) == pytest.approx((0.5, 0.2, 0.5, 1))
    assert p == 1


def test_embedding_first_leaves_the_weights_what_is_left():
    """w = 2, Phi = 0, x = 1, y = 1, C = 1/2, lam = 1: u = 2 / (4 + 1) = 0.4, then w + (1 - 0.8) 0.4 / (0.16 + 1)."""
    update = rpa_step.UPDATES["embedding-first"]
    p, _, r, _, _, n = rpa_step.plane_step(4, 0, 0, 1, 0, 0, 1, 0.5, 1, update, 1)
    assert (2 * p, 2 * r, n) == pytest.approx((2 + 0.2 * 0.4 / 1.16, 0.4, 1))


numbers = st.floats(-2, 2)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.05, 50), st.floats(0.02, 20), st.booleans())
def test_joint_step_is_the_optimum_of_problem_5(seed, C, lam, sparse):
    random = np.random.default_rng(seed)
    k, p = 2, 3
    w0, Phi0, x = (
        random.normal(size=k) * 0.4,
        random.normal(size=(k, p)),
        random.integers(1, 3, p).astype(float),
    )
    xo = x if sparse else np.zeros(0)
    o0 = random.normal(size=len(xo)) * 0.2
    y = float(random.choice([-1, 1]))
    v = Phi0 @ x
    if y * (w0 @ v + o0 @ xo) >= 1:
        return
    update = rpa_step.UPDATES["joint"]
    a = rpa_step.plane_step(w0 @ w0, w0 @ v, v @ v, x @ x, o0 @ xo, xo @ xo, y, C, lam, update, 1)
    w, u = a[0] * w0 + a[1] * v, a[2] * w0 + a[3] * v
    mine = twin.objective(w, o0 + a[4] * xo, Phi0 + np.outer(u, x), w0, o0, Phi0, x, xo, y, C, lam)

    def value(flat):
        return twin.objective(
            flat[:k], flat[k + k * p :], flat[k : k + k * p].reshape(k, p), w0, o0, Phi0, x, xo, y, C, lam
        )

    alternated = twin.step(w0, o0, Phi0, x, xo, y, C, lam, "coordinate", 500)
    assert mine <= twin.objective(*alternated, w0, o0, Phi0, x, xo, y, C, lam) * (1 + 1e-6)
    start = np.concatenate([alternated[0], alternated[2].ravel(), alternated[1]])
    best = min(minimize(value, start + 0.3 * random.normal(size=start.size) * (i > 0)).fun for i in range(3))
    assert mine <= best * (1 + 1e-5) + 1e-9


@settings(max_examples=100)
@given(
    numbers,
    numbers,
    st.floats(0.1, 5),
    st.floats(0.01, 100),
    st.floats(0.01, 100),
    st.sampled_from([-1.0, 1.0]),
    st.sampled_from(["coordinate", "embedding-first"]),
)
def test_exact_blocks_never_raise_the_objective(w, v, s, C, lam, y, update):
    values = []
    for n in range(1, 8):
        p, q, r, t, *_ = rpa_step.plane_step(
            w * w, w * v, v * v, s, 0, 0, y, C, lam, rpa_step.UPDATES[update], n
        )
        new, u = p * w + q * v, r * w + t * v
        loss = max(0, 1 - y * new * (v + s * u))
        values.append(0.5 * (new - w) ** 2 + 0.5 * lam * s * u * u + C * loss**2)
    assert all(b <= a * (1 + 1e-9) + 1e-12 for a, b in itertools.pairwise(values))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_regret_bound_of_proposition_3(seed, C):
    """With Phi held fixed: sum of squared losses <= (R^2 + 1/2C) (|u*|^2 + 2C sum of u*'s squared losses), from u_1 = 0."""
    random = np.random.default_rng(seed)
    X, targets, Phi, W, O, _ = case(seed, 3, 1, False, n=30)
    weights = np.full((1, 2), C)
    best = random.normal(size=3)
    losses, w = [], W * 0
    for i in range(len(X)):
        row, target = X[i : i + 1], targets[i : i + 1]
        _, w, _, _, sums = run(row, target, Phi, w, O, weights, "fixed", 1, "none")
        losses.append(sums[0] if row.any() else 0.0)
    y = np.where(targets == 0, 1, -1)
    V = X @ Phi.T
    used = X.any(axis=1)
    theirs = np.maximum(0, 1 - y * (V @ best))[used]
    radius = np.max(np.sum(V**2, axis=1))
    bound = (radius + 1 / (2 * C)) * (best @ best + 2 * C * np.sum(theirs**2))
    assert np.sum(np.square(losses)) <= bound * (1 + 1e-9)


def test_doors_refuse_what_does_not_fit():
    X, targets, Phi, W, O, C = case(0, 4, 1, False)
    values, indices, indptr = csr(X, np.float64)
    with pytest.raises(ValueError, match="feature"):
        rpa_step.check_rows(values, indices, indptr, 3)
    with pytest.raises(ValueError, match="not consistent"):
        rpa_step.check_rows(values, indices, indptr[:-1], 9)
    with pytest.raises(ValueError, match="shapes"):
        run(X, targets, Phi, W[:, :3], O, C, "fixed", 1, "none")


def test_stops_at_the_first_number_that_is_not_finite():
    X, targets, Phi, W, O, C = case(0, 4, 1, False)
    Phi[:, 0] = np.inf
    X[:2, 0], X[2, 0] = 0, 1
    with pytest.raises(AssertionError):
        run(X, targets, Phi, W, O, C, "coordinate", 5, "none")


def test_empty_and_read_only_inputs():
    X, targets, Phi, W, O, C = case(0, 4, 1, False)
    *_, out, sums = run(np.zeros((2, 9)), targets[:2], Phi, W, O, C, "coordinate", 5, "document")
    assert not out.any() and not sums.any()
    targets.setflags(write=False)
    C.setflags(write=False)
    run(X, targets, Phi, W, O, C, "coordinate", 5, "document")
