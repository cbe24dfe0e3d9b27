"""Training of a linear soft-max over many classes on sparse rows: one loop over rows for the objectives of ``softmax_steps.pxd``.

Class j of a row x has the score f_j = W_j.x + b_j. W is kept by feature, (features, N), so that a row's cells of all classes lie
side by side; ``width`` and ``k_width`` are N and K rounded up to multiples of 8, with zeros in between. Wang, Wang and Zhai 2017,
equations 2, 9, 10, 14 and 16.

The dual objective keeps by feature A = W_true alpha, R = W_true rho, where rho is alpha without the Q likeliest classes of each
cluster, its head, and of sum 1, and S, each cluster's sums of pending rows. The row goes to the cluster c of (9) by A. Its own
class and the head have their true scores; all the others have in common the mass that the cluster says of them, (5) for rho,

    log of sum over the rest of exp(f_j) >= R_c.x + constant,

and share it as rho does: their gradient -rho_j tau x is pending in S_c, and W_true = W - S rho^T. If the row's own class is among the rest, what S_c takes from it is given back to its
cells of W at once. No step is larger than some rates, whatever the shares: threads lose each other's steps now and then, and of
large ones that cancel each other the rest would be without bound. Squares of the pending rows are summed for the second
order, which the pass of ``models/class_clusters.py`` takes. The printed variant has no head (rho is alpha, and R unused), and leaves W without
the pending part. Nothing reads W between two passes then but the value of the objective: whether top classes have their term (b) at
once or with the others makes no difference to what is learned.
"""

from libc.math cimport isfinite, log
from libc.stdint cimport int32_t, int64_t, uint64_t

from dense_rows cimport add_scaled, dot, mixed_rows, picked_cells, spread_cells, spread_row
from softmax_steps cimport (
    CONSTANT,
    GD,
    NCE,
    PENDING,
    PRINTED,
    WEIGHT,
    Noise,
    Objective,
    draw_items,
    full_mass,
    nearest,
    shared_mass,
    take_noise,
    told_apart,
)

cdef enum:
    TAIL = 4  # row of totals: the constant of the bound of the rest

cdef extern from *:
    """
    #define WK_LEAST_OTHERS 0.1f
    #define WK_MOST 0.999f
    """
    const float LEAST_OTHERS "WK_LEAST_OTHERS"  # of the rest, that all but the row's own class are taken to have by the step
    const float MOST "WK_MOST"                  # of the rest, that a row's own class is taken to have by the mass


cdef struct Task:
    Objective objective
    Py_ssize_t n, width
    float* cells            # (features, width) W
    const float* bias       # (n) b
    float* scores           # (width)
    float* weights          # (width)
    int32_t* items
    Py_ssize_t k, k_width, q
    const float* shares     # (n, 2 k_width) alpha, rho
    const float* gram       # (k, 2 k_width) rho^T alpha, rho^T rho
    float* sums             # (features, 3 k_width) A, R, S
    float* squares          # (features, k_width) sums of rate x^2
    double* totals          # (5, k): as in softmax_steps.pxd, and TAIL
    const int32_t* top      # (k, q)
    float* products         # (3 k_width) of the row with A, R and S
    float* gains            # (3 k_width) what they gain times x
    Noise noise
    double gained
    bint unseen, broken     # unseen: some cluster may not have had its first refresh


cdef inline void dual_step(Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item, float rate) noexcept nogil:
    cdef Py_ssize_t n_k = task.k, wide = task.k_width, q = task.q, n = 0, c, s, k, own = -1
    cdef const int32_t* top
    cdef float back, taken = 0
    cdef double tail
    for k in range(3 * wide):
        task.products[k] = task.gains[k] = 0
    mixed_rows(task.products, task.sums, index, x, nnz, 3 * wide)
    c = nearest(task.products, task.totals, n_k, &task.unseen)
    top = task.top + c * q
    for s in range(q):
        task.items[s] = top[s]
        if top[s] == item:
            own = s
    n = q
    if own < 0:
        own, n = q, q + 1
        task.items[q] = <int32_t>item
    picked_cells(task.scores, task.cells, index, x, nnz, task.width, task.items, n)
    for s in range(n):
        task.scores[s] += task.bias[task.items[s]] - dot(
            task.shares + (2 * task.items[s] + 1) * wide, task.products + 2 * wide, wide
        )
    tail = task.products[wide + c] + task.totals[TAIL * n_k + c]
    if own == q:  # the row's own class has a score of its own
        taken = task.shares[(2 * item + 1) * wide + c]
        tail += log(1 - taken if taken < MOST else 1 - MOST)
    if not isfinite(task.scores[own]) or not isfinite(tail):
        task.broken = True
        return
    task.gained += task.scores[own] - shared_mass(task.scores, task.weights, tail, n)
    back = rate * task.weights[n] / (1 - taken if 1 - taken > LEAST_OTHERS else LEAST_OTHERS)
    for s in range(n):
        task.weights[s] *= -rate
    task.weights[own] += rate + back * taken
    add_scaled(task.gains, -back, task.gram + c * 2 * wide, 2 * wide)
    mixed_rows(task.gains, task.shares, task.items, task.weights, n, 2 * wide)
    task.gains[2 * wide + c] = back
    spread_row(task.sums, index, x, task.gains, nnz, 3 * wide)
    spread_cells(task.cells, index, x, task.weights, nnz, task.width, task.items, n)
    for s in range(nnz):  # for the second order
        task.squares[index[s] * wide + c] += back * x[s] * x[s]
    task.totals[WEIGHT * n_k + c] += back
    task.totals[PENDING * n_k + c] += 1


cdef inline void printed_step(Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item, float rate) noexcept nogil:
    cdef Py_ssize_t n_k = task.k, wide = task.k_width, c, k
    cdef float value
    for k in range(3 * wide):
        task.products[k] = task.gains[k] = 0
    mixed_rows(task.products, task.sums, index, x, nnz, 3 * wide)
    c = nearest(task.products, task.totals, n_k, &task.unseen)
    task.items[0] = <int32_t>item
    picked_cells(task.scores, task.cells, index, x, nnz, task.width, task.items, 1)
    value = task.scores[0] + task.bias[item] - task.products[c] - <float>task.totals[CONSTANT * n_k + c]
    if not isfinite(value):
        task.broken = True
        return
    task.gained += value
    task.weights[0] = rate
    task.gains[2 * wide + c] = rate
    spread_row(task.sums, index, x, task.gains, nnz, 3 * wide)
    spread_cells(task.cells, index, x, task.weights, nnz, task.width, task.items, 1)
    task.totals[WEIGHT * n_k + c] += rate
    task.totals[PENDING * n_k + c] += 1


cdef inline void sampled_step(
    Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item, float rate, uint64_t counter
) noexcept nogil:
    cdef bint nce = task.objective == NCE
    cdef Py_ssize_t n = draw_items(&task.noise, nce, task.n, item, counter, task.items)
    cdef double gain
    picked_cells(task.scores, task.cells, index, x, nnz, task.width, task.items, n)
    gain = told_apart(&task.noise, nce, task.bias, task.items, n, rate, task.scores, task.weights)
    if not isfinite(gain):
        task.broken = True
        return
    task.gained += gain
    spread_cells(task.cells, index, x, task.weights, nnz, task.width, task.items, n)


cdef inline void full_step(Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item, float rate) noexcept nogil:
    cdef Py_ssize_t j
    cdef double gain
    for j in range(task.n):
        task.scores[j] = task.bias[j]
    for j in range(task.n, task.width):
        task.scores[j] = task.weights[j] = 0
    mixed_rows(task.scores, task.cells, index, x, nnz, task.width)
    gain = full_mass(task.scores, task.weights, item, rate, task.n)
    if not isfinite(gain):
        task.broken = True
        return
    task.gained += gain
    spread_row(task.cells, index, x, task.weights, nnz, task.width)


# --- doors ----------------------------------------------------------------------------------------------------------


def check_rows(const float[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr, Py_ssize_t features):
    """Raise ValueError unless these are the arrays of a CSR matrix of that many columns. Call before :func:`train_rows`."""
    cdef Py_ssize_t i, rows = indptr.shape[0] - 1
    cdef bint good = rows >= 0 and indptr[0] == 0 and indptr[rows] == data.shape[0] and indices.shape[0] == data.shape[0]
    if good:
        with nogil:
            for i in range(rows):
                good = good and indptr[i] <= indptr[i + 1]
            for i in range(indices.shape[0]):
                good = good and 0 <= indices[i] < features
    if not good:
        raise ValueError("rows are no CSR matrix of this width")


cdef int take_dual(Task* task, Py_ssize_t features, tuple arrays) except -1:
    """Pointers of the clusters' arrays; ValueError where shapes do not fit."""
    cdef const float[:, ::1] shares = arrays[0], gram = arrays[1]
    cdef float[:, ::1] sums = arrays[2]
    cdef double[:, ::1] totals = arrays[3]
    cdef const int32_t[:, ::1] top = arrays[4]
    cdef float[:, ::1] squares = arrays[5]
    cdef Py_ssize_t k = totals.shape[1], wide = squares.shape[1], i, j
    if (shares.shape[0] != task.n or shares.shape[1] != 2 * wide or k < 1 or wide < k or wide % 8 or gram.shape[0] != k
            or gram.shape[1] != 2 * wide or sums.shape[0] != features or sums.shape[1] != 3 * wide
            or squares.shape[0] != features or totals.shape[0] != 5 or top.shape[0] != k
            or top.shape[1] >= task.n):
        raise ValueError("shapes of the clusters do not agree")
    for i in range(k):
        for j in range(top.shape[1]):
            if not 0 <= top[i, j] < task.n:
                raise ValueError("a top class does not exist")
    task.k, task.k_width, task.q = k, wide, top.shape[1]
    task.shares, task.gram, task.sums, task.totals = &shares[0, 0], &gram[0, 0], &sums[0, 0], &totals[0, 0]
    task.squares, task.unseen = &squares[0, 0], True
    task.top = &top[0, 0] if top.shape[1] else NULL
    return 0


def train_rows(
    const float[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr, const int32_t[::1] classes,
    const int64_t[::1] order, Py_ssize_t lo, Py_ssize_t hi, int objective, tuple arrays, float[:, ::1] cells,
    const float[::1] bias, double rate, double slope, float[::1] scratch, int32_t[::1] items, double[::1] sums,
):
    """Steps for the rows order[lo] to order[hi - 1].

    Args:
        data, indices, indptr: rows that passed :func:`check_rows`. classes: (rows) int32. order: row numbers.
        objective: of ``dual_clustering.OBJECTIVES``.
        arrays: for the dual objectives shares (N, 2 k_width), gram (K, 2 k_width), sums (features, 3 k_width), totals (5, K), top
            (K, Q) and squares (features, k_width); for NCE and NS the noise: keep (N), alias (N), shift (N), number, key; for GD ().
        cells: W, (features, width), changed in place. bias: (N).
        rate, slope: step size at row order[lo], and its change a row.
        scratch: 2 max(width, items) + 6 k_width cells. items: 2 + negative, or 2 + Q cells.
        sums: 2 cells that are added to: objective, rows.

    Returns:
        Rows done: fewer than hi - lo where a number was not finite.
    """
    cdef Task task
    cdef Py_ssize_t features = cells.shape[0], rows = indptr.shape[0] - 1, t, row, begin, nnz, n_scores
    cdef const float* x = &data[0] if data.shape[0] else NULL
    cdef const int32_t* index = &indices[0] if data.shape[0] else NULL
    cdef float at
    if not 0 <= lo <= hi <= order.shape[0] or classes.shape[0] != rows or data.shape[0] != indices.shape[0]:
        raise ValueError("rows are out of range")
    if lo == hi:
        return 0
    task.objective = <Objective>objective
    task.n, task.width = bias.shape[0], cells.shape[1]
    task.k = task.k_width = task.q = 0
    if task.n < 2 or task.width < task.n or task.width % 8 or features < 1 or sums.shape[0] < 2 or not 0 <= objective <= GD:
        raise ValueError("shapes of weights, bias or sums do not agree")
    for t in range(lo, hi):
        if not 0 <= order[t] < rows or not 0 <= classes[order[t]] < task.n:
            raise ValueError("a row or its class does not exist")
    task.cells, task.bias = &cells[0, 0], &bias[0]
    if objective <= PRINTED:
        take_dual(&task, features, arrays)
        t = task.q
    elif objective != GD:
        take_noise(&task.noise, task.n, arrays)
        t = task.noise.n
    else:
        t = 0
    n_scores = task.width if task.width > t + 2 else t + 2
    if items.shape[0] < t + 2 or scratch.shape[0] < 2 * n_scores + 6 * task.k_width:
        raise ValueError("scratch is too small")
    task.items = &items[0]
    task.scores, task.weights = &scratch[0], &scratch[n_scores]
    task.products = task.weights + n_scores
    task.gains = task.products + 3 * task.k_width
    task.gained = 0
    task.broken = False
    with nogil:
        for t in range(lo, hi):
            row = order[t]
            begin = indptr[row]
            nnz = indptr[row + 1] - begin
            at = <float>(rate + slope * (t - lo))
            if objective == GD:
                full_step(&task, index + begin, x + begin, nnz, classes[row], at)
            elif objective > PRINTED:
                sampled_step(&task, index + begin, x + begin, nnz, classes[row], at, <uint64_t>t)
            elif objective == PRINTED:
                printed_step(&task, index + begin, x + begin, nnz, classes[row], at)
            else:
                dual_step(&task, index + begin, x + begin, nnz, classes[row], at)
            if task.broken:
                break
        else:
            t = hi
    sums[0] += task.gained
    sums[1] += t - lo
    return t - lo
