"""Random latents through three mappings (Fig. 2)."""

from functools import partial
from itertools import product

from ikd_graph.plotting import colors

from . import _peers
from ._draw import finish, grid, lines
from ._lab import fit
from ._mappings import mapped_data
from ._recovery import Cell, aligned, recover

METHODS = (
    "ikd",
    "published_form",
    "paper_geodesic_centered",
    "pca",
    *(f"kernel_pca_{kernel}" for kernel in _peers.KERNEL_PCA),
    "laplacian_eigenmaps",
    "isomap",
    "lle",
)
SLOW = ("tsne", "umap", "gplvm", "vae")
SHOWN = {"ikd": "IKD", "isomap": "Isomap"}


def cells(quick):
    """Mappings by N."""
    sizes = (10, 50) if quick else (10, 20, 50, 100, 200, 500, 1000)
    n_samples, methods = (150, ("geodesic", "pca")) if quick else (1000, METHODS)
    return [
        Cell(
            {"mapping": m, "N": n},
            partial(mapped_data, m, n, n_samples=n_samples),
            methods,
            slow=() if quick else SLOW,
            form=f"fig2_{m.removesuffix('_l1')}",
        )
        for m, n in product(("gp", "sine", "bump_l1", "bump"), sizes)
    ]


def draw(table, path):
    """R2 and time over N, and the first 20 points of an example."""
    mappings = list(dict.fromkeys(t["mapping"] for t in table.trials))
    figure, axes = grid(len(mappings), 3)
    for row, mapping in zip(axes, mappings, strict=True):
        lines(row[0], table, {"mapping": mapping}, "N", "r2_affine", log=True)
        lines(row[1], table, {"mapping": mapping}, "N", "cpu_seconds", log=True)
        row[1].set_yscale("log")
        row[0].set_title(f"{mapping}: R2", loc="left", fontsize=9)
        row[1].set_title("processor seconds", loc="left", fontsize=9)
        n_samples = 150 if max(t["N"] for t in table.trials) < 100 else 1000
        _example(row[2], mapping, n_samples)
    return finish(figure, axes, path)


def _example(ax, mapping, n_samples):
    """First latent dimension of 20 points at N = 100, aligned."""
    data = mapped_data(mapping, 100, n_samples=n_samples, seed=0)
    ax.plot(data.latent[:20, 0], color=colors.INK, linewidth=2.2, label="true latent")
    for code, (method, name) in enumerate(SHOWN.items()):
        points = fit(method, data.X, data.latent.shape[1], 0).coordinates
        estimate = aligned(data.latent, points)[:20, 0]
        ax.plot(estimate, "--", color=colors.class_color(code), label=f"{name}, example")
    ax.set_title("first 20 points, N = 100", loc="left", fontsize=9)


EXPERIMENT = recover(
    __doc__,
    cells,
    draw,
    trials=3,
    across=("N",),
    minutes=22.0,
    notes=(
        "T = 1000; latent of Eq. 12, clipped to [-6, 6]; ikd is the default call; "
        "bump_l1 is the bump of the published runs, exp(-|z - c|_1), bump that of Eq. 13 as "
        "printed, which has no published values",
        "tsne, umap, gplvm and vae: the first data set",
        "published_form: neighborhoods of correlations above 0.6 (gp, sine) or 0.2 (bump)",
    ),
)
