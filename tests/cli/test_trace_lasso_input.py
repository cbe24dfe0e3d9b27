"""``wordkit trace-lasso`` and ``predict``: usage and data that are refused in one line, odd data, damaged models, signals."""

from __future__ import annotations

import json
import random
import signal

import numpy as np
import pytest

from tests.cli.conftest import fails, selected, start, succeeds
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models.regression_model import RegressionModel


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--lam", "1", "--path", "3"), "only one of"), (("--penalty", "group"), "needs --groups"),
        (("--groups", "g"), "needs --groups"), (("--penalty", "lasso", "--penalty-matrix", "p"), "goes with"),
        (("--loss", "logistic", "--penalty", "ridge"), "goes with"), (("--path", "3", "--model-out", "m"), "needs one lambda"),
        (("--model-out", "-"), "standard output"), (("--lam", "-1"), "range"), (("--lam", "nan"), "finite"),
        (("--penalty", "pairwise-elastic-net", "--no-normalize"), "normalized"), (("--cv", "1"), "range"),
    ],
)  # fmt: skip
def test_bad_usage(inside, tmp_path, regression_data, options, says):
    fails(inside("trace-lasso", *regression_data, "-o", "c.tsv", *options), says, code=2)
    assert not (tmp_path / "c.tsv").exists()


def test_a_table_that_holds_its_target(inside, tmp_path, regression_data):
    x, y = (path.read_text().splitlines() for path in regression_data)
    rows = [
        f"{row.split(',', 1)[0]},{value},{row.split(',', 1)[1]}"
        for row, value in zip(x, ["out", *y], strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    succeeds(inside("trace-lasso", *regression_data, "-o", "two.tsv", "--lam", "0.05"))
    succeeds(
        inside(
            "trace-lasso", "t.csv", "--target", "out", "-o", "one.tsv", "--lam", "0.05", "--model-out", "m"
        )
    )
    assert (tmp_path / "one.tsv").read_text() == (tmp_path / "two.tsv").read_text()
    predicted = [float(line) for line in succeeds(inside("predict", "m", "t.csv")).split()]
    assert np.corrcoef(predicted, np.array(y, dtype=float))[0, 1] > 0.9
    (tmp_path / "plain.csv").write_text("\n".join(rows[1:]) + "\n")
    succeeds(inside("trace-lasso", "plain.csv", "--target", "2", "-o", "three.tsv", "--lam", "0.05"))
    assert len(selected(tmp_path / "three.tsv")) == 8
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n4,5,7\n")
    (tmp_path / "alone.csv").write_text("a\n1\n2\n")
    bad = ("trace-lasso", "-o", "bad.tsv", "--target")
    fails(inside(*bad, "none", "t.csv"), "no column is named 'none', expected one of 'a1' to 'free2'")
    fails(inside(*bad, "a", "twice.csv"), "2 columns are named 'a'")
    fails(inside(*bad, "a", "alone.csv"), "holds no column beside 'a'")
    fails(inside(*bad, "out", "t.csv", regression_data[1]), "--target says that X holds the target", code=2)
    assert not (tmp_path / "bad.tsv").exists()


def test_a_table_alone_is_told_what_goes_beside_it(inside, tmp_path, regression_data):
    (tmp_path / "labels").write_text("1\n2\n3\n")
    fails(
        inside("trace-lasso", "labels", "-o", "c.tsv"),
        "no line has a feature (number:value), expected svmlight",
    )
    run = inside("trace-lasso", regression_data[0], "-o", "c.tsv")
    fails(run, "--target NAME")


def test_bad_data_writes_nothing(inside, tmp_path, regression_data):
    (tmp_path / "y").write_text("1\n2\n")
    fails(inside("trace-lasso", regression_data[0], "y", "-o", "c.tsv"), "2 targets for 80 rows")
    fails(inside("trace-lasso", regression_data[0], "none", "-o", "c.tsv"), "none: No such file")
    fails(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--cv", "81"), "only 80 rows")
    np.save(tmp_path / "P.npy", np.eye(3))
    fails(
        inside("trace-lasso", *regression_data, "-o", "c.tsv", "--penalty-matrix", "P.npy"),
        "3 columns, expected 20",
    )
    np.save(tmp_path / "P.npy", np.diag([0.0] + [1.0] * 19))
    fails(
        inside("trace-lasso", *regression_data, "-o", "c.tsv", "--penalty-matrix", "P.npy"),
        "column 1 is zero",
    )
    assert not (tmp_path / "c.tsv").exists()


def test_hostile_data_and_options(inside, tmp_path, regression_data):
    x, y = regression_data
    (tmp_path / "y01").write_text("1\n" * 2 + "0\n" * 78)
    rare = ("trace-lasso", x, "y01", "-o", "c.tsv", "--loss", "logistic")
    fails(
        inside(*rare, "--cv", "3"),
        "y01: 2 rows have the target 1: with --loss logistic --cv may be 2 at most",
    )
    (tmp_path / "y2").write_text("1\n" * 80)
    fails(inside("trace-lasso", x, "y2", "-o", "c.tsv", "--loss", "logistic"), "y2: --loss logistic needs")
    fails(
        inside("trace-lasso", x, y, "-o", "c.tsv", "--cv", "81"), f"{y}: --cv 81, and there are only 80 rows"
    )
    for name, bad in (("lam", "1e-300"), ("lam", "1e300"), ("path-ratio", "nan"), ("path-ratio", "1e-300"),
                      ("l1-ratio", "nan"), ("l1-ratio", "0")):  # fmt: skip
        fails(inside("trace-lasso", x, y, "-o", "c.tsv", f"--{name}", bad), f"--{name}", code=2)
    assert not (tmp_path / "c.tsv").exists()


def test_no_lambda_makes_ridge_zero(inside, regression_data):
    for penalty in ("ridge", "pairwise-elastic-net"):
        for how in (("--lam", "0.1"), ("--path", "3")):
            run = inside("trace-lasso", *regression_data, "-o", "c.tsv", "--penalty", penalty, *how, "--json")
            assert json.loads(succeeds(run))["lam_max"] is None


def test_what_solvers_say_of_themselves_is_not_told(inside, regression_data):
    run = inside(
        "trace-lasso",
        *regression_data,
        "-o",
        "c.tsv",
        "--penalty",
        "lasso",
        "--lam",
        "1e-20",
        "--max-iter",
        "2",
    )
    succeeds(run)
    said = run.stderr.decode().splitlines()
    assert all(line.startswith("wordkit: ") for line in said) and "raise --max-iter or --tol" in said[1]


def test_options_without_effect_are_told(inside, regression_data):
    run = inside(
        "trace-lasso",
        *regression_data,
        "-o",
        "c.tsv",
        "--penalty",
        "ridge",
        "--solver",
        "admm",
        "--seed",
        "3",
    )
    assert "--solver means nothing to --penalty ridge" in run.stderr.decode()
    assert "--seed means nothing without --cv" in run.stderr.decode()


def test_a_missed_gap_is_told(inside, regression_data):
    assert (
        "raise --max-iter or --tol"
        in inside(
            "trace-lasso", *regression_data, "-o", "c.tsv", "--solver", "subgradient", "--max-iter", "20"
        ).stderr.decode()
    )
    assert (
        "is above --tol"
        in inside(
            "trace-lasso", *regression_data, "-o", "c.tsv", "--path", "4", "--max-iter", "1"
        ).stderr.decode()
    )


def test_damaged_models(inside, tmp_path, regression_data):
    succeeds(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--model-out", "m"))
    header, arrays = read_model(tmp_path / "m")
    header = {
        k: v for k, v in header.items() if k not in ("format", "format_version", "kind", "wordkit_version")
    }
    for change in (
        {"intercept": None}, {"features": []}, {"support": "x"}, {"parameters": {"penalty": "trace"}}, {"lam": -1}, {"rank": 1.5},
        {"features": {"format": "table"}}, {"parameters": {**header["parameters"], "loss": "absolute"}},
        {"parameters": {**header["parameters"], "loss": "logistic"}}, {"intercept": True},
    ):  # fmt: skip
        write_model(tmp_path / "bad", "regression", arrays, {**header, **change})
        fails(inside("predict", "bad", regression_data[0]), "the model is damaged")
    for name, array in (
        ("coefficients", np.zeros(3)), ("coefficients", np.full(20, np.nan)), ("coefficients", np.zeros((20, 1))),
        ("names", np.zeros(3, np.uint8)), ("names", np.zeros(3)),
    ):  # fmt: skip
        write_model(tmp_path / "bad", "regression", {**arrays, name: array}, header)
        fails(inside("predict", "bad", regression_data[0]), "the model is damaged")


def test_damaged_bytes_change_no_prediction(tmp_path, inside, regression_data):
    """A model with wrong bytes is refused, or they mean nothing (times in the archive)."""
    succeeds(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--model-out", "m"))
    whole, draw = (tmp_path / "m").read_bytes(), random.Random(1)
    model = RegressionModel.load(tmp_path / "m")
    for trial in range(150):
        damaged = bytearray(whole)
        place = draw.randrange(len(whole))
        if trial % 3:
            damaged[place : place + trial % 3] = draw.randbytes(trial % 3)
        else:
            del damaged[place:]
        (tmp_path / "bad").write_bytes(damaged)
        try:
            found = RegressionModel.load(tmp_path / "bad")
        except DataError:
            continue
        assert found.names == model.names and found.estimator.intercept_ == model.estimator.intercept_
        np.testing.assert_array_equal(found.estimator.coef_, model.estimator.coef_)


@pytest.mark.parametrize(
    ("number", "options"),
    [
        (signal.SIGINT, ("--path", "100000", "--penalty", "lasso")),
        (signal.SIGHUP, ("--lam", "1e-3", "--tol", "1e-300", "--solver", "admm", "--max-iter", "100000000")),
    ],
)
def test_signals_leave_nothing(tmp_path, regression_data, number, options):
    model = () if "--path" in options else ("--model-out", "m")
    process = start(tmp_path, "trace-lasso", *regression_data, "-o", "c.tsv", *model, *options)
    assert b"80 rows, 20 columns" in process.stderr.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and err.splitlines()[-1].startswith(b"wordkit: interrupted"), err
    assert list(tmp_path.iterdir()) == []


def test_hostile_inputs_are_one_line(inside, tmp_path, regression_data):
    x, y = (path.read_text() for path in regression_data)
    for name, text in (
        ("crlf", x.replace("\n", "\r\n")), ("empty", ""), ("names", x.split("\n")[0] + "\n"), ("ragged", x + "1,2\n"),
        ("huge", x + ",".join(["1e200"] * 20) + "\n"), ("inf", x + ",".join(["inf"] * 20) + "\n"), ("more", y + "1\n"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(text.encode())
    for name, target, says in (
        ("empty", regression_data[1], "empty: is empty"), ("names", regression_data[1], "names: holds no row of numbers"),
        ("ragged", "more", "ragged:82: 2 columns, 20 expected"), ("huge", "more", "huge:82: column 1: a number of size 1e+200"),
        ("inf", "more", "inf:82: column 1: `inf` is not a finite number"), (regression_data[0], "empty", "empty: is empty"),
    ):  # fmt: skip
        fails(inside("trace-lasso", name, target, "-o", "c.tsv"), says)
    fails(inside("trace-lasso", *regression_data, "-o", "none/c.tsv"), "there is no folder none")
    assert not (tmp_path / "c.tsv").exists()
    succeeds(inside("trace-lasso", "crlf", regression_data[1], "-o", "c.tsv", "--lam", "0.05"))
    succeeds(inside("trace-lasso", *regression_data, "-o", "d.tsv", "--lam", "0.05"))
    assert (tmp_path / "c.tsv").read_bytes() == (tmp_path / "d.tsv").read_bytes()


def test_constant_columns_and_single_rows(inside, tmp_path):
    (tmp_path / "x").write_text("1 2 5\n1 3 5\n1 7 5\n")
    (tmp_path / "y").write_text("1\n2\n4\n")
    run = inside("trace-lasso", "x", "y", "-o", "c.tsv", "--lam", "0.01")
    succeeds(run)
    assert "2 columns are constant: their coefficients are zero" in run.stderr.decode()
    assert selected(tmp_path / "c.tsv") == ["2"]
    (tmp_path / "x1").write_text("1 2\n")
    (tmp_path / "y1").write_text("3\n")
    for how in ((), ("--path", "3"), ("--lam", "0")):
        succeeds(inside("trace-lasso", "x1", "y1", "-o", "c.tsv", *how))
    fails(inside("trace-lasso", "x1", "y1", "-o", "d.tsv", "--cv", "2"), "there are only 1 rows")


def test_what_newcomers_forget_is_told(inside, tmp_path, regression_data):
    x, y = regression_data
    fails(inside("trace-lasso", x, "-o", "c.tsv"), "--target NAME")  # no Y
    rows = x.read_text().split("\n", 1)[1]
    (tmp_path / "years").write_text(
        ",".join(map(str, range(2000, 2020))) + "\n" + rows
    )  # names that are numbers
    fails(inside("trace-lasso", "years", y, "-o", "c.tsv"), "a first line of numbers is a row, not names")
    run = inside("trace-lasso", x, y, "-o", "c.tsv", "--lam", "0.01", "--max-iter", "1")
    succeeds(run)
    assert "after 1 iteration, above --tol; raise --max-iter or --tol" in run.stderr.decode()


def test_two_columns_of_one_name_are_told_when_they_are_learned_from(inside, tmp_path, regression_data):
    x, y = regression_data
    names, rows = x.read_text().split("\n", 1)
    first, _, rest = names.split(",", 2)
    (tmp_path / "twice").write_text(f"{first},{first},{rest}\n{rows}")
    run = inside("trace-lasso", "twice", y, "-o", "c.tsv", "--lam", "0.05")
    succeeds(run)
    assert f"2 columns are named '{first}'" in run.stderr.decode()
    fails(inside("trace-lasso", "twice", y, "-o", "d.tsv", "--lam", "0.05", "--strict"), f"named '{first}'")


def test_the_least_lambda_that_gives_zero_is_the_same_however_lambda_is_chosen(
    inside, tmp_path, regression_data
):
    found = set()
    for how in (("--lam", "0.05"), ("--path", "5"), ("--cv", "3")):
        result = json.loads(succeeds(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--json", *how)))
        found.add(result["lam_max"])
    assert len(found) == 1
