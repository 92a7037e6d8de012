"""What parameters and input of `IKD` must be, checked before work is done."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .. import eigen, graph, kernels, model, solve
from .._arrays import check_sparse
from .._gaps import check_known
from .._table import rows_of
from .._validation import (
    check_choice,
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_flag,
    check_fraction,
    check_has_rows,
    check_integer,
    check_jobs,
    check_no_neighbors,
    check_number_or_auto,
    check_positive,
    check_seed,
    check_size,
    check_symmetric,
    check_unmasked,
)
from ..evidence import REFINES, Wishes
from ..similarity import AFFINITIES
from ..solve import landmarks
from ._objects import as_table


def _is_auto(value: Any) -> bool:
    """Whether a value is the word; arrays are compared entry by entry."""
    return isinstance(value, str) and value == "auto"


STARTS = ("auto", "own", "all")


class CheckedEstimator(BaseEstimator):
    """Rules for the parameters of `IKD`."""

    n_components: int | str
    strategy: str
    kernel: Any
    affinity: str
    threshold: Any
    n_neighbors: int | None
    mutual: bool | str
    neighbors: str
    path: str
    reference: Any
    merge: str
    max_cliques: int | None
    disconnected: str
    keep_edges: bool | str
    refine: str | None
    starts: str
    fit_shape: bool
    n_landmarks: Any
    time_budget: float | None
    n_jobs: int | None
    random_state: Any
    missing: str
    verbose: int
    _counts: bool

    def _check_parameters(self) -> None:
        """Raise on any parameter that breaks a rule, before work is done."""
        if isinstance(self.n_components, str):
            check_number_or_auto("n_components", self.n_components)
        else:
            check_integer("n_components", self.n_components, 1)
        check_choice("strategy", self.strategy, ("auto", *solve.STRATEGIES))
        if not _is_auto(self.kernel):
            kernels.get(self.kernel)
        check_choice("affinity", self.affinity, ("auto", *AFFINITIES))
        self._check_affinity()
        if self.threshold is not None and not _is_auto(self.threshold):
            check_fraction("threshold", self.threshold, "'auto' chooses by the number of columns")
        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, 1)
        elif self.threshold is None and self.strategy not in solve.GRAPHLESS:
            raise ValueError(
                "threshold and n_neighbors must not both be None, got no rule for the graph; set "
                "n_neighbors=7, or threshold='auto'"
            )
        check_choice("neighbors", self.neighbors, graph.SEARCHES)
        check_choice("path", self.path, ("auto", *solve.PATHS))
        if not isinstance(self.reference, (int, np.integer)) or isinstance(self.reference, bool):
            check_choice("reference", self.reference, ("auto", *eigen.REFERENCES))
        if self.strategy == "linear" and self.reference not in ("auto", "center"):
            raise ValueError(
                f"reference must be 'auto' or 'center' for strategy='linear', got "
                f"{self.reference!r}; principal components are seen from the mean row"
            )
        check_choice("merge", self.merge, solve.MERGES)
        if self.max_cliques is not None:
            check_integer("max_cliques", self.max_cliques, 1)
        check_choice("disconnected", self.disconnected, solve.DISCONNECTED)
        if not isinstance(self.keep_edges, (bool, np.bool_)):
            check_choice("keep_edges", self.keep_edges, ("auto",), ", True or False")
        if self.refine is not None:
            check_choice("refine", self.refine, ("auto", *REFINES))
            if self.refine == "likelihood":
                check_has_rows(self._has_rows, "refine='likelihood'")
        check_choice("starts", self.starts, STARTS)
        check_flag("fit_shape", self.fit_shape)
        least = 1 if self.n_components == "auto" else int(self.n_components)
        landmarks.check_number(self.n_landmarks, least)
        if self.time_budget is not None:
            check_positive("time_budget", self.time_budget)
        check_choice("missing", self.missing, ("error", "pairwise"))
        if self.missing == "pairwise":
            check_has_rows(self._has_rows, "missing='pairwise'")
        check_integer("verbose", self.verbose, 0)
        check_jobs("n_jobs", self.n_jobs)
        check_seed("random_state", self.random_state)

    def _check_affinity(self) -> None:
        """Raise on what the affinity cannot be combined with."""
        if not isinstance(self.mutual, (bool, np.bool_)):
            check_choice("mutual", self.mutual, ("auto",), ", True or False")
        if self.affinity == "auto":
            return
        kind = AFFINITIES[self.affinity]
        if not kind.estimates_kernel and self.strategy in solve.GRAPHLESS:
            raise ValueError(
                f"strategy must be 'geodesic' or 'blockwise' for affinity={self.affinity!r}, got "
                f"{self.strategy!r}; most pairs share no neighbour, and only a graph does without "
                "them"
            )
        if not kind.takes_threshold and self.threshold is not None and self.threshold != "auto":
            raise ValueError(
                f"threshold must be 'auto' or None for affinity={self.affinity!r}, got "
                f"{self.threshold!r}; the graph is that of n_neighbors"
            )

    @property
    def _has_rows(self) -> bool:
        """Whether X is a table of rows, and not the covariance between them."""
        return self.affinity == "auto" or AFFINITIES[self.affinity].has_rows

    def _check_input(self, X: Any) -> Any:
        """X as an array of floats (or a sparse precomputed matrix) that can be worked with."""
        X = as_table(X, pairs=not self._has_rows)
        # In a table of counts a silent row is nothing unusual; elsewhere it is a mistake.
        self._counts = getattr(X, "dtype", np.dtype(float)).kind in "iub"
        X = self._read(
            X,
            dtype=[np.float64, np.float32] if self._has_rows else np.float64,
            accept_sparse="csr" if self._has_rows else ["csr", "csc", "coo"],
        )
        if self._has_rows:
            X = rows_of(X)
        check_enough_rows(X.shape[0])
        if self._has_rows:
            check_enough_columns(X.shape[1], self.affinity, self._least_columns)
        else:
            check_symmetric("a precomputed X", X)
            if sp.issparse(X) and self.n_neighbors is not None:
                check_no_neighbors(self.n_neighbors)
        if self.n_components != "auto":
            check_components(int(self.n_components), X.shape[0])
        return X

    def _read(self, X: Any, **options: Any) -> Any:
        """X by scikit-learn's rules, with NaN for what is missing where that may be."""
        check_sparse("X", X)
        gaps = self.missing == "pairwise" and self._has_rows
        if gaps and sp.issparse(X):
            raise ValueError(
                "missing must be 'error' for sparse rows, got 'pairwise'; what a sparse X does not "
                "store is zero, not missing: pass missing='error', or a dense X with NaN"
            )
        if gaps and isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(np.float64), np.nan)
        check_unmasked("X", X)
        finite = "allow-nan" if self._has_rows else True
        X = validate_data(self, X, ensure_all_finite=finite, **options)
        if self._has_rows and not gaps:
            check_known("X", X)
        if self._has_rows:
            check_size("X", X)
        return X

    @property
    def _least_columns(self) -> int:
        """Fewest columns that rows can be compared by."""
        return 2 if self.affinity == "auto" else AFFINITIES[self.affinity].least_columns

    def _task(self) -> model.Task:
        """What was asked for, as the model takes it."""
        return model.Task(
            n_components=self.n_components,
            affinity=self.affinity,
            kernel=self.kernel,
            wishes=Wishes(
                self.strategy,
                self.path,
                self.reference,
                self.threshold,
                self.n_neighbors,
                self.mutual,
                self.refine,
            ),
            neighbors=self.neighbors,
            merge=self.merge,
            max_cliques=self.max_cliques,
            disconnected=self.disconnected,
            keep_edges="auto" if self.keep_edges == "auto" else bool(self.keep_edges),
            starts=self.starts,
            fit_shape=bool(self.fit_shape),
            n_landmarks=self.n_landmarks,
            time_budget=self.time_budget,
            random_state=self.random_state,
            counts=self._counts,
            verbose=self.verbose,
        )
