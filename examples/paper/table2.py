"""Neighbors in embeddings of digits by several kernels (Table 2)."""

from ._draw import lattice
from ._real import classify, combinations

KERNEL_NAMES = ("squared_exponential", "rational_quadratic", "gamma_exponential")
METHODS = ("paper_geodesic", "paper_geodesic_centered", "ikd_kernel")


def cells(quick):
    """Kernels, dimensions and methods."""
    if quick:
        some = combinations(("kernel", KERNEL_NAMES[:2]), ("M", (2,)), ("method", METHODS[:2]))
        return [{"data": "digits", "n_samples": 150, **cell} for cell in some]
    every = combinations(("kernel", KERNEL_NAMES), ("M", (2, 3, 5, 10)), ("method", METHODS))
    every += combinations(("kernel", ("auto",)), ("M", (2, 3, 5, 10)), ("method", ("ikd",)))
    return [{"data": "digits", "ks": (5, 10, 20), **cell} for cell in every]


EXPERIMENT = classify(
    __doc__,
    ("kernel", "k", "M", "method"),
    lattice("kernel", "k", "M", "ordered"),
    cells,
    minutes=3.0,
    notes=(
        "7 neighbors, as in the published runs on digits; ikd is the default call, which chooses "
        "its kernel (auto) and its graph",
    ),
)
