"""Sparse codes by accelerated proximal gradients (FISTA), a block of columns at a time, each stopped by its duality gap.

For each column x of the data, with a dictionary D, gram = D'D (M, M), b = D'x and |x|^2 given, the minimum over a of

    F(a)  =  |x - D a|^2 + lam Omega(a),        Omega = sum over nodes i of |a restricted to the subtree of i|   (forest_prox.pyx)

(Yogatama et al. 2015, equation 4, with D fixed; no factor 1/2). With p = gram a kept beside a, an iteration is one GEMM and

    y = a + speed (a - a_old),    q = p + speed (p - p_old) = gram y,    a <- prox(y - (q - b) / |gram|, lam / (2 |gram|))

in one pass over tiles that stay in the first-level cache. speed = k / (k + 3) after k steps of momentum, which starts anew where
(y - a_new)(a_new - a) > 0 (O'Donoghue and Candes 2015, the gradient scheme), each column for itself. Since p belongs to a
and not to y, the gap costs no second GEMM. With g = 2 (b - p), r = x - D a and any s such that s g is in lam times the
dual ball, 2 s r is a point of the dual problem, and

    F(a) - min F  <=  lam Omega(a) - s a.g + (1 - s)^2 |r|^2,       |r|^2 = |x|^2 - a.b - a.g / 2

s = lam / max(lam, h) will do, h the greatest norm of a tree of g when what is below its root was shrunk by lam: h does not rise
with the threshold, hence shrinking by h leaves nothing; at the minimum h <= lam. One upward sweep instead of a search for the
dual norm. For lam = 0 (non-negative least squares) s would be 0; there F - min F <= |slope of F on the feasible side|^2 / (4 mu),
mu the smallest eigenvalue of gram.

Columns whose gap is below tol F are written out, and the block closes up over them. float32 or float64; sums of the gap in float64.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from blas cimport gemm, gemm_f
from forest_tile cimport TILE, plan_forest, tile_down, tile_up
from prox cimport real

cdef extern from *:
    """
    #define REAL float
    #define ROOT sqrtf
    #define NAMED(x) x##_f
    #include "code_tile.h"
    #undef REAL
    #undef ROOT
    #undef NAMED
    #define REAL double
    #define ROOT sqrt
    #define NAMED(x) x##_d
    #include "code_tile.h"
    #undef REAL
    #undef ROOT
    #undef NAMED
    """
    void step_in_f "wk_step_in_f"(const float*, const float*, const float*, const float*, const float*, Py_ssize_t, Py_ssize_t,
                                  Py_ssize_t, float, const float*, float*) noexcept nogil
    void step_in_d "wk_step_in_d"(const double*, const double*, const double*, const double*, const double*, Py_ssize_t,
                                  Py_ssize_t, Py_ssize_t, double, const double*, double*) noexcept nogil
    void step_out_f "wk_step_out_f"(const float*, const float*, float*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const float*,
                                    float*) noexcept nogil
    void step_out_d "wk_step_out_d"(const double*, const double*, double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, const double*,
                                    double*) noexcept nogil
    void slopes_f "wk_slopes_f"(const float*, const float*, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t, float*, float*,
                                double*, double*) noexcept nogil
    void slopes_d "wk_slopes_d"(const double*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*,
                                double*, double*, double*) noexcept nogil
    void norms_f "wk_norms_f"(const float*, float*, const int32_t*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void norms_d "wk_norms_d"(const double*, double*, const int32_t*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void root_norms_f "wk_root_norms_f"(const float*, float*, const int32_t*, Py_ssize_t, Py_ssize_t, float, int,
                                        float*) noexcept nogil
    void root_norms_d "wk_root_norms_d"(const double*, double*, const int32_t*, Py_ssize_t, Py_ssize_t, double, int,
                                        double*) noexcept nogil

cdef enum:
    FIRST_CHECK = 4  # steps from one look at the gaps to the next; later a sixteenth of the steps made
    CLOSE_SHARE = 8  # the block closes up when one column in so many is done

cdef struct Problem:
    Py_ssize_t M, n_runs, longest
    const int32_t* parents
    const uint8_t* inner
    const int32_t* runs
    double lam, norm, mu, tol
    bint nonnegative

# What is kept of a column that is still worked on; all arrays have ``width`` cells (or rows of that many), closed up in place.
cdef struct Columns:
    Py_ssize_t width
    int32_t* column  # its number in the caller's arrays
    int32_t* momentum  # steps since the last start
    double* gap
    double* objective
    double* square  # |x|^2


cdef inline void multiply(const real* gram, const real* a, Py_ssize_t M, Py_ssize_t n, real* p) noexcept nogil:
    if real is float:
        gemm_f(False, False, M, n, M, gram, a, 0, p)
    else:
        gemm(False, False, M, n, M, gram, a, 0, p)


cdef void step(const Problem* to, Columns* held, const real* a, real* a_old, const real* p, const real* p_old, const real* b,
               real* tile) noexcept nogil:
    """The next iterate of all columns, into ``a_old``. tile: 2 longest TILE cells."""
    cdef Py_ssize_t at = 0, stride = held.width, columns, k, c, base, rows, first
    cdef real rate = <real>(1 / to.norm)
    cdef real* factor = tile + to.longest * TILE
    cdef real threshold[TILE]
    cdef real speed[TILE]
    cdef real turn[TILE]
    for c in range(<Py_ssize_t>TILE):
        threshold[c] = <real>(to.lam / (2 * to.norm))
    while at < held.width:
        columns = min(<Py_ssize_t>TILE, held.width - at)
        for c in range(columns):
            speed[c] = <real>(held.momentum[at + c] / (held.momentum[at + c] + 3.0))
            turn[c] = 0
        for k in range(to.n_runs):
            base = to.runs[k]
            rows = to.runs[k + 1] - base
            first = base * stride + at
            if real is float:
                step_in_f(a + first, a_old + first, p + first, p_old + first, b + first, stride, rows, columns, rate,
                          &speed[0], tile)
            else:
                step_in_d(a + first, a_old + first, p + first, p_old + first, b + first, stride, rows, columns, rate,
                          &speed[0], tile)
            tile_up(tile, factor, to.parents + base, to.inner + base, base, rows, &threshold[0], to.nonnegative)
            tile_down(tile, factor, to.parents + base, to.inner + base, base, rows)
            if real is float:
                step_out_f(tile, a + first, a_old + first, stride, rows, columns, &speed[0], &turn[0])
            else:
                step_out_d(tile, a + first, a_old + first, stride, rows, columns, &speed[0], &turn[0])
        for c in range(columns):
            held.momentum[at + c] = 0 if turn[c] > 0 else held.momentum[at + c] + 1
        at += columns


cdef inline double slope_against(const real* value, const real* slope, Py_ssize_t rows, Py_ssize_t c) noexcept nogil:
    """Squared length of column c's slope, without what would push a zero below zero."""
    cdef Py_ssize_t i
    cdef double total = 0
    for i in range(rows):
        if value[i * TILE + c] > 0 or slope[i * TILE + c] > 0:
            total += <double>slope[i * TILE + c] * slope[i * TILE + c]
    return total


cdef void measure(const Problem* to, Columns* held, const real* a, const real* p, const real* b, real* tile) noexcept nogil:
    """Objective and gap of all columns. tile: 3 longest TILE cells."""
    cdef Py_ssize_t at = 0, stride = held.width, columns, k, c, base, rows, first
    cdef real* slope = tile + to.longest * TILE
    cdef real* square = slope + to.longest * TILE
    cdef double fit[TILE]
    cdef double match[TILE]
    cdef double omega[TILE]
    cdef double against[TILE]
    cdef real largest[TILE]
    cdef double s, rest
    while at < held.width:
        columns = min(<Py_ssize_t>TILE, held.width - at)
        for c in range(<Py_ssize_t>TILE):
            fit[c] = match[c] = omega[c] = against[c] = largest[c] = 0
        for k in range(to.n_runs):
            base = to.runs[k]
            rows = to.runs[k + 1] - base
            first = base * stride + at
            if real is float:
                slopes_f(a + first, p + first, b + first, stride, rows, columns, tile, slope, &fit[0], &match[0])
                norms_f(tile, square, to.parents + base, base, rows, &omega[0])
                root_norms_f(slope, square, to.parents + base, base, rows, <float>to.lam, to.nonnegative, &largest[0])
            else:
                slopes_d(a + first, p + first, b + first, stride, rows, columns, tile, slope, &fit[0], &match[0])
                norms_d(tile, square, to.parents + base, base, rows, &omega[0])
                root_norms_d(slope, square, to.parents + base, base, rows, to.lam, to.nonnegative, &largest[0])
            if to.lam == 0:
                for c in range(columns):
                    against[c] += slope_against(tile, slope, rows, c)
        for c in range(columns):
            rest = max(0.0, held.square[at + c] - match[c] - fit[c] / 2)
            held.objective[at + c] = rest + to.lam * omega[c]
            if to.lam == 0:
                held.gap[at + c] = against[c] / (4 * to.mu) if to.mu > 0 else (INFINITY if against[c] > 0 else 0)
            else:
                s = to.lam / largest[c] if largest[c] > to.lam else 1
                held.gap[at + c] = max(0.0, to.lam * omega[c] - s * fit[c] + (1 - s) * (1 - s) * rest)
        at += columns


cdef inline void close_rows(real* rows, Py_ssize_t M, Py_ssize_t width, const int32_t* kept, Py_ssize_t n) noexcept nogil:
    """Columns ``kept`` (rising) of a matrix (M, width), as (M, n) in the same place."""
    cdef Py_ssize_t i, k
    for i in range(M):
        for k in range(n):
            rows[i * n + k] = rows[i * width + kept[k]]


cdef inline Py_ssize_t sift(const Problem* to, const Columns* held, bint all_done, int32_t* kept) noexcept nogil:
    """Number of columns to go on with, listed in ``kept``."""
    cdef Py_ssize_t c, n = 0
    for c in range(held.width):
        if not (all_done or held.gap[c] <= to.tol * held.objective[c]):
            kept[n] = <int32_t>c
            n += 1
    return n


cdef void write_out(const Columns* held, const int32_t* kept, Py_ssize_t n_kept, const real* a, Py_ssize_t M, Py_ssize_t n,
                    real* codes, double* gaps, double* objectives, int32_t* iterations, int32_t made) noexcept nogil:
    """The columns not in ``kept`` to their places in the caller's arrays; codes are (M, n)."""
    cdef Py_ssize_t i, c, k = 0
    for c in range(held.width):
        if k < n_kept and kept[k] == c:
            k += 1
            continue
        gaps[held.column[c]] = held.gap[c]
        objectives[held.column[c]] = held.objective[c]
        iterations[held.column[c]] = made
    for i in range(M):
        k = 0
        for c in range(held.width):
            if k < n_kept and kept[k] == c:
                k += 1
            else:
                codes[i * n + held.column[c]] = a[i * held.width + c]


cdef inline void close_up(Columns* held, const int32_t* kept, Py_ssize_t n_kept) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_kept):
        held.column[k] = held.column[kept[k]]
        held.momentum[k] = held.momentum[kept[k]]
        held.square[k] = held.square[kept[k]]
        held.gap[k] = held.gap[kept[k]]
        held.objective[k] = held.objective[kept[k]]
    held.width = n_kept


cdef void solve(const Problem* to, Columns* held, const real* gram, real* work, real* tile, int32_t* kept, int max_iter,
                Py_ssize_t n, real* codes, double* gaps, double* objectives, int32_t* iterations) noexcept nogil:
    """All columns until each is done. work: a, a_old, p, p_old, b, each (M, width at first); a, p and b are there."""
    cdef Py_ssize_t size = to.M * held.width, n_kept, done
    cdef real* a = work
    cdef real* a_old = work + size
    cdef real* p = work + 2 * size
    cdef real* p_old = work + 3 * size
    cdef real* b = work + 4 * size
    cdef real* swap
    cdef int made = 0, check = 0
    memcpy(a_old, a, size * sizeof(real))
    memcpy(p_old, p, size * sizeof(real))
    while held.width > 0:
        if made == check or made == max_iter:
            measure(to, held, a, p, b, tile)
            n_kept = sift(to, held, made == max_iter, kept)
            done = held.width - n_kept
            if n_kept == 0 or done * CLOSE_SHARE >= held.width:
                write_out(held, kept, n_kept, a, to.M, n, codes, gaps, objectives, iterations, made)
                close_rows(a, to.M, held.width, kept, n_kept)
                close_rows(a_old, to.M, held.width, kept, n_kept)
                close_rows(p, to.M, held.width, kept, n_kept)
                close_rows(p_old, to.M, held.width, kept, n_kept)
                close_rows(b, to.M, held.width, kept, n_kept)
                close_up(held, kept, n_kept)
            check = made + max(<int>FIRST_CHECK, made // 16)
            if n_kept == 0:
                break
        step(to, held, a, a_old, p, p_old, b, tile)
        swap = a
        a = a_old
        a_old = swap
        swap = p
        p = p_old
        p_old = swap
        multiply(gram, a, to.M, held.width, p)
        made += 1


# --- the door ---------------------------------------------------------------------------------------------------------------


def solve_columns(
    const real[:, ::1] gram, const real[:, ::1] correlations, const double[::1] squares, const int32_t[::1] parents, double lam,
    double norm, double mu, bint nonnegative, double tol, int max_iter, Py_ssize_t lo, Py_ssize_t hi, bint warm,
    real[:, ::1] codes, double[::1] gaps, double[::1] objectives, int32_t[::1] iterations,
):
    """Codes of columns lo to hi - 1, worked on together.

    Args:
        gram: (M, M), D'D. correlations: (M, n), D'X. squares: (n), squared lengths of the columns of X.
        parents: (M), each node's parent, -1 of a root; parents come before children.
        norm: an upper bound of the largest eigenvalue of gram, above 0; mu: a lower bound of the smallest (used at lam = 0).
        tol: a column is done when its gap is at most tol times its objective. max_iter: most steps of a column.
        warm: begin at what ``codes`` holds; else at zero.
        codes: (M, n), gaps, objectives, iterations: (n); columns lo to hi - 1 are overwritten.

    Raises:
        ValueError: shapes that do not agree, columns that are not there, parents that are no forest, numbers out of range.
    """
    cdef Py_ssize_t M = gram.shape[0], n = correlations.shape[1], width = hi - lo, i, size
    cdef Problem to
    cdef Columns held
    cdef real* work = NULL
    cdef real* tile = NULL
    cdef double* doubles = NULL
    cdef int32_t* integers = NULL
    cdef uint8_t* inner = NULL
    if gram.shape[1] != M or correlations.shape[0] != M or parents.shape[0] != M or squares.shape[0] != n:
        raise ValueError("shapes of the problem do not agree")
    if codes.shape[0] != M or codes.shape[1] != n or gaps.shape[0] != n or objectives.shape[0] != n or iterations.shape[0] != n:
        raise ValueError("shapes of the results do not agree")
    if not 0 <= lo <= hi <= n:
        raise ValueError("columns are out of range")
    if not (lam >= 0 and norm > 0 and mu >= 0 and tol >= 0 and max_iter >= 0):
        raise ValueError("lam, norm, mu, tol or max_iter is out of range")
    if M == 0 or width == 0:
        return
    size = M * width
    try:
        integers = <int32_t*>malloc((M + 1 + 3 * width) * sizeof(int32_t))
        inner = <uint8_t*>malloc(M)
        doubles = <double*>malloc(3 * width * sizeof(double))
        work = <real*>malloc(5 * size * sizeof(real))
        if integers == NULL or inner == NULL or doubles == NULL or work == NULL:
            raise MemoryError
        to.n_runs = plan_forest(&parents[0], M, inner, integers, &to.longest)
        if to.n_runs < 0:
            raise ValueError("parents are no forest: each must be -1 or an earlier node")
        tile = <real*>malloc(3 * to.longest * TILE * sizeof(real))
        if tile == NULL:
            raise MemoryError
        to.M, to.parents, to.inner, to.runs = M, &parents[0], inner, integers
        to.lam, to.norm, to.mu, to.tol, to.nonnegative = lam, norm, mu, tol, nonnegative
        held.width, held.column, held.momentum = width, integers + M + 1, integers + M + 1 + width
        held.gap, held.objective, held.square = doubles, doubles + width, doubles + 2 * width
        with nogil:
            for i in range(width):
                held.column[i] = <int32_t>(lo + i)
                held.momentum[i] = 0
                held.square[i] = squares[lo + i]
            memset(work, 0, 5 * size * sizeof(real))
            for i in range(M):
                memcpy(work + 4 * size + i * width, &correlations[i, lo], width * sizeof(real))
                if warm:
                    memcpy(work + i * width, &codes[i, lo], width * sizeof(real))
            if warm:
                multiply(&gram[0, 0], work, M, width, work + 2 * size)
            solve(&to, &held, &gram[0, 0], work, tile, integers + M + 1 + 2 * width, max_iter, n, &codes[0, 0], &gaps[0],
                  &objectives[0], &iterations[0])
    finally:
        free(integers)
        free(inner)
        free(doubles)
        free(work)
        free(tile)
