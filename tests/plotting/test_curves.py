"""Curves files are read back, and drawn without a display."""

import pytest

from wordkit.errors import DataError
from wordkit.plotting.curves import CurvePoint, curves_figure, read_curves

TEXT = (
    "method\tk\tepoch\tmetric\tvalue\tseconds\n"
    "kbest\t16\t1\tll\t-6.5\t0.5\nkbest\t16\t2\tll\t-6.0\t1\nexact\t\t1\tll\t-6.4\t2\n"
)


def test_curves_are_told_apart_by_their_other_columns(tmp_path):
    (tmp_path / "c.tsv").write_text(TEXT)
    curves = read_curves(tmp_path / "c.tsv")
    assert list(curves) == ["kbest 16", "exact "]
    assert curves["kbest 16"] == [CurvePoint(1, "ll", -6.5, 0.5), CurvePoint(2, "ll", -6.0, 1)]


@pytest.mark.parametrize(
    "text, line",
    [
        ("a\tb\n", 1),
        ("", None),
        (TEXT + "kbest\t16\tx\tll\t1\t1\n", 5),
        (TEXT + "kbest\n", 5),
        (TEXT + "\ud800", 5),
    ],
)
def test_what_is_no_curve_is_told_with_its_line(tmp_path, text, line):
    (tmp_path / "c.tsv").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DataError) as error:
        read_curves(tmp_path / "c.tsv")
    assert line is None or error.value.line == line


def test_figure_is_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", "bad:0")
    (tmp_path / "c.tsv").write_text(TEXT)
    curves_figure(read_curves(tmp_path / "c.tsv"), "ll", tmp_path / "c.png", against="seconds")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_command_draws_several_files(tmp_path, inside):
    for name in ("one", "two"):
        (tmp_path / f"{name}.tsv").write_text(TEXT)
    run = inside(
        "plot", "curves", "one.tsv", "two.tsv", "-o", "c.svg", "--metric", "ll", "--against", "seconds"
    )
    assert run.returncode == 0, run.stderr
    assert "<svg" in (tmp_path / "c.svg").read_text()
    run = inside("plot", "curves", "one.tsv", "-o", "d.png", "--metric", "accuracy")
    assert (
        run.stderr.decode()
        == "wordkit: error: one.tsv: no curve has the metric 'accuracy'; there are ll (--metric)\n"
    )
    assert run.returncode == 1 and not (tmp_path / "d.png").exists()


def test_files_of_one_name_are_told_apart_and_what_lacks_the_metric_is_told(tmp_path, inside):
    """They were drawn as one curve, which went back to the left in the middle."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.tsv").write_text(TEXT.replace("kbest\t16\t2\tll", "kbest\t16\t2\tother"))
    (tmp_path / "d.tsv").write_text("epoch\tmetric\tvalue\tseconds\n1\tother\t2\t3\n")
    run = inside("plot", "curves", "a/c.tsv", "b/c.tsv", "a/c.tsv", "d.tsv", "-o", "c.svg", "--metric", "ll")
    assert run.returncode == 0 and run.stderr.decode() == "wordkit: warning: d: has no ll, and is left out\n"
    curves = {**read_curves(tmp_path / "a/c.tsv"), "d": [CurvePoint(1, "other", 2, 3)]}
    assert curves_figure(curves, "ll", tmp_path / "c.png") == ["d"]
    text = (tmp_path / "c.svg").read_text()
    assert "a/c.tsv kbest 16" in text and "b/c.tsv kbest 16" in text and text.count("c.tsv kbest") == 2
