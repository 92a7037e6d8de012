"""Rows that are mostly zeros: the same answers as of dense ones, without the dense table."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import IKD, graph, similarity
from ikd_graph._base import limits
from ikd_graph._base.table import SparseTable, rows_of

AFFINITIES = [
    "correlation",
    "cosine",
    "covariance",
    "euclidean",
    "hellinger",
    "standardized_euclidean",
]


def sparse_rows(seed, n=300, p=120):
    """Rows that are large at the columns near their place on a sheet, zero at the others.

    No two similarities are equal, so that rounding decides nothing.
    """
    rng = np.random.default_rng(seed)
    place, column = 3.0 * rng.random((n, 2)), 3.0 * rng.random((p, 2))
    level = np.exp(-2.0 * np.sum((place[:, None] - column) ** 2, axis=2))
    level *= rng.random((n, p)) + 0.5
    level[level < 0.3] = 0.0
    level[np.arange(n), rng.integers(p, size=n)] = 1.0 + rng.random(n)
    return level


@pytest.fixture
def kept_sparse(monkeypatch):
    monkeypatch.setattr(limits, "DENSE_ENTRIES", 0)


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_similarities_of_sparse_rows_are_those_of_dense_ones(affinity):
    X = sparse_rows(0)
    dense = similarity.compare(X, affinity)
    sparse = similarity.compare(SparseTable(sp.csr_array(X)), affinity)
    np.testing.assert_allclose(sparse.matrix(), dense.matrix(), atol=1e-12)
    left, right = np.random.default_rng(1).integers(300, size=(2, 500))
    found = sparse.between(left, right)
    np.testing.assert_allclose(found, dense.between(left, right), atol=1e-12)
    np.testing.assert_array_equal(found, sparse.between(right, left))
    np.testing.assert_array_equal(sparse.neighbors(9), dense.neighbors(9))
    near, values = sparse.nearest(sparse_rows(2)[:20], 6)
    told, expected = dense.nearest(sparse_rows(2)[:20], 6)
    np.testing.assert_array_equal(near, told)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    g, h = graph.threshold(sparse, 0.4), graph.threshold(dense, 0.4)
    np.testing.assert_array_equal(g.indices, h.indices)
    np.testing.assert_allclose(g.weights, h.weights, atol=1e-12)


@pytest.mark.parametrize("affinity", [*AFFINITIES, "auto"])
@pytest.mark.usefixtures("kept_sparse")
def test_a_fit_of_sparse_rows_is_that_of_dense_ones(affinity):
    X, new = sparse_rows(3), sparse_rows(4)[:15]
    settings = {"affinity": affinity, "graph": 9, "refine": "stress"}
    dense = quiet(IKD(2, **settings), X)
    sparse = quiet(IKD(2, **settings), sp.csr_array(X))
    assert sparse.settings_.affinity == dense.settings_.affinity
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-6)
    np.testing.assert_allclose(sparse.transform(new), dense.transform(new), atol=1e-6)
    for rows in (sp.csc_matrix(X[:9]), sp.coo_array(X[:9]), X[:9]):
        np.testing.assert_array_equal(sparse.transform(rows), sparse.embedding_[:9])
    np.testing.assert_allclose(sparse.score(sp.csr_array(X)), dense.score(X), rtol=1e-6)
    places = dense.embedding_[:3]
    expected = dense.inverse_transform(places)
    np.testing.assert_allclose(sparse.inverse_transform(places), expected, atol=1e-6)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_a_small_sparse_table_is_the_dense_table(make):
    X = sparse_rows(5)
    settings = {"affinity": "hellinger", "graph": 9, "refine": "stress"}
    dense, sparse = quiet(IKD(2, **settings), X), quiet(IKD(2, **settings), make(X))
    np.testing.assert_array_equal(sparse.embedding_, dense.embedding_)
    np.testing.assert_array_equal(sparse.transform(make(X[:5] * 1.1)), dense.transform(X[:5] * 1.1))


@pytest.mark.usefixtures("kept_sparse")
def test_equal_sparse_rows_and_entries_given_twice_are_seen():
    X = sparse_rows(6)
    X[7] = X[3]
    entries = sp.coo_array(X)
    halves = (np.tile(entries.row, 2), np.tile(entries.col, 2))
    twice = sp.coo_array((np.tile(entries.data / 2.0, 2), halves), shape=X.shape)
    settings = {"affinity": "cosine", "graph": 9, "refine": None}
    dense, sparse = quiet(IKD(2, **settings), X), quiet(IKD(2, **settings), twice)
    np.testing.assert_array_equal(sparse.embedding_[7], sparse.embedding_[3])
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-6)


@pytest.mark.parametrize("affinity", ["correlation", "cosine"])
@pytest.mark.usefixtures("kept_sparse")
def test_sparse_rows_without_spread_are_named_or_kept_as_dense_ones_are(affinity):
    X = sparse_rows(7)
    X[[4, 9]] = 0.0
    X[9] = 2.0 * (affinity == "correlation")
    for table in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match="rows of X must vary for a "):
            IKD(2, affinity=affinity, refine=None, graph=9).fit(table)
    table = SparseTable(sp.csr_array(X))
    with pytest.warns(UserWarning, match="2 rows of X do not vary"):
        dense = similarity.compare(X, affinity, counts=True)
    with pytest.warns(UserWarning, match="2 rows of X do not vary"):
        sparse = similarity.compare(table, affinity, counts=True)
    np.testing.assert_allclose(sparse.matrix(), dense.matrix(), atol=1e-12)


@pytest.mark.parametrize("affinity", ["correlation", "euclidean"])
def test_sparse_rows_are_searched_approximately(affinity):
    pytest.importorskip("faiss")
    sparse = similarity.compare(SparseTable(sp.csr_array(sparse_rows(9, 3000))), affinity)
    exact = sparse.neighbors(8)
    other = similarity.compare(SparseTable(sp.csr_array(sparse_rows(9, 3000))), affinity)
    other.search = "approximate"
    same = [np.intersect1d(*pair).size for pair in zip(other.neighbors(8), exact, strict=True)]
    assert np.mean(same) > 0.97 * 8


def test_large_sparse_rows_are_never_dense_together():
    rng = np.random.default_rng(10)
    places = rng.integers(5000, size=60_000), rng.integers(3999, size=60_000)
    X = sp.coo_array((rng.random(60_000, dtype=np.float32), places), shape=(5000, 3999))
    table = rows_of(sp.hstack([X, np.ones((5000, 1), np.float32)]))
    assert isinstance(table, SparseTable)
    tracemalloc.start()
    first, _ = similarity.unique_rows(table)
    made = similarity.compare(table.take(first), "correlation")
    made.between(np.arange(100), np.arange(100, 200))
    made.block(np.arange(50))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.rows.dtype == np.float32
    # The dense table has 80 MB in single precision.
    assert peak < 40e6
