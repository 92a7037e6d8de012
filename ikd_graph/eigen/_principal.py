"""Principal components of rows, dense or sparse."""

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from .._base import limits
from .._base import validation as check
from .._base.threads import batches, block_rows
from .._base.types import Floats
from ..covariance import SparseRows
from ._axes import pinned
from ._core import CENTER, Embedding, seeded_eigsh, warn_flat


@check.validate(n_components=check.count)
def principal_components(rows: Any, n_components: int) -> Embedding:
    """Principal components of rows (n, q), dense or `SparseRows`; nothing of their size is made."""
    n, width = rows.shape
    blocks = batches(n, block_rows(width))
    mean = sum(rows[batch].sum(axis=0, dtype=np.float64) for batch in blocks) / n
    count = min(n_components, width)
    if width <= limits.LANCZOS_FROM or count > width // 4:
        gram = sum((rows[batch] - mean).T @ (rows[batch] - mean) for batch in blocks)
        values, vectors = eigh(gram, subset_by_index=(width - count, width - 1))
        total = float(np.trace(gram))
    else:
        total = sum(float(np.sum((rows[batch] - mean) ** 2)) for batch in blocks)

        def scatter(vector: Floats) -> Floats:
            product = _times(rows, vector.ravel(), blocks) - mean @ vector.ravel()
            return _back(rows, product, blocks) - mean * product.sum()

        start = np.random.default_rng(0).standard_normal(width)
        operator = LinearOperator((width, width), matvec=scatter, dtype=np.float64)
        values, vectors = seeded_eigsh(operator, count, v0=start)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    real = values > width * np.finfo(np.float64).eps * max(float(values[0]), 0.0)
    points = np.zeros((n, n_components))
    for batch in blocks:
        points[batch, :count][:, real] = (rows[batch] - mean) @ vectors[:, real]
    if total > 0.0:
        warn_flat(points, "the rows")
    spectrum = np.pad(values, (0, n_components - count))
    fraction = spectrum / total if total > 0.0 else np.zeros_like(spectrum)
    return Embedding(pinned(points), spectrum, fraction, 0.0, CENTER)


def _times(rows: Any, vector: Floats, blocks: list[slice]) -> Floats:
    """Rows times a vector; of sparse rows a constant of each is not stored."""
    if isinstance(rows, SparseRows):
        return rows.stored @ vector - rows.shift * vector.sum()
    return np.concatenate([rows[batch] @ vector for batch in blocks])


def _back(rows: Any, vector: Floats, blocks: list[slice]) -> Floats:
    """Return a vector times rows."""
    if isinstance(rows, SparseRows):
        return vector @ rows.stored - rows.shift @ vector
    return np.asarray(sum(vector[batch] @ rows[batch] for batch in blocks))
