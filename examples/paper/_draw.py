"""Pictures of tables: lines over one column, the published values dashed."""

import numpy as np
from matplotlib.figure import Figure

from ikd_graph.plotting import colors, plot

from ._lab import counterparts, key_of, mean_of


def grid(n_rows, n_columns, width=3.4, height=2.9):
    """Figure and its (n_rows, n_columns) axes."""
    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def lines(ax, table, where, x, measure, *, log=False):
    """Means of a measure over a column, by method, where other columns have the values required.

    A point is the mean over all cells there, its bar the standard error of that mean by the errors
    within cells. A dashed line is the published mean of the method of its color.
    """
    methods = list(dict.fromkeys(t["method"] for t in table.trials))
    trials = [t for t in table.trials if all(t[k] == v for k, v in where.items())]
    for code, method in enumerate(methods):
        own = [t for t in trials if t["method"] == method]
        at = sorted({t[x] for t in own})
        points = [_over_cells([t for t in own if t[x] == value], table, measure) for value in at]
        mean, se = zip(*points, strict=True) if points else ((), ())
        style = {"color": colors.class_color(code), "marker": colors.class_marker(code)}
        ax.errorbar(at, mean, se, label=method, markersize=4, linewidth=1.4, **style)
    if measure == table.experiment.measure:
        _published_lines(ax, table, where, x, methods)
    if log:
        ax.set_xscale("log")
    ax.set_xlabel(x)
    plot.quiet(ax)


def _over_cells(trials, table, measure):
    """Mean of the means of cells, and its standard error; an unknown error counts as 0."""
    cells = {}
    for trial in trials:
        cells.setdefault(tuple(trial[key] for key in table.experiment.by), []).append(trial)
    found = [mean_of(own, measure) for own in cells.values()]
    known = [cell for cell in found if np.isfinite(cell["mean"])]
    if not known:
        return np.nan, 0.0
    errors = np.nan_to_num([cell["se"] for cell in known])
    return np.mean([cell["mean"] for cell in known]), np.hypot.reduce(errors) / len(known)


def _published_lines(ax, table, where, x, methods):
    """Published means of cells that were run, in the color of the first method beside them."""
    by, run_here = table.experiment.by, {key_of(at[:-1]) for at in table.cells()}
    curves = {}
    for key, (mean, _) in table.published().items():
        row = dict(zip(by, key, strict=True))
        if key[:-1] in run_here and all(row.get(k) == key_of([v])[0] for k, v in where.items()):
            curves.setdefault(row["method"], {}).setdefault(float(row[x]), []).append(mean)
    for extra, (name, values) in enumerate(curves.items(), start=len(methods)):
        same = [code for code, m in enumerate(methods) if name in counterparts(m)]
        color = colors.class_color(same[0] if same else extra)
        at = sorted(values)
        mean = [np.mean(values[value]) for value in at]
        ax.plot(at, mean, "--", color=color, linewidth=1.2, label=f"{name}, published")


def finish(figure, axes, path):
    """One legend below all axes, and the file."""
    labels = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            labels.setdefault(label, handle)
    if labels:
        figure.legend(
            labels.values(), labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8
        )
    return plot.save(axes.flat[0], path, dpi=110)


def lattice(rows, columns, x, measure, *, log=False):
    """Draw a table as panels, one for each pair of values of two columns."""

    def draw(table, path):
        first = list(dict.fromkeys(t[rows] for t in table.trials))
        second = list(dict.fromkeys(t[columns] for t in table.trials))
        figure, axes = grid(len(first), len(second))
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                lines(axes[i, j], table, {rows: a, columns: b}, x, measure, log=log)
                axes[i, j].set_title(f"{a}, {b}", loc="left", fontsize=9)
        return finish(figure, axes, path)

    return draw


def curve(ax, points, **style):
    """A path in three dimensions."""
    ax.plot(*points.T, **style)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_zticks([])
