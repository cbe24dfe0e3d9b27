"""Rows of vector files to float32: whole lines of text, and the rows of word2vec's binary format.

Text. A row is ``word SEP number SEP+ number ... [SEP | CR]* LF`` with SEP a space or a tab: the last ``dim`` fields are the
numbers, everything before the one separator in front of them is the word, which may therefore hold spaces. A number is
``[+-] digits [. digits] [e [+-] digits]``, ``nan``, ``inf`` or ``infinity``, and becomes what ``numpy.float32(float(text))``
gives, bit for bit:

* mantissa m < 2**53 and |e| <= 22: m and 10**|e| are exact doubles, so one operation rounds correctly (Clinger 1990);
* else a double v with relative error below 2**-50; where v(1 - 2**-50) and v(1 + 2**-50) round to the same float, that is it;
* else the field is listed as undecided, and the caller asks Python. (Never ``strtod``: it follows the locale.)

Binary. A row is ``LF* word SPACE`` and ``dim`` little-endian floats; it is copied, not interpreted.

Shapes: ``block`` bytes, ``out`` (rows, dim) float32 and ``spans`` (rows, 2) int64 offsets of each word (first byte, one past
the last) are filled in place. Nothing is allocated; every door checks its sizes.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

DONE, FULL, BAD_ROW, UNDECIDED_FULL = range(4)

cdef enum:
    _DONE = 0
    _FULL = 1
    _BAD_ROW = 2
    _UNDECIDED_FULL = 3
    NUMBER = 0
    UNDECIDED = 1
    NOT_A_NUMBER = 2
    MAX_POWER = 308

cdef double[309] POWERS
for _k in range(MAX_POWER + 1):
    POWERS[_k] = float(f"1e{_k}")  # Python's float() rounds correctly; products of tens would not


cdef inline bint is_separator(uint8_t c) noexcept nogil:
    return c == 32 or c == 9


cdef inline bint ends_field(uint8_t c) noexcept nogil:
    return c == 32 or c == 9 or c == 10 or c == 13


cdef inline bint eight_digits(const uint8_t* p, uint64_t* value) noexcept nogil:
    """Eight ASCII digits at once, by arithmetic on the bytes of one word (little-endian; Lemire 2018)."""
    cdef uint64_t v
    memcpy(&v, p, 8)
    if ((v & <uint64_t>0xF0F0F0F0F0F0F0F0) != <uint64_t>0x3030303030303030
            or ((v + <uint64_t>0x0606060606060606) & <uint64_t>0xF0F0F0F0F0F0F0F0) != <uint64_t>0x3030303030303030):
        return False
    v = (v & <uint64_t>0x0F0F0F0F0F0F0F0F) * 2561 >> 8
    v = (v & <uint64_t>0x00FF00FF00FF00FF) * 6553601 >> 16
    value[0] = (v & <uint64_t>0x0000FFFF0000FFFF) * <uint64_t>42949672960001 >> 32
    return True


cdef inline bint spells(const uint8_t* p, const char* lower, Py_ssize_t size) noexcept nogil:
    """Whether ``size`` letters at p are these, in any case; stops at the first that differs."""
    cdef Py_ssize_t i
    for i in range(size):
        if (p[i] | 0x20) != <uint8_t>lower[i]:
            return False
    return True


cdef const uint8_t* name_of_value(const uint8_t* p, bint negative, float* out, int* kind) noexcept nogil:
    """``nan``, ``inf`` or ``infinity`` at p."""
    cdef const uint8_t* end = NULL
    if spells(p, b"nan", 3):
        out[0] = NAN
        end = p + 3
    elif spells(p, b"inf", 3):
        out[0] = -INFINITY if negative else INFINITY
        end = p + 8 if spells(p + 3, b"inity", 5) else p + 3
    kind[0] = NUMBER if end != NULL and ends_field(end[0]) else NOT_A_NUMBER
    return p if end == NULL else end


cdef uint64_t first_digits(const uint8_t* p, Py_ssize_t digits, int64_t* exponent) noexcept nogil:
    """The first 19 significant digits of a long mantissa; the exponent grows by the digits of the rest.

    (What is cut off is below 1e-18 of the value, far inside the interval that ``rounded`` allows for.)
    """
    cdef uint64_t m = 0
    cdef Py_ssize_t used = 0
    while digits > 0:
        if p[0] != 46:
            if used < 19:
                m = m * 10 + (p[0] - 48)
                used += m != 0
            else:
                exponent[0] += 1
            digits -= 1
        p += 1
    return m


cdef inline int rounded(uint64_t m, int64_t e, bint negative, float* out) noexcept nogil:
    """m * 10**e as float32 where one double operation cannot be trusted to be exact."""
    cdef double v, low, high
    if m == 0 or e < -MAX_POWER:  # below 2e-290: zero in float32
        v = 0.0
    elif e > MAX_POWER:
        v = INFINITY
    elif e < 0:
        v = <double>m / POWERS[-e]
    else:
        v = <double>m * POWERS[e]
    if negative:
        v = -v
    low = v * (1.0 - 8.8817841970012523e-16)
    high = v * (1.0 + 8.8817841970012523e-16)
    out[0] = <float>low
    return NUMBER if <float>low == <float>high else UNDECIDED


cdef inline const uint8_t* parse_number(
    const uint8_t* p, const uint8_t* limit, float* out, int* kind
) noexcept nogil:
    """One field at p, which a line feed before ``limit`` ends at the latest. Returns where the number ends."""
    cdef bint negative = p[0] == 45
    cdef bint minus
    cdef const uint8_t* start
    cdef const uint8_t* mark
    cdef uint64_t m = 0, part
    cdef int64_t e = 0, power = 0
    cdef Py_ssize_t digits
    cdef double v
    if negative or p[0] == 43:
        p += 1
    start = p
    while <uint8_t>(p[0] - 48) < 10:
        m = m * 10 + (p[0] - 48)
        p += 1
    digits = p - start
    if p[0] == 46:
        p += 1
        mark = p
        while limit - p >= 8 and eight_digits(p, &part):
            m = m * 100000000 + part
            p += 8
        while <uint8_t>(p[0] - 48) < 10:
            m = m * 10 + (p[0] - 48)
            p += 1
        e = mark - p
        digits -= e
    if digits == 0:
        return name_of_value(start, negative, out, kind)
    if digits > 19:
        m = first_digits(start, digits, &e)
    if (p[0] | 0x20) == 101:
        p += 1
        minus = p[0] == 45
        if minus or p[0] == 43:
            p += 1
        mark = p
        while <uint8_t>(p[0] - 48) < 10:
            if power < 100000000:
                power = power * 10 + (p[0] - 48)
            p += 1
        if p == mark:
            kind[0] = NOT_A_NUMBER
            return p
        e += -power if minus else power
    if not ends_field(p[0]):
        kind[0] = NOT_A_NUMBER
        return p
    if m < <uint64_t>9007199254740992 and -22 <= e <= 22:
        v = <double>m / POWERS[-e] if e < 0 else <double>m * POWERS[e]
        out[0] = <float>(-v if negative else v)
        kind[0] = NUMBER
    elif power >= 100000000:
        kind[0] = UNDECIDED
    else:
        kind[0] = rounded(m, e, negative, out)
    return p


cdef Py_ssize_t numbers_from(
    const uint8_t* block, Py_ssize_t at, Py_ssize_t size, Py_ssize_t row, float* out, Py_ssize_t dim,
    int64_t[:, ::1] undecided, Py_ssize_t* n_undecided
) noexcept nogil:
    """``dim`` numbers and the end of the line. Returns the offset of the next line, or -1 if that is not what is there."""
    cdef const uint8_t* p = block + at
    cdef const uint8_t* limit = block + size
    cdef const uint8_t* start
    cdef Py_ssize_t j
    cdef int kind
    for j in range(dim):
        start = p
        p = parse_number(p, limit, out + j, &kind)
        if kind != NUMBER:
            if kind == NOT_A_NUMBER:
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
