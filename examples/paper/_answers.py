"""Tables of results/README.md, written anew from the stored trials after each run.

A line ``<!-- table NAME -->`` in that file stands before a table.
"""

import re
from itertools import product
from pathlib import Path

import numpy as np

from ikd_graph._base.files import write_whole

from . import load
from ._lab import Table, column, key_of
from ._real import KERNEL_PCA
from ._recovery import FEW, KERNELS

README = Path(__file__).parent / "results" / "README.md"
IKD, GPLVM = "published IKD", "published GPLVM"
SIZES = {f"N = {n}": {"N": n} for n in (100, 200, 500, 1000, 2000, 5000, 10000)}
WITH_GPLVM = [f"N = {n}" for n in (100, 200, 1000)]


class Stored:
    """Trials of an experiment, averaged over cells that a column of a table asks for."""

    def __init__(self, name, folder):
        experiment = load(name)
        self.table = Table.read(name, experiment, folder)
        self.by, self.measure = experiment.by, experiment.measure
        self.cells = self.table.cells()

    def _fits(self, at, wanted):
        return all(key_of([dict(zip(self.by, at, strict=True))[k]]) == key_of([v])
                   for k, v in wanted.items())  # fmt: skip

    def ours(self, methods, wanted, measure=None, fewest=None):
        """Mean over cells, of the first trials if a number is given; NaN where nothing was run.

        Of several methods the best of each cell counts.
        """
        named = (methods,) if isinstance(methods, str) else methods
        best = {}
        for at, trials in self.cells.items():
            if at[-1] in named and self._fits(at, wanted):
                first = [t for t in trials if fewest is None or t["trial"] < fewest]
                values = column(first, measure or self.measure)
                if values.size:
                    best[at[:-1]] = max(values.mean(), best.get(at[:-1], -np.inf))
        return float(np.mean(list(best.values()))) if best else np.nan

    def published(self, methods, wanted):
        """Mean over cells of the best published value of some methods."""
        best = {}
        for key, (mean, _) in self.table.published().items():
            if key[-1] in methods and self._fits(key, wanted):
                best[key[:-1]] = max(mean, best.get(key[:-1], -np.inf))
        return float(np.mean(list(best.values()))) if best else np.nan

    def counts(self, method, names, wanted):
        """Cells above, within and below published values by two standard errors."""
        values = self.table.differences(method, names)
        found = np.array([v for at, v in values.items() if self._fits((*at, method), wanted)])
        return int(np.sum(found > 2)), int(np.sum(abs(found) <= 2)), int(np.sum(found < -2))


def lines(head, rows, digits=3):
    """Markdown table; a value that is not known is a dash."""

    def text(value):
        if isinstance(value, float):
            return f"{value:.{digits}f}" if np.isfinite(value) else "-"
        return str(value)

    return ["| | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|",
            *("| " + " | ".join(map(text, row)) + " |" for row in rows)]  # fmt: skip


def pivot(folder, name, methods, columns, rivals=(), where=()):
    """Methods by columns, after rows of published values."""
    stored = Stored(name, folder)
    wanted = {label: {**dict(where), **cell} for label, cell in columns.items()}
    rows = [[label, *(stored.published(names, w) for w in wanted.values())]
            for label, names in rivals]  # fmt: skip
    found = [[named(m), *(stored.ours(m, w) for w in wanted.values())] for m in methods]
    return lines(columns, rows + [row for row in found if np.isfinite(row[1:]).any()])


def named(method):
    """Name of a row."""
    return "kernel PCA, its best kernel" if method == KERNEL_PCA else f"`{method}`"


def accuracy(folder):
    """Fig. 4: means over latents and kernels, and cells that differ by two errors."""
    methods = ("ikd", "ikd_kernel", "ikd_kernel_12_restarts", "geodesic_stress", "blockwise",
               "geodesic", "published_form", "paper_blockwise")  # fmt: skip
    stored = Stored("fig4", folder)
    rows = [[label, *(stored.published(names, cell) for cell in SIZES.values()), "", ""]
            for label, names in ((IKD, ("ikd",)), (GPLVM, ("gplvm",)))]  # fmt: skip
    for method in methods:
        above, within, below = stored.counts(method, ("ikd",), {})
        both = stored.counts(method, ("ikd", "gplvm"), {})
        means = (stored.ours(method, cell) for cell in SIZES.values())
        counts = [f"{n} of {above + within + below}" for n in (below, both[0])]
        rows.append([f"`{method}`", *means, *counts])
    return lines([*SIZES, "below published IKD", "above published IKD and GPLVM"], rows)


def gplvm(folder):
    """Fig. 4: the GPLVM of GPy on the same data sets."""
    stored, rows = Stored("fig4", folder), []
    for method in ("gplvm", "ikd", "ikd_kernel", "geodesic_stress"):
        row = ["GPLVM of GPy" if method == "gplvm" else f"`{method}`"]
        for cell in (SIZES[size] for size in WITH_GPLVM):
            row += [stored.ours(method, cell, m, FEW) for m in ("r2_affine", "cpu_seconds")]
        rows.append(row)
    return lines([f"{n}{m}" for n in WITH_GPLVM for m in (": R2", ", s")], rows)


def paired(folder):
    """Differences from the published IKD on the same samples, with their errors."""
    stored, rows = Stored("paired", folder), []
    for method in ("ikd", "ikd_kernel", "blockwise", "geodesic"):
        row = [f"`{method}`"]
        for cell in SIZES.values():
            own = [t for t in stored.table.trials if (t["method"], t["N"]) == (method, cell["N"])]
            found = column(own, "above published ikd")
            error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else np.nan
            row.append(f"{np.mean(found):+.3f} ± {error:.3f}" if len(found) else "-")
        rows.append(row)
    return lines(SIZES, rows)


def noise(folder):
    """Fig. 5: R2 by noise."""
    methods = ("ikd", "ikd_kernel", "blockwise", "geodesic", "isomap", "gplvm")
    columns = {f"N = {n}: {sd}" if sd == 0 else f"{n}: {sd}": {"N": n, "noise": sd}
               for n, sd in product((100, 1000), (0, 0.4, 0.8, 1))}  # fmt: skip
    return pivot(folder, "fig5", methods, columns, [("public code, run again", ("ikd",))])


def cases(folder):
    """Fig. 6 at N = 1000."""
    stored = Stored("fig6", folder)
    methods = ("paper_blockwise", "paper_geodesic", "blockwise", "geodesic", "ikd_kernel", "ikd")
    rows = []
    for case in ("match", "mismatch"):
        cell = {"case": case, "N": 1000}
        rivals = (stored.published((m,), cell) for m in ("blockwise", "geodesic"))
        rows.append([case, *rivals, *(stored.ours(m, cell) for m in methods)])
    head = ["published blockwise", "published geodesic", *map(named, methods)]
    return lines(head, rows)


def mappings(folder):
    """Fig. 2: R2 by mapping and N."""
    stored, rows = Stored("fig2", folder), []
    sizes = (10, 20, 100, 1000)
    for mapping in ("gp", "sine", "bump_l1", "bump"):
        row = [mapping]
        for n in sizes:
            cell = {"mapping": mapping, "N": n}
            row.append(stored.published(("ikd",), cell))
            row += [stored.ours(m, cell) for m in ("ikd", "isomap")]
        rows.append(row)
    head = product(sizes, ("published IKD", "`ikd`", "`isomap`"))
    return lines([f"N = {n}: {name}" for n, name in head], rows)


def kernels(folder):
    """Mismatch: data of each kernel, solved with each."""
    stored, rows = Stored("mismatch", folder), []
    sizes = ((100, "N = 100: "), (1000, "N = 1000: "))
    words = {name: name.replace("_", " ") for name in KERNELS}
    columns = [(n, label + words[k], k) for (n, label), k in product(sizes, KERNELS)]
    for method, solve in (("ikd", "auto"), *product(("ikd_kernel",), KERNELS)):
        where = [{"N": n, "solved with": solve, "generated by": k} for n, _, k in columns]
        label = f"`{method}`" if solve == "auto" else f"`{method}`, {words[solve]}"
        rows.append([label, *(stored.ours(method, cell) for cell in where)])
    return lines([label for _, label, _ in columns], rows)


def classes(folder):
    """Fig. 7 to 13: four data sets in the plane, two in ten dimensions."""
    plane = {"PCR": "fig8", "digits": "fig9", "COIL-20": "fig10", "Fashion-MNIST": "fig11"}
    where = {label: (name, {}) for label, name in plane.items()}
    where["the same, T = 4000"] = ("fig13", {"M": 2, "T": 4000})
    where["the same, M = 10"] = ("fig13", {"M": 10, "T": 4000})
    where["digits, M = 10"] = ("fig7", {"M": 10, "data": "digits", "k": 5})
    methods = ("ikd", "ikd_kernel", "paper_geodesic_centered", "gplvm", "vae", KERNEL_PCA,
               "isomap", "tsne", "umap")  # fmt: skip
    rows = []
    for label, (name, cell) in where.items():
        stored = Stored(name, folder)
        ours = (stored.ours(m, cell) for m in methods)
        rows.append([label, stored.published(("ikd",), cell), *ours])
    return lines([IKD, *map(named, methods)], rows)


def study(folder):
    """The comparison study's roll, moons and faces."""
    methods = ("ikd", "blockwise", "geodesic", "paper_geodesic_centered", "pca", "isomap", "lle",
               "diffusion_maps", "tsne", "umap")  # fmt: skip
    rows = []
    for label, name in {"Swiss roll: R2": "swiss_roll", "moons: a line separates": "half_moons",
                        "faces: 5 neighbors": "faces"}.items():  # fmt: skip
        stored = Stored(name, folder)
        rows.append([label, *(stored.ours(m, {}) for m in methods)])
    rows.append(["faces, the study", *(stored.published((m,), {}) for m in methods)])
    return lines([*map(named, methods)], rows)


TABLES = {f.__name__: f for f in (accuracy, paired, gplvm, cases, noise, mappings, kernels, classes,
                                  study)}  # fmt: skip


def written(text, folder=README.parent):
    """Text of the page with its tables from the trials of a folder."""
    for name, make in TABLES.items():
        table = "\n".join([f"<!-- table {name} -->", *make(folder)])
        text, times = re.subn(
            rf"<!-- table {name} -->\n(\|.*\n)*", lambda _, t=table: t + "\n", text
        )
        if times != 1:
            raise ValueError(f"{README.name} needs one line <!-- table {name} -->, has {times}")
    return text


def write():
    """Write the tables of the page."""
    return write_whole(README, written(README.read_text(encoding="utf-8")))
