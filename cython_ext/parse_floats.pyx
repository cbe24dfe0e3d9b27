"""Rows of vector files to float32: whole lines of text, and the rows of word2vec's binary format.

Text. A row is ``word SEP number SEP+ number ... [SEP | CR]* LF`` with SEP a space or a tab: the last ``dim`` fields are the
numbers, everything before the one separator in front of them is the word, which may therefore hold spaces. A number is
a decimal as in ``decimal.pxd``, ``nan``, ``inf`` or ``infinity``, and becomes what ``numpy.float32(float(text))`` gives, bit
for bit; where the decimal is unsure, the field is listed as undecided, and the caller asks Python.

Binary. A row is ``LF* word SPACE`` and ``dim`` little-endian floats; it is copied, not interpreted.

Shapes: ``block`` bytes, ``out`` (rows, dim) float32 and ``spans`` (rows, 2) int64 offsets of each word (first byte, one past
the last) are filled in place. Nothing is allocated; every door checks its sizes.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memchr, memcpy

from decimal cimport NOT_A_NUMBER, NUMBER, decimal_float32

DONE, FULL, BAD_ROW, UNDECIDED_FULL = range(4)

cdef enum:
    _DONE = 0
    _FULL = 1
    _BAD_ROW = 2
    _UNDECIDED_FULL = 3


cdef inline bint is_separator(uint8_t c) noexcept nogil:
    return c == 32 or c == 9


cdef inline bint ends_field(uint8_t c) noexcept nogil:
    return c == 32 or c == 9 or c == 10 or c == 13


cdef inline bint spells(const uint8_t* p, const char* lower, Py_ssize_t size) noexcept nogil:
    """Whether ``size`` letters at p are these, in any case; stops at the first that differs."""
    cdef Py_ssize_t i
    for i in range(size):
        if (p[i] | 0x20) != <uint8_t>lower[i]:
            return False
    return True


cdef const uint8_t* name_of_value(const uint8_t* p, float* out, int* status) noexcept nogil:
    """``nan``, ``inf`` or ``infinity``, perhaps signed, at p. Returns the first byte after it."""
    cdef bint negative = p[0] == 45
    if negative or p[0] == 43:
        p += 1
    status[0] = NUMBER
    if spells(p, b"nan", 3):
        out[0] = NAN
        return p + 3
    if spells(p, b"inf", 3):
        out[0] = -INFINITY if negative else INFINITY
        return p + 8 if spells(p + 3, b"inity", 5) else p + 3
    status[0] = NOT_A_NUMBER
    return p


cdef inline const uint8_t* parse_number(
    const uint8_t* p, const uint8_t* limit, float* out, int* status
) noexcept nogil:
    """One field at p, which a line feed before ``limit`` ends at the latest. Returns where the number ends."""
    cdef const uint8_t* end = decimal_float32(p, limit, out, status)
    if status[0] == NOT_A_NUMBER:
        end = name_of_value(p, out, status)
    if not ends_field(end[0]):
        status[0] = NOT_A_NUMBER
    return end


cdef Py_ssize_t numbers_from(
    const uint8_t* block, Py_ssize_t at, Py_ssize_t size, Py_ssize_t row, float* out, Py_ssize_t dim,
    int64_t[:, ::1] undecided, Py_ssize_t* n_undecided
) noexcept nogil:
    """``dim`` numbers and the end of the line. Returns the offset of the next line, or -1 if that is not what is there."""
    cdef const uint8_t* p = block + at
    cdef const uint8_t* limit = block + size
    cdef const uint8_t* start
    cdef Py_ssize_t j
    cdef int status
    for j in range(dim):
        start = p
        p = parse_number(p, limit, out + j, &status)
        if status != NUMBER:
            if status == NOT_A_NUMBER:
                return -1
            undecided[n_undecided[0], 0] = row
            undecided[n_undecided[0], 1] = j
            undecided[n_undecided[0], 2] = start - block
            undecided[n_undecided[0], 3] = p - block
            n_undecided[0] += 1
        while is_separator(p[0]):
            p += 1
    while p[0] == 13 or is_separator(p[0]):
        p += 1
    return p - block + 1 if p[0] == 10 else -1


cdef inline Py_ssize_t first_separator(const uint8_t* block, Py_ssize_t at) noexcept nogil:
    """Offset of the first separator, or of the line's end."""
    while not is_separator(block[at]) and block[at] != 10:
        at += 1
    return at


cdef Py_ssize_t word_end(const uint8_t* block, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t dim) noexcept nogil:
    """Where the word of line [start, stop) ends if its last ``dim`` fields are numbers; -1 if there is no room for one."""
    cdef Py_ssize_t j
    while stop > start and (is_separator(block[stop - 1]) or block[stop - 1] == 13):
        stop -= 1
    for j in range(dim):
        while stop > start and is_separator(block[stop - 1]):
            stop -= 1
        while stop > start and not is_separator(block[stop - 1]):
            stop -= 1
        if stop == start:
            return -1
    return stop - 1 if stop - 1 > start else -1


cdef inline bint is_blank(const uint8_t* block, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t at
    for at in range(start, stop):
        if not is_separator(block[at]) and block[at] != 13:
            return False
    return True


def parse_rows(
    const uint8_t[::1] block, Py_ssize_t start, float[:, ::1] out, int64_t[:, ::1] spans, int64_t[:, ::1] undecided
):
    """Parse text rows from offset ``start`` of a block of whole lines until something stops it.

    Args:
        block: bytes, the last of them a line feed.
        out: (rows, dim) float32, filled from row 0.
        spans: (>= rows, 2) int64, filled with the offsets of each word.
        undecided: (>= dim, 4) int64, filled with (row, column, first byte, one past the last) of the numbers left to Python.

    Returns:
        (status, offset, rows, undecided): DONE; FULL (``out`` is); BAD_ROW (the line at ``offset`` is no row of ``dim`` numbers);
        UNDECIDED_FULL (fewer than ``dim`` places left in that list). ``offset`` is where to go on. Blank lines are passed over.
    """
    cdef Py_ssize_t size = block.shape[0], rows = out.shape[0], dim = out.shape[1]
    cdef Py_ssize_t row = 0, at = start, middle, following, stop, hard = 0, before
    cdef const uint8_t* data
    cdef int status = _DONE
    if dim < 1 or spans.shape[0] < rows or spans.shape[1] != 2 or undecided.shape[0] < dim or undecided.shape[1] != 4:
        raise ValueError("spans must be (rows, 2), undecided (at least dim, 4), dim positive")
    if start < 0 or start > size:
        raise ValueError("start is outside the block")
    if start == size:
        return DONE, start, 0, 0
    if block[size - 1] != 10:
        raise ValueError("the block does not end with a line feed")
    data = &block[0]
    with nogil:
        while at < size:
            before = hard
            if row == rows:
                status = _FULL
            elif undecided.shape[0] - hard < dim:
                status = _UNDECIDED_FULL
            if status != _DONE:
                break
            # The usual row: a word without separators, one separator, exactly dim numbers.
            middle = first_separator(data, at)
            following = -1
            if middle > at and data[middle] != 10:
                following = numbers_from(data, middle + 1, size, row, &out[row, 0], dim, undecided, &hard)
            if following < 0:
                hard = before
                stop = <const uint8_t*>memchr(data + at, 10, size - at) - data
                if is_blank(data, at, stop):
                    at = stop + 1
                    continue
                middle = word_end(data, at, stop, dim)
                if middle >= 0:
                    following = numbers_from(data, middle + 1, size, row, &out[row, 0], dim, undecided, &hard)
                if following < 0:
                    hard = before
                    status = _BAD_ROW
                    break
            spans[row, 0] = at
            spans[row, 1] = middle
            row += 1
            at = following
    return status, at, row, hard


def copy_rows(const uint8_t[::1] block, Py_ssize_t start, float[:, ::1] out, int64_t[:, ::1] spans):
    """Copy the whole binary rows from offset ``start`` on, as many as the block holds and ``out`` takes.

    Args:
        block: bytes.
        out: (rows, dim) float32, filled from row 0 with the bytes of the vectors as they are.
        spans: (>= rows, 2) int64, filled with the offsets of each word.

    Returns:
        (offset, rows): the first byte not used, and the rows filled.
    """
    cdef Py_ssize_t size = block.shape[0], rows = out.shape[0], dim = out.shape[1], width = 4 * dim
    cdef Py_ssize_t row = 0, at = start, word
    cdef const uint8_t* data
    cdef const uint8_t* space
    if dim < 1 or spans.shape[0] < rows or spans.shape[1] != 2:
        raise ValueError("spans must be (rows, 2), dim positive")
    if start < 0 or start > size:
        raise ValueError("start is outside the block")
    if start == size:
        return start, 0
    data = &block[0]
    with nogil:
        while row < rows:
            word = at
            while word < size and data[word] == 10:
                word += 1
            space = <const uint8_t*>memchr(data + word, 32, size - word) if word < size else NULL
            if space == NULL or size - (space - data) - 1 < width:
                break
            memcpy(&out[row, 0], space + 1, width)
            spans[row, 0] = word
            spans[row, 1] = space - data
            row += 1
            at = space - data + 1 + width
    return at, row


def pack_spans(const uint8_t[::1] block, const int64_t[:, ::1] spans, Py_ssize_t rows, uint8_t[::1] packed):
    """Gather the words of ``spans[:rows]``, a line feed after each, into ``packed``. Returns the bytes written."""
    cdef Py_ssize_t row, used = 0, size
    if rows < 0 or rows > spans.shape[0] or spans.shape[1] != 2:
        raise ValueError("spans must be (at least rows, 2)")
    with nogil:
        for row in range(rows):
            size = spans[row, 1] - spans[row, 0]
            if size < 0 or spans[row, 0] < 0 or spans[row, 1] > block.shape[0] or size + 1 > packed.shape[0] - used:
                used = -1
                break
            if size > 0:
                memcpy(&packed[used], &block[spans[row, 0]], size)
            packed[used + size] = 10
            used += size + 1
    if used < 0:
        raise ValueError("a span lies outside the block, or packed is too small")
    return used


def nonfinite_rows(const float[:, ::1] rows):
    """(how many rows hold a nan or an infinity, the first such row or -1)."""
    cdef Py_ssize_t i, j, count = 0, first = -1, dim = rows.shape[1]
    cdef const float* x
    cdef uint32_t odd, bits
    if rows.shape[0] == 0 or dim == 0:
        return 0, -1
    with nogil:
        for i in range(rows.shape[0]):
            x = &rows[i, 0]
            odd = 0
            for j in range(dim):
                memcpy(&bits, x + j, 4)
                odd |= (bits & 0x7F800000) == 0x7F800000
            if odd:
                if first < 0:
                    first = i
                count += 1
    return count, first
