"""Figures of evaluations: dendrograms, relations, acceptability (Grave, thesis, 2014, Figures 3.1 to 3.6)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.evaluation.bless import figure_data as bless_data
from wordkit.evaluation.categorization import figure_data as tree_data
from wordkit.evaluation.composition import figure_data as acceptability_data
from wordkit.plotting.figure import new_figure, save_figure

_LEAF_INCHES = 0.19


def dendrogram_figure(
    result: Mapping[str, Any], path: str | os.PathLike[str], *, name: str, title: str = ""
) -> str:
    """Figures 3.4 and 3.5: the tree of a categorization, words in the colour of their class.

    Args:
        result: of ``evaluate categorization --json``; ``name``: of its file, for errors.

    Returns:
        As :func:`wordkit.plotting.figure.save_figure`.

    Raises:
        WordkitError: it holds no tree.
    """
    words, classes, merges = tree_data(dict(result), name)
    figure, (axes,) = new_figure(7, max(3.0, 1.0 + _LEAF_INCHES * len(words)))
    from matplotlib import colormaps
    from scipy.cluster.hierarchy import dendrogram

    with warnings.catch_warnings():
        # All distances zero: the axis is as wide as nothing, which matplotlib mends by itself.
        warnings.filterwarnings("ignore", "Attempting to set identical low and high xlims", UserWarning)
        dendrogram(
            merges,
            labels=words,
            orientation="right",
            ax=axes,
            color_threshold=0,
            above_threshold_color="dimgrey",
        )
    palette = colormaps["tab10" if len(set(classes)) <= 10 else "tab20"]
    names = list(dict.fromkeys(filter(None, classes)))
    color_of = {name: palette(i % palette.N) for i, name in enumerate(names)}
    class_of = dict(zip(words, classes, strict=True))
    for label in axes.get_yticklabels():
        label.set(
            color=color_of.get(class_of.get(label.get_text(), ""), "black"), fontsize=8, parse_math=False
        )
    axes.set_xlabel("distance at which clusters are merged")
    axes.spines[["left", "right", "top"]].set_visible(False)
    if names:
        marks = [
            axes.plot([], [], color=color, linewidth=4, label=_shown(own))[0]
            for own, color in color_of.items()
        ]
        _plain(figure.legend(handles=marks, fontsize=7, loc="outside lower center", ncols=4))
    axes.set_title(title, parse_math=False)
    return save_figure(figure, path)


def bless_figure(
    results: Sequence[tuple[str, Mapping[str, Any]]], path: str | os.PathLike[str], *, title: str = ""
) -> str:
    """Figures 3.1 to 3.3: a box plot of scores by relation for each result, and their curves of precision against recall.

    Args:
        results: (name, result of ``evaluate bless --json``).

    Raises:
        WordkitError: a result without scores.
    """
    drawn = [(name, *bless_data(dict(result), name)) for name, result in results]
    figure, axes = new_figure(4.2 * (len(drawn) + 1), 4, columns=len(drawn) + 1)
    for place, (name, scores, _, _) in zip(axes, drawn, strict=False):
        relations = [relation for relation, values in scores.items() if len(values)]
        place.boxplot([scores[relation] for relation in relations], flierprops={"markersize": 3})
        place.set_xticks(range(1, len(relations) + 1), relations, rotation=45, ha="right", fontsize=8)
        place.set_title(name, parse_math=False, fontsize=9)
        place.set_ylabel("normalized similarity")
    for name, _, recall, precision in drawn:
        axes[-1].plot(recall, precision, linewidth=1.2, label=_shown(name))
    axes[-1].set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    _plain(axes[-1].legend(fontsize=7, loc="lower left"))
    figure.suptitle(title, parse_math=False)
    return save_figure(figure, path)


def acceptability_figure(
    results: Sequence[tuple[str, Mapping[str, Any]]], path: str | os.PathLike[str], *, title: str = ""
) -> str:
    """Figure 3.6: how the scores of acceptable and of deviant pairs are distributed, a panel a result.

    Scores are drawn by their logarithm where all are positive: they are probabilities, most of them small.

    Args:
        results: (name, result of ``evaluate composition --json`` on acceptability).

    Raises:
        WordkitError: a result without such scores.
    """
    drawn = [(name, acceptability_data(dict(result), name)) for name, result in results]
    figure, axes = new_figure(4.5 * len(drawn), 3.6, columns=len(drawn))
    for place, (name, scores) in zip(axes, drawn, strict=True):
        logarithmic = all((values > 0).all() for values in scores.values())
        if logarithmic:
            scores = {kind: np.log10(values) for kind, values in scores.items()}
        whole = np.concatenate(list(scores.values()))
        low, high = whole.min(), whole.max()
        bins = np.linspace(low - (low == high), high + (low == high), 21)
        for kind, color in (("acceptable", "seagreen"), ("deviant", "firebrick")):
            weights = np.full(len(scores[kind]), 1 / len(scores[kind]))
            place.hist(scores[kind], bins=bins, weights=weights, alpha=0.5, color=color, label=kind)
            place.axvline(float(np.median(scores[kind])), color=color, linewidth=1, linestyle="--")
        place.set(
            xlabel="acceptability, log10" if logarithmic else "acceptability", ylabel="share of the pairs"
        )
        place.set_title(name, parse_math=False, fontsize=9)
        place.legend(fontsize=8)
    figure.suptitle(title, parse_math=False)
    return save_figure(figure, path)


def _shown(name: str) -> str:
    """A label that matplotlib does not leave out of the legend."""
    return f" {name}" if name.startswith("_") else name


def _plain(legend: Any) -> None:
    """Dollar signs are the data's own, not mathematics."""
    for text in legend.get_texts():
        text.set_parse_math(False)
