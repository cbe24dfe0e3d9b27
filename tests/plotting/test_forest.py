"""Figures of codes over a forest: places of the nodes, what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from wordkit.formats.forest import write_forest
from wordkit.formats.vectors import write_vectors
from wordkit.models.forests import Forest, forest_of_shape
from wordkit.plotting import forest as forest_figures
from wordkit.plotting.forest import dimensions_of, heat_figure, positions, tree_figure, tree_of


def test_parents_stand_above_the_middle_of_their_children():
    places = positions(forest_of_shape("2x2", trees=2))
    assert places[:7, 0].tolist() == [1.5, 0.5, 0, 1, 2.5, 2, 3]
    assert places[:7, 1].tolist() == [0, -1, -2, -2, -1, -2, -2]
    assert places[7:, 0].tolist() == [5.5, 4.5, 4, 5, 6.5, 6, 7]
    crossed = positions(Forest([-1, -1, 0, 1, 0]))  # children of two trees, mixed
    assert crossed[:, 0].tolist() == [0.5, 2, 0, 2, 1]


def test_trees_are_told_apart():
    forest = Forest([-1, -1, 0, 1, 2])
    assert tree_of(forest, 0).tolist() == [0, 2, 4] and tree_of(forest, 1).tolist() == [1, 3]
    with pytest.raises(ValueError, match="2 trees, there is no tree 3"):
        tree_of(forest, 2)


@pytest.fixture
def codes(tmp_path):
    vectors = np.random.default_rng(1).standard_normal((3, 14)).astype(np.float32)
    vectors[:, 4] = 0
    write_vectors(tmp_path / "v.vec", ["a", "b", "c"], vectors)
    write_forest(tmp_path / "f.txt", forest_of_shape("2x2", trees=2).parents)
    return tmp_path / "v.vec"


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_figures_are_written_without_a_display(inside, codes, tmp_path, suffix, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("DISPLAY", raising=False)
    sizes = []
    for options in (
        ("--tree-shape", "2x2"),
        ("--forest", "f.txt", "--tree", "2"),
        ("--heat-map", "--title", "x"),
    ):
        succeeds(inside("plot", "forest", codes, "a", "c", "-o", f"f.{suffix}", *options))
        sizes.append((tmp_path / f"f.{suffix}").read_bytes())
    assert len(set(sizes)) == 3 and min(map(len, sizes)) > 1000
    assert sizes[0].startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])


@pytest.mark.parametrize(
    ("options", "says"),
    [(("a", "-o", "f.png"), "v.vec: dim is 14, expected a multiple of 13"),
     (("z", "-o", "f.png", "--tree-shape", "2x2"), "v.vec: the word `z` is not there"),
     (("a", "-o", "f.png", "--tree-shape", "2x2", "--tree", "3"), "v.vec: the forest has 2 trees, there is no tree 3"),
     (("a", "-o", "f.png", "--forest", "one.txt"), "v.vec: the forest has 1 nodes, the vectors 14 dimensions"),
     (("a", "-o", "f.jpeg"), "f.jpeg: a figure ends in .png")],
)  # fmt: skip
def test_refused(inside, codes, tmp_path, options, says):
    pytest.importorskip("matplotlib")
    (tmp_path / "one.txt").write_text("-1\n")
    fails(inside("plot", "forest", codes, *options), says)
    assert not (tmp_path / "f.png").exists()


def test_a_tree_says_which_it_is_and_zero_is_grey(codes, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr(forest_figures, "save_figure", lambda figure, path: figures.append(figure) or "")
    forest = forest_of_shape("2x2", trees=2)
    values = np.arange(28, dtype=np.float32).reshape(2, 14)  # of a word and a dimension it is zero
    values[0, 9] = 1e-6
    values[0, 10] = 0
    tree_figure(["a", "b"], values, forest, tmp_path / "x.png", tree=1)
    heat_figure(["a", "b"], np.array([[0, 1e-6, 5], [3, 4, 6]]), tmp_path / "x.png")
    tree, heat = figures
    assert tree.get_supxlabel() == "tree 2 of 2: dimensions 7 to 13; grey: zero"
    assert sorted(int(text.get_text()) for text in tree.axes[0].texts) == list(range(7, 14))
    (dots,) = tree.axes[0].collections
    dots.update_scalarmappable()
    near, zero = dots.get_facecolors()[[2, 3]]
    assert zero[:3].tolist() == [0.72] * 3 and near[:3].min() > 0.9
    (image,) = heat.axes[0].images
    colors = image.to_rgba(image.get_array())
    assert colors[0, 0, :3].tolist() == [0.72] * 3 and colors[0, 1, :3].min() > 0.9


def test_dimensions_are_told():
    assert dimensions_of(np.array([13, 14, 15])) == "dimensions 13 to 15"
    assert (
        dimensions_of(np.array([1, 3])) == "dimensions 1, 3" and dimensions_of(np.array([4])) == "dimension 4"
    )
    assert dimensions_of(np.arange(0, 100, 2)).endswith(", 78, ...")


def test_odd_rows_are_told_and_not_drawn(inside, codes, tmp_path):
    """As any reader of vectors tells them: no warning of Python's, no figure of nan."""
    pytest.importorskip("matplotlib")
    lines = codes.read_text().replace("3 14", "5 14") + "odd" + " nan" * 14 + "\n" + "a" + " 1" * 14 + "\n"
    codes.write_text(lines)
    run = inside("plot", "forest", codes, "a", "-o", "f.png", "--heat-map")
    succeeds(run)
    assert b"the vector of 'odd' holds nan or inf" in run.stderr and b"duplicate word" in run.stderr
    fails(
        inside("plot", "forest", codes, "odd", "-o", "g.png", "--heat-map"),
        "the vector of `odd` holds nan or inf",
    )
    assert not (tmp_path / "g.png").exists()
    fails(inside("plot", "forest", codes, "a", "-o", "g.png", "--heat-map", "--strict"), "odd")


def test_what_cannot_be_drawn_is_told_before_the_work(inside, tmp_path):
    pytest.importorskip("matplotlib")
    write_vectors(tmp_path / "v.vec", ["$x_{$", "b"], np.array([[3e38, -3e38], [0.0, 1.0]], dtype=np.float32))
    write_vectors(tmp_path / "wide.vec", ["a"], np.ones((1, 3000), dtype=np.float32))
    figure = ("--tree-shape", "1", "-o", "f.png")
    fails(inside("plot", "forest", "v.vec", *["b"] * 300, *figure), "draw 40 words, or a heat map")
    fails(
        inside("plot", "forest", "v.vec", *["b"] * 3000, "-o", "f.png", "--heat-map"),
        "draw 353 words at most",
    )
    fails(
        inside("plot", "forest", "wide.vec", "a", "--tree-shape", "2999", "-o", "f.png"),
        "a tree of 3000 nodes",
    )
    assert not (tmp_path / "f.png").exists()
    (tmp_path / "forest").write_text("-1\n0\n")
    fails(
        inside("plot", "forest", "v.vec", "b", *figure, "--forest", "forest"), "--forest does not go", code=2
    )
    run = inside("plot", "forest", "v.vec", "$x_{$", *figure, "--heat-map", "--title", "$\\frac{a$")
    succeeds(run)  # names and titles are text, not formulas, and nothing overflows
    assert "--tree-shape means nothing to --heat-map" in run.stderr.decode()
    succeeds(inside("plot", "forest", "v.vec", "$x_{$", *figure))
