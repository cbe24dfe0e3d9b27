"""Decimal text to float32, one number at a time: numpy.float32(float(text)), or the word that it is unsure.

A number is ``[+-] digits [. digits] [e [+-] digits]`` with a digit before the exponent. With its digits as
mantissa m and a power of ten e:

* m < 2**53 and |e| <= 22: m and 10**|e| are exact doubles, so one operation rounds correctly (Clinger 1990);
* else m * 10**e in double has a relative error below 2**-50; where v(1 - 2**-50) and v(1 + 2**-50) round to
  the same float, that is the number;
* else UNSURE, and the caller asks Python's float(). (Never ``strtod``: it follows the locale.)
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    /* Literals, so that the compiler rounds each correctly. */
    static const double wordkit_powers[71] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33,
        1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48, 1e49,
        1e50, 1e51, 1e52, 1e53, 1e54, 1e55, 1e56, 1e57, 1e58, 1e59, 1e60, 1e61, 1e62, 1e63, 1e64, 1e65,
        1e66, 1e67, 1e68, 1e69, 1e70
    };
    """
    const double[71] wordkit_powers

cdef enum DecimalStatus:
    NUMBER = 0
    UNSURE = 1
    NOT_A_NUMBER = 2


cdef inline bint eight_digits(const uint8_t* p, uint64_t* value) noexcept nogil:
    """Eight ASCII digits at once, by arithmetic on the bytes of one word (little-endian; Lemire 2018)."""
    cdef uint64_t v
    memcpy(&v, p, 8)
    if (v & <uint64_t>0xF0F0F0F0F0F0F0F0) != <uint64_t>0x3030303030303030:
        return False
    if ((v + <uint64_t>0x0606060606060606) & <uint64_t>0xF0F0F0F0F0F0F0F0) != <uint64_t>0x3030303030303030:
        return False
    v = (v & <uint64_t>0x0F0F0F0F0F0F0F0F) * 2561 >> 8
    v = (v & <uint64_t>0x00FF00FF00FF00FF) * 6553601 >> 16
    value[0] = (v & <uint64_t>0x0000FFFF0000FFFF) * <uint64_t>42949672960001 >> 32
    return True


cdef inline uint64_t leading_digits(const uint8_t* p, Py_ssize_t digits, int64_t* exponent) noexcept nogil:
    """The first 19 significant digits of a long mantissa; the exponent grows by the digits left out.

    Where any is left out the result is at least 10**18, so it is never taken for an exact one.
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


cdef inline int nearly(uint64_t m, int64_t e, float* out) noexcept nogil:
    """m * 10**e where one double operation may not be exact; if UNSURE, ``out`` is the float below."""
    cdef double v, high
    if m == 0 or e < -70:  # m < 2**64: below 2e-51, which is zero in float32
        v = 0.0
    elif e > 70:
        v = INFINITY
    elif e < 0:
        v = <double>m / wordkit_powers[-e]
    else:
        v = <double>m * wordkit_powers[e]
    high = v * (1.0 + 8.8817841970012523e-16)
    out[0] = <float>(v * (1.0 - 8.8817841970012523e-16))
    return NUMBER if out[0] == <float>high else UNSURE


cdef inline const uint8_t* decimal_float32(
    const uint8_t* p, const uint8_t* limit, float* out, int* status
) noexcept nogil:
    """The number at p, which a byte before ``limit`` ends at the latest. Returns the first byte after it."""
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
        status[0] = NOT_A_NUMBER
        return p
    if digits > 19:  # m may have overflowed
        m = leading_digits(start, digits, &e)
    if (p[0] | 0x20) == 101:
        p += 1
        minus = p[0] == 45
        if minus or p[0] == 43:
            p += 1
        mark = p
        while <uint8_t>(p[0] - 48) < 10:
            if power < <int64_t>100000000000000000:
                power = power * 10 + (p[0] - 48)
            p += 1
        if p == mark:
            status[0] = NOT_A_NUMBER
            return p
        e += -power if minus else power
    if m < <uint64_t>9007199254740992 and -22 <= e <= 22:
        v = <double>m / wordkit_powers[-e] if e < 0 else <double>m * wordkit_powers[e]
        out[0] = <float>(-v if negative else v)
        status[0] = NUMBER
        return p
    status[0] = nearly(m, e, out)
    if negative:
        out[0] = -out[0]
    return p
