"""Whole fits against scikit-learn's Isomap on the same rows with the same number of neighbours."""

import subprocess
import sys

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
