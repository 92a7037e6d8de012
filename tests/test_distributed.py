"""Tables of Dask: fitted as on one machine, placed lazily, whatever becomes of a worker."""

import pickle

import numpy as np
import pytest
from failing_blocks import FailingBlock

from ikd_graph import IKD, _limits

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Sizes from which a table on disk stays there, and a folder for what Dask keeps."""
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 500)
    monkeypatch.setattr(_limits, "DENSE_ENTRIES", 1000)
    with dask.config.set({"temporary-directory": str(tmp_path), "scheduler": "synchronous"}):
        yield tmp_path


def sheet(n, p, seed):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 4.0, (n, 2))
    waves = np.cos(latent @ rng.normal(size=(2, p)) + rng.uniform(0.0, 6.0, p))
    return (waves + 0.1 * rng.normal(size=(n, p))).astype(np.float32)


def saved(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("chunks", [(250, 20), (900, 7)])
def test_coordinates_are_those_of_one_machine(few, chunks):
    X = sheet(900, 20, 1)
    settings = {"n_landmarks": 60, "random_state": 0}
    one = IKD(**settings).fit(saved(X, few))
    many = IKD(**settings).fit(da.from_array(X, chunks=chunks))
    assert np.array_equal(many.embedding_, one.embedding_)
    new = X[:120] + np.float32(0.05)
    placed = many.transform(da.from_array(new, chunks=(50, 20)))
    assert placed.shape == (120, 2)
    assert placed.dtype == np.float32
    assert placed.chunks == ((50, 50, 20), (2,))
    assert np.array_equal(placed.compute(), one.transform(new))


def test_neighbours_are_found_by_the_workers(few, monkeypatch):
    from ikd_graph import distributed as ours

    X, ran = sheet(5000, 20, 1), []
    run = ours._run
    monkeypatch.setattr(ours, "_run", lambda *range_: ran.append(range_[1:]) or run(*range_))
    settings = {
        "affinity": "correlation",
        "neighbors": "approximate",
        "n_landmarks": 60,
        "random_state": 0,
    }
    many = IKD(**settings).fit(da.from_array(X, chunks=(2000, 20)))
    assert len(ran) > 3
    assert (0, 16) in ran
    assert np.array_equal(many.embedding_, IKD(**settings).fit(saved(X, few)).embedding_)


def test_nothing_is_left_on_the_disk(few):
    X = sheet(600, 8, 2)
    model = IKD(affinity="euclidean", n_landmarks=50).fit(da.from_array(X, chunks=(200, 8)))
    assert list(few.glob("ikd_graph-*"))
    model.transform(da.from_array(X, chunks=(200, 8))).compute()
    del model
    assert not list(few.glob("ikd_graph-*"))


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (lambda: da.ones((30, 4, 2)), "2 dimensions of known lengths"),
        (lambda: da.ones((30, 4))[da.ones(30) > 0], "compute_chunk_sizes"),
        (lambda: dask.delayed(np.eye)(4), r"got a Delayed of Dask; pass dask.array.from_delayed"),
    ],
)
def test_what_is_no_table_is_named(few, X, match):
    with pytest.raises(ValueError, match=match):
        IKD().fit(X())


def test_a_covariance_in_blocks_is_refused(few):
    with pytest.raises(ValueError, match=r"affinity='precomputed'.*X.compute"):
        IKD(affinity="precomputed").fit(da.eye(30, chunks=10))


def test_a_worker_that_does_not_see_the_folder_is_named(few, monkeypatch):
    from ikd_graph import distributed as ours

    monkeypatch.setattr(ours.os.path, "isfile", lambda path: False)
    with pytest.raises(OSError, match="all workers must see the folder"):
        IKD().fit(da.ones((600, 5), chunks=(300, 5)))


def _in_blocks(read, n, p, size):
    parts = [
        da.from_delayed(dask.delayed(read)(s, min(s + size, n)), (min(size, n - s), p), np.float32)
        for s in range(0, n, size)
    ]
    return da.concatenate(parts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_workers_one_of_which_is_killed(tmp_path):
    n, p = 12_000, 1500
    X = sheet(n, p, 3)
    one = IKD(random_state=0).fit(saved(X, tmp_path))
    read = FailingBlock(str(tmp_path / "X.npy"), str(tmp_path / "killed"))
    with (
        dask.config.set({"temporary-directory": str(tmp_path)}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="700MB", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        table = _in_blocks(read, n, p, 3000)
        many = IKD(random_state=0).fit(table)
        placed = many.transform(table).compute()
    assert (tmp_path / "killed").exists()
    np.testing.assert_allclose(many.embedding_, one.embedding_, atol=1e-6)
    assert np.array_equal(placed, many.embedding_)


def test_a_model_of_a_table_of_dask_is_pickled_with_its_rows(few):
    X = sheet(600, 8, 4)
    model = IKD(affinity="euclidean", n_landmarks=50).fit(da.from_array(X, chunks=(200, 8)))
    new = X[:5] + np.float32(0.1)
    content, expected = pickle.dumps(model), model.transform(new)
    del model
    assert np.array_equal(pickle.loads(content).transform(new), expected)
