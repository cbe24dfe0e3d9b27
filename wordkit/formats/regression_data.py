"""The data of a regression from files: a matrix in any of several forms, and a target beside it or in it.

A matrix is told by its first bytes: NumPy's ``.npy``; ``.npz``, which is SciPy's sparse form or wordkit's vectors; text with
commas, semicolons or tabs, or of nothing but numbers (a table); other text and word2vec's binary form (vectors, a row a word). A
single file without a target beside it is svmlight, whose labels are the target.
"""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.errors import DataError
from wordkit.formats.npz import DAMAGE
from wordkit.formats.number_table import as_number, read_number_table
from wordkit.formats.opening import Input
from wordkit.formats.svmlight import read_svmlight
from wordkit.formats.text import text_lines
from wordkit.formats.vectors import read_vectors
from wordkit.parallel import memory
from wordkit.tally import Tally

FORMATS = ("table", "npy", "npz", "vectors", "svmlight")
_NPY, _ZIP = b"\x93NUMPY", b"PK\x03\x04"
_SPARSE = {"data", "indices", "indptr", "shape"}
_HEAD = 1 << 16
# What a number and the largest of a column may be in size: squares and their products stay within float64.
LARGEST, SMALLEST = 1e100, 1e-100
_ALONE = "svmlight where a matrix stands alone; else Y beside it, or --target NAME for a column of it"


@dataclass
class MatrixFile:
    """``X``: (n, p), an array or CSR matrix of finite numbers. ``names``: of the columns. ``rows``: which rows of the file
    those are, ``total`` of them. ``labels``: svmlight's. ``zero_based``: svmlight's base. ``lines``: where the rows stand, of
    svmlight and tables. ``name``: of the input, as errors have it.
    """

    name: str
    X: Any
    names: list[str]
    rows: np.ndarray
    total: int
    format: str
    inputs: list[dict[str, Any]]
    labels: list[str] = field(default_factory=list)
    zero_based: bool = False
    lines: Any = ()


def matrix_format(source: Input) -> str:
    """Which of FORMATS but svmlight an input is in."""
    head = source.peek(_HEAD)
    if head.startswith(_NPY):
        return "npy"
    if head.startswith(_ZIP):
        return "npz"
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:20] if line.strip()]
    if not lines or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "table"
    if any(mark in lines[0] for mark in (b",", b"\t", b";")) or len(lines[0].split()) == 1:
        return "table"
    return "table" if _all_numbers(lines[: len(lines) - (len(head) == _HEAD)]) else "vectors"


def _all_numbers(lines: list[bytes]) -> bool:
    """Whether lines hold nothing but numbers between spaces, and the first is not the header of a vector file."""
    rows = [line.decode("utf-8", "replace").split() for line in lines]
    if not rows or any(as_number(field) is None for row in rows for field in row):
        return False
    announced = len(rows[0]) == 2 and all(field.isdecimal() for field in rows[0])
    return not (announced and len(rows) > 1 and len(rows[1]) == int(rows[0][1]) + 1)


def is_svmlight(source: Input) -> bool:
    """Whether an input is svmlight rather than a matrix of another form: by its first line that is neither blank nor a comment,
    of which no more than that is waited for."""
    size = 256
    while True:
        head = source.peek(size)
        if head.startswith((_NPY, _ZIP)):
            return False
        lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        whole = lines if len(head) < size else lines[:-1]
        first = next((line for line in whole if line.strip() and not line.startswith(b"#")), None)
        if first is not None:
            return b":" in first or len(re.split(rb"[\s,;]+", first.strip())) == 1
        if len(head) < size or size > _HEAD:
            return True
        size *= 4


def read_matrix(path: str | Input, tally: Tally, *, svmlight: bool = False) -> MatrixFile:
    """Read a matrix; ``svmlight`` says that it is in that format, which has no mark of its own.

    Raises:
        DataError: what cannot be read, or a value that is not finite, with its row and column.
    """
    with contextlib.nullcontext(path) if isinstance(path, Input) else Input(path, digest=True) as source:
        if svmlight:
            data = read_svmlight(source, tally=tally)
            if not data.n_features:
                raise DataError(source.name, None, _no_features(data.labels), _ALONE)
            _check_memory(source.name, len(data.labels), data.n_features)
            names = [str(i + (not data.zero_based)) for i in range(data.n_features)]
            X: Any = data.matrix().astype(np.float64)
            rows = np.arange(X.shape[0])
            return MatrixFile(
                source.name, X, names, rows, len(rows), "svmlight", [source.record()], data.labels, data.zero_based, data.lines
            )  # fmt: skip
        kind = matrix_format(source)
        if kind == "table":
            table = read_number_table(source, tally)
            names = table.names or numbered(table.values.shape[1])
            _warn_of_names(names, source.name, tally)
            return MatrixFile(
                source.name,
                table.values,
                names,
                table.rows,
                table.total,
                kind,
                [source.record()],
                lines=table.lines,
            )
        X = _npy(source) if kind == "npy" else _npz(source) if kind == "npz" else None
        if X is None:
            X = read_vectors(source, tally=tally)[1].astype(np.float64)
            kind = "vectors"
        _check_finite(X, source.name)
        _check_memory(source.name, *X.shape)
        count = np.arange(X.shape[0])
        return MatrixFile(source.name, X, numbered(X.shape[1]), count, len(count), kind, [source.record()])


def _warn_of_names(names: list[str], name: str, tally: Tally) -> None:
    """Two columns of one name cannot be told apart by it: a model takes them where they stand, or not at all."""
    for twice, count in repeated(names).items():
        fault = DataError(name, 1, f"{count} columns are named {twice!r}", "a name of its own for each")
        tally.warn("column name that is not alone", fault)


def _no_features(labels: list[str]) -> str:
    if any(mark in label for label in labels[:1] for mark in ",;\t"):
        return "this looks like a table"
    return "no line has a feature (number:value)"


def _check_memory(name: str, rows: int, columns: int) -> None:
    """Tell before the work that the matrix, made dense, or its Gram matrix cannot fit: the system would kill the run."""
    size = columns * (24 * min(rows, columns) + 100)
    if size > memory():
        what = f"{rows} rows and {columns} columns take {size / 2**30:.0f} GiB, more than this machine has"
        raise DataError(name, None, what)


def check_sizes(X: Any, name: str, lines: Any = ()) -> None:
    """DataError for numbers whose squares would pass what float64 can hold, or vanish in it.

    Args:
        X: (n, p), an array or CSR matrix. lines: where its rows stand in the input, if they have lines.
    """
    sizes = abs(X)
    largest = np.asarray(
        sizes.max(axis=0).todense() if scipy.sparse.issparse(X) else sizes.max(axis=0)
    ).ravel()
    for column in np.flatnonzero((largest > LARGEST) | ((largest < SMALLEST) & (largest > 0))):
        one = sizes[:, [column]].toarray() if scipy.sparse.issparse(X) else sizes[:, [column]]
        row, value = int(np.argmax(one)), float(one.max())
        line = int(lines[row]) if len(lines) else None
        place = f"column {column + 1}" if line else f"row {row + 1}, column {column + 1}"
        expected = (
            f"at most {LARGEST:g}" if value > LARGEST else f"one of {SMALLEST:g} at least in the column"
        )
        raise DataError(name, line, f"{place}: a number of size {value:g}", expected)


def repeated(names: list[str]) -> dict[str, int]:
    """Names that there are more than once, and how often."""
    return {name: count for name, count in Counter(names).items() if count > 1}


def numbered(count: int) -> list[str]:
    """Names of columns that have none: 1, 2, ..."""
    return [str(i + 1) for i in range(count)]


def read_target(path: str, tally: Tally) -> tuple[np.ndarray, np.ndarray, int, dict[str, Any]]:
    """One number a line: values, which of the file's rows they are, how many rows there are, and the input's record."""
    with Input(path, digest=True) as source:
        table = read_number_table(source, tally, columns=1)
        check_sizes(table.values, source.name, table.lines)
        return table.values[:, 0], table.rows, table.total, source.record()


def read_regression(
    matrix: str, target: str | None, tally: Tally, *, column: str | None = None
) -> tuple[MatrixFile, np.ndarray, list[dict[str, Any]]]:
    """The matrix, the target (n,) and the records of the inputs.

    Args:
        target: a file of numbers; None where the matrix holds the target.
        column: the name of the column that is the target, which is taken out of the matrix.

    Raises:
        DataError: as the readers, where rows and targets differ in number, or no column or several have the name.
    """
    if column is not None:
        data = read_matrix(matrix, tally)
        values = _taken_out(data, column)
        check_sizes(data.X, data.name, data.lines)
        check_sizes(values[:, None], data.name, data.lines)
        return data, values, data.inputs
    if target is None:
        try:
            data = read_matrix(matrix, tally, svmlight=True)
        except DataError as error:
            if error.expected is None:
                raise
            raise DataError(error.path, error.line, error.found, f"{error.expected} ({_ALONE})") from None
        check_sizes(data.X, data.name, data.lines)
        values = _label_numbers(data)
        check_sizes(values[:, None], data.name, data.lines)
        return data, values, data.inputs
    data = read_matrix(matrix, tally)
    check_sizes(data.X, data.name, data.lines)
    values, rows, total, record = read_target(target, tally)
    if total != data.total:
        hint = ""
        if data.total == total + 1 and data.format == "table" and data.names == numbered(len(data.names)):
            hint = " (a first line of numbers is a row, not names)"
        raise DataError(
            target, None, f"{total} targets for {data.total} rows of {data.name}{hint}", "one a row"
        )
    both, of_matrix, of_target = np.intersect1d(data.rows, rows, assume_unique=True, return_indices=True)
    if not len(both):
        raise DataError(target, None, "no row is left that has a target")
    data.X, data.rows = data.X[of_matrix], both
    return data, values[of_target], [*data.inputs, record]


def _taken_out(data: MatrixFile, column: str) -> np.ndarray:
    """The values (n,) of a column, which the matrix then lacks."""
    places = [place for place, name in enumerate(data.names) if name == column]
    if len(places) != 1:
        first, last = data.names[0], data.names[-1]
        many = f"{len(places)} columns are" if places else "no column is"
        raise DataError(data.name, None, f"{many} named {column!r}", f"one of {first!r} to {last!r}")
    if len(data.names) == 1:
        raise DataError(data.name, None, f"holds no column beside {column!r}")
    others = np.arange(len(data.names)) != places[0]
    values = data.X[:, places]
    kept = data.X[:, others]
    data.X = kept if scipy.sparse.issparse(kept) else np.ascontiguousarray(kept)
    data.names = [name for name in data.names if name != column]
    return np.asarray(values.toarray() if scipy.sparse.issparse(values) else values)[:, 0]


def read_groups(path: str, columns: int, tally: Tally) -> tuple[list[str], dict[str, Any]]:
    """One group name a column of X, in order, and the input's record."""
    names: list[str] = []
    with Input(path, digest=True) as source:
        for number, line in text_lines(source, tally):
            if not line.strip():
                raise DataError(source.name, number, "is empty", "the name of a group")
            names.append(line.strip())
        if len(names) != columns:
            raise DataError(source.name, None, f"{len(names)} groups for {columns} columns", "one a column")
        return names, source.record()


def _label_numbers(data: MatrixFile) -> np.ndarray:
    values = np.empty(len(data.labels))
    for place, label in enumerate(data.labels):
        try:
            values[place] = float(label) if "_" not in label else np.nan
        except ValueError:
            values[place] = np.nan
        if not np.isfinite(values[place]):
            line = int(data.lines[place])
            raise DataError(data.name, line, f"the label `{label}` is not a finite number")
    return values


def _check_finite(X: Any, name: str) -> None:
    values = X.data if scipy.sparse.issparse(X) else X
    if np.isfinite(values).all():
        return
    if scipy.sparse.issparse(X):
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    else:
        row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
    raise DataError(name, None, f"row {row + 1}, column {column + 1} is not a finite number")


def _npy(source: Input) -> np.ndarray:
    try:
        X = np.load(io.BytesIO(source.read()), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, MemoryError):
        raise DataError(source.name, None, "is not a NumPy array, or is damaged") from None
    return _matrix_of_numbers(source.name, X)


def _matrix_of_numbers(name: str, X: np.ndarray) -> np.ndarray:
    if X.dtype.kind not in "fiub" or X.ndim != 2 or not X.size:
        raise DataError(name, None, f"an array of {X.dtype} and shape {X.shape}", "a matrix of numbers")
    return X.astype(np.float64)


def _npz(source: Input) -> Any:
    """SciPy's sparse form; None for another archive, of which the bytes stay to be read."""
    from wordkit.formats.opening import seekable

    try:
        with zipfile.ZipFile(seekable(source)) as archive:
            members = {name.removesuffix(".npy") for name in archive.namelist()}
        stream = seekable(source)
        if "header" in members:
            stream.seek(0)
            return None
        if not members >= _SPARSE and "format" not in members:
            held = ", ".join(sorted(members))
            raise DataError(
                source.name, None, f"holds arrays {held:.80}", "a sparse matrix of SciPy, or vectors"
            )
        with np.load(stream, allow_pickle=False) as arrays:
            form = arrays["format"].item() if "format" in arrays.files else b"csr"
            if form not in (b"csr", b"csc", "csr", "csc"):
                raise DataError(source.name, None, f"a sparse matrix in form {form!r:.20}", "csr or csc")
            parts = tuple(arrays[name] for name in ("data", "indices", "indptr"))
            shape = tuple(int(n) for n in arrays["shape"])
        build = scipy.sparse.csr_array if form in (b"csr", "csr") else scipy.sparse.csc_array
        X = build(parts, shape=shape)
        X.check_format(full_check=True)
        if X.dtype.kind not in "fiub" or not min(X.shape):
            raise ValueError
    except (*DAMAGE, TypeError, IndexError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(source.name, None, "is not a sparse matrix of SciPy, or is damaged") from None
    return scipy.sparse.csr_array(X, dtype=np.float64)
