"""The pass of dual clustering over all weights of a classifier: what is pending is taken into them, and clusters are measured anew.

W is kept by feature, (features, width), with zeros behind the N classes; a feature's record has k cells each of A, R, S and the
sums of rate x^2 (``class_training.pyx``). For every feature, with C = curvature x (sum of rate x^2 - S^2 / sum of rates) and
u = S - C R,

    fold     W_j = (W_j - sum over c of rho_jc u_c) / (1 + sum over c of rho_jc C_c);  scores_cj += W_j S_c / sum of rates
    measure  R_c = sum over j of rho_jc W_j, A_c = sum over j of alpha_jc W_j; S and the squares 0

between which alpha becomes the soft-max of the scores. As alpha_c is rho_c but for its exact classes, A_c takes the weights of these
alone beside R_c. The weights of a stripe of features stay in the second-level cache for all of it: ``fold`` is bound by BLAS, and
``measure`` is products of small matrices as in ``cluster_refresh.pyx``, as BLAS takes longer to arrange a stripe for so few columns
than to multiply it.
"""

from libc.stdint cimport int32_t

from blas cimport gemm_f
from block_rows cimport block_products, implicit_rows, turn
from dense_rows cimport GROUP, dot

cdef enum:
    LANES = 8    # clusters at a time
    STRIPE = 32  # features at a time; loops step by these numbers

GROUP_SIZE = GROUP


cdef int check_shapes(
    const float[:, ::1] cells, const float[:, ::1] records, Py_ssize_t k, Py_ssize_t lo, Py_ssize_t hi, bint good
) except -1:
    if not (good and k > 0 and cells.shape[1] > 0 and cells.shape[1] % GROUP == 0 and records.shape[0] == cells.shape[0]
            and records.shape[1] >= 4 * k):
        raise ValueError("shapes of weights and clusters do not agree")
    if not 0 <= lo <= hi <= cells.shape[0]:
        raise ValueError("features are out of range")
    return 0


def fold_scratch(Py_ssize_t k, Py_ssize_t width):
    """Float cells that :func:`fold` needs."""
    return STRIPE * (2 * width + 3 * k)


def fold(
    float[:, ::1] cells, const float[:, ::1] records, const float[:, ::1] rho, const float[::1] scales, float curvature,
    Py_ssize_t lo, Py_ssize_t hi, float[:, ::1] scores, float[::1] scratch,
):
    """Take the pending part into the weights of the features lo to hi - 1.

    Args:
        cells: (features, width), changed in place; width is a multiple of 16. records: (features, 4 K or more).
        rho: (K, width), zeros behind. scales: (K) 1 / sums of rates. curvature: 0: without the second order.
        scores: (K, width), added to. scratch: :func:`fold_scratch` cells.
    """
    cdef Py_ssize_t k = scales.shape[0], width = cells.shape[1], at, size, i, c
    cdef float* moved = &scratch[0]             # (2 STRIPE, width)
    cdef float* pulls = moved + 2 * STRIPE * width  # (2 STRIPE, K) u, behind them C
    cdef float* means = pulls + 2 * STRIPE * k
    cdef float* spreads
    cdef const float* record
    cdef float spread
    cdef bint second = curvature > 0
    check_shapes(cells, records, k, lo, hi, rho.shape[0] == k and rho.shape[1] == width and scores.shape[0] == k
                 and scores.shape[1] == width and scratch.shape[0] >= fold_scratch(k, width))
    with nogil:
        for at in range(lo, hi, 32):
            size = min(hi - at, STRIPE)
            spreads = pulls + size * k
            for i in range(size):
                record = &records[at + i, 0]
                for c in range(k):
                    spread = record[3 * k + c] - record[2 * k + c] * record[2 * k + c] * scales[c]
                    spread = curvature * spread if second and spread > 0 else 0
                    spreads[i * k + c] = spread
                    pulls[i * k + c] = record[2 * k + c] - spread * record[k + c]
                    means[i * k + c] = record[2 * k + c] * scales[c]
            gemm_f(False, False, 2 * size if second else size, width, k, pulls, &rho[0, 0], 0, moved)
            implicit_rows(&cells[at, 0], moved, moved + size * width if second else NULL, size * width)
            gemm_f(True, False, k, width, size, means, &cells[at, 0], 1, &scores[0, 0])


def measure(
    float[:, ::1] cells, float[:, ::1] records, const float[:, ::1] rho, const float[::1] rest, const float[:, ::1] exact,
    const int32_t[:, ::1] groups, const int32_t[::1] order, Py_ssize_t lo, Py_ssize_t hi, float[:, ::1] scratch,
):
    """The means of the weights of the features lo to hi - 1 into their records, in which nothing is pending then.

    Args:
        cells, records: as for :func:`fold`. rho: (lanes, width), lanes the multiple of 8 from K on, zeros
            behind. rest: (K) what alpha leaves to rho.
        exact: (K, 16 groups) alpha of the exact classes. groups: (K, groups) of 16 classes each.
        order: where the weights of each class are so far; of no cells: they stay there. scratch: (lanes + 1, width).
    """
    cdef Py_ssize_t k = rest.shape[0], lanes = (k + 7) // 8 * 8, width = cells.shape[1], at, size, first, i, c, s
    cdef float[256] means                           # (LANES, STRIPE)
    cdef float* row
    cdef float* before
    cdef float total
    check_shapes(cells, records, k, lo, hi, rho.shape[0] == lanes and rho.shape[1] == width and scratch.shape[0] == lanes + 1
                 and scratch.shape[1] == width and exact.shape[0] == k and groups.shape[0] == k
                 and exact.shape[1] == GROUP * groups.shape[1] and order.shape[0] <= width)
    for i in range(order.shape[0]):
        if not 0 <= order[i] < width:
            raise ValueError("a class is out of range")
    for c in range(k):
        for s in range(groups.shape[1]):
            if not 0 <= groups[c, s] < width // GROUP:
                raise ValueError("a group of classes does not exist")
    before = &scratch[lanes, 0]
    with nogil:
        for first in range(0, lanes, 8):
            turn(&scratch[first, 0], &rho[first, 0], width)
        for at in range(lo, hi, 32):
            size = min(hi - at, STRIPE)
            if order.shape[0]:
                for i in range(size):
                    row = &cells[at + i, 0]
                    for c in range(order.shape[0]):
                        before[c] = row[c]
                    for c in range(order.shape[0]):
                        row[c] = before[order[c]]
            for first in range(0, lanes, 8):
                block_products(&cells[at, 0], size, &scratch[first, 0], width, means, STRIPE)
                for c in range(first, min(first + LANES, k)):
                    for i in range(size):
                        records[at + i, k + c] = means[(c - first) * STRIPE + i]
            for i in range(size):
                for c in range(k):
                    total = rest[c] * records[at + i, k + c]
                    for s in range(groups.shape[1]):
                        total += dot(&exact[c, s * GROUP], &cells[at + i, groups[c, s] * GROUP], GROUP)
                    records[at + i, c] = total
                for c in range(2 * k, 4 * k):
                    records[at + i, c] = 0
