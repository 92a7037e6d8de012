"""Tables of Dask: fitted as on one machine, placed lazily, on a cluster too."""

import os
import signal
import time

import numpy as np
import pytest
from tables import sheet

from ikd_graph import IKD

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def scratch(tmp_path):
    """One process, and a folder for what Dask might write."""
    with dask.config.set({"temporary-directory": str(tmp_path), "scheduler": "synchronous"}):
        yield tmp_path


def rows(n, p):
    return sheet(0, n, p)[0].astype(np.float32)


def fitted(X, seed=0):
    return IKD(affinity="euclidean", refine=None, random_state=seed).fit(X)


@pytest.mark.parametrize("chunks", [(150, 20), (400, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_coordinates_are_those_of_one_machine(chunks, dtype):
    X = (100.0 * rows(400, 20)).astype(dtype)
    one, many = fitted(X), fitted(da.from_array(X, chunks=chunks))
    assert np.array_equal(many.embedding_, one.embedding_)
    new = X[:120] + dtype(5)
    placed = many.transform(da.from_array(new, chunks=(50, 7)))
    assert placed.shape == (120, 2)
    assert placed.dtype == one.embedding_.dtype
    assert placed.chunks == ((50, 50, 20), (2,))
    assert np.array_equal(placed.compute(), one.transform(new))


def test_lazy_coordinates_are_of_the_model_they_were_asked_of():
    X = rows(300, 8)
    table, model = da.from_array(X, chunks=(100, 8)), fitted(X)
    expected, placed = model.transform(X), model.transform(table)
    model.fit(X[:200] * 2.0)
    assert np.array_equal(placed.compute(), expected)
    del model
    assert np.array_equal(placed.compute(), expected)


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (lambda: da.ones((30, 4, 2)), "3"),
        (lambda: da.ones((30, 4)) * 1j, "Complex data not supported"),
        (lambda: dask.delayed(np.eye)(4), r"got a Delayed of Dask; pass dask.array.from_delayed"),
    ],
)
def test_what_is_no_table_is_named(X, match):
    with pytest.raises(ValueError, match=match):
        IKD().fit(X())


def test_masked_values_in_blocks_are_missing():
    block = dask.delayed(lambda: np.ma.masked_less(np.arange(120.0).reshape(30, 4), 1.0))()
    table = da.concatenate([da.from_array(rows(60, 4)), da.from_delayed(block, (30, 4), float)])
    with pytest.raises(ValueError, match="got 1 row with missing values: 60;"):
        IKD().fit(table)


def test_a_covariance_in_blocks_is_refused():
    with pytest.raises(ValueError, match=r"affinity='precomputed'.*X.compute"):
        IKD(affinity="precomputed").fit(da.eye(30, chunks=10))


@pytest.fixture
def cluster(scratch):
    """Two processes with one thread each, and a client whose tasks go to them."""
    distributed = pytest.importorskip("distributed")
    settings = {"scheduler": None, "distributed.worker.daemon": True}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(scratch),
        ) as cluster,
        distributed.Client(cluster, set_as_default=True) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_places_rows_though_a_worker_dies(cluster):
    def slowly(block):
        """A block of rows that takes a while; local, so that workers need not import tests."""
        time.sleep(0.2)
        return block

    X = rows(400, 20)
    model = fitted(X)
    new = X + np.float32(5)
    placed = model.transform(da.from_array(new, chunks=(20, 20)).map_blocks(slowly))
    future = cluster.compute(placed)
    pids = set(cluster.run(os.getpid).values())
    assert len(pids | {os.getpid()}) == 3
    time.sleep(0.5)
    assert not future.done()
    os.kill(min(pids), signal.SIGKILL)
    assert np.array_equal(future.result(timeout=120), model.transform(new))
    cluster.wait_for_workers(2, timeout=60)
    assert set(cluster.run(os.getpid).values()) != pids
