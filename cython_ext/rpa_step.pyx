"""Passive-Aggressive steps on re-embedded documents (Denis and Ralaivola 2017, Algorithm 1), one pass over the data.

A document x (a sparse row of p values) is classified by sign(w.Phi x + o.x): w has k weights for the embedded part, o has p
for the one-hot part; either may be absent (k = 0, or no o). An example with loss solves, exactly or by alternation, problem (5):

    min  1/2 |w - w_t|^2 + 1/2 |o - o_t|^2 + lam/2 |Phi - Phi_t|_F^2 + C xi^2   s.t.  1 - y (w.Phi x + o.x) <= xi

Every iterate lies in the plane of w_t and Phi_t x (``plane.pxd``), so that the inner loop costs O(1) an iteration, and an
example O(k nnz(x)).
Phi is stored word-major (p x k): a word's vector is one row.

Updates of the embedding: FIXED (Phi stays: plain PA-II), COORDINATE (each block is solved exactly around w_t, Phi_t),
PRINTED (each inner step starts from the current iterate, as Algorithm 1 is printed), JOINT (the optimum of (5) itself),
EMBEDDING_FIRST (COORDINATE, but the embedding moves before w). With a large C the block that moves first takes nearly all
of the loss: w first is then hardly more than PA on the initial vectors, the embedding first a one-hot PA added to them.
With averaging, beside the weights stands the sum of every change times the number of documents before it; weights minus
that sum over the number of all documents are the mean of the weights after each document (Collins' averaged perceptron).
Normalizations divide x by |Phi_t x| (DOCUMENT; the one-hot part by |x|), by |x| (INPUT) or not at all (NONE).
"""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t, int64_t

from plane cimport COORDINATE, EMBEDDING_FIRST, FIXED, JOINT, PRINTED, Change, Example, solve
from rows cimport combine, combine_d, dots, dots_d, gather_rows, gather_rows_d, scatter_rows, scatter_rows_d

cdef enum:
    NONE = 0
    INPUT = 1
    DOCUMENT = 2

UPDATES = {
    "fixed": FIXED, "coordinate": COORDINATE, "printed": PRINTED, "joint": JOINT, "embedding-first": EMBEDDING_FIRST,
}
NORMALIZATIONS = {"none": NONE, "input": INPUT, "document": DOCUMENT}

ctypedef fused real:
    float
    double


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
    cdef double x_scale, o_scale, s, m0
    cdef real change
    cdef Example e
    cdef Change to
    cdef const int32_t* index
    cdef const real* x
    cdef real *v = NULL
    cdef real *u = NULL
    cdef real *total = NULL
    cdef real *spare = NULL
    if w.shape[2] != k or C.shape[0] != m or C.shape[1] != 2 or one_hot.shape[2] != m or sums.shape[0] < 3:
        raise ValueError("shapes of the weights do not agree")
    if (sparse and one_hot.shape[1] != p) or scratch.shape[0] < 4 * k:
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
                e.ww = gram[0]
                e.wv = gram[1] * x_scale
                e.vv = gram[2] * x_scale * x_scale
                e.s = s * x_scale * x_scale if embedded else 0
                e.so = s * o_scale * o_scale if sparse else 0
                e.b = o_scale * one_hot_score(&one_hot[0, 0, 0], index, x, n, m, c) if sparse else 0
                e.y = 1 if targets[doc] == first_class + c else -1
                e.C = C[c, 1 if e.y > 0 else 0]
                m0 = e.y * (e.wv + e.b)
                if not isfinite(m0):
                    finite = False
                    break
                if m0 >= 1:
                    continue
                sums[0] += 1 - m0
                sums[1] += 1
                sums[2] += solve(&e, &to, lam, update, iterations)
                if sparse:
                    for j in range(n):
                        change = <real>(to.beta * o_scale * x[j])
                        one_hot[0, index[j], c] += change
                        if averaging:
                            one_hot[1, index[j], c] += <real>(before * change)
                if embedded:
                    if update != FIXED:
                        mix(to.r * x_scale, &w[0, c, 0], to.t * x_scale * x_scale, v, k, u)
                    if averaging:
                        mix(to.p - 1, &w[0, c, 0], to.q * x_scale, v, k, spare)
                        mix(1, &w[1, c, 0], before, spare, k, &w[1, c, 0])
                    mix(to.p, &w[0, c, 0], to.q * x_scale, v, k, &w[0, c, 0])
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
    if w.shape[1] != k or one_hot.shape[1] != m or scores.shape[1] != m or scratch.shape[0] < k or (
        sparse and one_hot.shape[0] != phi.shape[0]
    ):
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
    cdef Example e
    cdef Change to
    e.ww, e.wv, e.vv, e.s, e.b, e.so, e.y, e.C = ww, wv, vv, s, b, so, y, C
    cdef int n = solve(&e, &to, lam, update, iterations)
    return to.p, to.q, to.r, to.t, to.beta, n
