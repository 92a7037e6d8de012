"""Random latents through three mappings (Fig. 2; table E)."""

from functools import partial
from itertools import product

from ikd_graph.study.datasets import mapped_data

from ._lab import title_of
from ._recovery import Cell, recover


def run(
    mappings=("gp", "sine", "bump_l1"),
    n_features=(10, 20, 50, 100, 200, 500, 1000),
    methods=("ikd", "paper_geodesic", "pca", "laplacian_eigenmaps", "isomap"),
    *,
    n_samples=1000,
    n_trials=50,
    **how,
):
    """R² by mapping, N and method; ``bump_l1`` is the bump that the paper ran, ``bump`` prints."""
    cells = [
        Cell({"mapping": m, "N": n}, partial(mapped_data, m, n, n_samples=n_samples))
        for m, n in product(mappings, n_features)
    ]
    notes = [f"T = {n_samples}; latent of Eq. 12, clipped to [-6, 6]; squared exponential"]
    return recover(("fig2", title_of(__doc__), notes), cells, methods, n_trials=n_trials, **how)
