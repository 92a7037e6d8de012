"""Nearest neighbors: exact ones against brute force, approximate ones against exact ones."""

import sys

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from ikd_graph import IKD, graph, similarity
from ikd_graph._base import limits
from ikd_graph._base.threads import limit_threads

SEARCHES = ["exact", "approximate"]


def random_rows(seed, n, p, groups=1):
    """Unit rows in groups that share a direction."""
    rng = np.random.default_rng(seed)
    rows = 2.0 * rng.standard_normal((groups, p))[rng.integers(groups, size=n)]
    rows += rng.standard_normal((n, p))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def sheet(seed, n, p, noise=0.01):
    """A rolled-up sheet in p columns, not of unit norm."""
    rng = np.random.default_rng(seed)
    turn, height = 9.0 * rng.random(n), 9.0 * rng.random(n)
    points = np.column_stack((turn * np.cos(turn), height, turn * np.sin(turn)))
    points = points @ np.linalg.qr(rng.standard_normal((p, 3)))[0].T
    return points + noise * rng.standard_normal(points.shape)


def brute_force(rows, k):
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(rows)
    return search.kneighbors(return_distance=False)


def recall(found, rows, k):
    pairs = zip(found, brute_force(rows, k), strict=True)
    return np.mean([len(np.intersect1d(*pair)) for pair in pairs]) / k


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [3, 64, 1000])
def test_exact_neighbors_are_those_of_brute_force(dtype, p):
    rows = random_rows(4, 700, p, groups=5)
    found = graph.row_neighbors(rows.astype(dtype), 8)
    assert np.mean(np.sort(found) == np.sort(brute_force(rows, 8))) > 0.9999
    rows = sheet(1, 600, p)
    found = graph.row_neighbors(rows.astype(dtype), 8, metric="euclidean")
    assert np.mean(np.sort(found) == np.sort(brute_force(rows, 8))) > 0.999


def test_exact_neighbors_do_not_trust_single_precision():
    # Differences of 1e-9 in correlation are far below the rounding of a float32 product.
    rng = np.random.default_rng(5)
    angles = rng.permutation(300) * 3e-5
    rows = np.column_stack((np.cos(angles), np.sin(angles)))
    found = graph.row_neighbors(rows, 3)
    gaps = np.abs(angles[:, None] - angles)
    np.fill_diagonal(gaps, np.inf)
    reach = np.sort(gaps, axis=1)[:, 2] + 1e-9
    assert np.all(np.take_along_axis(gaps, found.astype(int), axis=1) <= reach[:, None])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("power", [-74, 68])
def test_no_unit_of_the_rows_changes_their_neighbors(power, dtype):
    rows = np.random.default_rng(0).normal(size=(300, 6)).astype(dtype)
    near = graph.row_neighbors(rows, 5, metric="euclidean")
    scaled = rows * dtype(2.0**power)
    np.testing.assert_array_equal(graph.row_neighbors(scaled, 5, metric="euclidean"), near)


@pytest.mark.parametrize("neighbors", SEARCHES)
def test_equally_near_rows_come_by_index(neighbors):
    grid = np.stack(np.meshgrid(*[np.arange(12.0)] * 3), axis=-1).reshape(-1, 3)
    found = graph.row_neighbors(grid, 4, metric="euclidean", neighbors=neighbors)
    gaps = np.sum((grid[:, None] - grid) ** 2, axis=2)
    np.fill_diagonal(gaps, np.inf)
    expected = np.argsort(gaps, axis=1, kind="stable")[:, :4]
    same = (found == expected).all(axis=1)
    assert same.all() if neighbors == "exact" else same.mean() > 0.9


@pytest.mark.parametrize("p", [3, 400])
def test_new_rows_have_the_neighbors_that_each_would_have_alone(p):
    rows, new = sheet(2, 900, p), sheet(3, 40, p)
    compared = similarity.compare(rows, "euclidean")
    near, values = compared.nearest(new, 5)
    search = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(rows)
    assert np.array_equal(near, search.kneighbors(new, return_distance=False))
    squares = np.sum((new[:, None] - rows[near]) ** 2, axis=2)
    np.testing.assert_allclose(values, 1.0 - 0.5 * squares / compared.unit**2, atol=1e-10)
    # Rows far away make the largest products larger.
    for others in (new[:0], 1e8 * new[:1]):
        alone = [compared.nearest(np.vstack([new[i : i + 1], others]), 5) for i in range(40)]
        for part, expected in zip(zip(*alone, strict=True), (near, values), strict=True):
            assert np.array_equal([each[0] for each in part], expected)


@pytest.mark.parametrize(("groups", "p"), [(8, 20), (60, 300)])
def test_approximate_neighbors_of_groups_are_nearly_the_exact_ones(groups, p):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((groups, p))[rng.integers(groups, size=4000)]
    rows += rng.standard_normal((4000, 6)) @ rng.standard_normal((6, p))
    rows += 0.1 * rng.standard_normal((4000, p))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert recall(graph.row_neighbors(rows, 10, neighbors="approximate"), rows, 10) > 0.97


def test_any_number_of_threads_finds_the_same_neighbors():
    pytest.importorskip("faiss")
    rows, found = sheet(7, 5000, 150).astype(np.float32), []
    for n_jobs in (1, 2, 2):
        with limit_threads(n_jobs):
            state = np.random.get_state()[1].copy()  # noqa: NPY002
            found.append(graph.row_neighbors(rows, 9, metric="euclidean", neighbors="approximate"))
            np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@pytest.mark.parametrize("neighbors", SEARCHES)
def test_many_equal_rows_have_as_many_neighbors_as_asked_for(neighbors):
    rows = np.repeat(random_rows(8, 40, 5), 40, axis=0)
    rows[:100] = 0.0
    found = graph.row_neighbors(rows, 6, neighbors=neighbors)
    assert all(len({*near, node}) == 7 for node, near in enumerate(found.tolist()))
    np.testing.assert_array_equal(rows[found[100:]], rows[100:, None].repeat(6, axis=1))


def test_without_faiss_the_search_is_exact_and_warns(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr(limits, "NEIGHBORS_EXACT", 500)
    rows = random_rows(9, 1100, 6, groups=3)
    with pytest.warns(UserWarning, match=r"1100 rows are searched exactly.*ikd_graph\[large\]"):
        found = graph.row_neighbors(rows, 4)
    np.testing.assert_array_equal(found, graph.row_neighbors(rows, 4, neighbors="exact"))
    with pytest.raises(ImportError, match=r"faiss must be installed.*pip install"):
        graph.row_neighbors(rows, 4, neighbors="approximate")


def test_a_table_on_disk_is_fitted_as_one_in_memory_and_not_read_again(tmp_path):
    X = sheet(5, 400, 10, noise=0.05).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    settings = {"affinity": "euclidean", "random_state": 0}
    whole = IKD(**settings).fit(X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r+")
    model = IKD(**settings).fit(mapped)
    mapped[:] = 0.0
    assert np.array_equal(model.embedding_, whole.embedding_)
    new = X[:20] + np.float32(0.05)
    assert np.array_equal(model.transform(new), whole.transform(new))
    assert np.array_equal(model.transform(X), model.embedding_)
