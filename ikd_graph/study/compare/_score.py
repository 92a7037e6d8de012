"""Every measure of an embedding that its data set allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..datasets import Dataset

Floats = NDArray[np.float64]

SIZES = (5, 15, 50)
"""Sizes of a neighbourhood at which trustworthiness and continuity are given."""

FEWEST_OF_A_CLASS = 5
"""Points of the smallest class below which a five-fold cross-validation cannot hold it."""

MOST_CLASSES = 60
"""Beyond as many whole numbers labels are a measurement too, as in the pictures."""


class Judge:
    """Measures embeddings of one data set; what they share is worked out once.

    Parameters
    ----------
    data : Dataset
        What was embedded, with its labels and latent if known.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.truth = data.X if data.latent is None else data.latent
        self.distances = metrics.Distances(self.truth)
        self.codes = _classes(data)
        self.quantity = label_quantity(data)

    def score(self, Z: Floats) -> tuple[dict[str, float], Floats | None]:
        """Compute every measure that applies to an embedding.

        Parameters
        ----------
        Z : (n, n_components) float64
            The embedding.

        Returns
        -------
        dict of str to float, (n - 2,) float64 or None
            Keys among ``MEASURES``, and the curve of R_NX.
        """
        out: dict[str, float] = {}
        latent = self.data.latent
        if latent is not None:
            out["r2_affine"] = metrics.affine_r2(latent, Z)
            if Z.shape[1] <= latent.shape[1]:
                out["r2_rigid"] = metrics.rigid_r2(latent, Z, scale=True)
        out |= self._labels(Z)
        after = metrics.Distances(Z, rows=self.distances.rows)
        if after.n_points < 3:
            return out, None
        curve = metrics.r_nx(self.distances, after)
        return out | self._local(after) | self._global(after), curve

    def _labels(self, Z: Floats) -> dict[str, float]:
        """What of the labels can be read from an embedding."""
        out = {}
        if self.codes is not None:
            if np.bincount(self.codes).min() >= FEWEST_OF_A_CLASS:
                out["knn"] = metrics.knn_accuracy(Z, self.codes)
                out["svm"] = metrics.svm_accuracy(Z, self.codes)
            out["silhouette"] = metrics.silhouette(Z, self.codes)
        if self.quantity is not None:
            near = min(10, int(np.count_nonzero(~np.isnan(self.quantity))) // 2)
            period = self.data.label_period
            for name, seed in (("decoding", 0), ("decoding_blocks", None)):
                out[name] = metrics.decoding_r2(Z, self.quantity, near, seed=seed, period=period)
        return out

    def _local(self, after: metrics.Distances) -> dict[str, float]:
        """Do neighbours stay neighbours."""
        before = self.distances
        most = max((before.n_points - 1) // 2, 1)
        near = min(SIZES[0], most)
        sizes = [near, *(size for size in SIZES[1:] if size <= most)]
        out = {}
        for measure in (metrics.trustworthiness, metrics.continuity):
            for size, value in zip(sizes, measure(before, after, sizes), strict=True):
                mark = "" if size == near else f"_{size}"
                out[measure.__name__ + mark] = float(value)
        out["r_nx_auc"] = metrics.r_nx_auc(before, after)
        out["local_distances"] = metrics.local_distance_preservation(before, after, near)
        out["density"] = metrics.density_preservation(before, after, min(15, most))
        return out

    def _global(self, after: metrics.Distances) -> dict[str, float]:
        """Are far things far."""
        before = self.distances
        out = {
            "global_distances": metrics.global_distance_preservation(before, after),
            "random_triplets": metrics.random_triplets(before, after),
        }
        if self.codes is not None and self.codes.max() > 1:
            given = (self.truth, after.table, self.codes)
            out["centroid_triplets"] = metrics.centroid_triplets(*given)
            out["centroid_distances"] = metrics.centroid_distances(*given)
        return out


def score(data: Dataset, Z: Floats) -> dict[str, float]:
    """Compute every measure that applies to an embedding.

    Parameters
    ----------
    data : Dataset
        What was embedded, with its labels and latent if known.
    Z : (n, n_components) float64
        The embedding.

    Returns
    -------
    dict of str to float
        Keys among ``MEASURES``.

    Examples
    --------
    >>> from ikd_graph.study import datasets
    >>> roll = datasets.swiss_roll(200)
    >>> round(score(roll, roll.latent)["r2_rigid"], 6)
    1.0
    """
    return Judge(data).score(Z)[0]


def _classes(data: Dataset) -> NDArray[np.int64] | None:
    """Code of the class of each point, 0 .. n_classes - 1; None without at least two classes."""
    if data.y is None or not data.label_names:
        return None
    present, codes = np.unique(data.y.astype(np.int64), return_inverse=True)
    return codes.astype(np.int64) if 1 < present.size < data.n_samples else None


def label_quantity(data: Dataset) -> Floats | None:
    """Labels as numbers, where they are a measurement.

    A measurement in whole numbers is read as classes. What tells it from numbered classes is that
    it has more values than classes do, or than can be told from so few points.

    Parameters
    ----------
    data : Dataset
        With or without labels.

    Returns
    -------
    (n,) float64 or None
        NaN where unknown; None if labels are no measurement or say nothing.
    """
    if data.y is None:
        return None
    values = data.y.astype(np.float64)
    if data.label_names:
        try:
            values = np.array([float(name) for name in data.label_names])[data.y.astype(np.int64)]
        except ValueError:
            return None
        most = min(MOST_CLASSES, data.n_samples / FEWEST_OF_A_CLASS)
        if np.unique(values).size <= most:
            return None
    values = np.where(np.isfinite(values), values, np.nan)
    known = values[~np.isnan(values)]
    return values if known.size >= 10 and np.ptp(known) > 0.0 else None
