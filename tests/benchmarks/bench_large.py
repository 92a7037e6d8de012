"""All 70 000 Fashion-MNIST images beside UMAP on the same two threads; compile time excluded.

Needs the folder of real data sets in IKD_GRAPH_DATA and umap-learn. Accuracies of five folds,
trustworthiness on a sample, the peak memory of each fit and the load of the machine before it go
into ``extra_info`` with the seconds of every stage.
"""

import contextlib
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from ikd_graph import IKD
from ikd_graph.study.metrics import knn_accuracy

THREADS = 2
SAMPLE = 4000


@pytest.fixture(scope="module")
def images():
    home = os.environ.get("IKD_GRAPH_DATA")
    if not home or not (Path(home) / "fashion_mnist.npz").is_file():
        pytest.skip("IKD_GRAPH_DATA does not name the folder of real data sets")
    with np.load(Path(home) / "fashion_mnist.npz") as stored:
        X = np.concatenate([stored["X_train"], stored["X_test"]])
        y = np.concatenate([stored["y_train"], stored["y_test"]])
    return X.reshape(len(X), -1).astype(np.float32) / np.float32(255.0), y


def ikd(n_components):
    return IKD(n_components, n_jobs=THREADS, random_state=0)


def umap(n_components):
    from umap import UMAP

    return UMAP(n_components=n_components, n_jobs=THREADS)


def pca(n_components):
    return PCA(n_components, svd_solver="randomized", random_state=0)


def forget_peak():
    """Let Linux count the peak memory of this process from now on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes():
    """Peak memory since it was last forgotten, of the whole process; NaN where nothing tells."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return float("nan")


@pytest.mark.benchmark(group="70 000 images")
@pytest.mark.parametrize("n_components", [2, 10])
@pytest.mark.parametrize("method", [ikd, umap, pca], ids=lambda method: method.__name__)
def test_seventy_thousand_images(benchmark, images, method, n_components):
    X, y = images
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method is ikd:
            # Enough rows for the same compiled code: landmarks and neighbours from cells.
            warm = ikd(n_components).set_params(neighbors="approximate", n_landmarks=50)
            warm.fit(X[:12_000])
        else:
            method(n_components).fit(X[:5000])
        model = method(n_components)
        benchmark.extra_info["load"] = os.getloadavg()[0]
        forget_peak()
        Z = np.asarray(benchmark.pedantic(model.fit_transform, args=(X,), rounds=1), np.float64)
    benchmark.extra_info["peak megabytes"] = peak_megabytes()
    some = np.random.default_rng(0).choice(len(X), SAMPLE, replace=False)
    benchmark.extra_info["5-NN accuracy"] = knn_accuracy(Z, y, 5)
    benchmark.extra_info["trustworthiness"] = float(
        trustworthiness(X[some], Z[some], n_neighbors=12)
    )
    if method is ikd:
        benchmark.extra_info["stages"] = model.stage_times_


@pytest.mark.benchmark(group="new images")
@pytest.mark.parametrize("n_new", [100, 10_000])
def test_ten_thousand_new_images(benchmark, images, n_new):
    X, _ = images
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ikd(2).fit(X[:60_000])
    model.transform(X[60_000:60_010])
    placed = benchmark.pedantic(model.transform, args=(X[60_000 : 60_000 + n_new],), rounds=1)
    assert np.isfinite(placed).all()
