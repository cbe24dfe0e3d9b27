"""Expected counts of a batch of trees, added to the statistics of a hidden Markov tree model (Grave 2014, section 2.2.1).

With supports, ``below``, ``above`` and ``posterior`` from ``tree_messages.infer``, the posterior of an edge from child n to
parent m with label l is below_n[i] T_l[i, j] above_n[j], T_l[i, j] = (transitions[l, i, j] + back_off[l, i]) transition_scale[l, j]:

    add_transitions    target[l, i, j]  +=  weight  sum over edges of that posterior
    add_marginals      the same summed over i (parents), over j (children), and roots' posteriors (starts)
    group_words        tokens by word, in their order
    add_emissions      target[w, c] += weight posterior; floors and class totals follow

add_transitions sorts the edges by child class, sums below_n[i] above_n[j] for one row i at a time, in a row of sums that stays
in the nearest cache, and multiplies these by T_l[i, j] at the end: k^2 cells an edge, but none far away.

Doors whose name ends in _dense take posteriors over all classes. Work is cut by rows of the target (child classes, or words),
never by tokens: every cell is added to in the order of the tokens, so that any cut gives the same bits.

Smoothed emissions are max(target[w, c], floors[w]), floors[w] = smoothing max_c target[w, c]; ``totals`` takes the change of
their sum over words. A token changes k cells of them; a row is read as a whole only where its floor has risen.
"""

from libc.stdint cimport int32_t

from edge_rows cimport Rows, allocate, clear_row, count_rows, fill_rows, find_parents, release, sum_row
from messages cimport add_product

ctypedef fused real:
    float
    double


# --- one word ---------------------------------------------------------------------------------------------------


cdef inline double add_cell(double* cell, double more, double floor, double* total) noexcept nogil:
    """Adds to one cell, and the change of the smoothed cell to its class; returns the cell."""
    cdef double old = cell[0]
    cell[0] = old + more
    total[0] += max(cell[0], floor) - max(old, floor)
    return cell[0]


cdef inline void raise_floor(const double* row, Py_ssize_t C, double old, double new, double* totals) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(C):
        totals[c] += max(row[c], new) - max(row[c], old)


# --- checks ---------------------------------------------------------------------------------------------------------


cdef int check_edges(const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] offsets, Py_ssize_t L) except -1:
    cdef Py_ssize_t T = heads.shape[0], S = offsets.shape[0] - 1, s, t
    cdef bint good = labels.shape[0] == T and S >= 0 and offsets[0] == 0 and offsets[S] == T
    if good:
        for s in range(S):
            good = good and offsets[s] <= offsets[s + 1]
    if not good:
        raise ValueError(f"labels need an entry a token, offsets must rise from 0 to {T}")
    with nogil:
        for s in range(S):
            for t in range(offsets[s], offsets[s + 1]):
                if not (0 <= heads[t] <= offsets[s + 1] - offsets[s] and 0 <= labels[t] < L):
                    good = False
    if not good:
        raise ValueError("a head or a label is out of range")
    return 0


cdef int check_supports(const int32_t[:, ::1] support, const int32_t[::1] sizes, Py_ssize_t T, Py_ssize_t C) except -1:
    cdef Py_ssize_t t, i, K = support.shape[1]
    cdef bint good = support.shape[0] == T and sizes.shape[0] == T
    if good:
        with nogil:
            for t in range(T):
                if not 0 <= sizes[t] <= K:
                    good = False
                    break
                for i in range(sizes[t]):
                    if not 0 <= support[t, i] < C:
                        good = False
    if not good:
        raise ValueError("support and sizes need a row a token, classes must be in range")
    return 0


cdef int check_runs(const int32_t[::1] words, const int32_t[::1] order, const int32_t[::1] runs, Py_ssize_t lo, Py_ssize_t hi,
                    Py_ssize_t V) except -1:
    """Runs lo to hi - 1 must be tokens of one word each."""
    cdef Py_ssize_t T = words.shape[0], d, t
    cdef bint good = order.shape[0] == T and 0 <= lo <= hi < runs.shape[0]
    if good:
        with nogil:
            for d in range(lo, hi):
                if not 0 <= runs[d] < runs[d + 1] <= T:
                    good = False
                    break
                for t in range(runs[d], runs[d + 1]):
                    if not 0 <= order[t] < T or words[order[t]] != words[order[runs[d]]] or not 0 <= words[order[t]] < V:
                        good = False
                        break
                if not good:
                    break
    if not good:
        raise ValueError("runs must be tokens of one word each, from group_words")
    return 0


cdef int check_matrices(Py_ssize_t L, Py_ssize_t C, const double[:, :, ::1] target, Py_ssize_t lo, Py_ssize_t hi) except -1:
    if target.shape[0] != L or target.shape[1] != C or target.shape[2] != C:
        raise ValueError("transitions and target need the same shape, (L, C, C)")
    if not 0 <= lo <= hi <= C:
        raise ValueError("the range of child classes is not in the model")
    return 0


# --- transitions ----------------------------------------------------------------------------------------------------


def add_transitions(
    const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] offsets, const int32_t[:, ::1] support,
    const int32_t[::1] sizes, const float[:, ::1] below, const float[:, ::1] above, const float[:, :, ::1] transitions,
    const float[:, ::1] back_off, const float[:, ::1] transition_scale, double[:, :, ::1] target, float[:, :, ::1] image,
    double weight, Py_ssize_t lo, Py_ssize_t hi,
):
    """Adds weight times the pair posteriors of all edges of a batch to the rows of child classes lo to hi - 1.

    Args:
        heads, labels, offsets: the batch.
        support, sizes, below, above: (T, K), (T), (T, K), (T, K) of ``tree_messages.infer``.
        transitions, back_off, transition_scale: (L, C, C), (L, C), (L, C), those of that call.
        target: (L, C, C), added to.
        image: (L, C, C), takes the cells of target that have changed; it may be transitions, whose rows are read before they
            are written. None for no copy.

    Raises:
        ValueError: shapes that do not fit, or numbers that are out of range.
    """
    cdef Py_ssize_t L = transitions.shape[0], C = transitions.shape[1], T = heads.shape[0], K = support.shape[1], l, i, r, c
    cdef Rows rows
    cdef float* copy = NULL
    check_matrices(L, C, target, lo, hi)
    check_edges(heads, labels, offsets, L)
    check_supports(support, sizes, T, C)
    if transitions.shape[2] != C or back_off.shape[0] != L or back_off.shape[1] != C:
        raise ValueError("transitions and back_off do not agree")
    if transition_scale.shape[0] != L or transition_scale.shape[1] != C:
        raise ValueError("transitions and transition_scale do not agree")
    if image is not None and (image.shape[0] != L or image.shape[1] != C or image.shape[2] != C):
        raise ValueError("image needs the shape of target")
    if below.shape[0] != T or above.shape[0] != T or below.shape[1] != K or above.shape[1] != K:
        raise ValueError("below and above need the shape of support")
    if T == 0 or K == 0 or lo == hi:
        return
    allocate(&rows, T, L, C, K, lo, hi)
    with nogil:
        find_parents(heads, offsets, rows.parents)
        count_rows(&rows, labels, support, sizes)
        fill_rows(&rows, labels, support, sizes, below)
        for l in range(L):
            for i in range(lo, hi):
                r = l * (hi - lo) + i - lo
                sum_row(&rows, r, support, sizes, above)
                if image is not None:
                    copy = &image[l, i, 0]
                if (rows.first[r + 1] - rows.first[r]) * K >= C // 2:
                    add_product(&target[l, i, 0], &transitions[l, i, 0], back_off[l, i], &transition_scale[l, 0], weight,
                                rows.sums, C)
                    if copy != NULL:
                        for c in range(C):
                            copy[c] = <float>target[l, i, c]
                else:
                    clear_row(&rows, r, support, sizes, &transitions[l, i, 0], back_off[l, i], &transition_scale[l, 0],
                              weight, &target[l, i, 0], copy)
    release(&rows)


def add_marginals(
    const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] offsets, const int32_t[:, ::1] support,
    const int32_t[::1] sizes, const float[:, ::1] above, const float[:, ::1] posterior, double weight, double[::1] starts,
    double[:, ::1] children, double[:, ::1] parents,
):
    """Adds weight times posteriors: of roots to starts (C); of an edge's child and parent to rows (L, C) of its label.

    parents is what add_transitions adds to the column totals of a label, children what it adds to the row totals: both
    follow from the nodes' posteriors, since one support a node makes the pair posteriors sum to them.

    Raises:
        ValueError: shapes that do not fit, or numbers that are out of range.
    """
    cdef Py_ssize_t L = children.shape[0], C = starts.shape[0], T = heads.shape[0], K = support.shape[1], s, t, p, l, i
    cdef float reached
    if children.shape[1] != C or parents.shape[0] != L or parents.shape[1] != C:
        raise ValueError("starts, children and parents do not agree")
    check_edges(heads, labels, offsets, L)
    check_supports(support, sizes, T, C)
    if posterior.shape[0] != T or above.shape[0] != T or posterior.shape[1] != K or above.shape[1] != K:
        raise ValueError("posterior and above need the shape of support")
    with nogil:
        for s in range(offsets.shape[0] - 1):
            for t in range(offsets[s], offsets[s + 1]):
                l = labels[t]
                if heads[t] == 0:
                    for i in range(sizes[t]):
                        starts[support[t, i]] += weight * posterior[t, i]
                    continue
                p = offsets[s] + heads[t] - 1
                reached = 0
                for i in range(sizes[p]):
                    reached += above[t, i]
                if reached == 0:  # an edge without posterior
                    continue
                for i in range(sizes[t]):
                    children[l, support[t, i]] += weight * posterior[t, i]
                for i in range(sizes[p]):
                    parents[l, support[p, i]] += weight * posterior[p, i]


def add_marginals_dense(
    const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] offsets, const real[:, ::1] posterior, double weight,
    double[::1] starts, double[:, ::1] children, double[:, ::1] parents,
):
    """As add_marginals, from posteriors (T, C) over all classes."""
    cdef Py_ssize_t L = children.shape[0], C = starts.shape[0], T = heads.shape[0], s, t, p, l, c
    if children.shape[1] != C or parents.shape[0] != L or parents.shape[1] != C:
        raise ValueError("starts, children and parents do not agree")
    if posterior.shape[0] != T or posterior.shape[1] != C:
        raise ValueError("posterior needs a row of C a token")
    check_edges(heads, labels, offsets, L)
    with nogil:
        for s in range(offsets.shape[0] - 1):
            for t in range(offsets[s], offsets[s + 1]):
                l = labels[t]
                if heads[t] == 0:
                    for c in range(C):
                        starts[c] += weight * posterior[t, c]
                    continue
                p = offsets[s] + heads[t] - 1
                for c in range(C):
                    children[l, c] += weight * posterior[t, c]
                for c in range(C):
                    parents[l, c] += weight * posterior[p, c]


# --- emissions ------------------------------------------------------------------------------------------------------


def group_words(const int32_t[::1] words, int32_t[::1] scratch, int32_t[::1] order, int32_t[::1] runs):
    """Tokens of each word side by side: order (T) holds tokens, those of the d-th distinct word from runs[d] to runs[d + 1].

    Words rise, and tokens of a word keep their order. scratch has V + 1 cells, runs T + 1.

    Returns:
        Number of distinct words.

    Raises:
        ValueError: shapes that do not fit, or words that are not in 0 .. V - 1.
    """
    cdef Py_ssize_t T = words.shape[0], V = scratch.shape[0] - 1, t, w, distinct = 0
    cdef bint good = True
    if V < 0 or order.shape[0] != T or runs.shape[0] < T + 1:
        raise ValueError("order needs an entry a token, runs one more, scratch one a word and one more")
    with nogil:
        for t in range(T):
            if not 0 <= words[t] < V:
                good = False
        if good:
            for w in range(V + 1):
                scratch[w] = 0
            for t in range(T):
                scratch[words[t] + 1] += 1
            runs[0] = 0
            for w in range(V):
                if scratch[w + 1]:
                    distinct += 1
                    runs[distinct] = scratch[w] + scratch[w + 1]
                scratch[w + 1] += scratch[w]
            for t in range(T):
                order[scratch[words[t]]] = <int32_t>t
                scratch[words[t]] += 1
    if not good:
        raise ValueError("a word is out of range")
    return distinct


cdef int check_emissions(Py_ssize_t V, Py_ssize_t C, const double[::1] floors, const double[::1] totals, double smoothing,
                         double weight) except -1:
    if floors.shape[0] != V or totals.shape[0] != C:
        raise ValueError("target, floors and totals do not agree")
    if not (smoothing >= 0 and weight >= 0):
        raise ValueError("smoothing and weight must not be below 0")
    return 0


def add_emissions(
    const int32_t[::1] words, const int32_t[::1] order, const int32_t[::1] runs, const int32_t[:, ::1] support,
    const int32_t[::1] sizes, const float[:, ::1] posterior, double[:, ::1] target, double[::1] floors, double smoothing,
    double weight, double[::1] totals, Py_ssize_t lo, Py_ssize_t hi,
):
    """Adds weight times the posteriors of the tokens of distinct words lo to hi - 1 to their rows of target.

    Args:
        words, order, runs: the tokens' words (T), and what group_words made of them.
        support, sizes, posterior: (T, K), (T), (T, K) of ``tree_messages.infer``.
        target: (V, C); floors: (V), smoothing times the largest cell of each row before the call as after it.
        totals: (C), takes the change of sum over words of max(target, floor). A partial sum a range, for the caller to add in
            the order of the ranges: its bits depend on the ranges, unlike those of target and floors.

    Raises:
        ValueError: shapes that do not fit, or numbers that are out of range.
    """
    cdef Py_ssize_t V = target.shape[0], C = target.shape[1], T = words.shape[0], d, t, i, n, w
    cdef double top, floor
    check_emissions(V, C, floors, totals, smoothing, weight)
    check_runs(words, order, runs, lo, hi, V)
    check_supports(support, sizes, T, C)
    if posterior.shape[0] != T or posterior.shape[1] != support.shape[1]:
        raise ValueError("posterior needs the shape of support")
    with nogil:
        for d in range(lo, hi):
            w = words[order[runs[d]]]
            floor = floors[w]
            top = 0
            for i in range(runs[d], runs[d + 1]):
                t = order[i]
                for n in range(sizes[t]):
                    top = max(top, add_cell(&target[w, support[t, n]], weight * posterior[t, n], floor, &totals[support[t, n]]))
            if smoothing * top > floor:
                floors[w] = smoothing * top
                raise_floor(&target[w, 0], C, floor, floors[w], &totals[0])


def add_emissions_dense(
    const int32_t[::1] words, const int32_t[::1] order, const int32_t[::1] runs, const real[:, ::1] posterior,
    double[:, ::1] target, double[::1] floors, double smoothing, double weight, double[::1] totals, Py_ssize_t lo, Py_ssize_t hi,
):
    """As add_emissions, from posteriors (T, C) over all classes."""
    cdef Py_ssize_t V = target.shape[0], C = target.shape[1], T = words.shape[0], d, t, i, c, w
    cdef double top, floor
    check_emissions(V, C, floors, totals, smoothing, weight)
    check_runs(words, order, runs, lo, hi, V)
    if posterior.shape[0] != T or posterior.shape[1] != C:
        raise ValueError("posterior needs a row of C a token")
    with nogil:
        for d in range(lo, hi):
            w = words[order[runs[d]]]
            floor = floors[w]
            top = 0
            for i in range(runs[d], runs[d + 1]):
                t = order[i]
                for c in range(C):
                    top = max(top, add_cell(&target[w, c], weight * posterior[t, c], floor, &totals[c]))
            if smoothing * top > floor:
                floors[w] = smoothing * top
                raise_floor(&target[w, 0], C, floor, floors[w], &totals[0])
