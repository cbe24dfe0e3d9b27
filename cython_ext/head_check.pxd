"""Whether the heads of a sentence form a tree: shared by the scanner and the tree doors."""

from libc.stdint cimport int32_t

cdef enum:
    HEAD_OUT_OF_RANGE = 7
    HEAD_SELF = 8
    HEAD_CYCLE = 9

cdef inline int tree_status(const int32_t* heads, int32_t* seen, Py_ssize_t n, Py_ssize_t* word) noexcept nogil:
    """Whether heads 1..n hang on the root 0; the offending word, from 0, in word. seen (n) is scratch."""
    cdef Py_ssize_t i, at
    for i in range(n):
        word[0] = i
        if heads[i] < 0 or heads[i] > n:
            return HEAD_OUT_OF_RANGE
        if heads[i] == i + 1:
            return HEAD_SELF
        seen[i] = 0
    for i in range(n):
        # Climb until the root or a word of an earlier climb; meeting this climb's own mark closes a circle.
        at = i
        while seen[at] == 0:
            seen[at] = <int32_t>(i + 1)
            if heads[at] == 0:
                break
            at = heads[at] - 1
            if seen[at] == i + 1:
                word[0] = at
                return HEAD_CYCLE
    return 0
