"""Training of a continuous bag of words with a huge soft-max: one window loop for the objectives of ``softmax_block.pxd``.

The target at position t of a sentence has the context h_t = mean of H[w_p], 0 < |p - t| <= window, within the sentence
(Wang, Wang and Zhai 2017, equation 3, with the words there are in place of 2c). With a fixed window the sum over a window
moves on by one word in and one out, and so does the sum of the gradients that are due to a word (18): O(d) a target for any
window. A word's gradients are added to its row of H when it leaves the window; what is subtracted from the sum is the row as it was
added. With a dynamic window (word2vec's habit) each target draws its width from 1 to ``window``: its words are gone through.

Targets are taken in blocks, which pass over the ends of sentences: its contexts are gathered, its steps are taken, and its
gradients are brought to the words. So a row of H is read up to seven targets before its turn.
Rows are float32, of a length d that is a multiple of 8.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from block_rows cimport due_row, enter_row, mean_without, settle_row
from dense_rows cimport add_scaled, shrunk_row
from softmax_block cimport BLOCK, Block, row_width, take_block
from softmax_steps cimport DUAL, GD, NCE, NS, PENDING, PRINTED, Objective, Task, mixed, take_noise

OBJECTIVES = {"dcme": DUAL, "printed": PRINTED, "nce": NCE, "ns": NS, "gd": GD}
DONE, DUE, BROKEN = range(3)

cdef enum:
    RESUM = 1024  # targets of a sentence after which running sums are made anew, against rounding


cdef struct Sentence:
    Py_ssize_t number, begin, end
    Py_ssize_t first     # its first target
    Py_ssize_t oldest    # the first word in any of the windows


cdef struct Window:
    const int32_t* words
    const int64_t* bounds
    float* inputs        # (N, d) H
    Py_ssize_t size, d, mask
    Py_ssize_t lo, hi    # the targets
    Py_ssize_t n         # words
    float* contexts      # (mask + 1, d) rows of the words in the window as they were added to the sum
    float* errors        # (mask + 1, d) gradients of the last targets
    float* sum           # (d) of contexts
    float* due           # (d) sum of errors
    float decay
    double rate, slope   # step size at target lo, and its change a target
    uint64_t key         # of drawn widths
    bint dynamic
    Sentence ahead, behind   # where contexts are gathered, and where gradients are brought to words


cdef inline void zero(float* row, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(d):
        row[c] = 0


cdef inline float* ring(float* rows, const Window* window, Py_ssize_t p) noexcept nogil:
    return rows + (p & window.mask) * window.d


cdef inline float* input_row(Window* window, Py_ssize_t p) noexcept nogil:
    return window.inputs + window.words[p] * window.d


cdef inline float rate_at(const Window* window, Py_ssize_t t) noexcept nogil:
    return <float>(window.rate + window.slope * (t - window.lo))


cdef inline void sum_rows(float* out, float* rows, Py_ssize_t lo, Py_ssize_t hi, const Window* window) noexcept nogil:
    cdef Py_ssize_t p
    zero(out, window.d)
    for p in range(lo, hi):
        add_scaled(out, 1, ring(rows, window, p), window.d)


cdef inline bint follow(const Window* window, Sentence* at, Py_ssize_t t) noexcept nogil:
    """Go on to the sentence of target t; returns whether it is another."""
    if t < at.end:
        return False
    while window.bounds[at.number + 1] <= t:
        at.number += 1
    at.begin, at.end = window.bounds[at.number], window.bounds[at.number + 1]
    at.first = max(at.begin, window.lo)
    at.oldest = max(at.begin, at.first - window.size)
    return True


cdef inline void enter(Window* window, Py_ssize_t p) noexcept nogil:
    enter_row(ring(window.contexts, window, p), window.sum, input_row(window, p), window.d)


cdef inline void running_context(Window* window, Py_ssize_t t, float* h) noexcept nogil:
    """h_t by the sum, which then moves on to the next target."""
    cdef Sentence* at = &window.ahead
    cdef Py_ssize_t size = window.size, d = window.d, p
    if t == at.first:
        zero(window.sum, d)
        for p in range(at.oldest, min(at.end, t + size)):
            enter(window, p)
    if t + size < at.end:
        enter(window, t + size)
    p = min(at.end, t + size + 1) - max(at.begin, t - size) - 1
    mean_without(h, window.sum, ring(window.contexts, window, t), <float>1 / <float>p, d)
    if t - size >= at.oldest:
        add_scaled(window.sum, -1, ring(window.contexts, window, t - size), d)
    if (t + 1 - at.first) % RESUM == 0:
        sum_rows(window.sum, window.contexts, max(at.oldest, t + 1 - size), min(at.end, t + 1 + size), window)


cdef inline Py_ssize_t drawn_size(const Window* window, Py_ssize_t t) noexcept nogil:
    return 1 + <Py_ssize_t>(mixed(window.key + <uint64_t>t) % <uint64_t>window.size)


cdef inline void drawn_context(Window* window, Py_ssize_t t, float* h) noexcept nogil:
    cdef Sentence* at = &window.ahead
    cdef Py_ssize_t size = drawn_size(window, t), lo = max(at.begin, t - size), hi = min(at.end, t + size + 1), p
    zero(h, window.d)
    for p in range(lo, hi):
        if p != t:
            add_scaled(h, <float>1 / <float>(hi - lo - 1), input_row(window, p), window.d)


cdef Py_ssize_t gather(Window* window, Block* block, Py_ssize_t t) noexcept nogil:
    """The contexts of the targets from t on into the block; words alone in a sentence have none. Returns the target after it."""
    cdef Py_ssize_t n = 0, d = window.d, i
    while n < BLOCK and t < window.hi:
        follow(window, &window.ahead, t)
        if window.ahead.end - window.ahead.begin > 1:
            block.places[n], block.items[n], block.rates[n] = t, window.words[t], rate_at(window, t)
            if window.dynamic:
                drawn_context(window, t, block.contexts + n * d)
            else:
                running_context(window, t, block.contexts + n * d)
            n += 1
        t += 1
    block.n = n
    for i in range(BLOCK):
        block.coming[i] = window.words[min(t - n + i + 2, window.n - 1)]
        block.entering[i] = window.words[min(t + window.size + i, window.n - 1)]
    zero(block.contexts + n * d, (BLOCK - n) * d)
    return t


cdef inline void settle(Window* window, Py_ssize_t p, Py_ssize_t end) noexcept nogil:
    """Add what is due to the word at p: the sum of its targets' errors, all below ``end``, without its own."""
    cdef bint target = window.behind.first <= p < end
    settle_row(
        input_row(window, p), window.decay * rate_at(window, p) if target else 0, window.due,
        ring(window.errors, window, p) if target else NULL, window.d,
    )
    if p - window.size >= window.behind.first:  # no word behind p is in the window of this target
        add_scaled(window.due, -1, ring(window.errors, window, p - window.size), window.d)


cdef inline void settle_rest(Window* window, Py_ssize_t t) noexcept nogil:
    """The words of the last windows, left to right, where target t is not to come in this sentence."""
    cdef Py_ssize_t p
    for p in range(max(window.behind.oldest, t - window.size), min(window.behind.end, t + window.size)):
        settle(window, p, t)


cdef inline void running_error(Window* window, Py_ssize_t t, const float* error) noexcept nogil:
    """Bring the error of target t on its way to its words; NULL of a word that is alone."""
    cdef Sentence* at = &window.behind
    cdef Py_ssize_t size = window.size, d = window.d
    if t == at.first:
        zero(window.due, d)
    if error is NULL:
        zero(ring(window.errors, window, t), d)
    else:
        due_row(ring(window.errors, window, t), window.due,
                <float>1 / <float>(min(at.end, t + size + 1) - max(at.begin, t - size) - 1), error, d)
    if t - size >= at.oldest:
        settle(window, t - size, t + 1)
    if (t + 1 - at.first) % RESUM == 0:
        sum_rows(window.due, window.errors, max(at.first, t + 1 - 2 * size), t + 1, window)
    if t + 1 == at.end:
        settle_rest(window, t + 1)


cdef inline void drawn_error(Window* window, Py_ssize_t t, float* error) noexcept nogil:
    cdef Sentence* at = &window.behind
    cdef Py_ssize_t size = drawn_size(window, t), lo = max(at.begin, t - size), hi = min(at.end, t + size + 1), p, c
    if error is NULL:
        return
    for c in range(window.d):
        error[c] *= <float>1 / <float>(hi - lo - 1)
    for p in range(lo, hi):
        if p != t:
            add_scaled(input_row(window, p), 1, error, window.d)
    if window.decay > 0:
        zero(window.due, window.d)
        shrunk_row(input_row(window, t), window.decay * rate_at(window, t), window.due, window.d)


cdef void release(Window* window, Block* block, Py_ssize_t t, Py_ssize_t end) noexcept nogil:
    """Bring the errors of the targets from t to ``end`` - 1 to the words of their contexts."""
    cdef Py_ssize_t i = 0
    cdef float* error
    while t < end:
        follow(window, &window.behind, t)
        error = NULL
        if window.behind.end - window.behind.begin > 1:
            error = block.errors + i * window.d
            i += 1
        if window.dynamic:
            drawn_error(window, t, error)
        else:
            running_error(window, t, error)
        t += 1


cdef Py_ssize_t go_through(Window* window, Task* task, Block* block) noexcept nogil:
    """Blocks of targets until all are done, a cluster is due or a number is not finite; returns the target to go on with."""
    cdef Py_ssize_t t = window.lo, end, done
    while t < window.hi and not task.due and not task.broken:
        end = gather(window, block, t)
        done = take_block(task, block)
        if done < block.n:
            end = block.places[done - 1] + 1 if done else t
        release(window, block, t, end)
        t = end
    if not window.dynamic and window.lo < t < window.behind.end:
        settle_rest(window, t)
    return t


# --- doors ----------------------------------------------------------------------------------------------------------


def ring_rows(Py_ssize_t window):
    """Rows that a running window keeps: a power of two over 2 window + 1."""
    cdef Py_ssize_t rows = 1
    while rows < 2 * window + 1:
        rows *= 2
    return rows


def dual_scores(Py_ssize_t k, Py_ssize_t head):
    """Cells of the scores of a block, of K clusters and the exact items."""
    return BLOCK * row_width(k, head)


def scratch_size(Py_ssize_t window, Py_ssize_t d, Py_ssize_t scores):
    """Float cells that :func:`train_words` needs: two rings, three rows, three blocks, and twice the scores."""
    return (2 * ring_rows(window) + 3 + 3 * BLOCK) * d + 2 * scores


def check_words(const int32_t[::1] words, const int64_t[::1] bounds, Py_ssize_t n_items):
    """Raise ValueError unless sentences of words below ``n_items`` end at ``bounds``. Call before the doors below."""
    cdef Py_ssize_t i
    cdef bint good = bounds.shape[0] > 0 and bounds[0] == 0 and bounds[bounds.shape[0] - 1] == words.shape[0]
    if good:
        with nogil:
            for i in range(bounds.shape[0] - 1):
                good = good and bounds[i] <= bounds[i + 1]
            for i in range(words.shape[0]):
                good = good and 0 <= words[i] < n_items
    if not good:
        raise ValueError("sentences do not cover the words, or a word lies outside the vocabulary")


cdef int take_dual(Task* task, tuple arrays) except -1:
    """Pointers of the clusters' arrays; ValueError where shapes do not fit."""
    cdef const float[:, ::1] alpha = arrays[0], gram = arrays[1]
    cdef float[:, :, ::1] rows = arrays[2]
    cdef double[:, ::1] totals = arrays[3]
    cdef const double[:, ::1] limits = arrays[4]
    cdef const int32_t[:, ::1] top = arrays[5]
    cdef Py_ssize_t k = alpha.shape[1], head = arrays[6], i, j
    if (alpha.shape[0] != task.n or k < 1 or gram.shape[0] != k or gram.shape[1] != k or rows.shape[0] != 5
            or rows.shape[1] != k or rows.shape[2] != task.d or totals.shape[0] != 4 or totals.shape[1] != k
            or limits.shape[0] != 3 or limits.shape[1] != k or top.shape[0] != k or not 0 <= head < task.n):
        raise ValueError("shapes of the clusters do not agree")
    for i in range(k):
        for j in range(top.shape[1]):
            if not 0 <= top[i, j] < task.n:
                raise ValueError("a top item does not exist")
    task.dual.k, task.dual.q = k, top.shape[1]
    task.dual.alpha, task.dual.gram = &alpha[0, 0], &gram[0, 0]
    task.dual.pending, task.dual.products, task.dual.squares = &rows[0, 0, 0], &rows[1, 0, 0], &rows[2, 0, 0]
    task.dual.means, task.dual.variances = &rows[3, 0, 0], &rows[4, 0, 0]
    task.dual.totals, task.dual.limits = &totals[0, 0], &limits[0, 0]
    task.dual.top = &top[0, 0] if top.shape[1] else NULL
    task.dual.unseen, task.dual.head = True, head
    task.dual.pending_all = 0
    for i in range(k):
        task.dual.pending_all += totals[<int>PENDING, i]
    return 0


cdef Py_ssize_t scores_of(Task* task) noexcept:
    if task.objective <= PRINTED:
        return BLOCK * row_width(task.dual.k, task.dual.head)
    return task.n if task.objective == GD else 1 + task.noise.n


def train_words(
    const int32_t[::1] words, const int64_t[::1] bounds, Py_ssize_t lo, Py_ssize_t hi, int objective, tuple arrays,
    float[:, ::1] inputs, float[:, ::1] outputs, const float[::1] bias, Py_ssize_t window, bint dynamic, uint64_t key,
    double rate, double slope, double decay, float[::1] scratch, int32_t[::1] items, double[::1] sums,
):
    """Steps for the targets lo to hi - 1, in their order, until a cluster is due for its refresh.

    Args:
        words, bounds: word numbers, and where sentences begin and end, that passed :func:`check_words`.
        objective: of OBJECTIVES.
        arrays: for the dual objectives alpha (N, K), gram (K, K), rows (5, K, d) of S, V_true^T alpha, squares, m and
            variances, totals (4, K), limits (3, K), top (K, q), number of head items; for NCE and NS the noise: keep (N), alias (N), shift (N), number, key; for GD ().
        inputs, outputs: H and V, (N, d), changed in place; bias: (N).
        key: of the drawn widths. rate, slope: step size at target lo, and its change a target. decay: share of a word's
            row, times the rate, that is lost at each of its occurrences.
        scratch: :func:`scratch_size` cells. items: 1 + negative cells; for the dual objectives K.
        sums: 2 cells that are added to: objective, targets.

    Returns:
        (target to go on with, status): DONE, DUE, or BROKEN where a number was not finite.
    """
    cdef Task task
    cdef Window w
    cdef Block block
    cdef Py_ssize_t d = outputs.shape[1], rows = ring_rows(window), n_scores, low, high, middle, t = lo
    if not 0 <= lo <= hi <= words.shape[0] or bounds[bounds.shape[0] - 1] != words.shape[0]:
        raise ValueError("targets are out of range")
    if lo == hi:
        return lo, DONE
    if outputs.shape[0] < 1 or inputs.shape[0] != outputs.shape[0] or inputs.shape[1] != d or bias.shape[0] != outputs.shape[0]:
        raise ValueError("shapes of the vectors do not agree")
    if d < 8 or d % 8 or window < 1 or sums.shape[0] < 2 or objective not in OBJECTIVES.values():
        raise ValueError("rows, window, sums or objective are out of range")
    task.objective = <Objective>objective
    task.n, task.d, task.outputs, task.bias = outputs.shape[0], d, &outputs[0, 0], &bias[0]
    if objective <= PRINTED:
        take_dual(&task, arrays)
    elif objective != GD:
        take_noise(&task.noise, task.n, arrays)
    if items.shape[0] < (task.dual.k if objective <= PRINTED else 0 if objective == GD else task.noise.n + 1):
        raise ValueError("items are too few")
    task.items = &items[0] if items.shape[0] else NULL
    n_scores = scores_of(&task)
    if scratch.shape[0] < scratch_size(window, d, n_scores):
        raise ValueError("scratch is too small")
    task.due = task.broken = False
    task.gained = 0
    w.words, w.bounds, w.inputs, w.size, w.d, w.mask, w.decay = &words[0], &bounds[0], &inputs[0, 0], window, d, rows - 1, decay
    w.n = words.shape[0]
    w.lo, w.hi, w.rate, w.slope, w.key, w.dynamic = lo, hi, rate, slope, key, dynamic
    w.contexts, w.errors = &scratch[0], &scratch[rows * d]
    w.sum = w.errors + rows * d
    w.due, task.row = w.sum + d, w.sum + 2 * d
    block.inputs, block.contexts = w.inputs, w.sum + 3 * d
    block.errors, block.across = block.contexts + BLOCK * d, block.contexts + 2 * BLOCK * d
    block.scores = task.scores = block.contexts + 3 * BLOCK * d
    block.steps = task.weights = task.scores + n_scores
    block.caught = task.items
    if objective == DUAL:
        block.width = row_width(task.dual.k, task.dual.head)
    low, high = 0, bounds.shape[0] - 1  # around the sentence of target lo
    with nogil:
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if bounds[middle] <= lo else (low, middle)
        w.ahead.number = w.behind.number = low
        w.ahead.end = w.behind.end = lo
        t = go_through(&w, &task, &block)
    sums[0] += task.gained
    sums[1] += t - lo
    return t, BROKEN if task.broken else DUE if task.due else DONE


def mean_contexts(
    const int32_t[::1] words, const int64_t[::1] bounds, Py_ssize_t lo, Py_ssize_t hi, const float[:, ::1] inputs,
    Py_ssize_t window, float[:, ::1] out, uint8_t[::1] found,
):
    """Contexts of the targets lo to hi - 1 into the rows of ``out``; ``found``: whether there are any words in them."""
    cdef Py_ssize_t d = inputs.shape[1], s = 0, t, p, a, b
    if not 0 <= lo <= hi <= words.shape[0] or out.shape[0] < hi - lo or out.shape[1] != d or found.shape[0] < hi - lo:
        raise ValueError("targets are out of range")
    if lo == hi or window < 1 or d % 8 or bounds[bounds.shape[0] - 1] < hi:
        if lo < hi:
            raise ValueError("rows, window or bounds are out of range")
        return
    with nogil:
        for t in range(lo, hi):
            while bounds[s + 1] <= t:
                s += 1
            a, b = max(bounds[s], t - window), min(bounds[s + 1], t + window + 1)
            zero(&out[t - lo, 0], d)
            found[t - lo] = b - a > 1
            for p in range(a, b):
                if p != t:
                    add_scaled(&out[t - lo, 0], <float>1 / <float>(b - a - 1), &inputs[words[p], 0], d)
