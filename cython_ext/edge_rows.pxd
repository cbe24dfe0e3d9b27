"""Edges of a batch sorted by label and class of the child, one share of a token a class (inline-only).

    find_parents    token numbers of the parents
    count_rows      how many shares each row of the transitions has
    fill_rows       the shares, row by row, tokens rising
    sum_row         sums[j] = sum over the shares of a row of below above[j]
    clear_row       the sums of a row with few shares into its target
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc


cdef struct Share:
    int32_t token
    float below


cdef struct Rows:  # edges by label and child class: the share of a token in row r is in shares[first[r] : first[r + 1]]
    Py_ssize_t L, C, K, lo, hi
    int32_t* parents  # T: the parent's token, -1 of roots
    Py_ssize_t* first
    Share* shares
    double* sums      # C


cdef inline void find_parents(const int32_t[::1] heads, const int32_t[::1] offsets, int32_t* parents) noexcept nogil:
    cdef Py_ssize_t s, t
    for s in range(offsets.shape[0] - 1):
        for t in range(offsets[s], offsets[s + 1]):
            parents[t] = offsets[s] + heads[t] - 1 if heads[t] else -1


cdef inline void count_rows(Rows* rows, const int32_t[::1] labels, const int32_t[:, ::1] support,
                            const int32_t[::1] sizes) noexcept nogil:
    """first[r + 1]: edges whose child may have the class of row r = l (hi - lo) + i - lo, or one of a row before it."""
    cdef Py_ssize_t height = rows.hi - rows.lo, t, a, r
    for r in range(rows.L * height + 1):
        rows.first[r] = 0
    for t in range(labels.shape[0]):
        if rows.parents[t] < 0:
            continue
        for a in range(sizes[t]):
            if rows.lo <= support[t, a] < rows.hi:
                rows.first[labels[t] * height + support[t, a] - rows.lo + 1] += 1
    for r in range(rows.L * height):
        rows.first[r + 1] += rows.first[r]


cdef inline void fill_rows(Rows* rows, const int32_t[::1] labels, const int32_t[:, ::1] support, const int32_t[::1] sizes,
                           const float[:, ::1] below) noexcept nogil:
    """Sorts the shares into rows, tokens rising."""
    cdef Py_ssize_t height = rows.hi - rows.lo, t, a, r
    cdef Share* share
    for t in range(labels.shape[0]):
        if rows.parents[t] < 0:
            continue
        for a in range(sizes[t]):
            if rows.lo <= support[t, a] < rows.hi:
                r = labels[t] * height + support[t, a] - rows.lo
                share = rows.shares + rows.first[r]
                share.token = <int32_t>t
                share.below = below[t, a]
                rows.first[r] += 1
    for r in range(rows.L * height, 0, -1):
        rows.first[r] = rows.first[r - 1]
    rows.first[0] = 0


cdef inline void sum_row(const Rows* rows, Py_ssize_t r, const int32_t[:, ::1] support, const int32_t[::1] sizes,
                         const float[:, ::1] above) noexcept nogil:
    """sums[j] += below above[j] over the shares of a row: what its transitions are to be multiplied with."""
    cdef Py_ssize_t e, b, t, p, width, n = rows.first[r + 1] - rows.first[r]
    cdef double below
    cdef double* sums = rows.sums
    cdef const Share* shares = rows.shares + rows.first[r]
    cdef const int32_t* parents = rows.parents
    cdef const int32_t* columns
    cdef const float* v
    for e in range(n):
        t = shares[e].token
        p = parents[t]
        width = sizes[p]
        below = shares[e].below
        columns = &support[p, 0]
        v = &above[t, 0]
        for b in range(width):
            sums[columns[b]] += below * v[b]


cdef inline void clear_row(const Rows* rows, Py_ssize_t r, const int32_t[:, ::1] support, const int32_t[::1] sizes,
                           const float* cells, double back_off, const float* scale, double weight,
                           double* target, float* copy) noexcept nogil:
    """Empties the sums of a row with few shares into its target, cell by cell; copies these cells if copy is not NULL."""
    cdef Py_ssize_t e, b, p, j
    for e in range(rows.first[r], rows.first[r + 1]):
        p = rows.parents[rows.shares[e].token]
        for b in range(sizes[p]):
            j = support[p, b]
            target[j] += weight * rows.sums[j] * ((cells[j] + back_off) * scale[j])
            rows.sums[j] = 0
            if copy != NULL:
                copy[j] = <float>target[j]


cdef inline void release(Rows* rows) noexcept nogil:
    free(rows.parents)
    free(rows.first)
    free(rows.sums)
    free(rows.shares)


cdef inline int allocate(Rows* rows, Py_ssize_t T, Py_ssize_t L, Py_ssize_t C, Py_ssize_t K, Py_ssize_t lo, Py_ssize_t hi) except -1:
    rows.L, rows.C, rows.K, rows.lo, rows.hi = L, C, K, lo, hi
    rows.parents = <int32_t*>malloc(T * sizeof(int32_t))
    rows.first = <Py_ssize_t*>malloc((L * (hi - lo) + 1) * sizeof(Py_ssize_t))
    rows.sums = <double*>calloc(C, sizeof(double))
    rows.shares = <Share*>malloc(T * min(K, hi - lo) * sizeof(Share))
    if rows.parents == NULL or rows.first == NULL or rows.sums == NULL or rows.shares == NULL:
        release(rows)
        raise MemoryError
    return 0
