"""Figures of regularization paths: names beside the curves do not overlap, and no two named curves look alike."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit.formats.regression_files import PathTable
from wordkit.plotting import regression_path
from wordkit.plotting.regression_path import path_figure, spread


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 0.2))
def test_spread_keeps_order_gaps_and_the_mean(heights, gap):
    heights = np.array(heights)
    placed = spread(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(placed[order]) >= gap - 1e-12).all()
    assert placed.mean() == pytest.approx(heights.mean(), abs=1e-12)


def test_spread_leaves_what_is_apart():
    apart = np.array([0.9, 0.1, 0.5])
    np.testing.assert_allclose(spread(apart, 0.1), apart, rtol=0, atol=1e-15)
    np.testing.assert_allclose(spread(np.array([0.5, 0.5]), 0.1), [0.45, 0.55], rtol=0, atol=1e-15)


def test_named_curves_have_colours_of_their_own(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr(
        regression_path, "save_figure", lambda figure, path: drawn.append(figure.axes[0]) or ""
    )
    lams = np.geomspace(1, 0.01, 5)
    names = [f"x{i}" for i in range(30)]
    coefficients = np.outer(np.linspace(0, 1, 5), np.arange(30) / 30)
    table = PathTable(lams, coefficients, names)
    path_figure(table, tmp_path / "x.svg")
    (axes,) = drawn
    texts = {text.get_text(): text for text in axes.texts}
    assert set(texts) == {f"x{i}" for i in range(18, 30)}
    colors = [text.get_color() for text in texts.values()]
    assert len(set(colors)) == 12
    figure = axes.figure
    figure.canvas.draw()
    from matplotlib.text import Text  # an annotation's own extent has the line to its curve in it

    boxes = sorted((Text.get_window_extent(text) for text in texts.values()), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
