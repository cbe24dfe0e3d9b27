"""One line of a CoNLL block: where it ends, where its tabs are, what its ID says."""

from libc.stdint cimport uint64_t
from libc.string cimport memchr

cdef extern from "bytescan.h":
    const int SCAN_STEP
    uint64_t tabs_and_feeds(const unsigned char* at) noexcept nogil
    int first_byte(uint64_t mask) noexcept nogil

cdef enum:
    MAX_FIELDS = 64  # a power of two: more tabs than this overwrite one another, which only a refused line does
    WORD_ID = 0
    RANGE_ID = 2
    NODE_ID = 3

cdef struct Line:
    Py_ssize_t start
    Py_ssize_t stop
    Py_ssize_t next
    Py_ssize_t number
    int n_tabs
    Py_ssize_t tabs[MAX_FIELDS]


cdef inline bint is_blank(const unsigned char* text, Py_ssize_t at, Py_ssize_t stop) noexcept nogil:
    while at < stop and (text[at] == c" " or text[at] == c"\t" or text[at] == c"\r"):
        at += 1
    return at == stop


cdef inline bint find_line(Line* line, const unsigned char* text, Py_ssize_t at, Py_ssize_t size) noexcept nogil:
    """The line that begins at byte ``at``, its tabs counted and placed; false where no line feed ends it."""
    cdef const unsigned char* feed
    cdef Py_ssize_t end = at
    cdef int n = 0
    cdef uint64_t mask
    line.start = at
    if text[at] == c"#":
        feed = <const unsigned char*>memchr(text + at, c"\n", size - at)
        end = size if feed == NULL else feed - text
    else:
        while end + SCAN_STEP <= size:
            mask = tabs_and_feeds(text + end)
            while mask:
                at = end + first_byte(mask)
                if text[at] == c"\n":
                    break
                line.tabs[n & (MAX_FIELDS - 1)] = at
                n += 1
                mask &= mask - 1
            if mask:
                end = at
                break
            end += SCAN_STEP
        else:
            while end < size and text[end] != c"\n":
                if text[end] == c"\t":
                    line.tabs[n & (MAX_FIELDS - 1)] = end
                    n += 1
                end += 1
    line.n_tabs = n
    line.next = end + 1 if end < size else size
    line.stop = end
    while line.stop > line.start and text[line.stop - 1] == c"\r":
        line.stop -= 1
    return end < size


cdef inline Py_ssize_t number(const unsigned char* text, Py_ssize_t* at, Py_ssize_t stop) noexcept nogil:
    """A run of one to nine digits from at, which moves behind it; -1 for anything else."""
    cdef Py_ssize_t value = 0, start = at[0], i = start
    while i < stop and c"0" <= text[i] <= c"9" and i - start < 10:
        value = value * 10 + (text[i] - c"0")
        i += 1
    at[0] = i
    return value if 0 < i - start < 10 else -1


cdef inline int id_kind(const unsigned char* text, Py_ssize_t at, Py_ssize_t stop, Py_ssize_t* value) noexcept nogil:
    """WORD_ID with its number in value, RANGE_ID, NODE_ID, or -1."""
    cdef int kind
    value[0] = number(text, &at, stop)
    if value[0] < 0:
        return -1
    if at == stop:
        return WORD_ID
    if text[at] == c"-":
        kind = RANGE_ID
    elif text[at] == c".":
        kind = NODE_ID
    else:
        return -1
    at += 1
    return kind if number(text, &at, stop) >= 0 and at == stop else -1
