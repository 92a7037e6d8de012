"""Tables on disk: read in blocks, fitted as those in memory are, refused before work if need be."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from ikd_graph import IKD, _limits, _memory, _table, covariance, graph, similarity
from ikd_graph._table import MappedTable, is_mapped, rows_of
from ikd_graph.study.metrics import affine_r2


@pytest.fixture
def few(monkeypatch):
    """Sizes from which a table on disk stays there, so small that a test can be quick."""
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 500)
    monkeypatch.setattr(_limits, "DENSE_ENTRIES", 1000)


def sheet(n, p, seed):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 4.0, (n, 2))
    waves = np.cos(latent @ rng.normal(size=(2, p)) + rng.uniform(0.0, 6.0, p))
    return latent, (waves + 0.1 * rng.normal(size=(n, p))).astype(np.float32)


def on_disk(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("in_order", [True, False])
def test_a_worker_lets_go_of_the_pages_around_scattered_rows(monkeypatch, tmp_path, in_order):
    X, rng, read = np.arange(3000.0).reshape(1000, 3), np.random.default_rng(0), []
    order = None if in_order else rng.permutation(1000)
    table = MappedTable(on_disk(X, tmp_path), order)
    table.sparing = True
    expected, let_go = X if in_order else X[order], _table.let_go
    monkeypatch.setattr(_table, "let_go", lambda array: read.append(1) or let_go(array))
    some = rng.choice(1000, 300)
    for rows in (some, slice(3, None, 5), slice(10, 90), 7):
        assert np.array_equal(table[rows], expected[rows])
    assert len(read) == 5 + 4 + (0 if in_order else 2)
    assert table.take(some).sparing


def test_a_row_with_many_partners_is_scaled_once_for_all_of_them(monkeypatch):
    rng, made = np.random.default_rng(0), []
    rows = covariance.UnitRows(rng.normal(size=(40, 6)), "cosine")
    left, right = np.repeat(np.arange(20), 15), rng.integers(40, size=300)
    whole, double = rows.whole(), rows._double
    monkeypatch.setattr(rows, "_double", lambda some: made.append(len(some)) or double(some))
    expected = (whole[left] * whole[right]).sum(axis=1)
    np.testing.assert_allclose(rows.pairs(left, right), expected, atol=1e-12)
    assert made == [20, 300]


def test_an_array_is_known_to_be_of_a_file(tmp_path):
    mapped = on_disk(np.eye(3), tmp_path)
    assert is_mapped(mapped)
    assert is_mapped(np.asarray(mapped)[1:])
    assert not is_mapped(np.array(mapped))
    assert not is_mapped(mapped[[0, 2]])
    assert not is_mapped([[1.0]])


@pytest.mark.parametrize("affinity", sorted(similarity.MAPPED))
def test_rows_on_disk_are_as_similar_as_those_in_memory(few, tmp_path, affinity):
    _, X = sheet(700, 24, 3)
    X = np.abs(X)
    table = rows_of(on_disk(X, tmp_path))
    assert isinstance(table, MappedTable)
    mapped, whole = (similarity.compare(one, affinity) for one in (table, X.astype(np.float64)))
    points, others = np.array([0, 5, 699]), np.array([1, 5, 30])
    # Shared neighbours compare rows as correlations do.
    np.testing.assert_allclose(mapped.block(points), whole.block(points), atol=2e-5)
    np.testing.assert_allclose(
        mapped.between(points, others), whole.between(points, others), atol=1e-6
    )
    assert np.array_equal(mapped.between(points, others), mapped.between(others, points))
    new = X[:20] * 1.01
    near, value = mapped.nearest(new, 3)
    same, known = whole.nearest(new.astype(np.float64), 3)
    assert np.mean(near == same) > 0.98
    np.testing.assert_allclose(value, known, atol=1e-5)
    assert np.mean(np.sort(mapped.neighbors(8)) == np.sort(whole.neighbors(8))) > 0.97


def test_candidates_beyond_memory_are_settled_in_parts(few, tmp_path, monkeypatch):
    _, X = sheet(600, 12, 4)
    rows = covariance.UnitRows(rows_of(on_disk(X, tmp_path)), "correlation")
    monkeypatch.setattr(covariance._on_demand, "_GATHERED", 64 * 12)
    ends, nodes = np.array([0, 600, 630]), np.array([7, 9])
    found = np.concatenate([np.arange(600), np.arange(30)])
    near, missing = np.full((600, 5), -1, np.int32), np.zeros(600, np.int64)
    rows.settle(np.zeros(600), ends, found, nodes, near, missing)
    expected = graph.row_neighbors(rows.whole(), 5, neighbors="exact")
    assert near[7].tolist() == expected[7].tolist()
    assert set(near[9]) <= set(range(30)) - {9}
    assert np.all(near[np.setdiff1d(np.arange(600), nodes)] == -1)
    assert not missing.any()


@pytest.mark.parametrize("affinity", ["correlation", "euclidean", "standardized_euclidean"])
def test_a_table_on_disk_is_fitted_as_one_in_memory(few, tmp_path, affinity):
    latent, X = sheet(900, 30, 5)
    settings = {"affinity": affinity, "n_landmarks": 60, "random_state": 0}
    mapped = IKD(**settings).fit(on_disk(X, tmp_path))
    whole = IKD(**settings).fit(X)
    assert isinstance(mapped._model.rows, MappedTable)
    assert affine_r2(latent, mapped.embedding_) > 0.97
    assert affine_r2(whole.embedding_, mapped.embedding_) > 0.9999
    new = X[:50] + np.float32(0.05)
    np.testing.assert_allclose(mapped.transform(new), whole.transform(new), atol=0.02)
    assert np.array_equal(mapped.transform(X[3:9]), mapped.embedding_[3:9])


def test_a_model_of_a_table_on_disk_is_kept(few, tmp_path):
    _, X = sheet(700, 10, 6)
    model = IKD(affinity="euclidean", n_landmarks=50).fit(on_disk(X, tmp_path))
    model.save(tmp_path / "model.ikd")
    new = X[:5] + np.float32(0.1)
    again = IKD.load(tmp_path / "model.ikd")
    assert np.array_equal(again.transform(new), model.transform(new))


def test_missing_values_on_disk_are_named(few, tmp_path):
    _, X = sheet(700, 10, 7)
    X[650, 2] = np.nan
    with pytest.raises(ValueError, match="1 rows with some missing: 650"):
        IKD().fit(on_disk(X, tmp_path))


@pytest.mark.parametrize(
    ("shape", "dtype", "match"),
    [
        ((700, 40), np.int16, r"700 rows and 40 columns of int16 .* float32 .* read in blocks"),
        ((300, 40), np.float32, r"300 rows and 40 columns, scaled .* more than 500 rows"),
    ],
)
def test_what_has_to_be_in_memory_is_refused_before_work(
    few, tmp_path, monkeypatch, shape, dtype, match
):
    monkeypatch.setattr(_memory, "available", lambda: 10_000)
    X = on_disk(np.arange(np.prod(shape)).reshape(shape).astype(dtype), tmp_path)
    with pytest.raises(MemoryError, match=match):
        IKD().fit(X)


def test_an_affinity_that_needs_all_rows_is_refused(few, tmp_path, monkeypatch):
    _, X = sheet(1100, 40, 8)
    monkeypatch.setattr(_memory, "available", lambda: 300_000)
    with pytest.raises(MemoryError, match="affinity='covariance' must fit into memory"):
        IKD(affinity="covariance", refine=None).fit(on_disk(X, tmp_path))


def test_the_memory_of_a_large_fit_is_stated_and_checked(few, monkeypatch, caplog):
    _, X = sheet(700, 10, 9)
    with caplog.at_level("INFO", logger="ikd_graph"):
        IKD(affinity="euclidean", n_landmarks=50).fit(X)
    assert "GB of memory beside the table" in caplog.text
    monkeypatch.setattr(_memory, "available", lambda: 1_000_000)
    with pytest.raises(MemoryError, match="a graph of 700 points and distances from 50 landmarks"):
        IKD(affinity="euclidean", n_landmarks=50, refine=None).fit(X)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_a_table_larger_than_memory_is_fitted(tmp_path):
    """A file of 400 MB under a limit of 800 MB on what this process may allocate in all."""
    n, p = 25_000, 4000
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n, p))
    latent = np.random.default_rng(0).uniform(0.0, 4.0, (n, 2))
    turns = np.random.default_rng(1).normal(size=(2, p))
    for start in range(0, n, 1000):
        X[start : start + 1000] = np.cos(latent[start : start + 1000] @ turns)
    del X
    np.save(tmp_path / "latent.npy", latent)
    code = """
        import resource, sys
        import numpy as np
        from ikd_graph import IKD
        from ikd_graph.study.metrics import affine_r2
        IKD().fit(np.random.default_rng(0).normal(size=(50, 5)))
        resource.setrlimit(resource.RLIMIT_DATA, (800 * 2**20,) * 2)
        X = np.load("X.npy", mmap_mode="r")
        model = IKD(2, n_jobs=1).fit(X)
        print(affine_r2(np.load("latent.npy"), model.embedding_), X.nbytes)
        assert np.array_equal(model.transform(X[:2000]), model.embedding_[:2000])
    """
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    assert float(run.stdout.split()[0]) > 0.95
