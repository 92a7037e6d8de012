"""What every threshold would make of the same data."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import covariance, graph
from ikd_graph.jobs.threshold_scan import threshold_scan


def rows_of(seed, n=40, p=60):
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 5, n)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, p) + rng.uniform(0, 6, p))
    return X + 0.2 * rng.normal(size=X.shape)


def naive(X, level, size):
    """Counts of one threshold by networkx on the correlation matrix."""
    corr = np.corrcoef(X)
    graph = nx.from_numpy_array(np.triu(corr > level, 1))
    parts = [len(part) for part in nx.connected_components(graph)]
    found = [clique for clique in nx.find_cliques(graph) if len(clique) > 1]
    placed = set().union(*(set(clique) for clique in found if len(clique) >= size))
    largest = max((len(clique) for clique in found), default=1)
    covered = len(placed) / len(X)
    return graph.number_of_edges(), len(parts), max(parts), len(found), largest, covered


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_components", [1, 3])
def test_levels_count_what_networkx_counts(seed, n_components):
    X = rows_of(seed)
    found = threshold_scan(X, thresholds=[0.9, 0.3, 0.7], n_components=n_components)
    assert found.threshold.tolist() == [0.3, 0.7, 0.9]
    for level, *row in found.itertuples(index=False):
        np.testing.assert_allclose(row, naive(X, level, n_components + 2))


def test_beyond_the_limit_cliques_are_unknown_but_coverage_is_not():
    X = rows_of(0)
    whole = threshold_scan(X, thresholds=[0.2, 0.5])
    cut = threshold_scan(X, thresholds=[0.2, 0.5], clique_limit=2)
    assert np.isnan(cut.cliques).all()
    assert np.isnan(cut.largest_clique).all()
    np.testing.assert_allclose(cut.coverage, whole.coverage)


def test_even_levels_are_round_ascending_and_hold_the_extra_one():
    found = threshold_scan(rows_of(1), also=[0.4321])
    assert 10 <= found.threshold.size <= 27
    assert np.all(np.diff(found.threshold) > 0)
    assert 0.4321 in found.threshold.values
    rest = found.threshold[found.threshold != 0.4321]
    np.testing.assert_allclose(rest, np.round(rest, 2))
    assert np.all(np.diff(found.edges) <= 0)
    assert np.all(np.diff(found.components) >= 0)


def test_a_precomputed_correlation_gives_the_same_as_its_rows():
    X = rows_of(2)
    corr = np.corrcoef(X)
    expected = threshold_scan(X, thresholds=[0.4, 0.8])
    kept = sp.csr_matrix(np.where(corr > 0.3, corr, 0.0))
    for matrix in (corr, kept):
        found = threshold_scan(matrix, affinity="precomputed", thresholds=[0.4, 0.8])
        assert found.edges.tolist() == expected.edges.tolist()
        assert found.components.tolist() == expected.components.tolist()
        np.testing.assert_allclose(found.coverage, expected.coverage)
    assert threshold_scan(kept, affinity="precomputed").threshold.min() >= 0.29


def test_the_largest_threshold_that_holds_together_is_known():
    found = threshold_scan(rows_of(0), thresholds=[0.1])
    top = found.attrs["connected_up_to"]
    just = threshold_scan(rows_of(0), thresholds=[0.999 * top, 1.001 * top])
    assert just.components[0] == 1 < just.components[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": [1.2]}, r"thresholds must lie in \(0, 1\), got 1.2"),
        ({"also": [0.0]}, r"also must lie in \(0, 1\), got 0.0"),
        ({"clique_limit": 0}, "clique_limit must be an integer at least 1"),
        ({"n_components": 0}, "n_components must be an integer at least 1"),
        ({"thresholds": []}, "thresholds must name at least one"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        threshold_scan(rows_of(0), **arguments)


@pytest.mark.parametrize("affinity", ["euclidean", "shared_neighbors"])
def test_levels_take_every_affinity(affinity):
    X = np.random.default_rng(0).normal(size=(40, 12))
    corr = covariance.correlation(X)
    if affinity == "euclidean":
        corr = np.exp(covariance.euclidean(X) - 1.0)
    found = threshold_scan(X, affinity=affinity, thresholds=[0.2, 0.4])
    wanted = [graph.threshold(corr, level).n_edges for level in (0.2, 0.4)]
    assert found.edges.tolist() == wanted
