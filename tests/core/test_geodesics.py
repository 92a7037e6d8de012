"""Shortest paths: against scipy, at the edges."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from test_graph import dense

from ikd_graph import IKD, geodesics, graph, kernels, strategies
from ikd_graph.graph import CsrGraph


def random_graph(seed, n, density, low=0.05):
    """Random weights in [low, 1], an exact 1 here and there."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1)
    left, right = np.nonzero(upper)
    weights = rng.uniform(low, 1.0, left.size)
    weights[rng.random(left.size) < 0.1] = 1.0
    return graph.from_edges(n, left, right, weights)


def plane_graph(seed, n, k=6):
    """Neighbor graph of points in the unit square, its weights the distances."""
    points = np.random.default_rng(seed).random((n, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    g = graph.neighbors(-distance, k)
    left, right, _ = graph.edges(g)
    return graph.from_edges(n, left, right, distance[left, right])


def scipy_distances(g, sources=None):
    """Distances by scipy, which keeps the explicit zeros of a CSR matrix."""
    matrix = sp.csr_matrix((g.weights, g.indices, g.indptr), shape=(g.n_nodes, g.n_nodes))
    return dijkstra(matrix, directed=True, indices=sources)


@pytest.mark.parametrize(("n", "density"), [(5, 0.5), (40, 0.03), (40, 0.2), (60, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_distances_agree_with_scipy(seed, n, density):
    g = geodesics.covariance_lengths(random_graph(seed, n, density))
    np.testing.assert_allclose(geodesics.shortest_distances(g), scipy_distances(g), atol=1e-12)


@pytest.mark.parametrize("sources", [[7], [3, 299, 41], list(range(0, 300, 7)), range(300)])
def test_distances_from_sources_have_the_bits_of_scipy_s_dijkstra(sources):
    g = plane_graph(0, 300)
    found = geodesics.shortest_distances(g, list(sources))
    np.testing.assert_array_equal(found, scipy_distances(g, list(sources)))


@pytest.mark.parametrize("seed", range(4))
def test_farthest_nodes_are_those_of_the_naive_twin_with_the_bits_of_dijkstra(seed):
    g = plane_graph(seed, 200)
    every = scipy_distances(g)
    sums = np.bincount(np.repeat(np.arange(200), np.diff(g.indptr)), g.weights)
    nodes = [int(np.argmax(every[np.argmin(sums / np.diff(g.indptr))]))]
    for _ in range(24):
        nodes.append(int(np.argmax(every[nodes].min(axis=0))))
    found, distances = geodesics.farthest_nodes(g, 25)
    assert found.tolist() == nodes
    np.testing.assert_array_equal(distances, every[nodes])


def test_numbering_the_nodes_otherwise_permutes_the_distances_and_changes_no_bit():
    g = plane_graph(4, 200)
    shuffle = np.random.default_rng(4).permutation(200)
    shuffled = geodesics.shortest_distances(graph.subgraph(g, shuffle))
    plain = geodesics.shortest_distances(g)
    np.testing.assert_array_equal(shuffled, plain[np.ix_(shuffle, shuffle)])


@pytest.mark.parametrize("kernel", ["squared_exponential", "gamma_exponential"])
def test_geodesic_distances_sum_the_distances_of_the_kernel(kernel):
    kernel = kernels.get(kernel)
    g = random_graph(8, 50, 0.2)
    found = geodesics.distances(g, kernel)
    lengths = g._replace(weights=np.sqrt(kernel.sq_distance(g.weights)))
    np.testing.assert_allclose(found, scipy_distances(lengths), atol=1e-12)
    some = geodesics.distances(g, kernel, [4, 9])
    np.testing.assert_allclose(some, found[[4, 9]], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_geodesic_covariance_is_the_largest_product_off_the_edges(seed):
    g = random_graph(seed, 40, 0.1)
    products = np.exp(-scipy_distances(g._replace(weights=-np.log(g.weights))))
    free = geodesics.covariance(g, keep_edges=False)
    np.testing.assert_allclose(free, products, atol=1e-12)
    stored = dense(g)
    kept = geodesics.covariance(g)
    np.testing.assert_allclose(kept, np.where(np.isnan(stored), products, stored), atol=1e-12)
    np.testing.assert_array_equal(kept, kept.T)
    some = geodesics.covariance(g, [5, 0, 5])
    np.testing.assert_allclose(some, kept[[5, 0, 5]], atol=1e-12)


def test_edges_without_a_positive_weight_carry_no_path():
    g = graph.from_edges(4, np.r_[0, 1, 2], np.r_[1, 2, 3], np.array([0.5, 0.0, -0.3]))
    distances = geodesics.distances(g, kernels.SquaredExponential(), [0])
    assert np.isfinite(distances).tolist() == [[True, True, False, False]]
    assert geodesics.covariance(g, [0])[0].round(12).tolist() == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("n_landmarks", [None, 40])
@pytest.mark.parametrize("gamma", [2.0, 1.0])
def test_a_long_chain_of_weak_edges_keeps_its_order(n_landmarks, gamma):
    chain = nx.path_graph(160)
    nx.set_edge_attributes(chain, 0.2, "weight")
    model = IKD(
        1,
        affinity="precomputed",
        strategy=strategies.Geodesic(path="covariance"),
        kernel=kernels.GammaExponential(gamma=gamma),
        n_landmarks=n_landmarks,
        refine=None,
        random_state=0,
    )
    steps = np.diff(model.fit_transform(chain)[:, 0])
    # Beyond the last landmark points have one place.
    assert (np.sign(steps[80]) * steps > -1e-9).all()


def test_one_node_and_isolated_nodes_are_at_no_distance_from_themselves():
    alone = graph.threshold(np.ones((1, 1)), 0.5)
    assert geodesics.shortest_distances(alone).tolist() == [[0.0]]
    apart = graph.threshold(np.eye(40), 0.5)
    np.testing.assert_array_equal(np.exp(-geodesics.shortest_distances(apart)), np.eye(40))
    np.testing.assert_array_equal(geodesics.covariance(apart), np.eye(40))


@pytest.mark.parametrize("spread", [1.0, 10.0, 30.0])
def test_lengths_over_many_orders_of_magnitude_are_searched_right(spread):
    g = random_graph(10, 80, 0.1)
    left, right, _ = graph.edges(g)
    lengths = np.exp(np.random.default_rng(10).uniform(-spread, spread, left.size))
    lengths[0] = np.inf
    g = graph.from_edges(80, left, right, lengths)
    np.testing.assert_array_equal(
        geodesics.shortest_distances(g, np.arange(80)), scipy_distances(g)
    )


def test_wrong_input_is_refused_with_a_reason():
    g = plane_graph(11, 20)
    for sources in ([], [[1]], [0.5], 3):
        with pytest.raises(ValueError, match="sources must be a list of"):
            geodesics.shortest_distances(g, sources)
    for node in (-1, 20):
        with pytest.raises(ValueError, match="sources must lie from 0 to"):
            geodesics.shortest_distances(g, [0, node])
    broken = CsrGraph(g.indptr, g.indices, np.full_like(g.weights, -1.0))
    with pytest.raises(ValueError, match="lengths must not be negative"):
        geodesics.shortest_distances(broken)
