"""The CoNLL scanner, the tree doors and the span copier against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import conll_scan as twin
from wordkit._kernels import conll_scan as kernel
from wordkit._kernels import span_text, tree_shape

POLICIES = {"none": kernel.SKIP_HEADS, "any": kernel.PARSE_HEADS, "tree": kernel.TREE_HEADS}
STATUSES = ["BAD_COLUMNS", "BAD_ID", "BAD_ID_ORDER", "EMPTY_FIELD", "BAD_HEAD", "NO_HEAD", "HEAD_RANGE"]
NAMES = {getattr(kernel, name): name for name in [*STATUSES, "SELF_HEAD", "CYCLE", "NO_WORDS"]}


def buffers(size, n_columns, width):
    room = size // (width + 1) + 1
    return (
        np.full((kernel.FIELD_ROWS + 2 * n_columns, room), -7, np.int32),
        np.full((4, room + 1), -7, np.int32),
        np.full((3, size // 2 + 1), -7, np.int32),
        np.zeros(kernel.STATE_SIZE, np.int64),
    )


def scan(block, columns, width, policy, final):
    """The kernel's answer in the twin's words, bad sentences passed over."""
    tokens, sentences, others, state = buffers(len(block), len(columns), width)
    wanted, result = np.array(columns, np.int32), twin.Scanned()
    while status := kernel.scan(
        block, wanted, tokens, sentences, others, state, width, POLICIES[policy], final
    ):
        if not state[kernel.CLOSED]:
            break
        line = int(state[kernel.BAD_LINE]) if status != kernel.CYCLE else None
        result.errors.append((NAMES[status], line))
    n, s, o = (int(state[i]) for i in (kernel.TOKENS, kernel.SENTENCES, kernel.OTHERS))
    for t in range(n):
        spans = tokens[kernel.FIELD_ROWS :, t].reshape(-1, 2).tolist()
        head = int(tokens[1, t]) if policy != "none" else None
        result.words.append((int(tokens[0, t]), head, [tuple(span) for span in spans]))
    result.sentences = [tuple(row) for row in sentences[:, :s].T.tolist()]
    result.others = [tuple(row) for row in others[:, :o].T.tolist()]
    assert sentences[0, s] == n
    result.position, result.line = int(state[kernel.POSITION]), int(state[kernel.LINE])
    result.stray = int(state[kernel.STRAY])
    return result


def same(block, columns=(1, 7), width=10, policy="tree", final=True):
    ours, theirs = scan(block, columns, width, policy, final), twin.scan(block, columns, width, policy, final)
    if final:
        theirs.line = ours.line  # behind the last line no one counts
    assert ours == theirs
    return ours


def word(i, head, form="w", width=10):
    return "\t".join([str(i), form, "l", "U", "X", "_", str(head), "dep", "_", "_", *"_" * 9][:width])


field = st.text("_w0 é#", max_size=4)
ids = st.sampled_from(
    ["1", "2", "3", "4", "1-2", "1.1", "0.1", "x", "1-", ".", "", "1 2", "1234567890", "01"]
)
heads = st.sampled_from(["0", "1", "2", "3", "_", "9", "-1", "", "1234567890", "1x"])
odd_line = st.tuples(ids, field, field, field, field, field, heads, field, field, field).map("\t".join)
any_line = st.one_of(
    odd_line,
    st.builds(word, st.integers(1, 4), st.integers(0, 4)),
    st.sampled_from(
        ["", "", "\t ", "# c", "#", "1\tw", "\r", "2-3" + "\t_" * 9, "1.1" + "\t_" * 9, "\t" * 70]
    ),
)


@st.composite
def good_sentence(draw):
    n = draw(st.integers(1, 5))
    rows = [
        word(i, draw(st.integers(0, n)), draw(st.sampled_from(["a b", "é", "#"]))) for i in range(1, n + 1)
    ]
    at = draw(st.integers(0, n))
    rows[at:at] = draw(st.sampled_from([[], ["1-2" + "\t_" * 9], ["# c"], ["1.1" + "\t_" * 9]]))
    return "\n".join([*rows, ""])


blocks = st.lists(st.one_of(any_line, good_sentence()), max_size=12)


@settings(max_examples=400)
@given(
    blocks,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(list(POLICIES)),
    st.lists(st.integers(0, 7), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_equals_its_twin(lines, newline, policy, columns, final, closed):
    text = newline.join(lines) + newline * closed
    same(text.encode(), tuple(columns), 10, policy, final)


@settings(max_examples=200)
@given(st.binary(max_size=80) | st.lists(st.sampled_from(list(b"\t\n\r #1_")), max_size=80).map(bytes))
def test_arbitrary_bytes_equal_the_twin(block):
    for final in (True, False):
        same(block, (1,), 8, "any", final)


@settings(max_examples=60)
@given(blocks, st.data())
def test_a_cut_block_gives_the_whole_sentences_before_the_cut(lines, data):
    block = "\n".join(lines).encode()
    cut = data.draw(st.integers(0, len(block)))
    first = same(block[:cut], final=False)
    rest = same(block[first.position :])
    whole = same(block)
    assert len(first.sentences) + len(rest.sentences) == len(whole.sentences)
    assert len(first.errors) + len(rest.errors) == len(whole.errors)
    assert [w[0] for w in first.words] + [w[0] + first.line for w in rest.words] == [
        w[0] for w in whole.words
    ]


def test_by_hand():
    block = (
        b"# c\n1-2\tab" + b"\t_" * 8 + b"\n1\ta\tA\tX\tY\t_\t2\td\t_\t_\n2\tbb\tB\tX\tY\t_\t0\tr\t_\t_\n\n"
    )
    found = same(block, (1, 6))
    assert found.sentences == [(0, 0, len(block) - 1, 0)]
    assert [(line, head) for line, head, _ in found.words] == [(2, 2), (3, 0)]
    assert [[block[s:e] for s, e in spans] for _, _, spans in found.words] == [[b"a", b"2"], [b"bb", b"0"]]
    assert [kind for kind, _, _ in found.others] == [kernel.COMMENT, kernel.RANGE]
    assert found.position == len(block)


@pytest.mark.parametrize("width", [8, 9, 10, 19])
def test_widths(width):
    block = (word(1, 0, width=width) + "\n").encode()
    assert len(same(block, tuple(range(8)), width).words) == 1
    assert same((word(1, 0, width=width - 1) + "\n").encode(), (1,), width).errors == [("BAD_COLUMNS", 0)]


def test_a_bad_sentence_at_the_end_of_a_block_waits():
    tokens, sentences, others, state = buffers(64, 0, 10)
    args = np.zeros(0, np.int32), tokens, sentences, others, state, 10, kernel.TREE_HEADS
    assert kernel.scan(b"x\n1\n", *args, False) == kernel.BAD_COLUMNS
    assert not state[kernel.CLOSED]
    assert state[kernel.POSITION] == 0
    assert kernel.scan(b"x\n1\n", *args, True) == kernel.BAD_COLUMNS
    assert state[kernel.CLOSED]
    assert state[kernel.POSITION] == 4


def test_empty_block_and_read_only_input():
    assert same(b"") == twin.Scanned()
    block = np.frombuffer((word(1, 0) + "\n").encode(), np.uint8)
    assert not block.flags.writeable
    tokens, sentences, others, state = buffers(len(block), 0, 10)
    assert (
        kernel.scan(block, np.zeros(0, np.int32), tokens, sentences, others, state, 10, 2, True) == kernel.OK
    )
    assert state[kernel.TOKENS] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"width": 7},
        {"width": 65},
        {"policy": 3},
        {"columns": np.array([10], np.int32)},
        {"columns": np.array([-1], np.int32)},
        {"tokens": np.zeros((4, 99), np.int32)},
        {"tokens": np.zeros((5, 1), np.int32)},
        {"sentences": np.zeros((4, 1), np.int32)},
        {"others": np.zeros((3, 1), np.int32)},
        {"state": np.zeros(3, np.int64)},
        {"state": np.full(kernel.STATE_SIZE, 99, np.int64)},
        {"state": np.array([0, 0, 9] + [0] * (kernel.STATE_SIZE - 3), np.int64)},
    ],
)
def test_the_door_refuses_what_does_not_fit(change):
    block = (word(1, 0) + "\n").encode()
    tokens, sentences, others, state = buffers(len(block), 1, 10)
    args = dict(
        columns=np.array([1], np.int32), tokens=tokens, sentences=sentences, others=others, state=state
    )
    args = {**args, "width": 10, "policy": 2, "final": True, **change}
    with pytest.raises(ValueError):
        kernel.scan(block, **args)


# --- trees ---


def check(sentences):
    heads = np.array([head for sentence in sentences for head in sentence], np.int32)
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int32)
    status, word_at, roots = (np.full(len(sentences), -7, np.int32) for _ in range(3))
    tree_shape.check_trees(
        heads, offsets, status, word_at, roots, np.zeros(max(map(len, sentences)), np.int32)
    )
    return heads, offsets, status, word_at, roots


@settings(max_examples=300)
@given(st.lists(st.lists(st.integers(-1, 7), max_size=7), min_size=1, max_size=4))
def test_check_trees_equals_its_twin(sentences):
    _, _, status, word_at, roots = check(sentences)
    for s, sentence in enumerate(sentences):
        name, at = twin.tree_fault(sentence)
        assert status[s] == (getattr(tree_shape, name) if name else 0)
        if name == "CYCLE":
            assert twin.climb(sentence, int(word_at[s])) is None
        else:
            assert word_at[s] == at
        assert roots[s] == sentence.count(0)


@st.composite
def trees(draw):
    """Heads of a tree: each word, in a random order, hangs on the root or an earlier one."""
    n = draw(st.integers(0, 8))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, at in enumerate(order):
        heads[at - 1] = draw(st.sampled_from([0, *order[:i]]))
    return heads


@settings(max_examples=200)
@given(st.lists(trees(), min_size=1, max_size=4))
def test_order_and_gaps_equal_their_twins(sentences):
    heads, offsets, status, _, _ = check(sentences)
    assert not status.any()
    room = max(map(len, sentences)) + 1
    order, gaps = np.full(len(heads), -7, np.int32), np.full(len(sentences), -7, np.int32)
    tree_shape.order_trees(heads, offsets, order, np.zeros((2, room), np.int32))
    tree_shape.gapped_yields(heads, offsets, order, gaps, np.zeros((3, room), np.int32))
    for s, sentence in enumerate(sentences):
        assert order[offsets[s] : offsets[s + 1]].tolist() == twin.level_order(sentence)
        assert gaps[s] == twin.gapped_yields(sentence)


def test_crossing_arcs_by_hand():
    heads, offsets, status, _, roots = check([[3, 0, 2, 1], [2, 0, 2]])
    order, gaps = np.zeros(7, np.int32), np.zeros(2, np.int32)
    tree_shape.order_trees(heads, offsets, order, np.zeros((2, 5), np.int32))
    tree_shape.gapped_yields(heads, offsets, order, gaps, np.zeros((3, 4), np.int32))
    assert order.tolist() == [1, 2, 0, 3, 1, 0, 2]
    assert gaps.tolist() == [2, 0]  # words 1 (1 and 4) and 3 (1, 3 and 4)
    assert status.tolist() == [0, 0]
    assert roots.tolist() == [1, 1]


@pytest.mark.parametrize("up", [True, False])
def test_a_chain_of_200000_words(up):
    n = 200_000
    heads = np.arange(n, dtype=np.int32) if up else np.append(np.arange(2, n + 1), 0).astype(np.int32)
    offsets = np.array([0, n], np.int32)
    order, gaps = np.zeros(n, np.int32), np.zeros(1, np.int32)
    tree_shape.order_trees(heads, offsets, order, np.zeros((2, n + 1), np.int32))
    tree_shape.gapped_yields(heads, offsets, order, gaps, np.zeros((3, n), np.int32))
    assert order.tolist() == list(range(n))[:: 1 if up else -1]
    assert gaps[0] == 0
    heads[0 if up else n - 1] = n if up else 1
    status = np.zeros(1, np.int32)
    tree_shape.check_trees(heads, offsets, status, np.zeros(1, np.int32), np.zeros(1, np.int32), order)
    assert status[0] == tree_shape.CYCLE


def test_tree_doors_refuse_what_does_not_fit():
    heads, scratch = np.array([0, 1, 5], np.int32), np.zeros((3, 9), np.int32)
    one, three = np.zeros(1, np.int32), np.zeros(3, np.int32)
    for offsets in ([0, 2], [1, 3], [0, 4, 3], []):
        with pytest.raises(ValueError, match="offsets must rise"):
            tree_shape.check_trees(heads, np.array(offsets, np.int32), one, one, one, scratch[0])
    whole = np.array([0, 3], np.int32)
    with pytest.raises(ValueError, match="scratch"):
        tree_shape.check_trees(heads, whole, one, one, one, three[:2])
    with pytest.raises(ValueError, match="one entry a sentence"):
        tree_shape.check_trees(heads, whole, one, three, one, three)
    with pytest.raises(ValueError, match=r"not a tree \(word 3\)"):
        tree_shape.order_trees(heads, whole, three, scratch[:2].copy())
    with pytest.raises(ValueError, match="scratch 2 rows"):
        tree_shape.order_trees(heads, whole, three, scratch)
    heads[2] = 1
    with pytest.raises(ValueError, match="order leaves"):
        tree_shape.gapped_yields(heads, whole, np.array([0, 1, 3], np.int32), one, scratch)
    with pytest.raises(ValueError, match="gaps one a sentence"):
        tree_shape.gapped_yields(heads, whole, three, three, scratch)
    with pytest.raises(ValueError, match="scratch needs"):
        tree_shape.gapped_yields(heads, whole, three, one, scratch[:2])


# --- spans ---


@given(st.lists(st.binary(max_size=5).map(lambda b: b.replace(b"\n", b"")), max_size=6))
def test_join_spans(parts):
    block = b"|".join(parts)
    starts = np.cumsum([0, *[len(p) + 1 for p in parts]])[:-1].astype(np.int32)
    ends = (starts + [len(p) for p in parts]).astype(np.int32)
    out = np.zeros(len(b"\n".join(parts)), np.uint8)
    span_text.join_spans(block, starts, ends, out)
    assert out.tobytes() == b"\n".join(parts)


def test_join_spans_refuses_what_does_not_fit():
    def spans(*numbers):
        return np.array(numbers, np.int32)

    for starts, ends, size in [
        ((0,), (4,), 4),
        ((-1,), (1,), 2),
        ((2,), (1,), 0),
        ((0, 1), (1,), 1),
        ((0,), (1,), 2),
    ]:
        with pytest.raises(ValueError):
            span_text.join_spans(b"abc", spans(*starts), spans(*ends), np.zeros(size, np.uint8))
