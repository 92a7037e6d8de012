"""How good an embedding is: one score by the kind of what is known, and two without labels."""

import numpy as np
from sklearn.manifold import trustworthiness
from sklearn.metrics import r2_score
from sklearn.neighbors import NearestNeighbors

from ikd_graph import metrics

FEW, MANY = 5, 10
"""Neighbors that vote on a class, neighbors whose mean decodes a position."""

TRUST_ROWS, PAIRS = 2000, 20_000
"""Rows that trustworthiness is measured on, pairs that distances are compared on."""


def measure(points, Z):
    """All scores of an embedding Z (n, m) of points; ``score`` is the one of their kind."""
    found = {"trust": _trust(points.X, Z), "spearman": _spearman(points.X, Z)}
    if points.kind == "classes":
        return {"score": vote(Z, points.truth)} | found
    if points.kind == "circular":
        angles = points.truth.reshape(len(Z), -1)
        return {"score": decode(Z, np.hstack([np.cos(angles), np.sin(angles)]))} | found
    found["decoded"] = decode(Z, points.truth)
    found["affine"] = metrics.affine_r2(points.truth, Z)
    return {"score": found["affine" if points.kind == "latent" else "decoded"]} | found


def vote(Z, labels):
    """Share of points whose class most of their nearest others have, leaving each out in turn."""
    votes = labels[_nearest(Z, FEW)]
    counts = (votes[:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    # The nearest one's class wins a tie, whatever its code.
    counts = counts + 0.5 * (votes[:, :1] == np.arange(labels.max() + 1))
    return float(np.mean(counts.argmax(axis=1) == labels))


def decode(Z, truth):
    """R2 of the truth (n, k) as the mean over the nearest others, leaving each out in turn."""
    return float(r2_score(truth, truth[_nearest(Z, MANY)].mean(axis=1)))


def _nearest(Z, k):
    """Indices (n, k) of the others nearest to each point."""
    return NearestNeighbors(n_neighbors=k).fit(Z).kneighbors(return_distance=False)


def _trust(X, Z):
    """Trustworthiness at ten neighbors, on a sample of the rows if there are many."""
    rows = np.random.default_rng(0).permutation(len(X))[:TRUST_ROWS]
    return float(trustworthiness(X[rows], Z[rows], n_neighbors=min(MANY, len(rows) // 2 - 1)))


def _spearman(X, Z):
    """Rank correlation of distances before and after, over pairs at random."""
    from scipy.stats import spearmanr

    one, other = np.random.default_rng(0).integers(len(X), size=(2, PAIRS))
    far = [np.linalg.norm(points[one] - points[other], axis=1) for points in (X, Z)]
    return float(spearmanr(*far).statistic)
