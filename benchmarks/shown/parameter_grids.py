"""Grids of what a parameter does: ``python benchmarks/shown/parameter_grids.py [--quick]``.

Writes into docs/static/grids: threshold x neighbors and strategy x noise, a figure of eight each.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from readme_pictures import LOOK, WIDTH, around, figure_eight, save, scatter, superimpose

from ikd_graph import IKD, graph, metrics

FOLDER = Path(__file__).parents[2] / "docs" / "static" / "grids"


def grid(rows, columns, fit):
    """Draw every pair of a row and a column: ``fit`` gives a model and its data."""
    figure = Figure(figsize=(WIDTH, 2.1 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), len(columns))
    for number, (line, row) in enumerate(zip(axes, rows, strict=True)):
        for ax, column in zip(line, columns, strict=True):
            model, data = fit(rows[row], columns[column])
            Z = model.fit_transform(data.X)
            aligned, _, _ = superimpose(Z, data.latent)
            r2 = metrics.affine_r2(data.latent, Z)
            title = column if number == 0 else ""
            scatter(ax, aligned, title, f"R² {r2:.3f}", s=10, c=around(data))
        line[0].set_ylabel(row)
    return figure


def threshold_neighbors(n_points):
    """Rows: thresholds; columns: numbers of neighbors."""
    data = figure_eight(n_points, noise=0.7)

    def fit(threshold, n_neighbors):
        rule = graph.Threshold(threshold, n_neighbors)
        model = IKD(affinity="correlation", strategy="geodesic", graph=rule, refine=None)
        return model, data

    rows = {f"threshold {s}": s for s in (0.1, 0.4, 0.6)}
    return grid(rows, {f"{k} neighbors": k for k in (3, 6, 20)}, fit)


def strategy_noise(n_points):
    """Rows: noise; columns: strategies."""

    def fit(noise, settings):
        strategy, refine = settings
        model = IKD(affinity="correlation", strategy=strategy, refine=refine)
        return model, figure_eight(n_points, noise=noise)

    rows = {f"noise {noise:g}": noise for noise in (0.1, 0.7, 1.5)}
    columns = {name: (name, None) for name in ("eigen", "geodesic", "blockwise")}
    return grid(rows, columns | {"likelihood": ("geodesic", "likelihood")}, fit)


def main():
    """Draw both grids."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer points")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder (%(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    mpl.rcParams.update(LOOK | {"axes.titlesize": 14})
    options.output.mkdir(parents=True, exist_ok=True)
    for draw in (threshold_neighbors, strategy_noise):
        save(draw(50 if options.quick else 150), options.output / f"{draw.__name__}.png")


if __name__ == "__main__":
    main()
