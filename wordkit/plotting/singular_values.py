"""Singular values of matrices: how near a mapping brings weights to low rank."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from wordkit.plotting.figure import new_figure, save_figure


def singular_values_figure(values: Mapping[str, np.ndarray], path: str | os.PathLike[str]) -> None:
    """Draw the largest singular values of some matrices, each as a share of its own largest one, side by side.

    Args:
        values: falling singular values of each matrix, by its name.
    """
    figure, (axes,) = new_figure(6, 4)
    for place, (name, own) in enumerate(values.items()):
        ranks = np.arange(1, len(own) + 1) + (place - (len(values) - 1) / 2) * 0.8 / len(values)
        axes.bar(ranks, own / max(own[0], np.finfo(float).tiny), width=0.8 / len(values), label=name)
    axes.set(xlabel="rank of the singular value", ylabel="share of the largest")
    axes.legend(fontsize="small")
    save_figure(figure, path)
