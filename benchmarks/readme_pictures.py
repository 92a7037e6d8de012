"""Pictures and numbers of the README: ``python benchmarks/readme_pictures.py [--quick]``.

Writes into docs/static/readme: the pictures, and numbers.json with every figure that the README
names. Seconds are those of the processor, on one thread. ``--quick`` draws small versions of all of
them, as a test does; ``--only speed`` draws one picture again.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import multiprocessing
import os
import platform
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Before NumPy is loaded: with several threads, seconds of the processor would be those of all.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import networkx as nx
import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

import ikd_graph
from ikd_graph import IKD, cliques, covariance, datasets, graph, kernels, metrics
from ikd_graph.plotting import colors

HERE = Path(__file__).parent
FOLDER = HERE.parent / "docs" / "static" / "readme"


def umap():
    """UMAP with a seed."""
    from umap import UMAP

    return UMAP(random_state=0, n_jobs=1)


def open_tsne():
    """The fast t-SNE of openTSNE."""
    from openTSNE.sklearn import TSNE

    return TSNE(random_state=0, n_jobs=1)


def isomap():
    """Isomap with as many neighbors as IKD often takes."""
    return Isomap(n_neighbors=10)


METHODS = {"PCA": lambda: PCA(2), "Isomap": isomap, "UMAP": umap, "openTSNE": open_tsne, "IKD": IKD}


def installed(names):
    """Those of the methods that can be imported."""
    available = []
    for name in names:
        try:
            METHODS[name]()
        except ImportError:
            print(f"{name} is not installed and is left out")
        else:
            available.append(name)
    return available


def figure_eight(n_points, noise, seed=0):
    """A figure of eight behind 200 smooth columns with noise, and the angle of every point."""
    angle = np.linspace(0.0, 2.0 * np.pi, n_points, endpoint=False)
    latent = 1.8 * np.c_[np.sin(angle), np.sin(2.0 * angle)]
    kernel = kernels.SquaredExponential()
    return datasets.gplvm_data(latent, 200, kernel=kernel, noise=noise, seed=seed), angle


def fit(name, X):
    """Coordinates, processor seconds and the model."""
    start = time.process_time()
    model = METHODS[name]()
    Z = model.fit_transform(X)
    return Z, time.process_time() - start, model


def superimpose(Z, latent):
    """A similarity (rotation, reflection, scale) that turns ``Z`` to the true latent."""
    A, B = Z - Z.mean(axis=0), latent - latent.mean(axis=0)
    U, s, Vt = np.linalg.svd(A.T @ B)
    scale = s.sum() / (A**2).sum()
    return scale * A @ U @ Vt, scale, U @ Vt


def seconds_text(seconds):
    """Seconds with two digits at most: "3.2 s", "0.2 s", "0.004 s"."""
    return f"{seconds:.1g} s" if seconds < 1.0 else f"{seconds:.1f} s"


def caption(ax, title, below=""):
    """A bare picture with words above and below it."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=15, fontweight="bold", color=colors.INK)
    ax.set_xlabel(below, fontsize=13, color=colors.INK)


def scatter(ax, Z, title="", below="", **style):
    """Points in equal units, without axes."""
    drawn = ax.scatter(*Z.T, **{"linewidths": 0, "zorder": 2} | style)
    ax.set_aspect("equal", adjustable="datalim")
    caption(ax, title, below)
    return drawn


def ellipses(ax, Z, half, turn, angle):
    """95 % intervals along the axes of the model, turned as the picture is."""
    degrees = np.degrees(np.arctan2(turn[0, 1], turn[0, 0]))
    drawn = EllipseCollection(
        2.0 * half[:, 0], 2.0 * half[:, 1], np.full(len(Z), degrees), units="xy",
        offsets=Z, transOffset=ax.transData, cmap="twilight", alpha=0.25, linewidths=0,
    )  # fmt: skip
    drawn.set_array(angle)
    ax.add_collection(drawn)


def states_incomes():
    """Yearly incomes of 48 states from 1929 to 2009, their places and regions (libpysal)."""
    from libpysal.io import open as open_file

    folder = Path(importlib.util.find_spec("libpysal").origin).parent / "examples" / "us_income"
    with open(folder / "usjoin.csv", newline="") as file:
        _, *rows = csv.reader(file)
    incomes = np.array([[float(value) for value in row[2:]] for row in rows])
    shapes, facts = (open_file(str(folder / f"us48.{kind}")) for kind in ("shp", "dbf"))
    name, region = (facts.header.index(each) for each in ("STATE_NAME", "SUB_REGION"))
    both = zip(shapes, facts, strict=True)
    places = {fact[name]: (*shape.centroid, fact[region]) for shape, fact in both}
    longitude, latitude, regions = zip(*(places[row[0]] for row in rows), strict=True)
    # Degrees of longitude are shorter than those of latitude.
    place = np.c_[np.cos(np.radians(39.0)) * np.array(longitude), latitude]
    return incomes, place, np.unique(regions, return_inverse=True)[1]


def hero(quick):
    """Draw digits, incomes of states and a noisy curve by four methods, and the truth."""
    X, y = load_digits(return_X_y=True)
    X, y = (X[:200], y[:200]) if quick else (X, y)
    names, numbers, rows = installed(["PCA", "Isomap", "UMAP", "IKD"]), {}, 3
    try:
        incomes, places, region = states_incomes()
    except (ImportError, AttributeError):
        print("libpysal is not installed: the states are left out")
        rows = 2
    figure = Figure(figsize=(2.6 * (len(names) + 1), 2.9 * rows), layout="constrained")
    axes = figure.subplots(rows, len(names) + 1)

    def timed(name, table, measure, what, label):
        fit(name, table[:60])  # compiles
        Z, seconds, model = fit(name, table)
        value = measure(Z)
        numbers[f"{label} {name}"] = {what: value, "seconds": seconds}
        return Z, model, f"{what} {value:.2f}, {seconds_text(seconds)}"

    style = {"s": 3, "c": [colors.class_color(k) for k in y]}
    for name, ax in zip(names, axes[0], strict=False):
        Z, _, text = timed(name, X, lambda Z: metrics.knn_accuracy(Z, y), "5-NN", "digits")
        scatter(ax, Z, name, text, **style)
    first = [X[np.flatnonzero(y == digit)[0]].reshape(8, 8) for digit in range(10)]
    lines = [np.hstack([np.pad(each, 1) for each in first[k : k + 4]]) for k in (0, 3, 6)]
    axes[0, -1].imshow(np.vstack(lines), cmap="Greys")
    caption(axes[0, -1], "the truth", "some of the images")
    data, angle = figure_eight(80 if quick else 240, noise=0.7)
    for name, ax in zip(names, axes[-1], strict=False):
        Z, model, text = timed(
            name, data.X, lambda Z: metrics.affine_r2(data.latent, Z), "R²", "curve"
        )
        aligned, scale, turn = superimpose(Z, data.latent)
        errors = getattr(model, "standard_errors_", None)
        if errors is not None:
            ellipses(ax, aligned, scale * 1.96 * errors, turn, angle)
        scatter(ax, aligned, "", text, s=7, c=angle, cmap="twilight")
    scatter(axes[-1, -1], data.latent, "", "the true curve", s=7, c=angle, cmap="twilight")
    if rows == 3:
        style = {"s": 26, "c": [colors.class_color(k) for k in region]}
        for name, ax in zip(names, axes[1], strict=False):
            Z, _, text = timed(
                name, incomes, lambda Z: metrics.held_out_r2(Z, places), "R²", "states"
            )
            scatter(ax, superimpose(Z, places)[0], "", text, **style)
        scatter(axes[1, -1], places, "", "their places", **style)
        axes[1, 0].set_ylabel("incomes of 48 states", fontsize=12)
    axes[0, 0].set_ylabel(f"{len(X)} handwritten digits", fontsize=12)
    axes[-1, 0].set_ylabel("a noisy figure of eight", fontsize=12)
    return {"hero": figure}, numbers


def idea(quick):
    """Covariance, its graph, cliques and a shortest path on it, coordinates."""
    data, angle = figure_eight(40 if quick else 70, noise=0.7, seed=1)
    X, latent = data.X, data.latent
    correlations = covariance.correlation(X)
    thresholded = graph.threshold(correlations, 0.4)
    source, target, _ = graph.edges(thresholded)
    lines = np.stack([latent[source], latent[target]], axis=1)
    n_pairs = len(X) * (len(X) - 1) // 2
    path = nx.shortest_path(graph.to_networkx(thresholded), 5, len(X) // 2 - 8)
    members = max(cliques.maximal_cliques(thresholded), key=len)
    model = IKD(strategy="geodesic", graph=thresholded, affinity="correlation", refine=None).fit(X)

    def matrix(ax):
        ax.imshow(correlations, cmap="Blues", vmin=0, vmax=1)
        caption(ax, "1  covariance", "how similar each pair of rows is")

    def edges(ax):
        ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=0.3, zorder=1))
        text = f"the {len(source)} largest of {n_pairs} values"
        scatter(ax, latent, "2  graph", text, s=18, c=angle, cmap="twilight")

    def clique_and_path(ax):
        ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=0.1, zorder=1))
        scatter(ax, latent, "3  cliques or paths", "blockwise, or geodesic", s=10, c=colors.MUTED)
        ax.scatter(*latent[members].T, s=40, c=colors.ACCENT, zorder=3)
        ax.plot(*latent[path].T, color=colors.SECOND, linewidth=3, marker="o", zorder=4)

    def coordinates(ax):
        aligned, _, _ = superimpose(model.embedding_, latent)
        style = {"s": 18, "c": angle, "cmap": "twilight"}
        scatter(ax, aligned, "4  coordinates", "one eigendecomposition", **style)

    panels = (matrix, edges, clique_and_path, coordinates)
    figure = Figure(figsize=(12.4, 3.4), layout="constrained")
    figures = {"idea": figure}
    for number, (draw, ax) in enumerate(zip(panels, figure.subplots(1, 4), strict=True), 1):
        draw(ax)
        figures[f"idea_{number}"] = alone = Figure(figsize=(3.6, 3.4), layout="constrained")
        draw(alone.subplots())
        alone.axes[0].set_title("")
    return figures, {}


def compare(quick):
    """Blockwise and geodesic on the same graph: where they disagree, and scores under noise."""
    data, _ = figure_eight(60 if quick else 150, noise=0.5)
    levels = (0, 1) if quick else (0, 0.5, 1, 1.5)
    comparison = ikd_graph.compare(data, refine=None, noise=levels)
    table = comparison.points()
    figure = Figure(figsize=(10.4, 3.3), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=(1, 1, 1.2))
    for ax, name in zip(axes, ("blockwise", "geodesic"), strict=False):
        Z = np.c_[table[f"{name} ikd0"], table[f"{name} ikd1"]]
        aligned, _, _ = superimpose(Z, data.latent)
        style = {"c": table["disagreement"], "cmap": "viridis", "s": 16}
        drawn = scatter(ax, aligned, name, **style)
    bar = figure.colorbar(drawn, ax=axes[1], shrink=0.75, ticks=[0])
    bar.set_label("disagreement", fontsize=12, color=colors.INK)
    bar.outline.set_visible(False)
    numbers = {}
    for name, color in (("blockwise", colors.ACCENT), ("geodesic", colors.SECOND)):
        rows = [row for row in comparison.rows if row.method == name]
        noise, score, error = np.array([[r.noise, r.score, r.error] for r in rows], float).T
        dodge = 0.01 if name == "geodesic" else -0.01
        bars = 2 * np.nan_to_num(error)
        axes[2].errorbar(noise + dodge, score, bars, c=color, marker="o", capsize=3)
        shift = (4, -16) if name == "geodesic" else (10, 0)
        side = "right" if name == "geodesic" else "left"
        axes[2].annotate(name, (noise[1], score[1]), shift, c=color, fontsize=12,
                         textcoords="offset points", ha=side)  # fmt: skip
        numbers[f"compare {name}"] = {f"R2 at noise {row.noise:g}": row.score for row in rows}
    axes[2].set_xlabel("added noise (standard deviations)", fontsize=12)
    axes[2].set_title("R² of the true latent", fontsize=14, fontweight="bold", color=colors.INK)
    axes[2].spines[["top", "right"]].set_visible(False)
    axes[2].set_xticks(levels)
    return {"compare": figure}, numbers


def columns_in_cliques(quick):
    """Columns of a medical table as a graph; the cliques of it have names."""
    bunch = load_breast_cancer()
    thresholded = graph.threshold(covariance.correlation(bunch.data.T), 0.8)
    largest_first = sorted(cliques.maximal_cliques(thresholded, 3), key=len, reverse=True)
    group = np.full(bunch.data.shape[1], -1)
    for members in largest_first:
        if (group[members] < 0).sum() >= 3:
            group[members[group[members] < 0]] = group.max() + 1
    network = graph.to_networkx(thresholded)
    network = network.subgraph(max(nx.connected_components(network), key=len))
    layout = nx.kamada_kawai_layout(nx.Graph(network.edges))
    figure = Figure(figsize=(10.4, 4.0), layout="constrained")
    ax = figure.subplots()
    lines = [(layout[i], layout[j]) for i, j in network.edges]
    ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=0.35, zorder=1))
    for node, spot in layout.items():
        color = colors.class_color(int(group[node])) if group[node] >= 0 else colors.MUTED
        ax.scatter(*spot, s=90, c=color, zorder=2)
        level = np.mean([layout[neighbor][1] for neighbor in network[node]])
        shift, va = ((0, 8), "bottom") if spot[1] >= level else ((0, -8), "top")
        ax.annotate(bunch.feature_names[node], spot, shift, textcoords="offset points",
                    ha="center", va=va, fontsize=10.5, color=colors.INK)  # fmt: skip
    ax.margins(0.12)
    text = f"columns of {len(bunch.data)} tumours; edges: correlation above 0.8"
    caption(ax, "", text)
    return {"cliques": figure}, {
        "cliques of columns": {"columns": len(group), "cliques": len(largest_first)}
    }


def loadings(quick):
    """Which measures of tumors change most where on their map."""
    bunch = load_breast_cancer(as_frame=True)
    rows = np.arange(len(bunch.data))[:: 4 if quick else 1]
    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    found = IKD(2).fit(bunch.data.iloc[rows]).loadings()
    found.plot(color=bunch.target_names[bunch.target.iloc[rows]], ax=figure.subplots())
    return {"loadings": figure}, {}


def weak(quick):
    """Correlations of rows against what chance gives: with sectors, and of noise alone."""
    rng = np.random.default_rng(0)
    n_rows, n_columns = (30, 100) if quick else (60, 250)
    sectors = np.repeat(rng.normal(size=(n_rows // 10, n_columns)), 10, axis=0)
    market = 1.2 * rng.normal(size=n_columns)
    returns = market + 0.7 * sectors + rng.normal(size=(n_rows, n_columns))
    tables = {
        f"{n_rows} stocks, the market removed": (covariance.remove_mean_row(returns), 1),
        f"{n_rows} rows of noise": (rng.normal(size=(n_rows, n_columns)), 0),
    }
    figure = Figure(figsize=(10.4, 3.3), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True)
    numbers = {}
    for ax, (title, (table, n_removed)) in zip(axes, tables.items(), strict=True):
        diagnosis = ikd_graph.diagnose(table, n_removed=n_removed)
        pairs = covariance.correlation(table)[np.triu_indices(n_rows, 1)]
        _, limits, bars = ax.hist(pairs, np.linspace(-0.35, 0.55, 46), color=colors.RULE)
        middle = (limits[:-1] + limits[1:]) / 2
        error = (diagnosis.n_effective - 1.0) ** -0.5
        chance = norm.pdf(middle, 0, error) * len(pairs) * np.diff(limits)
        ax.plot(middle, chance, color=colors.INK, linewidth=1.5, label="chance alone")
        significant = diagnosis.n_trusted
        if significant:
            lowest = np.abs(diagnosis.trusted_correlations).min()
            for bar, center in zip(bars, middle, strict=True):
                if abs(center) >= lowest:
                    bar.set_color(colors.ACCENT)
        ax.set_title(title, fontsize=14, fontweight="bold", color=colors.INK)
        agree = np.isfinite(diagnosis.agreement)
        expected = f"halves agree by R² {diagnosis.agreement:.2f}" if agree else ""
        pairs_text = f"{significant} significant pairs" if significant else "nothing to see"
        text = f"{pairs_text} (p = {diagnosis.p_value:.2g})\n{expected}"
        ax.text(0.97, 0.8, text, transform=ax.transAxes, ha="right",
                fontsize=12, color=colors.ACCENT if significant else colors.INK)  # fmt: skip
        ax.set_xlabel("correlation of two rows", fontsize=12)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_yticks([])
        numbers[title] = {
            "significant pairs": significant,
            "agreement of halves": diagnosis.agreement,
            "p value": diagnosis.p_value,
            "pairs": len(pairs),
        }
    axes[0].legend(frameon=False, loc="upper left", fontsize=11, handlelength=1)
    axes[0].set_ylabel("pairs", fontsize=12)
    return {"weak": figure}, numbers


def two_fits(name, n_rows):
    """Processor seconds of the first fit of this process and of the next."""
    X = load_digits().data[:n_rows]
    warnings.simplefilter("ignore")
    return fit(name, X)[1], fit(name, X)[1]


def in_new_process(name, n_rows):
    """`two_fits` in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(two_fits, name, n_rows).result()


def speed(quick):
    """First and later fits of the digits, and seconds by rows from cost_curves.csv."""
    names = installed(["PCA", "IKD"] if quick else list(METHODS))
    n_rows = 200 if quick else 1797
    in_new_process("IKD", 100)  # fills the cache of compiled code
    fits = {name: in_new_process(name, n_rows) for name in names}
    with tempfile.TemporaryDirectory() as empty:
        os.environ["NUMBA_CACHE_DIR"] = empty
        compiling = None if quick else in_new_process("IKD", n_rows)[0]
        del os.environ["NUMBA_CACHE_DIR"]
    numbers = {f"speed {name}": {"first": f, "later": n} for name, (f, n) in fits.items()}
    numbers["speed IKD"]["first of all, compiling"] = compiling
    figure = Figure(figsize=(10.4, 2.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
    for level, (name, (first, later)) in enumerate(fits.items()):
        color = colors.ACCENT if name == "IKD" else colors.MUTED
        for shift, seconds, alpha in ((-0.2, first, 0.45), (0.2, later, 1.0)):
            left.barh(level + shift, seconds, 0.36, color=color, alpha=alpha, linewidth=0)
            left.annotate(seconds_text(seconds), (seconds, level + shift), (4, 0), fontsize=10,
                          textcoords="offset points", va="center")  # fmt: skip
    left.set_yticks(range(len(fits)), list(fits), fontsize=12)
    left.invert_yaxis()
    left.margins(x=0.12)
    left.set_title(f"{n_rows} digits: first fit (pale), later fits", fontsize=13, color=colors.INK)
    with open(HERE / "cost_curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    curves = {"geodesic, 300 landmarks": "geodesic", "blockwise": "blockwise"}
    for (strategy, label), color in zip(
        curves.items(), (colors.SECOND, colors.ACCENT), strict=True
    ):
        line = [(int(row["points"]), float(row["seconds"])) for row in rows
                if row["strategy"] == strategy and row["points"] != "500"]  # fmt: skip
        right.loglog(*zip(*line, strict=True), color=color, marker="o", markersize=4)
        shift, side = ((8, -14), "left") if label == "geodesic" else ((-8, 4), "right")
        right.annotate(label, line[-4], shift, ha=side, color=color, fontsize=12,
                       textcoords="offset points")  # fmt: skip
        numbers[f"cost {label}"] = {f"{n} points": s for n, s in line}
    right.set_xticks([1e3, 1e4, 1e5], ["1000", "10 000", "100 000"])
    right.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    right.set_title("seconds by number of points, unrefined", fontsize=13, color=colors.INK)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    left.set_xlabel("seconds", fontsize=11)
    return {"speed": figure}, numbers


DRAWINGS = {
    "hero": hero, "idea": idea, "compare": compare,
    "cliques": columns_in_cliques, "loadings": loadings, "weak": weak, "speed": speed,
}  # fmt: skip


def save(figure, path):
    """A PNG of 256 colors: a third of the bytes, and no difference to see."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=110, facecolor="white")
    picture = Image.open(buffer).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def main():
    """Draw the pictures, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small versions")
    parser.add_argument("--only", choices=DRAWINGS, nargs="+", default=list(DRAWINGS))
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder (%(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    options.output.mkdir(parents=True, exist_ok=True)
    measured = {"Python": platform.python_version(), "processor": platform.machine()}
    for name in options.only:
        figures, numbers = DRAWINGS[name](options.quick)
        for title, figure in figures.items():
            save(figure, options.output / f"{title}.png")
        measured |= numbers
        print(name, json.dumps(numbers, default=float))
    file = options.output / "numbers.json"
    earlier = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(earlier | measured, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
