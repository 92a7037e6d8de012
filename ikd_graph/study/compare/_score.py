"""Every measure of an embedding that its data set allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..datasets import Dataset
from ..label_scores import class_codes, score_labels

Floats = NDArray[np.float64]

SIZES = (5, 15, 50)
"""Sizes of a neighbourhood at which trustworthiness and continuity are given."""


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
        self.labels = data.all_labels[0] if data.all_labels else None
        self.codes = None if self.labels is None else class_codes(self.labels)

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
        if self.labels is not None:
            out |= score_labels(Z, self.labels)
        after = metrics.Distances(Z, rows=self.distances.rows)
        if after.n_points < 3:
            return out, None
        curve = metrics.r_nx(self.distances, after)
        return out | self._local(after) | self._global(after), curve

    def score_others(self, Z: Floats) -> dict[str, dict[str, float]]:
        """Scores of the further columns of labels, by their titles."""
        return {one.title: score_labels(Z, one) for one in self.data.other_labels}

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
            known = self.codes >= 0
            given = (self.truth[known], after.table[known], self.codes[known])
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
