"""What a comparison found: a row for each fit, with its measures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import check_choice
from ..datasets import Dataset

Floats = NDArray[np.float64]

GROUPS = {
    "latent": ("r2_affine", "r2_rigid"),
    "labels": ("knn", "svm", "decoding", "decoding_blocks", "silhouette"),
    "local": (
        "trustworthiness",
        "trustworthiness_15",
        "trustworthiness_50",
        "continuity",
        "continuity_15",
        "continuity_50",
        "r_nx_auc",
        "local_distances",
        "density",
    ),
    "global": ("global_distances", "random_triplets", "centroid_triplets", "centroid_distances"),
    "prediction": ("co_smoothing",),
}
"""Names of the measures by what they ask; higher is better for each."""

MEASURES = tuple(name for names in GROUPS.values() for name in names)
"""Names of all measures, best first as a single answer."""


@dataclass(frozen=True)
class Row:
    """One method on one sample of the data. A measure that does not apply is NaN.

    Attributes
    ----------
    method, title, settings : str
        Name to ask for, name to show, and settings in words.
    n_components, seed : int
        Dimension of the embedding, seed of the sample and of the method.
    noise : float
        Standard deviation of the noise added to the data.
    r2_affine, r2_rigid : float
        Against the true latent, after an affine and after a rigid alignment with one scale.
    knn, svm, silhouette : float
        Against classes: accuracy of 5 nearest neighbours and of a support vector machine in a
        shuffled stratified 5-fold cross-validation.
    decoding, decoding_blocks : float
        Against labels that are measurements: R² of the mean of 10 nearest neighbours, in shuffled
        parts and in blocks of consecutive rows.
    trustworthiness, continuity, and the same _15 and _50 : float
        Of the 5, 15 and 50 nearest, like all that follow against the true latent if there is one,
        else against the data.
    r_nx_auc, local_distances, density : float
        Neighbours shared at all sizes, near distances, local radii.
    global_distances, random_triplets : float
        Of all distances.
    centroid_triplets, centroid_distances : float
        Of the distances between centroids of classes.
    co_smoothing, co_smoothing_error : float
        R² of held-out columns, mean over random halves, and its standard error.
    seconds, cpu_seconds, warmup_seconds : float
        Wall and processor time of the fit; of a first call on a few points.
    peak_mb, extra_mb : float
        Peak memory of the process during the fit, and what the fit added to it, in MiB.
    failure : str
        Why there is no embedding; empty if there is one.
    notes : tuple of str
        Warnings.
    facts : dict of str to str
        What an IKD method chose, in words.
    other_labels : dict of str to dict of str to float
        Scores against further columns of labels, by their titles; see `score_labels`.
    used : dict
        Parameters of `IKD` under which nothing is left to choose.
    """

    method: str
    title: str
    settings: str
    n_components: int
    noise: float
    seed: int
    r2_affine: float = np.nan
    r2_rigid: float = np.nan
    knn: float = np.nan
    svm: float = np.nan
    decoding: float = np.nan
    decoding_blocks: float = np.nan
    silhouette: float = np.nan
    trustworthiness: float = np.nan
    trustworthiness_15: float = np.nan
    trustworthiness_50: float = np.nan
    continuity: float = np.nan
    continuity_15: float = np.nan
    continuity_50: float = np.nan
    r_nx_auc: float = np.nan
    local_distances: float = np.nan
    density: float = np.nan
    global_distances: float = np.nan
    random_triplets: float = np.nan
    centroid_triplets: float = np.nan
    centroid_distances: float = np.nan
    co_smoothing: float = np.nan
    co_smoothing_error: float = np.nan
    seconds: float = np.nan
    cpu_seconds: float = np.nan
    warmup_seconds: float = np.nan
    peak_mb: float = np.nan
    extra_mb: float = np.nan
    failure: str = ""
    notes: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    other_labels: dict[str, dict[str, float]] = field(default_factory=dict)
    used: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` found.

    Attributes
    ----------
    name : str
        Name of the data.
    rows : list of Row
        One for each method, dimension, noise and seed, in the order asked for.
    embeddings : list of (n, n_components) float64 or None
        The embedding of each row.
    spectra : list of float64 arrays or None
        Leading eigenvalues of each row, where the method has some.
    data : list of Dataset
        What each row was made from.
    versions : dict of str to str
        Versions of what took part.
    curves : list of (n - 2,) float64 or None
        R_NX of each row for every size of neighbourhood (`ikd_graph.study.metrics.r_nx`).
    """

    name: str
    rows: list[Row]
    embeddings: list[Floats | None]
    spectra: list[Floats | None]
    data: list[Dataset]
    versions: dict[str, str]
    curves: list[Floats | None] = field(default_factory=list)

    @property
    def measure(self) -> str:
        """Name of the measure that tells most here: R² if a latent is known, then of the labels."""
        for name in MEASURES:
            if any(np.isfinite(getattr(row, name)) for row in self.rows):
                return name
        return MEASURES[-1]

    def best(self, measure: str | None = None) -> Row:
        """Row with the highest value of a measure.

        Parameters
        ----------
        measure : str or None
            One of ``MEASURES``; None is the one that tells most.

        Returns
        -------
        Row
            The best.
        """
        name = self.measure if measure is None else measure
        check_choice("measure", name, MEASURES)
        able = [row for row in self.rows if np.isfinite(getattr(row, name))]
        if not able:
            reasons = "; ".join(f"{row.method}: {row.failure}" for row in self.rows if row.failure)
            raise ValueError(f"at least one row must have {name!r}, got none ({reasons})")
        return max(able, key=lambda row: getattr(row, name))

    def aligned(self) -> list[Floats | None]:
        """Embeddings turned, shifted and scaled onto the truth, or else onto the first of them.

        Returns
        -------
        list of (n, n_components) float64 or None
            As ``embeddings``, ready to be drawn beside one another.
        """
        first = next((z for z in self.embeddings if z is not None), None)
        out: list[Floats | None] = []
        for points, data in zip(self.embeddings, self.data, strict=True):
            target = data.latent if data.latent is not None else first
            out.append(None if points is None or target is None else _onto(points, target))
        return out

    def to_records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries, one key a column.

        Returns
        -------
        list of dict
            Plain numbers and strings.
        """
        return [asdict(row) for row in self.rows]

    def to_pandas(self) -> Any:
        """Rows as a pandas table.

        Returns
        -------
        pandas.DataFrame
            One row a fit.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_pandas needs the package pandas, which is not installed; "
                "pip install pandas, or use to_records()"
            ) from None
        return pd.DataFrame(self.to_records())


def _onto(points: Floats, target: Floats) -> Floats:
    """Points after the best rigid motion and scale onto the leading columns of a target."""
    size = points.shape[1]
    goal = np.zeros_like(points)
    shared = min(size, target.shape[1])
    goal[:, :shared] = target[:, :shared]
    mean = goal.mean(axis=0)
    centred, wanted = points - points.mean(axis=0), goal - mean
    left, values, right = np.linalg.svd(centred.T @ wanted)
    spread = float(np.sum(centred**2))
    factor = float(values.sum()) / spread if spread > 0.0 else 1.0
    return factor * centred @ (left @ right) + mean
