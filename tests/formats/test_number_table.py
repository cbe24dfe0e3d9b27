"""Tables of numbers, targets, matrices in all their forms, and what a regression leaves as text."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.number_table import read_number_table
from wordkit.formats.regression_data import read_groups, read_matrix, read_regression
from wordkit.formats.regression_files import read_path, write_coefficients, write_path
from wordkit.formats.vectors import write_vectors
from wordkit.tally import Tally

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


def write(tmp_path, text: str | bytes, name: str = "x"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@settings(max_examples=50)
@given(
    st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1)),
    st.sampled_from([",", "\t", ";", " ", ", "]), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]),
)  # fmt: skip
def test_what_is_written_is_read(tmp_path_factory, rows, separator, named, end):
    lines = [separator.join(map(repr, row)) for row in rows]
    names = [f"c{i}" for i in range(len(rows[0]))]
    if named:
        lines.insert(0, separator.join(names))
    path = write(tmp_path_factory.mktemp("table"), end.join(lines) + end)
    table = read_number_table(path)
    np.testing.assert_array_equal(table.values, rows)
    assert table.names == (names if named else None) and table.total == len(rows)


def test_quoted_names_and_a_byte_order_mark(tmp_path):
    table = read_number_table(write(tmp_path, b'\xef\xbb\xbf"a, b",c\n1,2\n'))
    assert table.names == ["a, b", "c"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"), ("\n\n", "holds no row of numbers"), ("a,b\n", "holds no row of numbers"),
        ("1,2\n3\n", ":2: 1 column, 2 expected"), ("1,2\n3,4,5\n", ":2: 3 columns, 2 expected"),
        ("1,2\n3,x\n", ":2: `x` is not a number"), ("1,2\n3,\n", ":2: column 2 is empty, a number expected"),
        ("1,\n3,4\n", ":1: column 2 is empty"), ("a,b\n1,nan\n", ":2: column 2: `nan` is not a finite number"),
        ("1\ninf\n", ":2: column 1: `inf` is not a finite number"), ("1\n1_0\n", ":2: `1_0` is not a number"),
    ],
)  # fmt: skip
def test_faults_name_their_line(tmp_path, text, says):
    with pytest.raises(DataError) as caught:
        read_number_table(write(tmp_path, text))
    assert says in str(caught.value)


@settings(max_examples=60)
@given(st.binary(max_size=60))
def test_arbitrary_bytes_only_raise_wordkit_errors(tmp_path_factory, content):
    path = write(tmp_path_factory.mktemp("bytes"), content)
    for read in (read_number_table, lambda p: read_matrix(p, Tally(skip_invalid=True)), read_path):
        try:
            read(path)
        except WordkitError as error:
            assert "\n" not in str(error)


def test_skipped_rows_go_from_both_sides(tmp_path):
    x = write(tmp_path, "a,b\n1,2\n3\n5,6\n7,8\n", "x")
    y = write(tmp_path, "10\n20\n30\nbad\n", "y")
    tally = Tally(skip_invalid=True)
    data, target, inputs = read_regression(x, y, tally)
    assert data.X.tolist() == [[1, 2], [5, 6]] and target.tolist() == [10, 30] and len(inputs) == 2
    assert tally.counts == {"row skipped": 2} and data.names == ["a", "b"]


def test_rows_and_targets_must_be_as_many(tmp_path):
    x, y = write(tmp_path, "1,2\n3,4\n", "x"), write(tmp_path, "1\n2\n3\n", "y")
    with pytest.raises(DataError, match=r"3 targets for 2 rows of .*x, expected one a row"):
        read_regression(x, y, Tally())
    two = write(tmp_path, "1,2\n3,4\n", "z")
    with pytest.raises(DataError, match=":1: 2 columns, 1 expected"):
        read_regression(x, two, Tally())


def test_matrices_in_every_form_are_the_same(tmp_path):
    X = np.arange(1.0, 7).reshape(3, 2)
    np.save(tmp_path / "x.npy", X)
    scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.csc_array(X))
    write_vectors(tmp_path / "v.vec", ["a", "b", "c"], X.astype(np.float32))
    write_vectors(tmp_path / "v.npz", ["a", "b", "c"], X.astype(np.float32))
    write_vectors(tmp_path / "v.bin", ["a", "b", "c"], X.astype(np.float32))
    write(tmp_path, "1\t2\n3\t4\n5\t6\n", "x.tsv")
    forms = {
        "x.npy": "npy",
        "sparse.npz": "npz",
        "v.vec": "vectors",
        "v.npz": "vectors",
        "v.bin": "vectors",
        "x.tsv": "table",
    }
    for name, form in forms.items():
        data = read_matrix(str(tmp_path / name), Tally())
        dense = data.X.toarray() if scipy.sparse.issparse(data.X) else data.X
        np.testing.assert_array_equal(dense, X)
        assert data.names == ["1", "2"] and (name == "v.npz" or data.format == form), name
        assert data.inputs[0]["sha256"] and data.inputs[0]["bytes"] > 0


def test_svmlight_holds_both(tmp_path):
    path = write(tmp_path, "1.5 1:1 3:2\n-2 2:1\n", "s")
    data, y, _ = read_regression(path, None, Tally())
    assert y.tolist() == [1.5, -2] and data.names == ["1", "2", "3"]
    bad = write(tmp_path, "1.5 1:1\nyes 2:1\n", "t")
    with pytest.raises(DataError, match="t:2: the label `yes` is not a finite number"):
        read_regression(bad, None, Tally())


def test_arrays_that_are_no_matrix(tmp_path):
    np.save(tmp_path / "one.npy", np.arange(3.0))
    np.save(tmp_path / "nan.npy", np.array([[1.0, 2], [np.nan, 4]]))
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    scipy.sparse.save_npz(tmp_path / "nan.npz", scipy.sparse.csr_array([[0, 1.0], [0, np.inf]]))
    write(tmp_path, b"\x93NUMPY broken", "cut.npy")
    for name, says in (
        ("one.npy", "a matrix of numbers"), ("nan.npy", "row 2, column 1 is not a finite number"),
        ("text.npy", "a matrix of numbers"), ("nan.npz", "row 2, column 2 is not a finite number"),
        ("cut.npy", "is not a NumPy array"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=says):
            read_matrix(str(tmp_path / name), Tally())


def test_groups(tmp_path):
    assert read_groups(write(tmp_path, "a\nb\na\n"), 3, Tally())[0] == ["a", "b", "a"]
    with pytest.raises(DataError, match="3 groups for 2 columns"):
        read_groups(write(tmp_path, "a\nb\na\n"), 2, Tally())
    with pytest.raises(DataError, match=":2: is empty"):
        read_groups(write(tmp_path, "a\n\na\n"), 3, Tally())
    odd = "a\u2028b\r\nc\x0cd\ne\x85f"  # lines end at line feeds only
    assert read_groups(write(tmp_path, odd), 3, Tally())[0] == ["a\u2028b", "c\x0cd", "e\x85f"]


def test_results_as_text(tmp_path):
    write_coefficients(tmp_path / "c", ["a\tb", "c"], np.array([0.1, 0.0]), np.array([True, False]), 2.5)
    assert (
        tmp_path / "c"
    ).read_text() == "name\tvalue\tselected\na b\t0.1\t1\nc\t0.0\t0\n(intercept)\t2.5\t1\n"
    lams, coefficients = np.array([0.5, 0.25]), np.array([[0, 0.0], [0.1, -1 / 3]])
    write_path(tmp_path / "p", ["a", "b"], lams, lams, lams, np.array([0, 2]), lams, coefficients)
    table = read_path(tmp_path / "p")
    np.testing.assert_array_equal(table.coefficients, coefficients)
    assert table.names == ["a", "b"] and table.lams.tolist() == [0.5, 0.25]
    odd = (tmp_path / "p").read_text().replace("\ta\t", "\ta\u2028\t", 1)
    assert read_path(write(tmp_path, odd, "q")).names == ["a\u2028", "b"]
    for text, says in (
        ("x\n", "no header of a path"),
        ((tmp_path / "p").read_text() + "1\t2\n", ":4: 2 fields"),
        ((tmp_path / "p").read_text().replace("0.25", "nan", 1), ":3: `nan` is not a finite number"),
        ((tmp_path / "p").read_text().replace("0.5", "1_0", 1), ":2: `1_0` is not a finite number"),
        (
            (tmp_path / "p").read_text().replace("0.5", "-0.5", 1),
            ":2: lambda -0.5, expected 0 or a number above",
        ),
        ("lam\tobjective\tgap\tselected\t(intercept)\n1\t1\t0\t0\t0\n", "no header of a path"),
    ):
        with pytest.raises(DataError, match=says):
            read_path(write(tmp_path, text, "q"))
