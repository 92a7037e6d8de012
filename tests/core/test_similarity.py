"""How rows are compared: pairs, blocks, neighbors and new rows agree with naive twins."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from tables import quiet, sq_distances

from ikd_graph import IKD, covariance, graph, similarity

EVERY = [*similarity.AFFINITIES, *similarity.GIVEN]


def table(seed=0, n=80, p=12):
    """Rows of positive numbers, which every affinity takes."""
    return np.abs(np.random.default_rng(seed).normal(size=(n, p)) + 1.0)


def compared(name, X):
    """Similarity of rows, or of the values between them."""
    if name == "precomputed":
        return similarity.compare(np.cov(X), name)
    if name == "precomputed_distance":
        return similarity.compare(np.sqrt(sq_distances(X)), name)
    return similarity.compare(X, name)


def naive(name, X):
    """Similarity of every pair, by the formula that the documentation states."""
    if name == "hellinger":
        X = np.sqrt(X)
    if name == "standardized_euclidean":
        X = X / X.std(axis=0)
    if "euclidean" in name or name == "precomputed_distance":
        squares = sq_distances(X)
        n = len(X)
        return 1.0 - squares / (squares.sum() / (n * (n - 1)))
    if name in ("cosine", "hellinger"):
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        return unit @ unit.T
    return np.corrcoef(X)


@pytest.mark.parametrize("name", EVERY)
def test_a_similarity_is_what_its_formula_says(name):
    X = table()
    np.testing.assert_allclose(compared(name, X).matrix(), naive(name, X), atol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_blocks_pairs_and_the_whole_agree(name):
    sim = compared(name, table())
    whole = sim.matrix()
    some = np.array([3, 50, 7])
    np.testing.assert_allclose(sim.block(some), whole[some], atol=1e-12)
    left, right = np.triu_indices(sim.n_samples, 1)
    np.testing.assert_allclose(sim.between(left, right), whole[left, right], atol=1e-12)
    assert np.array_equal(sim.between(left, right), sim.between(right, left))
    np.testing.assert_allclose(np.diag(whole), 1.0, atol=1e-12)
    assert sim.affinity.name == name
    factor = sim.rows
    assert (factor is None) == (name in similarity.GIVEN)
    if factor is not None:
        own = np.diag(whole)
        squares = own[:, None] + own - 2.0 * whole
        np.testing.assert_allclose(sq_distances(factor), squares, atol=1e-10)


@pytest.mark.parametrize("name", EVERY)
def test_neighbors_are_the_most_similar_points(name):
    sim = compared(name, table())
    whole = sim.matrix().copy()
    np.fill_diagonal(whole, -np.inf)
    nearest = np.argsort(-whole)
    for k in (5, 3, 79, 200):
        near = sim.neighbors(k)
        assert near.shape == (80, min(k, 79))
        expected = nearest[:, : near.shape[1]]
        assert np.array_equal(np.sort(near, axis=1), np.sort(expected, axis=1))


@pytest.mark.parametrize("name", EVERY)
def test_graphs_join_the_pairs_that_a_naive_twin_joins(name):
    sim = compared(name, table())
    whole = sim.matrix()
    if name != "shared_neighbors":
        g = graph.to_networkx(graph.threshold(sim, 0.3))
        expected = {
            (i, j)
            for i, j in zip(*np.triu_indices(80, 1), strict=True)
            if sim.weights(whole[i, j]) > 0.3
        }
        assert set(g.edges) == expected
    near = [set(row.tolist()) for row in sim.neighbors(5)]
    edges = {(i, j) for i in range(80) for j in range(i + 1, 80) if j in near[i] or i in near[j]}
    assert set(graph.to_networkx(graph.neighbors(sim, 5)).edges) == edges


@pytest.mark.parametrize("name", similarity.AFFINITIES)
def test_new_rows_are_compared_as_training_rows_are(name):
    X = table(1)
    sim = similarity.compare(X, name)
    whole = sim.matrix()
    near, values = sim.nearest(X[:6], 9)
    assert near.shape == values.shape == (6, 9)
    assert np.array_equal(near[:, 0], np.arange(6))
    np.testing.assert_allclose(values, np.take_along_axis(whole[:6], near, axis=1), atol=1e-12)
    rows = table(2)[:6]
    near, values = sim.nearest(rows, 80)
    assert np.array_equal(np.sort(near, axis=1), np.tile(np.arange(80), (6, 1)))
    own = np.diag(whole)
    assert np.all(np.diff(2.0 * values - own[near], axis=1) <= 1e-12)
    if name in ("correlation", "cosine", "covariance", "hellinger", "shared_neighbors"):
        both = naive("correlation" if name in ("covariance", "shared_neighbors") else name,
                     np.vstack([X, rows]))[80:, :80]  # fmt: skip
        np.testing.assert_allclose(values, np.take_along_axis(both, near, axis=1), atol=1e-12)
    for row, at in zip(rows, range(6), strict=True):
        assert np.array_equal(sim.nearest(row[None], 80)[1][0], values[at])


def test_new_rows_far_from_the_origin_keep_their_distances():
    X = table()
    sim = similarity.compare(X + 1e6, "euclidean")
    _, values = sim.nearest(X[:5] + 1e6 + 1e-3, 1)
    scale = covariance.euclidean_rows(X).scale
    np.testing.assert_allclose(1.0 - values[:, 0], 12 * 1e-6 / (2 * scale**2), rtol=1e-3)


def test_units_of_columns_do_not_matter_and_a_column_of_one_value_says_nothing():
    X = table()
    units = np.geomspace(1e-200, 1e200, 12)
    other = np.column_stack([X * units + 3.0 * units, np.full(80, 7.0)])
    plain, scaled = (similarity.compare(each, "standardized_euclidean") for each in (X, other))
    np.testing.assert_allclose(scaled.matrix(), plain.matrix(), atol=1e-12)
    new = other[:5] * 1.01
    new[:, -1] = -1e9
    near, values = scaled.nearest(new, 3)
    expected, wanted = plain.nearest((new[:, :-1] - 3.0 * units) / units, 3)
    assert np.array_equal(near, expected)
    np.testing.assert_allclose(values, wanted, atol=1e-12)


def test_nothing_below_zero_has_a_root():
    counts = np.random.default_rng(0).poisson(2.0, size=(30, 6)).astype(float)
    with pytest.raises(ValueError, match=r"must not be negative for affinity='hellinger'.* got -1"):
        similarity.compare(counts - 1.0, "hellinger")
    with pytest.raises(ValueError, match="must not be negative"):
        similarity.compare(counts, "hellinger").nearest(counts[:2] - 9.0, 3)


def test_memory_of_the_search_does_not_grow_with_the_training_rows():
    new = np.random.default_rng(1).normal(size=(200, 10)).astype(np.float32)

    def peak(n):
        rows = np.random.default_rng(0).normal(size=(n, 10)).astype(np.float32)
        sim = similarity.compare(rows, "cosine")
        sim.nearest(new, 10)
        tracemalloc.start()
        sim.nearest(new, 10)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    # A block of products on each thread, not the table of 200 x 160 000, or half of it.
    assert peak(160_000) < 4 * 200 * 160_000 / 2


@pytest.mark.parametrize("affinity", ["euclidean", "correlation"])
@pytest.mark.parametrize("seed", range(4))
def test_components_are_joined_by_one_sided_neighbors(affinity, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) + 4.0 * rng.normal(size=(4, 3))[rng.integers(0, 4, 60)]
    sim = similarity.compare(X, affinity)
    near = [set(row.tolist()) for row in sim.neighbors(4)]
    pairs = [(i, j) for i in range(60) for j in range(i + 1, 60)]
    inner, outer = (nx.empty_graph(60) for _ in range(2))
    inner.add_edges_from((i, j) for i, j in pairs if j in near[i] and i in near[j])
    outer.add_edges_from((i, j) for i, j in pairs if j in near[i] or i in near[j])
    component = {i: at for at, part in enumerate(nx.connected_components(inner)) for i in part}
    across = {(i, j) for i, j in outer.edges if component[i] != component[j]}
    joined = graph.to_networkx(graph.Neighbors(4, mutual=True).build(sim))
    assert set(joined.edges) == set(inner.edges) | across


def test_shared_neighbors_separate_groups():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, 120)
    X = 0.7 * rng.normal(size=(4, 40))[label] + rng.normal(size=(120, 40))

    def apart(affinity):
        Z = quiet(IKD(2, affinity=affinity, graph=10, refine=None), X).embedding_
        centers = np.array([Z[label == i].mean(axis=0) for i in range(4)])
        return np.sum((Z - centers[label]) ** 2) / np.sum((Z - Z.mean(axis=0)) ** 2)

    assert apart("shared_neighbors") < apart("correlation")


@pytest.mark.parametrize("affinity", ["precomputed", "precomputed_distance"])
def test_ties_that_the_order_of_points_decides_are_told(affinity):
    turn = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    apart = np.sqrt(2.0 - 2.0 * np.cos(turn[:, None] - turn))
    given = apart if affinity == "precomputed_distance" else np.exp(-(apart**2))
    with pytest.warns(UserWarning, match="40 of 40 points have several points as near"):
        IKD(2, affinity=affinity, graph=3, refine=None).fit(given)
    # Two neighbors on each side: no tie is cut.
    IKD(2, affinity=affinity, graph=4, refine=None).fit(given)
