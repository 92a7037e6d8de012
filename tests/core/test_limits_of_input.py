"""Little memory, extreme rows, saddles: what is answered is whole, and alone as among others."""

import sys
import warnings

import numpy as np
import pytest

from ikd_graph import IKD

EUCLIDEAN = {"strategy": "geodesic", "graph": 8, "refine": None, "affinity": "euclidean"}


def rows(n=40, p=25, noise=0.3):
    r = np.random.default_rng(0)
    t = r.uniform(0, 1, (n, 2))
    X = np.sin(2.0 * t @ r.normal(size=(2, p)) + r.uniform(0, 6, p))
    return X + noise * r.normal(size=(n, p))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of address space")
def test_text_is_read_below_a_limit_of_address_space(tmp_path):
    import subprocess

    np.savetxt(tmp_path / "t.csv", rows(), delimiter=",")
    code = (
        "import resource, sys\n"
        "from ikd_graph import datasets\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 200 * 2**20,) * 2)\n"
        "print(datasets.load(sys.argv[1]).X.shape)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.csv")], capture_output=True, text=True
    )
    assert said.stdout == "(40, 25)\n", said.stderr[-300:]


@pytest.mark.parametrize("size", [1e-75, 1e-150, 1e-300, 0.0])
def test_a_tiny_row_is_placed_alone_as_among_others(size):
    X = rows()
    model = IKD(**EUCLIDEAN).fit(X)
    tiny = np.full((1, 25), size)
    alone, among = model.transform(tiny), model.transform(np.vstack([tiny, X[:3] + 0.1]))
    np.testing.assert_array_equal(alone[0], among[0])
    with pytest.raises(ValueError, match="multiply it by a power of ten"):
        IKD(**EUCLIDEAN).fit(X * 1e-75)


@pytest.mark.parametrize("noise", [0.05, 0.8])
def test_standard_errors_of_a_row_are_known_wherever_it_is_placed(noise):
    r = np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(refine="likelihood", affinity="correlation").fit(rows(noise=noise))
        for scale in (1e-3, 1.0, 30.0):
            Z, errors = model.transform(scale * r.normal(size=(60, 25)), return_std=True)
            np.testing.assert_array_equal(np.isfinite(Z), np.isfinite(errors))
            assert (errors[np.isfinite(Z)] > 0).all()


@pytest.mark.parametrize("size", [5e-324, -5e-324, 1e-310])
def test_a_subnormal_value_is_answered_without_words_of_numpy(size):
    X = rows()
    X[0, 0] = size
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        IKD().fit(X).transform(X + 0.1)


def test_residuals_of_equal_rows_are_finite():
    X = np.outer(np.arange(3), np.arange(1.0, 6.0)) + 1e8
    X[2] = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(1, strategy="eigen", affinity="hellinger").fit(X)
        assert np.isfinite(model.residuals_).all()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no limit of address space")
def test_what_does_not_fit_below_a_limit_of_address_space_is_refused_first(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda which: (2**20, 2**20))
    with pytest.raises(MemoryError, match=r"must fit into memory.* need less"):
        IKD(strategy="eigen", affinity="euclidean", refine=None).fit(rows())
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY,) * 2)
    IKD(strategy="eigen", affinity="euclidean", refine=None).fit(rows())
