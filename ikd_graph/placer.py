"""The training rows of a fit, and what places others among them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import covariance, newpoints
from ._threads import map_blocks

Floats = NDArray[np.float64]


class Placer:
    """Compares new rows with training rows in chunks, and places each by itself.

    Parameters
    ----------
    X : (n, p) ndarray of float, or (n, n) covariance, dense or scipy sparse
        What was fitted.
    rows : (n, p) ndarray of float or None
        Its scaled rows, whose products are covariances; None for a precomputed covariance.
    placement : Placement
        What was kept of the fit.
    affinity : str
        How rows are compared.
    variance : float
        What covariances were divided by.
    counts : bool
        Whether X is a table of integers, in which a row without spread is nothing unusual.
    n_mutual : int or None
        Nearest rows among which a training row must have a new one to be walked through first;
        None asks for no such thing.
    """

    def __init__(
        self,
        X: Any,
        rows: NDArray[np.floating] | None,
        placement: newpoints.Placement,
        *,
        affinity: str,
        variance: float,
        counts: bool,
        n_mutual: int | None,
    ) -> None:
        self._affinity, self._variance, self._counts = affinity, variance, counts
        self._placement = placement
        self._rows, self._euclidean = rows, None
        if affinity == "euclidean":
            self._euclidean = covariance.euclidean_rows(X)
            self._rows = self._euclidean.others
        self._reach = None
        if n_mutual is not None and self._rows is not None:
            self._reach = newpoints.Reach(self._rows, min(n_mutual, X.shape[0] - 1))
        self._known = newpoints.KnownRows(self._entries(X))

    def place(self, X: Any, training: NDArray[np.floating], verbose: int) -> tuple[Floats, Floats]:
        """Latent and residual of rows; a row that equals a training row gets the latent of that.

        Parameters
        ----------
        X : (n_new, p) ndarray of float, or (n_new, n) covariance, dense or scipy sparse
            Rows like those that were fitted.
        training : (n, m) ndarray of float
            Latent of the training rows.
        verbose : int
            1 shows a progress bar on a terminal.

        Returns
        -------
        latent : (n_new, m) ndarray of the type of training
            Where the rows are put.
        residual : (n_new,) ndarray of float64
            How badly they fit in.
        """
        latent = np.empty((X.shape[0], training.shape[1]))
        residual = np.empty(X.shape[0])
        chunk = newpoints.CHUNK_ROWS
        if self._affinity == "precomputed":
            chunk = newpoints.chunk_rows(training.shape[0])
        bar = _bar(X.shape[0], verbose, "placing rows")

        def place(start: int, stop: int) -> None:
            part = slice(start, stop)
            latent[part], residual[part] = newpoints.place(placement, *self._compare(X[part]))
            if bar is not None:
                bar.update(stop - start)

        try:
            placement = self._whole_placement()
            map_blocks(place, X.shape[0], chunk)
        finally:
            if bar is not None:
                bar.close()
        found = latent.astype(training.dtype, copy=False)
        equal = self._known.find(self._entries(X))
        found[equal >= 0] = training[equal[equal >= 0]]
        return found, residual

    def _whole_placement(self) -> newpoints.Placement:
        """What places new rows; whom each training row is near is looked up on first use."""
        if self._reach is None:
            return self._placement
        return replace(self._placement, n_candidates=self._reach.count, reach=self._reach.values)

    def _compare(self, X: Any) -> tuple[Any, Any, Any]:
        """Covariances on the scale of variance 1, or both sets of rows whose products they are."""
        if self._euclidean is not None:
            made = covariance.euclidean_rows(X, like=self._euclidean)
            return None, made.rows, self._rows
        if self._affinity != "precomputed":
            affinity = "correlation" if self._affinity == "shared_neighbors" else self._affinity
            scale = np.sqrt(self._variance * (X.shape[1] - 1))
            rows = covariance.unit_rows(X, affinity, scale=scale, allow_flat=self._counts)
            return None, rows, self._rows
        dense = X.toarray() if sp.issparse(X) else X
        return np.asarray(dense / self._variance), None, None

    def _entries(self, X: Any) -> Any:
        """What equal rows have in common: of a covariance, dense or sparse, its entries."""
        return sp.csr_array(X) if self._affinity == "precomputed" else X


def _bar(total: int, verbose: int, text: str) -> Any:
    """A progress bar on a terminal, or None."""
    if not verbose or not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    return tqdm(total=total, desc=text, leave=False)


__all__ = ["Placer"]
