"""Text to ids: splits UTF-8 text into tokens and gives every distinct token (type) the next free number.

Tokens are the maximal runs without space, tab and line end; a line ends at LF, at CR LF, or at the end of the text.
The type table is a hash table with open addressing and linear probing over four arrays that the caller owns:

    slots    int32, a power of two of them: id of the type stored there, -1 for a free slot
    hashes   uint32 by id: upper half of the type's hash, compared before the bytes
    offsets  int64 by id, one more than ids: where the type's bytes begin in ``arena``; offsets[n] is their end
    arena    uint8: the types' bytes, one after the other

Doors stop, and say where, when one of these is full; the caller enlarges it and calls again. All arrays are written in
place. Hash: multiply and fold over eight-byte words, which is fast on the short strings that tokens are.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef enum:
    C_DONE = 0
    C_TABLE_FULL = 1

DONE, TABLE_FULL = C_DONE, C_TABLE_FULL

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SIZEOF_INT128__)
    static inline uint64_t wk_fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    #else
    static inline uint64_t wk_fold(uint64_t a, uint64_t b) {
        a ^= a >> 32; a *= b; a ^= a >> 29;
        return a;
    }
    #endif
    """
    uint64_t wk_fold(uint64_t a, uint64_t b) noexcept nogil


cdef inline uint64_t hash_bytes(const uint8_t* text, Py_ssize_t size) noexcept nogil:
    cdef uint64_t h = <uint64_t>size * 0x9E3779B97F4A7C15u
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, text, 8)
        h = wk_fold(h ^ word, 0xD6E8FEB86659FD93u)
        text += 8
        size -= 8
    word = 0
    while size > 0:
        size -= 1
        word = (word << 8) | text[size]
    h = wk_fold(h ^ word, 0xD6E8FEB86659FD93u)
    return h ^ (h >> 32)


cdef inline int32_t find_or_add(
    const uint8_t* text, Py_ssize_t size, int32_t* slots, uint64_t mask, uint32_t* hashes, int64_t* offsets,
    uint8_t* arena, int64_t room, Py_ssize_t max_types, Py_ssize_t* n_types, bint grow,
) noexcept nogil:
    """Id of a type; a new one is added when ``grow``. -1: unknown; -2: no room for it."""
    cdef uint64_t h = hash_bytes(text, size)
    cdef uint32_t tag = <uint32_t>(h >> 32)
    cdef uint64_t slot = h & mask
    cdef int32_t found
    while True:
        found = slots[slot]
        if found < 0:
            break
        if hashes[found] == tag and offsets[found + 1] - offsets[found] == size and (
            memcmp(arena + offsets[found], text, size) == 0
        ):
            return found
        slot = (slot + 1) & mask
    if not grow:
        return -1
    found = <int32_t>n_types[0]
    if found >= max_types or offsets[found] + size > room:
        return -2
    memcpy(arena + offsets[found], text, size)
    offsets[found + 1] = offsets[found] + size
    hashes[found] = tag
    slots[slot] = found
    n_types[0] = found + 1
    return found


cdef inline Py_ssize_t token_end(const uint8_t* text, Py_ssize_t at, Py_ssize_t end) noexcept nogil:
    """First position from ``at`` that is a separator: space, tab, LF, or a CR that ends the line."""
    cdef uint8_t c
    while at < end:
        c = text[at]
        if c <= 32:
            if c == 32 or c == 10 or c == 9:
                break
            if c == 13 and (at + 1 == end or text[at + 1] == 10):
                break
        at += 1
    return at


def tokenize(
    const uint8_t[::1] text, Py_ssize_t start, int32_t[::1] slots, uint32_t[::1] hashes, int64_t[::1] offsets,
    uint8_t[::1] arena, Py_ssize_t n_types, int32_t[::1] ids, Py_ssize_t n_ids, int64_t[::1] line_ends,
    Py_ssize_t n_lines, bint grow=True,
):
    """Tokenize ``text[start:]``, whole lines, appending to ``ids`` and ``line_ends``.

    Args:
        ids: at least ``n_ids + (len(text) - start + 1) // 2`` long: type ids of the tokens, -1 for unknown ones
            (only without ``grow``).
        line_ends: room for every line: number of ids up to the end of each line.

    Returns:
        (status, position, n_types, n_ids, n_lines). TABLE_FULL: enlarge the table and go on at position; the line that was
        begun goes on as well.
    """
    cdef Py_ssize_t size = text.shape[0], at = start, end
    cdef Py_ssize_t max_types = min(hashes.shape[0], offsets.shape[0] - 1, slots.shape[0] // 2)
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef int32_t found
    cdef int status = C_DONE
    cdef Py_ssize_t types = n_types
    if size <= start:
        return DONE, size, n_types, n_ids, n_lines
    if slots.shape[0] & (slots.shape[0] - 1) or types > max_types or start < 0:
        raise ValueError("slots must be a power of two, and hold the types at most half full")
    if ids.shape[0] < n_ids + (size - start + 1) // 2:
        raise ValueError("ids has no room for the tokens of this text")
    cdef const uint8_t* c = &text[0]
    cdef Py_ssize_t max_lines = line_ends.shape[0]
    with nogil:
        while at < size:
            if c[at] == 32 or c[at] == 9:
                at += 1
            elif c[at] == 10 or (c[at] == 13 and (at + 1 == size or c[at + 1] == 10)):
                if n_lines >= max_lines:
                    break
                at += 1 if c[at] == 10 else 2
                line_ends[n_lines] = n_ids
                n_lines += 1
            else:
                end = token_end(c, at, size)
                found = find_or_add(
                    c + at, end - at, &slots[0], mask, &hashes[0], &offsets[0], &arena[0], arena.shape[0], max_types, &types,
                    grow,
                )
                if found == -2:
                    status = C_TABLE_FULL
                    break
                ids[n_ids] = found
                n_ids += 1
                at = end
        if at >= size and c[size - 1] != 10 and c[size - 1] != 13 and n_lines < max_lines:
            line_ends[n_lines] = n_ids
            n_lines += 1
    if status == C_DONE and at < size:
        raise ValueError("line_ends has no room for the lines of this text")
    return status, min(at, size), types, n_ids, n_lines


def encode_spans(
    const uint8_t[::1] text, const int32_t[::1] starts, const int32_t[::1] ends, Py_ssize_t first, int32_t[::1] slots,
    uint32_t[::1] hashes, int64_t[::1] offsets, uint8_t[::1] arena, Py_ssize_t n_types, int32_t[::1] ids, bint grow=True,
):
    """Ids of the byte strings ``text[starts[i]:ends[i]]`` for i from ``first`` on, written to ``ids[i]``.

    Returns:
        (status, next i, n_types), as :func:`tokenize`.
    """
    cdef Py_ssize_t n = starts.shape[0], i = first, size = text.shape[0]
    cdef Py_ssize_t max_types = min(hashes.shape[0], offsets.shape[0] - 1, slots.shape[0] // 2)
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef int status = C_DONE
    cdef bint outside = False
    cdef Py_ssize_t types = n_types
    if ends.shape[0] != n or ids.shape[0] < n or first < 0:
        raise ValueError("starts, ends and ids must have the same length")
    if slots.shape[0] & (slots.shape[0] - 1) or types > max_types:
        raise ValueError("slots must be a power of two, and hold the types at most half full")
    with nogil:
        while i < n:
            if starts[i] < 0 or ends[i] < starts[i] or ends[i] > size:
                outside = True
                break
            ids[i] = find_or_add(
                &text[0] + starts[i], ends[i] - starts[i], &slots[0], mask, &hashes[0], &offsets[0], &arena[0],
                arena.shape[0], max_types, &types, grow,
            )
            if ids[i] == -2:
                status = C_TABLE_FULL
                break
            i += 1
    if outside:
        raise ValueError("a span lies outside the text")
    return status, i, types


def rebuild_slots(int32_t[::1] slots, const int64_t[::1] offsets, const uint8_t[::1] arena, Py_ssize_t n_types):
    """Fill ``slots`` (a power of two, more than n_types) anew with the ids of all types."""
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1, slot
    cdef Py_ssize_t i
    if slots.shape[0] & (slots.shape[0] - 1) or slots.shape[0] <= n_types or offsets.shape[0] <= n_types:
        raise ValueError("slots must be a power of two greater than the number of types")
    if offsets[n_types] > arena.shape[0]:
        raise ValueError("offsets point outside the arena")
    with nogil:
        for i in range(slots.shape[0]):
            slots[i] = -1
        for i in range(n_types):
            slot = hash_bytes(&arena[0] + offsets[i], offsets[i + 1] - offsets[i]) & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = <int32_t>i


def distinct_in_rows(
    const int32_t[::1] ids, const int64_t[::1] row_ends, int64_t[::1] seen, int32_t[::1] out, int64_t[::1] out_ends,
):
    """0-1 bag of words: the distinct non-negative ids of each row, in order of first occurrence.

    Args:
        ids, row_ends: ragged rows; row i is ``ids[row_ends[i - 1]:row_ends[i]]``.
        seen: one cell an id, all below the first row's mark (-1), scratch.
        out, out_ends: the rows without repeats and without negative ids; ``out`` as long as ``ids``.

    Returns:
        Number of ids written.
    """
    cdef Py_ssize_t i, j, n = row_ends.shape[0], start = 0, written = 0
    cdef int32_t word, bound = <int32_t>seen.shape[0]
    cdef bint outside = False
    if out.shape[0] < ids.shape[0] or out_ends.shape[0] < n or (n and row_ends[n - 1] > ids.shape[0]):
        raise ValueError("output rows have no room")
    with nogil:
        for i in range(n):
            for j in range(start, row_ends[i]):
                word = ids[j]
                if word < 0:
                    continue
                if word >= bound:
                    outside = True
                    break
                if seen[word] != i:
                    seen[word] = i
                    out[written] = word
                    written += 1
            start = row_ends[i]
            out_ends[i] = written
    if outside:
        raise ValueError("an id lies outside the scratch")
    return written
