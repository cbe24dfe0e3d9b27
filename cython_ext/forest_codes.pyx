"""Sparse codes by alternating directions (ADMM), a block of columns at a time, each column stopped by its duality gap.

For each column x of the data, with a dictionary D, gram = D'D (M, M), b = D'x and |x|^2 given, the minimum over z of

    F(z)  =  |x - D z|^2 + lam Omega(z),        Omega = sum over nodes i of |z restricted to the subtree of i|   (forest_prox.pyx)

(Yogatama et al. 2015, equation 4, with D fixed; no factor 1/2). With ``inverse`` = (2 gram + rho I)^-1, which all columns share,
an iteration is one GEMM and one pass over tiles that stay in the first-level cache (Boyd et al. 2011, section 3, relaxed):

    a = inverse (2 b + rho (z - u)),    v = relax a + (1 - relax) z + u,    z <- prox(v, lam / rho),    u <- v - z

Gradient steps (FISTA) need as many more iterations as gram is ill-conditioned: two to twenty times as many where M is near the
number of rows of D, or its columns resemble each other. rho is balanced (section 3.4.1) at steps 3, 6, 12, 24, ...: ever more
rarely, so that the iteration converges; the door then returns, since a new rho wants a new inverse.

With g = 2 (b - gram z), r = x - D z and any s such that s g is in lam times the dual ball, 2 s r is a point of the dual problem,

    F(z) - min F  <=  lam Omega(z) - s z.g + (1 - s)^2 |r|^2,       |r|^2 = |x|^2 - z.b - z.g / 2

s = lam / max(lam, h) will do, h the greatest norm of a tree of g when what is below its root was shrunk by lam: h does not rise
with the threshold, hence shrinking by h leaves nothing; at the minimum h <= lam. One upward sweep instead of a search for the
dual norm. For lam = 0 (non-negative least squares) s would be 0; there F - min F <= |slope of F on the feasible side|^2 / (4 mu),
mu the smallest eigenvalue of gram.

The gap costs a GEMM and is looked at every few steps. Columns whose gap is at most tol F are written out, and the block closes up
over them. float32 or float64; sums of the gap in float64.
"""

from libc.math cimport INFINITY, log2, rint
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from blas cimport gemm, gemm_f
from code_tile cimport add_norms, add_residuals, raise_root_norms, step_in, step_out, take_slopes
from forest_tile cimport TILE, plan_forest, tile_down, tile_up
from prox cimport real

cdef enum:
    FEWEST_STEPS = 2  # from one look at the gaps to the next
    MOST_STEPS = 8
    FIRST_BALANCE = 3  # steps before rho is balanced first
    CLOSE_SHARE = 8  # the block closes up when one column in so many is done
    MOST_DOUBLINGS = 3  # of rho at once

cdef double RELAX = 1.6

cdef struct Problem:
    Py_ssize_t M, n_runs, longest
    const int32_t* parents
    const uint8_t* inner
    const int32_t* runs
    double lam, mu, tol
    bint nonnegative

# Where a block stands between two calls of the door.
cdef enum:
    WIDTH, MADE, CHECK, BALANCE  # columns not yet done; steps made; steps at the next look at the gaps, at the next balance
    PROGRESS

# The caller's arrays, by column number.
cdef struct Results:
    Py_ssize_t n
    const double* squares
    double* gaps
    double* objectives
    int32_t* iterations


cdef inline void multiply(const real* left, const real* z, Py_ssize_t M, Py_ssize_t n, real* out) noexcept nogil:
    """out (M, n) = left (M, M) z."""
    if real is float:
        gemm_f(False, False, M, n, M, left, z, 0, out)
    else:
        gemm(False, False, M, n, M, left, z, 0, out)


cdef void step(const Problem* to, Py_ssize_t width, double rho, const real* a, const real* b, real* z, real* u, real* right,
               real* tile, double* sums) noexcept nogil:
    """z, u and the next right side of all columns. tile: 2 longest TILE cells; sums: 5 TILE cells to add residuals to, or NULL."""
    cdef Py_ssize_t at = 0, columns, k, c, base, rows, first
    cdef real* factor = tile + to.longest * TILE
    cdef real threshold[TILE]
    for c in range(<Py_ssize_t>TILE):
        threshold[c] = <real>(to.lam / rho)
    while at < width:
        columns = min(<Py_ssize_t>TILE, width - at)
        for k in range(to.n_runs):
            base = to.runs[k]
            rows = to.runs[k + 1] - base
            first = base * width + at
            step_in(a + first, z + first, u + first, width, rows, columns, <real>RELAX, tile)
            tile_up(tile, factor, to.parents + base, to.inner + base, base, rows, &threshold[0], to.nonnegative)
            tile_down(tile, factor, to.parents + base, to.inner + base, base, rows)
            if sums != NULL:
                add_residuals(tile, a + first, z + first, u + first, width, rows, columns, <real>RELAX, sums)
            step_out(tile, a + first, b + first, z + first, u + first, right + first, width, rows, columns, <real>RELAX, <real>rho)
        at += columns


cdef inline int doublings(const double* sums) noexcept nogil:
    """By how many powers of 2 rho is too small: half of that by which a - z is relatively larger than the step of z against u."""
    cdef double total[5]
    cdef Py_ssize_t k, c
    for k in range(5):
        total[k] = 0
        for c in range(<Py_ssize_t>TILE):
            total[k] += sums[k * TILE + c]
    if not (total[0] > 0 and total[1] > 0 and total[4] > 0):
        return 0
    cdef double ratio = log2(total[0] / max(total[2], total[3]) / (total[1] / total[4])) / 4
    return <int>rint(min(<double>MOST_DOUBLINGS, max(-<double>MOST_DOUBLINGS, ratio)))


cdef inline double slope_against(const real* value, const real* slope, Py_ssize_t rows, Py_ssize_t c) noexcept nogil:
    """Squared length of column c's slope, without what would push a zero below zero."""
    cdef Py_ssize_t i
    cdef double total = 0
    for i in range(rows):
        if value[i * TILE + c] > 0 or slope[i * TILE + c] > 0:
            total += <double>slope[i * TILE + c] * slope[i * TILE + c]
    return total


cdef void measure(const Problem* to, Py_ssize_t width, const int32_t* column, const real* z, const real* p, const real* b,
                  const Results* out, real* tile) noexcept nogil:
    """Objective and gap of all columns, where p = gram z. tile: 3 longest TILE cells."""
    cdef Py_ssize_t at = 0, columns, k, c, base, rows, first, place
    cdef real* slope = tile + to.longest * TILE
    cdef real* square = slope + to.longest * TILE
    cdef double fit[TILE]
    cdef double match[TILE]
    cdef double omega[TILE]
    cdef double against[TILE]
    cdef real largest[TILE]
    cdef double s, rest
    while at < width:
        columns = min(<Py_ssize_t>TILE, width - at)
        for c in range(<Py_ssize_t>TILE):
            fit[c] = match[c] = omega[c] = against[c] = largest[c] = 0
        for k in range(to.n_runs):
            base = to.runs[k]
            rows = to.runs[k + 1] - base
            first = base * width + at
            take_slopes(z + first, p + first, b + first, width, rows, columns, tile, slope, &fit[0], &match[0])
            add_norms(tile, square, to.parents + base, base, rows, &omega[0])
            raise_root_norms(slope, square, to.parents + base, base, rows, <real>to.lam, to.nonnegative, &largest[0])
            if to.lam == 0:
                for c in range(columns):
                    against[c] += slope_against(tile, slope, rows, c)
        for c in range(columns):
            place = column[at + c]
            rest = max(0.0, out.squares[place] - match[c] - fit[c] / 2)
            out.objectives[place] = rest + to.lam * omega[c]
            if to.lam == 0:
                out.gaps[place] = against[c] / (4 * to.mu) if to.mu > 0 else (INFINITY if against[c] > 0 else 0)
            else:
                s = to.lam / largest[c] if largest[c] > to.lam else 1
                out.gaps[place] = max(0.0, to.lam * omega[c] - s * fit[c] + (1 - s) * (1 - s) * rest)
        at += columns


cdef inline Py_ssize_t sift(double tol, bint all_done, const Results* out, const int32_t* column, Py_ssize_t width,
                            int32_t* kept) noexcept nogil:
    """Number of columns to go on with, listed in ``kept``."""
    cdef Py_ssize_t c, n = 0
    for c in range(width):
        if not (all_done or out.gaps[column[c]] <= tol * out.objectives[column[c]]):
            kept[n] = <int32_t>c
            n += 1
    return n


cdef inline int32_t steps_to_next(double tol, const Results* out, const int32_t* column, Py_ssize_t width) noexcept nogil:
    """Steps until enough columns to close up may be done, if a step makes a gap four times smaller at best."""
    cdef Py_ssize_t c, near
    cdef int32_t steps = FEWEST_STEPS
    cdef double level = tol
    while steps < MOST_STEPS:
        level *= 4
        near = 0
        for c in range(width):
            if out.gaps[column[c]] <= level * out.objectives[column[c]]:
                near += 1
        if near * CLOSE_SHARE >= width:
            break
        steps += 1
    return steps


cdef void write_out(const real* z, Py_ssize_t M, Py_ssize_t width, const int32_t* column, const int32_t* kept, Py_ssize_t n_kept,
                    int32_t made, const Results* out, real* codes) noexcept nogil:
    """The columns not in ``kept`` to their places in codes (M, n)."""
    cdef Py_ssize_t i, c, k = 0
    for c in range(width):
        if k < n_kept and kept[k] == c:
            k += 1
        else:
            out.iterations[column[c]] = made
    for i in range(M):
        k = 0
        for c in range(width):
            if k < n_kept and kept[k] == c:
                k += 1
            else:
                codes[i * out.n + column[c]] = z[i * width + c]


cdef inline void close_rows(real* rows, Py_ssize_t M, Py_ssize_t width, const int32_t* kept, Py_ssize_t n) noexcept nogil:
    """Columns ``kept`` (rising) of a matrix (M, width), as (M, n) in the same place."""
    cdef Py_ssize_t i, k
    for i in range(M):
        for k in range(n):
            rows[i * n + k] = rows[i * width + kept[k]]


cdef inline void turn_to(double rho, double scale, const real* b, const real* z, Py_ssize_t size, real* u,
                         real* right) noexcept nogil:
    """u times ``scale``, and the right side for rho."""
    cdef Py_ssize_t i
    for i in range(size):
        u[i] = <real>(u[i] * scale)
        right[i] = <real>(2 * b[i] + rho * (z[i] - u[i]))


cdef int solve(const Problem* to, const real* gram, const real* inverse, double rho, double before, bint warm, int32_t max_iter,
               real* work, Py_ssize_t room, int32_t* column, int32_t* progress, int32_t* kept, real* tile, const Results* out,
               real* codes) noexcept nogil:
    """Steps until all columns are done (0), or rho should be another (by so many doublings).

    work: b, z, u, the right side, and a or gram z, each of ``room`` cells; z is there before the first step.
    """
    cdef Py_ssize_t M = to.M, n_kept, i, width = progress[WIDTH]
    cdef real* b = work
    cdef real* z = work + room
    cdef real* u = work + 2 * room
    cdef real* right = work + 3 * room
    cdef real* a = work + 4 * room
    cdef double sums[5 * TILE]
    cdef int shift
    if progress[MADE] > 0:
        turn_to(rho, before / rho, b, z, M * width, u, right)
    while width > 0:
        if progress[MADE] >= progress[CHECK] or progress[MADE] >= max_iter:
            if progress[MADE] > 0 or warm:
                multiply(gram, z, M, width, a)
            else:
                memset(a, 0, M * width * sizeof(real))
            measure(to, width, column, z, a, b, out, tile)
            if progress[MADE] == 0:
                # Where z is a solution, u is the slope over rho. From 0 rather u = 0: the first a is then a ridge regression.
                for i in range(M * width):
                    u[i] = b[i] - a[i] if warm else 0
                turn_to(rho, 2 / rho, b, z, M * width, u, right)
            n_kept = sift(to.tol, progress[MADE] >= max_iter, out, column, width, kept)
            if n_kept == 0 or (width - n_kept) * CLOSE_SHARE >= width:
                write_out(z, M, width, column, kept, n_kept, progress[MADE], out, codes)
                for i in range(4):
                    close_rows(work + i * room, M, width, kept, n_kept)
                for i in range(n_kept):
                    column[i] = column[kept[i]]
                progress[WIDTH] = <int32_t>n_kept
                width = n_kept
                if width == 0:
                    break
            progress[CHECK] = progress[MADE] + steps_to_next(to.tol, out, column, width)
        multiply(inverse, right, M, width, a)
        progress[MADE] += 1
        if progress[MADE] < progress[BALANCE]:
            step(to, width, rho, a, b, z, u, right, tile, NULL)
            continue
        memset(sums, 0, 5 * TILE * sizeof(double))
        step(to, width, rho, a, b, z, u, right, tile, &sums[0])
        progress[BALANCE] = 2 * progress[MADE]
        shift = doublings(&sums[0])
        if shift != 0:
            return shift
    return 0


# --- the door ---------------------------------------------------------------------------------------------------------------


def begin_block(int32_t[::1] progress, int32_t[::1] column, Py_ssize_t lo):
    """Set ``progress`` (4) and ``column`` (width) for a block of the columns from ``lo`` on that has made no step."""
    cdef Py_ssize_t i
    if progress.shape[0] != PROGRESS or lo < 0:
        raise ValueError("progress has 4 cells, columns count from 0")
    progress[WIDTH], progress[MADE], progress[CHECK], progress[BALANCE] = <int32_t>column.shape[0], 0, 0, FIRST_BALANCE
    for i in range(column.shape[0]):
        column[i] = <int32_t>(lo + i)


def advance(
    const real[:, ::1] gram, const real[:, ::1] inverse, const int32_t[::1] parents, double lam, double rho, double before,
    double mu, bint nonnegative, double tol, int max_iter, bint warm, real[:, ::1] work, int32_t[::1] column,
    int32_t[::1] progress, const double[::1] squares, real[:, ::1] codes, double[::1] gaps, double[::1] objectives,
    int32_t[::1] iterations,
):
    """Go on with a block until its columns are done or rho should change.

    Args:
        gram: (M, M), D'D. inverse: (M, M), the inverse of 2 gram + rho I. before: the rho of the call before.
        parents: (M), each node's parent, -1 of a root; parents come before children.
        mu: a lower bound of gram's smallest eigenvalue (used at lam = 0).
        tol: a column is done when its gap is at most tol times its objective. max_iter: most steps.
        warm: the first z is near a solution, rather than 0.
        work: (5, M width or more). At the beginning row 0 holds the block's b, (M, width) without gaps, and row 1 its z.
        column, progress: from :func:`begin_block`; theirs and ``work`` are the caller's to keep, unchanged, between calls.
        squares: (n), |x|^2. codes: (M, n), gaps, objectives, iterations: (n): cells of the block's columns are overwritten.

    Returns:
        0 when all columns are done; else call again with rho times 2 to this power.

    Raises:
        ValueError: shapes that do not agree, columns that are not there, parents that are no forest, numbers out of range.
    """
    cdef Py_ssize_t M = gram.shape[0], n = codes.shape[1], width, i
    cdef Problem to
    cdef Results out
    cdef real* tile = NULL
    cdef int32_t* integers = NULL
    cdef uint8_t* inner = NULL
    cdef int shift = 0
    if gram.shape[1] != M or inverse.shape[0] != M or inverse.shape[1] != M or parents.shape[0] != M or squares.shape[0] != n:
        raise ValueError("shapes of the problem do not agree")
    if codes.shape[0] != M or gaps.shape[0] != n or objectives.shape[0] != n or iterations.shape[0] != n:
        raise ValueError("shapes of the results do not agree")
    if progress.shape[0] != PROGRESS or not 0 <= progress[WIDTH] <= column.shape[0] or progress[MADE] < 0:
        raise ValueError("progress is not that of a block")
    width = progress[WIDTH]
    if work.shape[0] != 5 or work.shape[1] < M * width:
        raise ValueError("work does not fit the block")
    for i in range(width):
        if not 0 <= column[i] < n:
            raise ValueError("columns are out of range")
    if not (lam >= 0 and 0 < rho < INFINITY and before > 0 and mu >= 0 and tol >= 0 and max_iter >= 0):
        raise ValueError("lam, rho, mu, tol or max_iter is out of range")
    if M == 0 or width == 0:
        return 0
    try:
        integers = <int32_t*>malloc((M + 1 + width) * sizeof(int32_t))
        inner = <uint8_t*>malloc(M)
        if integers == NULL or inner == NULL:
            raise MemoryError
        to.n_runs = plan_forest(&parents[0], M, inner, integers, &to.longest)
        if to.n_runs < 0:
            raise ValueError("parents are no forest: each must be -1 or an earlier node")
        tile = <real*>malloc(3 * to.longest * TILE * sizeof(real))
        if tile == NULL:
            raise MemoryError
        to.M, to.parents, to.inner, to.runs = M, &parents[0], inner, integers
        to.lam, to.mu, to.tol, to.nonnegative = lam, mu, tol, nonnegative
        out.n, out.squares, out.gaps, out.objectives, out.iterations = n, &squares[0], &gaps[0], &objectives[0], &iterations[0]
        with nogil:
            shift = solve(&to, &gram[0, 0], &inverse[0, 0], rho, before, warm, max_iter, &work[0, 0], work.shape[1], &column[0],
                          &progress[0], integers + M + 1, tile, &out, &codes[0, 0])
    finally:
        free(integers)
        free(inner)
        free(tile)
    return shift
