"""Tables of Dask: a sample is fitted, all rows are placed lazily, on a cluster too."""

import os
import pickle
import signal
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tables import roll, sheet

import ikd_graph
from ikd_graph import IKD

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

FEW = 120
"""Rows of a sample in these tests, in place of 10 000."""


@pytest.fixture(autouse=True)
def scratch(tmp_path):
    """One process, and a folder for what Dask might write."""
    with dask.config.set({"temporary-directory": str(tmp_path), "scheduler": "synchronous"}):
        yield tmp_path


@pytest.fixture
def few(monkeypatch):
    """A small size of samples."""
    monkeypatch.setattr("ikd_graph._base.limits.FITTED_OF_DASK", FEW)


def rows(n, p):
    return sheet(0, n, p)[0].astype(np.float32)


def fitted(X, seed=0):
    return IKD(affinity="euclidean", refine=None, random_state=seed).fit(X)


def same(lazy, expected):
    """Whether a lazy array has the bits, shape and type of one in memory."""
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    return np.array_equal(lazy.compute(), expected)


@pytest.mark.parametrize("chunks", [(50, 20), (FEW, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_a_table_of_the_size_of_a_sample_is_fitted_as_in_memory(few, chunks, dtype):
    X = (100.0 * rows(FEW, 20)).astype(dtype)
    one, many = fitted(X), fitted(da.from_array(X, chunks=chunks))
    assert same(many.embedding_, one.embedding_)
    assert many.sample_indices_.tolist() == list(range(FEW))
    assert one.sample_indices_ is None
    new = X[:120] + dtype(5)
    placed = many.transform(da.from_array(new, chunks=(50, 7)))
    assert placed.chunks == ((50, 50, 20), (2,))
    assert same(placed, one.transform(new))


@pytest.mark.parametrize("n", [FEW + 1, 2 * FEW - 1, 1000])
def test_of_a_larger_table_a_sample_is_fitted_and_all_rows_are_placed(few, n):
    X = rows(n, 20)
    model = fitted(da.from_array(X, chunks=(77, 20)))
    taken = model.sample_indices_
    one = fitted(X[taken])
    assert (np.diff(taken) > 0).all()
    assert taken.size == FEW
    assert same(model.embedding_, one.transform(X))
    assert np.array_equal(model.embedding_[taken].compute(), one.embedding_)
    assert model.embedding_.chunks[0] == (77,) * (n // 77) + (n % 77,)
    assert model.fingerprint_ == one.fingerprint_


@pytest.mark.slow
def test_ten_thousand_rows_are_fitted():
    X = roll(10_001, noise=0.1)[0]
    whole, sample = (fitted(da.from_array(X[:n], chunks=3000)) for n in (10_000, 10_001))
    assert same(whole.embedding_, fitted(X[:10_000]).embedding_)
    assert sample.sample_indices_.size == 10_000
    assert same(sample.embedding_, fitted(X[sample.sample_indices_]).transform(X))


def test_a_sample_is_spread_evenly_by_seed_and_not_by_blocks(few):
    X = rows(10 * FEW, 8)
    taken = [
        fitted(da.from_array(X, chunks=chunks), seed).sample_indices_
        for chunks, seed in (((100, 8), 0), ((333, 3), 0), ((100, 8), 1))
    ]
    assert np.array_equal(taken[0], taken[1])
    assert not np.array_equal(taken[0], taken[2])
    for each in taken:
        # One of every ten.
        assert (each // 10).tolist() == list(range(FEW))
    drawn = [
        fitted(da.from_array(X), np.random.RandomState(seed)).sample_indices_ for seed in (3, 3, 4)
    ]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_blocks_of_unknown_length_are_measured(few):
    X = rows(300, 8)
    table = da.from_array(X, chunks=(100, 8))
    table = table[table[:, 0] < 10.0]
    assert same(fitted(table).embedding_, fitted(da.from_array(X)).embedding_.compute())
    assert np.isnan(table.shape[0])


def test_a_table_is_not_brought_into_memory(few):
    pattern = rows(500, 400)

    def block(block_info):
        """Rows that nobody has before they are asked for."""
        return pattern + np.float32(block_info[None]["chunk-location"][0] / 10)

    table = da.map_blocks(
        block, chunks=((500,) * 100, 400), dtype=np.float32, meta=np.empty((0, 0), np.float32)
    )
    tracemalloc.start()
    model = fitted(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.embedding_.shape == (50_000, 2)
    assert peak < 0.25 * table.nbytes


@pytest.mark.parametrize("n", [FEW, 500])
def test_data_frames_are_matched_by_name(few, n):
    X = pd.DataFrame(rows(n, 9), [f"row {k}" for k in range(n)], columns=[*"abcdefghi"])
    # Nobody knows how many rows its blocks have, and the last has none.
    table = dd.from_map(lambda k: X[50 * k : 50 * k + 50], range(n // 50 + 2))
    model = fitted(table)
    one = fitted(X.iloc[model.sample_indices_])
    assert model.sample_indices_.size == FEW
    assert same(model.embedding_, one.transform(X))
    assert model.feature_names_in_.tolist() == [*"abcdefghi"]
    placed = model.transform(table[[*"ihgfedcba"]])
    assert np.isnan(placed.shape[0])
    assert np.array_equal(placed.compute(), one.transform(X))
    found = model.dubious()
    assert [*found.to_pandas().index] == [*one.dubious().to_pandas().index]
    with pytest.raises(ValueError, match="now missing:\n- c"):
        model.transform(table[[*"ab"]])
    # By position, of which scikit-learn warns once.
    with pytest.warns(UserWarning, match="valid feature names") as told:
        placed = model.transform(da.from_array(X.to_numpy(), chunks=50)).compute()
    assert np.array_equal(placed, one.transform(X))
    assert len(told) == 1


def test_what_a_fit_tells_is_of_the_sample(few, scratch):
    X = rows(400, 30)
    model = fitted(da.from_array(X, chunks=90))
    one = fitted(X[model.sample_indices_])
    assert repr(model).splitlines()[1] == repr(one).splitlines()[1]
    assert np.array_equal(model.standard_errors_, one.standard_errors_, equal_nan=True)
    assert np.array_equal(model.columns().to_pandas(), one.columns().to_pandas())
    assert len(model.plot(color=model.sample_indices_).collections[0].get_offsets()) == FEW
    assert ikd_graph.inspect_cliques(model).graph.n_nodes == FEW
    found = model.dubious().to_pandas()
    assert [*found.index] == model.sample_indices_.tolist()
    assert np.array_equal(
        model.transform(da.from_array(X)[model.sample_indices_]).compute(), one.embedding_
    )


def test_a_model_of_a_sample_is_saved_and_pickled(few, scratch):
    X = rows(400, 8)
    model = fitted(da.from_array(X, chunks=90))
    expected = model.embedding_.compute()
    assert same(pickle.loads(pickle.dumps(model)).embedding_, expected)
    model.save(scratch / "model.ikd")
    loaded = IKD.load(scratch / "model.ikd")
    assert np.array_equal(loaded.sample_indices_, model.sample_indices_)
    assert np.array_equal(loaded.embedding_, expected[model.sample_indices_])
    assert same(loaded.transform(da.from_array(X, chunks=90)), expected)
    model.fit(X)
    assert np.array_equal(model.embedding_, fitted(X).embedding_)
    assert model.sample_indices_ is None


def test_rows_that_cannot_be_placed_are_told_once(few):
    X = rows(600, 8)
    model = IKD(affinity="cosine", refine=None).fit(X[::2])
    X[1::2] = 0.0
    with pytest.warns(UserWarning, match="25 of 50 rows cannot") as told:
        placed = model.transform(da.from_array(X, chunks=50)).compute()
    assert np.isnan(placed[1::2]).all()
    assert np.isfinite(placed[::2]).all()
    assert len(told) == 1


def test_a_row_that_is_wrong_has_its_number_in_the_table(few):
    X = rows(600, 8)
    model = fitted(da.from_array(X, chunks=50))
    X[[k := np.setdiff1d(np.arange(300, 400), model.sample_indices_)[0]], 0] = np.nan
    with pytest.raises(ValueError, match=f"got 1 row with missing values: {k};"):
        fitted(da.from_array(X, chunks=50)).embedding_.compute()
    X[k := model.sample_indices_[77], 0] = np.inf
    with pytest.raises(ValueError, match=f"got 1 row with infinite values: {k};"):
        fitted(da.from_array(X, chunks=50))


def test_a_graph_of_all_rows_is_refused(few):
    with pytest.raises(ValueError, match=r"graph must be 'auto', .* table of Dask, .* graph=10"):
        IKD(graph=sp.eye_array(30, format="csr")).fit(da.ones((30, 4)))


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
        (lambda: dd.from_dict({"a": [1.0, 2.0], "b": ["x", "y"]}, 1), r"got column 'b'"),
        (lambda: dd.from_dict({"a": [1.0, 2.0]}, 1)["a"], r"got a Series of Dask.*to_frame"),
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
def test_a_cluster_fits_and_places_rows_though_a_worker_dies(few, cluster):
    def slowly(block):
        """A block of rows that takes a while; local, so that workers need not import tests."""
        time.sleep(0.2)
        return block

    X = rows(400, 20)
    model = fitted(da.from_array(X, chunks=(20, 20)).map_blocks(slowly))
    one = fitted(X[model.sample_indices_])
    assert one.embedding_.shape == (FEW, 2)
    future = cluster.compute(model.embedding_)
    pids = set(cluster.run(os.getpid).values())
    assert len(pids | {os.getpid()}) == 3
    time.sleep(0.5)
    assert not future.done()
    os.kill(min(pids), signal.SIGKILL)
    assert np.array_equal(future.result(timeout=120), one.transform(X))
    cluster.wait_for_workers(2, timeout=60)
    assert set(cluster.run(os.getpid).values()) != pids
