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

from libc.math cimport log
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from messages cimport choice, emission_row, narrow, prefetch, row_sums
from select cimport FEW, epsilon_cut, k_best

cdef extern from *:
    """
    #define WK_IMPOSSIBLE 1e-300
    #define WK_VANISHED 1e-30
    """
    const double WK_IMPOSSIBLE
    const double WK_VANISHED


cdef struct Model:
    Py_ssize_t C
    const double* emissions
    const double* floors
    const double* emission_scale
    const float* transitions
    const float* back_off
    const float* transition_scale
    const float* start
    const float* preference
    Py_ssize_t k
    double epsilon
    bint upward_only


cdef struct Sentence:
    Py_ssize_t n, K
    const int32_t* words
    const int32_t* heads
    const int32_t* labels
    const int32_t* order
    int32_t* support  # these five are n rows of K cells
    int32_t* sizes
    float* below
    float* above
    float* posterior


cdef struct Work:
    void* memory
    double* row       # 2 C: the emission row of a node
    double* own       # n x k: on the supports, emission row, then d times it
    double* prefix    # (children + 1) x k
    float* product    # C
    float* chosen     # C
    float* kept       # C + FEW
    int32_t* at       # C + FEW
    float* full       # children x C: the messages into one node
    float* message    # n x k: a node's message, on its parent's support
    int32_t* children # children of one node
    int32_t* first    # n + 1: the first child of a node, 0 if none, both counted from 1
    int32_t* sibling  # n


cdef struct Logarithm:
    double sum
    double product


# --- one node -------------------------------------------------------------------------------------------------------


cdef inline void multiply(Logarithm* total, double factor) noexcept nogil:
    """Adds log(factor), with a logarithm taken only now and then."""
    total.product *= factor
    if not 1e-100 < total.product < 1e100:
        total.sum += log(total.product)
        total.product = 1


cdef inline void give_up(Logarithm* total, float* vector, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(n):
        vector[c] = <float>(1.0 / n)
    total.sum += log(WK_IMPOSSIBLE)


cdef inline double normalize(double* vector, Py_ssize_t n) noexcept nogil:
    """Scales a vector to sum 1 and returns what its sum was; a zero vector stays."""
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(n):
        total += vector[i]
    if total > 0:
        for i in range(n):
            vector[i] /= total
    return total


cdef inline void project(const Model* model, Work* work, const Sentence* sentence, Py_ssize_t node,
                         Logarithm* total) noexcept nogil:
    """The support of a node and its u on it, from the product over all classes."""
    cdef Py_ssize_t C = model.C, i, size
    cdef int32_t* support = sentence.support + node * sentence.K
    cdef float* below = sentence.below + node * sentence.K
    cdef double mass = choice(work.product, model.preference, C, work.chosen), kept = 0
    size = k_best(work.chosen, C, model.k, work.at, work.kept)
    if size > 0 and model.epsilon > 0:
        size = epsilon_cut(work.at, work.kept, size, (1 - model.epsilon) * mass)
    if size <= 0:
        give_up(total, work.product, C)
        size = min(model.k, C)
        for i in range(size):
            work.at[i] = <int32_t>i
    for i in range(size):
        support[i] = work.at[i]
        below[i] = work.product[support[i]]
        kept += below[i]
    for i in range(size):
        below[i] = <float>(below[i] / kept)
    multiply(total, kept)
    sentence.sizes[node] = <int32_t>size


cdef inline void ascend(const Model* model, Work* work, const Sentence* sentence, Py_ssize_t node,
                        Logarithm* total) noexcept nogil:
    """u of a node whose children are done, and their messages on its support."""
    cdef Py_ssize_t C = model.C, K = sentence.K, k = model.k, i, child, size, edge = 0
    cdef Py_ssize_t word = sentence.words[node], label
    cdef double sum
    cdef float scale, base
    cdef const float* back_off
    cdef const float* below
    cdef const int32_t* support
    cdef float* weights = work.kept
    sum = emission_row(model.emissions + word * C, model.floors[word], model.emission_scale, C, work.row)
    if WK_IMPOSSIBLE < sum < 1 / WK_IMPOSSIBLE:
        multiply(total, sum)
    else:
        for i in range(C):
            work.row[i] = 1.0 / C
        total.sum += log(WK_IMPOSSIBLE)
        sum = 1
    narrow(work.row, 1 / sum, C, work.product)
    child = work.first[node + 1]
    sum = 1
    while child:
        label = sentence.labels[child - 1]
        support = sentence.support + (child - 1) * K
        below = sentence.below + (child - 1) * K
        back_off = model.back_off + label * C
        size = sentence.sizes[child - 1]
        scale = <float>(1 / sum)
        base = 0
        for i in range(size):
            weights[i] = below[i] * scale
            base += weights[i] * back_off[support[i]]
        multiply(total, 1 / <double>scale)
        sum = row_sums(model.transitions + label * C * C, C, support, weights, size, base,
                       model.transition_scale + label * C, work.full + edge * C, work.product)
        if not WK_VANISHED < sum < 1 / WK_VANISHED:
            give_up(total, work.product, C)
            sum = 1
        if not model.upward_only:
            edge += 1
        child = work.sibling[child - 1]
    project(model, work, sentence, node, total)
    if model.upward_only:
        return
    support = sentence.support + node * K
    size = sentence.sizes[node]
    for i in range(size):
        work.own[node * k + i] = work.row[support[i]]
    child = work.first[node + 1]
    edge = 0
    while child:
        for i in range(size):
            work.message[(child - 1) * k + i] = work.full[edge * C + support[i]]
        edge += 1
        child = work.sibling[child - 1]


cdef inline void finish_root(const Model* model, Work* work, const Sentence* sentence, Py_ssize_t node,
                             Logarithm* total) noexcept nogil:
    cdef Py_ssize_t K = sentence.K, i, size = sentence.sizes[node]
    cdef const int32_t* support = sentence.support + node * K
    cdef const float* below = sentence.below + node * K
    cdef double sum = 0
    cdef bint vanished
    for i in range(size):
        sum += <double>model.start[support[i]] * below[i]
    vanished = not WK_IMPOSSIBLE < sum < 1 / WK_IMPOSSIBLE
    multiply(total, WK_IMPOSSIBLE if vanished else sum)
    if model.upward_only:
        return
    for i in range(size):
        if vanished:
            sentence.posterior[node * K + i] = below[i]
        else:
            sentence.posterior[node * K + i] = <float>(model.start[support[i]] * below[i] / sum)
            work.own[node * model.k + i] *= model.start[support[i]]
    normalize(work.own + node * model.k, size)


cdef inline void descend(const Model* model, Work* work, const Sentence* sentence, Py_ssize_t parent, Py_ssize_t child,
                         const double* v) noexcept nogil:
    """Posterior and ``above`` of a child from v on the parent's support; its ``own`` takes what comes from above."""
    cdef Py_ssize_t C = model.C, K = sentence.K, i, j
    cdef Py_ssize_t size = sentence.sizes[child], width = sentence.sizes[parent], label = sentence.labels[child]
    cdef const int32_t* rows = sentence.support + child * K
    cdef const int32_t* columns = sentence.support + parent * K
    cdef const float* scale = model.transition_scale + label * C
    cdef const float* cells
    cdef float* below = sentence.below + child * K
    cdef float* above = sentence.above + child * K
    cdef float* posterior = sentence.posterior + child * K
    cdef double* own = work.own + child * model.k
    cdef double* scaled = work.row
    cdef double* d = scaled + model.k
    cdef double sum = 0, value
    for j in range(width):
        scaled[j] = v[j] * scale[columns[j]]
        sum += scaled[j]
    for i in range(size):
        cells = model.transitions + (label * C + rows[i]) * C
        value = sum * model.back_off[label * C + rows[i]]
        for j in range(width):
            value += scaled[j] * cells[columns[j]]
        d[i] = value
    sum = 0
    for i in range(size):
        sum += below[i] * d[i]
    if WK_VANISHED < sum < 1 / WK_VANISHED:
        for i in range(size):
            posterior[i] = <float>(below[i] * d[i] / sum)
            own[i] *= d[i]
        for j in range(width):
            above[j] = <float>(v[j] / sum)
    else:
        for i in range(size):
            posterior[i] = below[i]
        for j in range(width):
            above[j] = 0
    normalize(own, size)


cdef inline void spread(const Model* model, Work* work, const Sentence* sentence, Py_ssize_t node) noexcept nogil:
    """Sends to each child of a node what came from above times the messages of the others."""
    cdef Py_ssize_t k = model.k, i, child = work.first[node + 1], edge = 0, size = sentence.sizes[node]
    cdef double* before = work.prefix
    cdef double* suffix
    cdef const float* message
    for i in range(size):
        before[i] = work.own[node * k + i]
    while child:
        message = work.message + (child - 1) * k
        work.children[edge] = <int32_t>(child - 1)
        for i in range(size):
            before[k + i] = before[i] * message[i]
        before += k
        normalize(before, size)
        edge += 1
        child = work.sibling[child - 1]
    suffix = before  # the product over all children is not needed
    for i in range(size):
        suffix[i] = 1
    while edge > 0:
        edge -= 1
        child = work.children[edge]
        message = work.message + child * k
        before -= k
        for i in range(size):
            before[i] *= suffix[i]
            suffix[i] *= message[i]
        normalize(before, size)
        normalize(suffix, size)
        descend(model, work, sentence, node, child, before)


cdef inline double infer_sentence(const Model* model, Work* work, const Sentence* sentence, int32_t next_word) noexcept nogil:
    cdef Py_ssize_t i, node, head
    cdef Logarithm total
    total.sum = 0
    total.product = 1
    for i in range(sentence.n + 1):
        work.first[i] = 0
    for i in range(sentence.n - 1, -1, -1):
        node = sentence.order[i]
        head = sentence.heads[node]
        work.sibling[node] = work.first[head]
        work.first[head] = <int32_t>(node + 1)
    for i in range(sentence.n - 1, -1, -1):
        node = sentence.order[i]
        if i > 0:
            prefetch(model.emissions + sentence.words[sentence.order[i - 1]] * model.C, 8 * model.C)
        elif next_word >= 0:
            prefetch(model.emissions + next_word * model.C, 8 * model.C)
        ascend(model, work, sentence, node, &total)
        if sentence.heads[node] == 0:
            finish_root(model, work, sentence, node, &total)
    if not model.upward_only:
        for i in range(sentence.n):
            spread(model, work, sentence, sentence.order[i])
    return total.sum + log(total.product)


# --- doors ----------------------------------------------------------------------------------------------------------


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
