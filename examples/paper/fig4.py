"""Fixed latents through Gaussian processes of four kernels (Fig. 4; table A)."""

from itertools import product

from ikd_graph.study.datasets import FIXED_LATENTS

from ._lab import title_of
from ._recovery import KERNELS, gplvm_cell, named_latents, recover


def run(
    latents=FIXED_LATENTS,
    kernel_names=KERNELS,
    n_features=(100, 200, 500, 1000, 2000, 5000, 10000),
    methods=("ikd", "blockwise", "geodesic", "paper_blockwise", "pca"),
    *,
    n_trials=50,
    **how,
):
    """R² by latent, kernel, N and method, and what the search lost against a start at the truth."""
    cells = [
        gplvm_cell({"latent": name, "kernel": kernel, "N": n}, points, n, kernel)
        for (name, points), kernel, n in product(
            named_latents(latents).items(), kernel_names, n_features
        )
    ]
    notes = ["T = 100, M = 3, length-scale 0.5, no noise; solved with the generating kernel"]
    table = ("fig4", title_of(__doc__), notes)
    return recover(table, cells, methods, extras=("likelihood_gap",), n_trials=n_trials, **how)
