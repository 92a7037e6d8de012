"""What a fit leaves on `IKD`, every number from the one record."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import alignment, model, placement
from .._records import Blocks, CsrGraph
from .._table import rows_of, some_rows
from .._threads import limit_threads
from .._version import __version__
from ..similarity import KnownRows
from . import _saved
from ._generative import GenerativeEstimator
from ._objects import as_table, is_dask, like

Floats = NDArray[np.float64]
Estimator = TypeVar("Estimator", bound="LearntEstimator")


class LearntEstimator(GenerativeEstimator):
    """Attributes that a fit leaves, documented in `IKD`."""

    # Outer None: not asked for yet.
    _bound: tuple[alignment.MergeBound | None] | None
    # HTML of a fitted model, empty without the libraries; the package sets it, since what draws
    # stands on a floor above this one.
    _shown: Callable[[Any], str] | None = None

    def _repr_html_inner(self) -> str:
        """What a notebook shows: a picture and reasons, before a fit the parameters."""
        draw = type(self)._shown
        found = draw(self) if draw is not None and hasattr(self, "_model") else ""
        return found or str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The same for front ends that ask for all kinds at once."""
        found: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in found:
            found["text/html"] = self._repr_html_inner()
        return found

    def _store(self, X: Any, found: model.Model) -> None:
        """Keep what was learnt."""
        latent, start, polished = found.latent, found.start, found.polished
        self._model = found
        self._noise = None if polished is None else polished.noise
        self._process = None
        self._bound = None
        # Rows as they were given: what was missing is missing where they are found again.
        self._known = KnownRows(self._comparable(X))
        # Placement works in double precision whatever the type of X.
        self.embedding_ = latent.coordinates.astype(X.dtype, copy=False)
        self.n_components_ = latent.coordinates.shape[1]
        self.eigenvalues_ = latent.eigenvalues
        self.explained_variance_ratio_ = latent.explained_variance_ratio
        self.negative_mass_ = latent.negative_mass
        self.reference_ = latent.reference
        self.merge_residuals_ = latent.residuals
        self.start_embedding_ = start.coordinates.astype(X.dtype, copy=False)
        self.start_eigenvalues_ = start.eigenvalues
        self.start_explained_variance_ratio_ = start.explained_variance_ratio
        self.start_negative_mass_ = start.negative_mass
        self.spectrum_ = found.spectrum
        self.strategy_ = found.plan.strategy
        self.affinity_ = found.similarity.name
        self.path_ = found.plan.path
        self.kernel_ = found.plan.kernel
        self.refine_ = None if polished is None else polished.name
        self.n_iter_ = 0 if polished is None else polished.n_iter
        self.starts_ = "all" if found.searches_widely else "own"
        self.pool_ = () if polished is None else polished.pool
        errors = None if polished is None else polished.standard_errors
        self.standard_errors_ = None if errors is None else errors[found.inverse]
        self.graph_: CsrGraph | None = found.graph
        self.removed_edges_ = found.suspicion
        self.threshold_ = None if found.graph is None else found.choice.threshold
        self.n_neighbors_ = None if found.graph is None else found.choice.n_neighbors
        self.mutual_ = found.graph is not None and found.choice.mutual
        self.cliques_: Blocks | None = found.cliques
        self.merge_order_ = found.merge_order
        self.merge_start_share_ = found.start_share
        self.component_labels_ = found.labels
        self.n_components_graph_ = int(found.labels.max(initial=0)) + 1
        self.variance_ = found.similarity.variance
        self.landmarks_ = found.landmarks
        self.n_landmarks_ = None if found.landmarks is None else int(found.landmarks.size)
        self.choices_ = found.choice.reasons
        self.candidates_ = found.trials

    @property
    def merge_gap_(self) -> float | None:
        """How far the merger can be from the best of all."""
        bound = self._merge_bound()
        return None if bound is None else bound.gap

    def _merge_bound(self) -> alignment.MergeBound | None:
        """Certificate of the merger, computed when it is first asked for."""
        check_is_fitted(self)
        if self._bound is None:
            with limit_threads(self.n_jobs):
                self._bound = (self._model.merge_bound(),)
        return self._bound[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON in one zip file, no pickle.

        The file appears whole or not at all. It holds the rows the model was fitted to, which new
        rows are compared with. A ``random_state`` that is a RandomState is not kept.

        Parameters
        ----------
        path : str or path-like
            Name of the file, such as ``"model.ikd"``; one that is there is replaced.

        Raises
        ------
        TypeError
            If the kernel is one of your own.

        Examples
        --------
        >>> import tempfile, numpy as np
        >>> from ikd_graph import IKD
        >>> X = np.random.default_rng(0).normal(size=(30, 5))
        >>> model = IKD(refine=None).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/model.ikd")
        ...     again = IKD.load(folder + "/model.ikd")
        >>> bool(np.all(again.transform(X + 0.1) == model.transform(X + 0.1)))
        True
        """
        check_is_fitted(self)
        # A process and a bound are made anew from the rest.
        _saved.write(path, {**vars(self), "_process": None, "_bound": None})

    @classmethod
    def load(cls: type[Estimator], path: str | os.PathLike[str]) -> Estimator:
        """Read a model that `save` wrote. Nothing in the file is run.

        Parameters
        ----------
        path : str or path-like
            Name of the file.

        Returns
        -------
        IKD
            The fitted estimator: it places rows where the saved one did, to the last bit on the
            same machine.

        Raises
        ------
        ValueError
            If the file is not one of a model, is damaged, or was written in a newer format.
        """
        made = cls()
        made.__dict__.update(_saved.read(path))
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_ikd_graph_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_ikd_graph_version", "before 0.1.0")
        if version != __version__ and "_model" in state:
            warnings.warn(
                f"this IKD was pickled by ikd_graph {version} and is read by {__version__}, which "
                "may place rows elsewhere; fit it again, or keep models with IKD.save and IKD.load",
                UserWarning,
                stacklevel=2,
            )
        super().__setstate__(state)

    def _comparable(self, X: Any) -> Any:
        """What equal rows have in common: of a covariance, dense or sparse, its entries."""
        return X if self._has_rows else sp.csr_array(X)

    def _placed(self, X: Any) -> Any:
        """Latent of rows as the object they came in; those of Dask are placed when computed."""
        if not is_dask(X):
            return like(X, self._place(X)[0])
        from ..distributed import place

        check_is_fitted(self)
        return place(self, X, self.embedding_.shape[1], self.embedding_.dtype)

    def _place(self, X: Any) -> tuple[Floats, Floats]:
        """Latent and residual of rows."""
        check_is_fitted(self)
        found = self._model
        X = self._read(
            as_table(X, pairs=not self._has_rows),
            dtype=np.float64 if found.rows is None else found.rows.dtype,
            reset=False,
            accept_sparse="csr",
        )
        X = rows_of(X) if self._has_rows else X
        equal = self._known.find(self._comparable(X))
        known, new = np.flatnonzero(equal >= 0), np.flatnonzero(equal < 0)
        latent = np.empty((X.shape[0], self.embedding_.shape[1]), dtype=self.embedding_.dtype)
        residual = np.zeros(X.shape[0])
        latent[known] = self.embedding_[equal[known]]
        if new.size:
            fresh = X if new.size == X.shape[0] else some_rows(X, new)
            if self.missing == "pairwise":
                fresh = model.fill_new(fresh, found.rows, found.similarity.name)
            with limit_threads(self.n_jobs):
                latent[new], residual[new] = placement.place(
                    found.placement,
                    found.similarity,
                    fresh,
                    process=self._process_model(),
                    verbose=self.verbose,
                )
        return latent, residual
