"""Whole processes, as a user starts them, beside UMAP: compilation, imports and all.

Run with ``pytest tests/benchmarks -o python_files='bench_*.py' --benchmark-only -o addopts=""``.
``extra_info`` has the CPU seconds, which do not depend on who else uses the machine, and their
ratio to those of UMAP. Set OMP_NUM_THREADS and NUMBA_NUM_THREADS alike for both.
"""

import os
import resource
import subprocess
import sys

import pytest

DIGITS = "from sklearn.datasets import load_digits; X = load_digits().data; "
CLOTHES = (
    "import os, numpy as np; "
    "stored = np.load(os.path.join(os.environ['IKD_GRAPH_DATA'], 'fashion_mnist.npz')); "
    "X = np.concatenate([stored['X_train'], stored['X_test']]).reshape(70000, -1); "
    "X = X.astype(np.float32) / np.float32(255); del stored; "
)
# Not getrusage: its peak is handed down from the process that started this one.
PEAK = "; import re; print(re.search('VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
OURS = {
    "default": "from ikd_graph import IKD; IKD({m}).fit(X)",
    "geodesic": "from ikd_graph import IKD; IKD({m}, strategy='geodesic', refine=None).fit(X)",
    "blockwise": "from ikd_graph import IKD; IKD({m}, strategy='blockwise', refine=None).fit(X)",
}
UMAP = "from umap import UMAP; UMAP(n_components={m}).fit(X)"


def cpu_of(code, **environment):
    """CPU seconds and peak megabytes of a Python process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-c", code + PEAK]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stdout.split()[-1]) // 1024


def compare(benchmark, code, peer, **environment):
    """Time a process and note what it costs, and its ratio to the one of a peer."""
    ours = benchmark.pedantic(cpu_of, args=(code,), kwargs=environment, rounds=1)
    theirs = cpu_of(peer, **environment)
    benchmark.extra_info.update(
        {
            "CPU seconds": ours[0],
            "peak megabytes": ours[1],
            "CPU seconds of UMAP": theirs[0],
            "peak megabytes of UMAP": theirs[1],
            "ratio": ours[0] / theirs[0],
        }
    )


@pytest.mark.parametrize("cache", ["empty", "full"])
@pytest.mark.parametrize("way", OURS)
@pytest.mark.benchmark(group="digits, whole process")
def test_digits(benchmark, tmp_path, way, cache):
    pytest.importorskip("umap")
    code = DIGITS + OURS[way].format(m=2)
    places = {"NUMBA_CACHE_DIR": str(tmp_path)}
    if cache == "full":
        cpu_of(code, **places)
        cpu_of(DIGITS + UMAP.format(m=2), **places)
    compare(benchmark, code, DIGITS + UMAP.format(m=2), **places)


@pytest.mark.parametrize("n_components", [2, 10])
@pytest.mark.benchmark(group="70 000 images, whole process from a full cache")
def test_seventy_thousand_images(benchmark, data_home, n_components):
    pytest.importorskip("umap")
    ours, peer = (one.format(m=n_components) for one in (OURS["default"], UMAP))
    compare(benchmark, CLOTHES + ours, CLOTHES + peer)


@pytest.mark.benchmark(group="compare digits, from an empty cache")
def test_compare_digits(benchmark, tmp_path):
    code = f"from ikd_graph.cli import main; main(['compare', 'digits', '-o', {str(tmp_path)!r}])"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    benchmark.pedantic(
        subprocess.run,
        args=([sys.executable, "-c", code],),
        kwargs={
            "check": True,
            "capture_output": True,
            "env": {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        },
        rounds=1,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    benchmark.extra_info["CPU seconds"] = after.ru_utime - before.ru_utime
