"""Newton's method on a face, the entrants of a face, and what a path keeps from one lambda to the next."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.regression_cases import problem_of
from wordkit.models.trace_lasso_face import Faces, solve_face
from wordkit.models.trace_lasso_irls import fast_irls
from wordkit.models.trace_lasso_newton import _hessian, newton
from wordkit.models.trace_norm import dual_norm, smoothed


def test_hessian_of_the_penalty_by_differences():
    random = np.random.default_rng(3)
    for k, p in ((6, 6), (9, 5), (4, 7)):
        P, w = random.standard_normal((k, p)), random.standard_normal(p)

        def gradient(w, P=P):
            return w * smoothed(P, w, 1e-3).weights

        steps = 1e-6 * np.eye(p)
        differences = np.array([(gradient(w + step) - gradient(w - step)) / 2e-6 for step in steps])
        np.testing.assert_allclose(_hessian(smoothed(P, w, 1e-3)), differences, atol=1e-7)


def test_newton_agrees_with_the_central_path():
    problem = problem_of("identity", 60, 10, 0.005)
    start = fast_irls(problem, tol=1e-3).w
    found, path = newton(problem, start, target=1e-9 * problem.zero_loss), fast_irls(problem, tol=1e-8)
    assert found.converged and -1e-12 <= found.gap / problem.zero_loss <= 1e-9
    assert abs(found.objective - path.objective) <= 2e-8 * problem.zero_loss


def test_newton_gives_zeros_where_coefficients_vanish():
    problem = problem_of("identity", 60, 10, 0.5)
    found = newton(problem, np.ones(10), target=1e-8 * problem.zero_loss)
    assert found is not None and not found.converged and 0 < np.count_nonzero(found.w) < 10


@pytest.mark.parametrize("share", [0.6, 0.8])
def test_a_face_grows_to_the_solution(share):
    """From one column: what cannot be zero enters, until the gap certifies the rest."""
    problem = problem_of("identity", 30, 60, share)
    first = np.zeros(60, dtype=bool)
    first[np.argmax(np.abs(problem.correlations))] = True
    target = 1e-6 * problem.zero_loss

    def solve(reduced, start):
        return newton(reduced, start, target=0.1 * target) or fast_irls(reduced, tol=1e-8)

    found = solve_face(problem, first, first.astype(float), np.ones(60), target=target, solve=solve)
    best = fast_irls(problem, tol=1e-7)
    assert found is not None and found.converged and found.gap >= -1e-9 * problem.zero_loss
    assert abs(found.objective - best.objective) <= 2 * target


@pytest.mark.parametrize("kind", ["identity", "blocks", "toeplitz"])
def test_a_path_needs_few_steps_and_no_other_solutions(kind):
    problem = problem_of(kind, 32, 64, 0.5)
    largest = dual_norm(problem.P, problem.correlations).high
    faces, w, dual, warm, cold = Faces(), None, None, 0, 0
    for share in 0.9 * 0.9 ** np.arange(25):
        at = problem.at(share * largest)
        found, alone = fast_irls(at, tol=1e-4, w=w, dual=dual, faces=faces), fast_irls(at, tol=1e-4)
        assert found.converged and alone.converged
        assert abs(found.objective - alone.objective) <= 1e-4 * problem.zero_loss
        w, dual, warm, cold = found.w, found.dual, warm + found.iterations, cold + alone.iterations
    assert warm < 0.7 * cold
