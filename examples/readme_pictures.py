"""Pictures and numbers of the README: ``python examples/readme_pictures.py [--quick]``.

Writes into docs/static/readme: the pictures, and numbers.json with every figure that the README
names. ``--quick`` draws small versions of all of them into a folder of its own, as a test does.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from ikd_graph import IKD, cliques, covariance, graph, kernels
from ikd_graph.show import colors
from ikd_graph.study import datasets, metrics

HERE = Path(__file__).parents[1] / "docs" / "static" / "readme"


def peers():
    """Methods by name, those that are installed."""
    found = {"PCA": lambda: PCA(2), "Isomap": lambda: Isomap(n_neighbors=10)}
    try:
        from umap import UMAP

        found["UMAP"] = lambda: UMAP(random_state=0, n_jobs=1)
    except ImportError:
        print("UMAP is not installed and is left out")
    return found | {"IKD": IKD}


def noisy_curve(n_points, seed=0):
    """A figure of eight seen through 200 smooth noisy measurements, one in two parts noise."""
    angle = np.linspace(0.0, 2.0 * np.pi, n_points, endpoint=False)
    latent = 1.8 * np.c_[np.sin(angle), np.sin(2.0 * angle)]
    data = datasets.gplvm_data(
        latent, 200, kernel=kernels.SquaredExponential(), noise=0.7, seed=seed
    )
    return data.X, latent, angle


def timed_fit(make, X):
    """Coordinates, seconds of a second fit, and the model."""
    make().fit_transform(X[:60])
    start = time.perf_counter()
    model = make()
    Z = model.fit_transform(X)
    return Z, time.perf_counter() - start, model


def as_seen(Z, latent):
    """A similarity (rotation, reflection, one scale) that turns ``Z`` to the truth."""
    A, B = Z - Z.mean(axis=0), latent - latent.mean(axis=0)
    U, s, Vt = np.linalg.svd(A.T @ B)
    scale = s.sum() / (A**2).sum()
    return scale * A @ U @ Vt, scale, U @ Vt


def hero(quick):
    """Digits and a noisy curve by four methods."""
    X, y = load_digits(return_X_y=True)
    X, y = (X[:200], y[:200]) if quick else (X, y)
    C, latent, angle = noisy_curve(80 if quick else 240)
    methods = peers()
    figure = Figure(figsize=(2.9 * len(methods), 6.2), layout="constrained")
    axes = figure.subplots(2, len(methods))
    numbers = {}
    for column, (name, make) in enumerate(methods.items()):
        Z, seconds, _ = timed_fit(make, X)
        score = metrics.knn_accuracy(Z, y)
        numbers[f"digits {name}"] = {"5-NN accuracy": score, "seconds": seconds}
        top = axes[0, column]
        top.scatter(*Z.T, s=3, c=[colors.class_color(k) for k in y], linewidths=0)
        caption(top, name, f"5-NN {score:.2f}, {seconds:.1f} s")
        Z, seconds, model = timed_fit(make, C)
        score = metrics.affine_r2(latent, Z)
        numbers[f"curve {name}"] = {"R2": score, "seconds": seconds}
        below = axes[1, column]
        seen, scale, turn = as_seen(Z, latent)
        errors = getattr(model, "standard_errors_", None)
        if errors is not None:
            ellipses(below, seen, scale * 1.96 * errors, turn, angle)
        below.scatter(*seen.T, s=7, c=angle, cmap="twilight", linewidths=0)
        caption(below, "", f"R² {score:.3f}, {seconds:.1f} s")
    axes[0, 0].set_ylabel(f"{len(X)} handwritten digits", fontsize=12)
    axes[1, 0].set_ylabel("a noisy figure of eight", fontsize=12)
    return figure, numbers


def ellipses(ax, places, half, turn, angle):
    """95 % intervals along the axes of the model, turned as the picture is."""
    degrees = np.degrees(np.arctan2(turn[0, 1], turn[0, 0]))
    drawn = EllipseCollection(
        2.0 * half[:, 0], 2.0 * half[:, 1], np.full(len(places), degrees), units="xy",
        offsets=places, transOffset=ax.transData, cmap="twilight", alpha=0.25, linewidths=0,
    )  # fmt: skip
    drawn.set_array(angle)
    ax.add_collection(drawn)


def caption(ax, title, below):
    """A bare picture with words above and below it."""
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(title, fontsize=14, fontweight="bold", color=colors.INK)
    ax.set_xlabel(below, fontsize=12, color=colors.INK)


def idea(quick):
    """Covariance, its graph, cliques and a shortest path on it, coordinates."""
    X, latent, angle = noisy_curve(40 if quick else 70, seed=1)
    correlations = covariance.correlation(X)
    kept = graph.threshold(correlations, 0.4)
    figure = Figure(figsize=(12.4, 3.4), layout="constrained")
    axes = figure.subplots(1, 4)
    axes[0].imshow(correlations, cmap="Blues", vmin=0, vmax=1)
    caption(axes[0], "1  covariance", "how alike each two rows are")
    source, target, _ = graph.edges(kept)
    lines = np.stack([latent[source], latent[target]], axis=1)
    for ax, strength in ((axes[1], 0.3), (axes[2], 0.1)):
        ax.add_collection(LineCollection(lines, colors=colors.MUTED, alpha=strength, zorder=1))
    axes[1].scatter(*latent.T, s=18, c=angle, cmap="twilight", zorder=2)
    n_pairs = len(X) * (len(X) - 1) // 2
    caption(axes[1], "2  graph", f"the {len(source)} trusted of {n_pairs} values")
    path = nx.shortest_path(graph.to_networkx(kept), 5, len(X) // 2 - 8)
    members = max(cliques.maximal_cliques(kept), key=len)
    axes[2].scatter(*latent.T, s=10, c=colors.MUTED, zorder=2)
    axes[2].scatter(*latent[members].T, s=40, c=colors.ACCENT, zorder=3)
    axes[2].plot(*latent[path].T, color=colors.SECOND, linewidth=3, marker="o", zorder=4)
    caption(axes[2], "3  cliques or paths", "blockwise, or geodesic")
    model = IKD(strategy="geodesic", graph=kept, affinity="correlation", refine=None).fit(X)
    seen, _, _ = as_seen(model.embedding_, latent)
    axes[3].scatter(*seen.T, s=18, c=angle, cmap="twilight")
    caption(axes[3], "4  coordinates", "one eigendecomposition")
    return figure, {}


def main():
    """Draw all pictures, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small versions")
    parser.add_argument("--output", type=Path, default=HERE, help="folder (%(default)s)")
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    given.output.mkdir(parents=True, exist_ok=True)
    numbers = {"Python": platform.python_version(), "processor": platform.machine()}
    for draw in (hero, idea):
        figure, found = draw(given.quick)
        figure.savefig(given.output / f"{draw.__name__}.png", dpi=110, facecolor="white")
        numbers |= found
    text = json.dumps(numbers, indent=1, default=float)
    (given.output / "numbers.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
