"""Experiments with a true latent: draw data, fit every method to them, measure R2.

Trial t draws from ``default_rng([0, t])``, so that all methods of a trial see the same data, and
any trial can be drawn again by itself.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ikd_graph import kernels, metrics
from ikd_graph.datasets import gplvm_data

from ._lab import Experiment, fit, rows

KERNELS = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")
"""Kernels of the paper's Table 1."""

LENGTH_SCALE = 0.5
"""Length-scale of the paper's Fig. 3 to 6."""

FEW = 3
"""Data sets of a cell to which slow methods are fitted."""

NOTE = "R2 after an affine alignment, mean over latent dimensions; r2_rigid after a rigid one"


class Cell(NamedTuple):
    """One cell of a table: what is drawn for it, and how it is solved."""

    columns: dict[str, Any]
    draw: Callable[..., Any]  # of a seed: a Dataset with its latent
    methods: tuple[str, ...]
    solve: str | None = None  # kernel to solve with, of length-scale 1/2; None: each its own
    slow: tuple[str, ...] = ()  # further methods, of the first data sets only
    form: str = "fig4"  # figure that `published_form` is that of

    def kernel(self):
        """Kernel to solve with."""
        return self.solve and type(kernels.get(self.solve))(length_scale=LENGTH_SCALE)


def gplvm_cell(columns, latent, n_features, kernel, methods, *, slow=(), noise=0.0, solve=None):
    """Cell of a latent seen through Gaussian processes, solved with their kernel or another."""
    draw = partial(gplvm_data, latent, n_features, kernel=kernel, noise=noise)
    return Cell(columns, draw, tuple(methods), solve or kernel, slow)


def recover(title, cells, draw, *, notes=(), **options):
    """Experiment on cells; ``cells`` maps ``quick`` to a list of them."""
    by = (*cells(True)[0].columns, "method")

    def tasks(quick, n_trials):
        return [partial(trial, cell, t) for t in range(n_trials) for cell in cells(quick)]

    def methods(quick):
        return tuple(dict.fromkeys(m for c in cells(quick) for m in (*c.methods, *c.slow)))

    return Experiment(
        title, by, "r2_affine", tasks, draw, methods=methods, also=("r2_rigid",),
        notes=(*notes, NOTE), **options,
    )  # fmt: skip


def trial(cell, number, only=()):
    """Draw the data of a cell and fit its methods, or those of them that are named."""
    data = cell.draw(seed=np.random.default_rng([0, number]))
    fits = {
        name: fit(name, data.X, data.latent.shape[1], number, kernel=cell.kernel(), form=cell.form)
        for name in (*cell.methods, *(cell.slow if number < FEW else ()))
        if not only or name in only
    }
    return rows({**cell.columns, "trial": number}, fits, partial(r_squared, data.latent))


def r_squared(latent, points):
    """R2 after an affine alignment, and after a rigid one with one scale."""
    return {
        "r2_affine": metrics.affine_r2(latent, points),
        "r2_rigid": metrics.rigid_r2(latent, points, scale=True),
    }


def aligned(latent, points):
    """Image of points under the affine map that brings them nearest to the latent."""
    design = np.column_stack([np.ones(len(points)), points])
    return design @ np.linalg.lstsq(design, latent, rcond=None)[0]
