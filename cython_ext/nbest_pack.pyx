"""n-best lists as they are read, to lists packed for learning: features numbered anew, and within each list once more.

A list holds each of its features only once (``features``), and its candidates' entries point into them (``places``). So the
weights of a list are gathered once, side by side, whatever number of candidates share them.

Shapes, for S lists with R candidates and F entries: ``starts`` (S + 1,) int64 candidates before each list; ``ends`` (R + 1,) int64
entries before each candidate; ``indices`` (F,) int32 numbers as read, all below that of ``lookup``; ``values`` (F,) float32.
"""

from libc.stdint cimport int32_t, int64_t


cdef void check(
    const int64_t[::1] starts, const int64_t[::1] ends, const int32_t[::1] indices, Py_ssize_t values, Py_ssize_t known
) except *:
    """ValueError unless starts and ends rise within the entries, and every index is known."""
    cdef Py_ssize_t i, candidates = ends.shape[0] - 1
    cdef bint right = starts.shape[0] > 0 and candidates >= 0 and values == indices.shape[0]
    if right:
        right = starts[0] == 0 and starts[starts.shape[0] - 1] == candidates and ends[0] == 0
        right = right and ends[candidates] == indices.shape[0]
    if not right:
        raise ValueError("starts, ends and entries do not fit")
    with nogil:
        for i in range(starts.shape[0] - 1):
            right = right and starts[i] <= starts[i + 1]
        for i in range(candidates):
            right = right and ends[i] <= ends[i + 1]
        for i in range(indices.shape[0]):
            right = right and 0 <= indices[i] < known
    if not right:
        raise ValueError("starts or ends fall, or an index is outside the table")


def count_lists(
    const int64_t[::1] starts, const int64_t[::1] ends, const int32_t[::1] indices, const float[::1] values,
    int64_t number, int64_t[::1] last, float[::1] first, int32_t[::1] times, int32_t[::1] lists,
    double[::1] sums, double[::1] squares, double[::1] spread
):
    """In how many lists does a feature vary: have a value for one candidate that it has not for another (absent is 0).

    Args:
        number: of the first of these lists, among all lists that are counted.
        last: (V,) the list that each feature was seen in last, -1 at first; first, times, sums, squares: (V,), scratch.
        lists: (V,) int32, in how many lists each feature varies; added to.
        spread: (V,) float64, sum over lists and candidates of (value - the list's mean)^2; added to.
    """
    cdef Py_ssize_t s, e, f, known = last.shape[0]
    cdef Py_ssize_t n
    cdef double left
    if min(first.shape[0], times.shape[0], lists.shape[0], sums.shape[0], squares.shape[0], spread.shape[0]) < known:
        raise ValueError("an array of the features is too short")
    check(starts, ends, indices, values.shape[0], known)
    with nogil:
        for s in range(starts.shape[0] - 1):
            n = starts[s + 1] - starts[s]
            for e in range(ends[starts[s]], ends[starts[s + 1]]):
                f = indices[e]
                if values[e] == 0:
                    continue
                if last[f] != number + s:
                    last[f] = number + s
                    first[f] = values[e]
                    times[f] = 0
                    sums[f] = squares[f] = 0
                times[f] += values[e] == first[f]
                sums[f] += values[e]
                squares[f] += <double>values[e] * values[e]
            for e in range(ends[starts[s]], ends[starts[s + 1]]):
                f = indices[e]
                if last[f] == number + s and times[f] >= 0:
                    if times[f] < n:
                        lists[f] += 1
                        left = squares[f] - sums[f] * sums[f] / n
                        if left > 0:
                            spread[f] += left
                    times[f] = -1  # done in this list


def pack(
    const int64_t[::1] starts, const int64_t[::1] ends, const int32_t[::1] indices, const float[::1] values,
    const int32_t[::1] lookup, const float[::1] scale, int64_t number, int64_t[::1] last, int32_t[::1] place,
    int64_t[::1] out_ends, int32_t[::1] places, float[::1] out_values, int64_t[::1] firsts, int32_t[::1] features
):
    """Number the features anew, leave out those without a number, and share them within each list.

    Args:
        lookup: int32 for each index as read: its new number, or -1.
        scale: (K,) what a feature's values are multiplied by, for each new number.
        number: of the first of these lists, among all that are packed with the same ``last``.
        last, place: (K,), scratch; ``last`` is -1 at first.
        out_ends: (R + 1,) entries that are left before each candidate. places, out_values: (F,), its entries.
        firsts: (S + 1,) features of the lists before each. features: (F,), new numbers of each list's features, in the order in
            which its candidates have them.

    Returns:
        (entries left, features of the lists)
    """
    cdef Py_ssize_t s, c, e, lists = starts.shape[0] - 1, kept = 0, distinct = 0, before
    cdef int32_t f
    cdef Py_ssize_t known = scale.shape[0]
    check(starts, ends, indices, values.shape[0], lookup.shape[0])
    if (min(last.shape[0], place.shape[0]) < known or out_ends.shape[0] < ends.shape[0] or firsts.shape[0] < lists + 1
            or min(places.shape[0], out_values.shape[0], features.shape[0]) < indices.shape[0]):
        raise ValueError("an output is too short")
    for e in range(lookup.shape[0]):
        if not -1 <= lookup[e] < known:
            raise ValueError("the table numbers a feature that has no scale")
    with nogil:
        out_ends[0] = firsts[0] = 0
        for s in range(lists):
            before = distinct
            for c in range(starts[s], starts[s + 1]):
                for e in range(ends[c], ends[c + 1]):
                    f = lookup[indices[e]]
                    if f < 0:
                        continue
                    if last[f] != number + s:
                        last[f] = number + s
                        place[f] = <int32_t>(distinct - before)
                        features[distinct] = f
                        distinct += 1
                    places[kept] = place[f]
                    out_values[kept] = values[e] * scale[f]
                    kept += 1
                out_ends[c + 1] = kept
            firsts[s + 1] = distinct
    return kept, distinct
