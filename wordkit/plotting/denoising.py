"""Figures 1 and 2 of Denis and Ralaivola (EACL 2017) from results of :mod:`wordkit.evaluation.denoising`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from wordkit.evaluation.denoising import Example, NoisePoint
from wordkit.plotting.figure import new_figure, save_figure


def noise_figure(points: Sequence[NoisePoint], path: str | os.PathLike[str]) -> None:
    """Figure 1: accuracy against noise, a line an algorithm, with a band of one standard deviation."""
    figure, (axes,) = new_figure(6, 4)
    for algorithm in dict.fromkeys(point.algorithm for point in points):
        own = sorted(point for point in points if point.algorithm == algorithm)
        sigma, mean, std = (
            np.array([getattr(p, name) for p in own]) for name in ("sigma", "accuracy", "std")
        )
        (line,) = axes.plot(sigma, mean, marker=".", markersize=3, linewidth=1, label=algorithm.upper())
        axes.fill_between(sigma, mean - std, mean + std, alpha=0.15, color=line.get_color(), linewidth=0)
    axes.axhline(0.5, color="grey", linewidth=0.8, linestyle=":", label="chance")
    axes.set(xlabel="standard deviation of the noise", ylabel="test accuracy", ylim=(0.35, 1.02))
    axes.legend()
    save_figure(figure, path)


def hyperplane_figure(example: Example, path: str | os.PathLike[str]) -> None:
    """Figure 2: samples and hyperplane of PA on noisy vectors, and of RPA on re-embedded ones.

    Colours are the hidden concepts, circles training samples and plus marks the others.
    """
    figure, (left, right) = new_figure(9, 4.2, columns=2)
    _panel(left, "PA, noisy vectors", example, example.before, example.pa_weights)
    _panel(right, "RPA, re-embedded vectors", example, example.after, example.rpa_weights)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
    save_figure(figure, path)


def _panel(axes: Any, title: str, example: Example, points: np.ndarray, weights: np.ndarray) -> None:
    for label, colour in ((1, "goldenrod"), (-1, "seagreen")):
        for is_train, marker in ((True, "o"), (False, "+")):
            chosen = (example.labels == label) & (example.is_train == is_train)
            name = f"concept {1 if label == 1 else 2}, {'training' if is_train else 'held out'}"
            style = {"facecolors": "none", "edgecolors": colour} if is_train else {"color": colour}
            axes.scatter(*points[chosen].T, s=22, marker=marker, linewidths=0.9, label=name, **style)
    reach = 1.05 * float(np.abs(points).max(initial=1.0))
    length = float(np.linalg.norm(weights))
    if length > 0:
        normal = weights / length
        along = np.array([-normal[1], normal[0]]) * 3 * reach
        for offset, line in ((0.0, "-"), (1 / length, ":"), (-1 / length, ":")):
            ends = offset * normal + np.stack([-along, along])
            axes.plot(*ends.T, color="black", linewidth=0.9, linestyle=line)
    axes.set(title=title, xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
