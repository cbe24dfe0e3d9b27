"""Iteratively reweighted least squares for the trace Lasso (section 7.3.1), and its fast form.

A step: D = diag(P^T S^-1 P) with S = (P Diag(w)^2 P^T + mu I)^1/2, then w = (X^T X + lam Diag(D))^-1 X^T y. :func:`irls` is the
thesis's algorithm. :func:`fast_irls` finds the same minimum in a fraction of the steps:

- mu falls when the certified gap says that the smoothed problem is solved as well as its smoothing deserves;
- Anderson extrapolation (residuals weighted by sqrt(D)) while mu stands still, extrapolation of w along sqrt(mu) when it falls:
  coefficients that shrink with sqrt(mu) are scaled, the others follow a line;
- those that shrink are taken for zeros, and :mod:`wordkit.models.trace_lasso_face` tries to prove it.

Along a path a solution has few columns (a face) until, within a few lambdas, it takes in all of them with coefficients that grow
from zero in proportion; from then on it is smooth in lambda. What made 100 lambdas cheap, measured at 128 x 512 in steps (a step,
certificate included, is 0.3 to 0.6 of a full singular value decomposition of X):

- faces: Newton's method on them, the split of P kept while the support stands, entrants read off the directions outside where
  these show a dual norm above 1: 0.3 of a decomposition a lambda where it was 1.3, and 10 to 15 where the support changes and
  it was 40;
- all columns: the start has the mu that the target needs, read off its singular values, where mu fell twice from a guess and each
  time the extrapolation began anew: 5 to 10 steps a lambda after the face is left where it was 20 to 50, 2 to 3 later; the
  differences of Anderson's extrapolation are kept from the lambda before, and w is extrapolated along log lambda;
- from a solution without zeros a face is tried once, and only a small one: such tries failed, and at 256 x 1024 half of all the
  time went into them; what they found now and then, zeros at one or two lambdas, is below 1e-3 of the greatest coefficient;
- leaving a face: a start at it plus its directions outside, of the length that lowers the objective most, 25 to 55 steps at the
  first such lambda where it was 65 to 95; extrapolations that raise the objective are taken back;
- mu falls at a gap of 20 times the bias, not 3: a fifth fewer steps without a start; at 40 some Toeplitz problems do not end;
- whether a gap is low enough is decided by a lower bound of the norm by powers, then by a Cholesky factorization; the norm itself
  is found where the gap may be below the target;
- a step that raises the smoothed objective at all is taken back, but its differences are kept: 11 % fewer steps than where it
  might rise by a hundredth and all was forgotten.

What did not help: more differences in the extrapolation (16 or 30: as many steps or more), less patience at one mu, Newton's
method on all coefficients (many change sign on the way, where it stops), extrapolation along log lambda of the second or third
degree (0 and 5 % more steps), the last mu at once where a face is left (as many steps or half as many more), mu falling
by 0.03 or 0.01 (up to twice the steps in the worst case) nor further after a level of one step, another first mu, 0.7 of the
extrapolation along log lambda, half the bias at the last mu, a start from a face with a mu nearer to the last one (fewer steps in
most designs, 161 at one lambda), a part of a step that was taken back. A problem of 32 x 64 is 18 steps of 0.19 ms, half of it
eigenvectors; a face that is tried in vain there costs as much as thirty. Newton's method by conjugate gradients,
preconditioned by the step of IRLS, on all columns at the last mu: 2 to 4 steps a lambda where it is 2 to 11, but each has up
to eight products with the Hessian, and a path takes the same time. An eigenproblem in half of the steps only, P kept in the
eigenvectors of a step before and the root to second order: with fewer looks at the gap at the last mu 14 to 20 % less time at
256 x 1024, but one problem in some 200 that is solved now was not. Not tried: low-rank updates.
What is left is at the two or three lambdas where a face is left, and the search for what certifies the last faces before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from wordkit.models.trace_lasso_face import Faces, solve_face
from wordkit.models.trace_lasso_newton import LARGEST, newton
from wordkit.models.trace_lasso_problem import Gap, Problem, Solution
from wordkit.models.trace_norm import (
    Array,
    Smoothed,
    norm_by_gram,
    norm_from_below,
    norm_is_below,
    penalty_from_gram,
    singular_values,
    smaller_gram,
    smoothed,
    smoothed_by,
    squared_spectrum,
)

_FALL = 0.1  # mu is multiplied by this
_CENTRED = 20.0  # times the bias of the smoothing: the gap at which mu falls
_LAST = 0.3  # times the target: the bias that is left at the last mu
_HALVINGS = 8  # of the logarithm of the range that this mu is looked for in
_NEAR = 10.0  # times the target: the bias that a start from a face begins with
_PATIENCE, _RAISE = 40, 1e4  # steps at one mu before it is raised again, and by how much
_RISE = 1e-6  # of the objective, relative to that at 0, which a step may not bring
_LEAVING = 12  # lengths tried of the way from a face
_WIDER = 2.0  # from one to the next
_STAYING = 30.0  # times sqrt(mu): the length of a column of P Diag(w) that is more than smoothing
# The most columns of a face that a solution without zeros may be near: of the rows, and at least.
_LIKELY, _FEW = 0.125, 16
_BY_POWERS = 64  # rows of a matrix whose norm is looked at by powers first
_DEEPEST = 2  # faces of faces
_ABOVE = 1.5  # times lambda: where a second attempt starts from
_ROOM = 100  # steps that an attempt must be allowed for there to be a second one
_LEAST = 1e-15  # mu, relative to the square of the greatest singular value: below is rounding


def first_guess(problem: Problem) -> Array:
    """X^T y scaled to minimize the loss along it."""
    step = problem.correlations
    image = problem.X @ step
    square = float(image @ image)
    return step * (float(problem.y @ image) / square) if square > 0 else np.zeros_like(step)


def irls(
    problem: Problem, *, tol: float = 1e-6, max_iter: int = 1000, w: Array | None = None, shrink: float = 0.9,
    check: int = 5, trace: bool = False, stop: Callable[[], None] | None = None,
) -> Solution:  # fmt: skip
    """The thesis's algorithm: mu falls by ``shrink`` a step, to ten times the rounding of the singular values.

    Stops where the gap, looked at every ``check`` steps, is at most ``tol`` times the objective at 0.
    """
    w = first_guess(problem) if w is None else w
    started = time.perf_counter()
    mu = float(np.mean(singular_values(problem.P, w))) ** 2
    best = Solution(w, np.inf, np.inf, np.inf, 0, False)
    record: list[tuple[float, float, float]] = []
    step = 0
    for step in range(1, max_iter + 1):
        if stop is not None:
            stop()
        view = smoothed(problem.P, w, mu)
        if step % check == 0 or step == max_iter:
            found = problem.gap(w, view.polar(), view.omega)
            record.append((time.perf_counter() - started, found.primal, found.gap))
            if found.gap < best.gap:
                best = Solution(w, *found, step, found.gap <= tol * problem.zero_loss)
            if best.converged:
                break
        w = problem.solve_weighted(problem.lam * view.weights)
        floor = (10 * np.finfo(float).eps * float(view.roots[-1])) ** 2
        mu = max(mu * shrink, floor, np.finfo(float).tiny)
    return best._replace(iterations=step, trace=record if trace else [])


def fast_irls(
    problem: Problem, *, tol: float = 1e-6, max_iter: int = 300, w: Array | None = None, dual: Array | None = None,
    faces: Faces | None = None, trace: bool = False, stop: Callable[[], None] | None = None,
) -> Solution:  # fmt: skip
    """Minimize to a gap of ``tol`` times the objective at 0.

    Where that is not reached in ``max_iter`` steps (in Toeplitz designs one cold start in fifty: all coefficients are left, and
    the gap stays at 6e-6) and these are not few, the problem is solved at 1.5 times its lambda, in as many steps, and once more
    from that solution.

    Args:
        w, dual: of the solution of a similar problem, where to start.
        faces: what is kept between problems that differ in lambda only.
        trace: keep (seconds, objective, gap) of every step.
        stop: called every step; may raise.
    """
    run = _attempt(problem, tol, max_iter, stop, faces, w, dual)
    best, record, steps = run.best, run.record, run.steps
    if not best.converged and max_iter >= _ROOM:
        above = _attempt(problem.at(_ABOVE * problem.lam), tol, max_iter, stop)
        again = _attempt(problem, tol, max_iter, stop, above.faces, above.best.w, above.best.dual)
        later, lowest = again.started - run.started, best.gap
        record = record + [(t + later, value, min(gap, lowest)) for t, value, gap in again.record]
        steps += above.steps + again.steps
        best = min(best, again.best, key=lambda found: found.gap)
    return best._replace(iterations=steps, trace=record if trace else [])


def _attempt(
    problem: Problem, tol: float, max_iter: int, stop: Callable[[], None] | None, faces: Faces | None = None,
    w: Array | None = None, dual: Array | None = None,
) -> _CentralPath:  # fmt: skip
    """A run to its end: on the support of the start where that will do, else along the central path."""
    run = _CentralPath(problem, tol * problem.zero_loss, stop, faces=faces)
    if w is not None and run.finish_on_support(w, np.zeros_like(w) if dual is None else dual):
        return run
    if run.best.dual is not None:  # a face was near
        w, dual = run.best.w, run.best.dual
    run.follow(w, max_iter, dual)
    return run


def _on_support(
    problem: Problem, w: Array, *, target: float, stop: Callable[[], None] | None, depth: int
) -> Solution:
    """The solution of a small problem that came up on the way; its steps cost next to nothing beside those of the whole."""
    if len(w) <= LARGEST:
        found = newton(problem, w, target=target)
        if found is not None:
            return found
    run = _CentralPath(problem, target, stop, depth)
    run.follow(w if np.all(w != 0) else None, 100)
    return run.best._replace(iterations=0)


class _CentralPath:
    """State of a run: the best solution so far, and the last point where mu fell."""

    def __init__(
        self, problem: Problem, target: float, stop: Callable[[], None] | None, depth: int = 0,
        faces: Faces | None = None,
    ) -> None:  # fmt: skip
        self.faces = Faces() if faces is None else faces
        self.problem, self.target, self.stop, self.depth = problem, target, stop, depth
        self.started = time.perf_counter()
        zero = np.zeros(problem.X.shape[1])
        self.best = Solution(zero, np.inf, np.inf, np.inf, 0, False)
        self.record: list[tuple[float, float, float]] = []
        self.steps = 0
        self.anderson = self.faces.anderson
        self.top = np.ones(len(zero))  # near the right singular vector of the last certificate
        self.corner: tuple[float, Array] | None = None  # sqrt(mu) and w where mu fell last
        self.shrunk: Array | None = None  # which coefficients shrank before that

    def finish_on_support(self, w: Array, dual: Array) -> bool:
        """Try the support of a similar problem's solution: what is not zero, nor of the size of the smoothing."""
        support = (w != 0) & ((dual == 0) | (np.abs(dual) * np.sqrt(self.problem.squares) > _STAYING))
        size, k = int(support.sum()), len(self.problem.P)
        if not 0 < size < k:
            return False
        if np.all(w):
            if self.faces.given_up or size > max(_FEW, _LIKELY * k):
                return False
            self.faces.given_up = True
        if found := self._try_face(support, w, dual):
            self.faces.given_up = False
        return found

    def follow(self, w: Array | None, max_iter: int, dual: Array | None = None) -> None:
        """Steps at falling mu until the gap is reached, or max_iter steps are done."""
        problem = self.problem
        w, mu = self._beginning(w, dual)
        near = mu == 0
        waiting, before = 0, math.inf  # value of the smoothed objective a step before
        image: Array | None = None
        for step in range(1, max_iter + 1):
            if self.stop is not None:
                self.stop()
            spectrum = squared_spectrum(problem.P, w)
            if mu == 0:
                mu = self._last_mu(spectrum[0])
            view = smoothed_by(problem.P, w, spectrum, mu)
            root = math.sqrt(mu)
            bias = problem.lam * mu * view.inverse
            enough = np.inf if step == max_iter else max(_CENTRED * bias, self.target)
            found = self._gap(view, enough, bias <= self.target)
            self._consider(w, found, w / root)
            if self.best.converged:
                return
            value = found.primal + problem.lam * (view.trace - view.omega)
            if image is not None and value > before + _RISE * problem.zero_loss:  # extrapolated too far
                w, image = image, None
                continue
            before = value
            if (waiting := waiting + 1) > _PATIENCE:
                mu, waiting, before = _RAISE * mu, 0, math.inf
                self.anderson.forget()
            image = problem.solve_weighted(problem.lam * view.weights)
            following = self.anderson.step(w, image, np.sqrt(view.weights))
            if found.gap <= enough or (step < 3 and self.corner is None and not near):
                floor = _LEAST * float(view.roots[-1]) ** 2
                lower = max(mu * self._fall(bias), floor)
                if lower < mu:
                    following = self._turn(following, root, math.sqrt(lower), step > 3)
                    mu, waiting, image, before = lower, 0, None, math.inf
                if self.best.converged:
                    return
            w = following

    def _gap(self, view: Smoothed, enough: float, near: bool) -> Gap:
        """A certified gap: cheap looks show whether it is below ``enough``, which then is the gap, and where that is ``near`` the
        target, whether it is below the target. Only then, or where ``enough`` is infinite, is the least one found."""
        problem = self.problem
        residual = problem.y - problem.X @ view.w
        proof = problem.proof(residual, view.omega)
        allowed = proof.norm_for(enough)
        if allowed == math.inf > enough:
            return proof.gap(math.inf)
        M = view.feasible(problem.X.T @ residual / problem.lam, problem.squares)
        if allowed < math.inf and len(M) > _BY_POWERS:
            below, self.top = norm_from_below(M, self.top)
            if below > allowed:
                return proof.gap(math.inf)
        gram = smaller_gram(M)
        if allowed < math.inf:
            if not norm_is_below(gram, allowed):
                return proof.gap(math.inf)
            if enough > self.target and not (near and norm_is_below(gram, proof.norm_for(self.target))):
                return proof.gap(allowed)._replace(gap=enough)
        return proof.gap(norm_by_gram(gram))

    def _beginning(self, w: Array | None, dual: Array | None) -> tuple[Array, float]:
        """Where to start, and mu: of the size of the singular values, or for a start that is near of what the target will
        need. Near are a start from which nothing is about to vanish, and one on a face with the directions outside: the central
        path comes to it along them."""
        problem = self.problem
        along = (
            w is not None
            and dual is not None
            and not np.all(w)
            and bool(np.any(w) and np.all((w != 0) | (dual != 0)))
        )
        dense = w is not None and self._is_near(w)
        near = along or dense
        if dense and not self.depth:
            self.anderson.resume()
        else:
            self.anderson.forget()
        if w is None or not np.any(w):
            w = first_guess(problem)
        k, square = len(problem.P), float(problem.squares @ w**2)
        root = math.sqrt(square / k)
        if near:
            root = min(root, _NEAR * self.target / (problem.lam * k))
        if along:
            assert dual is not None
            w = self._leaving(w, np.where(w == 0, dual, 0.0), root)
        elif near:
            return w, 0.0
        return w, max(root**2, _LEAST * square, np.finfo(float).tiny)

    def _last_mu(self, values: Array) -> float:
        """The mu whose bias is what the target allows, where the squared singular values are ``values``."""
        allowed, size = _LAST * self.target / self.problem.lam, math.sqrt(float(values[-1]))
        low, high = math.sqrt(_LEAST) * size, size
        for _ in range(_HALVINGS):
            root = math.sqrt(low * high)
            if root**2 * float((1.0 / np.sqrt(values + root**2)).sum()) > allowed:
                high = root
            else:
                low = root
        return max(low**2, np.finfo(float).tiny)

    def _leaving(self, w: Array, outside: Array, size: float) -> Array:
        """w plus as much of the directions outside as makes the objective fall, and at least ``size``: where the face has been
        left, single steps find that amount slowly."""
        problem = self.problem
        before = math.inf
        following = w + size * outside
        for _ in range(_LEAVING):
            objective = problem.objective(following, penalty_from_gram(problem.P, following))
            if objective >= before:
                break
            before, w = objective, following
            following = following + (_WIDER - 1) * size * outside
            size *= _WIDER
        return w

    def _is_near(self, w: Array) -> bool:
        """Whether nothing of a start is about to vanish, or so much is there that it does not matter."""
        if self.depth:
            return bool(np.abs(w).min() > 1e-4 * np.abs(w).max())
        return int(np.count_nonzero(w)) > len(self.problem.P)

    def _fall(self, bias: float) -> float:
        """By how much mu falls: not far below what the target needs."""
        if bias <= 2 * _LAST * self.target:
            return 1.0
        return max(_FALL, (_LAST * self.target / bias) ** 2)

    def _turn(self, w: Array, root: float, lower: float, faces: bool) -> Array:
        """What to go on with when sqrt(mu) falls from ``root`` to ``lower``; tries the face of what does not shrink."""
        if self.corner is None or not faces or self.corner[0] == root:  # mu may come back to where it was
            self.corner = root, w
            return w
        above, before = self.corner
        self.corner = root, w
        with np.errstate(divide="ignore", invalid="ignore"):
            shrinking = np.abs(w) < np.abs(before) * math.sqrt(root / above)
        if not shrinking.any():
            return w
        steady = self.shrunk is not None and np.array_equal(self.shrunk, shrinking)
        self.shrunk = shrinking
        small = self.depth == 0 and 2 * np.count_nonzero(~shrinking) <= len(self.problem.P)
        if (steady or small) and self._try_face(~shrinking, w, w / root):
            return w
        self.anderson.forget()
        straight = w + (w - before) * ((lower - root) / (root - above))
        return np.where(shrinking, w * (lower / root), straight)

    def _try_face(self, support: Array, w: Array, v: Array) -> bool:
        if self.depth == _DEEPEST:
            return False
        within = self.target if self.depth else 0.1 * self.target
        solve = partial(_on_support, target=within, stop=self.stop, depth=self.depth + 1)
        found = solve_face(self.problem, support, w, v, target=self.target, solve=solve, faces=self.faces)
        if found is None:
            return False
        self.steps += found.iterations - 1
        self._consider(found.w, Gap(found.objective, found.gap, found.norm), found.dual)
        return self.best.converged

    def _consider(self, w: Array, found: Gap, dual: Array | None) -> None:
        self.steps += 1
        if found.gap < self.best.gap:
            self.best = Solution(w, *found, self.steps, found.gap <= self.target, dual)
        self.record.append((time.perf_counter() - self.started, found.primal, self.best.gap))
