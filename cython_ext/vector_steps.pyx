"""Reranking n-best lists with a weight a feature: scores and online steps of the perceptron and of MIRA.

A step looks at the difference x of a list's oracle and its rival.

    perceptron   w += x                                                             (Collins 2002)
    MIRA         w += tau x, tau = min(C, max(0, cost - w.x) / |x|^2)               (Crammer et al. 2006; one best)

as printed in Cao and Khudanpur (2014), equation 6: tau = min(C, (cost - w.x) / |x|^2). Packed lists: see ``nbest_lists.pxd``.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t

from nbest_lists cimport (
    AHEAD, WK_PREFETCH, Difference, Lists, Scratch, Step, add_costs, free_scratch, is_sound, lists_of, next_difference, place_t, score_list,
    step_size, take_scratch,
)


cdef inline bint take_step(
    double* weights, double* sums, const Difference* x, double cost, double margin, bint perceptron, const Step* step, double seen
) noexcept nogil:
    """One step; False where numbers are no longer finite."""
    cdef double squares = 0, tau = 1
    cdef Py_ssize_t k
    for k in range(x.size):
        squares += x.values[k] * x.values[k]
    if not squares > 0:
        return isfinite(squares)
    if not perceptron:
        tau = step_size(cost - margin, squares, step.C, step.printed)
    for k in range(x.size):
        weights[x.features[k]] += tau * x.values[k]
        if sums != NULL:
            sums[x.features[k]] += seen * (tau * x.values[k])
    return isfinite(margin + tau * squares)


cdef inline bint gather(const Lists* lists, Py_ssize_t s, const double* weights, Py_ssize_t known, double* own) noexcept nogil:
    """Weights of a list's features; False for a feature without one."""
    cdef const int32_t* features = lists.features + lists.firsts[s]
    cdef Py_ssize_t j, n = lists.firsts[s + 1] - lists.firsts[s]
    for j in range(n):
        if j + AHEAD < n and 0 <= features[j + AHEAD] < known:
            WK_PREFETCH(weights + features[j + AHEAD])
        if not 0 <= features[j] < known:
            return False
        own[j] = weights[features[j]]
    return True


def vector_scores(
    const place_t[::1] places, const int64_t[::1] starts, const int64_t[::1] ends, const float[::1] values,
    const int64_t[::1] firsts, const int32_t[::1] features, Py_ssize_t low, Py_ssize_t high, const double[::1] weights,
    double[::1] scores, int32_t[::1] best
):
    """Score the candidates of lists ``low`` to ``high`` into ``scores`` (R,), and the first best of each into ``best`` (S,)."""
    cdef Lists lists = lists_of(places, starts, ends, values, firsts, features)
    cdef const place_t* of_entries = &places[0] if places.shape[0] else NULL
    cdef const double* own = &weights[0] if weights.shape[0] else NULL
    cdef Scratch scratch
    cdef Py_ssize_t s
    cdef bint sound = True
    if not 0 <= low <= high <= starts.shape[0] - 1 or scores.shape[0] < ends.shape[0] - 1 or best.shape[0] < starts.shape[0] - 1:
        raise ValueError("outputs are too short, or the lists do not exist")
    take_scratch(&scratch, firsts)
    try:
        with nogil:
            for s in range(low, high):
                if not is_sound(&lists, s) or not gather(&lists, s, own, weights.shape[0], scratch.weights):
                    sound = False
                    break
                best[s] = <int32_t>score_list(&lists, of_entries, s, scratch.weights, &scores[0])
    finally:
        free_scratch(&scratch)
    if not sound:
        raise ValueError("a list has no candidate, or a feature has no weight")


def vector_steps(
    const place_t[::1] places, const int64_t[::1] starts, const int64_t[::1] ends, const float[::1] values,
    const int64_t[::1] firsts, const int32_t[::1] features, const double[::1] scores, const int32_t[::1] oracles,
    const int64_t[::1] order, int64_t seen, double[::1] weights, double[::1] sums, double C, bint by_cost, bint printed,
    bint perceptron,
    double[::1] totals
):
    """Steps on the lists ``order``, one after the other.

    Args:
        scores: (R,) of the data; a candidate's cost is its oracle's score less its own. oracles: (S,) int32, places in the lists.
        seen: lists looked at before, for the averages.
        weights: (V,), updated. sums: (V,), updated: each step's change times the lists looked at before it, so that the average of
            the weights after each of T lists is w - sums / T; or empty, where it is not wanted.
        C: the longest step. by_cost: the rival is the best by score + cost. printed: steps as printed in (6).
        perceptron: steps of 1.
        totals: (2,), added to: losses max(0, cost - margin) of the rivals, and steps.

    Returns:
        How many of ``order`` were looked at without numbers becoming infinite; then the arrays are of no use. A step is not taken
        where the rival costs nothing.
    """
    cdef Lists lists = lists_of(places, starts, ends, values, firsts, features)
    cdef const place_t* of_entries = &places[0] if places.shape[0] else NULL
    cdef double* summed = &sums[0] if sums.shape[0] else NULL
    cdef double* own = &weights[0] if weights.shape[0] else NULL
    cdef Scratch scratch
    cdef Step step
    cdef Py_ssize_t i, s, done = 0
    cdef int found
    cdef bint sound = True
    cdef double margin, cost
    add_costs(&lists, scores, oracles, order, totals)
    if sums.shape[0] not in (0, weights.shape[0]):
        raise ValueError("sums must have the shape of the weights")
    step.C, step.printed = C, printed
    take_scratch(&scratch, firsts)
    try:
        with nogil:
            for i in range(order.shape[0]):
                s = order[i]
                if not is_sound(&lists, s) or not gather(&lists, s, own, weights.shape[0], scratch.weights):
                    sound = False
                    break
                found = next_difference(&lists, of_entries, s, &scratch, by_cost, &cost, &margin, &totals[0])
                if found < 0:
                    break
                if found and not take_step(
                    own, summed, &scratch.difference, cost, margin, perceptron, &step, <double>(seen + i)
                ):
                    break
                done += 1
    finally:
        free_scratch(&scratch)
    if not sound:
        raise ValueError("a list has no candidate, or a feature has no weight")
    return done
