"""Draws of matrix entries for stochastic factorization (inline-only): non-zeros by table, and a share of cells at random.

A draw is a pure function of (key, its number t): no state, so that any range of draws can be made by any thread, and again.
Numbers come from SplitMix64 (Steele, Lea and Flood 2014) at the places 3 t, 3 (t // SHARE) + 1 and 3 t + 2 of the sequence that begins
at ``key``: each draw has the probabilities below, but SHARE in succession choose their rows by one number, so that the row of the
dictionary is mostly at hand. Two rows that come from memory bound the speed otherwise.

    u0 < zeros:  the cell (floor(u1 C), floor(u2 V)) with the value that stands there, zero if it is absent; weight 1
                 (a filter tells most absent cells at once: one bit a cell, by hash, of which present cells set theirs)
    otherwise:   row c by an alias table (u1), then a place in the row by the row's own table (u2), with weight 1;
                 without tables of the rows (NULL): a place at random (u2), with weight |x| / mean
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint64_t

from rows cimport dots  # its macros are used below

cdef extern from *:
    """
    static inline void wk_prefetch(const void *p) { WK_PREFETCH(p); }
    """
    void prefetch "wk_prefetch"(const void*) noexcept nogil

cdef enum:
    BATCH = 256
    SHARE = 8

cdef struct Entries:
    Py_ssize_t rows, columns
    const int64_t* indptr
    const int32_t* indices
    const float* values
    const double* row_threshold
    const int32_t* row_alias
    const float* threshold
    const int32_t* alias
    const uint64_t* filter
    int filter_bits
    double zeros
    double mean
    uint64_t key

cdef struct Draws:
    int32_t row[BATCH]
    int32_t column[BATCH]
    float value[BATCH]
    float weight[BATCH]
    int64_t at[BATCH]
    double place[BATCH]
    uint64_t bit[BATCH]


cdef inline double uniform(uint64_t key, uint64_t number) noexcept nogil:
    """Number ``number`` of the sequence, uniform in [0, 1) with 53 bits."""
    cdef uint64_t z = key + (number + 1) * <uint64_t>0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return <double>((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0)


cdef inline uint64_t filter_bit(int64_t row, int64_t column, int64_t columns, int bits) noexcept nogil:
    """The place of a cell in a filter of 2^bits bits."""
    return (<uint64_t>(row * columns + column) * <uint64_t>0x9E3779B97F4A7C15) >> (64 - bits)


cdef inline float cell(const Entries* x, int32_t row, int32_t column) noexcept nogil:
    """The value at a cell, zero if it is absent; column numbers rise within a row."""
    cdef int64_t low = x.indptr[row], high = x.indptr[row + 1], end = high, middle
    while low < high:
        middle = low + (high - low) // 2
        if x.indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return x.values[low] if low < end and x.indices[low] == column else 0


cdef inline void draw(const Entries* x, uint64_t first, Py_ssize_t n, Draws* to) noexcept nogil:
    """Draws ``first`` to ``first + n - 1``, n <= BATCH; in sweeps, so that the cache misses of different draws overlap."""
    cdef Py_ssize_t i
    cdef int64_t slot
    cdef double y
    for i in range(n):
        y = uniform(x.key, 3 * ((first + i) // SHARE) + 1) * x.rows
        to.row[i] = <int32_t>y
        to.at[i] = -1
        if x.zeros > 0 and uniform(x.key, 3 * (first + i)) < x.zeros:
            to.column[i] = <int32_t>(uniform(x.key, 3 * (first + i) + 2) * x.columns)
            to.bit[i] = filter_bit(to.row[i], to.column[i], x.columns, x.filter_bits)
            prefetch(x.filter + (to.bit[i] >> 6))
        else:
            if y - to.row[i] >= x.row_threshold[to.row[i]]:
                to.row[i] = x.row_alias[to.row[i]]
            slot = x.indptr[to.row[i]]
            y = uniform(x.key, 3 * (first + i) + 2) * (x.indptr[to.row[i] + 1] - slot)
            to.at[i] = slot + <int64_t>y
            to.place[i] = y - <int64_t>y
            if x.threshold != NULL:
                prefetch(x.threshold + to.at[i])
                prefetch(x.alias + to.at[i])
            else:
                prefetch(x.indices + to.at[i])
                prefetch(x.values + to.at[i])
    if x.threshold != NULL:
        for i in range(n):
            if to.at[i] >= 0:
                if to.place[i] >= x.threshold[to.at[i]]:
                    to.at[i] = x.indptr[to.row[i]] + x.alias[to.at[i]]
                prefetch(x.indices + to.at[i])
                prefetch(x.values + to.at[i])
    for i in range(n):
        to.weight[i] = 1
        if to.at[i] < 0:
            to.value[i] = 0
            if x.filter[to.bit[i] >> 6] >> (to.bit[i] & 63) & 1:
                to.value[i] = cell(x, to.row[i], to.column[i])
        else:
            to.column[i] = x.indices[to.at[i]]
            to.value[i] = x.values[to.at[i]]
            if x.threshold == NULL:
                to.weight[i] = <float>(fabs(to.value[i]) / x.mean)
