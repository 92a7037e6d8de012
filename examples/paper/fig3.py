"""Three latents and their covariances by four kernels (Fig. 3)."""

from functools import partial

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

from ikd_graph import kernels
from ikd_graph.datasets import FIXED_LATENTS, fixed_latent
from ikd_graph.plotting import colors, plot

from ._draw import curve
from ._lab import Experiment
from ._recovery import KERNELS, LENGTH_SCALE


def covariance(latent, kernel):
    """Covariances of a latent by name."""
    points = fixed_latent(latent, seed=0)
    return type(kernels.get(kernel))(length_scale=LENGTH_SCALE).covariance(
        cdist(points, points) ** 2
    )


def measure(latent, kernel, only=()):
    """Fraction of the pairs that stay above thresholds; there is one method, the truth."""
    pairs = covariance(latent, kernel)[np.triu_indices(100, 1)]
    row = {"latent": latent, "kernel": kernel, "method": "true", "above 0.1": np.mean(pairs > 0.1)}
    return [{**row, "above 0.3": np.mean(pairs > 0.3), "failure": ""}]


def draw(table, path):
    """Latents in space, and their covariance matrices."""
    names = list(dict.fromkeys(t["latent"] for t in table.trials))
    shades = colormaps["viridis"].resampled(12)
    figure = Figure(figsize=(13, 2.7 * len(names)), layout="constrained")
    for i, name in enumerate(names):
        ax = figure.add_subplot(len(names), 5, 5 * i + 1, projection="3d")
        points = fixed_latent(name, seed=0)
        curve(ax, points, color=colors.ACCENT, marker=".", linewidth=0 if name == "easy" else 1)
        ax.set_title(name, loc="left")
        for j, kernel in enumerate(KERNELS):
            panel = figure.add_subplot(len(names), 5, 5 * i + j + 2)
            panel.imshow(covariance(name, kernel), vmin=0, vmax=1, cmap=shades)
            panel.set_title(kernel.replace("_", " "), fontsize=9)
            panel.set_axis_off()
    return plot.save(ax, path, dpi=80)


EXPERIMENT = Experiment(
    __doc__,
    ("latent", "kernel", "method"),
    "above 0.1",
    lambda quick, trials: [partial(measure, n, k) for n in FIXED_LATENTS for k in KERNELS],
    draw,
    minutes=0.1,
    methods=lambda quick: ("true",),
    also=("above 0.3",),
    notes=("share of the 4950 pairs whose covariance is above 0.1, and above 0.3",),
)
