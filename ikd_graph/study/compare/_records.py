"""What a comparison found: a row for each fit, with its measures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._validation import check_choice
from ..datasets import Dataset

Floats = NDArray[np.float64]

MEASURES = (
    "r2_affine",
    "r2_rigid",
    "knn",
    "silhouette",
    "trustworthiness",
    "continuity",
    "local_distances",
    "global_distances",
)
"""Names of the measures, best first as a single answer; higher is better for each."""


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
    knn, silhouette : float
        Against classes: 5-NN accuracy in a shuffled stratified 5-fold cross-validation.
    trustworthiness, continuity, local_distances, global_distances : float
        Against the true latent if there is one, else against the data.
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
    silhouette: float = np.nan
    trustworthiness: float = np.nan
    continuity: float = np.nan
    local_distances: float = np.nan
    global_distances: float = np.nan
    seconds: float = np.nan
    cpu_seconds: float = np.nan
    warmup_seconds: float = np.nan
    peak_mb: float = np.nan
    extra_mb: float = np.nan
    failure: str = ""
    notes: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
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
    """

    name: str
    rows: list[Row]
    embeddings: list[Floats | None]
    spectra: list[Floats | None]
    data: list[Dataset]
    versions: dict[str, str]

    @property
    def measure(self) -> str:
        """Name of the measure that tells most here: R² if a latent is known, then 5-NN."""
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
