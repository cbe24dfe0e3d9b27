"""One training instance of a huge soft-max by each of four objectives (inline-only): dual clustering, NCE, negative sampling, ML.

An instance is a context h (d) and its item i; P(j) is proportional to exp(f_j), f_j = V_j.h + b_j, b_j = log p_j with a
unigram prior and 0 without. Every step moves V, and leaves in ``error`` (d) what is due to the context, rate x dQ/dh.
Wang, Wang and Zhai, AAAI 2017; equations in brackets are theirs.

    DUAL  max f_i - E_alpha[f] - H(alpha) with alpha of the nearest of K clusters (8, 9, 16-18). Term (b) of (17) is pending:
          the true outputs are V - alpha S. products = V_true^T alpha is kept exact. In ``softmax_block.pxd``.
    PRINTED  the same, but V is without the pending part until a cluster's refresh, except at its top items.
    NCE, NS  logistic regression of the item against drawn ones, by f_j - log(negative q_j), or by f_j.
    GD    the gradient of the log-likelihood itself, O(N d).
"""

from libc.math cimport NAN, isfinite, log
from libc.stdint cimport int32_t, int64_t, uint64_t

from block_rows cimport add_moments
from dense_rows cimport (
    add_scaled,
    dot,
    exponential,
    exponentials,
    fetch_row,
    largest,
    learn_row,
    learn_rows,
    picked_products,
    place_of_largest,
    products,
    scaled_difference,
    sigmoids,
)

cdef enum Objective:
    DUAL = 0
    PRINTED = 1
    NCE = 2
    NS = 3
    GD = 4

# Rows of ``totals``: the constant of a cluster's bound, H(alpha) + E_alpha[b]; sum of rates and number of the instances since
# its refresh; refreshes so far.
cdef enum Total:
    CONSTANT = 0
    WEIGHT = 1
    PENDING = 2
    REFRESHED = 3


cdef struct Dual:
    Py_ssize_t k
    const float* alpha     # (N, K)
    const float* gram      # (K, K) alpha^T alpha
    float* pending         # (K, d) S, sums of rate x h
    float* squares         # (K, d) sums of rate x h^2
    float* products        # (K, d) V_true^T alpha
    const float* means     # (K, d) m, contexts where alpha is the soft-max
    const float* variances # (K, d) of the outputs by alpha, component by component; 0 without the second order
    double* totals         # (4, K)
    const double* limits   # (3, K) a refresh is due after so many instances (of all clusters; PRINTED: of this one); with so
                           # large a sum of rates of this one, but not before so many instances of it
    double pending_all     # instances of all clusters since the refresh
    const int32_t* top     # (K, q) items whose term (b) is done at once
    Py_ssize_t q
    Py_ssize_t head        # the first items, whose probabilities are exact; alpha is of the others
    bint unseen            # some cluster may not have had its first refresh


cdef struct Noise:
    Py_ssize_t n             # drawn items an instance
    const float* keep        # (N) alias table of q
    const int32_t* alias     # (N)
    const float* shift       # (N) log(negative q)
    uint64_t key             # of the random numbers


cdef struct Task:
    Objective objective
    Py_ssize_t n, d
    float* outputs         # (N, d) V
    const float* bias      # (N) b
    float* h               # (d)
    float* error           # (d)
    float* row             # (d)
    float* scores          # K, 1 + negative, or N for GD
    float* weights         # as scores
    int32_t* items         # 1 + negative
    Dual dual
    Noise noise
    double gained          # sum of the objective
    bint due, broken


cdef inline int take_noise(Noise* noise, Py_ssize_t n, tuple arrays) except -1:
    """Pointers of the noise distribution over n items; ValueError where shapes do not fit."""
    cdef const float[::1] keep = arrays[0], shift = arrays[2]
    cdef const int32_t[::1] alias = arrays[1]
    cdef Py_ssize_t i
    if keep.shape[0] != n or alias.shape[0] != n or shift.shape[0] != n or not 1 <= arrays[3] < 1 << 20:
        raise ValueError("shapes of the noise do not agree")
    for i in range(n):
        if not 0 <= alias[i] < n:
            raise ValueError("the noise draws an item that does not exist")
    noise.keep, noise.alias, noise.shift = &keep[0], &alias[0], &shift[0]
    noise.n, noise.key = arrays[3], arrays[4]
    return 0


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """SplitMix64's output function (Steele, Lea and Flood 2014): a random number from a counter."""
    x += <uint64_t>0x9E3779B97F4A7C15
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline int32_t drawn(const Noise* noise, Py_ssize_t n, uint64_t random) noexcept nogil:
    """An item from the alias table: the upper half chooses the place, the lower between its two items."""
    cdef Py_ssize_t place = <Py_ssize_t>(((random >> 32) * <uint64_t>n) >> 32)
    return <int32_t>place if <float>(random & <uint64_t>0xFFFFFFFF) * <float>2.3283064e-10 < noise.keep[place] else noise.alias[place]


cdef inline Py_ssize_t nearest(const float* scores, const double* totals, Py_ssize_t n_k, bint* unseen) noexcept nogil:
    """The cluster of a context or row by (9), of its products with the true outputs' centres; before their first refresh all
    are equal, and the emptiest takes it. ``unseen``: whether there may be such; cleared where there are none any more."""
    cdef Py_ssize_t k, best = 0
    cdef double highest = 0
    cdef bint found = False
    if unseen[0]:
        for k in range(n_k):
            if totals[REFRESHED * n_k + k] == 0 and (not found or totals[PENDING * n_k + k] < highest):
                found, best, highest = True, k, totals[PENDING * n_k + k]
        if found:
            return best
        unseen[0] = False
    return place_of_largest(scores, totals + CONSTANT * n_k, n_k)


cdef inline double shared_mass(const float* scores, float* weights, double tail, Py_ssize_t n) noexcept nogil:
    """Probabilities of n items from their scores and the log-sum of all the others, whose probability goes into
    weights[n]; returns the logarithm of the whole sum."""
    cdef Py_ssize_t s
    cdef float highest = largest(scores, n), scale
    cdef double total
    if highest < <float>tail:
        highest = <float>tail
    total = exponentials(weights, scores, highest, n)
    weights[n] = exponential(<float>(tail - highest))
    total += weights[n]
    scale = <float>(1 / total)
    for s in range(n + 1):
        weights[s] *= scale
    return highest + log(total)


cdef inline double full_mass(const float* scores, float* weights, Py_ssize_t item, float rate, Py_ssize_t n) noexcept nogil:
    """rate x the gradient of log P(item) by the n scores into ``weights``; returns log P(item), NaN where it is none."""
    cdef Py_ssize_t j
    cdef float highest = largest(scores, n)
    cdef double total = 0
    if not isfinite(scores[item]) or not isfinite(highest):
        return NAN
    exponentials(weights, scores, highest, n)
    for j in range(n):
        total += weights[j]
    for j in range(n):
        weights[j] *= <float>(-rate / total)
    weights[item] += rate
    return scores[item] - highest - log(total)


cdef inline bint drifted(const Dual* dual, Py_ssize_t c) noexcept nogil:
    """Whether the sum of rates of cluster c asks for a refresh."""
    cdef double weight = dual.totals[WEIGHT * dual.k + c], pending = dual.totals[PENDING * dual.k + c]
    return weight >= dual.limits[dual.k + c] and pending >= dual.limits[2 * dual.k + c]


cdef inline void printed_step(Task* task, Py_ssize_t item, float rate) noexcept nogil:
    cdef Dual* dual = &task.dual
    cdef Py_ssize_t d = task.d, n_k = dual.k, c, k
    cdef float* row = task.outputs + item * d
    cdef float score
    cdef double log_sum
    products(dual.products, task.h, n_k, d, task.scores)
    c = nearest(task.scores, dual.totals, n_k, &dual.unseen)
    score = dot(row, task.h, d) + task.bias[item]
    log_sum = task.scores[c] + dual.totals[CONSTANT * n_k + c]
    if not isfinite(score) or not isfinite(log_sum):
        task.broken = True
        return
    task.gained += score - log_sum
    scaled_difference(task.error, rate, row, rate, dual.products + c * d, d)
    add_scaled(row, rate, task.h, d)
    add_moments(dual.pending + c * d, dual.squares + c * d, rate, task.h, d)
    for k in range(dual.q):
        item = dual.top[c * dual.q + k]
        add_scaled(task.outputs + item * d, -rate * dual.alpha[item * n_k + c], task.h, d)
    dual.totals[WEIGHT * n_k + c] += rate
    dual.totals[PENDING * n_k + c] += 1
    task.due = dual.totals[PENDING * n_k + c] >= dual.limits[c] or drifted(dual, c)


cdef inline Py_ssize_t draw_items(
    const Noise* noise, bint nce, Py_ssize_t n_items, Py_ssize_t item, uint64_t counter, int32_t* items
) noexcept nogil:
    """The item and its noise into ``items``; returns their number. Of NS a draw of the item itself is left out, as in word2vec."""
    cdef Py_ssize_t s, n = 1
    cdef int32_t other
    items[0] = <int32_t>item
    for s in range(noise.n):
        other = drawn(noise, n_items, mixed(noise.key + counter * <uint64_t>noise.n + <uint64_t>s))
        if nce or other != item:
            items[n] = other
            n += 1
    return n


cdef inline double told_apart(
    const Noise* noise, bint nce, const float* bias, const int32_t* items, Py_ssize_t n, float rate, float* scores, float* weights
) noexcept nogil:
    """rate x the gradient of the log-likelihood that the first item is no noise and the others are, by the scores without bias,
    into ``weights``; returns that log-likelihood, NaN where it is none."""
    cdef Py_ssize_t s
    cdef float p
    cdef double likelihood = 1
    for s in range(n):
        scores[s] += bias[items[s]]
        if nce:
            scores[s] -= noise.shift[items[s]]
    sigmoids(weights, scores, n)
    for s in range(n):
        p = weights[s]
        weights[s] = -rate * p
        likelihood *= 1 - p if s else p
    weights[0] += rate
    if not isfinite(scores[0]) or likelihood != likelihood:
        return NAN
    return log(likelihood if likelihood > 1e-300 else 1e-300)


cdef inline void sampled_step(Task* task, Py_ssize_t item, float rate, uint64_t counter) noexcept nogil:
    cdef Py_ssize_t s, n, d = task.d
    cdef bint nce = task.objective == NCE
    cdef double gain
    n = draw_items(&task.noise, nce, task.n, item, counter, task.items)
    for s in range(1, n):
        fetch_row(task.outputs + task.items[s] * d, d)
    picked_products(task.outputs, task.items, task.h, n, d, task.scores)
    gain = told_apart(&task.noise, nce, task.bias, task.items, n, rate, task.scores, task.weights)
    if not isfinite(gain):
        task.broken = True
        return
    task.gained += gain
    for s in range(d):
        task.error[s] = 0
    for s in range(n):
        learn_row(task.outputs + task.items[s] * d, task.weights[s], task.h, task.error, d)


cdef inline void full_step(Task* task, Py_ssize_t item, float rate) noexcept nogil:
    cdef Py_ssize_t j, d = task.d
    cdef double gain
    products(task.outputs, task.h, task.n, d, task.scores)
    for j in range(task.n):
        task.scores[j] += task.bias[j]
    gain = full_mass(task.scores, task.weights, item, rate, task.n)
    if not isfinite(gain):
        task.broken = True
        return
    task.gained += gain
    for j in range(d):
        task.error[j] = 0
    learn_rows(task.outputs, task.weights, task.h, task.error, task.n, d)


cdef inline void take_step(Task* task, Py_ssize_t item, float rate, uint64_t counter) noexcept nogil:
    """One instance by an objective other than DUAL; ``counter`` numbers it for the random draws."""
    if task.objective == PRINTED:
        printed_step(task, item, rate)
    elif task.objective == GD:
        full_step(task, item, rate)
    else:
        sampled_step(task, item, rate, counter)
