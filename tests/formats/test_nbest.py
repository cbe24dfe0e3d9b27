"""Reading and writing n-best lists and the counts of their candidates."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from wordkit.errors import DataError, WordkitError
from wordkit.formats.nbest import ListReader, NbestLists, iter_lists, list_writer, read_lists, write_lists
from wordkit.formats.nbest_counts import CandidateCounts, read_counts, write_counts
from wordkit.tally import Tally

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
fewer = settings(same_folder, max_examples=40)
LISTS = "# made by hand\n0.5 qid:7 1:1 3:-2\n0.25 qid:7\n\n1 qid:3 2:0.5 # the only one\n"


@pytest.fixture
def stored(tmp_path):
    def store(content: bytes | str, name: str = "x.nbest"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return store


def same(a: NbestLists, b: NbestLists) -> bool:
    names = ("qids", "starts", "scores", "indptr", "indices", "values")
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in names)


def test_reads_lists(stored):
    read = read_lists(stored(LISTS))
    assert read.qids.tolist() == [7, 3] and len(read) == 2
    assert read.starts.tolist() == [0, 2, 3]
    assert read.scores.tolist() == [0.5, 0.25, 1]
    assert read.lines.tolist() == [2, 3, 5]
    assert read.rows().toarray().tolist() == [[1, 0, -2], [0, 0, 0], [0, 0.5, 0]]
    assert read.candidate_qids().tolist() == [7, 7, 3]
    kinds = [
        array.dtype for array in (read.qids, read.starts, read.scores, read.indptr, read.indices, read.values)
    ]
    assert kinds == [np.int64, np.int64, np.float64, np.int64, np.int32, np.float32]


def test_reads_the_sample(samples):
    read = read_lists(samples / "nbest.txt")
    assert len(read) == 60 and np.diff(read.starts).tolist() == [10] * 60
    qids, counts = read_counts(samples / "nbest.counts", read.candidate_qids())
    assert np.array_equal(qids, read.candidate_qids())
    f = 2 * counts[:, 0] / (counts[:, 1] + counts[:, 2])
    assert np.abs(f - read.scores).max() < 1e-4


def test_compressed_crlf_and_byte_order_mark_change_nothing(stored):
    plain = read_lists(stored(LISTS))
    assert same(plain, read_lists(stored(gzip.compress(LISTS.encode()), "x.gz")))
    assert same(plain, read_lists(stored(b"\xef\xbb\xbf" + LISTS.replace("\n", "\r\n").encode())))
    assert same(plain, read_lists(stored(LISTS.rstrip("\n"))))


@pytest.mark.parametrize("block_bytes", [1, 7, 40, 100, 1000])
def test_pieces_are_whole_lists_wherever_blocks_end(stored, block_bytes):
    text = "".join(
        f"{i % 7} qid:{q} {1 + i % 5}:{q}\n" for q in (5, 1, 9, 2, 3) for i in range(1 + 3 * (q % 4))
    )
    path = stored("# head\n" + text)
    pieces = list(ListReader(block_bytes=block_bytes).pieces(path))
    assert [qid for piece in pieces for qid in piece.qids.tolist()] == [5, 1, 9, 2, 3]
    assert all(
        piece.starts[0] == piece.indptr[0] == 0 and (np.diff(piece.starts) > 0).all() for piece in pieces
    )
    assert same(NbestLists.join(pieces), read_lists(path))


def test_several_inputs_are_one_sequence(stored):
    a, b = stored("1 qid:1 1:1\n", "a"), stored("2 qid:2 2:1\n2.5 qid:2\n", "b")
    read = read_lists(a, b)
    assert read.qids.tolist() == [1, 2] and read.lines.tolist() == [1, 1, 2]
    with pytest.raises(DataError, match=r"a:1: qid 1 again"):
        read_lists(a, b, a)


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_a_list_that_returns_is_passed_over_whole_or_an_error(stored, block_bytes):
    path = stored("1 qid:1 1:1\n2 qid:2 1:1\n3 qid:1 1:1\n4 qid:1 1:2\n5 qid:3 1:1\n")
    with pytest.raises(DataError, match=r"x.nbest:3: qid 1 again"):
        list(ListReader(block_bytes=block_bytes).pieces(path))
    tally = Tally(skip_invalid=True)
    read = NbestLists.join(ListReader(block_bytes=block_bytes, tally=tally).pieces(path))
    assert read.qids.tolist() == [1, 2, 3] and read.scores.tolist() == [1, 2, 5]
    assert tally.counts["n-best list skipped"] >= 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("best qid:1 1:1\n", "x.nbest:1: score `best` is not a number"),
        ("nan qid:1 1:1\n", "x.nbest:1: score `nan` is not a number"),
        ("1 qid:1 1:1\n1_0 qid:1 1:1\n", "x.nbest:2: score `1_0` is not a number"),
        ("1e999 qid:1 1:1\n", "x.nbest:1: score `1e999` is not a number"),
        ("0 qid:1\n-1e101 qid:1\n", "x.nbest:2: score `-1e101` is too large, expected at most 1e\\+100"),
        ("0.5 1:1\n1 qid:1 1:1\n", "x.nbest:1: no qid, expected score qid:N index:value"),
        ("0.5 qid:1 1:1\n0.5 1:1\n", "x.nbest:2: no qid"),
        ("qid:1 1:1\n", "x.nbest:1: no label, expected score qid:N index:value"),
        ("1 qid:1 1:1 1:2\n", "x.nbest:1: index 1 twice"),
        ("1 qid:1 0:1\n", "x.nbest:1: index 0"),
        ("1 qid:x 1:1\n", "x.nbest:1: field `qid:x`, expected qid:N behind the label"),
        ("1 qid:-1\n", "x.nbest:1: field `qid:-1`, expected qid:N behind the label"),
        (f"1 qid:{10**18}\n", "x.nbest:1: field `qid:1000000000000000000`, .* at most 18 digits"),
        ("# nothing\n\n", "x.nbest: holds no (record|candidate)"),
        ("", "x.nbest: is empty"),
    ],
)
def test_faults_name_file_and_line(stored, text, says):
    with pytest.raises(DataError, match=says):
        read_lists(stored(text))


def test_faults_are_counted_where_they_are_to_be_skipped(stored):
    tally = Tally(skip_invalid=True)
    read = read_lists(stored("0.5 qid:1 1:1\nx qid:1 2:1\n0.25 qid:1 3:4\n1 qid:2 a\n1 qid:2\n"), tally=tally)
    assert read.scores.tolist() == [0.5, 0.25, 1] and read.rows().toarray().tolist() == [
        [1, 0, 0],
        [0, 0, 4],
        [0] * 3,
    ]
    assert read.lines.tolist() == [1, 3, 5]
    without_qid = read_lists(stored("0 1:1\n1 qid:1 1:2\n"), tally=Tally(skip_invalid=True))
    assert without_qid.lines.tolist() == [2]  # the first record is not what says whether there are qids
    assert tally.counts == {"n-best line skipped": 1, "svmlight line skipped": 1}


def test_features_past_the_known_ones_are_counted(stored):
    tally = Tally()
    read = read_lists(stored("1 qid:1 2:1 9:1\n"), n_features=5, tally=tally)
    assert read.indices.tolist() == [1] and tally.counts == {"unknown feature ignored": 1}


@given(st.binary(max_size=60) | st.text("01:# \n\tqid.e-+\r", max_size=80).map(str.encode), st.booleans())
@same_folder
def test_arbitrary_bytes_give_lists_or_a_wordkit_error(tmp_path, content, skip):
    path = tmp_path / "bytes"
    path.write_bytes(content)
    for read in (lambda: list(iter_lists(path, tally=Tally(skip_invalid=skip))), lambda: read_counts(path)):
        try:
            read()
        except WordkitError as error:
            assert "\n" not in str(error)


candidate = st.tuples(
    st.floats(-1e100, 1e100),
    st.dictionaries(
        st.integers(0, 40), st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=5
    ),
)


@given(
    st.dictionaries(
        st.integers(0, 10**18 - 1), st.lists(candidate, min_size=1, max_size=5), min_size=1, max_size=6
    )
)
@fewer
def test_round_trip(tmp_path, made):
    parts = []
    for qid, candidates in made.items():
        features = [sorted(row.items()) for _, row in candidates]
        indptr = np.cumsum([0, *map(len, features)])
        indices = np.array([i for row in features for i, _ in row], np.int32)
        values = np.array([v for row in features for _, v in row], np.float32)
        scores = np.array([score for score, _ in candidates], np.float64)
        ends = np.array([0, len(scores)])
        parts.append(
            NbestLists(np.array([qid]), ends, scores, indptr, indices, values, np.arange(len(scores)))
        )
    lists = NbestLists.join(parts)
    write_lists(tmp_path / "x", lists, header="several\nlines")
    assert same(read_lists(tmp_path / "x"), lists)


def test_writing_list_by_list(tmp_path):
    with list_writer(tmp_path / "x.gz", "score qid:N") as writer:
        writer.add(4, [0.5, 1], csr_array(np.float32([[0, 2, 0], [1, 0, 0.1]])))
        writer.add(2, [1 / 3], [[0.0, 0.0, 3.0]])
    text = gzip.decompress((tmp_path / "x.gz").read_bytes()).decode()
    assert text == "# score qid:N\n0.5 qid:4 2:2\n1.0 qid:4 1:1 3:0.1\n0.3333333333333333 qid:2 3:3\n"


def test_what_could_not_be_read_back_is_refused(tmp_path):
    one = csr_array(np.float32([[1.0]]))
    for qid, scores, rows in (
        (1, [np.nan], one),
        (1, [1.0], [[np.inf]]),
        (-1, [1.0], one),
        (10**18, [1.0], one),
        (5, [1.0], one),
    ):
        with pytest.raises(WordkitError, match="x: "), list_writer(tmp_path / "x") as writer:
            writer.add(5, [1.0], one)
            writer.add(qid, scores, rows)
    for scores, rows in (([1.0, 2.0], one), ([], np.empty((0, 1)))):
        with pytest.raises(ValueError, match="candidates"), list_writer(tmp_path / "x") as writer:
            writer.add(1, scores, rows)
    assert not (tmp_path / "x").exists()


def test_counts_round_trip(tmp_path):
    qids, counts = np.array([3, 3, 1]), np.array([[1, 2, 3], [0, 2, 0], [4, 4, 4]])
    write_counts(tmp_path / "c.xz", qids, counts)
    read = read_counts(tmp_path / "c.xz", qids)
    assert np.array_equal(read[0], qids) and np.array_equal(read[1], counts)
    assert read[1].dtype == np.int64
    for bad in ([[3, 2, 3]] * 3, [[-1, 2, 3]] * 3, [[3, 4, 2]] * 3):
        with pytest.raises(ValueError, match="counts"):
            write_counts(tmp_path / "d", qids, bad)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 3 5 5\n1 3 5\n", "c:2: 3 columns, 4 expected"),
        ("1\n", "c:1: 1 column, 4 expected"),
        ("# head\n1 6 5 7\n", "c:2: 6 matched of 5"),
        ("1 3 5 2\n", "c:1: 3 matched of 2"),
        ("1 3 5 5.0\n", "c:1: `5.0` is no count"),
        ("1 -3 5 5\n", "c:1: `-3` is no count"),
        ("1 3 5 5\n", "c: 1 line of counts for 2 candidates"),
        ("1 3 5 5\n" * 3, "c: 3 lines of counts for 2 candidates"),
        ("1 3 5 5\n2 3 5 5\n", "c:2: counts of qid 2, expected qid 1 as in the lists"),
        ("# head\n", "c: holds no counts"),
        ("", "c: is empty"),
    ],
)
def test_u088_faults_of_counts(stored, text, says):
    with pytest.raises(DataError, match=says):
        read_counts(stored(text, "c"), np.array([1, 1]))


# What a line may be: a candidate, one whose score or features are no numbers, no text, none at all.
LINES = {
    "good": b"%d qid:%d 1:1",
    "score": b"x%d qid:%d 1:1",
    "feature": b"%d qid:%d 1:x",
    "bytes": b"%d qid:%d \xff",
}


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.lists(st.sampled_from([*LINES, "comment"]), max_size=4)), max_size=9
    ),
    st.sampled_from([1, 30, 1 << 20]),
)
@fewer
def test_counts_of_candidates_passed_over_are_passed_over(tmp_path, runs, block_bytes):
    """In whatever place, in lists that return and at either end: what is kept keeps its own counts."""
    lists, counts, expected, passed, seen, last, refused = [], [], [], [], set(), None, False
    for qid, kinds in [(9, ["good"]), *runs, (8, ["good"])]:
        for kind in kinds:
            if kind == "comment":
                lists.append(b"# and a blank line\n")
                continue
            place = len(counts)
            lists.append(LINES[kind] % (place, qid))
            counts.append(b"%d %d %d %d" % (qid, place, place, place))
            if kind in ("good", "score"):  # of others not even the qid is known
                refused = qid in seen if qid != last else refused
                last = qid
                seen.add(qid)
            (passed if kind != "good" or refused else expected).append(place)
    (tmp_path / "l").write_bytes(b"\n".join(lists))
    (tmp_path / "c").write_bytes(b"\n".join(counts))
    tally = Tally(skip_invalid=True)
    reader = ListReader(tally=tally, block_bytes=block_bytes)
    taken, own = [], CandidateCounts(tmp_path / "c", tally=tally)
    for piece in reader.pieces(tmp_path / "l"):
        assert piece.scores.tolist() == own.take(piece.candidate_qids(), reader.passed_over)[:, 0].tolist()
        taken.append(piece)
    own.finish(reader.passed_over)
    whole = NbestLists.join(taken)
    assert list(reader.passed_over) == passed and whole.scores.tolist() == expected
    assert tally.counts.get("line of counts skipped", 0) == len(passed)
    told = Tally(skip_invalid=True)
    qids, table = read_counts(
        tmp_path / "c", whole.candidate_qids(), passed_over=reader.passed_over, tally=told
    )
    assert table[:, 2].tolist() == expected and qids.tolist() == whole.candidate_qids().tolist()
    assert sum(told.counts.values()) == len(passed)


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        (
            "1 1 1 1\n1 2 2 2\n2 3 3 3\n",
            "c:3: counts of qid 2, expected qid 1 as in the lists, where candidates",
        ),
        ("1 1 1 1\n" * 3, "c: 3 lines of counts for 4 candidates or more, expected .* passed over too"),
        ("1 1 1 1\n" * 3 + "2 1 1 1\n", "c: 4 lines of counts for 5 candidates, expected .* passed over too"),
        ("1 1 1 1\n" * 3 + "2 1 1 1\n" * 3, "c: 6 lines of counts for 5 candidates"),
    ],
)
def test_counts_without_those_of_candidates_passed_over_are_refused(stored, counts, says):
    reader = ListReader(tally=Tally(skip_invalid=True))
    lists = NbestLists.join(reader.pieces(stored("1 qid:1\nx qid:1\n1 qid:1\n1 qid:2\nx qid:2\n")))
    with pytest.raises(DataError, match=says):
        read_counts(stored(counts, "c"), lists.candidate_qids(), passed_over=reader.passed_over)
