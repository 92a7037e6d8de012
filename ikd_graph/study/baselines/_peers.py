"""Every peer by name, and the one way to call it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import kernels
from ..._checks import check_choice, check_finite, check_integer
from ..timing import timed
from . import _generative, _maps, _spectral

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Embedded:
    """What a peer made of the data.

    Attributes
    ----------
    name : str
        Name of the peer, a key of ``PEERS``.
    coordinates : (n, n_components) float64 or None
        The embedding, all finite; None if there is none.
    seconds : float
        Wall time of the call, imports left out.
    failure : str
        Why there is no embedding; empty if there is one.
    notes : tuple of str
        Warnings that the library gave.
    cpu_seconds : float
        Processor time of the call.
    """

    name: str
    coordinates: Floats | None
    seconds: float
    failure: str = ""
    notes: tuple[str, ...] = ()
    cpu_seconds: float = 0.0


class Peer(NamedTuple):
    """One way to embed."""

    title: str  # as a person writes it
    family: str  # "eigen" or "optimisation", as the paper divides them
    library: str  # what to install; empty for what the package needs anyway
    module: str  # what to import
    settings: str  # in words
    run: Callable[..., NDArray[Any]]  # (X, n_components, seed, **options)
    options: tuple[str, ...] = ()  # options of ``embed`` that it understands


def embed(
    name: str,
    X: ArrayLike,
    n_components: int = 2,
    seed: int = 0,
    *,
    start: ArrayLike | None = None,
    kernel: str | kernels.StationaryKernel | None = None,
) -> Embedded:
    """Embed data with a peer.

    Parameters
    ----------
    name : str
        A key of ``PEERS``.
    X : (n, n_features) float64
        Points in rows.
    n_components : int
        Dimension of the embedding.
    seed : int
        Seed of whatever the peer draws.
    start : (n, n_components) float64 or None
        Where to begin (gplvm, tsne, umap), such as an IKD embedding.
    kernel : str, StationaryKernel or None
        Kernel of the Gaussian processes (gplvm); None is the squared exponential.

    Returns
    -------
    Embedded
        Coordinates, or the reason why there are none.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> embed("pca", X).coordinates.shape
    (40, 2)
    """
    check_choice("name", name, PEERS)
    peer = PEERS[name]
    data = np.ascontiguousarray(X, dtype=np.float64)
    check_finite("X", data)
    check_integer("n_components", n_components, 1, data.shape[0] - 1)
    given = {"start": start, "kernel": kernel}
    options = {key: value for key, value in given.items() if value is not None}
    for key in options:
        if key not in peer.options:
            able = ", ".join(n for n, p in PEERS.items() if key in p.options)
            raise ValueError(f"{key} must be None for {name!r}, got one; only {able} can use it")
    try:
        importlib.import_module(peer.module)
    except ImportError as error:
        wanted = f"needs {peer.library}, which is not installed (pip install {peer.library})"
        reason = wanted if isinstance(error, ModuleNotFoundError) else f"{peer.library}: {error}"
        return Embedded(name, None, 0.0, reason)
    done = timed(
        lambda: np.asarray(peer.run(data, n_components, seed, **options), dtype=np.float64)
    )
    found, failure = done.value, done.failure
    if found is not None and not np.all(np.isfinite(found)):
        found, failure = None, "the embedding holds NaN or infinity"
    return Embedded(name, found, done.seconds, failure, done.notes, done.cpu_seconds)


def _fit(module: str, name: str, *, seeded: bool = True, **settings: Any) -> Callable[..., Any]:
    """Run an estimator of a library with its own interface of scikit-learn."""

    def run(X: Floats, n_components: int, seed: int) -> NDArray[Any]:
        options = {**settings, "random_state": seed} if seeded else settings
        kind = getattr(importlib.import_module(module), name)
        return kind(n_components=n_components, **options).fit_transform(X)

    return run


KERNEL_PCA = ("poly", "rbf", "sigmoid", "cosine")
"""Kernels of kernel PCA, all of which the paper tries."""

_FAST, _SLOW = "eigen", "optimisation"
_SK = ("", "sklearn")
_MANIFOLD, _DECOMPOSITION = "sklearn.manifold", "sklearn.decomposition"

# fmt: off
PEERS: dict[str, Peer] = {
    "pca": Peer("PCA", _FAST, *_SK, "scikit-learn's defaults", _fit(_DECOMPOSITION, "PCA")),
    **{
        f"kernel_pca_{kernel}": Peer(f"kernel PCA ({kernel})", _FAST, *_SK, "defaults",
                                     _fit(_DECOMPOSITION, "KernelPCA", kernel=kernel))
        for kernel in KERNEL_PCA
    },
    "laplacian_eigenmaps": Peer("Laplacian eigenmaps", _FAST, *_SK, "nearest neighbours, T / 10",
                                _fit(_MANIFOLD, "SpectralEmbedding",
                                     affinity="nearest_neighbors")),
    "isomap": Peer("Isomap", _FAST, *_SK, "5 neighbours", _fit(_MANIFOLD, "Isomap", seeded=False)),
    "lle": Peer("LLE", _FAST, *_SK, "5 neighbours", _fit(_MANIFOLD, "LocallyLinearEmbedding")),
    "classical_mds": Peer("classical MDS", _FAST, *_SK, "defaults",
                          _fit(_MANIFOLD, "ClassicalMDS", seeded=False)),
    "metric_mds": Peer("metric MDS", _SLOW, *_SK, "started from PCA", _spectral.metric_mds),
    "diffusion_maps": Peer("diffusion maps", _FAST, "", "scipy", "epsilon from the tenth neighbour",
                           lambda X, n_components, seed: _spectral.diffusion_map(X, n_components)),
    "tsne": Peer("t-SNE", _SLOW, *_SK, "perplexity 30", _maps.tsne, ("start",)),
    "umap": Peer("UMAP", _SLOW, "umap-learn", "umap", "defaults", _maps.umap, ("start",)),
    "densmap": Peer("densMAP", _SLOW, "umap-learn", "umap", "defaults",
                    _fit("umap", "UMAP", densmap=True, n_jobs=1)),
    "opentsne": Peer("openTSNE", _SLOW, "openTSNE", "openTSNE", "perplexity 30", _maps.opentsne),
    "pacmap": Peer("PaCMAP", _SLOW, "pacmap", "pacmap", "defaults", _fit("pacmap", "PaCMAP")),
    "localmap": Peer("LocalMAP", _SLOW, "pacmap", "pacmap", "defaults", _fit("pacmap", "LocalMAP")),
    "phate": Peer("PHATE", _SLOW, "phate", "phate", "defaults",
                  _fit("phate", "PHATE", n_jobs=1, verbose=0)),
    "gplvm": Peer("GPLVM", _SLOW, "GPy", "GPy",
                  "squared exponential, started from PCA; 40 inducing points beyond 500",
                  _generative.gplvm, ("start", "kernel")),
    "vae": Peer("VAE", _SLOW, "torch", "torch", "128-64 hidden, 200 passes", _generative.vae),
}
"""Every peer by name."""
# fmt: on
