"""Inline-only: f(x) = x log x of whole numbers, small ones from a table, and g(x, y) = f(x + y) - f(x) - f(y), 0 if x or y is.

The sum of f over the cells of a table of counts, less that over its row and column sums, is T times its mutual information in
nats; g is what a pair of cells gains when they are added up.
"""

from libc.math cimport log
from libc.stdint cimport int64_t, uint64_t


cdef struct Table:
    const double* values
    int64_t size


cdef inline double f(const Table* table, int64_t x) noexcept nogil:
    # A sum that has overflowed, below 0, is none of the table's.
    return table.values[x] if <uint64_t>x < <uint64_t>table.size else <double>x * log(<double>x)


cdef inline double g(const Table* table, int64_t x, int64_t y) noexcept nogil:
    return f(table, x + y) - f(table, x) - f(table, y) if x and y else 0.0
