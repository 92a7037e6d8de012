"""The linear strategy: principal components of the rows as they are compared.

The Gaussian process with the linear kernel k(z, z') = z · z' has its most likely latent in closed
form, the principal components (Lawrence 2005, J. Mach. Learn. Res. 6, Section 2): what a latent
without bends looks like.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from .. import eigen
from .._base import limits
from .._base import validation as check
from .._base.lanczos import seeded_eigsh
from .._base.threads import block_rows
from .._base.types import Floats
from .._base.validation import validate
from .._base.warn import warn
from ..covariance import SparseRows
from ..eigen import Embedding
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..similarity import Similarity
from ._base import Landmarks, Solution, Strategy


@dataclass(repr=False)
class Linear(Strategy):
    """Principal components of the rows as they are compared (Lawrence 2005, Section 2).

    Of covariances alone, those of the distances between all pairs.

    Examples
    --------
    >>> from ikd_graph import strategies
    >>> strategies.Linear()
    Linear()
    """

    name: ClassVar[str] = "linear"
    uses_graph: ClassVar[bool] = False
    uses_kernel: ClassVar[bool] = False

    @classmethod
    def paper(cls) -> Linear:
        """Return the paper's settings."""
        return cls()

    def most_components(self, n_points: int, n_columns: int) -> int:
        """See `Strategy.most_components`."""
        return min(n_points - 1, n_columns)

    def solve(
        self,
        similarity: Similarity,
        graph: CsrGraph | None,
        kernel: StationaryKernel,
        n_components: int,
        landmarks: Landmarks | None = None,
    ) -> Solution:
        """See `Strategy.solve`; the explained variance ratio is that of principal components."""
        rows = similarity.factor()
        if rows is not None:
            return Solution(_in_units(similarity.unit, principal_components(rows, n_components)))
        values = similarity.matrix()
        own = values.diagonal()
        sq_dist = np.maximum(own[:, None] + own - 2.0 * values, 0.0)
        embedding = eigen.coordinates(sq_dist, n_components)
        total = float(sq_dist.sum()) / (2.0 * len(sq_dist))
        fraction = embedding.eigenvalues / (total or 1.0)
        embedding = embedding._replace(explained_variance_ratio=fraction)
        return Solution(_in_units(similarity.unit, embedding))


def _in_units(unit: float, embedding: Embedding) -> Embedding:
    """Coordinates of distances in units of sigma, in the unit of the distances."""
    return embedding._replace(
        coordinates=unit * embedding.coordinates, eigenvalues=unit**2 * embedding.eigenvalues
    )


@validate(n_components=check.count)
def principal_components(rows: Any, n_components: int) -> Embedding:
    """Principal components of rows (n, q), dense or `SparseRows`; nothing of their size is made."""
    n, width = rows.shape
    step = block_rows(width)
    blocks = [slice(start, start + step) for start in range(0, n, step)]
    mean = sum(rows[batch].sum(axis=0, dtype=np.float64) for batch in blocks) / n
    count = min(n_components, width)
    if width <= limits.LANCZOS_FROM or count > width // 4:
        gram = sum((rows[batch] - mean).T @ (rows[batch] - mean) for batch in blocks)
        values, vectors = eigh(gram, subset_by_index=(width - count, width - 1))
        total = float(np.trace(gram))
    else:
        values, vectors, total = _lanczos(rows, mean, count, blocks)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    real = values > width * np.finfo(np.float64).eps * max(float(values[0]), 0.0)
    span = int(np.count_nonzero(real))
    if span < n_components and total > 0.0:
        warn(
            f"{n_components - span} of the {n_components} leading eigenvalues are not positive: "
            f"the rows span {span} dimension(s); the coordinates beyond are zero"
        )
    points = np.zeros((n, n_components))
    for batch in blocks:
        points[batch, :count][:, real] = (rows[batch] - mean) @ vectors[:, real]
    spectrum = np.pad(values, (0, n_components - count))
    fraction = spectrum / total if total > 0.0 else np.zeros_like(spectrum)
    return Embedding(eigen.pin_signs(points), spectrum, fraction, 0.0, eigen.CENTER)


def _lanczos(
    rows: Any, mean: Floats, count: int, blocks: list[slice]
) -> tuple[Floats, Floats, float]:
    """Leading eigenpairs of the columns' scatter, and its trace."""
    width = rows.shape[1]
    trace = sum(float(np.sum((rows[batch] - mean) ** 2)) for batch in blocks)

    def scatter(vector: Floats) -> Floats:
        product = _times(rows, vector.ravel(), blocks) - mean @ vector.ravel()
        return _back(rows, product, blocks) - mean * product.sum()

    start = np.random.default_rng(0).standard_normal(width)
    operator = LinearOperator((width, width), matvec=scatter, dtype=np.float64)
    values, vectors = seeded_eigsh(operator, count, v0=start)
    return values, vectors, trace


def _times(rows: Any, vector: Floats, blocks: list[slice]) -> Floats:
    """Rows times a vector; of sparse rows a constant of each is not stored."""
    if isinstance(rows, SparseRows):
        return np.asarray(rows.table.stored @ vector - rows.shift * vector.sum())
    return np.concatenate([rows[batch] @ vector for batch in blocks])


def _back(rows: Any, vector: Floats, blocks: list[slice]) -> Floats:
    """Return a vector times rows."""
    if isinstance(rows, SparseRows):
        return np.asarray(vector @ rows.table.stored - rows.shift @ vector)
    return np.asarray(sum(vector[batch] @ rows[batch] for batch in blocks))
