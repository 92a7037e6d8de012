"""Graphs of correlations: against naive twins, networkx and scikit-learn, ties and edges first."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_graph import naive_bridges, naive_neighbor_graph, naive_shared_part

from ikd_graph import IKD, graph, similarity


def row_graph(rows, k, *, mutual=False, affinity="cosine"):
    """Neighbor graph of rows of unit norm."""
    return graph.neighbors(similarity.compare(rows, affinity), k, mutual=mutual)


def row_threshold_graph(rows, s0):
    """Pairs of rows of unit norm with a product above a threshold."""
    return graph.threshold(similarity.compare(rows, "cosine"), s0)


def links_of_rows(g, rows):
    """Links between the components of a graph of rows of unit norm."""
    return graph.join(g, similarity.compare(rows, "cosine")).links


def random_rows(seed, n, p, groups=0):
    """Rows of unit norm; with groups they gather around as many centers."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, p))
    if groups:
        rows += 4.0 * rng.standard_normal((groups, p))[rng.integers(groups, size=n)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def correlation(rows):
    return np.minimum(rows @ rows.T, 1.0)


def dense(g, absent=np.nan):
    out = np.full((g.n_nodes, g.n_nodes), absent)
    out[np.repeat(np.arange(g.n_nodes), np.diff(g.indptr)), g.indices] = g.weights
    return out


def assert_well_formed(g):
    """Types, sorted rows, no loop, each edge from both ends with one weight."""
    assert (g.indptr.dtype, g.indices.dtype, g.weights.dtype) == (np.int64, np.int32, np.float64)
    assert g.indptr[0] == 0
    assert g.indptr[-1] == g.indices.size == g.weights.size
    for node in range(g.n_nodes):
        row = g.indices[g.indptr[node] : g.indptr[node + 1]]
        assert np.all(np.diff(row) > 0)
        assert node not in row
    np.testing.assert_array_equal(dense(g), dense(g).T)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("s0", [0.05, 0.3, 0.9])
def test_a_threshold_graph_has_the_pairs_above_it(seed, s0):
    rows = random_rows(seed, 40, 6)
    corr = correlation(rows)
    naive = np.where((corr > s0) & ~np.eye(40, dtype=bool), corr, np.nan)
    for g in (graph.threshold(corr, s0), row_threshold_graph(rows, s0)):
        assert_well_formed(g)
        np.testing.assert_allclose(dense(g), naive, rtol=1e-12)


def test_a_correlation_at_the_threshold_is_no_edge():
    corr = np.array([[1.0, 0.5, 0.6], [0.5, 1.0, 0.5], [0.6, 0.5, 1.0]])
    assert graph.threshold(corr, 0.5).n_edges == 1


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize(("seed", "n", "k"), [(0, 30, 1), (1, 30, 4), (2, 30, 29), (3, 2, 1)])
def test_neighbor_graph_agrees_with_the_naive_twin(seed, n, k, mutual):
    rows = random_rows(seed, n, 4)
    corr = correlation(rows)
    expected = np.clip(naive_neighbor_graph(corr, k, mutual), graph.WEIGHT_FLOOR, 1.0)
    for g in (
        graph.neighbors(corr, k, mutual=mutual),
        row_graph(rows, k, mutual=mutual),
        row_graph(rows.astype(np.float32), k, mutual=mutual),
    ):
        assert_well_formed(g)
        np.testing.assert_allclose(dense(g), expected, rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 24), st.booleans())
def test_ties_go_to_the_smaller_index(seed, n, k, mutual):
    # Few values and many duplicates: nearly every comparison is a tie.
    rows = np.random.default_rng(seed).choice([1.0, 2.0], size=(n, 2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    corr = np.array([[float(a @ b) for b in rows] for a in rows]).round(12)
    k = min(k, n - 1)
    expected = ~np.isnan(naive_neighbor_graph(corr, k, mutual))
    for g in (
        graph.neighbors(corr, k, mutual=mutual),
        row_graph(rows, k, mutual=mutual),
    ):
        assert_well_formed(g)
        np.testing.assert_array_equal(~np.isnan(dense(g)), expected)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 25), st.floats(0.02, 0.98))
def test_union_keeps_the_edges_of_either(seed, n, s0):
    corr = correlation(random_rows(seed, n, 3))
    a, b = graph.threshold(corr, s0), graph.neighbors(corr, 1)
    both = graph.union(a, b)
    assert_well_formed(both)
    expected = np.where(np.isnan(dense(a)), dense(b), dense(a))
    np.testing.assert_array_equal(dense(both), expected)


def test_union_takes_the_weight_of_the_first_graph():
    left, right = np.array([0]), np.array([1])
    a = graph.from_edges(3, left, right, np.array([0.25]))
    b = graph.from_edges(3, left, right, np.array([0.75]))
    assert graph.union(a, b).weights.tolist() == [0.25, 0.25]
    with pytest.raises(ValueError, match="b must have as many nodes as a, got 2 for 3"):
        graph.union(a, graph.from_edges(2, left, right, np.array([0.5])))


def test_above_and_subgraph_cut_a_graph():
    corr = correlation(random_rows(11, 30, 4))
    g = graph.threshold(corr, 0.1)
    np.testing.assert_array_equal(dense(graph.above(g, 0.6)), dense(graph.threshold(corr, 0.6)))
    nodes = np.random.default_rng(11).permutation(30)[:12]
    part = graph.subgraph(g, nodes)
    assert_well_formed(part)
    np.testing.assert_array_equal(dense(part), dense(g)[np.ix_(nodes, nodes)])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.floats(0.3, 0.98))
def test_components_are_joined_along_their_strongest_spanning_tree(seed, n, s0):
    rows = random_rows(seed, n, 3)
    corr = correlation(rows)
    g = graph.threshold(corr, s0)
    bridges = naive_bridges(corr, graph.component_labels(g))
    joined = graph.join(g, corr)
    assert_well_formed(joined.graph)
    assert {*bridges} <= {*map(tuple, joined.links.tolist())}
    assert not graph.component_labels(joined.graph).any()
    added = np.isnan(dense(g)) & ~np.isnan(dense(joined.graph))
    assert np.argwhere(np.triu(added)).tolist() == joined.links.tolist()
    kept = ~np.isnan(dense(g))
    np.testing.assert_array_equal(dense(joined.graph)[kept], dense(g)[kept])


def test_a_bridge_without_correlation_is_stored_at_the_floor():
    corr = np.array([[1.0, -0.5, -0.4], [-0.5, 1.0, 0.0], [-0.4, 0.0, 1.0]])
    joined = graph.join(graph.threshold(corr, 0.5), corr)
    assert len(joined.links) == 2
    assert set(joined.graph.weights) == {graph.WEIGHT_FLOOR}
    assert len(graph.join(joined.graph, corr).links) == 0


def test_equal_correlations_everywhere_are_joined_without_a_ring():
    corr = np.full((40, 40), 0.1) + 0.9 * np.eye(40)
    apart = graph.threshold(corr, 0.5)
    assert len(graph.join(apart, corr).links) == 39
    rows = np.repeat(random_rows(14, 3, 4), 30, axis=0)
    parts = graph.from_edges(90, np.array([0]), np.array([1]), np.array([1.0]))
    joined = graph.join(parts, similarity.compare(rows, "cosine"))
    assert not graph.component_labels(joined.graph).any()
    assert 88 <= len(joined.links) <= 2 * 88


def test_wrong_input_is_refused_with_a_reason():
    rows = random_rows(16, 5, 3)
    for s0 in (0, 1.0, -0.5, np.nan, "0.5"):
        with pytest.raises(ValueError, match=r"s0 must lie in \(0, 1\)"):
            graph.threshold(np.eye(3), s0)
    for k in (0, 5, 1.5):
        with pytest.raises(ValueError, match="k must be an integer"):
            row_graph(rows, k)
    for corr in (np.ones(3), np.ones((2, 3)), np.ones((0, 0))):
        with pytest.raises(ValueError, match=r"corr must be "):
            graph.neighbors(corr, 1)
    with pytest.raises(ValueError, match="corr must be finite, got 1 NaN"):
        graph.threshold(np.array([[1.0, np.nan], [0.5, 1.0]]), 0.1)
    with pytest.raises(ValueError, match="rows must be finite, got 1 NaN"):
        graph.row_neighbors(np.array([[1.0, np.inf], [0.5, 1.0]]), 1)
    with pytest.raises(ValueError, match="corr must have one row a node, got 2 for 3 nodes"):
        graph.join(graph.threshold(np.eye(3), 0.9), np.eye(2))
    with pytest.raises(ValueError, match="neighbors must be one of 'auto'"):
        graph.row_neighbors(rows, 2, neighbors="fast")


def test_one_point_is_a_graph_without_edges():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = graph.threshold(np.ones((1, 1)), 0.5)
        assert (g.n_nodes, g.n_edges) == (1, 0)
        assert graph.component_labels(g).tolist() == [0]
        assert graph.join(g, np.ones((1, 1))).links.shape == (0, 2)
        assert graph.to_sparse(g).shape == (1, 1)


@given(st.integers(0, 10**6), st.integers(1, 9), st.booleans())
@settings(max_examples=20, deadline=None)
def test_shared_weights_are_correlations_times_the_root_of_the_share(seed, k, mutual):
    rows = random_rows(seed, 25, 8, groups=3)
    corr = np.corrcoef(rows)
    wanted = naive_neighbor_graph(corr, k, mutual) * np.sqrt(naive_shared_part(corr, k))
    wanted = np.clip(wanted, graph.WEIGHT_FLOOR, 1.0)
    g = row_graph(rows, k, mutual=mutual, affinity="shared_neighbors")
    np.testing.assert_allclose(dense(g), wanted, rtol=1e-10)


@pytest.mark.parametrize("k", [1, 3, 40])
def test_the_strongest_edges_of_each_point_stay(k):
    rng = np.random.default_rng(k)
    corr = rng.uniform(0.0, 1.0, (30, 30))
    corr = np.triu(corr, 1) + np.triu(corr, 1).T
    g = graph.threshold(corr, 0.5)
    weights = np.where(corr > 0.5, corr, 0.0)
    kept = np.zeros_like(weights)
    for i, row in enumerate(weights):
        for j in np.argsort(-row)[:k]:
            kept[i, j] = kept[j, i] = row[j]
    np.testing.assert_array_equal(graph.to_sparse(graph.strongest(g, k)).toarray(), kept)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("place", [10**9, -1])
def test_a_sparse_matrix_that_points_outside_itself_is_refused(form, place):
    matrix = form(np.array([[1.0, 0.5], [0.5, 1.0]]))
    (matrix.row if form is sp.coo_array else matrix.indices)[1] = place
    with pytest.raises(ValueError, match="must be a whole sparse matrix"):
        graph.from_scipy(matrix)
    with pytest.raises(ValueError, match="must be a whole sparse matrix"):
        IKD(1, affinity="precomputed").fit(matrix)
    model = IKD(1, affinity="precomputed", graph=0.1).fit(np.array([[1.0, 0.5], [0.5, 1.0]]))
    with pytest.raises(ValueError, match="must be a whole sparse matrix"):
        model.transform(matrix)


def two_groups(seed, n=40):
    rng = np.random.default_rng(seed)
    centers = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0]])
    rows = np.repeat(centers, n, axis=0) + 0.05 * rng.normal(size=(2 * n, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_groups_are_joined_by_their_nearest_pairs_in_any_order_of_rows():
    rows = two_groups(0)
    corr = correlation(rows)
    g = graph.threshold(corr, 0.97)
    labels = graph.component_labels(g)
    assert labels.max() == 1
    links = links_of_rows(g, rows)
    left, right = np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)
    across = corr[np.ix_(left, right)]
    best = {(i, int(np.argmax(across[i]))) for i in range(left.size)}
    best |= {(int(np.argmax(across[:, j])), j) for j in range(right.size)}
    nearest = sorted(best, key=lambda pair: -across[pair])[:10]
    assert {(int(left[i]), int(right[j])) for i, j in nearest} == set(map(tuple, links.tolist()))
    order = np.random.default_rng(1).permutation(len(rows))
    moved = links_of_rows(graph.threshold(corr[np.ix_(order, order)], 0.97), rows[order])
    again = links_of_rows(g, rows)
    assert {tuple(sorted(order[pair])) for pair in moved} == set(map(tuple, again.tolist()))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix])
def test_own_graphs_are_taken_as_they_are(kind):
    g = graph.threshold(correlation(random_rows(3, 12, 3)), 0.3)
    for own in (g, kind(graph.to_sparse(g)), graph.to_networkx(g)):
        for one, other in zip(graph.as_graph(own, 12), g, strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="one node for each of 11 points, got 12"):
        graph.as_graph(g, 11)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (
            sp.csr_array([[0.0, -0.5], [-0.5, 0.0]]),
            "from 0 to 1, got 1 outside",
        ),
        (sp.csr_array([[0.0, 3.0], [3.0, 0.0]]), "from 0 to 1, got 1 outside"),
        (sp.csr_array([[0.0, 0.5], [0.4, 0.0]]), "must be symmetric, .* by up to 0.1"),
        (sp.csr_array([[0.0, np.nan], [np.nan, 0.0]]), "finite"),
        (sp.csr_array([[0.0, 0.5, 0.1]]), "must be square"),
        (nx.path_graph(3), "must have the attribute 'weight', got 2 edges without it"),
        (nx.DiGraph([(0, 1)]), "must be undirected"),
    ],
)
def test_own_graphs_that_are_none_are_refused(own, message):
    with pytest.raises(ValueError, match=message):
        graph.as_graph(own)


@pytest.mark.parametrize("kind", ["neighbors", "links"])
def test_ties_are_decided_alike_in_any_unit(kind):
    rng = np.random.default_rng(0)
    near = rng.integers(0, 3, (120, 5))
    # Three clusters without an edge between them.
    apart = near + 20 * np.repeat([[0] * 5, [1] * 5, [0, 0, 0, 1, 1]], 40, axis=0)
    X = near if kind == "neighbors" else apart

    def found(table):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = IKD(affinity="euclidean", strategy="geodesic", graph=5, refine=None).fit(table)
        return [ends.tolist() for ends in graph.edges(model.graph_)[:2]]

    expected = found(X.astype(float))
    for unit in (255.0, 1.0 / 255.0, 0.1):
        assert found(unit * X) == expected


@pytest.mark.parametrize(("n", "most"), [(40, 3), (40, 12), (40, 60), (7, 150)])
def test_the_strongest_of_the_pairs_above_a_threshold_are_those_of_a_slow_reference(n, most):
    corr = np.corrcoef(np.random.default_rng(n + most).normal(size=(n, 8)))
    found = graph.Threshold(0.2, strongest=most).build(similarity.compare(corr, "precomputed"))
    order = np.argsort(-(corr - 2.0 * np.eye(n)), axis=1)[:, :most]
    expected = {
        (min(i, j), max(i, j)) for i in range(n) for j in order[i] if i != j and corr[i, j] > 0.2
    }
    low, high, weights = graph.edges(found)
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == expected
    np.testing.assert_allclose(weights, corr[low, high])


def test_the_number_of_strongest_edges_is_a_whole_one():
    with pytest.raises(ValueError, match="strongest must be an integer at least 1, got 0"):
        IKD(graph=graph.Threshold(strongest=0)).check_parameters()
