"""A million rows, and tables of Dask.

Sizes are rows of ``IKD_GRAPH_ROWS`` (default 100 000, the least beyond which nothing new happens);
seconds and peak memory of every fit go into ``extra_info``.
"""

import os
import warnings

import numpy as np
import pytest
from bench_large import forget_peak, peak_megabytes

from ikd_graph import IKD
from ikd_graph.study.metrics import affine_r2

N_ROWS = int(os.environ.get("IKD_GRAPH_ROWS", "100000"))


def roll(n, p, seed=0):
    """A rolled-up sheet turned into p noisy columns, and the sheet."""
    rng = np.random.default_rng(seed)
    angle, height = 1.5 * np.pi * (1.0 + 2.0 * rng.random(n)), 21.0 * rng.random(n)
    shape = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    along = 0.5 * (angle * np.sqrt(1.0 + angle**2) + np.arcsinh(angle))
    turn = np.linalg.qr(rng.normal(size=(p, 3)))[0].T
    X = (shape @ turn).astype(np.float32)
    for start in range(0, n, 10_000):
        X[start : start + 10_000] += 0.2 * rng.standard_normal((min(10_000, n - start), p), "f4")
    return X, np.column_stack([along, height])


def ikd(X):
    return IKD(2, n_jobs=2, random_state=0).fit_transform(X)


def umap(X):
    return pytest.importorskip("umap").UMAP(n_components=2, n_jobs=2).fit_transform(X)


def measured(benchmark, method, X, latent):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiled before it is timed.
        method(np.asarray(X[:12_000]))
        forget_peak()
        Z = np.asarray(benchmark.pedantic(method, args=(X,), rounds=1), np.float64)
    benchmark.extra_info["peak megabytes"] = peak_megabytes()
    benchmark.extra_info["R2"] = affine_r2(latent, Z)


@pytest.mark.benchmark(group=f"{N_ROWS} rows of 50 columns")
@pytest.mark.parametrize("method", [ikd, umap], ids=lambda method: method.__name__)
def test_many_rows(benchmark, method):
    measured(benchmark, method, *roll(N_ROWS, 50))


def block(path, start, stop):
    """Some rows of a file: an array of it would be sent to the workers with every task."""
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def in_blocks(path, n, p, size=5000):
    """Rows of a file as a table of Dask."""
    import dask
    import dask.array as da

    read, parts = dask.delayed(block), []
    for start in range(0, n, size):
        stop = min(start + size, n)
        parts.append(da.from_delayed(read(path, start, stop), (stop - start, p), np.float32))
    return da.concatenate(parts)


@pytest.mark.benchmark(group=f"{N_ROWS // 4} rows of 2000 columns")
@pytest.mark.parametrize("workers", [0, 2])
def test_rows_of_dask(benchmark, tmp_path, workers):
    distributed = pytest.importorskip("distributed")
    X, latent = roll(N_ROWS // 4, 2000)
    path = str(tmp_path / "X.npy")
    np.save(path, X)
    del X
    if not workers:
        measured(benchmark, ikd, np.load(path, mmap_mode="r"), latent)
        return
    settings = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": "1GB"}
    with (
        distributed.LocalCluster(dashboard_address=None, **settings) as cluster,
        distributed.Client(cluster),
    ):
        table = in_blocks(path, N_ROWS // 4, 2000)
        measured(benchmark, lambda X: IKD(2, random_state=0).fit(X).embedding_, table, latent)
