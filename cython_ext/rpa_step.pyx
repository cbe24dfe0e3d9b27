"""Passive-Aggressive steps on re-embedded documents (Denis and Ralaivola 2017, Algorithm 1), one pass over the data.

A document x (a sparse row of p values) is classified by sign(w.Phi x + o.x): w has k weights for the embedded part, o has p
for the one-hot part; either may be absent (k = 0, or no o). An example with loss solves, exactly or by alternation, problem (5):

    min  1/2 |w - w_t|^2 + 1/2 |o - o_t|^2 + lam/2 |Phi - Phi_t|_F^2 + C xi^2   s.t.  1 - y (w.Phi x + o.x) <= xi

Every iterate lies in a plane. With v = Phi_t x and s = |x|^2 they are

    w = p w_t + q v,    Phi = Phi_t + u x^T,  u = r w_t + t v,    o = o_t + beta x,    Phi x = s r w_t + (1 + s t) v

so an inner iteration costs O(1) on (p, q, r, t, beta), given w_t.w_t, w_t.v, v.v, s and o_t.x. One step costs O(k nnz(x)).
Phi is stored word-major (p x k): a word's vector is one row.

Updates of the embedding: FIXED (Phi stays: plain PA-II), COORDINATE (each block is solved exactly around w_t, Phi_t),
PRINTED (each inner step starts from the current iterate, as Algorithm 1 is printed), JOINT (the optimum of (5) itself).
With averaging, beside the weights stands the sum of every change times the number of documents before it; weights minus
that sum over the number of all documents are the mean of the weights after each document (Collins' averaged perceptron).
Normalizations divide x by |Phi_t x| (DOCUMENT; the one-hot part by |x|), by |x| (INPUT) or not at all (NONE).
"""

cimport cython
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t

from rows cimport combine, combine_d, dots, dots_d, gather_rows, gather_rows_d, scatter_rows, scatter_rows_d

cdef enum:
    FIXED = 0
    COORDINATE = 1
    PRINTED = 2
    JOINT = 3

cdef enum:
    NONE = 0
    INPUT = 1
    DOCUMENT = 2

UPDATES = {"fixed": FIXED, "coordinate": COORDINATE, "printed": PRINTED, "joint": JOINT}
NORMALIZATIONS = {"none": NONE, "input": INPUT, "document": DOCUMENT}

# An inner loop has converged when the objective of (5) moves by less than this share of itself.
cdef double TOLERANCE = 1e-8

ctypedef fused real:
    float
    double


cdef struct Gram:
    double ww, wv, vv  # inner products of w_t and v = Phi_t x
    double s           # |x|^2 of the embedded part
    double b           # o_t.x
    double so          # |x|^2 of the one-hot part


cdef struct Plane:
    double p, q, r, t, beta


# --- scalars: one example in the plane ---------------------------------------------------------------------------


cdef inline double margin(const Gram* g, const Plane* a, double zr, double zt, double y) noexcept nogil:
    """y (w.z + o.x) for w = p w_t + q v and z = zr w_t + zt v."""
    return y * (
        a.p * zr * g.ww + (a.p * zt + a.q * zr) * g.wv + a.q * zt * g.vv + g.b + a.beta * g.so
    )


cdef inline double square(const Gram* g, double p, double q) noexcept nogil:
    """|p w_t + q v|^2"""
    return p * p * g.ww + 2 * p * q * g.wv + q * q * g.vv


cdef inline double hinge(double m) noexcept nogil:
    return 1 - m if m < 1 else 0


cdef inline double objective(const Gram* g, const Plane* a, double y, double C, double lam) noexcept nogil:
    """Problem (5) at an iterate, with xi the hinge loss there."""
    cdef double loss = hinge(margin(g, a, g.s * a.r, 1 + g.s * a.t, y))
    return (
        0.5 * square(g, a.p - 1, a.q) + 0.5 * a.beta * a.beta * g.so + 0.5 * lam * g.s * square(g, a.r, a.t) + C * loss * loss
    )


cdef int alternate(
    const Gram* g, Plane* a, double y, double C, double lam, int update, int iterations
) noexcept nogil:
    """The inner loop: w and o given Phi, Phi given w and o, until the objective rests. Returns the iterations run."""
    cdef double zr, zt, tau, value, previous = -1, soft = 0.5 / C
    cdef Plane start = a[0]
    cdef int n
    for n in range(iterations):
        zr = g.s * a.r
        zt = 1 + g.s * a.t
        if update != PRINTED:
            a.p, a.q, a.beta = start.p, start.q, start.beta
        # Equation (11) with Phi^n in the place of Phi_t.
        tau = y * hinge(margin(g, a, zr, zt, y)) / (square(g, zr, zt) + g.so + soft)
        a.p += tau * zr
        a.q += tau * zt
        a.beta += tau
        if update == FIXED:
            return 1
        if update == COORDINATE:
            zr, zt = 0, 1
            a.r, a.t = 0, 0
        # Equation (12) with w^(n+1).
        tau = y * hinge(margin(g, a, zr, zt, y)) / (square(g, a.p, a.q) * g.s + lam * soft)
        a.r += tau * a.p
        a.t += tau * a.q
        value = objective(g, a, y, C, lam)
        if fabs(value - previous) <= TOLERANCE * value:
            return n + 1
        previous = value
    return iterations


cdef inline double joint_at(const Gram* g, Plane* a, double y, double lam, double tau) noexcept nogil:
    """The stationary point of (5)'s Lagrangian for a multiplier tau; returns its margin."""
    cdef double shrink = 1 - tau * tau * g.s / lam
    a.p = 1 / shrink
    a.q = tau * y / shrink
    a.r = tau / lam * y * a.p
    a.t = tau / lam * y * a.q
    a.beta = tau * y
    return margin(g, a, g.s * a.r, 1 + g.s * a.t, y)


cdef int joint(const Gram* g, Plane* a, double y, double C, double lam) noexcept nogil:
    """The optimum of (5), by a root in one variable. Returns the evaluations of the margin.

    At a stationary point w = w_t + tau y Phi x, u = tau/lam y w, tau = 2 C xi: all of it is a function of tau. (5) has one
    quadratic constraint, so its optimum is where the Lagrangian's Hessian is positive: tau^2 < lam / s. There the excess
    tau / 2C - (1 - margin) rises from below to above zero, and bisection with secant steps finds the root.
    """
    cdef double low = 0, high = sqrt(lam / g.s) if g.s > 0 else 0, tau, excess, soft = 0.5 / C
    cdef double f_low, f_high
    cdef int n
    if g.s <= 0:  # nothing to re-embed: the one-hot part alone
        return alternate(g, a, y, C, lam, FIXED, 1)
    f_low = -hinge(joint_at(g, a, y, lam, 0))
    if f_low >= 0:
        return 1
    high *= 1 - 1e-12
    f_high = high * soft - 1 + joint_at(g, a, y, lam, high)
    if not f_high > 0:  # the degenerate end: w_t + tau y v vanishes there, and the limit is the answer
        return 2
    for n in range(100):
        tau = (low * f_high - high * f_low) / (f_high - f_low) if n % 3 else 0.5 * (low + high)
        if not low < tau < high:
            tau = 0.5 * (low + high)
        excess = tau * soft - 1 + joint_at(g, a, y, lam, tau)
        if excess < 0:
            low, f_low = tau, excess
        else:
            high, f_high = tau, excess
        if high - low <= 1e-13 * high or fabs(excess) <= 1e-13:
            break
    return n + 3


cdef inline int solve(const Gram* g, Plane* a, double y, double C, double lam, int update, int iterations) noexcept nogil:
    a.p, a.q, a.r, a.t, a.beta = 1, 0, 0, 0, 0
    if update == JOINT:
        return joint(g, a, y, C, lam)
    return alternate(g, a, y, C, lam, update, iterations)


# --- rows: a thin typed layer over rows.pxd ------------------------------------------------------------------------


cdef inline void gather(const real* rows, const int32_t* index, const real* x, Py_ssize_t n, Py_ssize_t k, real* out) noexcept nogil:
    if real is float:
        gather_rows(rows, index, x, n, k, out)
    else:
        gather_rows_d(rows, index, x, n, k, out)


cdef inline void scatter(real* rows, const int32_t* index, const real* x, Py_ssize_t n, Py_ssize_t k, const real* u) noexcept nogil:
    if real is float:
        scatter_rows(rows, index, x, n, k, u)
    else:
        scatter_rows_d(rows, index, x, n, k, u)


cdef inline void gram_of(const real* a, const real* b, Py_ssize_t k, double* sums) noexcept nogil:
    if real is float:
        dots(a, b, k, sums)
    else:
        dots_d(a, b, k, sums)


cdef inline void mix(double p, const real* a, double q, const real* b, Py_ssize_t k, real* out) noexcept nogil:
    if real is float:
        combine(p, a, q, b, k, out)
    else:
        combine_d(p, a, q, b, k, out)


cdef inline double squared_length(const real* x, Py_ssize_t n) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t j
    for j in range(n):
        total += <double>x[j] * x[j]
    return total


cdef inline double one_hot_score(const real* o, const int32_t* index, const real* x, Py_ssize_t n, Py_ssize_t m, Py_ssize_t c) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t j
    for j in range(n):
        total += <double>x[j] * o[index[j] * m + c]
    return total


cdef inline void scales(double vv, double s, int normalize, double* embedded, double* one_hot) noexcept nogil:
    """The factors on x in the embedded and in the one-hot part; |x| stands in for a |Phi x| of zero."""
    embedded[0] = 1
    one_hot[0] = 1
    if normalize != NONE and s > 0:
        one_hot[0] = 1 / sqrt(s)
        embedded[0] = 1 / sqrt(vv) if normalize == DOCUMENT and vv > 0 else one_hot[0]


# --- doors ----------------------------------------------------------------------------------------------------------


def _check(const real[::1] values, const int32_t[::1] indices, const int64_t[::1] indptr, Py_ssize_t p):
    """Row bounds and feature numbers of a CSR matrix, once, so that the loops need not look."""
    cdef Py_ssize_t i, n = indptr.shape[0] - 1
    cdef bint good = n >= 0 and indptr[0] == 0 and indptr[n] == indices.shape[0] and values.shape[0] == indices.shape[0]
    cdef const int32_t* index
    cdef int32_t bound = <int32_t>p
    if good:
        with nogil:
            for i in range(n):
                if indptr[i] > indptr[i + 1]:
                    good = False
            for i in range(indices.shape[0]):
                if indices[i] < 0 or indices[i] >= bound:
                    good = False
    if not good:
        raise ValueError("rows of the matrix are not consistent, or a feature lies outside it")


def check_rows(values, indices, indptr, Py_ssize_t n_features):
    """Raise ValueError unless (values, indices, indptr) are rows over ``n_features`` features. Call before the doors below."""
    _check(values, indices, indptr, n_features)


def train_pass(
    const real[::1] values, const int32_t[::1] indices, const int64_t[::1] indptr, const int64_t[::1] order,
    const int32_t[::1] targets, int32_t first_class, const double[:, ::1] C, double lam, int update, int iterations,
    int normalize, real[:, :, ::1] phi, real[:, :, ::1] w, real[:, :, ::1] one_hot, double before, real[::1] scratch,
    double[::1] sums,
):
    """Steps over the documents in ``order`` for the m classes that share one embedding.

    Args:
        values, indices, indptr: CSR rows that passed :func:`check_rows`.
        order: documents to visit, in this order.
        targets: class number of each document; class ``first_class + c`` is row c of w.
        C: (m, 2), aggressiveness of class c against its negative and positive examples.
        phi: (a, p, k), embedding, k may be 0; w: (a, m, k), weights of the embedded part; one_hot: (a, p, m), weights of the
            one-hot part, or (a, 0, m). The first plane is updated in place (phi's not with FIXED); a second plane, if a = 2,
            takes the changes times the number of documents before them.
        before: documents done before this call, for the second plane.
        scratch: 4 k cells.
        sums: 3 cells that are added to: losses before the steps, steps made, inner iterations.

    Returns:
        Number of documents done; fewer than ``len(order)`` when a number was not finite at the next one.
    """
    cdef Py_ssize_t planes = phi.shape[0], p = phi.shape[1], k = phi.shape[2], m = w.shape[1], n_docs = order.shape[0]
    cdef Py_ssize_t i, j, c, n, doc = 0, done = 0
    cdef bint embedded = k > 0, sparse = one_hot.shape[1] > 0, averaging = planes == 2, moved, finite = True
    cdef double gram[3]
    cdef double x_scale, o_scale, s, y, m0
    cdef real change
    cdef Gram g
    cdef Plane a
    cdef const int32_t* index
    cdef const real* x
    cdef real *v = NULL
    cdef real *u = NULL
    cdef real *total = NULL
    cdef real *spare = NULL
    if w.shape[2] != k or C.shape[0] != m or C.shape[1] != 2 or one_hot.shape[2] != m or sums.shape[0] < 3:
        raise ValueError("shapes of the weights do not agree")
    if (sparse and embedded and one_hot.shape[1] != p) or scratch.shape[0] < 4 * k:
        raise ValueError("shapes of the weights do not agree")
    if not 1 <= planes <= 2 or w.shape[0] != planes or one_hot.shape[0] != planes:
        raise ValueError("weights have one plane, or two of them with averaging")
    if targets.shape[0] != indptr.shape[0] - 1 or update not in UPDATES.values() or iterations < 1 or not lam > 0:
        raise ValueError("targets, update, iterations or lam are out of range")
    for i in range(n_docs):
        if order[i] < 0 or order[i] >= targets.shape[0]:
            raise ValueError("order names a document that is not there")
    if n_docs == 0 or indices.shape[0] == 0:
        return n_docs
    if embedded:
        v = &scratch[0]
        u = v + k
        total = v + 2 * k
        spare = v + 3 * k
    with nogil:
        for i in range(n_docs):
            doc = order[i]
            n = indptr[doc + 1] - indptr[doc]
            if n == 0:
                before += 1
                done += 1
                continue
            index = &indices[indptr[doc]]
            x = &values[indptr[doc]]
            s = squared_length(x, n)
            gram[0] = gram[1] = gram[2] = 0
            if embedded:
                gather(&phi[0, 0, 0], index, x, n, k, v)
                gram_of(&w[0, 0, 0], v, k, gram)
            scales(gram[2], s, normalize, &x_scale, &o_scale)
            moved = False
            for c in range(m):
                if embedded and c > 0:
                    gram_of(&w[0, c, 0], v, k, gram)
                g.ww = gram[0]
                g.wv = gram[1] * x_scale
                g.vv = gram[2] * x_scale * x_scale
                g.s = s * x_scale * x_scale if embedded else 0
                g.so = s * o_scale * o_scale if sparse else 0
                g.b = o_scale * one_hot_score(&one_hot[0, 0, 0], index, x, n, m, c) if sparse else 0
                y = 1 if targets[doc] == first_class + c else -1
                m0 = y * (g.wv + g.b)
                if not isfinite(m0):
                    finite = False
                    break
                if m0 >= 1:
                    continue
                sums[0] += 1 - m0
                sums[1] += 1
                sums[2] += solve(&g, &a, y, C[c, 1 if y > 0 else 0], lam, update, iterations)
                if sparse:
                    for j in range(n):
                        change = <real>(a.beta * o_scale * x[j])
                        one_hot[0, index[j], c] += change
                        if averaging:
                            one_hot[1, index[j], c] += <real>(before * change)
                if embedded:
                    if update != FIXED:
                        mix(a.r * x_scale, &w[0, c, 0], a.t * x_scale * x_scale, v, k, u)
                    if averaging:
                        mix(a.p - 1, &w[0, c, 0], a.q * x_scale, v, k, spare)
                        mix(1, &w[1, c, 0], before, spare, k, &w[1, c, 0])
                    mix(a.p, &w[0, c, 0], a.q * x_scale, v, k, &w[0, c, 0])
                    if update != FIXED:
                        # The next class sees the moved embedding; the rows are written once a document.
                        mix(1, u, 1 if moved else 0, total if moved else u, k, total)
                        if c + 1 < m:
                            mix(1, v, s, u, k, v)
                        moved = True
            if not finite:
                break
            if moved:
                scatter(&phi[0, 0, 0], index, x, n, k, total)
                if averaging:
                    mix(before, total, 0, total, k, spare)
                    scatter(&phi[1, 0, 0], index, x, n, k, spare)
            before += 1
            done += 1
    return done


def score_rows(
    const real[::1] values, const int32_t[::1] indices, const int64_t[::1] indptr, Py_ssize_t low, Py_ssize_t high,
    int normalize, const real[:, ::1] phi, const real[:, ::1] w, const real[:, ::1] one_hot, real[::1] scratch,
    double[:, ::1] scores,
):
    """Decision values of documents low to high - 1 for the m classes that share one embedding, into ``scores`` (n, m).

    With DOCUMENT each document is divided by its own |Phi x|. Arrays are as in :func:`train_pass`; scratch has k cells.
    """
    cdef Py_ssize_t k = phi.shape[1], m = w.shape[0], i, c, n
    cdef bint embedded = k > 0, sparse = one_hot.shape[0] > 0
    cdef double gram[3]
    cdef double x_scale, o_scale, s
    cdef const int32_t* index
    cdef const real* x
    cdef real* v = NULL
    if w.shape[1] != k or one_hot.shape[1] != m or scores.shape[1] != m or scratch.shape[0] < k:
        raise ValueError("shapes of the weights do not agree")
    if low < 0 or high > indptr.shape[0] - 1 or scores.shape[0] < high:
        raise ValueError("rows are out of range")
    if embedded:
        v = &scratch[0]
    with nogil:
        for i in range(low, high):
            n = indptr[i + 1] - indptr[i]
            for c in range(m):
                scores[i, c] = 0
            if n == 0:
                continue
            index = &indices[indptr[i]]
            x = &values[indptr[i]]
            s = squared_length(x, n)
            gram[0] = gram[1] = gram[2] = 0
            if embedded:
                gather(&phi[0, 0], index, x, n, k, v)
                gram_of(v, v, k, gram)
            scales(gram[2], s, normalize, &x_scale, &o_scale)
            for c in range(m):
                if embedded:
                    gram_of(&w[c, 0], v, k, gram)
                    scores[i, c] = gram[1] * x_scale
                if sparse:
                    scores[i, c] += o_scale * one_hot_score(&one_hot[0, 0], index, x, n, m, c)


def plane_step(
    double ww, double wv, double vv, double s, double b, double so, double y, double C, double lam, int update, int iterations
):
    """One example's solution (p, q, r, t, beta, inner iterations) from its inner products; for tests and documentation."""
    cdef Gram g
    cdef Plane a
    g.ww, g.wv, g.vv, g.s, g.b, g.so = ww, wv, vv, s, b, so
    cdef int n = solve(&g, &a, y, C, lam, update, iterations)
    return a.p, a.q, a.r, a.t, a.beta, n
