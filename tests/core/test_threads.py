"""Threads and BLAS are set inside a fit, counted, and given back."""

import contextlib
import multiprocessing
import os
import signal
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
from ikd_graph._base import threads
from ikd_graph._base.threads import limit_threads


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


def test_an_interrupt_at_any_moment_leaves_the_threads_as_they_were(two_blas_threads):
    before, own = numba.get_num_threads(), threads.__file__
    for number in range(1, 1000):
        left = number

        def interrupt(frame, event, _):
            # Python looks for signals as a function begins and after calls.
            nonlocal left
            if frame.f_code.co_filename == own and event in ("call", "c_return"):
                left -= 1
                if not left:
                    raise KeyboardInterrupt

        sys.setprofile(interrupt)
        try:
            with limit_threads(1):
                pass
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        assert blas_threads() == {2}, number
        assert numba.get_num_threads() == before, number
    assert 10 < number < 999


FORKED = """
    import os, threading, time
    import threadpoolctl
    from ikd_graph._base.threads import limit_threads

    class Slow(threadpoolctl.ThreadpoolController):
        def __init__(self):
            entered.set()
            time.sleep(1.0)
            super().__init__()

    entered, threadpoolctl.ThreadpoolController = threading.Event(), Slow
    def work():
        with limit_threads(1):
            pass
    worker = threading.Thread(target=work)
    worker.start()
    entered.wait()
    child = os.fork()
    work()
    if not child:
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_is_forked_beside_a_fitting_thread_does_not_hang():
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED)],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert process.communicate(timeout=60)[0] == "0\n"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_callers_have_numpy_raise_changes_nothing():
    X = np.random.default_rng(0).normal(size=(40, 30))
    X[:, :5] += 0.1 * np.arange(40)[:, None]
    expected = IKD("auto").fit(X).transform(1.1 * X)
    with np.errstate(all="raise"):
        assert np.array_equal(IKD("auto").fit(X).transform(1.1 * X), expected)
        assert np.geterr()["over"] == "raise"


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
