"""Upward and downward passes over one tree (inline-only); ``tree_messages.pyx`` has the equations and the doors.

A node takes its children's messages one after the other into one product over all classes, so that a single row of C cells is
in work at a time; what the downward pass needs later is kept on supports only.
"""

from libc.math cimport log
from libc.stdint cimport int32_t

from messages cimport choice, emission_row, narrow, prefetch, row_sums
from select cimport epsilon_cut, k_best

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
