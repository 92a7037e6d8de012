"""The medium latent under noise (Fig. 5; table B)."""

from itertools import product

from ikd_graph.study.datasets import fixed_latent

from ._lab import title_of
from ._recovery import gplvm_cell, recover


def run(
    noise=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    n_features=(100, 200, 1000),
    methods=("ikd", "blockwise", "geodesic", "isomap", "pca"),
    **how,
):
    """R² by N, noise and method, and the error of the noise variance; the paper tells no N."""
    latent, kernel = fixed_latent("medium"), "squared_exponential"
    cells = [
        gplvm_cell({"N": n, "noise": float(sd)}, latent, n, kernel, noise=float(sd))
        for n, sd in product(n_features, noise)
    ]
    notes = ["T = 100, M = 3, squared exponential of length-scale 0.5, a signal of 1"]
    table = ("fig5", title_of(__doc__), notes)
    return recover(table, cells, methods, extras=("noise_error",), **how)
