"""Figures 7.1 to 7.4 of Grave's thesis, from the rows that ``experiment-trace-lasso`` writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.plotting.figure import new_figure, save_figure

Rows = Sequence[Mapping[str, str]]
# Gram matrices of Figure 7.2, by what stands above the picture.
_PAIR, _CHAIN = "two correlated", "Toeplitz"


def path_pair_figure(
    paths: Mapping[str, tuple[np.ndarray, np.ndarray]], path: str | os.PathLike[str]
) -> None:
    """Figure 7.1: (lambdas, coefficients) of several penalties on one data set of strongly correlated columns, side by side."""
    figure, columns = new_figure(4.5 * len(paths), 3.8, columns=len(paths))
    for axes, (name, (lams, coefficients)) in zip(columns, paths.items(), strict=True):
        axes.plot(lams, coefficients, linewidth=0.8)
        axes.set_xscale("log")
        axes.invert_xaxis()
        axes.set(title=name, xlabel="lambda", ylabel="coefficient")
    save_figure(figure, path)


def gram_matrices() -> dict[str, np.ndarray]:
    """The nine Gram matrices P^T P (3, 3) of Figure 7.2."""
    grams = {"ridge": np.ones((3, 3)), "Lasso": np.eye(3), "group Lasso": np.eye(3)}
    grams["group Lasso"] = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for rho in (0.5, 0.7, 0.9):
        grams[f"{_PAIR}, {rho:g}"] = np.array([[1, rho, 0.1], [rho, 1, 0.1], [0.1, 0.1, 1]])
    for rho in (0.5, 0.7, 0.9):
        grams[f"{_CHAIN}, {rho:g}"] = rho ** np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(
            float
        )
    return grams


def unit_ball_figure(
    penalty: Callable[[np.ndarray, np.ndarray], float], path: str | os.PathLike[str], *, steps: int = 40
) -> None:
    """Figure 7.2: surfaces of ``penalty(P, w) = 1`` for w of three coefficients."""
    from matplotlib.figure import Figure

    new_figure(1, 1)  # says clearly where matplotlib is missing
    figure = Figure(figsize=(9, 9), layout="constrained")
    theta, phi = np.meshgrid(
        np.linspace(0, np.pi, steps), np.linspace(0, 2 * np.pi, 2 * steps), indexing="ij"
    )
    sphere = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    for place, (name, gram) in enumerate(gram_matrices().items(), 1):
        values, vectors = np.linalg.eigh(gram)
        P = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
        sizes = np.array([penalty(P, w) for w in sphere.reshape(3, -1).T]).reshape(theta.shape)
        axes: Any = figure.add_subplot(3, 3, place, projection="3d")
        axes.plot_surface(*(sphere / sizes), color="steelblue", linewidth=0, antialiased=True)
        axes.set(title=name, xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
        axes.set_box_aspect((1, 1, 1))
        axes.tick_params(labelsize=5)
    save_figure(figure, path)


def solvers_figure(rows: Rows, path: str | os.PathLike[str]) -> None:
    """Figure 7.3: relative distance to the optimum against seconds, a panel a design and lambda, a curve a solver and run."""
    panels = list(dict.fromkeys((row["design"], row["share"]) for row in rows))
    figure, columns = new_figure(3.6 * len(panels), 3.6, columns=len(panels))
    for axes, (design, share) in zip(columns, panels, strict=True):
        own = [row for row in rows if (row["design"], row["share"]) == (design, share)]
        for number, solver in enumerate(dict.fromkeys(row["solver"] for row in own)):
            for run in dict.fromkeys(row["run"] for row in own):
                points = [
                    (float(row["seconds"]), max(float(row["distance"]), 1e-11))
                    for row in own
                    if (row["solver"], row["run"]) == (solver, run)
                ]
                label = solver if run == own[0]["run"] else None
                axes.plot(*np.array(points).T, color=f"C{number}", linewidth=0.9, label=label)
        axes.set(
            title=f"{design}, lambda {share} of the largest", xlabel="seconds", yscale="log", ylim=(1e-10, 2)
        )
        axes.set_xscale("symlog", linthresh=1e-2)
        axes.set_xlim(left=0)
    columns[0].set_ylabel("distance to the optimum")
    columns[0].legend(fontsize="x-small")
    save_figure(figure, path)


def estimators_figure(rows: Rows, path: str | os.PathLike[str]) -> None:
    """Figure 7.4: the best value of each estimator against the size of the support, with bars of one standard error."""
    panels = list(dict.fromkeys((row["criterion"], row["design"]) for row in rows))
    figure, columns = new_figure(3.2 * len(panels), 3.4, columns=len(panels))
    names = list(dict.fromkeys(row["estimator"] for row in rows))
    for axes, (criterion, design) in zip(columns, panels, strict=True):
        own = [row for row in rows if (row["criterion"], row["design"]) == (criterion, design)]
        for name in names:
            groups: dict[int, list[float]] = {}
            for row in own:
                if row["estimator"] == name:
                    groups.setdefault(int(row["support"]), []).append(float(row["value"]))
            if groups:
                sizes = sorted(groups)
                means = [np.mean(groups[k]) for k in sizes]
                bars = [np.std(groups[k]) / np.sqrt(len(groups[k])) for k in sizes]
                style = {"color": f"C{names.index(name)}", "linewidth": 1, "capsize": 2, "label": name}
                axes.errorbar(sizes, means, bars, **style)
        axes.set(title=f"{design}: {criterion}", xlabel="size of the support")
        axes.set_xscale("log", base=2)
    drawn = dict(
        pair for axes in columns for pair in zip(*axes.get_legend_handles_labels()[::-1], strict=True)
    )
    figure.legend(
        drawn.values(), drawn.keys(), loc="outside lower center", ncols=len(drawn), fontsize="small"
    )
    save_figure(figure, path)
