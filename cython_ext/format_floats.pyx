"""Rows of float32 to bytes: shortest decimal text of vectors and of svmlight features, and word2vec's binary rows.

Text. A number becomes the shortest decimal that ``parse_floats`` reads back as the same float32, laid out as Python's ``repr``
does: positional for 1e-4 <= |x| < 1e16 (``0.1``, ``2.0``), else scientific (``1e-05``), always with a point, never by locale.
With x = m * 10**(e - n + 1) and m of n digits:

* float32 keeps any six digits, so if six digits read back as x, the shortest form is they without their trailing zeros;
* else seven, eight or nine digits are the shortest that does, and nine always suffice (Steele and White 1990).

Reading back is the reader's own exact operation (m and the power of ten are exact doubles), hence the limit to powers up to
10**22; a row with a number beyond it is left to the caller. Features (``index:value``) leave out a final ``.0``.

Binary. ``word SPACE``, the floats as they lie in memory, ``LF``.

Shapes: ``rows`` (n, dim) float32, or sparse rows as in ``csr_array``; ``words`` or ``heads`` what each of the n rows begins
with, a line feed after each; ``out`` bytes, filled in place.
"""

from libc.math cimport fabs, frexp, isinf, isnan, signbit
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

cdef enum:
    MAX_EXACT = 22
    NUMBER_BYTES = 21  # the longest: a sign, sixteen digits, ".0" or an exponent, and the space
    FEATURE_BYTES = 32  # ten digits of an index and the colon before it

LONGEST_NUMBER, LONGEST_FEATURE = NUMBER_BYTES, FEATURE_BYTES

cdef double[MAX_EXACT + 1] POWERS
for _k in range(MAX_EXACT + 1):
    POWERS[_k] = float(f"1e{_k}")


cdef inline double scaled(double v, int k) noexcept nogil:
    """v * 10**k for |k| <= 22, one rounding."""
    return v / POWERS[-k] if k < 0 else v * POWERS[k]


cdef inline bint reads_back(double v, uint64_t m, int k) noexcept nogil:
    return <float>scaled(<double>m, -k) == <float>v


cdef inline bint try_digits(double v, int n, int e, uint64_t* m) noexcept nogil:
    """The n-digit number nearest to v, and whether it reads back as v.

    (The neighbours of a power of two are not equally far, so a farther number might read back where the nearest does
    not; for float32 in the range written here that never happens: the tests try all of them.)
    """
    cdef int k = n - 1 - e
    m[0] = <uint64_t>(scaled(v, k) + 0.5)
    return reads_back(v, m[0], k)


cdef inline int decimal_exponent(double v) noexcept nogil:
    """e with 10**e <= v < 10**(e + 1), for 1e-21 < v < 1e22."""
    cdef int two, e
    frexp(v, &two)
    e = ((two - 1) * 1233) >> 12  # log10(2) = 0.30103, 1233 / 4096 = 0.30102
    if (v >= POWERS[e + 1]) if e + 1 >= 0 else (v * POWERS[-(e + 1)] >= 1.0):
        e += 1
    elif (v < POWERS[e]) if e >= 0 else (v * POWERS[-e] < 1.0):
        e -= 1
    return e


cdef inline Py_ssize_t literal(uint8_t* out, const char* text, Py_ssize_t size) noexcept nogil:
    memcpy(out, text, size)
    return size


cdef Py_ssize_t lay_out(uint8_t* out, uint64_t m, int n, int e) noexcept nogil:
    """Digits of m (n of them) with the point after the first and exponent e, as ``repr`` writes it."""
    cdef uint8_t[20] digits
    cdef Py_ssize_t used = 0
    cdef int i, power
    for i in range(n - 1, -1, -1):
        digits[i] = <uint8_t>(48 + m % 10)
        m //= 10
    if e < -4 or e >= 16:
        out[0] = digits[0]
        used = 1
        if n > 1:
            out[1] = 46
            memcpy(out + 2, &digits[1], n - 1)
            used = n + 1
        out[used] = 101
        out[used + 1] = 45 if e < 0 else 43
        power = -e if e < 0 else e
        out[used + 2] = <uint8_t>(48 + power // 10)
        out[used + 3] = <uint8_t>(48 + power % 10)
        return used + 4
    if e < 0:
        out[0] = 48
        out[1] = 46
        for i in range(-1 - e):
            out[2 + i] = 48
        used = 1 - e
        memcpy(out + used, digits, n)
        return used + n
    for i in range(e + 1):
        out[i] = digits[i] if i < n else 48
    used = e + 1
    out[used] = 46
    if n <= e + 1:
        out[used + 1] = 48
        return used + 2
    memcpy(out + used + 1, &digits[e + 1], n - e - 1)
    return n + 1


cdef Py_ssize_t write_number(uint8_t* out, float x) noexcept nogil:
    """Text of x at ``out``, at most 20 bytes. Returns its length, or -1 if x is outside the exact range."""
    cdef double v = fabs(<double>x)
    cdef uint64_t m = 0
    cdef int e, n = 6
    cdef Py_ssize_t sign = 0
    if isnan(x):
        return literal(out, b"nan", 3)
    if signbit(x):
        out[0] = 45
        sign = 1
    if isinf(x):
        return sign + literal(out + sign, b"inf", 3)
    if v == 0:
        return sign + literal(out + sign, b"0.0", 3)
    if not 1e-13 < v < 1e21:
        return -1
    e = decimal_exponent(v)
    if not try_digits(v, 6, e, &m):
        if try_digits(v, 8, e, &m):
            n = 7 if try_digits(v, 7, e, &m) else 8
        else:
            n = 9
        try_digits(v, n, e, &m)
    if m >= <uint64_t>POWERS[n]:  # 9.9999996 rounded up to 10.0000
        e += 1
        n += 1
    while n > 1 and m % 10 == 0:
        m //= 10
        n -= 1
    return sign + lay_out(out + sign, m, n, e)


def format_rows(const float[:, ::1] rows, Py_ssize_t first, const uint8_t[::1] words, Py_ssize_t at, uint8_t[::1] out):
    """Write text rows ``word number ... number LF`` from row ``first`` on, its word at ``words[at]``.

    Returns (row, at, used): the first row not written with its word's place, and the bytes of ``out`` filled. It stops at the
    end, when ``out`` may be too small for the next row, and before a row with a number outside 1e-13 ... 1e21 (not 0, nan, inf).
    """
    cdef Py_ssize_t n = rows.shape[0], dim = rows.shape[1], row = first, used = 0, start, size, j, length
    cdef const uint8_t* feed
    if first < 0 or first > n or at < 0 or at > words.shape[0] or dim < 1:
        raise ValueError("first or at is out of range, or there are no columns")
    with nogil:
        while row < n and at < words.shape[0]:
            feed = <const uint8_t*>memchr(&words[at], 10, words.shape[0] - at)
            if feed == NULL:
                break
            size = feed - &words[at]
            if out.shape[0] - used < size + dim * NUMBER_BYTES + 1:
                break
            start = used
            memcpy(&out[used], &words[at], size)
            used += size
            length = 0
            for j in range(dim):
                out[used] = 32
                length = write_number(&out[used + 1], rows[row, j])
                if length < 0:
                    break
                used += length + 1
            if length < 0:
                used = start
                break
            out[used] = 10
            used += 1
            at += size + 1
            row += 1
    return row, at, used


cdef Py_ssize_t write_feature(uint8_t* out, uint64_t index, float x) noexcept nogil:
    """`` index:value`` at ``out``. Returns its length, or -1 if x is outside the exact range."""
    cdef uint8_t[20] digits
    cdef int i = 20
    cdef Py_ssize_t used, length
    out[0] = 32
    while i == 20 or index:
        i -= 1
        digits[i] = <uint8_t>(48 + index % 10)
        index //= 10
    used = 21 - i
    memcpy(out + 1, &digits[i], 20 - i)
    out[used] = 58
    length = write_number(out + used + 1, x)
    if length < 0:
        return -1
    used += 1 + length
    return used - 2 if length > 2 and out[used - 1] == 48 and out[used - 2] == 46 else used


def format_features(
    const float[::1] values, const int32_t[::1] indices, const int64_t[::1] indptr, int base, Py_ssize_t first,
    const uint8_t[::1] heads, Py_ssize_t at, uint8_t[::1] out
):
    """Write lines ``head index:value ... LF``, indices from ``base`` on; result and stops as for :func:`format_rows`."""
    cdef Py_ssize_t n = indptr.shape[0] - 1, row = first, used = 0, start, size, j, length
    cdef const uint8_t* feed
    if first < 0 or first > n or at < 0 or at > heads.shape[0] or base not in (0, 1):
        raise ValueError("first or at is out of range, or base is neither 0 nor 1")
    for j in range(n):
        if indptr[j] > indptr[j + 1]:
            raise ValueError("indptr does not ascend")
    if indptr[0] < 0 or indptr[n] > min(values.shape[0], indices.shape[0]):
        raise ValueError("indptr points outside of the values")
    with nogil:
        while row < n and at < heads.shape[0]:
            feed = <const uint8_t*>memchr(&heads[at], 10, heads.shape[0] - at)
            if feed == NULL:
                break
            size = feed - &heads[at]
            if out.shape[0] - used < size + (indptr[row + 1] - indptr[row]) * FEATURE_BYTES + 1:
                break
            start = used
            memcpy(&out[used], &heads[at], size)
            used += size
            length = 0
            for j in range(indptr[row], indptr[row + 1]):
                length = write_feature(&out[used], <uint64_t><uint32_t>indices[j] + base, values[j])
                if length < 0:
                    break
                used += length
            if length < 0:
                used = start
                break
            out[used] = 10
            used += 1
            at += size + 1
            row += 1
    return row, at, used


def join_rows(const float[:, ::1] rows, const uint8_t[::1] words, uint8_t[::1] out):
    """Write binary rows ``word SPACE floats LF``; ``out`` holds words + rows * (4 * dim + 1) bytes. Returns the bytes written."""
    cdef Py_ssize_t n = rows.shape[0], width = 4 * rows.shape[1], row, at = 0, used = 0, size
    cdef const uint8_t* feed
    if width < 4 or out.shape[0] < words.shape[0] + n * (width + 1):
        raise ValueError("out is too small, or there are no columns")
    with nogil:
        for row in range(n):
            feed = <const uint8_t*>memchr(&words[at], 10, words.shape[0] - at) if at < words.shape[0] else NULL
            if feed == NULL:
                used = -1
                break
            size = feed - &words[at]
            memcpy(&out[used], &words[at], size)
            out[used + size] = 32
            memcpy(&out[used + size + 1], &rows[row, 0], width)
            used += size + 2 + width
            out[used - 1] = 10
            at += size + 1
    if used < 0:
        raise ValueError("fewer words than rows")
    return used
