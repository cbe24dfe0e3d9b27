"""The offline pass of dual clustering over the items, for some clusters at once; it processes the items [lo, hi).

For clusters c with pending sums S_c and mean contexts m_c (Wang, Wang and Zhai 2017, equations 12-17), in one pass over the outputs:

    V_j = (V_j - sum over c of alpha_jc (S_c - C_c centre_c)) / (1 + sum over c of alpha_jc C_c)
    share_jc = exp(V_j . m_c + b_j - level_c);  sums of share_jc, of share_jc V_j and of share_jc V_j^2

after which the new alpha_jc are share_jc over their sum. Rows are float32, of a length d that is a multiple of 8. A stripe of rows
stays in the first-level cache for all of it, and all of it is products of small matrices with eight clusters at a time (a last
four at half the cost), so that the pass is bound by arithmetic and not by the memory, as it is for a cluster alone (whose lanes
would be seven eighths zeros: it has products with vectors).

Second order: the soft-max of a context h is about alpha_j (1 + (v_j - centre).(h - m)), so that beside alpha_j S_c the term
alpha_j C (v_j - centre) is due, C the sum of rate x (h - m)(h - m)^T, here its diagonal. As the linear expansion may be negative it
is taken at the new v_j (an implicit step), which is between the old one and the centres, of all clusters at once.
"""

from libc.stdint cimport int32_t

from block_rows cimport block_mix, block_products, block_update, divide_rows, square_rows, turn
from dense_rows cimport add_mix, add_scaled, exponentials, fetch_row, largest, products

cdef enum:
    LANES = 8    # clusters at a time
    STRIPE = 16  # rows that stay in the first-level cache between their uses; loops step by these numbers


cdef struct Pass:
    Py_ssize_t k, n, d         # clusters there are; those of the pass
    const int32_t* clusters    # (n)
    const float* alpha         # (N, k)
    const float* pulls         # (lanes, d) S - C centre; NULL: nothing is pending
    const float* curvature     # (lanes, d) C, NULL without the second order
    const float* means         # (lanes, d)
    float* across              # (lanes / 8, d, 8) their transposes
    const float* bias          # (N)
    const float* levels        # (n)
    float* shares              # (N, n)
    double* totals             # (n)
    float* highest             # (n)
    float* product             # (lanes, d)
    float* squares             # (lanes, d), with the second order
    float* extra               # (STRIPE, d)
    float[128] steps           # (8, STRIPE)
    float[128] scores
    bint alone                 # one cluster, without the second order


cdef inline void fold(Pass* p, float* rows, Py_ssize_t at, Py_ssize_t size) noexcept nogil:
    """Take what is pending into a stripe of outputs, the items from ``at`` on."""
    cdef Py_ssize_t first, i, r, d = p.d
    if p.alone:
        for r in range(size):
            add_scaled(rows + r * d, -p.alpha[(at + r) * p.k + p.clusters[0]], p.pulls, d)
        return
    if p.curvature:
        for i in range(size * d):
            p.extra[i] = 0
    for first in range(0, p.n, 8):
        for i in range(LANES):
            for r in range(size):
                p.steps[i * STRIPE + r] = -p.alpha[(at + r) * p.k + p.clusters[first + i]] if first + i < p.n else 0
        block_update(rows, size, p.steps, STRIPE, p.pulls + first * d, d, p.n - first)
        if p.curvature:
            block_update(p.extra, size, p.steps, STRIPE, p.curvature + first * d, d, p.n - first)
    if p.curvature:
        divide_rows(rows, p.extra, size * d)


cdef inline void measure(Pass* p, const float* rows, Py_ssize_t at, Py_ssize_t size) noexcept nogil:
    """Shares of a stripe of outputs, and their sums."""
    cdef Py_ssize_t first, i, r, d = p.d, lanes
    cdef float* scores
    cdef float most
    if p.curvature:
        square_rows(p.extra, rows, size * d)
    for first in range(0, p.n, 8):
        lanes = p.n - first if p.n - first < LANES else LANES
        if p.alone:
            products(rows, p.means, size, d, p.scores)
        else:
            block_products(rows, size, p.across + first * d, d, p.scores, STRIPE)
        for i in range(lanes):
            scores = p.scores + i * STRIPE
            for r in range(size):
                scores[r] += p.bias[at + r]
            most = largest(scores, size)
            if most > p.highest[first + i]:
                p.highest[first + i] = most
            p.totals[first + i] += exponentials(p.steps + i * STRIPE, scores, p.levels[first + i], size)
            for r in range(size):
                p.shares[(at + r) * p.n + first + i] = p.steps[i * STRIPE + r]
        if p.alone:
            add_mix(p.product, p.steps, rows, size, d)
            return
        for i in range(lanes, LANES):
            for r in range(size):
                p.steps[i * STRIPE + r] = 0
        block_mix(p.product + first * d, p.steps, STRIPE, rows, size, d, lanes)
        if p.curvature:
            block_mix(p.squares + first * d, p.steps, STRIPE, p.extra, size, d, lanes)


def refresh(
    float[:, ::1] outputs, const float[:, ::1] alpha, const int32_t[::1] clusters, Py_ssize_t lo, Py_ssize_t hi,
    const float[:, ::1] pulls, const float[:, ::1] curvature, const float[:, ::1] means, const float[::1] bias,
    const float[::1] levels, float[:, ::1] shares, double[::1] totals, float[::1] highest, float[:, ::1] product,
    float[:, ::1] squares, float[:, ::1] scratch,
):
    """Take the pending part of some clusters into the outputs, and find the shares of the items at their mean contexts.

    Args:
        outputs: (N, d), changed in place. alpha: (N, K). clusters: (n) numbers of columns of alpha.
        pulls, curvature: (lanes, d) S - C centre and C, lanes the multiple of 8 from n on, zeros behind; of no rows: nothing is
            pending, there is no second order.
        means: (lanes, d), zeros behind. bias: (N). levels: (n) about the logarithms of the sums of exponentials.
        shares: (N, n) written from lo to hi - 1. totals, highest: (n) sums of shares, added to, and the highest scores so far.
        product, squares: (lanes, d) sums of share_j V_j and of share_j V_j^2 (with curvature), added to.
        scratch: (16 + lanes, d).
    """
    cdef Pass p
    cdef Py_ssize_t n = outputs.shape[0], d = outputs.shape[1], lanes = (clusters.shape[0] + 7) // 8 * 8, at, size, r
    if not (alpha.shape[0] == n and d > 0 and d % 8 == 0 and pulls.shape[0] in (0, lanes) and pulls.shape[1] == d
            and curvature.shape[0] in (0, lanes) and curvature.shape[1] == d and means.shape[0] == lanes
            and means.shape[1] == d and bias.shape[0] == n and levels.shape[0] == clusters.shape[0]
            and shares.shape[0] == n and shares.shape[1] == clusters.shape[0] and totals.shape[0] == clusters.shape[0]
            and highest.shape[0] == clusters.shape[0] and product.shape[0] == lanes and product.shape[1] == d
            and squares.shape[0] == curvature.shape[0] and squares.shape[1] == d and scratch.shape[1] == d
            and scratch.shape[0] >= STRIPE + lanes):
        raise ValueError("shapes of outputs and clusters do not agree")
    if not 0 <= lo <= hi <= n:
        raise ValueError("items are out of range")
    for r in range(clusters.shape[0]):
        if not 0 <= clusters[r] < alpha.shape[1]:
            raise ValueError("a cluster is out of range")
    if lo == hi or lanes == 0:
        return
    p.k, p.n, p.d, p.clusters = alpha.shape[1], clusters.shape[0], d, &clusters[0]
    p.alpha, p.bias, p.levels, p.means = &alpha[0, 0], &bias[0], &levels[0], &means[0, 0]
    p.pulls = &pulls[0, 0] if pulls.shape[0] else NULL
    p.curvature = &curvature[0, 0] if curvature.shape[0] else NULL
    p.squares = &squares[0, 0] if curvature.shape[0] else NULL
    p.shares, p.totals, p.highest, p.product = &shares[0, 0], &totals[0], &highest[0], &product[0, 0]
    p.extra, p.across, p.alone = &scratch[0, 0], &scratch[STRIPE, 0], p.n == 1 and curvature.shape[0] == 0
    with nogil:
        for r in range(0, lanes, 8):
            turn(p.across + r * d, p.means + r * d, d)
        for at in range(lo, hi, 16):
            size = hi - at if hi - at < STRIPE else STRIPE
            for r in range(STRIPE):  # of the next stripe; past the end it does no harm
                fetch_row(&outputs[at, 0] + (STRIPE + r) * d, d)
            if p.pulls:
                fold(&p, &outputs[at, 0], at, size)
            measure(&p, &outputs[at, 0], at, size)
