"""Greedy (the paper's) and global merging of the same cliques (table D)."""

from itertools import product

from ikd_graph.study.datasets import FIXED_LATENTS

from ._lab import title_of
from ._recovery import gplvm_cell, named_latents, recover


def run(
    latents=FIXED_LATENTS,
    n_features=(200, 1000, 10000),
    methods=("blockwise_greedy", "blockwise"),
    **how,
):
    """R² by latent, N and method; ``blockwise`` merges globally."""
    cells = [
        gplvm_cell({"latent": name, "N": n}, points, n, "squared_exponential")
        for (name, points), n in product(named_latents(latents).items(), n_features)
    ]
    notes = ["T = 100, M = 3, squared exponential of length-scale 0.5, no noise"]
    return recover(("merge_quality", title_of(__doc__), notes), cells, methods, **how)
