"""The medium latent under noise (Fig. 5)."""

from itertools import product

from ikd_graph.datasets import fixed_latent

from ._draw import finish, grid, lines
from ._recovery import KERNELS, gplvm_cell, recover

METHODS = (
    "ikd",
    "ikd_kernel",
    "blockwise",
    "geodesic",
    "published_form",
    "paper_blockwise",
    "isomap",
    "pca",
)

LEVELS = tuple(round(0.1 * step, 1) for step in range(11))


def cells(quick):
    """Noise by N."""
    noise, sizes = ((0.0, 0.5), (50,)) if quick else (LEVELS, (100, 1000))
    return [
        gplvm_cell({"N": n, "noise": sd}, fixed_latent("medium"), n, KERNELS[0],
                   METHODS[2:] if quick else METHODS, slow=() if quick else ("gplvm",), noise=sd)
        for n, sd in product(sizes, noise)
    ]  # fmt: skip


def draw(table, path):
    """R2 and time over the noise."""
    sizes = sorted({t["N"] for t in table.trials})
    figure, axes = grid(2, len(sizes), 4.4)
    for n, (top, bottom) in zip(sizes, axes.T, strict=True):
        lines(top, table, {"N": n}, "noise", "r2_affine")
        lines(bottom, table, {"N": n}, "noise", "cpu_seconds")
        bottom.set_yscale("log")
        top.set_title(f"N = {n}: R2", loc="left", fontsize=9)
        bottom.set_title("processor seconds", loc="left", fontsize=9)
    return finish(figure, axes, path)


EXPERIMENT = recover(
    __doc__,
    cells,
    draw,
    trials=5,
    across=("noise",),
    minutes=3.5,
    notes=(
        "T = 100, M = 3, squared exponential of length-scale 0.5, a signal of variance 1; noise is "
        "its standard deviation; the paper does not state N; ikd is the default call, all others "
        "are given the kernel",
        "gplvm: that of GPy, of the first three data sets",
        "published: the numbers of the figure are not public; these are means of 15 trials of the "
        "public code run again",
    ),
)
