"""What a fit leaves on `IKD`, every number from the one record."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .. import alignment, model
from .._records import Blocks, CsrGraph
from .._threads import limit_threads
from ..similarity import KnownRows
from ._generative import GenerativeEstimator


class LearntEstimator(GenerativeEstimator):
    """Attributes that a fit leaves, documented in `IKD`."""

    # Outer None: not asked for yet.
    _bound: tuple[alignment.MergeBound | None] | None

    def _store(self, X: Any, found: model.Model) -> None:
        """Keep what was learnt."""
        latent, start, polished = found.latent, found.start, found.polished
        self._model = found
        self._noise = None if polished is None else polished.noise
        self._process = None
        self._bound = None
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
        wide = found.task.searches_widely
        self.starts_ = "all" if wide else "own"
        self.pool_ = () if polished is None else polished.pool
        errors = None if polished is None else polished.standard_errors
        self.standard_errors_ = None if errors is None else errors[found.inverse]
        self.graph_: CsrGraph | None = found.graph
        self.edge_suspicion_ = found.suspicion
        self.threshold_ = None if found.graph is None else found.choice.threshold
        self.n_neighbors_ = None if found.graph is None else found.choice.n_neighbors
        self.mutual_ = found.graph is not None and found.choice.mutual
        self.cliques_: Blocks | None = found.cliques
        self.merge_order_ = found.merge_order
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

    def _comparable(self, X: Any) -> Any:
        """What equal rows have in common: of a covariance, dense or sparse, its entries."""
        return X if self._has_rows else sp.csr_array(X)
