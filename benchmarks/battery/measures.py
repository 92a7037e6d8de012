"""What the measuring scripts of this folder share: scores, samples of the model, peers, settings.

Nothing but `IKD` is imported from the package, so that two trees can be compared with PYTHONPATH.
"""

import json
import re
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from ikd_graph import IKD

def affine_r2(truth, Z):
    """Mean over the true coordinates of the R2 of a linear regression on Z, with intercept."""
    design = np.column_stack([np.ones(len(Z)), Z])
    residual = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    total = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    return float(np.mean(1.0 - (residual**2).sum(axis=0) / total))


def rigid_r2(A, B):
    """Procrustes R2 of two embeddings (n, m): rotation or reflection, translation and one scale.

    The fraction of the sum of squares of one that the other explains; the same both ways.
    """
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    singular = np.linalg.svd(A.T @ B, compute_uv=False)
    return float(singular.sum() ** 2 / ((A**2).sum() * (B**2).sum()))


def peer(name, X, M):
    """Embedding of a peer: pca, scaled_pca, isomap (10 neighbors) or umap (its defaults)."""
    from sklearn.decomposition import PCA

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "pca":
            return PCA(M, svd_solver="full").fit_transform(X)
        if name == "scaled_pca":
            spread = X.std(axis=0)
            return PCA(M, svd_solver="full").fit_transform(X[:, spread > 0] / spread[spread > 0])
        if name == "isomap":
            from sklearn.manifold import Isomap

            return Isomap(n_components=M, n_neighbors=10).fit_transform(X)
        import umap

        return umap.UMAP(n_components=M, random_state=0, n_jobs=1).fit_transform(X)


def fitted(X, M, **settings):
    """A fitted `IKD` and the processor seconds of the fit."""
    model = IKD(M, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model.fit(X)
        return model, time.process_time() - begin


def one_thread():
    """Keep BLAS of this process on one thread."""
    threadpool_limits(limits=1)


def settings_of(model):
    """What a fitted model chose, as text, by affinity, strategy, refine and graph.

    Numbers with a point are left out of the graph: a threshold follows the number of columns.
    """
    settings = getattr(model, "settings_", None)
    chosen = {}
    for name in ("affinity", "strategy", "refine", "graph"):
        value = settings.get(name) if isinstance(settings, dict) else getattr(settings, name, None)
        if settings is None:
            value = getattr(model, f"{name}_", None)
        if settings is None and name == "graph":
            value = (
                f"threshold={model.threshold_ is not None}, k={model.n_neighbors_}, "
                f"mutual={model.mutual_}"
            )
        chosen[name] = re.sub(r"\d*\.\d+(e-?\d+)?", "*", str(value))
    return chosen


def append(path, line):
    """Append a line to a jsonl file; nothing without a path."""
    if path is not None:
        with open(path, "a") as file:
            file.write(json.dumps(line) + "\n")
