"""Copies byte spans of a block one after the other, so that all of them are decoded to text in one call.

``join_spans`` writes block[starts[i]:ends[i]] for i < n with a line feed between neighbours: sum(ends - starts) + n - 1
bytes in all. Spans hold no line feed themselves, so that splitting at them gives the n texts back.
"""

from libc.stdint cimport int32_t
from libc.string cimport memcpy


def join_spans(const unsigned char[::1] block, const int32_t[::1] starts, const int32_t[::1] ends,
               unsigned char[::1] out):
    """Fill ``out`` with the spans; nothing is written for n = 0.

    Raises:
        ValueError: shapes that do not fit, a span outside the block, out of another length than the spans need.
    """
    cdef Py_ssize_t i, n = starts.shape[0], at = 0, length, needed = n - 1
    if ends.shape[0] != n:
        raise ValueError(f"{n} starts and {ends.shape[0]} ends")
    if n == 0:
        return
    for i in range(n):
        if not 0 <= starts[i] <= ends[i] <= block.shape[0]:
            raise ValueError(f"span {i} leaves the block")
        needed += ends[i] - starts[i]
    if out.shape[0] != needed:
        raise ValueError(f"out holds {out.shape[0]} bytes, the spans need {needed}")
    with nogil:
        for i in range(n):
            if i:
                out[at] = c"\n"
                at += 1
            length = ends[i] - starts[i]
            if length:
                memcpy(&out[at], &block[starts[i]], length)
                at += length
