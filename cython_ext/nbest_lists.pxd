"""Packed n-best lists (inline-only): scores of a list's candidates, the rival of its oracle, the difference of the two.

Packed lists are those of ``nbest_pack``. The score of a candidate is the sum over its entries of value x weight of the list's
feature, in eight running sums (``entry_sum.h``).
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.stdlib cimport calloc, free

cdef extern from *:
    """
    /* Features are scattered over tables larger than the nearer caches: ask for a row some features ahead. */
    #if defined(__GNUC__)
    #define WK_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define WK_PREFETCH(p) ((void)(p))
    #endif
    """
    void WK_PREFETCH(const void* p) nogil

cdef extern from "entry_sum.h":
    double entry_sum_16(const uint16_t* places, const float* values, Py_ssize_t n, const double* weights) nogil
    double entry_sum_32(const int32_t* places, const float* values, Py_ssize_t n, const double* weights) nogil

cdef enum:
    AHEAD = 32

ctypedef fused place_t:
    uint16_t
    int32_t


cdef struct Lists:
    Py_ssize_t lists, candidates, entries, distinct
    const int64_t* starts    # (S + 1) candidates before each list
    const int64_t* ends      # (R + 1) entries before each candidate
    const float* values      # (F)
    const int64_t* firsts    # (S + 1) features before each list
    const int32_t* features  # of the lists
    const double* scores     # (R) higher is better
    const int32_t* oracles   # (S) which candidate of each list is to be chosen


cdef struct Difference:
    # Entries of oracle - rival: feature numbers and values, never 0.
    int32_t* features
    double* values
    Py_ssize_t size


cdef struct Step:
    double C
    bint printed


cdef struct Scratch:
    # For lists of up to ``size`` features.
    Py_ssize_t size
    double* weights
    double* buffer  # zeros
    Difference difference


cdef inline double candidate_score(const place_t* places, const float* values, Py_ssize_t n, const double* weights) noexcept nogil:
    if place_t is uint16_t:
        return entry_sum_16(places, values, n, weights)
    else:
        return entry_sum_32(places, values, n, weights)


cdef inline Py_ssize_t score_list(
    const Lists* lists, const place_t* places, Py_ssize_t s, const double* weights, double* scores
) noexcept nogil:
    """Scores of a list's candidates into the (R) scores; the first candidate with the highest."""
    cdef Py_ssize_t begin = lists.starts[s], c, at, best = begin
    for c in range(begin, lists.starts[s + 1]):
        at = lists.ends[c]
        scores[c] = candidate_score(places + at, lists.values + at, lists.ends[c + 1] - at, weights)
        if scores[c] > scores[best]:
            best = c
    return best - begin


cdef inline Py_ssize_t find_rival(
    const Lists* lists, const place_t* places, Py_ssize_t s, const double* weights, bint by_cost, double* margin
) noexcept nogil:
    """The first candidate with the highest score, with ``by_cost`` of score + cost; ``margin``: oracle's score less its own."""
    cdef Py_ssize_t begin = lists.starts[s], n = lists.starts[s + 1] - begin, c, at, best = 0
    cdef Py_ssize_t oracle = lists.oracles[s]
    cdef double score, loss, highest = 0, own = 0, of_oracle = 0
    for c in range(n):
        at = lists.ends[begin + c]
        score = candidate_score(places + at, lists.values + at, lists.ends[begin + c + 1] - at, weights)
        loss = score
        if by_cost:
            loss += lists.scores[begin + oracle] - lists.scores[begin + c]
        if c == oracle:
            of_oracle = score
        if c == 0 or loss > highest:
            best = c
            highest = loss
            own = score
    margin[0] = of_oracle - own
    return best


cdef inline void subtract(
    const Lists* lists, const place_t* places, Py_ssize_t s, Py_ssize_t rival, double* buffer, Difference* out
) noexcept nogil:
    """Entries of the oracle less those of the rival. ``buffer``: zeros for the list's features, and zeros again afterwards."""
    cdef Py_ssize_t begin = lists.starts[s], oracle = begin + lists.oracles[s], e
    cdef const int32_t* features = lists.features + lists.firsts[s]
    rival += begin
    for e in range(lists.ends[oracle], lists.ends[oracle + 1]):
        buffer[places[e]] += lists.values[e]
    for e in range(lists.ends[rival], lists.ends[rival + 1]):
        buffer[places[e]] -= lists.values[e]
    out.size = 0
    for e in range(lists.ends[oracle], lists.ends[oracle + 1]):
        take(features, places[e], buffer, out)
    for e in range(lists.ends[rival], lists.ends[rival + 1]):
        take(features, places[e], buffer, out)


cdef inline void take(const int32_t* features, Py_ssize_t place, double* buffer, Difference* out) noexcept nogil:
    if buffer[place] != 0:
        out.features[out.size] = features[place]
        out.values[out.size] = buffer[place]
        out.size += 1
        buffer[place] = 0


cdef inline int next_difference(
    const Lists* lists, const place_t* places, Py_ssize_t s, Scratch* scratch, bint by_cost, double* cost, double* margin, double* totals
) noexcept nogil:
    """What list s teaches, its weights being in the scratch: 1 with the difference there, 0 where the rival costs nothing, -1 where
    scores are no longer finite. Loss and step are added to the two totals."""
    cdef Py_ssize_t begin = lists.starts[s], rival = find_rival(lists, places, s, scratch.weights, by_cost, margin)
    cost[0] = lists.scores[begin + lists.oracles[s]] - lists.scores[begin + rival]
    if not isfinite(margin[0]):
        return -1
    if not cost[0] > 0:
        return 0
    totals[0] += max(0.0, cost[0] - margin[0])
    totals[1] += 1
    subtract(lists, places, s, rival, scratch.buffer, &scratch.difference)
    return 1


cdef inline double step_size(double loss, double squares, double most, bint printed) noexcept nogil:
    """The length of a passive-aggressive step, equation (6): min(C, loss / |x|^2), not below 0 unless it is as printed."""
    cdef double tau = loss / squares
    if not printed and tau < 0:
        return 0
    return tau if tau < most else most


# --- what the doors share --------------------------------------------------------------------------------------------


cdef inline Lists lists_of(
    const place_t[::1] places, const int64_t[::1] starts, const int64_t[::1] ends, const float[::1] values,
    const int64_t[::1] firsts, const int32_t[::1] features
) except *:
    """The lists behind some arrays; ValueError where their sizes do not agree.

    Each list is looked at by :func:`is_sound` when its turn comes, and each feature when its weight is; that the places are those of a
    list's features is the promise of ``nbest_pack``: to look at every entry would take as long as the work.
    """
    cdef Lists lists
    lists.lists, lists.candidates, lists.entries = starts.shape[0] - 1, ends.shape[0] - 1, values.shape[0]
    lists.distinct = features.shape[0]
    if (lists.lists < 1 or lists.candidates < 1 or firsts.shape[0] != starts.shape[0]
            or places.shape[0] != lists.entries or starts[lists.lists] != lists.candidates
            or ends[lists.candidates] != lists.entries or firsts[lists.lists] != lists.distinct):
        raise ValueError("the arrays are no packed lists")
    lists.starts, lists.ends, lists.firsts = &starts[0], &ends[0], &firsts[0]
    lists.values = &values[0] if lists.entries else NULL
    lists.features = &features[0] if lists.distinct else NULL
    lists.scores = NULL
    lists.oracles = NULL
    return lists


cdef inline bint is_sound(const Lists* lists, Py_ssize_t s) noexcept nogil:
    """Whether list s has a candidate, an oracle among them, and its candidates and features lie within the arrays."""
    cdef Py_ssize_t begin = lists.starts[s], end = lists.starts[s + 1], c
    cdef bint right = 0 <= begin < end <= lists.candidates
    right = right and 0 <= lists.firsts[s] <= lists.firsts[s + 1] <= lists.distinct
    right = right and (lists.oracles == NULL or 0 <= lists.oracles[s] < end - begin)
    if not right or lists.ends[begin] < 0 or lists.ends[end] > lists.entries:
        return False
    for c in range(begin, end):
        if lists.ends[c] > lists.ends[c + 1]:
            return False
    return True


cdef inline void add_costs(
    Lists* lists, const double[::1] scores, const int32_t[::1] oracles, const int64_t[::1] order, const double[::1] totals
) except *:
    """Add what a step needs; ValueError for sizes that do not agree, or a list that does not exist."""
    cdef Py_ssize_t i
    cdef bint right = scores.shape[0] == lists.candidates and oracles.shape[0] == lists.lists and totals.shape[0] == 2
    for i in range(order.shape[0]):
        right = right and 0 <= order[i] < lists.lists
    if not right:
        raise ValueError("scores, oracles, order and totals do not fit the lists")
    lists.scores = &scores[0]
    lists.oracles = &oracles[0]


cdef inline void take_scratch(Scratch* scratch, const int64_t[::1] firsts) except *:
    """Memory for the largest list; to be given back by :func:`free_scratch`."""
    cdef Py_ssize_t i, n = 1
    for i in range(firsts.shape[0] - 1):
        n = max(n, firsts[i + 1] - firsts[i])
    scratch.size = n
    scratch.weights = <double*>calloc(3 * n, sizeof(double))
    scratch.difference.features = <int32_t*>calloc(n, sizeof(int32_t))
    if not scratch.weights or not scratch.difference.features:
        free_scratch(scratch)
        raise MemoryError
    scratch.buffer = scratch.weights + n
    scratch.difference.values = scratch.buffer + n


cdef inline void free_scratch(Scratch* scratch) noexcept nogil:
    free(scratch.weights)
    free(scratch.difference.features)
