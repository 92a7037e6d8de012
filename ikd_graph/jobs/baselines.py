"""The peers behind one interface, each from its own library.

A peer that cannot run (a library that is not installed, data that it refuses) is a record with its
reason, never a crash.
"""

import importlib
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.types import Floats
from .._base.validation import finite, one_of, whole

__all__ = ["PEERS", "Peer", "Timed", "embed", "timed"]


class Timed(NamedTuple):
    """What came of a call, and what it took."""

    value: Any  # None after a failure
    seconds: float
    cpu_seconds: float
    failure: str  # empty if it worked
    notes: tuple[str, ...]  # warnings, each once


def timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> Timed:
    """Make a call and time it: its value, or the reason why there is none.

    Examples
    --------
    >>> timed(pow, 2, 2).value
    4
    >>> timed(divmod, 1, 0).failure
    'ZeroDivisionError: integer division or modulo by zero'
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cpu, begin = time.process_time(), time.perf_counter()
        try:
            value, failure = work(*arguments, **options), ""
        # Whatever a method raises is its answer, and a row in a table.
        except Exception as error:
            value, failure = None, f"{type(error).__name__}: {error}"
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return Timed(value, seconds, cpu, failure, tuple(dict.fromkeys(str(w.message) for w in caught)))


class Peer(NamedTuple):
    """One way to embed."""

    title: str  # as a person writes it
    library: str  # what to install; empty for what the package needs anyway
    module: str  # what to import
    run: Callable[..., NDArray[Any]]  # (X, n_components, seed, **options)


def embed(name: str, X: ArrayLike, n_components: int = 2, seed: int = 0, **options: Any) -> Timed:
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
    **options
        What ``run`` of this peer takes next to these.

    Returns
    -------
    Timed
        Coordinates (``value``), or the reason why there are none, and the time.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> embed("pca", X).value.shape
    (40, 2)
    """
    one_of(PEERS)("name", name)
    peer = PEERS[name]
    data = np.ascontiguousarray(X, dtype=np.float64)
    finite()("X", data)
    whole(1, data.shape[0] - 1)("n_components", n_components)
    try:
        importlib.import_module(peer.module)
    except ImportError as error:
        missing = f"needs {peer.library}, which is not installed (pip install {peer.library})"
        reason = missing if isinstance(error, ModuleNotFoundError) else f"{peer.library}: {error}"
        return Timed(None, 0.0, 0.0, reason, ())
    done = timed(
        lambda: np.asarray(peer.run(data, n_components, seed, **options), dtype=np.float64)
    )
    if done.value is not None and not np.all(np.isfinite(done.value)):
        return done._replace(value=None, failure="the embedding holds NaN or infinity")
    return done


def tsne(X: Floats, n_components: int, seed: int) -> NDArray[Any]:
    """t-SNE of scikit-learn, from PCA where it has as many components."""
    from sklearn.manifold import TSNE

    # Barnes-Hut trees exist in up to three dimensions.
    method = "barnes_hut" if n_components <= 3 else "exact"
    perplexity = min(30.0, (X.shape[0] - 1) / 3.0)
    # PCA has no more components than there are columns.
    init: Any = "pca" if n_components <= min(X.shape) else "random"
    model = TSNE(n_components, perplexity=perplexity, method=method, init=init, random_state=seed)
    return model.fit_transform(X)


def _peer(
    title: str, module: str, name: str, library: str = "", *, seeded: bool = True, **settings: Any
) -> Peer:
    """Peer by an estimator of a module with the interface of scikit-learn."""

    def run(X: Floats, n_components: int, seed: int, **options: Any) -> NDArray[Any]:
        options = {**settings, **({"random_state": seed} if seeded else {}), **options}
        kind = getattr(importlib.import_module(module), name)
        return kind(n_components=n_components, **options).fit_transform(X)

    return Peer(title, library, module.partition(".")[0], run)


_MANIFOLD = "sklearn.manifold"

PEERS: dict[str, Peer] = {
    "pca": _peer("PCA", "sklearn.decomposition", "PCA"),
    "laplacian_eigenmaps": _peer("Laplacian eigenmaps", _MANIFOLD, "SpectralEmbedding"),
    "isomap": _peer("Isomap", _MANIFOLD, "Isomap", seeded=False),
    "lle": _peer("LLE", _MANIFOLD, "LocallyLinearEmbedding"),
    "classical_mds": _peer("classical MDS", _MANIFOLD, "ClassicalMDS", seeded=False),
    "tsne": Peer("t-SNE", "", "sklearn", tsne),
    "umap": _peer("UMAP", "umap", "UMAP", "umap-learn", n_jobs=1),
    "pacmap": _peer("PaCMAP", "pacmap", "PaCMAP", "pacmap"),
    "phate": _peer("PHATE", "phate", "PHATE", "phate", n_jobs=1, verbose=0),
}
"""Every peer by name, each with the settings of its library."""
