"""Whether bytes are UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF), without decoding them.

``first_fault`` returns the first byte of the first sequence that is not, as UnicodeDecodeError.start does, or -1. Runs
of ASCII go by 32 bytes at a time, so that text costs little more than reading it.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

cdef enum:
    ASCII_STEP = 32


cdef inline bint is_ascii(const unsigned char* text) noexcept nogil:
    """No top bit in the next ASCII_STEP bytes."""
    cdef uint64_t words[4]
    memcpy(words, text, ASCII_STEP)
    return ((words[0] | words[1] | words[2] | words[3]) & <uint64_t>0x8080808080808080) == 0


cdef inline bint follows(const unsigned char* text, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Continuation bytes from first to end."""
    for i in range(first, end):
        if text[i] & 0xC0 != 0x80:
            return False
    return True


cdef inline Py_ssize_t sequence(const unsigned char* text, Py_ssize_t room) noexcept nogil:
    """Length of the sequence of two to four bytes that begins here; 0 if there is none in the room."""
    cdef unsigned char lead = text[0], second
    cdef Py_ssize_t length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or room < length or not follows(text, 1, length):
        return 0
    second = text[1]
    if (lead == 0xE0 and second < 0xA0) or (lead == 0xED and second > 0x9F):
        return 0
    if (lead == 0xF0 and second < 0x90) or (lead == 0xF4 and second > 0x8F):
        return 0
    return length


cdef Py_ssize_t find_fault(const unsigned char* text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t at = 0, length
    while at < size:
        if at + ASCII_STEP <= size and is_ascii(text + at):
            at += ASCII_STEP
        elif text[at] < 0x80:
            at += 1
        else:
            length = sequence(text + at, size - at)
            if length == 0:
                return at
            at += length
    return -1


def first_fault(const unsigned char[::1] block):
    """Offset of the first sequence that is not UTF-8, or -1."""
    cdef Py_ssize_t fault = -1
    if block.shape[0]:
        with nogil:
            fault = find_fault(&block[0], block.shape[0])
    return fault
