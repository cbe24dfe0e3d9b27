"""First-order dependency parsing with hashed features (McDonald, Crammer and Pereira 2005): scores of all arcs, steps of the weights.

An arc from head h to word m has the features below, each once with its direction and once with direction and distance (1, 2, 3, 4,
5 to 10, more), and (tag of h, tag between, tag of m) with the direction for every tag that occurs between them. A score is the sum
of the weights of its features, whose place in the table of 2^b weights is a hash:

    place  =  top b bits of  (head part + word part + direction part) * odd constant   (mod 2^64)

A feature without and with distance shares a bucket of 8 places, which begins at that place with its last 3 bits taken off: one line
of the cache for both.

A part hashes what a feature says of the head, or of the word, with the feature's number; parts are made once a sentence, n of them, and
the n^2 arcs only add. w, t are word and tag, t-1 and t+1 the tags beside:

    alone:    head w t; w; t            word w t; w; t
    pairs:    wt|wt  t|wt  w|wt  wt|t  wt|w  w|w  t|t  w|t  t|w
    beside:   t t+1|t-1 t   t-1 t|t-1 t   t t+1|t t+1   t-1 t|t t+1   t t+1|t   t-1 t|t   t|t-1 t   t|t t+1

``step`` moves the weights from a predicted tree to the gold tree (MIRA with one rival; Crammer and Singer 2003): with the difference
of their feature vectors d, tau = min(C, max(0, loss - w d) / |d|^2), w += tau d; the sum over time is kept for the average.
"""

from libc.stdint cimport int16_t, int32_t, uint64_t


cdef enum:
    TEMPLATES = 23   # without those of the tags between
    PARTS = 24
    BETWEEN = 23
    BUCKET = 8       # places of a feature's bucket: without distance, and six distances

PARTS_PER_WORD = PARTS
PLACES_PER_ARC = 2 * TEMPLATES
LARGEST_TABLE = 30


# --- hashes -------------------------------------------------------------------------------------------------------------------


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit depends on every bit."""
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline uint64_t part(uint64_t template, uint64_t a, uint64_t b) noexcept nogil:
    """a and b are below 2^29: words and tags with 0 for what is not asked."""
    return mix((template << 58) ^ (a << 29) ^ b)


cdef inline uint64_t place(uint64_t sum, int shift) noexcept nogil:
    return (sum * <uint64_t>0x9E3779B97F4A7C15) >> shift


cdef inline uint64_t length(Py_ssize_t head, Py_ssize_t word) noexcept nogil:
    cdef Py_ssize_t distance = word - head if head < word else head - word
    if distance < 5:
        return <uint64_t>distance
    return 5 if distance <= 10 else 6


cdef inline uint64_t direction(Py_ssize_t head, Py_ssize_t word) noexcept nogil:
    return part(60, 1 + (head < word), 0)


cdef inline uint64_t tag_at(const int32_t* tags, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
    """Tags of the words, counted from 3; 1 is the root's, 2 stands beyond the ends."""
    if i < 0 or i > n:
        return 2
    return <uint64_t>tags[i - 1] + 3 if i else 1


cdef void make_parts(const int32_t* words, const int32_t* tags, Py_ssize_t n, uint64_t* heads, uint64_t* children,
                     uint64_t* between) noexcept nogil:
    """heads, children: (n + 1, PARTS), row 0 the root's; between: (n + 1)."""
    cdef Py_ssize_t i
    cdef uint64_t w, t, before, after, wt
    cdef uint64_t* h
    cdef uint64_t* c
    for i in range(n + 1):
        h, c = heads + i * PARTS, children + i * PARTS
        w = <uint64_t>words[i - 1] + 3 if i else 1
        t, before, after = tag_at(tags, n, i), tag_at(tags, n, i - 1), tag_at(tags, n, i + 1)
        between[i] = part(50, t, 0)
        h[0], c[0] = part(0, w, t), part(32, 0, 0)
        h[1], c[1] = part(1, w, 0), part(33, 0, 0)
        h[2], c[2] = part(2, 0, t), part(34, 0, 0)
        h[3], c[3] = part(3, 0, 0), part(35, w, t)
        h[4], c[4] = part(4, 0, 0), part(36, w, 0)
        h[5], c[5] = part(5, 0, 0), part(37, 0, t)
        h[6], c[6] = part(6, w, t), part(38, w, t)
        h[7], c[7] = part(7, 0, t), part(39, w, t)
        h[8], c[8] = part(8, w, 0), part(40, w, t)
        h[9], c[9] = part(9, w, t), part(41, 0, t)
        h[10], c[10] = part(10, w, t), part(42, w, 0)
        h[11], c[11] = part(11, w, 0), part(43, w, 0)
        h[12], c[12] = part(12, 0, t), part(44, 0, t)
        h[13], c[13] = part(13, w, 0), part(45, 0, t)
        h[14], c[14] = part(14, 0, t), part(46, w, 0)
        h[15], c[15] = part(15, t, after), part(47, before, t)
        h[16], c[16] = part(16, before, t), part(48, before, t)
        h[17], c[17] = part(17, t, after), part(49, t, after)
        h[18], c[18] = part(18, before, t), part(51, t, after)
        h[19], c[19] = part(19, t, after), part(52, 0, t)
        h[20], c[20] = part(20, before, t), part(53, 0, t)
        h[21], c[21] = part(21, 0, t), part(54, before, t)
        h[22], c[22] = part(22, 0, t), part(55, t, after)
        h[BETWEEN], c[BETWEEN] = part(23, 0, t), part(56, 0, t)


cdef inline void arc_places(const uint64_t* head, const uint64_t* child, uint64_t way, uint64_t far, int shift,
                            uint64_t* out) noexcept nogil:
    """The 2 TEMPLATES places of an arc without those of the tags between."""
    cdef Py_ssize_t i
    for i in range(TEMPLATES):
        out[2 * i] = place(head[i] + child[i] + way, shift) & ~<uint64_t>(BUCKET - 1)
        out[2 * i + 1] = out[2 * i] + far


# --- scores -------------------------------------------------------------------------------------------------------------------


cdef void score_side(Py_ssize_t h, Py_ssize_t side, Py_ssize_t n, const int32_t* tags, const float* weights, int shift,
                     const uint64_t* heads, const uint64_t* children, const uint64_t* between, int32_t* seen, int32_t stamp,
                     uint64_t* met, double* out) noexcept nogil:
    """Scores of the arcs from h to all words on one side, nearest first, so that the tags between become only more."""
    cdef Py_ssize_t m = h + side, i, n_met = 0
    cdef uint64_t found[2 * TEMPLATES]
    cdef uint64_t way = direction(h, m), base
    cdef double sum
    while 1 <= m <= n:
        arc_places(heads + h * PARTS, children + m * PARTS, way, length(h, m), shift, found)
        sum = 0
        for i in range(2 * TEMPLATES):
            sum += weights[found[i]]
        base = heads[h * PARTS + BETWEEN] + children[m * PARTS + BETWEEN] + way
        for i in range(n_met):
            sum += weights[place(base + met[i], shift)]
        out[m] = sum
        if seen[tags[m - 1]] != stamp:
            seen[tags[m - 1]] = stamp
            met[n_met] = between[m]
            n_met += 1
        m += side


cdef int refuse(const int32_t[::1] words, const int32_t[::1] tags, Py_ssize_t size, int bits, const uint64_t[:, :, ::1] parts,
                Py_ssize_t n_tags) except -1:
    cdef Py_ssize_t n = words.shape[0], i
    if n < 1 or tags.shape[0] != n:
        raise ValueError("words and tags need an entry a word, for at least one word")
    if not 3 <= bits <= LARGEST_TABLE or size != 1 << bits:
        raise ValueError("weights are a table of 2^bits numbers")
    if parts.shape[0] != 3 or parts.shape[1] < n + 1 or parts.shape[2] != PARTS:
        raise ValueError("parts need 3 rows of (n + 1, PARTS_PER_WORD) places")
    for i in range(n):
        if not (0 <= words[i] < 1 << 28 and 0 <= tags[i] < n_tags):
            raise ValueError("words or tags are out of range")
    return 0


def score_arcs(const int32_t[::1] words, const int32_t[::1] tags, const float[::1] weights, int bits, uint64_t[:, :, ::1] parts,
               int32_t[::1] seen, double[:, ::1] out):
    """Scores of all arcs of a sentence.

    Args:
        words, tags: (n) numbers from 0. weights: (2^bits).
        parts: (3, at least n + 1, PARTS_PER_WORD) and seen (number of tags): scratch.
        out: (n + 1, n + 1), [head, word]; column 0 and the diagonal become 0.

    Raises:
        ValueError: shapes that do not fit, numbers out of range.
    """
    cdef Py_ssize_t n = words.shape[0], h, i
    cdef uint64_t* heads
    cdef uint64_t* children
    cdef uint64_t* between
    cdef uint64_t* met
    refuse(words, tags, weights.shape[0], bits, parts, seen.shape[0])
    if out.shape[0] != n + 1 or out.shape[1] != n + 1:
        raise ValueError("out is (n + 1, n + 1)")
    heads, children, between = &parts[0, 0, 0], &parts[1, 0, 0], &parts[2, 0, 0]
    met = between + n + 1
    with nogil:
        make_parts(&words[0], &tags[0], n, heads, children, between)
        for i in range(seen.shape[0]):
            seen[i] = -1
        for h in range(n + 1):
            out[h, 0] = out[h, h] = 0
            score_side(h, 1, n, &tags[0], &weights[0], 64 - bits, heads, children, between, &seen[0], <int32_t>(2 * h), met,
                       &out[h, 0])
            if h:
                score_side(h, -1, n, &tags[0], &weights[0], 64 - bits, heads, children, between, &seen[0], <int32_t>(2 * h + 1), met,
                           &out[h, 0])


# --- steps --------------------------------------------------------------------------------------------------------------------


cdef Py_ssize_t arc_list(Py_ssize_t h, Py_ssize_t m, const int32_t* tags, int shift, const uint64_t* heads, const uint64_t* children,
                         const uint64_t* between, int32_t* seen, int32_t stamp, uint64_t* out) noexcept nogil:
    """All places of an arc; how many."""
    cdef Py_ssize_t i, n = 2 * TEMPLATES, side = 1 if h < m else -1
    cdef uint64_t way = direction(h, m), base
    arc_places(heads + h * PARTS, children + m * PARTS, way, length(h, m), shift, out)
    base = heads[h * PARTS + BETWEEN] + children[m * PARTS + BETWEEN] + way
    i = h + side
    while i != m:
        if seen[tags[i - 1]] != stamp:
            seen[tags[i - 1]] = stamp
            out[n] = place(base + between[i], shift)
            n += 1
        i += side
    return n


def step(const int32_t[::1] words, const int32_t[::1] tags, const int32_t[::1] gold, const int32_t[::1] predicted, double C,
         double time, float[::1] weights, double[::1] totals, int bits, uint64_t[:, :, ::1] parts, int32_t[::1] seen,
         int16_t[::1] delta, uint64_t[::1] places, float[::1] amounts):
    """One step from the predicted tree towards the gold one, the loss being the number of words with another head; returns tau.

    Args:
        words, tags, parts, seen: as for score_arcs. gold, predicted: (n) heads, from 1, 0 the root.
        time: steps before this one; totals (2^bits) += time * change, so that weights - totals / T is the average over T steps.
        delta: (2^bits) zeros, which it holds again afterwards.
        places, amounts: scratch for 2 n (PLACES_PER_ARC + min(n, number of tags)) places.

    Raises:
        ValueError: shapes that do not fit, numbers out of range.
    """
    cdef Py_ssize_t n = words.shape[0], m, i, end, used = 0
    cdef int shift = 64 - bits
    cdef int32_t stamp = 0
    cdef double loss = 0, norm = 0, margin = 0, tau
    cdef uint64_t* heads
    cdef uint64_t* children
    cdef uint64_t* between
    refuse(words, tags, weights.shape[0], bits, parts, seen.shape[0])
    if gold.shape[0] != n or predicted.shape[0] != n or totals.shape[0] != weights.shape[0] or delta.shape[0] != weights.shape[0]:
        raise ValueError("gold and predicted need a head a word; totals and delta are as long as weights")
    if places.shape[0] < 2 * n * (2 * TEMPLATES + min(n, seen.shape[0])) or amounts.shape[0] < places.shape[0]:
        raise ValueError("places and amounts are too small")
    for i in range(n):
        if not (0 <= gold[i] <= n and 0 <= predicted[i] <= n) or gold[i] == i + 1 or predicted[i] == i + 1:
            raise ValueError("a head is out of range")
    heads, children, between = &parts[0, 0, 0], &parts[1, 0, 0], &parts[2, 0, 0]
    with nogil:
        make_parts(&words[0], &tags[0], n, heads, children, between)
        for i in range(seen.shape[0]):
            seen[i] = -1
        for m in range(1, n + 1):
            if gold[m - 1] == predicted[m - 1]:
                continue
            loss += 1
            end = used + arc_list(gold[m - 1], m, &tags[0], shift, heads, children, between, &seen[0], stamp, &places[used])
            for i in range(used, end):
                delta[places[i]] += 1
            used = end
            end = used + arc_list(predicted[m - 1], m, &tags[0], shift, heads, children, between, &seen[0], stamp + 1, &places[used])
            for i in range(used, end):
                delta[places[i]] -= 1
            used = end
            stamp += 2
        for i in range(used):  # each place once: what it has gained is taken from delta at the first look
            amounts[i] = delta[places[i]]
            delta[places[i]] = 0
            norm += amounts[i] * amounts[i]
            margin += amounts[i] * weights[places[i]]
        tau = 0
        if norm > 0 and loss > margin:
            tau = min(C, (loss - margin) / norm)
            for i in range(used):
                if amounts[i] != 0:
                    weights[places[i]] += <float>(tau * amounts[i])
                    totals[places[i]] += time * tau * amounts[i]
    return tau
