"""Threads and BLAS are set inside a fit, counted, and given back."""

import multiprocessing
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ikd_graph import IKD
from ikd_graph._threads import limit_threads, map_blocks


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("BLAS has one thread here")
        yield


def points(seed=0, n=60):
    return np.random.default_rng(seed).normal(size=(n, 3)) @ np.ones((3, 40)) + np.sin(
        np.linspace(0, 9, n)[:, None] + np.linspace(0, 6, 40)
    )


def test_the_context_sets_both_and_gives_back_both(two_blas_threads):
    before = numba.get_num_threads()
    with limit_threads(1):
        assert numba.get_num_threads() == 1
        assert blas_threads() == {1}
    assert numba.get_num_threads() == before
    assert blas_threads() == {2}


def test_an_exception_does_not_leak_the_setting(two_blas_threads):
    before = numba.get_num_threads()
    with pytest.raises(RuntimeError, match="inside"), limit_threads(1):
        raise RuntimeError("inside")
    assert numba.get_num_threads() == before
    assert blas_threads() == {2}


def test_blocks_are_the_same_for_any_number_of_threads_and_errors_come_through():
    seen = {}
    for threads in (1, 2):
        calls = []
        with limit_threads(threads):
            map_blocks(lambda a, b, calls=calls: calls.append((a, b)), 10, 4)
        seen[threads] = sorted(calls)
    assert seen[1] == seen[2] == [(0, 4), (4, 8), (8, 10)]

    def fail(start, stop):
        raise ValueError(f"block {start}")

    with limit_threads(2), pytest.raises(ValueError, match="block 0"):
        map_blocks(fail, 10, 4)


def test_the_last_to_leave_restores_what_another_thread_had_set(two_blas_threads):
    # threadpoolctl alone lets only the thread that set BLAS first restore it.
    inside, leave = threading.Event(), threading.Event()

    def first():
        with limit_threads(1):
            inside.set()
            leave.wait(10)
        done.wait(10)

    done = threading.Event()
    worker = threading.Thread(target=first)
    worker.start()
    inside.wait(10)
    with limit_threads(1):
        leave.set()
        threading.Event().wait(0.2)
        assert blas_threads() == {1}
    # The first thread lives on: it must not keep the setting to itself.
    assert blas_threads() == {2}
    done.set()
    worker.join()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_four_threads_may_fit_together():
    model = {"n_components": 2, "strategy": "geodesic", "graph": 8, "n_jobs": 2}
    expected = [IKD(**model).fit_transform(points(seed, 30)) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        fits = pool.map(lambda seed: IKD(**model).fit_transform(points(seed, 30)), range(4))
        found = list(fits)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def fit_in_child(queue):
    model = IKD(n_components=2, strategy="geodesic", graph=8, n_jobs=2)
    queue.put(model.fit_transform(points()))


@pytest.mark.skipif(sys.platform != "linux", reason="fork is the default on Linux only")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_forked_child_fits_after_its_parent_has():
    expected = IKD(n_components=2, strategy="geodesic", graph=8, n_jobs=2).fit_transform(points())
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=fit_in_child, args=(queue,))
    child.start()
    found = queue.get(timeout=120)
    child.join(30)
    assert child.exitcode == 0
    assert np.array_equal(found, expected)


WORKQUEUE = """
    import os
    os.environ["NUMBA_THREADING_LAYER"] = "workqueue"
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    from ikd_graph import geodesics, graph, kernels
    from ikd_graph.covariance import correlation

    corr = correlation(np.random.default_rng(0).normal(size=(300, 20)))
    g = graph.neighbors(corr, 8)
    work = lambda _: geodesics.distances(g, kernels.SquaredExponential()).sum()
    with ThreadPoolExecutor(4) as pool:
        print(len(set(pool.map(work, range(8)))))
"""


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_threads_share_the_workqueue_layer_without_an_abort():
    outcome = run(WORKQUEUE)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip() == "1"
