"""Peers that lay out a graph of neighbours: t-SNE, UMAP and their kin, each from its library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def tsne(X: Floats, n_components: int, seed: int, start: ArrayLike | None = None) -> NDArray[Any]:
    """t-SNE of scikit-learn, from PCA or a start of one's own."""
    from sklearn.manifold import TSNE

    # Barnes-Hut trees exist in up to three dimensions.
    method = "barnes_hut" if n_components <= 3 else "exact"
    init: Any = "pca" if n_components <= min(X.shape) else "random"
    if start is not None:
        # The library's own advice: a small start, so that the first steps can still reorder it.
        begin = np.asarray(start, dtype=np.float32)
        init = begin / begin[:, 0].std() * 1e-4
    perplexity = min(30.0, (X.shape[0] - 1) / 3.0)
    model = TSNE(n_components, perplexity=perplexity, method=method, init=init, random_state=seed)
    return model.fit_transform(X)


def umap(X: Floats, n_components: int, seed: int, start: ArrayLike | None = None) -> NDArray[Any]:
    """UMAP, from its spectral start or one of one's own."""
    import umap

    init: Any = "spectral"
    if start is not None:
        begin = np.asarray(start, dtype=np.float32)
        init = 10.0 * begin / np.abs(begin).max()
    model = umap.UMAP(n_components=n_components, init=init, random_state=seed, n_jobs=1)
    return model.fit_transform(X)


def opentsne(X: Floats, n_components: int, seed: int) -> NDArray[Any]:
    """t-SNE of openTSNE."""
    import openTSNE

    perplexity = min(30.0, (X.shape[0] - 1) / 3.0)
    # Its quick gradients, by interpolation, exist in up to two dimensions.
    gradient = "auto" if n_components <= 2 else "bh"
    model = openTSNE.TSNE(
        n_components,
        perplexity=perplexity,
        negative_gradient_method=gradient,
        random_state=seed,
        n_jobs=1,
    )
    return model.fit(X)
