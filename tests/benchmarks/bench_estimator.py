"""Whole fits against scikit-learn's Isomap on the same rows with the same number of neighbours."""

import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.manifold import Isomap

from ikd_graph import IKD

N_NEIGHBORS = 8

PEAK = """
import re
from ikd_graph.study.datasets import fashion_mnist
X = fashion_mnist(n_samples={rows}).X
{fit}
# Not getrusage: its peak is handed down from the process that started this one.
print(int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""
FITS = {
    "ikd_graph": "from ikd_graph import IKD; "
    "IKD(2, strategy='geodesic', n_neighbors=8, n_jobs=2, refine=None).fit(X)",
    "isomap": "from sklearn.manifold import Isomap; Isomap(n_neighbors=8, n_jobs=2).fit(X)",
}


@pytest.fixture(scope="module", params=[2000, 6000])
def rows(request, data_home):
    from ikd_graph.study.datasets import fashion_mnist

    return fashion_mnist(n_samples=request.param).X


def peak_megabytes(name, n_rows):
    """Largest resident memory of a process that loads the rows and fits once."""
    code = PEAK.format(rows=n_rows, fit=FITS[name])
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, check=True
    )
    return int(run.stdout)


@pytest.mark.parametrize("name", FITS)
def bench_geodesic_fit(benchmark, rows, name):
    benchmark.group = f"geodesic fit, {len(rows)} Fashion-MNIST rows, M = 2, k = 8, 2 threads"
    model = (
        IKD(2, strategy="geodesic", n_neighbors=N_NEIGHBORS, n_jobs=2, refine=None)
        if name == "ikd_graph"
        else Isomap(n_neighbors=N_NEIGHBORS, n_jobs=2)
    )
    model.fit(rows[:300])  # compiled before the clock starts
    latent = benchmark.pedantic(model.fit_transform, args=(rows,), rounds=3)
    benchmark.extra_info["peak_megabytes"] = peak_megabytes(name, len(rows))
    assert np.all(np.isfinite(latent))


@pytest.mark.parametrize("n_rows", [1000, 3000, 6000])
@pytest.mark.benchmark(group="default, closed form and Isomap on Fashion-MNIST, M = 2, 2 threads")
def test_fits_of_one_run(benchmark, data_home, n_rows):
    # The cost of choosing is in the default; the ratios say how many times as long Isomap takes.
    from ikd_graph.study.datasets import fashion_mnist

    X = fashion_mnist(n_samples=n_rows).X
    models = {
        "isomap": Isomap(n_neighbors=N_NEIGHBORS, n_jobs=2),
        "closed form": IKD(2, strategy="geodesic", n_neighbors=N_NEIGHBORS, n_jobs=2, refine=None),
        "default": IKD(2, n_jobs=2),
    }
    seconds = {}
    for name, model in models.items():
        model.fit(X[:1100])  # compiled before the clock starts
        start = time.perf_counter(), time.process_time()
        model.fit(X)
        seconds[name] = time.perf_counter() - start[0], time.process_time() - start[1]
    for name in ("closed form", "default"):
        for kind, ours, theirs in zip(
            ("wall", "CPU"), seconds[name], seconds["isomap"], strict=True
        ):
            benchmark.extra_info[f"{name}, {kind}"] = theirs / ours
    benchmark.pedantic(models["default"].fit, args=(X,), rounds=1)
