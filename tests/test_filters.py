"""Graphs for looking: signed thresholds, partial correlations, a spanning tree, a planar graph."""

import warnings

import networkx as nx
import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from ikd_graph import covariance, graph


def correlations(n=30, n_columns=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) + 0.7 * rng.normal(size=(n, 3)) @ rng.normal(
        size=(3, n_columns)
    )
    return np.corrcoef(X)


def edge_set(g):
    low, high, _ = graph.edges(g)
    return set(zip(low.tolist(), high.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_the_spanning_tree_is_that_of_networkx(seed):
    corr = correlations(seed=seed)
    G = nx.from_numpy_array(corr)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    expected = {tuple(sorted(pair)) for pair in nx.maximum_spanning_tree(G).edges}
    assert edge_set(graph.spanning_tree(corr)) == expected


def test_points_that_correlate_fully_stay_in_the_tree():
    tree = graph.spanning_tree(np.ones((5, 5)))
    assert (tree.n_edges, graph.component_labels(tree).max()) == (4, 0)


@pytest.mark.parametrize("n", [4, 5, 30])
def test_the_planar_graph_is_planar_and_a_chain_of_tetrahedra(n):
    corr = correlations(n)
    G = graph.to_networkx(graph.planar_graph(corr))
    assert G.number_of_edges() == 3 * n - 6
    assert nx.check_planarity(G)[0]
    assert nx.is_chordal(G)
    assert max(map(len, nx.find_cliques(G))) == 4


def test_the_planar_graph_is_the_greedy_one():
    corr = correlations(12)
    free = np.where(np.eye(12, dtype=bool), 0.0, corr)
    sums = np.where(free > free.mean(), free, 0.0).sum(axis=1)
    inside = np.argsort(-sums, kind="stable")[:4].tolist()
    pairs = {tuple(sorted((a, b))) for a in inside for b in inside if a != b}
    faces = [[k for k in inside if k != corner] for corner in inside]
    while len(inside) < 12:
        gain, face, point = max(
            (corr[face, p].sum(), face, p) for face in faces for p in set(range(12)) - set(inside)
        )
        pairs |= {tuple(sorted((point, corner))) for corner in face}
        faces.remove(face)
        faces += [[*[c for c in face if c != corner], point] for corner in face]
        inside.append(point)
        assert np.isfinite(gain)
    assert edge_set(graph.planar_graph(corr)) == pairs


def test_signed_thresholds_say_what_they_drop():
    corr = correlations()
    pairs = corr[np.triu_indices(30, 1)]
    n_positive, n_negative = int((pairs > 0.3).sum()), int((pairs < -0.3).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = graph.signed_threshold(corr, 0.3)
    assert both.n_edges == n_positive + n_negative
    assert both.weights.min() > 0.3
    with pytest.warns(UserWarning, match=f"{n_negative} of {both.n_edges} pairs .* are dropped"):
        assert graph.signed_threshold(corr, 0.3, "positive").n_edges == n_positive
    with pytest.warns(UserWarning, match=f"{n_positive} of {both.n_edges} pairs .* are dropped"):
        assert graph.signed_threshold(corr, 0.3, "negative").n_edges == n_negative


def test_partial_correlations_are_those_of_regressions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 400)) + rng.normal(size=400)
    partial = covariance.partial_correlation(X, "none")
    others = np.column_stack([X[2:].T, np.ones(400)])
    left = [row - others @ np.linalg.lstsq(others, row, rcond=None)[0] for row in X[:2]]
    assert partial[0, 1] == pytest.approx(np.corrcoef(left)[0, 1])


def test_shrunken_partial_correlations_are_those_of_scikit_learn():
    X = np.random.default_rng(1).normal(size=(40, 25)) * np.arange(1, 41)[:, None]
    standard = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    precision = LedoitWolf(assume_centered=True).fit(standard.T).precision_
    scale = np.sqrt(np.diagonal(precision))
    expected = -precision / np.outer(scale, scale)
    partial = covariance.partial_correlation(X)
    off = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(partial[off], expected[off], atol=1e-10)
    assert np.array_equal(partial, partial.T)
    assert np.all(np.diagonal(partial) == 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graph.planar_graph(np.eye(3)), "at least 4 points, got 3"),
        (lambda: graph.signed_threshold(np.eye(3), 1.5), r"s0 must lie in \(0, 1\)"),
        (lambda: graph.signed_threshold(np.eye(3), 0.5, "any"), "sign must be one of"),
        (lambda: graph.spanning_tree([[1.0, 0.2], [0.3, 1.0]]), "corr must be symmetric"),
        (lambda: covariance.partial_correlation(np.eye(4), "none"), "shrinkage must not be 'none'"),
        (lambda: covariance.partial_correlation(np.ones((3, 9))), "constant|vary"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
