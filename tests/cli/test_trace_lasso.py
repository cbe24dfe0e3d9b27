"""``wordkit trace-lasso``, ``predict`` on its models, and ``plot path``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import fails, selected, succeeds

FIRST = [f"a{i}" for i in range(1, 8)]


def test_selects_the_block_that_made_the_target(inside, tmp_path, regression_data):
    run = inside("trace-lasso", *regression_data, "-o", "c.tsv", "--lam", "0.05")
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


def test_json_has_the_names_that_scripts_rely_on(inside, tmp_path, regression_data):
    found = json.loads(
        succeeds(
            inside("trace-lasso", *regression_data, "-o", "c.tsv", "--cv", "3", "--cv-rule", "1se", "--json")
        )
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
                *regression_data,
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
def test_other_penalties(inside, tmp_path, regression_data, penalty):
    (tmp_path / "groups").write_text("".join(f"{name}\n" for name in "a" * 7 + "b" * 6 + "c" * 5 + "de"))
    more = ["--groups", "groups"] if penalty == "group" else []
    succeeds(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--penalty", penalty, *more))
    assert {*FIRST, "free1"} <= set(selected(tmp_path / "c.tsv")) or penalty in (
        "lasso",
        "pairwise-elastic-net",
    )


@pytest.mark.parametrize("solver", ["admm", "irls-plain"])
def test_solvers_and_penalty_matrix(inside, tmp_path, regression_data, solver):
    np.save(tmp_path / "P.npy", np.eye(20))
    base = (
        "trace-lasso",
        *regression_data,
        "--lam",
        "0.05",
        "--solver",
        solver,
        "--tol",
        "1e-4",
        "--json",
        "-o",
    )
    ours = json.loads(succeeds(inside(*base, "c.tsv")))
    assert ours["objective"] == pytest.approx(1.65495, abs=1e-3)
    lasso = json.loads(succeeds(inside(*base, "d.tsv", "--penalty-matrix", "P.npy")))
    reference = json.loads(
        succeeds(
            inside(
                "trace-lasso",
                *regression_data,
                "-o",
                "e.tsv",
                "--penalty",
                "lasso",
                "--lam",
                "0.05",
                "--json",
            )
        )
    )
    assert lasso["objective"] == pytest.approx(reference["objective"], abs=1e-3)


def test_path_and_its_figure(inside, tmp_path, regression_data):
    pytest.importorskip("matplotlib")
    succeeds(inside("trace-lasso", *regression_data, "-o", "path.tsv", "--path", "10"))
    lines = [line.split("\t") for line in (tmp_path / "path.tsv").read_text().splitlines()]
    assert lines[0][:5] == ["lam", "objective", "gap", "selected", "(intercept)"] and lines[0][5] == "a1"
    assert len(lines) == 11 and lines[1][3] == "0" and int(lines[2][3]) > 0
    for name in ("figure.png", "figure.svg", "figure.pdf"):
        succeeds(inside("plot", "path", "path.tsv", "-o", name))
        assert (tmp_path / name).stat().st_size > 1000
    fails(inside("plot", "path", "path.tsv", "-o", "figure.txt"), "a figure ends in .png")
    fails(inside("plot", "path", regression_data[1], "-o", "figure.png"), "no header of a path")
    header = "\t".join([*lines[0][:5], "$x_{$", "b"]) + "\n"  # names are text, not formulas
    for name, rows, says in (
        ("one", "1\t1\t0\t1\t0\t1\t2\n", ""),
        ("huge", "1\t1\t0\t1\t0\t1e300\t2\n", "huge: coefficients beyond 1e+100 cannot be drawn"),
        ("zero", "0\t1\t0\t1\t0\t1\t2\n", "zero: no lambda is above 0"),
    ):
        (tmp_path / name).write_text(header + rows)
        run = inside("plot", "path", name, "-o", "odd.png", "--title", "$\\frac{a$")
        fails(run, says) if says else succeeds(run)  # warnings of matplotlib are errors here


def test_model_and_predict(inside, tmp_path, regression_data):
    succeeds(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--model-out", "m"))
    predicted = np.array(succeeds(inside("predict", "m", regression_data[0])).split(), dtype=float)
    y = np.loadtxt(regression_data[1])
    assert len(predicted) == 80 and np.corrcoef(predicted, y)[0, 1] > 0.95
    assert json.loads(succeeds(inside("info", "m")))["kind"] == "regression"
    np.save(tmp_path / "x.npy", np.loadtxt(regression_data[0], delimiter=",", skiprows=1))
    assert np.allclose(np.array(succeeds(inside("predict", "m", "x.npy")).split(), dtype=float), predicted)
    (tmp_path / "huge.csv").write_text(",".join(["1e308"] * 20) + "\n")
    fails(inside("predict", "m", "huge.csv"), "huge.csv: row 1: its prediction is beyond float64")
    (tmp_path / "narrow.csv").write_text("1,2\n")
    fails(inside("predict", "m", "narrow.csv", "-o", "out"), "2 columns, expected the model's 20")
    assert not (tmp_path / "out").exists()
    header = json.loads(succeeds(inside("info", "m")))
    assert header["features"]["columns"][:2] == ["a1", "a2"] and len(header["features"]["columns"]) == 20
    assert (
        "means nothing"
        in inside("predict", "m", regression_data[0], "--top", "2", "--scores").stderr.decode()
    )


def test_columns_with_names_go_by_their_names(inside, tmp_path, regression_data):
    succeeds(inside("trace-lasso", *regression_data, "-o", "c.tsv", "--model-out", "m"))
    predicted = succeeds(inside("predict", "m", regression_data[0]))
    rows = [line.split(",") for line in regression_data[0].read_text().splitlines()]
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


def test_u077_all_zero_is_told_with_the_least_lambda(inside, tmp_path, regression_data):
    run = inside("trace-lasso", *regression_data, "-o", "c.tsv", "--lam", "10", "--json")
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


def test_standard_input_and_output(wordkit, regression_data):
    run = wordkit(
        "trace-lasso",
        "-",
        regression_data[1],
        "-o",
        "-",
        "--lam",
        "0.05",
        stdin=regression_data[0].read_bytes(),
    )
    assert succeeds(run).splitlines()[0] == "name\tvalue\tselected"
    assert b"objective" in run.stderr
