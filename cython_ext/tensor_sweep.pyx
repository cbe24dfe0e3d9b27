"""Reranking n-best lists with a vector, or with a tensor of low rank, of weights: scores and online steps.

The weight of feature f is, with its place (i_1, ..., i_D) in a tensor of order D and H components,

    W_f = sum over h of w_h^1[i_1] ... w_h^D[i_D]        (Cao and Khudanpur 2014, equation 2)

and features below ``plain`` have a weight of their own beside it. A step looks at the difference x of a list's oracle and its rival
and goes over the plain weights, then w_1^1, ..., w_1^D, w_2^1, ..., w_H^D in turn (section 4); for each the difference is, on the
places of its mode,

    g_i = sum over features f with i_d = i of x_f (product over the other modes e of w_h^e[i_e])      (5)

w_h^d += tau g, tau = min(C / B, max(0, loss) / |g|^2), loss the cost less W.x as it is by then, B the product of the other vectors' squared lengths; as printed in (6):
min(C, loss / |g|^2). Products over other modes come from those before (updated) and after; a step adds tau |g|^2 to the score, so that a
sweep costs O(H D |x|_0).

Packed lists: see ``nbest_lists.pxd``. ``vectors`` (H, n_1 + ... + n_D) float64, a component's mode vectors one after the other;
``index`` (V, D) int32, the place of each feature in ``vectors[h]``: the modes' offsets are added.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from nbest_lists cimport (
    AHEAD, WK_PREFETCH, Difference, Lists, Scratch, Step, add_costs, free_scratch, is_sound, lists_of, next_difference, place_t, score_list,
    step_size, take_scratch,
)


cdef struct Tensor:
    Py_ssize_t order, rank, total, known
    int32_t plain
    const int32_t* index
    double* vectors
    double* weights     # (plain)
    double* vector_sums
    double* weight_sums
    bint averaged
    double* squared     # (H, D) squared lengths of the vectors
    double* gradient    # (total)
    int64_t* mark       # (total)
    int64_t stamp
    int32_t* touched    # (total)
    int32_t* at         # (E, D) places of the difference's entries
    double* before      # (E)
    double* after       # (D, E)
    double* values      # (E)


cdef inline double tensor_weight(const Tensor* t, Py_ssize_t f) noexcept nogil:
    cdef double total = 0, product
    cdef Py_ssize_t h, d
    cdef const int32_t* index = t.index + f * t.order
    cdef const double* vectors = t.vectors
    if f < t.plain:
        return t.weights[f]
    for h in range(t.rank):
        product = vectors[index[0]]
        for d in range(1, t.order):
            product *= vectors[index[d]]
        total += product
        vectors += t.total
    return total


cdef inline bint gather(const Tensor* t, const Lists* lists, Py_ssize_t s, double* own) noexcept nogil:
    """Weights of a list's features; False for a feature without one."""
    cdef const int32_t* features = lists.features + lists.firsts[s]
    cdef Py_ssize_t j, n = lists.firsts[s + 1] - lists.firsts[s]
    for j in range(n):
        if j + AHEAD < n and 0 <= features[j + AHEAD] < t.known:
            WK_PREFETCH(t.index + features[j + AHEAD] * t.order)
        if not 0 <= features[j] < t.known:
            return False
        own[j] = tensor_weight(t, features[j])
    return True


cdef inline bint plain_step(Tensor* t, const Difference* x, double cost, double* margin, const Step* step, double seen) noexcept nogil:
    """The step on the plain weights; False where numbers are no longer finite."""
    cdef double squares = 0, tau
    cdef Py_ssize_t k
    for k in range(x.size):
        if x.features[k] < t.plain:
            squares += x.values[k] * x.values[k]
    if not squares > 0:
        return True
    tau = step_size(cost - margin[0], squares, step.C, step.printed)
    for k in range(x.size):
        if x.features[k] < t.plain:
            t.weights[x.features[k]] += tau * x.values[k]
            if t.averaged:
                t.weight_sums[x.features[k]] += seen * (tau * x.values[k])
    margin[0] += tau * squares
    return isfinite(margin[0])


cdef inline bint mode_step(
    Tensor* t, Py_ssize_t h, Py_ssize_t d, Py_ssize_t n, double cost, double* margin, const Step* step, double seen
) noexcept nogil:
    """The step on one mode vector; ``before`` and ``after`` hold the products over the other modes of the n entries."""
    cdef double* vector = t.vectors + h * t.total
    cdef double* sums = t.vector_sums + h * t.total
    cdef const double* after = t.after + d * n
    cdef double squares = 0, others = 1, tau, old
    cdef Py_ssize_t k, e, touched = 0
    cdef int32_t i
    t.stamp += 1
    for k in range(n):
        i = t.at[k * t.order + d]
        if t.mark[i] != t.stamp:
            t.mark[i] = t.stamp
            t.touched[touched] = i
            touched += 1
            t.gradient[i] = 0
        t.gradient[i] += t.values[k] * (t.before[k] * after[k])
    for k in range(touched):
        squares += t.gradient[t.touched[k]] * t.gradient[t.touched[k]]
    if not squares > 0:
        return isfinite(squares)
    for e in range(t.order):
        if e != d:
            others *= t.squared[h * t.order + e]
    tau = step_size(cost - margin[0], squares, step.C if step.printed else step.C / others, step.printed)
    if tau == 0:
        return True
    for k in range(touched):
        i = t.touched[k]
        old = vector[i]
        vector[i] = old + tau * t.gradient[i]
        t.squared[h * t.order + d] += vector[i] * vector[i] - old * old
        if t.averaged:
            sums[i] += seen * (tau * t.gradient[i])
    margin[0] += tau * squares
    return isfinite(margin[0])


cdef inline bint sweep(Tensor* t, const Difference* x, double cost, double margin, const Step* step, double seen) noexcept nogil:
    """All vectors in turn; False where numbers are no longer finite."""
    cdef Py_ssize_t n = 0, k, d, h, D = t.order
    cdef double* vector
    if t.plain and not plain_step(t, x, cost, &margin, step, seen):
        return False
    for k in range(x.size):
        if x.features[k] >= t.plain:
            t.values[n] = x.values[k]
            for d in range(D):
                t.at[n * D + d] = t.index[x.features[k] * D + d]
            n += 1
    for h in range(t.rank):
        vector = t.vectors + h * t.total
        for k in range(n):
            t.before[k] = 1
            t.after[(D - 1) * n + k] = 1
        for d in range(D - 1, 0, -1):
            for k in range(n):
                t.after[(d - 1) * n + k] = t.after[d * n + k] * vector[t.at[k * D + d]]
        for d in range(D):
            if not mode_step(t, h, d, n, cost, &margin, step, seen):
                return False
            if d + 1 < D:
                for k in range(n):
                    t.before[k] *= vector[t.at[k * D + d]]
    return True


cdef Tensor tensor_of(
    const double[:, ::1] vectors, const int32_t[:, ::1] index, const double[::1] weights
) except *:
    """The tensor behind some arrays, without scratch; ValueError where they do not fit."""
    cdef Tensor t
    cdef Py_ssize_t f
    cdef int32_t least = 0, most = 0
    t.rank, t.total = vectors.shape[0], vectors.shape[1]
    t.known = index.shape[0]
    t.order, t.plain = index.shape[1], <int32_t>weights.shape[0]
    if t.rank < 1 or t.order < 1 or t.total < 1 or weights.shape[0] > index.shape[0]:
        raise ValueError("vectors (H, total), index (V, D) and at most V plain weights expected")
    t.index = &index[0, 0] if t.known else NULL
    with nogil:
        for f in range(index.shape[0] * t.order):
            least = min(least, t.index[f])
            most = max(most, t.index[f])
    if least < 0 or most >= t.total:
        raise ValueError("index points outside the vectors")
    t.vectors = <double*>&vectors[0, 0]
    t.weights = <double*>&weights[0] if t.plain else NULL
    return t


def tensor_scores(
    const place_t[::1] places, const int64_t[::1] starts, const int64_t[::1] ends, const float[::1] values,
    const int64_t[::1] firsts, const int32_t[::1] features, Py_ssize_t low, Py_ssize_t high,
    const double[:, ::1] vectors, const int32_t[:, ::1] index, const double[::1] weights,
    double[::1] scores, int32_t[::1] best
):
    """Score the candidates of lists ``low`` to ``high`` into ``scores`` (R,), and the first best of each into ``best`` (S,)."""
    cdef Lists lists = lists_of(places, starts, ends, values, firsts, features)
    cdef Tensor t = tensor_of(vectors, index, weights)
    cdef const place_t* of_entries = &places[0] if places.shape[0] else NULL
    cdef Scratch scratch
    cdef Py_ssize_t s
    cdef bint sound = True
    if not 0 <= low <= high <= starts.shape[0] - 1 or scores.shape[0] < ends.shape[0] - 1 or best.shape[0] < starts.shape[0] - 1:
        raise ValueError("outputs are too short, or the lists do not exist")
    take_scratch(&scratch, firsts)
    try:
        with nogil:
            for s in range(low, high):
                if not is_sound(&lists, s) or not gather(&t, &lists, s, scratch.weights):
                    sound = False
                    break
                best[s] = <int32_t>score_list(&lists, of_entries, s, scratch.weights, &scores[0])
    finally:
        free_scratch(&scratch)
    if not sound:
        raise ValueError("a list has no candidate, or a feature has no weight")


def tensor_steps(
    const place_t[::1] places, const int64_t[::1] starts, const int64_t[::1] ends, const float[::1] values,
    const int64_t[::1] firsts, const int32_t[::1] features, const double[::1] scores, const int32_t[::1] oracles,
    const int64_t[::1] order, int64_t seen, double[:, ::1] vectors, const int32_t[:, ::1] index, double[::1] weights,
    double[:, ::1] vector_sums, double[::1] weight_sums, double[:, ::1] squared, double C, bint by_cost, bint printed,
    double[::1] totals
):
    """Steps on the lists ``order``, one after the other.

    Args:
        scores: (R,) of the data; a candidate's cost is its oracle's score less its own. oracles: (S,) int32, places in the lists.
        seen: lists looked at before, for the averages.
        vectors, weights: updated. vector_sums, weight_sums: of their shapes, updated: each step's change times the lists looked at
            before it, so that the average of the weights after each of T lists is w - sums / T; or empty, where it is not wanted.
        squared: (H, D) squared lengths of the mode vectors, updated.
        C: the longest step. by_cost: the rival is the best by score + cost. printed: steps as printed in (6).
        totals: (2,), added to: losses max(0, cost - margin) of the rivals, and steps.

    Returns:
        How many of ``order`` were looked at without numbers becoming infinite; then the arrays are of no use. A step is not taken
        where the rival costs nothing.
    """
    cdef Lists lists = lists_of(places, starts, ends, values, firsts, features)
    cdef Tensor t = tensor_of(vectors, index, weights)
    cdef const place_t* of_entries = &places[0] if places.shape[0] else NULL
    cdef Scratch scratch
    cdef Step step
    cdef Py_ssize_t i, s, n, done = 0
    cdef int found
    cdef bint sound = True
    cdef double margin, cost
    add_costs(&lists, scores, oracles, order, totals)
    if squared.shape[0] != t.rank or squared.shape[1] != t.order:
        raise ValueError("squared must be (H, D)")
    t.averaged = vector_sums.shape[0] > 0
    if t.averaged and (vector_sums.shape[0] != t.rank or vector_sums.shape[1] != t.total or weight_sums.shape[0] != t.plain):
        raise ValueError("sums must have the shapes of what they are sums of")
    t.vector_sums = &vector_sums[0, 0] if t.averaged else NULL
    t.weight_sums = &weight_sums[0] if t.averaged and t.plain else NULL
    t.squared = &squared[0, 0]
    step.C, step.printed = C, printed
    take_scratch(&scratch, firsts)
    n = scratch.size
    t.stamp = 0
    t.gradient = <double*>calloc(t.total, sizeof(double))
    t.mark = <int64_t*>calloc(t.total, sizeof(int64_t))
    t.touched = <int32_t*>calloc(t.total, sizeof(int32_t))
    t.at = <int32_t*>calloc(n * t.order, sizeof(int32_t))
    t.before = <double*>calloc(n * (t.order + 2), sizeof(double))
    try:
        if not (t.gradient and t.mark and t.touched and t.at and t.before):
            raise MemoryError
        t.values = t.before + n
        t.after = t.values + n
        with nogil:
            for i in range(order.shape[0]):
                s = order[i]
                if not is_sound(&lists, s) or not gather(&t, &lists, s, scratch.weights):
                    sound = False
                    break
                found = next_difference(&lists, of_entries, s, &scratch, by_cost, &cost, &margin, &totals[0])
                if found < 0:
                    break
                if found and not sweep(&t, &scratch.difference, cost, margin, &step, <double>(seen + i)):
                    break
                done += 1
    finally:
        free_scratch(&scratch)
        free(t.gradient)
        free(t.mark)
        free(t.touched)
        free(t.at)
        free(t.before)
    if not sound:
        raise ValueError("a list has no candidate, or a feature has no weight")
    return done
