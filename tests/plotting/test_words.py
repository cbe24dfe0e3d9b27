"""Maps of words: what is near stays near, the best restart is kept, and every word is drawn or told of."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from tests.conftest import environment
from wordkit.errors import WordkitError
from wordkit.formats.vectors import write_vectors

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
from wordkit.plotting.words import METHODS, projection, words_figure

HEADS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def two_clouds(n: int = 12, dim: int = 8) -> np.ndarray:
    vectors = np.random.default_rng(1).standard_normal((n, dim))
    vectors[: n // 2, 0] += 12
    vectors[n // 2 :, 1] += 12
    return vectors


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_two_clouds_stay_apart(method, similarity):
    found = projection(two_clouds(), method=method, similarity=similarity, restarts=3)
    middle, first = found.points[:6].mean(axis=0), found.points[6:].mean(axis=0)
    for point in found.points[:6]:
        assert np.linalg.norm(point - middle) < np.linalg.norm(point - first)
    for point in found.points[6:]:
        assert np.linalg.norm(point - middle) > np.linalg.norm(point - first)


def test_the_best_restart_is_kept_and_the_seed_decides():
    found = projection(two_clouds(), restarts=4, seed=3)
    assert len(found.restarts) == 4 and len(set(found.restarts)) > 1
    assert found.value == min(found.restarts)
    again = projection(two_clouds(), restarts=4, seed=3)
    assert np.array_equal(found.points, again.points)
    assert not np.array_equal(found.points, projection(two_clouds(), restarts=4, seed=4).points)
    fewer = projection(two_clouds(), restarts=2, seed=3)
    assert fewer.restarts == found.restarts[:2]


def test_principal_components_are_those_of_the_singular_vectors():
    vectors = two_clouds()
    found = projection(vectors, method="pca", similarity="euclidean", restarts=10)
    centred = vectors - vectors.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found.points), np.abs(left[:, :2] * values[:2]), rtol=0, atol=1e-9)
    assert found.value == pytest.approx(np.sum(values[:2] ** 2) / np.sum(values**2))
    assert found.measure == "explained" and found.restarts == [found.value]


def test_scaling_finds_a_plane_exactly():
    plane = np.random.default_rng(2).standard_normal((9, 2))
    turned = plane @ np.linalg.qr(np.random.default_rng(3).standard_normal((5, 2)))[0].T
    found = projection(turned, method="mds", similarity="euclidean", restarts=5)
    assert found.measure == "stress" and found.value < 0.01
    between = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (plane, found.points)]
    np.testing.assert_allclose(between[1], between[0], rtol=0, atol=0.05)


def test_odd_vectors():
    line = projection(np.arange(5.0)[:, None], method="pca", similarity="euclidean")
    assert line.points.shape == (5, 2) and line.value == pytest.approx(1)
    with_zero = np.vstack([two_clouds(4), np.zeros((1, 8))])
    assert np.isfinite(projection(with_zero, restarts=1).points).all()
    with pytest.raises(WordkitError, match="2 words are too few for a map, which needs 3"):
        projection(np.eye(2))
    with pytest.raises(WordkitError, match="the same vector"):
        projection(np.array([[1.0, 1], [2, 2], [3, 3]]))
    with pytest.raises(
        WordkitError, match="perplexity is 12, expected 1 at least and less than the 12 words"
    ):
        projection(two_clouds(), perplexity=12)
    for wrong in ({"method": "x"}, {"similarity": "dot"}, {"restarts": 0}):
        with pytest.raises(ValueError):
            projection(two_clouds(), **wrong)
    with pytest.raises(ValueError):
        projection(np.array([[np.nan, 1], [1, 0], [0, 1]]))


@pytest.fixture
def vectors(tmp_path):
    names = [*(f"w{i}" for i in range(10)), "$x$", "\u4e2d"]
    write_vectors(tmp_path / "v.vec", names, two_clouds().astype(np.float32))
    return "v.vec"


@pytest.mark.parametrize("suffix", HEADS)
def test_files_without_a_display(inside, vectors, tmp_path, suffix, monkeypatch):
    monkeypatch.setenv("DISPLAY", "bad:0")
    monkeypatch.setenv("MPLBACKEND", "tkagg")
    for name in ("a", "b"):
        run = inside("plot", "words", vectors, "--top", 11, "-o", f"{name}.{suffix}", "--restarts", 2)
        assert succeeds(run).splitlines()[1:] == ["covered\t11", "total\t11"]
        assert b"kl_divergence of 2 restarts: " in run.stderr
    content = (tmp_path / f"a.{suffix}").read_bytes()
    assert content.startswith(HEADS[suffix]) and len(content) > 3000
    assert content == (tmp_path / f"b.{suffix}").read_bytes()
    if suffix == "svg":
        other = inside("plot", "words", vectors, "--top", 11, "-o", "c.svg", "--restarts", 2, "--seed", 2)
        assert succeeds(other) and (tmp_path / "c.svg").read_bytes() != content


def test_words_from_arguments_a_file_and_standard_input(inside, vectors, tmp_path):
    (tmp_path / "list").write_text("w0\tgood\nw1\tbad\r\n\nzzz\tbad\nw2\nw0\t_other\n$x$\tgood\n")
    options = ("--method", "pca")
    figures = []
    for number, (arguments, stdin, covered) in enumerate([
        (("w0", "w1", "zzz", "w2", "w0", "$x$"), None, 4),
        (("--words", "list"), None, 4),
        ((), (tmp_path / "list").read_bytes(), 4),
        (("--words", "-"), (tmp_path / "list").read_bytes(), 4),
        (("--words", "list", "--groups"), None, 4),
    ]):  # fmt: skip
        run = inside("plot", "words", vectors, *arguments, *options, "-o", f"{number}.svg", stdin=stdin)
        assert succeeds(run).splitlines()[1:] == [f"covered\t{covered}", "total\t5"]
        assert b"the word 'zzz' has no vector" in run.stderr and b"(repeated word)" in run.stderr
        figures.append((tmp_path / f"{number}.svg").read_bytes())
    assert len(set(figures[:4])) == 1 and figures[4] != figures[0]


def test_json_and_the_signature(inside, vectors):
    run = inside(
        "-q", "plot", "words", vectors, "w0", "w1", "w2", "zzz", "-o", "f.png", "--method", "mds", "--json"
    )
    found = json.loads(succeeds(run))
    assert run.stderr == b"" and (found["covered"], found["total"]) == (3, 4)
    assert found["command"] == "plot words" and 0 <= found["stress"] < 1e-2
    assert found["signature"].startswith(
        "command:plot-words|method:mds|similarity:cosine|restarts:10|seed:1|data:"
    )


@pytest.mark.parametrize(
    ("options", "says", "code"),
    [(("zzz", "yyy", "-o", "f.png"), "v.vec: none of the 2 words has a vector", 1),
     (("w1", "w2", "zzz", "-o", "f.png"), "v.vec: 2 words are too few for a map", 1),
     (("w1", "w2", "zzz", "-o", "f.png", "--strict"), "v.vec: the word 'zzz' has no vector", 1),
     (("w1", "w2", "w3", "-o", "f.png", "--perplexity", "3"), "v.vec: perplexity is 3, expected 1 at least and less than", 1),
     (("w1", "w2", "w3", "-o", "f.jpeg"), "f.jpeg: a figure ends in .png", 1),
     (("w1", "-o", "f.png", "--top", "3"), "words are given once", 2),
     (("w1", "-o", "f.png", "--groups"), "--groups are those of a list", 2),
     (("w1", "-o", "-"), "a figure cannot be written to standard output", 2),
     (("--words", "v.vec", "-o", "v.vec"), "an output has the path of an input", 2)],
)  # fmt: skip
def test_refused(inside, vectors, tmp_path, options, says, code):
    fails(inside("plot", "words", vectors, *options), says, code=code)
    assert not list(tmp_path.glob("f.*"))


def test_vectors_that_are_not_finite_are_told(inside, tmp_path):
    (tmp_path / "v.vec").write_text("5 2\na 1 0\nb nan 1\nc 0 1\nd 1 1\ne inf 0\n")
    run = inside("plot", "words", "v.vec", "--top", 5, "--method", "pca", "-o", "f.png")
    assert succeeds(run).splitlines()[1:] == ["covered\t3", "total\t5"]
    assert b"(2 x unknown word)" in run.stderr
    twice = inside("plot", "words", "-", "-o", "f.png")
    fails(twice, "standard input (-) can be only one of the inputs", code=2)


def test_characters_without_a_glyph_are_told(inside, vectors):
    run = inside("plot", "words", vectors, "--top", 12, "--method", "pca", "-o", "f.png")
    succeeds(run)
    assert "no glyph for 1 characters, drawn as boxes: \u4e2d" in run.stderr.decode()
    run = inside("plot", "forest", vectors, "\u4e2d", "$x$", "--heat-map", "-o", "f.png", "--title", "$")
    succeeds(run)
    assert "no glyph for 1 characters" in run.stderr.decode()


def test_groups_have_colours_and_a_legend(tmp_path):
    points = np.random.default_rng(1).standard_normal((24, 2))
    for number, groups in enumerate([None, ["a"] * 24, [f"_{i}" for i in range(24)]]):
        words_figure(
            [f"w{i}" for i in range(24)], points, tmp_path / f"{number}.svg", groups=groups, title="$a$ $"
        )
    sizes = [(tmp_path / f"{number}.svg").stat().st_size for number in range(3)]
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize(("module", "extra"), [("sklearn", "eval"), ("matplotlib", "plot")])
def test_a_missing_extra_is_named_before_the_work(tmp_path, vectors, module, extra):
    code = f"import sys; sys.modules[{module!r}] = None; from wordkit.__main__ import main; main()"
    command = [sys.executable, "-c", code, "plot", "words", vectors, "w1", "w2", "w3", "-o", "f.png"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 1 and done.stdout == "" and not (tmp_path / "f.png").exists()
    assert done.stderr.splitlines()[-1].endswith(f"(or wordkit with its extra {extra})")
    assert done.stderr.count("error:") == 1
