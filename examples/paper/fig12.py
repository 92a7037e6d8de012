"""Digits in the plane by three kernels (Fig. 12)."""

from ._gallery import pictures
from ._real import classify, combinations, dataset, embedded
from .table2 import KERNEL_NAMES


def cells(quick):
    """Kernels by method."""
    size = {"n_samples": 150} if quick else {}
    methods = ("method", ("paper_geodesic", "paper_geodesic_centered"))
    return [{"data": "digits", "M": 2, **size, **cell}
            for cell in combinations(methods, ("kernel", KERNEL_NAMES))]  # fmt: skip


def draw(table, path):
    """A picture for each kernel."""
    size = table.trials[0]["T"]
    data = dataset("digits", None if size > 150 else size)
    panels = {}
    for t in table.trials:
        done = embedded("digits", t["method"], 2, t["kernel"], None if size > 150 else size)
        form = "centered" if "centered" in t["method"] else "as the text has it"
        title = f"{t['kernel'].replace('_', ' ')}\n{form}"
        panels[title] = (done.coordinates, f"5-NN {t['ordered']:.3f}")
    return pictures(panels, data.y, path)


EXPERIMENT = classify(__doc__, ("kernel", "M", "method"), draw, cells, minutes=0.5)
