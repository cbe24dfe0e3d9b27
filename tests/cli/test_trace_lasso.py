"""``wordkit trace-lasso``, ``predict`` on its models, and ``plot path``."""

from __future__ import annotations

import json
import random
import signal

import numpy as np
import pytest

from tests.cli.conftest import fails, start, succeeds
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models.regression_model import RegressionModel

FIRST = [f"a{i}" for i in range(1, 8)]


@pytest.fixture
def data(samples):
    return samples / "regression.csv", samples / "regression.y.txt"


def selected(path) -> list[str]:
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert lines[0] == ["name", "value", "selected"] and lines[-1][0] == "(intercept)"
    return [name for name, _, chosen in lines[1:-1] if chosen == "1"]


def test_selects_the_block_that_made_the_target(inside, tmp_path, data):
    run = inside("trace-lasso", *data, "-o", "c.tsv", "--lam", "0.05")
    found = dict(line.split("\t") for line in succeeds(run).splitlines())
    assert selected(tmp_path / "c.tsv") == [*FIRST, "free1"]
    assert float(found["gap"]) <= 1e-6 * 7.3 and found["rank"] == found["support"] == "8"
    assert set(found) == {
        "objective",
        "gap",
        "iterations",
        "rank",
        "support",
        "lam",
        "lam_max",
        "covered",
        "total",
    }


def test_json_has_the_names_that_scripts_rely_on(inside, tmp_path, data):
    found = json.loads(
        succeeds(inside("trace-lasso", *data, "-o", "c.tsv", "--cv", "3", "--cv-rule", "1se", "--json"))
    )
    for name in (
        "command",
        "signature",
        "seconds",
        "objective",
        "gap",
        "iterations",
        "rank",
        "support",
        "covered",
        "total",
    ):
        assert name in found
    assert found["command"] == "trace-lasso" and found["lam"] == found["lam_1se"] >= found["lam_min"]
    assert (
        found["selected"] == selected(tmp_path / "c.tsv")
        and found["results"][0]["support"] == found["support"]
    )
    assert len(found["cv_mean"]) == len(found["lams"]) == 50
    again = json.loads(
        succeeds(
            inside(
                "trace-lasso",
                *data,
                "-o",
                "d.tsv",
                "--cv",
                "3",
                "--cv-rule",
                "1se",
                "--json",
                "--threads",
                "1",
            )
        )
    )
    assert (
        again["cv_mean"] == found["cv_mean"]
        and (tmp_path / "d.tsv").read_bytes() == (tmp_path / "c.tsv").read_bytes()
    )


@pytest.mark.parametrize("penalty", ["lasso", "ridge", "elastic-net", "pairwise-elastic-net", "group"])
def test_other_penalties(inside, tmp_path, data, penalty):
    (tmp_path / "groups").write_text("".join(f"{name}\n" for name in "a" * 7 + "b" * 6 + "c" * 5 + "de"))
    more = ["--groups", "groups"] if penalty == "group" else []
    succeeds(inside("trace-lasso", *data, "-o", "c.tsv", "--penalty", penalty, *more))
    assert {*FIRST, "free1"} <= set(selected(tmp_path / "c.tsv")) or penalty in (
        "lasso",
        "pairwise-elastic-net",
    )


@pytest.mark.parametrize("solver", ["admm", "irls-plain"])
def test_solvers_and_penalty_matrix(inside, tmp_path, data, solver):
    np.save(tmp_path / "P.npy", np.eye(20))
    base = ("trace-lasso", *data, "--lam", "0.05", "--solver", solver, "--tol", "1e-4", "--json", "-o")
    ours = json.loads(succeeds(inside(*base, "c.tsv")))
    assert ours["objective"] == pytest.approx(1.65495, abs=1e-3)
    lasso = json.loads(succeeds(inside(*base, "d.tsv", "--penalty-matrix", "P.npy")))
    reference = json.loads(
        succeeds(inside("trace-lasso", *data, "-o", "e.tsv", "--penalty", "lasso", "--lam", "0.05", "--json"))
    )
    assert lasso["objective"] == pytest.approx(reference["objective"], abs=1e-3)


def test_path_and_its_figure(inside, tmp_path, data):
    pytest.importorskip("matplotlib")
    succeeds(inside("trace-lasso", *data, "-o", "path.tsv", "--path", "10"))
    lines = [line.split("\t") for line in (tmp_path / "path.tsv").read_text().splitlines()]
    assert lines[0][:5] == ["lam", "objective", "gap", "selected", "(intercept)"] and lines[0][5] == "a1"
    assert len(lines) == 11 and lines[1][3] == "0" and int(lines[2][3]) > 0
    for name in ("figure.png", "figure.svg", "figure.pdf"):
        succeeds(inside("plot", "path", "path.tsv", "-o", name))
        assert (tmp_path / name).stat().st_size > 1000
    fails(inside("plot", "path", "path.tsv", "-o", "figure.txt"), "a figure ends in .png")
    fails(inside("plot", "path", data[1], "-o", "figure.png"), "no header of a path")
    header = "\t".join([*lines[0][:5], "$x_{$", "b"]) + "\n"  # names are text, not formulas
    for name, rows, says in (
        ("one", "1\t1\t0\t1\t0\t1\t2\n", ""),
        ("huge", "1\t1\t0\t1\t0\t1e300\t2\n", "huge: coefficients beyond 1e+100 cannot be drawn"),
        ("zero", "0\t1\t0\t1\t0\t1\t2\n", "zero: no lambda is above 0"),
    ):
        (tmp_path / name).write_text(header + rows)
        run = inside("plot", "path", name, "-o", "odd.png", "--title", "$\\frac{a$")
        fails(run, says) if says else succeeds(run)  # warnings of matplotlib are errors here


def test_model_and_predict(inside, tmp_path, data):
    succeeds(inside("trace-lasso", *data, "-o", "c.tsv", "--model-out", "m"))
    predicted = np.array(succeeds(inside("predict", "m", data[0])).split(), dtype=float)
    y = np.loadtxt(data[1])
    assert len(predicted) == 80 and np.corrcoef(predicted, y)[0, 1] > 0.95
    assert json.loads(succeeds(inside("info", "m")))["kind"] == "regression"
    np.save(tmp_path / "x.npy", np.loadtxt(data[0], delimiter=",", skiprows=1))
    assert np.allclose(np.array(succeeds(inside("predict", "m", "x.npy")).split(), dtype=float), predicted)
    (tmp_path / "huge.csv").write_text(",".join(["1e308"] * 20) + "\n")
    fails(inside("predict", "m", "huge.csv"), "huge.csv: row 1: its prediction is beyond float64")
    (tmp_path / "narrow.csv").write_text("1,2\n")
    fails(inside("predict", "m", "narrow.csv", "-o", "out"), "2 columns, expected the model's 20")
    assert not (tmp_path / "out").exists()
    header = json.loads(succeeds(inside("info", "m")))
    assert header["features"]["columns"][:2] == ["a1", "a2"] and len(header["features"]["columns"]) == 20
    assert "means nothing" in inside("predict", "m", data[0], "--top", "2", "--scores").stderr.decode()


def test_columns_with_names_go_by_their_names(inside, tmp_path, data):
    succeeds(inside("trace-lasso", *data, "-o", "c.tsv", "--model-out", "m"))
    predicted = succeeds(inside("predict", "m", data[0]))
    rows = [line.split(",") for line in data[0].read_text().splitlines()]
    order = np.random.default_rng(1).permutation(len(rows[0]))

    def written(columns, name="new.csv"):
        (tmp_path / name).write_text("".join(",".join(row) + "\n" for row in columns))

    written([[row[i] for i in order] for row in rows])
    assert succeeds(inside("predict", "m", "new.csv")) == predicted
    written([[*row, "more" if i == 0 else "7"] for i, row in enumerate(rows)])
    run = inside("predict", "m", "new.csv")
    assert succeeds(run) == predicted and "column 'more'" in run.stderr.decode()
    fails(inside("predict", "m", "new.csv", "--strict"), "column 'more'")
    written([["z1", *rows[0][1:]], *rows[1:]])
    fails(
        inside("predict", "m", "new.csv", "-o", "out"),
        "new.csv:1: 1 of the model's 20 columns are missing: 'a1'",
    )
    written([["a2", *rows[0][1:]], *rows[1:]])
    fails(inside("predict", "m", "new.csv", "-o", "out"), "'a2' names several")
    assert not (tmp_path / "out").exists()
    written(rows[1:])  # no names: by place
    assert succeeds(inside("predict", "m", "new.csv")) == predicted


def test_logistic_and_svmlight(inside, tmp_path):
    draw = np.random.default_rng(0)
    X = draw.standard_normal((40, 5)).round(2)
    labels = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    text = "".join(
        f"{label} {' '.join(f'{j + 1}:{v}' for j, v in enumerate(row))}\n"
        for label, row in zip(labels, X, strict=True)
    )
    (tmp_path / "s").write_text(text)
    succeeds(inside("trace-lasso", "s", "-o", "c.tsv", "--loss", "logistic", "--model-out", "m"))
    np.savetxt(tmp_path / "matrix", X)
    np.save(tmp_path / "matrix.npy", X)
    forms = [
        [float(field) for field in succeeds(inside("predict", "m", name, "--scores")).split()]
        for name in ("s", "matrix", "matrix.npy")
    ]
    assert forms[0] == pytest.approx(forms[1], rel=1e-4) and forms[1] == forms[2]  # the same columns
    (tmp_path / "wide.csv").write_text("1,2,3\n")
    fails(inside("predict", "m", "wide.csv"), "wide.csv: 3 columns, expected the model's 5")
    (tmp_path / "new").write_text(text + "\n1:1\n")
    lines = succeeds(inside("predict", "m", "new", "--scores")).splitlines()
    assert len(lines) == 42 and all(len(line.split("\t")) == 2 for line in lines)
    assert (
        np.mean([float(line.split("\t")[0]) == label for line, label in zip(lines, labels, strict=False)])
        > 0.9
    )
    (tmp_path / "three").write_text("1 1:1\n2 1:2\n3 1:0\n")
    fails(
        inside("trace-lasso", "three", "-o", "d.tsv", "--loss", "logistic"),
        "a target of two values, this has 3",
    )


def test_u077_all_zero_is_told_with_the_least_lambda(inside, tmp_path, data):
    run = inside("trace-lasso", *data, "-o", "c.tsv", "--lam", "10", "--json")
    found = json.loads(succeeds(run))
    assert found["support"] == found["rank"] == 0 and 0.5 < found["lam_max"] < 0.6 and found["gap"] == 0
    assert "all coefficients are zero: lambda 10 is at or above lam_max" in run.stderr.decode()


def test_u076_zeros_converge_without_a_warning(inside, tmp_path):
    for x, y in (("0\n0\n0\n", "0\n0\n0\n"), ("0\n0\n0\n", "1\n2\n3\n"), ("1\n2\n3\n", "0\n0\n0\n")):
        (tmp_path / "x").write_text(x)
        (tmp_path / "y").write_text(y)
        for more in ((), ("--lam", "0.1"), ("--lam", "0"), ("--path", "3"), ("--cv", "2")):
            run = inside("trace-lasso", "x", "y", "-o", "c.tsv", *more)
            succeeds(run)
            assert "warning" not in run.stderr.decode(), more
        assert selected(tmp_path / "c.tsv") == []


def test_standard_input_and_output(wordkit, data):
    run = wordkit("trace-lasso", "-", data[1], "-o", "-", "--lam", "0.05", stdin=data[0].read_bytes())
    assert succeeds(run).splitlines()[0] == "name\tvalue\tselected"
    assert b"objective" in run.stderr


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
def test_bad_usage(inside, tmp_path, data, options, says):
    fails(inside("trace-lasso", *data, "-o", "c.tsv", *options), says, code=2)
    assert not (tmp_path / "c.tsv").exists()


def test_a_table_that_holds_its_target(inside, tmp_path, data):
    x, y = (path.read_text().splitlines() for path in data)
    rows = [
        f"{row.split(',', 1)[0]},{value},{row.split(',', 1)[1]}"
        for row, value in zip(x, ["out", *y], strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    succeeds(inside("trace-lasso", *data, "-o", "two.tsv", "--lam", "0.05"))
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
    fails(inside(*bad, "out", "t.csv", data[1]), "--target says that X holds the target", code=2)
    assert not (tmp_path / "bad.tsv").exists()


def test_a_table_alone_is_told_what_goes_beside_it(inside, tmp_path, data):
    (tmp_path / "labels").write_text("1\n2\n3\n")
    fails(
        inside("trace-lasso", "labels", "-o", "c.tsv"),
        "no line has a feature (number:value), expected svmlight",
    )
    run = inside("trace-lasso", data[0], "-o", "c.tsv")
    fails(run, "--target NAME")


def test_bad_data_writes_nothing(inside, tmp_path, data):
    (tmp_path / "y").write_text("1\n2\n")
    fails(inside("trace-lasso", data[0], "y", "-o", "c.tsv"), "2 targets for 80 rows")
    fails(inside("trace-lasso", data[0], "none", "-o", "c.tsv"), "none: No such file")
    fails(inside("trace-lasso", *data, "-o", "c.tsv", "--cv", "81"), "only 80 rows")
    np.save(tmp_path / "P.npy", np.eye(3))
    fails(inside("trace-lasso", *data, "-o", "c.tsv", "--penalty-matrix", "P.npy"), "3 columns, expected 20")
    np.save(tmp_path / "P.npy", np.diag([0.0] + [1.0] * 19))
    fails(inside("trace-lasso", *data, "-o", "c.tsv", "--penalty-matrix", "P.npy"), "column 1 is zero")
    assert not (tmp_path / "c.tsv").exists()


def test_hostile_data_and_options(inside, tmp_path, data):
    x, y = data
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


def test_no_lambda_makes_ridge_zero(inside, data):
    for penalty in ("ridge", "pairwise-elastic-net"):
        for how in (("--lam", "0.1"), ("--path", "3")):
            run = inside("trace-lasso", *data, "-o", "c.tsv", "--penalty", penalty, *how, "--json")
            assert json.loads(succeeds(run))["lam_max"] is None


def test_what_solvers_say_of_themselves_is_not_told(inside, data):
    run = inside(
        "trace-lasso", *data, "-o", "c.tsv", "--penalty", "lasso", "--lam", "1e-20", "--max-iter", "2"
    )
    succeeds(run)
    said = run.stderr.decode().splitlines()
    assert all(line.startswith("wordkit: ") for line in said) and "raise max_iter or tol" in said[1]


def test_options_without_effect_are_told(inside, data):
    run = inside("trace-lasso", *data, "-o", "c.tsv", "--penalty", "ridge", "--solver", "admm", "--seed", "3")
    assert "--solver means nothing to --penalty ridge" in run.stderr.decode()
    assert "--seed means nothing without --cv" in run.stderr.decode()


def test_a_missed_gap_is_told(inside, data):
    assert (
        "raise max_iter or tol"
        in inside(
            "trace-lasso", *data, "-o", "c.tsv", "--solver", "subgradient", "--max-iter", "20"
        ).stderr.decode()
    )
    assert (
        "is above --tol"
        in inside("trace-lasso", *data, "-o", "c.tsv", "--path", "4", "--max-iter", "1").stderr.decode()
    )


def test_damaged_models(inside, tmp_path, data):
    succeeds(inside("trace-lasso", *data, "-o", "c.tsv", "--model-out", "m"))
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
        fails(inside("predict", "bad", data[0]), "the model is damaged")
    for name, array in (
        ("coefficients", np.zeros(3)), ("coefficients", np.full(20, np.nan)), ("coefficients", np.zeros((20, 1))),
        ("names", np.zeros(3, np.uint8)), ("names", np.zeros(3)),
    ):  # fmt: skip
        write_model(tmp_path / "bad", "regression", {**arrays, name: array}, header)
        fails(inside("predict", "bad", data[0]), "the model is damaged")


def test_damaged_bytes_change_no_prediction(tmp_path, inside, data):
    """A model with wrong bytes is refused, or they mean nothing (times in the archive)."""
    succeeds(inside("trace-lasso", *data, "-o", "c.tsv", "--model-out", "m"))
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
def test_signals_leave_nothing(tmp_path, data, number, options):
    model = () if "--path" in options else ("--model-out", "m")
    process = start(tmp_path, "trace-lasso", *data, "-o", "c.tsv", *model, *options)
    assert b"80 rows, 20 columns" in process.stderr.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and err.splitlines()[-1].startswith(b"wordkit: interrupted"), err
    assert list(tmp_path.iterdir()) == []


def test_hostile_inputs_are_one_line(inside, tmp_path, data):
    x, y = (path.read_text() for path in data)
    for name, text in (
        ("crlf", x.replace("\n", "\r\n")), ("empty", ""), ("names", x.split("\n")[0] + "\n"), ("ragged", x + "1,2\n"),
        ("huge", x + ",".join(["1e200"] * 20) + "\n"), ("inf", x + ",".join(["inf"] * 20) + "\n"), ("more", y + "1\n"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(text.encode())
    for name, target, says in (
        ("empty", data[1], "empty: is empty"), ("names", data[1], "names: holds no row of numbers"),
        ("ragged", "more", "ragged:82: 2 columns, 20 expected"), ("huge", "more", "huge:82: column 1: a number of size 1e+200"),
        ("inf", "more", "inf:82: column 1: `inf` is not a finite number"), (data[0], "empty", "empty: is empty"),
    ):  # fmt: skip
        fails(inside("trace-lasso", name, target, "-o", "c.tsv"), says)
    fails(inside("trace-lasso", *data, "-o", "none/c.tsv"), "there is no folder none")
    assert not (tmp_path / "c.tsv").exists()
    succeeds(inside("trace-lasso", "crlf", data[1], "-o", "c.tsv", "--lam", "0.05"))
    succeeds(inside("trace-lasso", *data, "-o", "d.tsv", "--lam", "0.05"))
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
