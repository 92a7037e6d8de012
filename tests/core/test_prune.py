"""False edges: a reference implementation, planted faults, and clean graphs left alone."""

import warnings

import numpy as np
import pytest
from reference_graph import naive_far_apart
from sklearn.datasets import make_s_curve
from tables import roll
from test_graph import dense

from ikd_graph import IKD, covariance, graph, kernels, similarity
from ikd_graph.datasets import gp_mapping
from ikd_graph.metrics import affine_r2

WIDE = 25


def sheet_covariance(n, seed, n_false=0, n_observed=200):
    """Sample correlations of a sheet with false pairs of .9 to .99, the latent, and the pairs."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 1.0, (n, 2)) * [6.0, 4.0]
    corr = covariance.correlation(gp_mapping(latent, n_observed, "squared_exponential", seed=seed))
    left, right = np.nonzero(np.triu(corr < 0.3, 1))
    taken = rng.choice(left.size, n_false, replace=False)
    left, right = left[taken], right[taken]
    corr[left, right] = corr[right, left] = rng.uniform(0.9, 0.99, n_false)
    return corr, latent, set(zip(left.tolist(), right.tolist(), strict=True))


def pruned(X, k):
    """Graph of k neighbors, pruned next to a wider one, and what was removed."""
    made = similarity.compare(X, "euclidean")
    made.neighbors(max(k, WIDE))
    return graph.prune(graph.neighbors(made, k), graph.neighbors(made, WIDE))


def jumps(g, latent):
    """Edges between different turns of a roll."""
    left, right, _ = graph.edges(g)
    return int(np.count_nonzero(np.abs(latent[left, 0] - latent[right, 0]) > 12.0))


def pairs_of(removed):
    return set(map(tuple, removed.tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_short_cuts_agree_with_the_naive_twin(seed):
    turn = np.linspace(6.0**2, 14.0**2, 60) ** 0.5  # steps of about 1.3 along the spiral
    X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    X += np.random.default_rng(seed).normal(scale=0.3, size=X.shape)
    g = graph.neighbors(similarity.compare(X, "euclidean"), 10)
    lengths = np.sqrt(2.0 - 2.0 * dense(g, absent=-np.inf))
    kept, removed = graph.prune(g)
    assert pairs_of(removed) == naive_far_apart(lengths)
    assert len(removed) == g.n_edges - kept.n_edges > 0


@pytest.mark.parametrize(("n", "noise"), [(500, 0.3), (500, 0.5), (1000, 0.3)])
@pytest.mark.parametrize("seed", [10, 11])
def test_all_short_cuts_of_a_roll_are_removed_and_nothing_else(n, noise, seed):
    X, latent = roll(n, seed, noise)
    for k in (7, 10, 20, 30):
        before = jumps(graph.neighbors(similarity.compare(X, "euclidean"), k), latent)
        kept, removed = pruned(X, k)
        assert jumps(kept, latent) == 0
        assert len(removed) == before


def test_the_order_of_rows_does_not_matter():
    X, _ = roll(400, 3, 0.3)
    order = np.random.default_rng(0).permutation(400)
    one, two = pruned(X, 20)[1], pruned(X[order], 20)[1]
    assert {tuple(sorted(order[pair].tolist())) for pair in two} == pairs_of(one)


def test_a_ring_is_not_torn_at_its_widest_gap():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        turn = rng.uniform(0.0, 2.0 * np.pi, 100)
        frame = np.linalg.qr(rng.standard_normal((20, 2)))[0]
        ring = np.column_stack([np.cos(turn), np.sin(turn)])
        assert not pruned(ring @ frame.T + 0.02 * rng.standard_normal((100, 20)), 15)[1].size


@pytest.mark.parametrize("k", [4, 7, 10, 20])
def test_nothing_of_a_clean_surface_is_removed(k):
    rng = np.random.default_rng(0)
    flat = rng.uniform(0.0, 1.0, (400, 2)) * [5.0, 2.0]
    line = np.linspace(0.0, 3.0, 200)[:, None] * np.ones((1, 2))
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=2).reshape(-1, 2)
    plate = rng.uniform(-1.0, 1.0, (900, 2))
    plate = plate[np.hypot(plate[:, 0], plate[:, 1]) > 0.5]
    sphere = rng.standard_normal((400, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    for X in (make_s_curve(600, random_state=1)[0], flat, line, grid, plate, sphere):
        assert not pruned(X, k)[1].size


@pytest.mark.parametrize("n_false", [0, 50, 200, 450])
@pytest.mark.parametrize("rule", [(0.354, None), (None, 7), (0.5, 6)])
def test_false_edges_are_removed(n_false, rule):
    corr, _, false = sheet_covariance(300, 20, n_false)
    made = similarity.compare(corr, "precomputed")
    threshold, k = rule
    parts = [] if threshold is None else [graph.threshold(made, threshold)]
    parts += [] if k is None else [graph.neighbors(made, k)]
    kept, removed = graph.prune(graph.union(parts[0], parts[-1]), graph.threshold(made, 0.3))
    left, right, _ = graph.edges(kept)
    assert len(false & set(zip(left.tolist(), right.tolist(), strict=True))) <= 2
    assert len(pairs_of(removed) - false) <= 0.01 * kept.n_edges


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
@pytest.mark.parametrize("n_false", [0, 450])
def test_a_damaged_covariance_gives_the_latent(strategy, n_false):
    corr, latent, _ = sheet_covariance(300, 31, n_false)
    found = IKD(
        strategy=strategy, affinity="precomputed", graph=graph.Threshold(prune=True), refine=None
    ).fit(corr)
    assert affine_r2(latent, found.embedding_) > 0.97
    assert (len(found.removed_edges_) > 0) == (n_false > 0)


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
@pytest.mark.parametrize("k", [10, 20, 30])
def test_a_noisy_roll_gives_the_latent(strategy, k):
    X, latent = roll(1000, 30, 0.3)
    settings = {"strategy": strategy, "affinity": "euclidean", "graph": k, "refine": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert affine_r2(latent, IKD(2, **settings).fit_transform(X)) > 0.99


def test_a_bridge_stays_and_so_do_components():
    left = np.r_[np.arange(9), np.arange(10, 19), 4]
    right = np.r_[np.arange(1, 10), np.arange(11, 20), 14]
    g = graph.from_edges(20, left, right, np.r_[np.full(18, 0.99), 0.01])
    kept, removed = graph.prune(g)
    assert (kept.n_edges, removed.shape) == (19, (0, 2))


def test_equal_points_and_no_points():
    line = np.repeat(np.arange(4.0), 3)[:, None]
    exact = kernels.SquaredExponential().covariance((line - line.T) ** 2)
    for g in (
        graph.threshold(exact, 0.1),
        graph.threshold(np.ones((6, 6)), 0.5),
        graph.from_edges(0, [], [], []),
        graph.from_edges(3, [], [], []),
    ):
        kept, removed = graph.prune(g)
        assert (kept.n_edges, removed.size) == (g.n_edges, 0)


def test_graphs_of_other_points_are_refused():
    g = graph.from_edges(3, [0, 1], [1, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match="as many nodes"):
        graph.prune(g, graph.from_edges(0, [], [], []))
