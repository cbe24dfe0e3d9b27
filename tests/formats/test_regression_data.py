"""Matrices of regressions as users have them: forms told by content, damaged archives, numbers beyond what can be squared."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
import scipy.sparse

from wordkit.errors import DataError
from wordkit.formats.regression_data import check_sizes, read_matrix, read_regression
from wordkit.tally import Tally

ROWS = [[1.5, -2.0, 3.0], [4.0, 5.0, 0.25], [7.0, 8.0, -9.0]]


def saved(tmp_path, content: bytes | str, name: str = "x") -> str:
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return str(tmp_path / name)


def archive(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def sparse(matrix) -> bytes:
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, matrix)
    return stream.getvalue()


def directory(content: bytes, place: int, value: int) -> bytes:
    """An archive with one byte of its directory's first entry changed."""
    at = content.index(b"PK\x01\x02") + place
    return content[:at] + bytes([value]) + content[at + 1 :]


def test_numbers_between_spaces_are_a_table_and_rows_with_words_are_vectors(tmp_path):
    text = "\n".join(" ".join(map(repr, row)) for row in ROWS)
    found = read_matrix(saved(tmp_path, text), Tally())
    assert found.format == "table" and found.X.tolist() == ROWS
    np.savetxt(tmp_path / "s", np.array(ROWS))
    assert read_matrix(str(tmp_path / "s"), Tally()).X.tolist() == ROWS
    words = "\n".join(f"w{i} " + " ".join(map(repr, row)) for i, row in enumerate(ROWS))
    years = "\n".join(f"{1990 + i} " + " ".join(map(repr, row)) for i, row in enumerate(ROWS))
    for vectors in (words, f"3 3\n{words}\n", f"3 3\n{years}\n"):
        found = read_matrix(saved(tmp_path, vectors), Tally())
        assert found.format == "vectors" and found.X.tolist() == ROWS


@pytest.mark.parametrize(
    "damage",
    [
        lambda good: good[:200],
        lambda good: good[:60] + bytes(20) + good[80:],  # deflated bytes
        lambda good: directory(good, 8, 1),  # a flag says that it is encrypted
        lambda good: directory(good, 10, 99),  # a method of compression that nobody knows
        lambda good: archive(**{**np.load(io.BytesIO(good)), "shape": np.array([3.0, np.inf])}),
        lambda good: archive(**{**np.load(io.BytesIO(good)), "indices": np.full(9, 7)}),
    ],
    ids=["cut", "deflated", "encrypted", "method", "shape", "columns"],
)  # fmt: skip
def test_damaged_sparse_matrices(tmp_path, damage):
    good = sparse(scipy.sparse.csr_array(ROWS))
    bad = damage(good)
    assert bad != good
    with pytest.raises(DataError, match="is not a sparse matrix of SciPy, or is damaged"):
        read_matrix(saved(tmp_path, bad), Tally())


def test_other_archives_are_named_by_what_they_hold(tmp_path):
    for content, says in (
        (archive(a=np.eye(2), b=np.eye(2)), "holds arrays a, b, expected a sparse matrix of SciPy, or vectors"),
        (sparse(scipy.sparse.coo_array(ROWS)), "a sparse matrix in form b'coo', expected csr or csc"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=re.escape(says)):
            read_matrix(saved(tmp_path, content), Tally())


def test_a_matrix_wider_than_memory_is_refused_before_the_work(tmp_path):
    wide = archive(data=[1.0], indices=[0], indptr=[0, 1, 1, 1], shape=np.array([3, 2**40]), format="csr")
    with pytest.raises(
        DataError, match=r"3 rows and 1099511627776 columns take .* GiB, more than this machine"
    ):
        read_matrix(saved(tmp_path, wide), Tally())


def test_a_nul_in_a_table_is_told_with_its_line(tmp_path):
    with pytest.raises(DataError, match=":2: NUL byte"):
        read_matrix(saved(tmp_path, "1,2\n3,\0\n"), Tally())


def test_numbers_that_cannot_be_squared(tmp_path):
    table = "a,b\n1,1\n2,{}\n\n3,3\n"
    x, y = saved(tmp_path, table.format("1e160")), saved(tmp_path, "1\n2\n3\n", "y")
    with pytest.raises(DataError, match=r"x:3: column 2: a number of size 1e\+160, expected at most 1e\+100"):
        read_regression(x, y, Tally())
    x = saved(tmp_path, table.format("-2"))
    with pytest.raises(DataError, match=r"y:2: column 1: a number of size 1e\+120"):
        read_regression(x, saved(tmp_path, "1\n-1e120\n3\n", "y"), Tally())
    with pytest.raises(DataError, match=r"y:1: .* expected one of 1e-100 at least in the column"):
        read_regression(x, saved(tmp_path, "1e-170\n0\n0\n", "y"), Tally())
    with pytest.raises(DataError, match=r"s:2: column 3: a number of size 1e\+130"):
        check_sizes(scipy.sparse.csr_array([[0, 0, 0], [0, 0, 1e130]]), "s", [1, 2])
    check_sizes(
        np.array([[1e-200, 0.0], [1.0, 0.0]]), "x"
    )  # small beside a greater one, and a column of zeros


def test_a_matrix_without_a_target(tmp_path):
    with pytest.raises(DataError, match=r"this looks like a table, expected svmlight .* --target NAME"):
        read_regression(saved(tmp_path, "1,2\n3,4\n"), None, Tally())
    with pytest.raises(DataError, match=r"no line has a feature \(number:value\), expected svmlight"):
        read_regression(saved(tmp_path, "1\n3\n"), None, Tally())
    data, target, _ = read_regression(saved(tmp_path, "1,2\n3,4\n"), None, Tally(), column="2")
    assert data.X.tolist() == [[1], [3]] and target.tolist() == [2, 4] and data.names == ["1"]
