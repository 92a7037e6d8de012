import tracemalloc

import networkx as nx
import numpy as np
import pytest

from ikd_graph import IKD, _limits, covariance, graph, similarity
from ikd_graph.similarity._equal import row_keys
from ikd_graph.study.metrics import affine_r2


def table(seed=0, n=80, p=12, name=None):
    X = np.random.default_rng(seed).normal(size=(n, p)) + 1.0
    # What is made for counts takes nothing below zero.
    return np.abs(X) if name == "hellinger" else X


def made(affinity, X):
    return similarity.compare(X, affinity)


def given(name):
    X = table(name=name)
    if name == "precomputed":
        return made(name, np.corrcoef(X))
    return made(name, X)


@pytest.mark.parametrize("name", similarity.AFFINITIES)
def test_blocks_pairs_and_the_whole_agree(name):
    one = given(name)
    whole = one.matrix()
    some = np.array([3, 50, 7])
    np.testing.assert_allclose(one.block(some), whole[some], atol=1e-12)
    left, right = np.triu_indices(one.n_samples, 1)
    np.testing.assert_allclose(one.between(left, right), whole[left, right], atol=1e-12)
    assert np.array_equal(one.between(left, right), one.between(right, left))
    np.testing.assert_allclose(one.totals(), whole.sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("name", similarity.AFFINITIES)
def test_neighbours_are_the_most_similar_points_and_are_found_once(name):
    one = given(name)
    whole = one.matrix().copy()
    np.fill_diagonal(whole, -np.inf)
    found = one.neighbors(5)
    assert np.array_equal(np.sort(found, axis=1), np.sort(np.argsort(-whole)[:, :5], axis=1))
    assert one.neighbors(5) is found


@pytest.mark.parametrize("name", similarity.AFFINITIES)
def test_new_rows_are_compared_as_training_rows_are(name):
    X = table(1, name=name)
    one = given(name)
    if name == "precomputed":
        values = np.random.default_rng(2).normal(size=(6, 80))
    else:
        rows, others = table(0, name=name), X[:6]
        both = made(name, np.vstack([rows, others]))
        values = both.block(np.arange(80, 86))[:, :80]
        if name in ("covariance", "euclidean", "standardized_euclidean"):
            # The scale is that of the training rows.
            values = None
    near, found = one.nearest(values if name == "precomputed" else X[:6], 9)
    assert near.shape == found.shape == (6, 9)
    own = one.between(np.arange(80), np.arange(80))
    assert np.all(np.diff(2.0 * found - own[near], axis=1) <= 1e-12)
    if values is not None:
        np.testing.assert_allclose(
            found, np.take_along_axis(values, near, axis=1) / one.variance, atol=1e-12
        )
    alone = [
        one.nearest(row[None], 9)[1][0] for row in (values if name == "precomputed" else X[:6])
    ]
    assert np.array_equal(np.array(alone), found)


@pytest.mark.parametrize("name", ["correlation", "euclidean", "precomputed"])
def test_the_graph_is_in_one_piece_just_below_its_weakest_link(name):
    one = given(name)
    top = one.connected_up_to()
    if 0.999 * top > 0.0:
        assert graph.component_labels(one.threshold_graph(0.999 * top)).max() == 0
    assert graph.component_labels(one.threshold_graph(min(1.001 * top, 0.999))).max() > 0


def strongest_spanning_tree(values):
    """Weakest edge of Prim's tree in a whole matrix."""
    inside, weakest = np.zeros(len(values), bool), 1.0
    reach = values[0].copy()
    inside[0] = True
    while not inside.all():
        at = int(np.where(inside, -np.inf, reach).argmax())
        weakest, inside[at] = min(weakest, reach[at]), True
        reach = np.maximum(reach, values[at])
    return weakest


@pytest.mark.parametrize("name", ["euclidean", "correlation", "covariance", "shared_neighbors"])
@pytest.mark.parametrize("kind", ["noise", "groups", "far", "whole numbers", "walk"])
def test_the_weakest_link_is_that_of_the_whole_matrix(name, kind):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 6))
    if kind == "groups":  # larger than the lists of neighbours: no link between them is listed
        X = np.repeat(X[:3], 40, axis=0) + 1e-3 * X
    elif kind == "far":
        X = np.vstack([X[:60], 0.01 * X[60:] + 50.0 * np.eye(6)[0]])
    elif kind == "whole numbers":
        X = rng.integers(0, 3, X.shape).astype(float) + np.eye(6)[0]
    elif kind == "walk":
        X = np.cumsum(X, axis=0)
    one = made(name, X)
    every = np.arange(len(X))
    values = np.array([one.between(np.full(len(X), at), every) for at in every])
    assert one.connected_up_to() == pytest.approx(strongest_spanning_tree(values), abs=1e-12)


def test_new_rows_far_from_the_origin_keep_their_distances():
    X = table()
    near = similarity.compare(X + 1e6, "euclidean")
    _, found = near.nearest(X[:5] + 1e6 + 1e-3, 1)
    scale = covariance.euclidean_rows(X).scale
    np.testing.assert_allclose(1.0 - found[:, 0], 12 * 1e-6 / (2 * scale**2), rtol=1e-3)


def test_units_of_columns_do_not_matter_and_a_column_of_one_value_says_nothing():
    X = table()
    units = np.geomspace(1e-200, 1e200, 12)
    other = np.column_stack([X * units + 3.0 * units, np.full(80, 7.0)])
    one, two = (made("standardized_euclidean", each) for each in (X, other))
    np.testing.assert_allclose(two.matrix(), one.matrix(), atol=1e-12)
    np.testing.assert_allclose(one.matrix(), covariance.euclidean(X / X.std(axis=0)), atol=1e-12)
    new = other[:5] * 1.01
    new[:, -1] = -1e9
    found, values = two.nearest(new, 3)
    expected, wanted = one.nearest((new[:, :-1] - 3.0 * units) / units, 3)
    assert np.array_equal(found, expected)
    np.testing.assert_allclose(values, wanted, atol=1e-12)


def test_roots_of_counts_are_compared_and_nothing_below_zero_is_taken():
    counts = np.random.default_rng(0).poisson(2.0, size=(30, 6)).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    expected = np.sqrt(shares) @ np.sqrt(shares).T
    one = made("hellinger", counts)
    np.testing.assert_allclose(one.matrix(), expected, atol=1e-12)
    np.testing.assert_array_equal(one.modelled(counts), np.sqrt(counts))
    with pytest.raises(ValueError, match=r"must not be negative for affinity='hellinger'.* got -1"):
        made("hellinger", counts - 1.0)
    with pytest.raises(ValueError, match="must not be negative"):
        one.nearest(counts[:2] - 9.0, 3)


def test_a_silent_row_of_counts_is_a_point_by_itself():
    counts = np.random.default_rng(0).poisson(2.0, size=(30, 6)).astype(float)
    counts[7] = 0.0
    with pytest.warns(UserWarning, match="1 row of X does not vary"):
        one = made("hellinger", counts)
    assert not one.block(np.array([7])).any()


def test_rows_that_differ_come_in_an_order_of_their_own():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0], [2.0, 9.0], [0.0, 1.0], [3.0, 3.0]])
    first, inverse = similarity.unique_rows(X)
    assert sorted(first) == [0, 1, 3, 5]
    assert first[0] == 5  # no spread
    assert np.array_equal(X[first][inverse], X + 0.0)
    order = np.random.default_rng(0).permutation(6)
    assert np.array_equal(X[order][similarity.unique_rows(X[order])[0]] + 0.0, X[first] + 0.0)
    assert similarity.KnownRows(X).find(np.array([[2.0, 9.0], [3.0, 1.0]])).tolist() == [3, -1]


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(40, 2)),
        np.random.default_rng(1).normal(size=(40, 1)),
        np.random.default_rng(2).integers(0, 2, size=(60, 12)).astype(float),
        np.eye(30),
    ],
    ids=["two columns", "one column", "zeros and ones", "identity"],
)
def test_the_order_of_rows_of_one_kurtosis_does_not_depend_on_the_unit(X):
    first, _ = similarity.unique_rows(X)
    for unit in (0.5, 4.0, 3.0, 1e-3):
        assert np.array_equal(similarity.unique_rows(unit * X)[0], first)
    assert np.array_equal(similarity.unique_rows(X + 5.0)[0], first)


def test_equal_rows_have_equal_keys_and_minus_zero_is_zero():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0000001]])
    keys = row_keys(rows)
    assert keys[0] == keys[1] != keys[2]


def unit_rows(seed, n, n_features, dtype=np.float64):
    rows = np.random.default_rng(seed).normal(size=(n, n_features))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(dtype)


@pytest.mark.parametrize("n", [30, 255, 256, 1000, 3001])
@pytest.mark.parametrize("k", [1, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_new_rows_find_the_rows_that_a_whole_table_of_products_finds(n, k, dtype):
    rows, new = unit_rows(0, n, 6, dtype), unit_rows(1, 17, 6)
    # Rows in the order of their products with one of the new ones: the worst that may come.
    rows = rows[np.argsort(rows @ new[3])]
    near, known = graph.nearest_rows(new, rows, k)
    table = new @ rows.T.astype(np.float64)
    order = np.argsort(-table, axis=1, kind="stable")[:, :k]
    assert np.array_equal(near, order)
    np.testing.assert_allclose(known, np.take_along_axis(table, order, axis=1), atol=1e-14)


def test_of_equal_rows_those_that_come_first_are_nearest():
    rows = np.repeat(unit_rows(0, 4, 5), 500, axis=0)
    near, known = graph.nearest_rows(rows[[700, 1900]], rows, 30)
    assert np.array_equal(near, [np.arange(500, 530), np.arange(1500, 1530)])
    np.testing.assert_allclose(known, 1.0, atol=1e-14)


def test_memory_of_the_search_does_not_grow_with_the_training_rows():
    new = unit_rows(1, 200, 10, np.float32)

    def peak(n):
        rows = unit_rows(0, n, 10, np.float32)
        tracemalloc.start()
        graph.nearest_rows(new, rows, 10)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few = peak(20_000)
    assert peak(80_000) < 1.5 * few
    # Less than one table of 200 x 80 000 products.
    assert few < 4 * 200 * 80_000 / 2


@pytest.mark.parametrize("affinity", ["correlation", "euclidean", "shared_neighbors", "covariance"])
@pytest.mark.parametrize("seed", range(4))
def test_known_neighbours_change_no_bridge(affinity, seed):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(20, 200)), int(rng.integers(3, 30))
    X = rng.normal(size=(n, width)) + 2.0 * rng.normal(size=(5, width))[rng.integers(0, 5, n)]
    sim = similarity.compare(X, affinity)
    g = sim.neighbor_graph(int(rng.integers(2, 6)), mutual=True)
    searched, known = (
        set(zip(*graph.find_links(g, sim.block, listed, n_links=1), strict=True))
        for listed in (None, sim._listed())
    )
    assert known == searched
    assert len(known) == graph.component_labels(g).max()


@pytest.mark.parametrize("affinity", ["euclidean", "correlation"])
@pytest.mark.parametrize("seed", range(4))
def test_pieces_of_mutual_neighbours_are_joined_by_all_neighbours_of_either_end(affinity, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) + 4.0 * rng.normal(size=(4, 3))[rng.integers(0, 4, 60)]
    made = similarity.compare(X, affinity)
    near, wider = made.neighbor_graph(4, mutual=True), made.neighbor_graph(4)
    found = graph.to_networkx(made.graph_of(None, 4, mutual=True))
    inner, outer = graph.to_networkx(near), graph.to_networkx(wider)
    pieces = {i: at for at, piece in enumerate(nx.connected_components(inner)) for i in piece}
    across = {edge for edge in outer.edges if pieces[edge[0]] != pieces[edge[1]]}
    assert set(found.edges) == set(inner.edges) | across
    assert nx.number_connected_components(found) == nx.number_connected_components(outer)
    for one, other in found.edges:
        assert found[one][other]["weight"] == outer[one][other]["weight"]


def test_outlying_rows_do_not_hang_on_one_bridge_each(monkeypatch):
    rng = np.random.default_rng(0)
    z = 4.0 * rng.random((400, 2))
    X = np.cos(z @ rng.standard_normal((2, 80)) + 2.0 * np.pi * rng.random(80))
    X = np.sqrt(2.0) * X + 0.5 * rng.standard_t(2, (400, 80))
    settings = {"affinity": "euclidean", "refine": None}
    assert affine_r2(z, IKD(2, **settings).fit_transform(X)) > 0.8
    monkeypatch.setattr(graph, "joined_by", lambda g, wider: g)
    assert affine_r2(z, IKD(2, **settings).fit_transform(X)) < 0.75


def test_what_an_error_about_constant_rows_advises_works(rng):
    X = np.cos(rng.random((40, 2)) @ rng.standard_normal((2, 30)))
    X[5], X[9] = 0.0, 2.0
    for affinity in ("correlation", "cosine"):
        with pytest.raises(ValueError, match=r"drop them, or use affinity='euclidean'"):
            IKD(2, affinity=affinity).fit(X)
    for affinity in ("euclidean", "covariance"):
        model = IKD(2, affinity=affinity).fit(X)
        assert np.isfinite(model.embedding_).all()
        assert np.isfinite(model.transform(X + 1e-3)).all()


@pytest.mark.parametrize("affinity", ["correlation", "cosine", "covariance", "hellinger"])
def test_rows_that_are_scaled_in_blocks_are_those_scaled_at_once(monkeypatch, affinity):
    X = np.exp(table(0, 1100, 6)) * np.linspace(1.0, 3.0, 1100)[:, None]
    whole = similarity.compare(X, affinity)
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 100)
    in_blocks = similarity.compare(X, affinity)
    np.testing.assert_allclose(in_blocks.rows, whole.rows, rtol=1e-12, atol=1e-14)
    single = similarity.compare(X.astype(np.float32), affinity)
    assert single.rows.dtype == np.float32


def groups_apart(seed, n=900, p=400):
    """Three groups far from one another, a few directions of their own in each."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    rows = 2.0 * rng.standard_normal((3, p))[group]
    ways = rng.standard_normal((3, 4, p))
    rows += np.einsum("ij,ijk->ik", rng.standard_normal((n, 4)), ways[group])
    return rows + 0.1 * rng.standard_normal((n, p))


@pytest.mark.parametrize("affinity", ["correlation", "euclidean", "covariance"])
def test_bridges_of_many_long_rows_are_about_as_short_as_the_shortest(monkeypatch, affinity):
    X = groups_apart(0)
    one = similarity.compare(X, affinity, search="exact")
    g = one.neighbor_graph(7)
    assert graph.component_labels(g).max() == 2
    exact = one.join(g)
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 100)
    monkeypatch.setattr(_limits, "NEIGHBORS_EXACT", 0.0)
    looked = []
    block = type(one).block
    monkeypatch.setattr(
        type(one), "block", lambda self, points: looked.append(1) or block(self, points)
    )
    near = one.join(g)
    # Covariances do not fall with the distance of rows, and are looked at one by one.
    assert bool(looked) == (affinity == "covariance")
    assert not graph.component_labels(near).any()
    lengths = [np.sqrt(2.0 - 2.0 * np.sort(one.weights)[:4]) for one in (near, exact)]
    assert np.all(lengths[0] < 1.03 * lengths[1])
    order = np.random.default_rng(1).permutation(len(X))
    again = similarity.compare(X[order], affinity, search="exact")
    joined = again.join(again.neighbor_graph(7))
    np.testing.assert_allclose(np.sort(joined.weights), np.sort(near.weights), atol=1e-12)
