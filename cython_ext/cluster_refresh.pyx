"""The offline pass of dual clustering over the items, in two doors that each process items [lo, hi).

For cluster c with pending sum S_c and mean context m (Wang, Wang and Zhai 2017, equations 12-17), in one pass over the outputs:

    V_j -= alpha_jc S_c, and a second-order term;  share_j = exp(V_true,j . m + b_j - level)
    sums of share_j V_j (d) and of share_j alpha_jk (K)

and when all are summed, new alpha_jc = share_j / sum of the shares. Rows are float32, of a length d that is a multiple of 8.

Second order: the soft-max of a context h is about alpha_j (1 + (v_j - centre).(h - m)), so that beside alpha_j S_c the term
alpha_j C (v_j - centre) is due, C the sum of rate x (h - m)(h - m)^T, here its diagonal ``curvature``. As the linear expansion
may be negative, f = alpha_j C is applied as f / (1 + f), which never passes the centre.
"""

from dense_rows cimport refresh_rows


cdef inline int check(Py_ssize_t lo, Py_ssize_t hi, Py_ssize_t n, Py_ssize_t c, Py_ssize_t k, bint fits) except -1:
    if not fits:
        raise ValueError("shapes of outputs and clusters do not agree")
    if not (0 <= lo <= hi <= n and 0 <= c < k):
        raise ValueError("items or cluster are out of range")
    return 0


def refresh(
    float[:, ::1] outputs, const float[:, ::1] alpha, Py_ssize_t c, Py_ssize_t lo, Py_ssize_t hi, const float[::1] pending,
    const float[::1] curvature, const float[::1] centre, const float[::1] mean, const float[::1] others,
    const float[::1] bias, float level, float[::1] shares, float[::1] product, float[::1] squares,
    float[::1] gram, float[::1] drifts, float[::1] moved,
):
    """Take the pending part of cluster c into the outputs, and find the shares of the items at its mean context.

    Args:
        outputs: (N, d), changed in place. alpha: (N, K).
        pending, curvature, centre, mean: (d) S_c; C; V^T alpha_c; m.
        others: (K) S_k . m, zero at c. bias: (N). level: about the logarithm of the sum of the exponentials.
        shares: (N) written from lo to hi - 1.
        drifts: (K d), added to: what the second order takes from V^T alpha, of the items where it counts. moved: (d) scratch.
        product, squares, gram: (d), (d) or (0), (K); sums of share_j V_j, of share_j V_j^2 and of share_j alpha_jk (of share_j^2 at c) are added to them, at c written.

    Returns:
        The highest score, NaN where one is not a number.
    """
    cdef Py_ssize_t n = outputs.shape[0], d = outputs.shape[1], n_k = alpha.shape[1], j
    cdef float highest, most = 0
    check(lo, hi, n, c, n_k, alpha.shape[0] == n and pending.shape[0] == d and curvature.shape[0] == d and centre.shape[0] == d
          and mean.shape[0] == d and others.shape[0] == n_k and bias.shape[0] == n and shares.shape[0] == n and d % 8 == 0
          and product.shape[0] == d and squares.shape[0] in (0, d) and gram.shape[0] == n_k and drifts.shape[0] == n_k * d and moved.shape[0] == d)
    if lo == hi or d == 0:
        return -float("inf")
    with nogil:
        for j in range(d):
            most = curvature[j] if curvature[j] > most else most
        highest = refresh_rows(
            &outputs[lo, 0], &alpha[lo, 0], n_k, c, hi - lo, d, &pending[0], &curvature[0], &centre[0], most, &mean[0],
            &others[0], &bias[lo], level, &shares[lo], &product[0],
            &squares[0] if squares.shape[0] else NULL, &gram[0], &drifts[0], &moved[0],
        )
    return highest


def set_centre(float[:, ::1] alpha, Py_ssize_t c, Py_ssize_t lo, Py_ssize_t hi, const float[::1] shares, double total):
    """alpha[j, c] = shares[j] / total for the items lo to hi - 1."""
    cdef Py_ssize_t j
    cdef float scale = <float>(1 / total)
    check(lo, hi, alpha.shape[0], c, alpha.shape[1], shares.shape[0] == alpha.shape[0])
    with nogil:
        for j in range(lo, hi):
            alpha[j, c] = shares[j] * scale
