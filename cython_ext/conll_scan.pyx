"""Where the fields, heads and sentences of a CoNLL block lie.

``scan`` walks once over a block of UTF-8 bytes. A line is a comment (``#`` first), a separator (nothing but
spaces, tabs and carriage returns), or holds ``width`` fields between tabs, the first being an ID: ``7`` a word,
``2-3`` a range, ``8.1`` an empty node. Words are numbered 1, 2, ... in their sentence. Sentences are committed
whole; one that a separator has not closed stays with the caller for the next block. Comments that a separator
follows belong to the next sentence. For words t < T and requested columns c < C:

    tokens    (3 + 2 C, >= T) int32: line (from 0 in the block), head (0 the root, from 1; -1 for `_`), scratch,
              then first byte and end of column c in rows 3 + 2 c and 4 + 2 c
    sentences (4, >= S + 1) int32: first word (row 0 ends with T at S), first byte, end, first line
    others    (3, >= lines that are not words) int32: kind, first byte, line
    state     (STATE_SIZE,) int64: where the scan stands; read and written, so that it goes on after an error

Whether the heads form a tree is checked in linear time without recursion, so that a chain of any depth is as
good as a flat tree.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr

from conll_line cimport Line, MAX_FIELDS, NODE_ID, RANGE_ID, WORD_ID, find_line, id_kind, is_blank, number
from head_check cimport HEAD_CYCLE, HEAD_OUT_OF_RANGE, HEAD_SELF, tree_status

cdef enum:
    _COLUMNS = 1
    _ID = 2
    _ID_ORDER = 3
    _EMPTY = 4
    _HEAD = 5
    _NO_HEAD = 6
    _NO_WORDS = 10
    _COMMENT = 1
    _POSITION = 0
    _LINE = 1
    _TOKENS = 2
    _SENTENCES = 3
    _OTHERS = 4
    _CLOSED = 5
    _BAD_LINE = 6
    _FOUND = 7
    _WORD = 8
    _SPAN = 9
    _SPAN_END = 10
    _STRAY = 11
    _STATE_SIZE = 12
    _SKIP = 0
    _PARSE = 1
    _TREE = 2

# Statuses.
OK, BAD_COLUMNS, BAD_ID, BAD_ID_ORDER, EMPTY_FIELD = 0, _COLUMNS, _ID, _ID_ORDER, _EMPTY
BAD_HEAD, NO_HEAD, NO_WORDS = _HEAD, _NO_HEAD, _NO_WORDS
HEAD_RANGE, SELF_HEAD, CYCLE = HEAD_OUT_OF_RANGE, HEAD_SELF, HEAD_CYCLE
# Kinds of other lines.
COMMENT, RANGE, EMPTY_NODE = _COMMENT, RANGE_ID, NODE_ID
# Policies for heads: not looked at; numbers or `_`; a tree.
SKIP_HEADS, PARSE_HEADS, TREE_HEADS = _SKIP, _PARSE, _TREE
# Places in state: what is committed, then the last error (CLOSED: its sentence ends in the block and was passed
# over; FOUND: columns, a number or a head; SPAN: bytes of the field or line, SPAN_END for a tree its words), then
# comment lines after the last sentence.
POSITION, LINE, TOKENS, SENTENCES, OTHERS = _POSITION, _LINE, _TOKENS, _SENTENCES, _OTHERS
CLOSED, BAD_LINE, FOUND, WORD, STRAY = _CLOSED, _BAD_LINE, _FOUND, _WORD, _STRAY
SPAN, SPAN_END = _SPAN, _SPAN_END
STATE_SIZE, FIELD_ROWS = _STATE_SIZE, 3

cdef struct Scan:
    const unsigned char* text
    Py_ssize_t size
    int width
    int n_columns
    int policy
    bint final
    const int32_t* columns
    int32_t* tokens
    int32_t* sentences
    int32_t* others
    Py_ssize_t token_room
    Py_ssize_t sentence_room
    Py_ssize_t other_room
    int64_t* state

cdef int fail(Scan* scan, int status, Py_ssize_t line, Py_ssize_t word, Py_ssize_t found,
              Py_ssize_t span, Py_ssize_t end) noexcept nogil:
    scan.state[_BAD_LINE] = line
    scan.state[_WORD] = word
    scan.state[_FOUND] = found
    scan.state[_SPAN] = span
    scan.state[_SPAN_END] = end
    return status


cdef inline int take_word(Scan* scan, Line* line, Py_ssize_t t, Py_ssize_t word) noexcept nogil:
    """Fields and head of a word line into column t of the tokens."""
    cdef Py_ssize_t at, end, head
    cdef int c, column
    cdef int32_t* row = scan.tokens + 3 * scan.token_room + t
    for c in range(scan.n_columns):
        column = scan.columns[c]
        at = line.tabs[column - 1] + 1 if column else line.start
        end = line.tabs[column] if column < line.n_tabs else line.stop
        if at == end and (column == 1 or column == 2):
            return fail(scan, _EMPTY, line.number, word, column, at, end)
        row[0] = <int32_t>at
        row[scan.token_room] = <int32_t>end
        row += 2 * scan.token_room
    scan.tokens[t] = <int32_t>line.number
    if scan.policy != _SKIP:
        at = line.tabs[5] + 1
        end = line.tabs[6] if 6 < line.n_tabs else line.stop
        if end - at == 1 and scan.text[at] == c"_":
            if scan.policy == _TREE:
                return fail(scan, _NO_HEAD, line.number, word, -1, at, end)
            head = -1
        else:
            head = number(scan.text, &at, end)
            if head < 0 or at != end:
                return fail(scan, _HEAD, line.number, word, -1, line.tabs[5] + 1, end)
        scan.tokens[scan.token_room + t] = <int32_t>head
    return 0


cdef int close_sentence(Scan* scan, Py_ssize_t start, Py_ssize_t end, Py_ssize_t first_line,
                        Py_ssize_t t, Py_ssize_t others) noexcept nogil:
    """Checks the sentence of the words from state's count to t and commits it."""
    cdef Py_ssize_t first = scan.state[_TOKENS], s = scan.state[_SENTENCES], word = 0
    cdef int32_t* heads = scan.tokens + scan.token_room
    cdef int status
    if t == first:
        return fail(scan, _NO_WORDS, first_line, 0, 0, start, start)
    if scan.policy == _TREE:
        status = tree_status(heads + first, heads + scan.token_room + first, t - first, &word)
        if status:
            return fail(scan, status, scan.tokens[first + word], word + 1, heads[first + word], 0, t - first)
    scan.sentences[s] = <int32_t>first
    scan.sentences[scan.sentence_room + s] = <int32_t>start
    scan.sentences[2 * scan.sentence_room + s] = <int32_t>end
    scan.sentences[3 * scan.sentence_room + s] = <int32_t>first_line
    scan.sentences[s + 1] = <int32_t>t
    scan.state[_SENTENCES] = s + 1
    scan.state[_TOKENS] = t
    scan.state[_OTHERS] = others
    return 0


cdef void pass_over(Scan* scan, Line* line) noexcept nogil:
    """From a bad line to behind the end of its sentence, if that lies in the block."""
    cdef Py_ssize_t at = line.next, after = line.number + 1
    cdef const unsigned char* feed
    cdef Py_ssize_t end
    scan.state[_CLOSED] = scan.final
    while at < scan.size:
        feed = <const unsigned char*>memchr(scan.text + at, c"\n", scan.size - at)
        end = scan.size if feed == NULL else feed - scan.text
        if feed == NULL and not scan.final:
            return
        after += 1
        if is_blank(scan.text, at, end):
            scan.state[_CLOSED] = 1
            at = end + 1 if end < scan.size else end
            break
        at = end + 1
    if scan.state[_CLOSED]:
        scan.state[_POSITION] = min(at, scan.size)
        scan.state[_LINE] = after


cdef inline void commit_position(Scan* scan, Line* line) noexcept nogil:
    scan.state[_POSITION] = line.next
    scan.state[_LINE] = line.number + 1


cdef inline int take_line(Scan* scan, Line* line, Py_ssize_t* t, Py_ssize_t* others) noexcept nogil:
    """A line that is not blank: a word counted in t, or another one counted in others."""
    cdef Py_ssize_t value, end, word = t[0] - scan.state[_TOKENS] + 1
    cdef int kind = _COMMENT
    cdef int32_t* other
    if scan.text[line.start] != c"#":
        if line.n_tabs + 1 != scan.width:
            return fail(scan, _COLUMNS, line.number, word, line.n_tabs + 1, line.start, line.stop)
        end = line.tabs[0]
        kind = id_kind(scan.text, line.start, end, &value)
        if kind < 0:
            return fail(scan, _ID, line.number, word, -1, line.start, end)
        if kind == WORD_ID:
            if value != word:
                return fail(scan, _ID_ORDER, line.number, word, value, line.start, end)
            kind = take_word(scan, line, t[0], word)
            t[0] += 1
            return kind
    other = scan.others + others[0]
    other[0] = kind
    other[scan.other_room] = <int32_t>line.start
    other[2 * scan.other_room] = <int32_t>line.number
    others[0] += 1
    return 0


cdef int run(Scan* scan) noexcept nogil:
    cdef Line line
    cdef Py_ssize_t at = scan.state[_POSITION], t = scan.state[_TOKENS], others = scan.state[_OTHERS]
    cdef Py_ssize_t start = -1, end = 0, first_line = 0
    cdef bint content = False  # a sentence of comments only is not one yet
    cdef int status
    line.number = scan.state[_LINE]
    while at < scan.size and (find_line(&line, scan.text, at, scan.size) or scan.final):
        if is_blank(scan.text, at, line.stop):
            if content:
                status = close_sentence(scan, start, end, first_line, t, others)
                commit_position(scan, &line)
                if status:
                    scan.state[_CLOSED] = 1
                    return status
                start, content = -1, False
            elif start < 0:
                commit_position(scan, &line)
        else:
            if start < 0:
                start, first_line = at, line.number
            status = take_line(scan, &line, &t, &others)
            if status:
                pass_over(scan, &line)
                return status
            content = content or scan.text[at] != c"#"
            end = line.next
        at = line.next
        line.number += 1
    if scan.final:
        status = 0
        if content:
            status = close_sentence(scan, start, end, first_line, t, others)
            scan.state[_CLOSED] = 1
        elif start >= 0:
            scan.state[_STRAY] = others - scan.state[_OTHERS]
            scan.state[_BAD_LINE] = first_line
        scan.state[_POSITION], scan.state[_LINE] = scan.size, line.number
        return status
    return 0


def scan(const unsigned char[::1] block, const int32_t[::1] columns, int32_t[:, ::1] tokens,
         int32_t[:, ::1] sentences, int32_t[:, ::1] others, int64_t[::1] state, int width, int policy,
         bint final):
    """Scan from state's position to the end of the last whole sentence, or to behind the first bad one.

    Args:
        block: UTF-8 bytes, under 2 GiB; may end inside a sentence unless ``final``.
        columns: requested columns (C), from 0, each under ``width``.
        tokens, sentences, others, state: written as the module says; zeros in state begin a block.
        width: fields a line, 8 to 64.
        policy: SKIP_HEADS, PARSE_HEADS or TREE_HEADS.
        final: nothing follows, so that the end closes the last sentence.

    Returns:
        OK, or the status of the bad sentence, described in state from BAD_LINE on. If state[CLOSED] it was
        passed over and the call may be repeated to go on; else its end lies behind the block, and
        state[POSITION] at its start.

    Raises:
        ValueError: shapes or columns that do not fit.
    """
    cdef Scan task
    cdef Py_ssize_t size = block.shape[0], room = size // (width + 1) + 1, c
    cdef int status
    if not 8 <= width <= MAX_FIELDS or size > 0x7fffffff or not _SKIP <= policy <= _TREE:
        raise ValueError("width must be 8 to 64, the block under 2 GiB, policy one of the three")
    if tokens.shape[0] != 3 + 2 * columns.shape[0] or sentences.shape[0] != 4 or others.shape[0] != 3:
        raise ValueError("tokens need 3 + 2 C rows, sentences 4, others 3")
    if tokens.shape[1] < room or sentences.shape[1] < room + 1 or others.shape[1] < size // 2 + 1:
        raise ValueError("an output is too short for the block")
    if state.shape[0] != _STATE_SIZE or not 0 <= state[_POSITION] <= size:
        raise ValueError("state is not that of this block")
    # What was committed fits into the bytes before the position, so that the rest has room whatever it holds.
    if not (0 <= state[_SENTENCES] <= state[_TOKENS] <= (state[_POSITION] + 1) // (width + 1)
            and 0 <= state[_OTHERS] <= (state[_POSITION] + 1) // 2):
        raise ValueError("state is not that of this block")
    for c in range(columns.shape[0]):
        if not 0 <= columns[c] < width:
            raise ValueError(f"column {columns[c]} of {width}")
    state[_CLOSED] = state[_STRAY] = 0
    if state[_SENTENCES] == 0:
        sentences[0, 0] = 0
    if size == 0:
        return OK
    task.text, task.size, task.width, task.policy, task.final = &block[0], size, width, policy, final
    task.n_columns = <int>columns.shape[0]
    task.columns = &columns[0] if columns.shape[0] else NULL
    task.tokens, task.token_room = &tokens[0, 0], tokens.shape[1]
    task.sentences, task.sentence_room = &sentences[0, 0], sentences.shape[1]
    task.others, task.other_room = &others[0, 0], others.shape[1]
    task.state = &state[0]
    with nogil:
        status = run(&task)
    return status
