"""Lines of svmlight (and n-best) files to compressed sparse rows.

A line is ``label [qid:N] index:value ... [# comment]``; fields are separated by spaces and tabs, a CR
counts as one of them. A blank line and a line that begins with ``#`` are no record. A first field that is
``digits:...`` or ``qid:...`` is no label: such a record has none. Values are finite decimals and become
float32 as numpy.float32(float(text)) does; an index is digits, at most 2**31 - 1, and is stored less
``base``. Indices of a line are put in order; none may come twice.

Shapes, with R >= records and F >= (bytes of the block) / 4 + 1, which no block can exceed: ``spans`` (R,
2) int64 offsets of each label, ``qids`` (R,) int64 (-1 for none), ``lines`` (R,) int64, ``indptr`` (R +
1,) int64, ``indices`` (F,) int32, ``values`` (F,) float32, ``undecided`` (F, 3) int64 with (place in
``values``, first byte, one past the last) of the values left to Python, ``scratch`` (F,) uint64. All are
filled in place, from where ``state`` says that they are filled.
"""

from libc.math cimport fabsf, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memchr, memcpy

from decimal cimport NOT_A_NUMBER, UNSURE, decimal_float32

DONE, FULL, NO_LABEL, BAD_FIELD, BAD_VALUE, NOT_FINITE, TOO_LARGE, BELOW_BASE, TWICE = range(9)
QID_MISSING, QID_UNEXPECTED = 9, 10
# Places in ``state``. QID is -1 before the first record, then 0 (no record has a qid) or 1 (each has).
AT, LINE, ROWS, FILLED, UNDECIDED, QID, FIELD, INDEX, STATE_SIZE = range(9)

cdef enum:
    _DONE = 0
    _FULL = 1
    _NO_LABEL = 2
    _BAD_FIELD = 3
    _BAD_VALUE = 4
    _NOT_FINITE = 5
    _TOO_LARGE = 6
    _BELOW_BASE = 7
    _TWICE = 8
    _QID_MISSING = 9
    _QID_UNEXPECTED = 10
    _BLANK = 11

cdef struct Record:
    const uint8_t* label
    const uint8_t* label_end
    const uint8_t* field  # the one at fault
    int64_t index  # the one that comes twice
    int64_t qid

cdef struct Features:
    int32_t* indices
    float* values
    int64_t* undecided
    uint64_t* scratch
    Py_ssize_t filled
    Py_ssize_t hard


cdef inline bint separates(uint8_t c) noexcept nogil:
    return c == 32 or c == 9 or c == 13


cdef inline bint ends_field(uint8_t c) noexcept nogil:
    return c == 32 or c == 10 or c == 9 or c == 13 or c == 35


cdef inline bint is_feature(const uint8_t* p) noexcept nogil:
    """Whether digits and a colon, or ``qid:``, stand at p."""
    cdef const uint8_t* start = p
    while <uint8_t>(p[0] - 48) < 10:
        p += 1
    if p > start:
        return p[0] == 58
    return p[0] == 113 and p[1] == 105 and p[2] == 100 and p[3] == 58


cdef inline const uint8_t* read_qid(const uint8_t* p, int64_t* qid) noexcept nogil:
    """``qid:N`` at p, if it is one: the first byte after it, else p itself."""
    cdef const uint8_t* start = p + 4
    cdef const uint8_t* q = start
    cdef int64_t n = 0
    if not (p[0] == 113 and p[1] == 105 and p[2] == 100 and p[3] == 58):
        return p
    while <uint8_t>(q[0] - 48) < 10 and q - start < 18:
        n = n * 10 + (q[0] - 48)
        q += 1
    if q == start or not ends_field(q[0]):
        return p
    qid[0] = n
    return q


cdef int ascending(const void* a, const void* b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t*>a)[0], y = (<const uint64_t*>b)[0]
    return (x > y) - (x < y)


cdef inline Py_ssize_t place_of(
    const int32_t* indices, Py_ssize_t low, Py_ssize_t high, int32_t index
) noexcept nogil:
    """Where ``index`` stands in the ascending part [low, high)."""
    cdef Py_ssize_t middle
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < index:
            low = middle + 1
        else:
            high = middle
    return low


cdef int64_t put_in_order(Features* f, Py_ssize_t start, Py_ssize_t hard_start) noexcept nogil:
    """Sort the features from ``start`` on by index. Returns one that comes twice, or -1."""
    cdef Py_ssize_t i, n = f.filled - start
    cdef uint32_t bits
    for i in range(hard_start, f.hard):  # remember these by index while places move
        f.undecided[3 * i] = f.indices[f.undecided[3 * i]]
    for i in range(n):
        memcpy(&bits, f.values + start + i, 4)
        f.scratch[i] = (<uint64_t>f.indices[start + i] << 32) | bits
    qsort(f.scratch, n, 8, &ascending)
    for i in range(n):
        bits = <uint32_t>f.scratch[i]
        memcpy(f.values + start + i, &bits, 4)
        f.indices[start + i] = <int32_t>(f.scratch[i] >> 32)
        if i and f.indices[start + i] == f.indices[start + i - 1]:
            return f.indices[start + i]
    for i in range(hard_start, f.hard):
        f.undecided[3 * i] = place_of(f.indices, start, f.filled, <int32_t>f.undecided[3 * i])
    return -1


cdef int read_features(
    const uint8_t* block, const uint8_t* p, const uint8_t* limit, int base, Record* record, Features* f
) noexcept nogil:
    """The fields from p to the end of its line; the qid among them only as the first."""
    cdef const uint8_t* start
    cdef Py_ssize_t first = f.filled, hard_first = f.hard
    cdef int64_t index, previous = -1
    cdef int status
    cdef bint ordered = True, at_first = True
    while True:
        while separates(p[0]):
            p += 1
        if p[0] == 10 or p[0] == 35:
            break
        record.field = p
        if at_first:
            at_first = False
            start = read_qid(p, &record.qid)
            if start != p:
                p = start
                continue
        index = 0
        start = p
        while <uint8_t>(p[0] - 48) < 10:
            if index < <int64_t>100000000000:
                index = index * 10 + (p[0] - 48)
            p += 1
        if p == start or p[0] != 58:
            return _BAD_FIELD
        if index > 2147483647:
            return _TOO_LARGE
        if index < base:
            return _BELOW_BASE
        start = p + 1
        p = decimal_float32(start, limit, f.values + f.filled, &status)
        if status == NOT_A_NUMBER or not ends_field(p[0]):
            return _BAD_VALUE
        if not isfinite(f.values[f.filled]):
            return _NOT_FINITE
        if status == UNSURE:
            if fabsf(f.values[f.filled]) >= 3.4028234e38:  # at the very top of the range: taken for beyond it
                return _NOT_FINITE
            f.undecided[3 * f.hard] = f.filled
            f.undecided[3 * f.hard + 1] = start - block
            f.undecided[3 * f.hard + 2] = p - block
            f.hard += 1
        if index <= previous:
            ordered = False
        previous = index
        f.indices[f.filled] = <int32_t>(index - base)
        f.filled += 1
    if not ordered:
        index = put_in_order(f, first, hard_first)
        if index >= 0:
            record.index = index + base
            return _TWICE
    return _DONE


cdef int read_line(
    const uint8_t* block, const uint8_t* p, const uint8_t* limit, int base, bint labelled, int64_t* qid_rule,
    Record* record, Features* f
) noexcept nogil:
    """One line; what a failed one has filled is taken back."""
    cdef Py_ssize_t filled = f.filled, hard = f.hard
    cdef int status
    while separates(p[0]):
        p += 1
    if p[0] == 10 or p[0] == 35:
        return _BLANK
    record.label = record.field = p
    record.qid = record.index = -1
    if not is_feature(p):
        while not separates(p[0]) and p[0] != 10:
            p += 1
    record.label_end = p
    if labelled and record.label_end == record.label:
        return _NO_LABEL
    status = read_features(block, p, limit, base, record, f)
    if status == _DONE:
        if qid_rule[0] < 0:
            qid_rule[0] = record.qid >= 0
        elif (record.qid >= 0) != qid_rule[0]:
            record.field = record.label
            status = _QID_MISSING if qid_rule[0] else _QID_UNEXPECTED
    if status != _DONE:
        f.filled = filled
        f.hard = hard
    return status


def parse_lines(
    const uint8_t[::1] block, int64_t[::1] state, int base, bint labelled,
    int64_t[:, ::1] spans, int64_t[::1] qids, int64_t[::1] lines, int64_t[::1] indptr,
    int32_t[::1] indices, float[::1] values, int64_t[:, ::1] undecided, uint64_t[::1] scratch
):
    """Parse records from ``state[AT]`` on until the block ends or a line is at fault.

    Args:
        block: bytes, the last of them a line feed.
        state: (STATE_SIZE,) places and counts, begun as zeros but LINE (the number of the first line) and
            QID (-1); updated.
        base: the smallest index, 0 or 1.
        labelled: a record without a label is at fault.

    Returns:
        DONE; FULL (no room for a record at AT); else the fault of line ``state[LINE] - 1``, in the field
        that begins at ``state[FIELD]``: that line is passed over, and the next call goes on after it.
    """
    cdef Py_ssize_t size = block.shape[0], rows = spans.shape[0], row, room
    cdef Py_ssize_t at = state[0] if state.shape[0] == 8 else -1
    cdef const uint8_t* data
    cdef const uint8_t* p
    cdef Record record
    cdef Features f
    cdef int status = _DONE
    if at < 0 or at > size or base not in (0, 1):
        raise ValueError("state must be (STATE_SIZE,) with a place in the block, base 0 or 1")
    if at == size:
        return DONE
    row, f.filled, f.hard = state[2], state[3], state[4]
    room = (size - at) // 4 + 1 + f.filled
    if (spans.shape[1] != 2 or undecided.shape[1] != 3
            or min(qids.shape[0], lines.shape[0], indptr.shape[0] - 1) < rows
            or row > rows
            or min(row, f.filled, f.hard) < 0 or f.hard > f.filled
            or min(indices.shape[0], values.shape[0], undecided.shape[0], scratch.shape[0]) < room):
        raise ValueError("an output is smaller than the block could need")
    if block[size - 1] != 10:
        raise ValueError("the block does not end with a line feed")
    data = p = &block[0]
    f.indices, f.values, f.undecided, f.scratch = &indices[0], &values[0], &undecided[0, 0], &scratch[0]
    p += at
    with nogil:
        indptr[row] = f.filled
        while p < data + size:
            if row >= rows:
                status = _FULL
                break
            status = read_line(data, p, data + size, base, labelled, &state[5], &record, &f)
            p = <const uint8_t*>memchr(p, 10, data + size - p) + 1
            state[1] += 1
            if status == _BLANK:
                status = _DONE
                continue
            if status != _DONE:
                state[6] = record.field - data
                state[7] = record.index
                break
            spans[row, 0] = record.label - data
            spans[row, 1] = record.label_end - data
            qids[row] = record.qid
            lines[row] = state[1] - 1
            row += 1
            indptr[row] = f.filled
        state[0] = p - data
        state[2], state[3], state[4] = row, f.filled, f.hard
    return status
