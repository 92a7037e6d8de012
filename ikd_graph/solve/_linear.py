"""The linear strategy: principal components of the rows as they are compared.

The Gaussian process with the linear kernel k(z, z') = z · z' has its likeliest latent in closed
form, the principal components (Lawrence 2005, J. Mach. Learn. Res. 6, Section 2): what a latent
without bends looks like.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from .. import _limits, eigen
from .._records import Embedding
from .._stages import Stages
from ..covariance import SparseRows
from ..similarity import Similarity
from ._plan import Plan, Solution

Floats = NDArray[np.float64]

_BLOCK = 4096  # rows that are centred at a time
_ROUNDING = 1e-12  # eigenvalues below it, relative to the largest, are none


def solve_linear(similarity: Similarity, plan: Plan, stages: Stages) -> Solution:
    """Principal components; of covariances alone, those of all pairs of distances."""
    rows = similarity.factor()
    with stages("eigenpairs"):
        if rows is not None:
            return Solution(principal_components(rows, plan.n_components))
        values = similarity.matrix()
        own = values.diagonal()
        sq_dist = np.maximum(own[:, None] + own - 2.0 * values, 0.0)
        return Solution(eigen.coordinates(sq_dist, plan.n_components))


def principal_components(rows: Any, n_components: int) -> Embedding:
    """Principal components of rows (n, q), dense or `SparseRows`; nothing of their size is made."""
    n, width = rows.shape
    blocks = [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
    mean = sum(rows[part].sum(axis=0, dtype=np.float64) for part in blocks) / n
    count = min(n_components, width)
    if width <= _limits.LANCZOS_FROM or count > width // 4:
        gram = sum((rows[part] - mean).T @ (rows[part] - mean) for part in blocks)
        values, vectors = eigh(gram, subset_by_index=(width - count, width - 1))
        total = float(np.sum(gram**2))
    else:
        values, vectors, total = _lanczos(rows, mean, count, blocks)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    real = values > _ROUNDING * max(float(values[0]), 0.0)
    span = int(np.count_nonzero(real))
    if span < n_components and total > 0.0:
        warnings.warn(
            f"{n_components - span} of the {n_components} leading eigenvalues are not positive: "
            f"the rows span {span} dimension(s); the coordinates beyond are zero",
            UserWarning,
            stacklevel=3,
        )
    points = np.zeros((n, n_components))
    for part in blocks:
        points[part, :count][:, real] = (rows[part] - mean) @ vectors[:, real]
    spectrum = np.pad(values, (0, n_components - count))
    share = spectrum**2 / total if total > 0.0 else np.zeros_like(spectrum)
    return Embedding(eigen.pin_signs(points), spectrum, share, 0.0, eigen.CENTRE)


def _lanczos(
    rows: Any, mean: Floats, count: int, blocks: list[slice]
) -> tuple[Floats, Floats, float]:
    """Leading eigenpairs of the columns' scatter, and the sum of all its squared eigenvalues.

    The sum is a lower bound: what is left of the trace is shared by all other dimensions alike.
    """
    n, width = rows.shape
    trace = sum(float(np.sum((rows[part] - mean) ** 2)) for part in blocks)

    def scatter(vector: Floats) -> Floats:
        found = _times(rows, vector.ravel(), blocks) - mean @ vector.ravel()
        return _back(rows, found, blocks) - mean * found.sum()

    start = np.random.default_rng(0).standard_normal(width)
    operator = LinearOperator((width, width), matvec=scatter, dtype=np.float64)
    values, vectors = eigsh(operator, count, v0=start)
    others = max(min(n, width) - count, 1)
    rest = max(trace - float(values.sum()), 0.0)
    return values, vectors, float(np.sum(values**2)) + rest**2 / others


def _times(rows: Any, vector: Floats, blocks: list[slice]) -> Floats:
    """Rows times a vector; of sparse rows a constant of each is not stored."""
    if isinstance(rows, SparseRows):
        return np.asarray(rows.table.stored @ vector - rows.shift * vector.sum())
    return np.concatenate([rows[part] @ vector for part in blocks])


def _back(rows: Any, vector: Floats, blocks: list[slice]) -> Floats:
    """A vector times rows."""
    if isinstance(rows, SparseRows):
        return np.asarray(vector @ rows.table.stored - rows.shift @ vector)
    return np.asarray(sum(vector[part] @ rows[part] for part in blocks))
