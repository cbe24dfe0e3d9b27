"""Figures of hidden Markov tree models: transitions between classes, and words in context (Grave, thesis, 2014, section 2.3)."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from wordkit.plotting.figure import new_figure, save_figure


def transitions_figure(
    matrices: Sequence[tuple[str, np.ndarray]], path: str | os.PathLike[str], *, title: str = ""
) -> str:
    """Figure 2.4: transition matrices side by side, a row a class, a column the classes that follow it.

    Darkness goes by the square root of the probability, so that small ones can be seen.

    Args:
        matrices: (name, T (C child, C parent)).
    """
    figure, axes = new_figure(0.6 + 4.4 * len(matrices), 4.6, columns=len(matrices))
    for place, (name, matrix) in zip(axes, matrices, strict=True):
        image = place.imshow(np.sqrt(matrix.T), cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
        place.set_title(name, parse_math=False, fontsize=9)
        place.set(xlabel="class of the child", ylabel="class of the parent")
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    ticks = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1]
    bar.set_ticks(np.sqrt(ticks), labels=[f"{tick:g}" for tick in ticks])
    figure.suptitle(title, parse_math=False)
    return save_figure(figure, path)


def context_figure(
    points: np.ndarray,
    words: Sequence[str],
    sentences: Sequence[str],
    path: str | os.PathLike[str],
    *,
    title: str = "",
) -> str:
    """Figure 2.6: words out of context in red, the word in each of its sentences in blue, numbered as listed below.

    Args:
        points: (words + sentences, 2).
        words: out of context, the one whose contexts are shown first.
        sentences: texts, one an occurrence.
    """
    shown = sentences[:12]
    figure, (axes,) = new_figure(7, 5.2 + 0.17 * len(shown))
    out, within = points[: len(words)], points[len(words) :]
    axes.scatter(*out.T, s=22, color="firebrick", label="out of context")
    axes.scatter(*within.T, s=22, color="royalblue", label="in context")
    for i, (word, point) in enumerate(zip(words, out, strict=True)):
        weight = "bold" if i == 0 else "normal"
        _named(axes, word, point, "firebrick", weight)
    for i, point in enumerate(within, 1):
        _named(axes, f"{words[0]} {i}", point, "royalblue", "normal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.margins(0.1)
    axes.legend(fontsize=8)
    axes.set_title(title, parse_math=False)
    lines = [f"{i}: {text if len(text) <= 110 else text[:107] + '...'}" for i, text in enumerate(shown, 1)]
    axes.set_xlabel("\n".join(lines), fontsize=7, loc="left", parse_math=False)
    return save_figure(figure, path)


def _named(axes: object, text: str, point: np.ndarray, color: str, weight: str) -> None:
    axes.annotate(  # type: ignore[attr-defined]
        text,
        point,
        xytext=(3, 3),
        textcoords="offset points",
        fontsize=8,
        color=color,
        weight=weight,
        parse_math=False,
    )
