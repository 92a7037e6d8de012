"""Pictures and numbers of the README: ``python benchmarks/shown/readme_pictures.py [--quick]``.

Writes into docs/static/readme: the pictures (those of the three jobs are drawn by the commands
below them), and numbers.json with every figure that the README names. ``--quick`` draws small
versions of all of them, as a test does; ``--only eight`` makes one part again.

The heading of an animal: spikes of 19 cells in 1600 bins, of $IKD_GRAPH_DATA/head_direction.npz
(Peyrache laboratory), four bins added up. Every method embeds the counts as they are, and the angle
around the middle of its map is turned and mirrored onto the heading; the error is the median over
bins; standard errors of differences are by 1000 draws of stretches of 20 bins. The columns are
shuffled 300 times, one by one; of the first 100 loops are counted, and the picture has that of
these whose p value is the median.

Rules of the figure of eight, fixed before a result was seen: 150 rows, 200 columns and noise of the
variance of the signal; the picture is of seed 0, means are over the 20 seeds that follow. A peer is
measured under each of `SETTINGS`, its default first, and the truth chooses the best of them. IKD is
measured by default. t-SNE by default ends in one of two shapes of the eight, R² 0.5 or 0.99, which
rounding errors decide: its mean was 0.82 on another machine, and that of UMAP, which has a seed,
0.52.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import networkx as nx
import numpy as np
from _commit import measured as measured_at
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, Isomap
from sklearn.preprocessing import scale

import ikd_graph
from ikd_graph import IKD, cliques, covariance, graph, metrics
from ikd_graph.datasets import figure_eight
from ikd_graph.plotting import colors

README = Path(__file__).parents[2] / "README.md"
FOLDER = README.parent / "docs" / "static" / "readme"
WIDTH = 7.0  # inches of every picture; with DPI and sizes of text it can be read on a phone
DPI = 150
LOOK = {
    "font.size": 13, "axes.titlesize": 16, "axes.titleweight": "bold", "figure.titlesize": 15,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": colors.MUTED,
    "xtick.color": colors.INK, "ytick.color": colors.INK, "text.color": colors.INK,
    "axes.labelcolor": colors.INK,
}  # fmt: skip
BETWEEN = ("euclidean", "correlation")
NEIGHBORS = (5, 10, 15, 30, 50)


def umap(X, seed=0, **settings):
    """Embed by UMAP with a seed."""
    from umap import UMAP

    return UMAP(random_state=seed, n_jobs=1, **settings).fit_transform(X)


def pca(X, seed=0, metric="euclidean"):
    """Embed by principal components, of standardized rows for correlations."""
    return PCA(2).fit_transform(X if metric == "euclidean" else scale(X, axis=1))


METHODS = {
    "PCA": pca,
    "Isomap": lambda X, seed=0, **settings: Isomap(**settings).fit_transform(X),
    "UMAP": umap,
    "t-SNE": lambda X, seed=0, **settings: TSNE(random_state=seed, **settings).fit_transform(X),
    "IKD": lambda X, seed=0: IKD().fit_transform(X),
}
SETTINGS = {
    "PCA": [{"metric": each} for each in BETWEEN],
    "Isomap": [{"n_neighbors": k, "metric": each} for each in BETWEEN for k in NEIGHBORS],
    "UMAP": [{"n_neighbors": k, "metric": each} for each in BETWEEN for k in (15, 5, 10, 30, 50)],
    "t-SNE": [{"perplexity": k, "metric": each} for each in BETWEEN for k in (30, 15, 50)],
    "IKD": [{}],
}


def largest(settings):
    """Largest number of neighbors in settings."""
    return max([value for value in settings.values() if isinstance(value, int)], default=0)


def measured(name, X, score, quick, seeds=(0,), fitted=None, default=False):
    """Scores of a method by default and at best: the latter's settings, map, and spread.

    ``fitted`` is the model of IKD, where there is one already; with ``default`` the map is that.
    """
    tried = [each for each in SETTINGS[name] if largest(each) < len(X)][:: 4 if quick else 1]
    seeds = seeds if name == "UMAP" else seeds[:1]
    if name == "IKD" and fitted is not None:
        maps = [[fitted.embedding_]]
    else:
        maps = [[METHODS[name](X, seed, **each) for seed in seeds] for each in tried]
    scores = np.array([[score(Z) for Z in drawn] for drawn in maps])
    best = int(scores.mean(axis=1).argmax())
    record = {
        "default": scores[0].mean(), "best": scores[best].mean(), "settings": tried[best],
        "least": scores[best].min(), "most": scores[best].max(),
    }  # fmt: skip
    return record, maps[0 if default else best][0]


def installed():
    """Names of the methods that can be imported."""
    if importlib.util.find_spec("umap") is None:
        print("UMAP is not installed and is left out")
        return [name for name in METHODS if name != "UMAP"]
    return list(METHODS)


def shades(values, period=None):
    """Colors of a quantity, as the package paints it."""
    paint = colors.paint(values, period=period)
    scaled = (np.asarray(values) - paint.ends[0]) / np.subtract(*paint.ends[::-1])
    return LinearSegmentedColormap.from_list("ikd_graph", paint.stops)(scaled)


def around(data):
    """Colors of the points of a figure of eight."""
    return shades(data.labels[0].y, data.labels[0].period)


def superimpose(Z, latent):
    """A similarity (rotation, reflection, scale) that turns ``Z`` to the true latent."""
    A, B = Z - Z.mean(axis=0), latent - latent.mean(axis=0)
    U, s, Vt = np.linalg.svd(A.T @ B)
    factor = s.sum() / (A**2).sum()
    return factor * A @ U @ Vt, factor, U @ Vt


def caption(ax, title, below=""):
    """A bare picture with words above and below it."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.set_title(title)
    ax.set_xlabel(below)


def scatter(ax, Z, title="", below="", **style):
    """Points in equal units, without axes."""
    ax.scatter(*Z.T, **{"linewidths": 0, "zorder": 2} | style)
    ax.set_aspect("equal", adjustable="datalim")
    caption(ax, title, below)


def ellipses(ax, Z, half, turn, shade):
    """Intervals of half widths along the axes of the model, turned as the picture is."""
    degrees = np.degrees(np.arctan2(turn[0, 1], turn[0, 0]))
    drawn = EllipseCollection(
        2.0 * half[:, 0], 2.0 * half[:, 1], np.full(len(Z), degrees), units="xy",
        offsets=Z, transOffset=ax.transData, facecolors=shade, alpha=0.3, linewidths=0,
    )  # fmt: skip
    ax.add_collection(drawn)


def coverage(model, latent):
    """Fraction of true coordinates that 95 % intervals hold, the truth turned to the model."""
    Z = model.embedding_
    turned, _, _ = superimpose(latent, Z)
    away = np.abs(turned - (Z - Z.mean(axis=0)))
    return float(np.mean(away < norm.ppf(0.975) * model.standard_errors_))


def eight(seed, quick):
    """Every method on one noisy figure of eight, and what IKD says of its bars."""
    data = figure_eight(60 if quick else 150, seed=seed)
    model = IKD().fit(data.X)
    records, maps = {}, {}
    for name in installed():
        records[name], maps[name] = measured(
            name, data.X, lambda Z: metrics.affine_r2(data.latent, Z), quick, fitted=model
        )
    records |= {"held by 95 %": coverage(model, data.latent), "reliability": model.reliability_}
    print(seed, json.dumps(records, default=float), flush=True)
    return data, model, records, maps


def heading(quick):
    """Draw maps of spikes by the heading of the animal, and of the same columns shuffled."""
    if "IKD_GRAPH_DATA" not in os.environ:
        print("IKD_GRAPH_DATA is not set: the heading is left out")
        return {}, {}
    with np.load(Path(os.environ["IKD_GRAPH_DATA"]) / "head_direction.npz") as file:
        counts, angle = file["X"].astype(float), file["y"]
    X = counts.reshape(-1, 4, counts.shape[1]).sum(axis=1)
    truth = np.angle(np.exp(1j * angle).reshape(-1, 4).mean(axis=1)) % (2.0 * np.pi)
    turns = np.linspace(0.0, 2.0 * np.pi, 361)[:, None]

    def errors(found):
        away = [np.abs(np.angle(np.exp(1j * (s * found + turns - truth)))) for s in (1, -1)]
        return min(np.degrees(np.vstack(away)), key=np.median)

    def angle_of(Z):
        return np.arctan2(*(Z - Z.mean(axis=0))[:, 1::-1].T)

    def error(Z):
        return np.median(errors(angle_of(Z)))

    blocks = np.random.default_rng(0).integers(0, len(X) // 20, (1000, len(X) // 20))
    drawn = (20 * blocks[:, :, None] + np.arange(20)).reshape(len(blocks), -1)

    names = [name for name in ("IKD", "UMAP", "t-SNE", "Isomap", "PCA") if name in installed()]
    records, maps = {}, {}
    for name in names:
        scores, maps[name] = measured(name, X, lambda Z: -error(Z), quick, default=True)
        records[name] = {"default": -scores["default"], "best": -scores["best"]}
        behind, ours = (
            np.median(errors(angle_of(maps[each]))[drawn], axis=1) for each in (name, "IKD")
        )
        records[name]["behind IKD, standard error"] = (behind - ours).std()
    model, found = IKD().fit(X), ikd_graph.topology(X)
    tables = [np.random.default_rng(k).permuted(X, axis=0) for k in range(3 if quick else 300)]
    p_values = np.array([IKD().fit(each).trust_.chance.p_value for each in tables])
    middle = int(np.argsort(p_values[:100])[len(p_values[:100]) // 2])
    figure = Figure(figsize=(WIDTH, 6.0), layout="constrained")
    shown, style = names[:3], {"s": 12, "c": shades(truth, 2.0 * np.pi)}
    above, below = figure.subfigures(2, 1)
    above.suptitle(f"{X.shape[1]} cells; colors: where the animal was heading", fontweight="bold")
    below.suptitle("the same columns, each shuffled", fontweight="bold")
    loop = found.features.query("degree == 1")["p_value"].min()
    rings = [ikd_graph.topology(each).n_loops for each in tables[: 3 if quick else 100]]
    p_value = model.trust_.chance.p_value
    said = {"IKD": f"p = {p_value:.3f}\na ring, p = {loop:.1g}\n"}
    for ax, name in zip(above.subplots(1, len(shown)), shown, strict=True):
        text = f"{said.get(name, '')}heading ± {records[name]['default']:.0f}°"
        scatter(ax, maps[name], name, text, **style)
    for ax, name in zip(below.subplots(1, len(shown)), shown, strict=True):
        ring = "a ring" if rings[middle] else "no ring"
        none = f"p = {p_values[middle]:.1f}: nothing\nto see; {ring}"
        text = none if name == "IKD" else "no p value"
        scatter(ax, METHODS[name](tables[middle]), "", text, s=12, c=colors.MUTED)
    numbers = records | {
        "cells, bins": X.shape[::-1], "p value of the loop": loop, "loops": found.n_loops,
        "p value": p_value, "agreement of halves": model.agreement_,
        "error along the ring": np.median(errors(found.circular_coordinate())),
        "shuffled tables with a ring": sum(each > 0 for each in rings), "of": len(rings),
        "shuffled tables": len(tables), "of these with p < 0.05": int(np.sum(p_values < 0.05)),
        "p value of that shown": p_values[middle],
    }  # fmt: skip
    return {"hero": figure}, {"heading": numbers}


def picture_of_eight(quick):
    """Draw a noisy figure of eight by five methods beside the truth."""
    data, model, records, maps = eight(0, quick)
    style = {"s": 22, "c": around(data)}
    figure = Figure(figsize=(WIDTH, 5.3), layout="constrained")
    figure.get_layout_engine().set(hspace=0.06)
    axes = figure.subplots(2, 3).ravel()
    scatter(axes[0], data.latent, "the truth", f"{data.X.shape[1]} noisy columns", **style)
    for ax, name in zip(axes[1:], maps, strict=False):
        aligned, factor, turn = superimpose(maps[name], data.latent)
        below = f"R² {records[name]['best']:.3f}, tuned"
        if name == "IKD":
            half = norm.ppf(0.975) * factor * model.standard_errors_
            ellipses(ax, aligned, half, turn, style["c"])
            below = f"R² {records[name]['best']:.3f}, by default"
        scatter(ax, aligned, name, below, **style)
    return {"eight": figure}, {"eight": records}


def seeds(quick):
    """Repeat the hero on further tables."""
    return {}, {"eights": summary([eight(seed, quick)[2] for seed in range(1, 3 if quick else 21)])}


def summary(runs):
    """Means and standard deviations of R² of each method, and coverage."""
    numbers = {"tables": len(runs), "rows, columns": figure_eight().X.shape}
    for name in installed():
        best = [run[name]["best"] for run in runs]
        default = [run[name]["default"] for run in runs]
        numbers[name] = {
            "mean": np.mean(best), "sd": np.std(best, ddof=1), "least": min(best),
            "default, mean": np.mean(default), "settings": len(SETTINGS[name]),
        }  # fmt: skip
    for each in ("held by 95 %", "reliability"):
        numbers[each] = np.mean([run[each] for run in runs])
    return numbers


def closed(quick):
    """Measure the closed forms alone on the same tables."""
    tables = [figure_eight(60 if quick else 150, seed=s) for s in range(1, 3 if quick else 21)]
    numbers = {}
    for strategy in ("geodesic", "blockwise"):
        maps = [IKD(strategy=strategy, refine=None).fit_transform(data.X) for data in tables]
        r2 = [metrics.affine_r2(data.latent, Z) for data, Z in zip(tables, maps, strict=True)]
        numbers[strategy] = np.mean(r2)
    return {}, {"eights, closed forms": numbers}


def digits(quick):
    """How many digits their five nearest neighbors name, each method by default."""
    X, y = load_digits(return_X_y=True)
    X, y = (X[:200], y[:200]) if quick else (X, y)
    maps = {name: METHODS[name](X, **SETTINGS[name][0]) for name in installed()}
    return {}, {"digits, 5-NN": {n: metrics.knn_accuracy(Z, y) for n, Z in maps.items()}}


def idea(quick):
    """Covariance, its graph, cliques and a shortest path on it, coordinates."""
    data = figure_eight(40 if quick else 70, noise=0.7, seed=1)
    X, latent, shade = data.X, data.latent, around(data)
    correlations = covariance.correlation(X)
    thresholded = graph.threshold(correlations, 0.4)
    source, target, _ = graph.edges(thresholded)
    lines = np.stack([latent[source], latent[target]], axis=1)
    n_pairs = len(X) * (len(X) - 1) // 2
    path = nx.shortest_path(graph.to_networkx(thresholded), 5, len(X) // 2 - 8)
    members = max(cliques.maximal_cliques(thresholded), key=len)
    model = IKD(strategy="geodesic", graph=thresholded, affinity="correlation", refine=None).fit(X)

    def matrix(ax):
        shown = LinearSegmentedColormap.from_list("similarity", ["white", colors.ACCENT])
        ax.imshow(correlations, cmap=shown, vmin=0, vmax=1)
        caption(ax, "1  covariance", "similarity of rows")

    def edges(ax):
        ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=0.3, zorder=1))
        text = f"its {len(source)} largest of {n_pairs}"
        scatter(ax, latent, "2  graph", text, s=26, c=shade)

    def clique_and_path(ax):
        ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=0.1, zorder=1))
        scatter(ax, latent, "3  cliques or paths", "blockwise or geodesic", s=14, c=colors.MUTED)
        ax.scatter(*latent[members].T, s=40, c=colors.ACCENT, zorder=3)
        ax.plot(*latent[path].T, color=colors.SECOND, linewidth=3, marker="o", zorder=4)

    def coordinates(ax):
        aligned, _, _ = superimpose(model.embedding_, latent)
        scatter(ax, aligned, "4  coordinates", "one eigendecomposition", s=26, c=shade)

    panels = (matrix, edges, clique_and_path, coordinates)
    figures = {}
    for number, draw in enumerate(panels, 1):
        figures[f"idea_{number}"] = alone = Figure(figsize=(3.6, 3.4), layout="constrained")
        draw(alone.subplots())
        alone.axes[0].set_title("")
    return figures, {}


def compare(quick):
    """Blockwise and geodesic on the same graph: where they disagree, and scores under noise."""
    data = figure_eight(60 if quick else 150, noise=0.5)
    levels = (0, 1) if quick else (0, 0.5, 1, 1.5)
    comparison = ikd_graph.compare(data, refine=None, noise=levels)
    table = comparison.points()
    figure = Figure(figsize=(WIDTH, 5.9), layout="constrained")
    axes = figure.subplot_mosaic([["blockwise", "geodesic"], ["noise", "noise"]])
    for name in ("blockwise", "geodesic"):
        Z = np.c_[table[f"{name} ikd0"], table[f"{name} ikd1"]]
        aligned, _, _ = superimpose(Z, data.latent)
        scatter(axes[name], aligned, name, s=26, c=shades(table["disagreement"]))
    axes["blockwise"].set_xlabel("yellow: the two disagree", loc="left")
    curves = axes["noise"]
    numbers = {}
    for name, color in (("blockwise", colors.ACCENT), ("geodesic", colors.SECOND)):
        rows = [row for row in comparison.rows if row.method == name]
        noise, score, half = np.array([[r.noise, r.score, r.half_width] for r in rows], float).T
        dodge = 0.01 if name == "geodesic" else -0.01
        curves.errorbar(noise + dodge, score, half, c=color, marker="o", capsize=3)
        below = name == "geodesic"
        curves.annotate(name, (noise[1], score[1]), (-8, -20) if below else (10, 4), c=color,
                        fontsize=14, textcoords="offset points",
                        ha="right" if below else "left")  # fmt: skip
        numbers[f"compare {name}"] = {f"R2 at noise {row.noise:g}": row.score for row in rows}
    curves.set_xlabel("added noise (standard deviations)")
    curves.set_title("R² with the truth, and its interval")
    curves.set_xticks(levels)
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
    figure = Figure(figsize=(WIDTH, 4.7), layout="constrained")
    ax, below = figure.subplots(2, 1, height_ratios=(1.6, 1))
    lines = [(layout[i], layout[j]) for i, j in network.edges]
    ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=0.35, zorder=1))
    shade = [colors.class_color(int(group[node])) for node in layout]
    ax.scatter(*np.array([*layout.values()]).T, s=130, c=shade, zorder=2)
    ax.margins(0.05)
    words = f"of {len(largest_first)} cliques of three or more {group.max() + 1} in colors"
    edges = f"columns of {len(bunch.data)} tumors, joined above a correlation of 0.8"
    caption(ax, "", f"{edges};\n{words}")
    for place, code in enumerate(range(group.max() + 1)):
        names = [bunch.feature_names[node] for node in np.flatnonzero(group == code)]
        below.text(0.36 * place, 1.0, "\n".join(names), va="top", color=colors.class_color(code))
    below.set_axis_off()
    return {"cliques": figure}, {
        "cliques of columns": {"columns": len(group), "cliques": len(largest_first)}
    }


def loadings(quick):
    """Which measures of tumors change most where on their map."""
    bunch = load_breast_cancer(as_frame=True)
    rows = np.arange(len(bunch.data))[:: 4 if quick else 1]
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    found = IKD(2).fit(bunch.data.iloc[rows]).loadings()
    with mpl.rc_context({"font.size": 10.5}):  # names of columns are long
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
        f"{n_rows} simulated stocks, the market removed": (covariance.remove_mean_row(returns), 1),
        f"{n_rows} rows of noise": (rng.normal(size=(n_rows, n_columns)), 0),
    }
    figure = Figure(figsize=(WIDTH, 5.9), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True)
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
        ax.set_title(title)
        agree = np.isfinite(diagnosis.agreement)
        expected = f"halves agree by R² {diagnosis.agreement:.2f}" if agree else ""
        pairs_text = f"{significant} significant pairs" if significant else "nothing to see"
        text = f"{pairs_text} (p = {diagnosis.p_value:.2g})\n{expected}"
        ax.text(0.97, 0.6, text, transform=ax.transAxes, ha="right",
                color=colors.ACCENT if significant else colors.INK)  # fmt: skip
        ax.set_yticks([])
        numbers[title] = {
            "significant pairs": significant,
            "agreement of halves": diagnosis.agreement,
            "p value": diagnosis.p_value,
            "pairs": len(pairs),
        }
    axes[0].legend(frameon=False, loc="upper left", handlelength=1)
    axes[0].set_ylabel("pairs")
    axes[1].set_xlabel("correlation of two rows")
    return {"weak": figure}, numbers


def commands(quick):
    """Take the pictures that the commands of the README draw."""
    figures = {}
    for line in re.findall(r"^ikd-graph (.* --output results)$", README.read_text("utf-8"), re.M):
        name, *words = shlex.split(line.replace("digits", "spike_counts") if quick else line)
        if name == "demo":
            continue
        with TemporaryDirectory() as folder:
            # Without what this script has set for its own pictures.
            command = [sys.executable, "-m", "ikd_graph", name, *words]
            subprocess.run(command, cwd=folder, check=True)
            (path,) = Path(folder).glob("results/*.png")
            figures[f"command_{name}"] = Image.open(io.BytesIO(path.read_bytes()))
    return figures, {}


PARTS = {
    "heading": heading, "eight": picture_of_eight, "seeds": seeds, "closed": closed,
    "digits": digits, "idea": idea, "compare": compare, "cliques": columns_in_cliques,
    "loadings": loadings, "weak": weak, "commands": commands,
}  # fmt: skip


def save(figure, path):
    """A PNG of 256 colors: a third of the bytes, and no difference to see."""
    if isinstance(figure, Figure):
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=DPI, facecolor="white")
        figure = Image.open(buffer)
    figure.thumbnail((round(WIDTH * DPI), figure.height))
    figure.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def main():
    """Draw the pictures, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small versions")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder (%(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    mpl.rcParams.update(LOOK)
    options.output.mkdir(parents=True, exist_ok=True)
    found = {"Python": platform.python_version(), "processor": platform.machine()}
    for name in options.only:
        figures, numbers = PARTS[name](options.quick)
        for title, figure in figures.items():
            save(figure, options.output / f"{title}.png")
        found |= {part: {**each, "commit": measured_at()} for part, each in numbers.items()}
        print(name, json.dumps(numbers, default=float))
    file = options.output / "numbers.json"
    earlier = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(earlier | found, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
