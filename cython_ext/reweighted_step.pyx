"""What a step of iteratively reweighted least squares for the trace Lasso is made of (Grave 2014, section 7.3.1), in float64.

P is (k, p), X (n, p) with n <= p, S = (P Diag(w)^2 P^T + mu I)^1/2.

    spectrum      P Diag(w)^2 P^T = V Diag(values) V^T
    smooth        roots = (values + mu)^1/2, the eigenvalues of S;  T = S^-1/2 V^T P (k, p);  D = diag(P^T S^-1 P) = diag(T^T T)
    mend          V^T M = T * (w_j / roots_i^1/2 + roots_i^1/2 d_j), for M = S^-1 P Diag(w) + P Diag(d), which certifies a solution
    is_below      whether ||M|| < bound: whether bound^2 I - M M^T has a Cholesky factor
    solve         w = (X^T X + Diag(D))^-1 X^T y = D^-1/2 A^T (A A^T + I)^-1 y,  A = X D^-1/2
    extrapolate   image - a'(differences of images), where a makes ||c * (residual - a'(differences of residuals))|| least

LAPACK does most of it; what comes between is one pass each. At 32 x 64, where NumPy's calls cost as much as their work, a step
takes 0.19 ms where it took 0.28; the eigenvectors are half of that, and LAPACK's other ways to them (dsyev, dsyevr) take as long.
"""

from libc.math cimport INFINITY, sqrt
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_lapack cimport dposv, dpotrf, dsyevd

from blas cimport gemm, gemv, gram

cdef double RIDGE = 1e-10  # share of the trace that is added to the normal equations of an extrapolation


cdef inline double* room(Py_ssize_t count) except NULL:
    """Room for so many numbers; the caller frees it."""
    cdef double* found = <double*>malloc(<size_t>(count + 1) * sizeof(double))
    if found == NULL:
        raise MemoryError
    return found


cdef inline void scale_columns(
    const double* A, const double* by, Py_ssize_t rows, Py_ssize_t columns, double* out
) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(rows):
        for j in range(columns):
            out[i * columns + j] = A[i * columns + j] * by[j]


cdef inline bint solve_positive(double* A, double* b, Py_ssize_t n) noexcept nogil:
    """b becomes A^-1 b, A (its upper triangle) a factor; False where A is not positive definite.

    LAPACK may take NaN for positive: it comes down to the last pivot.
    """
    cdef int size = <int>n, one = 1, failed = 0
    cdef char lower = b"L"
    dposv(&lower, &size, &one, A, &size, b, &size, &failed)
    return failed == 0 and A[n * n - 1] > 0


def spectrum(const double[:, ::1] P, const double[::1] w, double[::1] values, double[:, ::1] vectors):
    """Put the eigenvalues into ``values`` (k,), rising and none below 0, and V^T into ``vectors`` (k, k).

    Returns:
        whether they were found.
    """
    cdef Py_ssize_t k = P.shape[0], p = P.shape[1], i
    cdef int size = <int>k, length = <int>(1 + 6 * k + 2 * k * k), whole_length = <int>(3 + 5 * k), failed = 0
    cdef char both = b"V", lower = b"L"
    cdef double* scratch
    cdef double* A
    if w.shape[0] != p or values.shape[0] != k or vectors.shape[0] != k or vectors.shape[1] != k:
        raise ValueError("shapes do not agree")
    if not k:
        return True
    scratch = room(k * p + length + whole_length)
    try:
        with nogil:
            A = scratch + length + whole_length
            scale_columns(&P[0, 0] if p else NULL, &w[0] if p else NULL, k, p, A)
            gram(k, p, A, &vectors[0, 0])
            dsyevd(
                &both, &lower, &size, &vectors[0, 0], &size, &values[0], scratch, &length, <int*>(scratch + length),
                &whole_length, &failed,
            )
            for i in range(k):
                values[i] = max(values[i], 0.0)
    finally:
        free(scratch)
    return failed == 0


def smooth(
    const double[:, ::1] P, const double[::1] values, const double[:, ::1] vectors, double mu, double[::1] roots,
    double[:, ::1] turned, double[::1] weights
):
    """Put the roots (k,), T (k, p) and D (p,) into the last three; ``vectors`` is V^T.

    Returns:
        the sums of values^1/2, of roots and of 1 / roots.
    """
    cdef Py_ssize_t k = P.shape[0], p = P.shape[1], i, j
    cdef double omega = 0, total = 0, inverse = 0, by
    cdef double* row
    if (
        values.shape[0] != k or vectors.shape[0] != k or vectors.shape[1] != k or roots.shape[0] != k
        or turned.shape[0] != k or turned.shape[1] != p or weights.shape[0] != p
    ):
        raise ValueError("shapes do not agree")
    with nogil:
        for j in range(p):
            weights[j] = 0
        if k and p:
            gemm(False, False, k, p, k, &vectors[0, 0], &P[0, 0], 0, &turned[0, 0])
        for i in range(k):
            roots[i] = sqrt(values[i] + mu)
            omega += sqrt(values[i])
            total += roots[i]
            inverse += 1 / roots[i]
            by = 1 / sqrt(roots[i])
            row = &turned[i, 0] if p else NULL
            for j in range(p):
                row[j] *= by
                weights[j] += row[j] * row[j]
    return omega, total, inverse


def mend(
    const double[:, ::1] turned, const double[::1] roots, const double[::1] w, const double[::1] d, double[:, ::1] out
):
    """Put V^T M (k, p) into ``out``."""
    cdef Py_ssize_t k = turned.shape[0], p = turned.shape[1], i, j
    cdef double root, inverse
    if (
        roots.shape[0] != k or w.shape[0] != p or d.shape[0] != p or out.shape[0] != k or out.shape[1] != p
    ):
        raise ValueError("shapes do not agree")
    with nogil:
        for i in range(k):
            root = sqrt(roots[i])
            inverse = 1 / root
            for j in range(p):
                out[i, j] = turned[i, j] * (w[j] * inverse + root * d[j])


def is_below(const double[:, ::1] gram, double bound):
    """Whether the norm of M is below ``bound``, but for rounding; ``gram`` (k, k) is M M^T."""
    cdef Py_ssize_t k = gram.shape[0], i
    cdef int size = <int>k, failed = 0
    cdef char lower = b"L"
    cdef double* rest
    cdef bint below
    if gram.shape[1] != k:
        raise ValueError("not square")
    if not bound > 0:
        return False
    if not k:
        return True
    rest = room(k * k)
    try:
        with nogil:
            for i in range(k * k):
                rest[i] = -(&gram[0, 0])[i]
            for i in range(k):
                rest[i * k + i] += bound * bound
            dpotrf(&lower, &size, rest, &size, &failed)
            below = failed == 0 and rest[k * k - 1] > 0  # not NaN
    finally:
        free(rest)
    return below


def solve(const double[:, ::1] X, const double[:] y, const double[::1] D, double[::1] out):
    """Put w (p,) into ``out``, for D > 0.

    Returns:
        whether the system is positive definite: whether all numbers are finite.
    """
    cdef Py_ssize_t n = X.shape[0], p = X.shape[1], i, j
    cdef double* scratch
    cdef double* A
    cdef double* system
    cdef double* dual
    cdef bint solved
    if y.shape[0] != n or D.shape[0] != p or out.shape[0] != p:
        raise ValueError("shapes do not agree")
    if not n or not p:
        return True
    scratch = room(n * p + n * n + n + p)
    try:
        with nogil:
            A, system = scratch, scratch + n * p
            dual = system + n * n
            for j in range(p):
                dual[n + j] = 1 / sqrt(D[j])
            scale_columns(&X[0, 0], dual + n, n, p, A)
            gram(n, p, A, system)
            for i in range(n):
                system[i * n + i] += 1
                dual[i] = y[i]
            solved = solve_positive(system, dual, n)
            gemv(True, n, p, A, dual, &out[0])
            for j in range(p):
                out[j] *= dual[n + j]
    finally:
        free(scratch)
    return solved


def extrapolate(
    const double[:, ::1] residuals, const double[:, ::1] images, const double[::1] residual, const double[::1] image,
    const double[::1] weights, double[::1] out
):
    """Put the extrapolated point (p,) into ``out``, by the differences (m, p) of residuals and of images.

    Returns:
        whether there is one: not where the differences are zero or not finite.
    """
    cdef Py_ssize_t m = residuals.shape[0], p = residuals.shape[1], i, j
    cdef double trace = 0
    cdef double* scratch
    cdef double* past
    cdef double* normal
    cdef double* mixing
    cdef bint solved = False
    if (
        images.shape[0] != m or images.shape[1] != p or residual.shape[0] != p or image.shape[0] != p
        or weights.shape[0] != p or out.shape[0] != p
    ):
        raise ValueError("shapes do not agree")
    if not m or not p:
        return False
    scratch = room((m + 1) * p + (m + 1) * (m + 1) + m * m + m)
    try:
        with nogil:
            # Of the differences and the residual as their last row one Gram matrix has both sides of the normal equations.
            past, mixing = scratch, scratch + (m + 1) * p
            normal = mixing + (m + 1) * (m + 1)
            scale_columns(&residuals[0, 0], &weights[0], m, p, past)
            scale_columns(&residual[0], &weights[0], 1, p, past + m * p)
            gram(m + 1, p, past, mixing)
            for i in range(m):
                trace += mixing[i * (m + 1) + i]
                for j in range(i, m):
                    normal[i * m + j] = mixing[i * (m + 1) + j]
            for i in range(m):
                normal[i * m + i] += RIDGE * trace
                mixing[i] = mixing[i * (m + 1) + m]
            if 0 < trace < INFINITY:
                solved = solve_positive(normal, mixing, m)
            if solved:
                gemv(True, m, p, &images[0, 0], mixing, &out[0])
                for j in range(p):
                    out[j] = image[j] - out[j]
    finally:
        free(scratch)
    return solved
