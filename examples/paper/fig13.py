"""Neighbors in embeddings of more and more points of Fashion-MNIST (Fig. 13)."""

from ._draw import finish, grid, lines
from ._real import METHODS, classify, combinations


def cells(quick):
    """Sizes, dimensions and methods."""
    sizes, ms = ((100, 150), (2,)) if quick else ((1000, 2000, 3000, 4000), (2, 10))
    few = ("pca", "paper_geodesic", "paper_geodesic_centered")
    methods = few if quick else (*METHODS, "ikd_correlation")
    every = combinations(("n_samples", sizes), ("M", ms), ("method", methods))
    return [{"data": "fashion_mnist", **cell} for cell in every]


def draw(table, path):
    """Accuracy, silhouette and time over T, as means over M."""
    figure, axes = grid(1, 3, 4.2, 3.6)
    for ax, measure in zip(axes[0], ("ordered", "silhouette", "cpu_seconds"), strict=True):
        lines(ax, table, {}, "T", measure)
        ax.set_title("5-NN accuracy" if measure == "ordered" else measure, loc="left", fontsize=9)
    axes[0, 2].set_yscale("log")
    return finish(figure, axes, path)


EXPERIMENT = classify(
    __doc__,
    ("T", "M", "method"),
    draw,
    cells,
    minutes=30.0,
    notes=(
        "the picture has means over M = 2 and 10, bars are errors over splits; the first T rows of "
        "the test set, divided by 255",
        "not run: GPLVM beyond T = 2000, t-SNE in 10 dimensions beyond T = 1000; ikd is the "
        "default call, ikd_correlation the same with affinity='correlation'",
        "published: means of the public code run again; the figure's numbers are not public",
    ),
)
