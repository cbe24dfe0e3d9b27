"""Counts of words that stand near each other, row by row: cell (i, j) tells how often j stands in the window of an i.

    n[i, j] = sum over the places p of i, and over distances d, of before[d] [s[p - d] = j] + after[d] [s[p + d] = j]

``before`` and ``after`` hold a whole number for each distance 1, 2, ..., so that sums are exact in any order: 1 for plain counts, a
common multiple of the distances divided by d for harmonic weights.

A stream (n) int32 holds the words of a text by number, 0 to V - 1; V stands for a word that is left out, which keeps its place; any
other number (-1) is the end of a sentence, which no window crosses. Its first and last element are such ends.

A row is counted at once, from the list of its word's places (``list_places``, a counting sort), in V sums that stay in the cache; no
hash table and no list of pairs is made. Which sums have been touched is kept in one bit each, and which 4,096 bits have been touched
in one byte: so the cells of a row come out in order, and only what was touched is looked at and cleared.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "bits.h":
    int lowest_bit(uint64_t word) noexcept nogil
    void soon(const void* address) noexcept nogil

cdef enum:
    AHEAD = 12  # places whose surroundings are fetched before they are needed

ctypedef fused Value:
    int32_t
    int64_t


cdef inline void add(Value* sums, uint64_t* bits, uint8_t* parts, uint32_t column, Value value) noexcept nogil:
    sums[column] += value
    bits[column >> 6] |= <uint64_t>1 << (column & 63)
    parts[column >> 12] = 1


cdef inline void add_window(
    const int32_t* at, const Value* before, Py_ssize_t n_before, const Value* after, Py_ssize_t n_after, uint32_t V, Value* sums,
    uint64_t* bits, uint8_t* parts,
) noexcept nogil:
    """Adds what stands around one place of a stream."""
    cdef Py_ssize_t d
    cdef uint32_t word
    for d in range(n_before):
        word = <uint32_t>at[-1 - d]
        if word > V:
            break
        add(sums, bits, parts, word, before[d])
    for d in range(n_after):
        word = <uint32_t>at[1 + d]
        if word > V:
            break
        add(sums, bits, parts, word, after[d])


cdef inline Py_ssize_t take_row(
    Value* sums, uint64_t* bits, uint8_t* parts, Py_ssize_t V, int32_t* columns, Value* values
) noexcept nogil:
    """Writes the touched cells of a row in order of their columns, column V left out; clears all that was touched."""
    cdef Py_ssize_t part, place, n = 0, n_bits = (V >> 6) + 1
    cdef Py_ssize_t column
    cdef uint64_t word
    sums[V] = 0
    bits[V >> 6] &= ~(<uint64_t>1 << (V & 63))
    for part in range((V >> 12) + 1):
        if not parts[part]:
            continue
        parts[part] = 0
        for place in range(part << 6, min((part + 1) << 6, n_bits)):
            word = bits[place]
            if not word:
                continue
            bits[place] = 0
            while word:
                column = (place << 6) + lowest_bit(word)
                word &= word - 1
                columns[n] = <int32_t>column
                values[n] = sums[column]
                sums[column] = 0
                n += 1
    return n


cdef Py_ssize_t room_for(const int64_t* starts, Py_ssize_t rows, Py_ssize_t limit, Py_ssize_t reach, Py_ssize_t V) noexcept nogil:
    """Most cells that some rows can have, or -1 where starts fall or pass the limit."""
    cdef Py_ssize_t i, room = 0, n
    for i in range(rows):
        n = starts[i + 1] - starts[i]
        if n < 0 or starts[i] < 0 or starts[i + 1] > limit:
            return -1
        room += min(n * reach, V)
    return room


cdef bint fit(Py_ssize_t V, Py_ssize_t sums, Py_ssize_t bits, Py_ssize_t parts) noexcept nogil:
    return V >= 1 and V < 2147483647 and sums == V + 1 and bits == (V >> 6) + 1 and parts == (V >> 12) + 1


def list_places(
    const int32_t[::1] stream, Py_ssize_t first, Py_ssize_t last, Py_ssize_t V, int64_t[::1] starts, int32_t[::1] places
):
    """Where each word stands in ``stream[first:last]``: word i at ``places[starts[i]:starts[i + 1]]``, in rising order.

    Args:
        starts: (V + 1), written. places: as long as there are words that are not left out, or longer, written.

    Returns:
        Number of places.
    """
    cdef Py_ssize_t i, total = 0, n
    cdef uint32_t word, size = <uint32_t>V
    if not 0 <= first <= last <= stream.shape[0] or V < 1 or V >= 2147483647 or starts.shape[0] != V + 1:
        raise ValueError("the part lies outside the stream, or starts are not V + 1")
    if stream.shape[0] > 2147483647:
        raise ValueError("the stream is longer than int32 can tell")
    with nogil:
        for i in range(V + 1):
            starts[i] = 0
        for i in range(first, last):
            word = <uint32_t>stream[i]
            if word < size:
                starts[word] += 1
        for i in range(V + 1):
            n = starts[i]
            starts[i] = total
            total += n
    if places.shape[0] < total:
        raise ValueError("places has no room for the words of the stream")
    with nogil:
        for i in range(first, last):
            word = <uint32_t>stream[i]
            if word < size:
                places[starts[word]] = <int32_t>i
                starts[word] += 1
        for i in range(V, 0, -1):  # each start has moved to the next one's
            starts[i] = starts[i - 1]
        starts[0] = 0
    return total


def count_rows(
    const int32_t[::1] stream, const int32_t[::1] places, const int64_t[::1] starts, const Value[::1] before,
    const Value[::1] after, Value[::1] sums, uint64_t[::1] bits, uint8_t[::1] parts, int32_t[::1] columns, Value[::1] values,
    int64_t[::1] lengths,
):
    """The cells of some rows.

    Args:
        places, starts: (n rows + 1) places of the rows' words.
        before, after: weights of the words 1, 2, ... places before and after; none for a side that is not counted.
        sums (V + 1), bits (V // 64 + 1), parts (V // 4096 + 1): scratch, zeros before and after.
        columns, values: room for min(places x distances, V) cells a row; the cells, row after row, columns rising.
        lengths: (n rows) cells of each row, written.

    Returns:
        Number of cells.
    """
    cdef Py_ssize_t V = sums.shape[0] - 1, rows = lengths.shape[0], n = stream.shape[0], i, j, end, found, written = 0
    cdef Py_ssize_t n_before = before.shape[0], n_after = after.shape[0], room
    cdef const int32_t* s
    cdef const Value* w_before = NULL
    cdef const Value* w_after = NULL
    cdef int32_t* c
    cdef Value* v
    cdef bint good = True
    if not fit(V, sums.shape[0], bits.shape[0], parts.shape[0]) or starts.shape[0] != rows + 1:
        raise ValueError("sums, bits and parts are not V + 1, V // 64 + 1 and V // 4096 + 1, or starts not one more than rows")
    if n < 2 or 0 <= stream[0] <= V or 0 <= stream[n - 1] <= V:
        raise ValueError("the stream does not begin and end with a sentence end")
    if not rows:
        return 0
    room = room_for(&starts[0], rows, places.shape[0], n_before + n_after, V)
    if room < 0 or columns.shape[0] < room or values.shape[0] < room:
        raise ValueError("starts fall or pass the places, or there is no room for the cells")
    if not room:
        lengths[:] = 0
        return 0
    if n_before:
        w_before = &before[0]
    if n_after:
        w_after = &after[0]
    s, c, v = &stream[0], &columns[0], &values[0]
    with nogil:
        for i in range(rows):
            end = starts[i + 1]
            for j in range(starts[i], end):
                if j + AHEAD < end:
                    soon(s + places[j + AHEAD])
                if not 0 < places[j] < n - 1:
                    good = False
                    break
                add_window(s + places[j], w_before, n_before, w_after, n_after, <uint32_t>V, &sums[0], &bits[0], &parts[0])
            found = take_row(&sums[0], &bits[0], &parts[0], V, c + written, v + written)
            lengths[i] = found
            written += found
    if not good:
        raise ValueError("a place lies outside the stream")
    return written


def sum_rows(
    const int32_t[::1] columns_in, const Value[::1] values_in, const int64_t[:, ::1] bounds, int64_t[::1] sums, uint64_t[::1] bits,
    uint8_t[::1] parts, int32_t[::1] columns, int64_t[::1] values, int64_t[::1] lengths,
):
    """Sums of rows that several tables have.

    Args:
        columns_in, values_in: cells of all tables. bounds: (tables, n rows + 1) where each table's rows begin there.
        The others as for :func:`count_rows`; columns and values need as much room as there are cells.
    """
    cdef Py_ssize_t V = sums.shape[0] - 1, rows = lengths.shape[0], n = columns_in.shape[0], i, t, j, found, written = 0
    cdef bint good = True
    cdef uint32_t column
    cdef int32_t* c
    cdef int64_t* v
    if not fit(V, sums.shape[0], bits.shape[0], parts.shape[0]) or bounds.shape[1] != rows + 1:
        raise ValueError("sums, bits and parts are not V + 1, V // 64 + 1 and V // 4096 + 1, or bounds not one more than rows")
    if values_in.shape[0] != n or columns.shape[0] < n or values.shape[0] < n:
        raise ValueError("columns and values differ in length, or there is no room for the cells")
    for t in range(bounds.shape[0]):
        for i in range(rows):
            good = good and 0 <= bounds[t, i] <= bounds[t, i + 1] <= n
        good = good and (t == 0 or bounds[t - 1, rows] <= bounds[t, 0])
    if not good:
        raise ValueError("bounds fall, or pass the cells")
    if not n or not rows:
        lengths[:] = 0
        return 0
    c, v = &columns[0], &values[0]
    with nogil:
        for i in range(rows):
            for t in range(bounds.shape[0]):
                for j in range(bounds[t, i], bounds[t, i + 1]):
                    column = <uint32_t>columns_in[j]
                    if column >= <uint32_t>V:
                        good = False
                        break
                    add[int64_t](&sums[0], &bits[0], &parts[0], column, values_in[j])
            found = take_row[int64_t](&sums[0], &bits[0], &parts[0], V, c + written, v + written)
            lengths[i] = found
            written += found
    if not good:
        raise ValueError("a column lies outside the table")
    return written
