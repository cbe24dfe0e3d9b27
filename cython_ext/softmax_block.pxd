"""Up to eight training instances of a huge soft-max at once (inline-only): by dual clustering in products of small matrices, by
the other objectives one after the other (``softmax_steps.pxd``).

The contexts h_1 .. h_n of a block are there before its first step; all else is as if each step saw those before. Of the rows
that every step changes, the exact words' V (n_head, d) and the clusters' A = V_true^T alpha (K, d), the steps are kept as
coefficients: step s adds U_s,r h_s to row r. So the products of target i are

    row_r.h_i = (row_r at the block's begin).h_i + sum over s < i of U_s,r (h_s.h_i),

whose parts, with the Gram matrix of the contexts, come of one product of the rows and the block, and the exact words' part of
the error is

    sum over r of U_i,r row_r = sum over r of U_i,r (row_r at the begin) + sum over s < i of (U_i.U_s over exact words) h_s.

The row of a cluster that is the nearest is brought up to its step at once, as the second order asks for it. A target's own row
outside the exact words, S and the pending squares are changed at once too.

A row of ``scores`` and ``steps`` has the exact words, then the block's contexts (Gram matrix; U_i.U_s), then the clusters.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, uint64_t

from block_rows cimport add_moments, block_mix, block_products, block_update, turn
from dense_rows cimport add_mix, add_scaled, dot, exponential, fetch_row, scaled_difference, second_order, short_dot, without_mix
from softmax_steps cimport CONSTANT, DUAL, PENDING, PRINTED, WEIGHT, Dual, Task, drifted, nearest, shared_mass, take_step

cdef extern from *:
    """
    #define WK_CAP 2.0f
    #define WK_HUBER 2.0f
    """
    const float CAP "WK_CAP"      # most that the weight of a target may be
    const float HUBER "WK_HUBER"  # standard deviations of a score from which the second order goes on in a line

cdef enum:
    BLOCK = 8  # lanes of a vector


cdef struct Block:
    Py_ssize_t n
    Py_ssize_t[8] places   # positions of the targets in the text
    int32_t[8] items
    float[8] rates
    int32_t[8] coming      # items of the next block, and words that its contexts will take in
    int32_t[8] entering
    const float* inputs    # (N, d) H
    float* contexts        # (8, d), zeros from n on
    float* errors          # (8, d) rate x dQ/dh of each
    float* across          # (d, 8) the contexts' transpose
    float* scores          # (8, width)
    float* steps           # (8, width) U
    Py_ssize_t width
    int32_t* caught        # (K) steps that are in a cluster's row already


cdef inline Py_ssize_t row_width(Py_ssize_t k, Py_ssize_t head) noexcept nogil:
    return (head + BLOCK + k + 7) // 8 * 8


cdef inline void fetch_coming(Task* task, Block* block, Py_ssize_t i) noexcept nogil:
    """Ask the memory, during step i, for what target i of the next block will touch: so many rows at once it would not bear."""
    fetch_row(task.outputs + block.coming[i] * task.d, task.d)
    fetch_row(block.inputs + block.entering[i] * task.d, task.d)
    if task.objective <= PRINTED:
        fetch_row(task.dual.alpha + block.coming[i] * task.dual.k, task.dual.k)


cdef inline void catch_up(Task* task, Block* block, Py_ssize_t c, Py_ssize_t i) noexcept nogil:
    """Bring the row of cluster c to step i."""
    cdef Py_ssize_t s, done = block.caught[c], d = task.d
    cdef const float* steps = block.steps + task.dual.head + BLOCK + c
    cdef float[8] missing
    for s in range(done, i):
        missing[s - done] = steps[s * block.width]
    add_mix(task.dual.products + c * d, missing, block.contexts + done * d, i - done, d)
    block.caught[c] = <int32_t>i


cdef inline void dual_step(Task* task, Block* block, Py_ssize_t i) noexcept nogil:
    """Target i of the block; the exact words' part of its error is not in it yet."""
    cdef Dual* dual = &task.dual
    cdef Py_ssize_t d = task.d, n_k = dual.k, n_head = dual.head, width = block.width, item = block.items[i], c, k
    cdef const float* h = block.contexts + i * d
    cdef const float* alpha = dual.alpha + item * n_k
    cdef float* row = task.outputs + item * d
    cdef float* own = row
    cdef float* error = block.errors + i * d
    cdef float* scores = block.scores + i * width
    cdef float* steps = block.steps + i * width
    cdef const float* centre
    cdef float[8] gram
    cdef float score, linear, ratio, product, weight = 0, tail, rate = block.rates[i]
    cdef double log_sum, log_tail
    cdef bint exact = item < n_head
    for k in range(i):
        gram[k] = scores[n_head + k]
    add_mix(scores, gram, block.steps, i, width)
    for k in range(n_head):
        scores[k] += task.bias[k]
    c = nearest(scores + n_head + BLOCK, dual.totals, n_k, &dual.unseen)
    catch_up(task, block, c, i)
    centre = dual.products + c * d
    product = scores[n_head + BLOCK + c]
    log_tail = product + dual.totals[CONSTANT * n_k + c]
    log_tail += second_order(error, centre, dual.variances + c * d, h, dual.means + c * d, HUBER, d)
    if exact:
        score = scores[item]
    else:
        own = task.row
        without_mix(row, alpha, dual.pending, n_k, d, own)
        score = dot(own, h, d) + task.bias[item]
    if not isfinite(score) or not isfinite(log_tail):
        task.broken = True
        return
    log_sum = shared_mass(scores, steps, log_tail, n_head)
    tail = steps[n_head]
    steps[n_head] = 0
    if not exact:  # what is taken from the item in the mean, over what the model says of it
        linear = score - task.bias[item] - product - dot(own, dual.means + c * d, d) + dot(centre, dual.means + c * d, d)
        ratio = alpha[c] * (1 + linear if linear > -0.9 else <float>0.1) * exponential(<float>(log_tail - score))
        rate *= ratio if ratio < CAP else CAP
        weight = rate
    tail *= rate
    task.gained += score - log_sum
    scaled_difference(error, weight, own, tail, error, d)
    for k in range(n_head):
        steps[k] *= -rate
    if exact:
        steps[item] += rate
    else:
        add_scaled(row, rate, h, d)
    add_moments(dual.pending + c * d, dual.squares + c * d, tail, h, d)
    for k in range(n_k):
        steps[n_head + BLOCK + k] = weight * alpha[k] - tail * dual.gram[c * n_k + k]
    dual.totals[WEIGHT * n_k + c] += tail
    dual.totals[PENDING * n_k + c] += 1
    dual.pending_all += 1
    task.due = dual.pending_all >= dual.limits[c] or drifted(dual, c)


cdef inline Py_ssize_t dual_block(Task* task, Block* block) noexcept nogil:
    cdef Dual* dual = &task.dual
    cdef Py_ssize_t d = task.d, n_head = dual.head, width = block.width, done = 0, i, s, k
    cdef Py_ssize_t centres = n_head + BLOCK
    turn(block.across, block.contexts, d)
    block_products(task.outputs, n_head, block.across, d, block.scores, width)
    block_products(block.contexts, BLOCK, block.across, d, block.scores + n_head, width)
    block_products(dual.products, dual.k, block.across, d, block.scores + centres, width)
    for i in range(BLOCK * width):
        block.steps[i] = 0
    for k in range(dual.k):
        block.caught[k] = 0
    while done < block.n and not task.due:
        fetch_coming(task, block, done)
        dual_step(task, block, done)
        if task.broken:
            break
        done += 1
    for i in range(done):
        for s in range(i):
            block.steps[i * width + n_head + s] = short_dot(block.steps + i * width, block.steps + s * width, n_head)
    block_mix(block.errors, block.steps, width, task.outputs, n_head, d, BLOCK)
    block_mix(block.errors, block.steps + n_head, width, block.contexts, BLOCK, d, BLOCK)
    block_update(task.outputs, n_head, block.steps, width, block.contexts, d, BLOCK)
    for k in range(dual.k):
        for s in range(block.caught[k]):
            block.steps[s * width + centres + k] = 0
    block_update(dual.products, dual.k, block.steps + centres, width, block.contexts, d, BLOCK)
    return done


cdef inline Py_ssize_t take_block(Task* task, Block* block) noexcept nogil:
    """The targets of a block by the task's objective, until a cluster is due or a number is not finite; returns how many."""
    cdef Py_ssize_t done = 0
    if task.objective == DUAL:
        return dual_block(task, block)
    while done < block.n and not task.due:
        fetch_coming(task, block, done)
        task.h, task.error = block.contexts + done * task.d, block.errors + done * task.d
        take_step(task, block.items[done], block.rates[done], <uint64_t>block.places[done])
        if task.broken:
            break
        done += 1
    return done
