"""Projected sum-product inference in hidden Markov trees: upward and downward messages over the k best classes of a node.

Node n has a class c_n in 0 .. C - 1 and a word w_n; O[w, c] = max(emissions[w, c], floors[w]) emission_scale[c] is p(w | c), and
T_l[i, j] = (transitions[l, i, j] + back_off[l, i]) transition_scale[l, j] is p(child class i | parent class j) over an edge with
label l. With the messages of n's children, each mu_m = T_l' u_m (Grave 2014, section 2.2.2),

    u_n[c]  =  O[w_n, c]  prod over children m of mu_m[c],      projected on its k largest (or epsilon-best) entries S_n

and normalized to sum 1 after that. The log-likelihood is the sum of the logarithms of all normalizers plus log(start . u_root) for
each root: that of the model in which the class of n is limited to S_n, so never above the exact one. Downward, with the same S_n,

    v_m[j]  =  d_n[j] O[w_n, j]  prod over n's other children of their messages[j],     d_m[i] = sum_j T_l[i, j] v_m[j]

over j in S_n, where d of a root is ``start``. The posterior of m is u_m d_m scaled to sum 1; that of its edge u_m[i] T_l[i, j]
v_m[j] with v_m (``above``) scaled alike. Products of the others are prefixes times suffixes: linear in the number of children.

A node costs k C multiply-adds upward and k^2 downward. Messages are float32, normalizers and downward products float64. What
goes beyond them does not become NaN: a vector that is zero everywhere is replaced with one of equal entries and costs
log(1e-300); a node whose marginal vanishes keeps u_n as its posterior, and its edge gets none (``above`` is zero).
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from select cimport FEW, epsilon_cut, k_best
from tree_passes cimport Model, Sentence, Work, infer_sentence


# --- memory and checks ----------------------------------------------------------------------------------------------------------


cdef Py_ssize_t carve(void** place, Py_ssize_t at, Py_ssize_t cells, Py_ssize_t size, char* memory) noexcept nogil:
    """Gives out a piece of memory on a line of its own; returns where the next begins."""
    if memory != NULL:
        place[0] = memory + at
    return (at + cells * size + 63) // 64 * 64


cdef Py_ssize_t lay_out(Work* work, Py_ssize_t C, Py_ssize_t k, Py_ssize_t n, Py_ssize_t children, char* memory) noexcept nogil:
    """Sets the pieces of the working memory, or only counts its bytes where there is none yet."""
    cdef Py_ssize_t at = 0
    at = carve(<void**>&work.row, at, 2 * C, 8, memory)
    at = carve(<void**>&work.own, at, n * k, 8, memory)
    at = carve(<void**>&work.prefix, at, (children + 1) * k, 8, memory)
    at = carve(<void**>&work.product, at, C, 4, memory)
    at = carve(<void**>&work.chosen, at, C, 4, memory)
    at = carve(<void**>&work.kept, at, C + FEW, 4, memory)
    at = carve(<void**>&work.at, at, C + FEW, 4, memory)
    at = carve(<void**>&work.full, at, max(children, 1) * C, 4, memory)
    at = carve(<void**>&work.message, at, n * k, 4, memory)
    at = carve(<void**>&work.children, at, children, 4, memory)
    at = carve(<void**>&work.first, at, n + 1, 4, memory)
    return carve(<void**>&work.sibling, at, n, 4, memory)


cdef int check_trees(const int32_t[::1] words, const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] order,
                     const int32_t[::1] offsets, Py_ssize_t lo, Py_ssize_t hi, Py_ssize_t V, Py_ssize_t L,
                     Py_ssize_t* longest, Py_ssize_t* children) except -1:
    """Refuses what would lead outside the arrays; finds the longest sentence and the most children of a node."""
    cdef Py_ssize_t T = words.shape[0], s, i, n, at, node, head
    cdef int32_t* count = NULL
    cdef bint good = True
    if heads.shape[0] != T or labels.shape[0] != T or order.shape[0] != T:
        raise ValueError("words, heads, labels and order need an entry a token")
    if offsets.shape[0] < 1 or not 0 <= lo <= hi < offsets.shape[0]:
        raise ValueError("the range of sentences is not in the batch")
    longest[0] = children[0] = 0
    for s in range(lo, hi):
        if not 0 <= offsets[s] <= offsets[s + 1] <= T:
            raise ValueError(f"offsets must rise from 0 to {T}")
        longest[0] = max(longest[0], offsets[s + 1] - offsets[s])
    if longest[0] == 0:
        return 0
    count = <int32_t*>malloc(longest[0] * sizeof(int32_t))
    if count == NULL:
        raise MemoryError
    with nogil:
        for s in range(lo, hi):
            at, n = offsets[s], offsets[s + 1] - offsets[s]
            for i in range(n):
                count[i] = -1  # not met yet
            for i in range(at, at + n):
                node = order[i]
                if not (0 <= words[i] < V and 0 <= labels[i] < L and 0 <= node < n and count[node] < 0):
                    good = False
                    break
                head = heads[at + node] - 1
                if not -1 <= head < n or (head >= 0 and count[head] < 0):
                    good = False
                    break
                count[node] = 0
                if head >= 0:
                    count[head] += 1
                    children[0] = max(children[0], count[head])
            if not good:
                break
    free(count)
    if not good:
        raise ValueError(f"sentence {s} has a word, a label or a head out of range, or an order in which a child comes first")
    return 0


# --- doors ----------------------------------------------------------------------------------------------------------


def infer(
    const int32_t[::1] words, const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] order,
    const int32_t[::1] offsets, Py_ssize_t lo, Py_ssize_t hi, const double[:, ::1] emissions, const double[::1] floors,
    const double[::1] emission_scale, const float[:, :, ::1] transitions, const float[:, ::1] back_off,
    const float[:, ::1] transition_scale, const float[::1] start, const float[::1] preference, Py_ssize_t k, double epsilon,
    bint upward_only, int32_t[:, ::1] support, int32_t[::1] sizes, float[:, ::1] below, float[:, ::1] above,
    float[:, ::1] posterior, double[::1] log_likelihood,
):
    """Inference in sentences lo to hi - 1 of a batch of T tokens; what is written for one does not depend on the others.

    Args:
        words, heads, labels, order, offsets: the batch; order has parents before children (``tree_shape.order_trees``).
        emissions, floors, emission_scale: (V, C), (V), (C).
        transitions, back_off, transition_scale: (L, C, C), (L, C), (L, C).
        start: (C), distribution of a root's class.
        preference: (C); the classes kept are those with the largest u[c] preference[c], if that is above zero.
        k: how many classes a node keeps at most.
        epsilon: 0, or the share of the sum that may be lost: the fewest classes whose sum is at least 1 - epsilon of all.
        upward_only: leave ``above`` and ``posterior`` alone; they may be empty then.
        support: (T, K), K >= min(k, C): the classes kept, rising; sizes: (T), how many.
        below, posterior: (T, K), over the node's own support, each with sum 1.
        above: (T, K), over the support of the parent; scaled such that below T above sums to 1. Not written for roots.
        log_likelihood: (S).

    Cells of a row beyond its support's size are not written.

    Raises:
        ValueError: shapes that do not fit, or numbers that are out of range.
    """
    cdef Py_ssize_t T = words.shape[0], V = emissions.shape[0], C = emissions.shape[1], L = transitions.shape[0]
    cdef Py_ssize_t K = support.shape[1], s, at, longest = 0, children = 0, room
    cdef int32_t next_word
    cdef Model model
    cdef Work work
    cdef Sentence sentence
    sentence.above = sentence.posterior = NULL
    if C < 1 or V < 1 or L < 1 or floors.shape[0] != V or emission_scale.shape[0] != C or start.shape[0] != C:
        raise ValueError("emissions, floors, emission_scale and start do not agree")
    if transitions.shape[1] != C or transitions.shape[2] != C or preference.shape[0] != C:
        raise ValueError("transitions and preference need C classes")
    if back_off.shape[0] != L or back_off.shape[1] != C or transition_scale.shape[0] != L or transition_scale.shape[1] != C:
        raise ValueError("back_off and transition_scale need a row of C a label")
    if k < 1 or not 0 <= epsilon < 1:
        raise ValueError("k must be above 0, epsilon in [0, 1)")
    k = min(k, C)
    if K < k or support.shape[0] != T or sizes.shape[0] != T or below.shape[0] != T or below.shape[1] != K:
        raise ValueError("support, sizes and below need a row of k cells or more a token")
    if not upward_only and (above.shape[0] != T or above.shape[1] != K or posterior.shape[0] != T or posterior.shape[1] != K):
        raise ValueError("above and posterior need a row a token, as wide as support")
    if log_likelihood.shape[0] != offsets.shape[0] - 1:
        raise ValueError("log_likelihood needs an entry a sentence")
    check_trees(words, heads, labels, order, offsets, lo, hi, V, L, &longest, &children)
    for s in range(lo, hi):
        log_likelihood[s] = 0
    if longest == 0:
        return
    room = lay_out(&work, C, k, longest, children, NULL)
    work.memory = malloc(room + 64)
    if work.memory == NULL:
        raise MemoryError
    lay_out(&work, C, k, longest, children, <char*>work.memory + (64 - <size_t>work.memory % 64))
    model.C, model.k, model.epsilon, model.upward_only = C, k, epsilon, upward_only
    model.emissions, model.floors, model.emission_scale = &emissions[0, 0], &floors[0], &emission_scale[0]
    model.transitions, model.back_off, model.transition_scale = &transitions[0, 0, 0], &back_off[0, 0], &transition_scale[0, 0]
    model.start, model.preference = &start[0], &preference[0]
    with nogil:
        for s in range(lo, hi):
            at = offsets[s]
            sentence.n, sentence.K = offsets[s + 1] - at, K
            if sentence.n == 0:
                continue
            sentence.words, sentence.heads, sentence.labels, sentence.order = &words[at], &heads[at], &labels[at], &order[at]
            sentence.support, sentence.sizes, sentence.below = &support[at, 0], &sizes[at], &below[at, 0]
            if not upward_only:
                sentence.above, sentence.posterior = &above[at, 0], &posterior[at, 0]
            next_word = -1
            if s + 1 < hi and offsets[s + 2] > offsets[s + 1]:
                next_word = words[offsets[s + 1] + order[offsets[s + 2] - 1]]
            log_likelihood[s] = infer_sentence(&model, &work, &sentence, next_word)
    free(work.memory)


def select(const float[::1] values, Py_ssize_t k, double epsilon):
    """Indices, rising, that the projections keep of ``values`` >= 0; a list. For tests and documentation."""
    cdef Py_ssize_t n = values.shape[0], size = 0, i
    cdef double mass = 0
    cdef int32_t* at
    cdef float* kept
    if k < 1 or not 0 <= epsilon < 1:
        raise ValueError("k must be above 0, epsilon in [0, 1)")
    if n == 0:
        return []
    at = <int32_t*>malloc((n + FEW) * sizeof(int32_t))
    kept = <float*>malloc((n + FEW) * sizeof(float))
    if at != NULL and kept != NULL:
        size = k_best(&values[0], n, min(k, n), at, kept)
        for i in range(n):
            mass += values[i]
        if epsilon > 0:
            size = epsilon_cut(at, kept, size, (1 - epsilon) * mass)
    try:
        if at == NULL or kept == NULL:
            raise MemoryError
        return [at[i] for i in range(size)]
    finally:
        free(at)
        free(kept)
