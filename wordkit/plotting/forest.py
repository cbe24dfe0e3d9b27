"""Codes of words over a forest: one tree a word, or a heat map (Yogatama et al. 2015, Figures 2 and 3)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.models.forests import Forest
from wordkit.plotting.figure import new_figure, save_figure

_LONGEST = 100.0  # inches of a side
_MOST_NODES = 2000
_COLORS = "RdBu"  # red below zero, white near it, blue above
_ZERO = "0.72"  # grey: a code that is exactly zero is not used, and must not look like a small one
_NUMBERED = 40  # nodes whose dimensions are written below their dots


def _colors() -> Any:
    from matplotlib import colormaps

    return colormaps[_COLORS].with_extremes(bad=_ZERO)


def positions(forest: Forest) -> np.ndarray:
    """(M, 2) places of the nodes: leaves side by side in their order, a parent above the middle of its children."""
    parents, places = forest.parents, np.zeros((len(forest), 2))
    places[:, 1] = -forest.levels
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    right = 0.0
    waiting = [node for node in reversed(range(len(forest))) if parents[node] < 0]
    order = []
    while waiting:  # depth first, in the order of the children
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(children[node]))
    for node in order:
        if not children[node]:
            places[node, 0], right = right, right + 1
    for node in reversed(order):
        if children[node]:
            places[node, 0] = np.mean([places[child, 0] for child in children[node]])
    return places


def tree_of(forest: Forest, number: int) -> np.ndarray:
    """Nodes of the ``number``-th tree, from 0; ValueError if there is none."""
    if not 0 <= number < forest.trees:
        raise ValueError(f"the forest has {forest.trees} trees, there is no tree {number + 1}")
    root = np.flatnonzero(forest.parents < 0)[number]
    inside = np.zeros(len(forest), dtype=bool)
    inside[root] = True
    for node in range(root + 1, len(forest)):  # parents come first
        inside[node] = forest.parents[node] >= 0 and inside[forest.parents[node]]
    return np.flatnonzero(inside)


def dimensions_of(nodes: np.ndarray) -> str:
    """Numbers of nodes as a reader is told: ``dimensions 13 to 25``, or the few of them."""
    if len(nodes) > 1 and nodes[-1] - nodes[0] == len(nodes) - 1:
        return f"dimensions {nodes[0]} to {nodes[-1]}"
    listed = ", ".join(map(str, nodes[:_NUMBERED].tolist()))
    return f"dimension{'s' if len(nodes) > 1 else ''} {listed}{', ...' if len(nodes) > _NUMBERED else ''}"


def tree_figure(
    words: Sequence[str],
    codes: np.ndarray,
    forest: Forest,
    path: str | os.PathLike[str],
    *,
    tree: int = 0,
    title: str = "",
) -> str:
    """Draw one tree of the forest for each word, its nodes in the colour of their values, with their dimensions, from 0.

    Args:
        codes: (words, M).
        tree: its number, from 0.

    Returns:
        As :func:`wordkit.plotting.figure.save_figure`.
    """
    nodes = tree_of(forest, tree)
    if len(nodes) > _MOST_NODES:
        raise WordkitError(f"a tree of {len(nodes)} nodes cannot be drawn: a heat map shows all dimensions")
    places = positions(forest)[nodes]
    place_of = dict(zip(nodes.tolist(), places.tolist(), strict=True))
    largest = float(np.abs(codes[:, nodes]).max(initial=0.0)) or 1.0
    width = max(2.5, 0.35 * (np.ptp(places[:, 0]) + 1))
    if width * len(words) > _LONGEST:
        most = max(1, int(_LONGEST / width))
        raise WordkitError(
            f"{len(words)} such trees side by side are too wide: draw {most} words, or a heat map"
        )
    figure, all_axes = new_figure(min(width, _LONGEST) * len(words), 2.6, len(words))
    for word, code, axes in zip(words, codes, all_axes, strict=True):
        for node in nodes.tolist():
            if forest.parents[node] >= 0:
                axes.plot(
                    *zip(place_of[node], place_of[forest.parents[node]], strict=True),
                    color="grey",
                    linewidth=0.8,
                    zorder=1,
                )
        dots = _dots(axes, places, code[nodes], largest)
        if len(nodes) <= _NUMBERED:
            for node, place in place_of.items():
                axes.annotate(
                    str(node), place, xytext=(0, -8), textcoords="offset points", ha="center", va="top", fontsize="xx-small",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                )  # fmt: skip
        axes.set_title(word, fontsize="medium", parse_math=False)
        axes.set_axis_off()
        axes.margins(0.1, 0.2)
    figure.colorbar(dots, ax=all_axes, shrink=0.7)
    figure.supxlabel(
        f"tree {tree + 1} of {forest.trees}: {dimensions_of(nodes)}; grey: zero", fontsize="small", parse_math=False
    )  # fmt: skip
    if title:
        figure.suptitle(title, parse_math=False)
    return save_figure(figure, path)


def _dots(axes: Any, places: np.ndarray, values: np.ndarray, largest: float) -> Any:
    return axes.scatter(
        places[:, 0], places[:, 1], c=np.where(values == 0, np.nan, values), cmap=_colors(), vmin=-largest, vmax=largest, s=130,
        edgecolors="black", linewidths=0.6, zorder=2, plotnonfinite=True,
    )  # fmt: skip


def heat_figure(
    words: Sequence[str], codes: np.ndarray, path: str | os.PathLike[str], *, title: str = ""
) -> str:
    """Draw the values of words (words, M) in colours, a word a row, dimensions from the lowest mean to the highest.

    What is exactly zero is grey.

    Returns:
        As :func:`wordkit.plotting.figure.save_figure`.
    """
    height = 0.9 + 0.28 * len(words)
    if height > _LONGEST:
        raise WordkitError(f"{len(words)} rows are too high: draw {int(_LONGEST / 0.28) - 4} words at most")
    codes = np.asarray(codes, dtype=np.float64)  # in float32 a difference may overflow
    order = np.argsort(codes.mean(axis=0), kind="stable")
    largest = float(np.abs(codes).max(initial=0.0)) or 1.0
    figure, (axes,) = new_figure(min(max(5.0, 0.14 * codes.shape[1]), _LONGEST), height)
    image = axes.imshow(
        np.ma.masked_equal(codes[:, order], 0),
        aspect="auto",
        cmap=_colors(),
        vmin=-largest,
        vmax=largest,
        interpolation="nearest",
    )
    axes.set_yticks(range(len(words)), labels=list(words), parse_math=False)
    step = max(1, codes.shape[1] // 40)
    axes.set_xticks(
        range(0, codes.shape[1], step),
        labels=[str(d) for d in order[::step]],
        fontsize="xx-small",
        rotation=90,
    )
    axes.set_xlabel("dimension (grey: zero)")
    axes.set_title(title, parse_math=False)
    figure.colorbar(image, ax=axes)
    return save_figure(figure, path)
