"""Reading and writing svmlight files."""

from __future__ import annotations

import gzip
import io
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import Input
from wordkit.formats.svmlight import iter_svmlight, read_svmlight, write_svmlight
from wordkit.tally import Tally

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def stored(tmp_path):
    def store(content: bytes | str, name: str = "x.svmlight"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return store


def test_reads_the_sample(samples):
    read = read_svmlight(samples / "questions.svmlight")
    assert len(read.labels) == 400
    assert set(read.labels) == set("123456")
    assert not read.zero_based
    assert read.qids is None
    assert read.lines[0] == 2
    assert read.matrix().shape == (400, read.n_features)
    words = sum(
        len(line.split()) - 1 for line in (samples / "questions.train.txt").read_text().splitlines()[:400]
    )
    assert read.data.sum() == words


def test_reads_nbest_lists(samples):
    read = read_svmlight(samples / "nbest.txt", zero_based=False)
    assert read.qids.tolist() == [qid for qid in range(1, 61) for _ in range(10)]
    assert all(0 <= float(score) <= 1 for score in read.labels)


def test_types(stored):
    read = read_svmlight(stored("a qid:5 1:1\nb qid:5\n"))
    kinds = (read.data.dtype, read.indices.dtype, read.indptr.dtype, read.qids.dtype)
    assert kinds == (np.float32, np.int32, np.int64, np.int64)
    assert read.qids.tolist() == [5, 5]


def test_u017_empty(stored):
    with pytest.raises(DataError, match="is empty"):
        read_svmlight(stored(""))
    for content in ("\n\n", "# only a comment\n"):
        with pytest.raises(DataError, match="holds no record"):
            read_svmlight(stored(content))


def test_u024_crlf_and_u034_byte_order_mark(stored):
    plain = read_svmlight(stored("a 1:2 3:4\n\nb 2:1"))
    marked = read_svmlight(stored(b"\xef\xbb\xbfa 1:2 3:4\r\n\r\nb 2:1\r\n"))
    assert plain.labels == marked.labels == ["a", "b"]
    assert (plain.matrix() != marked.matrix()).nnz == 0


def test_u055_the_base_of_the_training_data_is_applied_later(stored):
    train = read_svmlight(stored("1 0:1\n-1 1:1\n"))
    assert train.zero_based
    test = read_svmlight(stored("1 1:1\n"), zero_based=train.zero_based, n_features=train.n_features)
    assert test.indices.tolist() == [1]
    one_based = read_svmlight(stored("1 1:1\n-1 2:1\n"))
    assert (one_based.zero_based, one_based.n_features, one_based.indices.tolist()) == (False, 2, [0, 1])
    with pytest.raises(DataError, match=r"x.svmlight:2: index 0, expected indices from 1"):
        read_svmlight(stored("1 1:1\n1 0:1\n"), zero_based=False)


def test_u056_features_that_the_model_has_not_are_counted(stored):
    tally = Tally()
    read = read_svmlight(stored("1 2:1 9:1\n2\n3 8:1 3:2 5:0\n"), zero_based=False, n_features=3, tally=tally)
    assert tally.counts == {"unknown feature ignored": 3}
    assert "x.svmlight:1: index 9 " in next(tally.lines())
    assert read.matrix().toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 2]]
    fewer = read_svmlight(stored("1 2:1\n"), zero_based=False, n_features=30)
    assert fewer.matrix().shape == (1, 30)
    with pytest.raises(DataError, match="index 9 is not among"):
        read_svmlight(stored("1 9:1\n"), zero_based=False, n_features=3, tally=Tally(strict=True))
    with pytest.raises(ValueError, match="zero_based"):
        read_svmlight(stored("1 9:1\n"), n_features=3)


def test_u057_unsorted_indices_are_sorted_and_duplicates_refused(stored):
    read = read_svmlight(stored("1 3:1 1:2\n"))
    assert (read.indices.tolist(), read.data.tolist()) == ([0, 2], [2, 1])
    with pytest.raises(DataError, match=r"x.svmlight:2: index 4 twice"):
        read_svmlight(stored("1 3:1\n1 4:1 3:2 4:2\n"))


@pytest.mark.parametrize("label", [":", "|", "a:b", "http://x", "x#y", "a|b:1"])
def test_u058_odd_labels_stay_as_they_are(stored, tmp_path, label):
    assert read_svmlight(stored(f"{label} 1:1\n")).labels == [label]
    write_svmlight(tmp_path / "out", [label], csr_array([[1.0]]))
    assert read_svmlight(tmp_path / "out").labels == [label]


def test_u060_labels_are_strings(stored):
    read = read_svmlight(stored("0 1:1\n-1 1:1\n+1 1:1\n1 1:1\n1.0 1:1\n+a 1:1\n1,2 1:1\n"))
    assert read.labels == ["0", "-1", "1", "1", "1.0", "+a", "1,2"]


def test_u060_unlabelled_lines_are_fine_in_prediction(stored):
    path = stored("1:1 2:1\nqid:3 1:1\n a 3:1\n")
    with pytest.raises(DataError, match=r"x.svmlight:1: no label"):
        read_svmlight(path)
    path = stored("1:1 2:1\na 3:1\n")
    read = read_svmlight(path, labelled=False)
    assert read.labels == ["", "a"]
    assert read.indptr.tolist() == [0, 2, 3]


@pytest.mark.parametrize("name", ["value", "inf", "no_colon", "duplicate", "negative", "huge_index"])
def test_broken_samples(samples, name):
    with pytest.raises(DataError) as caught:
        read_svmlight(samples / "broken" / f"{name}.svmlight")
    assert caught.value.line == 2
    tally = Tally(skip_invalid=True)
    assert read_svmlight(samples / "broken" / f"{name}.svmlight", tally=tally).labels == ["1"]
    assert tally.counts == {"svmlight line skipped": 1}


def test_a_qid_in_some_records_only_is_a_fault(stored):
    with pytest.raises(DataError, match=r":3: no qid"):
        read_svmlight(stored("1 qid:1 1:1\n2 qid:1 1:1\n3 1:1\n"))
    with pytest.raises(DataError, match=r":2: a qid"):
        read_svmlight(stored("1 1:1\n2 qid:1 1:1\n"))
    pieces = iter_svmlight(stored("1 qid:1 1:1\n2 1:1\n"), zero_based=False, block_bytes=12)
    next(pieces)  # the rule outlives a block
    with pytest.raises(DataError, match=r":2: no qid"):
        next(pieces)


def test_an_index_reserves_no_memory(stored):
    read = read_svmlight(stored("1 2147483647:1\n"))
    assert read.n_features == 2**31 - 1
    assert read.matrix().shape == (1, 2**31 - 1)


def test_skipping_leaves_the_rest_and_counts(stored):
    tally = Tally(skip_invalid=True)
    content = b"a 1:1\nb 1:x\nc 2:1 1:1 2:1\nd qid:1\ne 3:4 1:1e400\nf 2:2 1:1\ng \xff:1\nh 1:\0\n"
    read = read_svmlight(stored(content), tally=tally)
    assert read.labels == ["a", "f"]
    assert read.lines.tolist() == [1, 6]
    assert read.matrix().toarray().tolist() == [[1, 0], [1, 2]]
    assert tally.counts == {"svmlight line skipped": 4, "line that is not UTF-8 text skipped": 2}


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1000])
def test_pieces_are_the_whole(samples, block_bytes):
    whole = read_svmlight(samples / "questions.svmlight")
    pieces = list(iter_svmlight(samples / "questions.svmlight", zero_based=False, block_bytes=block_bytes))
    assert len(pieces) > 10
    assert np.concatenate([piece.data for piece in pieces]).tobytes() == whole.data.tobytes()
    assert np.concatenate([piece.indices for piece in pieces]).tobytes() == whole.indices.tobytes()
    assert np.concatenate([piece.lines for piece in pieces]).tobytes() == whole.lines.tobytes()
    assert [label for piece in pieces for label in piece.labels] == whole.labels
    assert max(piece.n_features for piece in pieces) == whole.n_features


def test_compressed_and_opened_inputs(stored):
    path = stored(gzip.compress(b"a 1:1\n"), "x.svmlight.gz")
    assert read_svmlight(path).labels == ["a"]
    with Input(path, digest=True) as source:
        assert read_svmlight(source).labels == ["a"]
        assert source.record()["bytes"] == 6


@given(
    st.binary(max_size=60) | st.text("01:# \n\tq.ide-+\r", max_size=60).map(str.encode),
    st.booleans(),
    st.booleans(),
)
@same_folder
def test_arbitrary_bytes_give_records_or_a_wordkit_error(tmp_path, content, skip, labelled):
    path = tmp_path / "bytes"
    path.write_bytes(content)
    try:
        read = read_svmlight(path, labelled=labelled, tally=Tally(skip_invalid=skip))
    except WordkitError as error:
        assert "\n" not in str(error)
    else:
        assert len(read.labels) == len(read.indptr) - 1 == len(read.lines)
        assert read.indptr[-1] == len(read.indices) == len(read.data)
        assert np.isfinite(read.data).all()


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
label = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\0\ufeff#:+"), min_size=1, max_size=8)


@given(
    st.lists(
        st.tuples(label, st.dictionaries(st.integers(0, 50), finite, max_size=6)), min_size=1, max_size=8
    ),
    st.booleans(),
    st.booleans(),
)
@same_folder
def test_round_trip(tmp_path, records, zero_based, with_qids):
    entries = [(row, i, value) for row, (_, features) in enumerate(records) for i, value in features.items()]
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    X = csr_array(coo_array((np.array(values, np.float32), (rows, columns)), shape=(len(records), 51)))
    labels = [text for text, _ in records]
    qids = np.arange(len(labels)) if with_qids else None
    write_svmlight(tmp_path / "x", labels, X, qids=qids, zero_based=zero_based)
    read = read_svmlight(tmp_path / "x", zero_based=zero_based, n_features=51)
    assert read.labels == labels
    assert read.data.tobytes() == X.data.tobytes()
    assert read.indices.tolist() == X.indices.tolist()
    assert read.indptr.tolist() == X.indptr.tolist()
    assert read.qids is None if qids is None else read.qids.tolist() == qids.tolist()


def test_written_numbers_are_short(tmp_path):
    write_svmlight(tmp_path / "x", ["a"], csr_array(np.array([[1, 0, 0.1, -2.5, 1e20]], np.float32)))
    assert (tmp_path / "x").read_text() == "a 1:1 3:0.1 4:-2.5 5:1e+20\n"


def test_many_rows_come_back(tmp_path):
    rng = np.random.default_rng(2)
    X = csr_array((rng.random((9001, 7)) * (rng.random((9001, 7)) < 0.4)).astype(np.float32))
    labels = [str(i) for i in range(9001)]
    write_svmlight(tmp_path / "x", labels, X, qids=np.arange(9001))
    read = read_svmlight(tmp_path / "x")
    assert read.labels == labels
    assert read.qids.tolist() == list(range(9001))
    assert (read.matrix() != X).nnz == 0


def test_writing_puts_a_matrix_in_order_without_touching_it(tmp_path):
    X = csr_array((np.float32([1, 2, 3]), [2, 0, 2], [0, 3]), shape=(1, 3))
    write_svmlight(tmp_path / "x", ["a"], X)
    assert (tmp_path / "x").read_text() == "a 1:2 3:4\n"
    assert X.indices.tolist() == [2, 0, 2]
    write_svmlight(tmp_path / "x", ["a"], [[0.0, 2.0]], zero_based=True)
    assert (tmp_path / "x").read_text() == "a 1:2\n"


@pytest.mark.parametrize("label", ["", "a b", "#a", "1:2", "12:", "qid:1", "a\n", "\ufeffa", "a\0", "\ud800"])
def test_labels_that_cannot_be_read_back_are_refused(tmp_path, label):
    with pytest.raises(WordkitError, match="cannot be stored"):
        write_svmlight(tmp_path / "x", ["good", label], csr_array([[1.0], [1.0]]))
    assert list(tmp_path.iterdir()) == []


def test_other_refusals_of_the_writer(tmp_path):
    for X, qids in (([[np.nan]], None), ([[np.inf]], None), ([[1.0]], [-1]), ([[1.0]], [10**18])):
        with pytest.raises(WordkitError, match="x: a "):
            write_svmlight(tmp_path / "x", ["a"], X, qids=qids)
    far = csr_array((np.float32([1]), [2**31 - 1], [0, 1]), shape=(1, 2**31))
    with pytest.raises(WordkitError, match="greater than"):
        write_svmlight(tmp_path / "x", ["a"], far)
    with pytest.raises(ValueError, match="as many labels"):
        write_svmlight(tmp_path / "x", ["a", "b"], [[1.0]])


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("with_qids", [False, True])
def test_equals_scikit_learn(stored, zero_based, with_qids):
    datasets = pytest.importorskip("sklearn.datasets")
    rng = np.random.default_rng(3)
    X = csr_array(
        rng.random((200, 30)) * (rng.random((200, 30)) < 0.3) * 10.0 ** rng.integers(-9, 9, (200, 30))
    )
    y, qids = rng.integers(-1, 3, 200), rng.integers(0, 9, 200) if with_qids else None
    made = io.BytesIO()
    datasets.dump_svmlight_file(X, y, made, zero_based=zero_based, query_id=qids, comment="made by another")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer, *rest = datasets.load_svmlight_file(
            io.BytesIO(made.getvalue()), zero_based=zero_based, query_id=with_qids, dtype=np.float64
        )
    ours = read_svmlight(stored(made.getvalue()), zero_based=zero_based)
    assert ours.data.tobytes() == peer.data.astype(np.float32).tobytes()
    assert np.array_equal(ours.indices, peer.indices)
    assert np.array_equal(ours.indptr, peer.indptr)
    assert [float(text) for text in ours.labels] == rest[0].tolist()
    if with_qids:
        assert np.array_equal(ours.qids, rest[1])
