"""Training of a continuous bag of words with a huge soft-max: one window loop for the objectives of ``softmax_steps.pxd``.

The target at position t of a sentence has the context h_t = mean of H[w_p], 0 < |p - t| <= window, within the sentence
(Wang, Wang and Zhai 2017, equation 3, with the words there are in place of 2c). With a fixed window the sum over a window
moves on by one word in and one out, and so does the sum of the gradients that are due to a word (18): O(d) a target for any
window. A word's gradients are added to its row of H when it leaves the window; what is subtracted from the sum is the row as it was
added. With a dynamic window (word2vec's habit) each target draws its width from 1 to ``window``, and its words are gone
through.

Rows are float32, of a length d that is a multiple of 8.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from dense_rows cimport add_scaled, fetch_row, shrunk_row
from softmax_steps cimport DUAL, GD, NCE, NS, PRINTED, REFRESHED, Objective, Task, mixed, take_noise, take_step

OBJECTIVES = {"dcme": DUAL, "printed": PRINTED, "nce": NCE, "ns": NS, "gd": GD}
DONE, DUE, BROKEN = range(3)

cdef enum:
    RESUM = 1024  # targets after which running sums are made anew, against rounding


cdef struct Window:
    const int32_t* words
    float* inputs        # (N, d) H
    Py_ssize_t size, d, mask
    float* contexts      # (mask + 1, d) rows of the words in the window as they were added to the sum
    float* errors        # (mask + 1, d) gradients of the last targets
    float* sum           # (d) of contexts
    float* due           # (d) sum of errors
    float decay


cdef inline void zero(float* row, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(d):
        row[c] = 0


cdef inline void copy(float* row, const float* source, Py_ssize_t d) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(d):
        row[c] = source[c]


cdef inline void sum_rows(float* out, const float* rows, Py_ssize_t lo, Py_ssize_t hi, Window* window) noexcept nogil:
    cdef Py_ssize_t p
    zero(out, window.d)
    for p in range(lo, hi):
        add_scaled(out, 1, rows + (p & window.mask) * window.d, window.d)


cdef inline void enter(Window* window, Py_ssize_t p) noexcept nogil:
    cdef float* row = window.contexts + (p & window.mask) * window.d
    copy(row, window.inputs + window.words[p] * window.d, window.d)
    add_scaled(window.sum, 1, row, window.d)


cdef inline void settle(Window* window, Py_ssize_t p, Py_ssize_t first, Py_ssize_t last, float rate) noexcept nogil:
    """Add what is due to the word at p, whose targets are done: the sum of their errors without its own."""
    cdef float shrink = 0
    if first <= p < last:
        add_scaled(window.due, -1, window.errors + (p & window.mask) * window.d, window.d)
        shrink = window.decay * rate
    shrunk_row(window.inputs + window.words[p] * window.d, shrink, window.due, window.d)
    if first <= p < last:
        add_scaled(window.due, 1, window.errors + (p & window.mask) * window.d, window.d)


cdef inline Py_ssize_t largest(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return a if a > b else b


cdef inline Py_ssize_t least(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return a if a < b else b


cdef Py_ssize_t fixed_windows(
    Window* window, Task* task, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, Py_ssize_t last, float rate, float slope
) noexcept nogil:
    """Targets first to last - 1 of the sentence from begin to end; returns the target after the last one done."""
    cdef Py_ssize_t t = first, p, c, d = window.d, size = window.size
    cdef Py_ssize_t oldest = largest(begin, first - size)  # the first word in any of the windows
    cdef Py_ssize_t n
    cdef float* error
    cdef float share
    zero(window.sum, d)
    zero(window.due, d)
    for p in range(oldest, least(end, first + size)):
        enter(window, p)
    while t < last:
        if t + size < end:
            enter(window, t + size)
            if t + size + 1 < end:
                fetch_row(window.inputs + window.words[t + size + 1] * d, d)
        if t + 1 < last:
            fetch_row(task.outputs + window.words[t + 1] * d, d)
            if task.objective <= PRINTED:
                fetch_row(task.dual.alpha + window.words[t + 1] * task.dual.k, task.dual.k)
        n = least(end, t + size + 1) - largest(begin, t - size) - 1
        error = window.errors + (t & window.mask) * d
        if n > 0:
            share = <float>1 / <float>n
            for c in range(d):
                task.h[c] = (window.sum[c] - window.contexts[(t & window.mask) * d + c]) * share
            take_step(task, window.words[t], rate, <uint64_t>t)
            if task.broken:
                break
            for c in range(d):
                error[c] = task.error[c] * share
                window.due[c] += error[c]
        else:
            zero(error, d)
        p = t - size
        if p >= oldest:
            settle(window, p, first, last, rate)
            add_scaled(window.sum, -1, window.contexts + (p & window.mask) * d, d)
        if t - 2 * size >= first:
            add_scaled(window.due, -1, window.errors + ((t - 2 * size) & window.mask) * d, d)
        t += 1
        rate += slope
        if (t - first) % RESUM == 0:
            sum_rows(window.sum, window.contexts, largest(oldest, t - size), least(end, t + size), window)
            sum_rows(window.due, window.errors, largest(first, t - 2 * size), t, window)
        if task.due:
            break
    # The words of the last windows, left to right; each one's targets begin at p - size.
    for p in range(largest(oldest, t - size), least(end, t + size)):
        settle(window, p, first, t, rate)
        if p - size >= first:
            add_scaled(window.due, -1, window.errors + ((p - size) & window.mask) * d, d)
    return t


cdef Py_ssize_t drawn_windows(
    Window* window, Task* task, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, Py_ssize_t last, float rate, float slope,
    uint64_t key,
) noexcept nogil:
    """As :func:`fixed_windows`, each target with a width of its own."""
    cdef Py_ssize_t t = first, p, c, d = window.d, size, lo, hi
    cdef float share
    while t < last:
        size = 1 + <Py_ssize_t>(mixed(key + <uint64_t>t) % <uint64_t>window.size)
        lo, hi = largest(begin, t - size), least(end, t + size + 1)
        if hi - lo > 1:
            share = <float>1 / <float>(hi - lo - 1)
            zero(task.h, d)
            for p in range(lo, hi):
                if p != t:
                    add_scaled(task.h, share, window.inputs + window.words[p] * d, d)
            take_step(task, window.words[t], rate, <uint64_t>t)
            if task.broken:
                break
            for c in range(d):
                task.error[c] *= share
            for p in range(lo, hi):
                if p != t:
                    shrunk_row(window.inputs + window.words[p] * d, 0, task.error, d)
            if window.decay > 0:
                zero(window.due, d)
                shrunk_row(window.inputs + window.words[t] * d, window.decay * rate, window.due, d)
        t += 1
        rate += slope
        if task.due:
            break
    return t


# --- doors ----------------------------------------------------------------------------------------------------------


def ring_rows(Py_ssize_t window):
    """Rows that a running window keeps: a power of two over 2 window + 1."""
    cdef Py_ssize_t rows = 1
    while rows < 2 * window + 1:
        rows *= 2
    return rows


def scratch_size(Py_ssize_t window, Py_ssize_t d, Py_ssize_t scores):
    """Float cells that :func:`train_words` needs: two rings, five rows, and twice the scores of an instance."""
    return (2 * ring_rows(window) + 5) * d + 2 * scores


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
    task.dual.unseen = True
    task.dual.head = head
    return 0


cdef Py_ssize_t scores_of(Task* task) noexcept:
    if task.objective <= PRINTED:
        return largest(task.dual.k, task.dual.head + 1)
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
        scratch: :func:`scratch_size` cells. items: 1 + negative cells.
        sums: 2 cells that are added to: objective, targets.

    Returns:
        (target to go on with, status): DONE, DUE, or BROKEN where a number was not finite.
    """
    cdef Task task
    cdef Window w
    cdef Py_ssize_t d = outputs.shape[1], ring = ring_rows(window), low, high, middle, sentence, last, t = lo
    cdef Py_ssize_t n_scores
    cdef float at
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
        if items.shape[0] <= task.noise.n:
            raise ValueError("items are too few")
        task.items = &items[0]
    n_scores = scores_of(&task)
    if scratch.shape[0] < scratch_size(window, d, n_scores):
        raise ValueError("scratch is too small")
    task.due = task.broken = False
    task.gained = 0
    w.words, w.inputs, w.size, w.d, w.mask, w.decay = &words[0], &inputs[0, 0], window, d, ring - 1, decay
    w.contexts, w.errors = &scratch[0], &scratch[ring * d]
    w.sum = w.errors + ring * d
    w.due, task.h, task.error, task.row = w.sum + d, w.sum + 2 * d, w.sum + 3 * d, w.sum + 4 * d
    task.scores = w.sum + 5 * d
    task.weights = task.scores + n_scores
    low, high = 0, bounds.shape[0] - 1
    with nogil:
        while low + 1 < high:  # the sentence of target lo
            middle = (low + high) // 2
            if bounds[middle] <= lo:
                low = middle
            else:
                high = middle
        sentence = low
        while t < hi and not task.due and not task.broken:
            last = least(hi, bounds[sentence + 1])
            if t < last:
                at = <float>(rate + slope * (t - lo))
                if dynamic:
                    t = drawn_windows(&w, &task, bounds[sentence], bounds[sentence + 1], t, last, at, <float>slope, key)
                else:
                    t = fixed_windows(&w, &task, bounds[sentence], bounds[sentence + 1], t, last, at, <float>slope)
            sentence += 1
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
            a, b = largest(bounds[s], t - window), least(bounds[s + 1], t + window + 1)
            zero(&out[t - lo, 0], d)
            found[t - lo] = b - a > 1
            for p in range(a, b):
                if p != t:
                    add_scaled(&out[t - lo, 0], <float>1 / <float>(b - a - 1), &inputs[words[p], 0], d)
