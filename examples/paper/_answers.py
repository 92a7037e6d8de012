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


def cells(folder):
    """Fig. 4: cells in which methods differ from published values by two errors."""
    stored, rows = Stored("fig4", folder), []
    for method in ("ikd", "ikd_kernel", "ikd_kernel_12_restarts", "geodesic_stress", "blockwise",
                   "geodesic", "published_form", "paper_blockwise"):  # fmt: skip
        above, within, below = stored.counts(method, ("ikd",), {})
        both = stored.counts(method, ("ikd", "gplvm"), {})
        rows.append([f"`{method}`", sum(both), below, within, above, both[0]])
    head = ["cells", "below published IKD", "within two errors", "above it"]
    return lines([*head, "above published IKD and GPLVM"], rows)


def accuracy(folder):
    """Fig. 4: means over latents and kernels."""
    methods = ("ikd", "ikd_kernel", "geodesic_stress", "blockwise", "geodesic",
               "published_form", "paper_blockwise")  # fmt: skip
    rivals = ((IKD, ("ikd",)), (GPLVM, ("gplvm",)),
              ("the better of both in each cell", ("ikd", "gplvm")))  # fmt: skip
    return pivot(folder, "fig4", methods, SIZES, rivals)


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
    for method in ("ikd", "ikd_kernel", "blockwise", "geodesic", "published_form"):
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
    methods = ("ikd", "ikd_kernel", "blockwise", "geodesic", "published_form", "isomap", "pca",
               "gplvm")  # fmt: skip
    columns = {f"N = {n}: {sd}" if sd == 0 else f"{n}: {sd}": {"N": n, "noise": sd}
               for n, sd in product((100, 1000), (0, 0.4, 0.8, 1))}  # fmt: skip
    return pivot(folder, "fig5", methods, columns, [("public code, run again", ("ikd",))])


def cases(folder):
    """Fig. 6 at N = 1000."""
    methods = ("paper_blockwise", "paper_geodesic", "blockwise", "geodesic", "ikd_kernel", "ikd")
    rivals = [(f"published {m}", (m,)) for m in ("blockwise", "geodesic")]
    columns = {case: {"case": case} for case in ("match", "mismatch")}
    return pivot(folder, "fig6", methods, columns, rivals, {"N": 1000})


def mappings(folder):
    """Fig. 2: R2 by mapping and N."""
    stored, rows = Stored("fig2", folder), []
    sizes = {f"N = {n}": {"N": n} for n in (10, 20, 50, 100, 200, 500, 1000)}
    rivals = {IKD: "ikd"}
    methods = ("ikd", "isomap", "gplvm")
    for mapping in ("gp", "sine", "bump_l1", "bump"):
        cells = [{"mapping": mapping, **size} for size in sizes.values()]
        found = [[label, *(stored.published((key,), cell) for cell in cells)]
                 for label, key in rivals.items()]  # fmt: skip
        found += [[named(m), *(stored.ours(m, cell) for cell in cells)] for m in methods]
        rows += [[f"{mapping}: {name}", *values] for name, *values in found
                 if np.isfinite(values).any()]  # fmt: skip
    return lines(sizes, rows)


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


def dimensions(folder):
    """Table 2: digits by dimension."""
    columns = {f"M = {m}": {"M": m} for m in (2, 3, 5, 10)}
    stored = Stored("table2", folder)
    rows = []
    for kernel in ("squared_exponential", "rational_quadratic", "gamma_exponential"):
        wanted = [{**cell, "k": 5, "kernel": kernel} for cell in columns.values()]
        name = kernel.replace("_", " ")
        rows.append([f"{IKD}, {name}", *(stored.published(("ikd",), w) for w in wanted)])
        rows += [[f"`{m}`, {name}", *(stored.ours(m, w) for w in wanted)]
                 for m in ("paper_geodesic_centered", "ikd_kernel")]  # fmt: skip
    wanted = [{**cell, "k": 5, "kernel": "auto"} for cell in columns.values()]
    return lines(columns, [["`ikd`", *(stored.ours("ikd", w) for w in wanted)], *rows])


def classes(folder):
    """Fig. 8 to 11 and 13: four data sets in the plane, one in ten dimensions."""
    names = {"PCR": "fig8", "digits": "fig9", "COIL-20": "fig10", "Fashion-MNIST": "fig11"}
    stored = [(Stored(name, folder), {}) for name in names.values()]
    large = [(Stored("fig13", folder), {"M": m, "T": 4000}) for m in (2, 10)]
    names = [*names, "Fashion-MNIST, T = 4000", "the same, M = 10"]
    stored += large
    rows = [
        [f"published {label}", *(s.published((key,), w) for s, w in stored)]
        for label, key in (
            ("IKD", "ikd"),
            ("GPLVM", "gplvm"),
            ("VAE", "vae"),
            ("UMAP", "umap"),
            ("t-SNE", "tsne"),
            ("kernel PCA", "kernel_pca"),
        )
    ]
    methods = ("ikd", "paper_geodesic_centered", "paper_geodesic", "gplvm", "vae", "pca",
               KERNEL_PCA, "isomap", "laplacian_eigenmaps", "tsne", "umap")  # fmt: skip
    rows += [[named(m), *(s.ours(m, w) for s, w in stored)] for m in methods]
    return lines(names, rows)


def study(folder):
    """The comparison study's roll, moons and faces."""
    roll, moons, images = (Stored(n, folder) for n in ("swiss_roll", "half_moons", "faces"))
    methods = ("ikd", "blockwise", "geodesic", "paper_geodesic_centered", "pca", "metric_mds",
               "isomap", "lle", "diffusion_maps", "tsne", "umap")  # fmt: skip
    rows = [[f"`{m}`", roll.ours(m, {}), roll.ours(m, {}, "trustworthiness"), moons.ours(m, {}),
             images.ours(m, {}), images.published((m,), {})] for m in methods]  # fmt: skip
    head = ["roll: R2", "trustworthiness", "moons: a line separates"]
    return lines([*head, "faces: 5 neighbors", "faces, the study"], rows)


TABLES = {
    f.__name__: f
    for f in (cells, accuracy, paired, gplvm, cases, noise, mappings, kernels, dimensions,
              classes, study)
}  # fmt: skip


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
