"""Training of a linear soft-max over many classes on sparse rows: one loop over rows for the objectives of ``softmax_steps.pxd``.

Class j of a row x has the score f_j = W_j.x + b_j. W is kept by feature, (features, N), so that a row's cells of all classes lie
side by side; ``width`` is N rounded up, with zeros behind. Wang, Wang and Zhai 2017, equations 2, 9, 10, 14 and 16.

The dual objective keeps by feature A = W_true alpha, R = W_true rho, where rho is alpha without the exact classes of each cluster
and of sum 1, and S, each cluster's sums of pending rows. The row goes to the cluster c of (9) by A. Its own class and the exact
ones of c have their true scores; all the others have in common the mass that the cluster says of them, (5) for rho,

    log of sum over the rest of exp(f_j) >= R_c.x + constant,

and share it as rho does: their gradient -rho_j tau x is pending in S_c, and W_true = W - S rho^T. If the row's own class is among
the rest, what S_c takes from it is given back to its cells of W at once. No step is larger than some rates, whatever the shares:
threads lose each other's steps now and then, and of large ones that cancel each other the rest would be without bound. Squares of
the pending rows are summed for the second order, which the pass of ``models/class_clusters.py`` takes.

W is far larger than the caches, and a line of it takes tens of nanoseconds from the memory. So exact classes are taken in groups
of 16 that share a line, by an order of the classes that brings together those of a cluster; all that a feature has for the clusters
is one record of whole lines; and what the next row will touch is asked for during each step.

The printed variant has no exact classes (rho is alpha, and R unused), and leaves W without the pending part. Nothing reads W
between two passes then but the value of the objective: whether top classes have their term (b) at once or with the others makes
no difference to what is learned.
"""

from libc.math cimport isfinite, log
from libc.stdint cimport int32_t, int64_t, uint64_t

from dense_rows cimport (
    GROUP,
    add_mix,
    add_scaled,
    dot,
    fetch_row,
    group_products,
    mixed_rows,
    picked_cells,
    products,
    spread_cells,
    spread_groups,
    spread_row,
)
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
    #define WK_NONE -1e30f
    """
    const float LEAST_OTHERS "WK_LEAST_OTHERS"  # of the rest, that all but the row's own class are taken to have by the step
    const float MOST "WK_MOST"                  # of the rest, that a row's own class is taken to have by the mass
    const float NONE "WK_NONE"                  # score of a class that is not there


cdef struct Task:
    Objective objective
    Py_ssize_t n, width
    float* cells            # (features, width) W
    const float* bias       # (n) b
    float* scores           # (width)
    float* weights          # (width)
    int32_t* items
    Py_ssize_t k, groups
    Py_ssize_t share_width, record_width
    const float* shares     # (n, share_width) alpha, rho, zeros
    const float* gram       # (k, share_width) rho^T alpha, rho^T rho, zeros
    float* records          # (features, record_width) A, R, S, sums of rate x^2, k cells each
    double* totals          # (5, k): as in softmax_steps.pxd, and TAIL
    const int32_t* top      # (k, groups), ascending
    float* products         # (3 k) of the row with A, R and S
    float* gains            # (share_width) what A and R gain times x
    float* pending          # (share_width) the row's products with S, where shares have rho
    const int32_t* coming   # features of the next row, and its class
    Py_ssize_t n_coming, coming_item
    Noise noise
    double gained
    bint unseen, broken     # unseen: some cluster may not have had its first refresh


cdef inline void fetch_coming(Task* task, Py_ssize_t lo, Py_ssize_t hi, Py_ssize_t span) noexcept nogil:
    """Ask the memory for what the next row will touch of its features lo to hi - 1: of their records the first ``span`` cells."""
    cdef Py_ssize_t i
    for i in range(lo, min(hi, task.n_coming)):
        fetch_row(task.records + task.coming[i] * task.record_width, span)
        fetch_row(task.cells + task.coming[i] * task.width + task.coming_item, 1)


cdef inline Py_ssize_t cluster_of(Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t span) noexcept nogil:
    """The first ``span`` cells of the row's products with the records, and its nearest cluster."""
    cdef Py_ssize_t k, lo
    for k in range(span):
        task.products[k] = 0
    for lo in range(0, nnz, 8):
        fetch_coming(task, lo, lo + 8, span)
        mixed_rows(task.products, task.records, task.record_width, index + lo, x + lo, min(8, nnz - lo), span)
    fetch_coming(task, nnz, task.n_coming, span)
    return nearest(task.products, task.totals, task.k, &task.unseen)


cdef inline Py_ssize_t size_of(const Task* task, Py_ssize_t group) noexcept nogil:
    """Classes of a group: the last may have fewer than the others."""
    return min(GROUP, task.n - group * GROUP)


cdef inline Py_ssize_t exact_scores(
    Task* task, const int32_t* top, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item
) noexcept nogil:
    """Scores of the groups ``top``, and behind them that of the row's own class, if it is in none; returns where that class is."""
    cdef Py_ssize_t wide = task.share_width, own = -1, s, i, first, size
    cdef int32_t single
    cdef float* scores
    group_products(task.scores, task.cells, task.width, index, x, nnz, top, task.groups)
    for s in range(task.groups):
        first, size, scores = top[s] * GROUP, size_of(task, top[s]), task.scores + s * GROUP
        products(task.shares + first * wide, task.pending, size, wide, task.weights)
        for i in range(size):
            scores[i] += task.bias[first + i] - task.weights[i]
        for i in range(size, GROUP):
            scores[i] = NONE
        if first <= item < first + size:
            own = s * GROUP + item - first
    if own < 0:
        own, single = task.groups * GROUP, <int32_t>item
        picked_cells(task.scores + own, task.cells, index, x, nnz, task.width, &single, 1)
        task.scores[own] += task.bias[item] - dot(task.shares + item * wide, task.pending, wide)
    return own


cdef inline void dual_step(Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item, float rate) noexcept nogil:
    cdef Py_ssize_t n_k = task.k, wide = task.share_width, n = task.groups * GROUP, c, s, i, own
    cdef const int32_t* top
    cdef int32_t single
    cdef float* record
    cdef float back = 0, taken = 0
    cdef double tail
    cdef bint alone
    c = cluster_of(task, index, x, nnz, 3 * n_k)
    top = task.top + c * task.groups
    for i in range(n_k):
        task.pending[n_k + i] = task.products[2 * n_k + i]
    own = exact_scores(task, top, index, x, nnz, item)
    alone = own == n
    tail = task.products[n_k + c] + task.totals[TAIL * n_k + c]
    if alone:  # the row's own class has a score of its own
        n += 1
        taken = task.shares[item * wide + n_k + c]
        tail += log(1 - taken if taken < MOST else 1 - MOST)
    if not isfinite(task.scores[own]) or not isfinite(tail):
        task.broken = True
        return
    task.gained += task.scores[own] - shared_mass(task.scores, task.weights, tail, n)
    if tail > NONE / 2:  # else all classes are exact
        back = rate * task.weights[n] / (1 - taken if 1 - taken > LEAST_OTHERS else LEAST_OTHERS)
    for s in range(n):
        task.weights[s] *= -rate
    task.weights[own] += rate + back * taken
    for i in range(wide):
        task.gains[i] = -back * task.gram[c * wide + i]
    for s in range(task.groups):
        for i in range(size_of(task, top[s]), GROUP):
            task.weights[s * GROUP + i] = 0
        add_mix(task.gains, task.weights + s * GROUP, task.shares + top[s] * GROUP * wide, size_of(task, top[s]), wide)
    if alone:
        add_scaled(task.gains, task.weights[own], task.shares + item * wide, wide)
        single = <int32_t>item
        spread_cells(task.cells, index, x, task.weights + own, nnz, task.width, &single, 1)
    spread_row(task.records, task.record_width, index, x, task.gains, nnz, 2 * n_k)
    for i in range(nnz):
        record = task.records + index[i] * task.record_width + 2 * n_k + c
        record[0] += back * x[i]
        record[n_k] += back * x[i] * x[i]  # for the second order
    spread_groups(task.cells, task.width, index, x, task.weights, nnz, top, task.groups)
    task.totals[WEIGHT * n_k + c] += back
    task.totals[PENDING * n_k + c] += 1


cdef inline void printed_step(Task* task, const int32_t* index, const float* x, Py_ssize_t nnz, Py_ssize_t item, float rate) noexcept nogil:
    cdef Py_ssize_t n_k = task.k, c = cluster_of(task, index, x, nnz, n_k), i
    cdef float value = task.bias[item] - task.products[c] - <float>task.totals[CONSTANT * n_k + c]
    cdef float* cell
    for i in range(nnz):
        cell = task.cells + index[i] * task.width + item
        value += x[i] * cell[0]
        cell[0] += rate * x[i]
        task.records[index[i] * task.record_width + 2 * n_k + c] += rate * x[i]
    if not isfinite(value):
        task.broken = True
        return
    task.gained += value
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
    mixed_rows(task.scores, task.cells, task.width, index, x, nnz, task.width)
    gain = full_mass(task.scores, task.weights, item, rate, task.n)
    if not isfinite(gain):
        task.broken = True
        return
    task.gained += gain
    spread_row(task.cells, task.width, index, x, task.weights, nnz, task.width)


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
    cdef float[:, ::1] records = arrays[2]
    cdef double[:, ::1] totals = arrays[3]
    cdef const int32_t[:, ::1] top = arrays[4]
    cdef Py_ssize_t k = totals.shape[1], wide = shares.shape[1], groups = (task.n + GROUP - 1) // GROUP, i, j
    if (k < 1 or totals.shape[0] != 5 or shares.shape[0] != task.n or wide != (2 * k + 7) // 8 * 8 or gram.shape[0] != k
            or gram.shape[1] != wide or records.shape[0] != features or records.shape[1] < 4 * k
            or top.shape[0] != k or top.shape[1] > groups or task.width < groups * GROUP):
        raise ValueError("shapes of the clusters do not agree")
    for i in range(k):
        for j in range(top.shape[1]):
            if not 0 <= top[i, j] < groups or (j and top[i, j] <= top[i, j - 1]):
                raise ValueError("a group of classes does not exist, or groups do not ascend")
    task.k, task.groups, task.share_width, task.record_width = k, top.shape[1], wide, records.shape[1]
    task.shares, task.gram, task.records, task.totals = &shares[0, 0], &gram[0, 0], &records[0, 0], &totals[0, 0]
    task.unseen = True
    task.top = &top[0, 0] if top.shape[1] else NULL
    return 0


cdef Py_ssize_t score_cells(Py_ssize_t width, Py_ssize_t negative) noexcept:
    """Scores of a row: all classes' or the drawn ones', or the exact groups' with one class and the rest behind them."""
    return max(width, negative) + 2


def scratch_size(Py_ssize_t width, Py_ssize_t negative, Py_ssize_t k):
    """Float cells that :func:`train_rows` needs."""
    return 2 * score_cells(width, negative) + 3 * k + 2 * ((2 * k + 7) // 8 * 8)


def train_rows(
    const float[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr, const int32_t[::1] classes,
    const int64_t[::1] order, Py_ssize_t lo, Py_ssize_t hi, int objective, tuple arrays, float[:, ::1] cells,
    const float[::1] bias, double rate, double slope, float[::1] scratch, int32_t[::1] items, double[::1] sums,
):
    """Steps for the rows order[lo] to order[hi - 1].

    Args:
        data, indices, indptr: rows that passed :func:`check_rows`. classes: (rows) int32. order: row numbers.
        objective: of ``dual_clustering.OBJECTIVES``.
        arrays: for the dual objectives shares (N, 2 K rounded up to 8) and gram (K, as shares), with zeros behind, records
            (features, 4 K or more), totals (5, K) and top (K, groups of 16 classes); for NCE and NS the noise: keep (N), alias
            (N), shift (N), number, key; for GD ().
        cells: W, (features, width), changed in place. bias: (N).
        rate, slope: step size at row order[lo], and its change a row.
        scratch: :func:`scratch_size` cells. items: 2 + negative.
        sums: 2 cells that are added to: objective, rows.

    Returns:
        Rows done: fewer than hi - lo where a number was not finite.
    """
    cdef Task task
    cdef Py_ssize_t features = cells.shape[0], rows = indptr.shape[0] - 1, t, row, begin, nnz, n_scores, negative = 0
    cdef const float* x = &data[0] if data.shape[0] else NULL
    cdef const int32_t* index = &indices[0] if data.shape[0] else NULL
    cdef float at
    if not 0 <= lo <= hi <= order.shape[0] or classes.shape[0] != rows or data.shape[0] != indices.shape[0]:
        raise ValueError("rows are out of range")
    if lo == hi:
        return 0
    task.objective = <Objective>objective
    task.n, task.width = bias.shape[0], cells.shape[1]
    task.k = task.groups = task.share_width = task.n_coming = 0
    if task.n < 2 or task.width < task.n or task.width % 8 or features < 1 or sums.shape[0] < 2 or not 0 <= objective <= GD:
        raise ValueError("shapes of weights, bias or sums do not agree")
    for t in range(lo, hi):
        if not 0 <= order[t] < rows or not 0 <= classes[order[t]] < task.n:
            raise ValueError("a row or its class does not exist")
    task.cells, task.bias = &cells[0, 0], &bias[0]
    if objective <= PRINTED:
        take_dual(&task, features, arrays)
    elif objective != GD:
        take_noise(&task.noise, task.n, arrays)
        negative = task.noise.n
    n_scores = score_cells(task.width, negative)
    if items.shape[0] < negative + 2 or scratch.shape[0] < scratch_size(task.width, negative, task.k):
        raise ValueError("scratch or items are too few")
    task.items = &items[0]
    task.scores, task.weights = &scratch[0], &scratch[n_scores]
    task.products = task.weights + n_scores
    task.gains = task.products + 3 * task.k
    task.pending = task.gains + task.share_width
    for t in range(task.share_width):
        task.pending[t] = 0
    task.gained = 0
    task.broken = False
    with nogil:
        for t in range(lo, hi):
            if objective <= PRINTED:
                row = order[min(t + 1, hi - 1)]
                task.coming, task.n_coming, task.coming_item = index + indptr[row], indptr[row + 1] - indptr[row], classes[row]
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
