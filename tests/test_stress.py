import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.datasets import load_digits

from ikd_graph import IKD, _jit, _limits, gplvm, graph, kernels, refine
from ikd_graph.refine import _anchors, _pairs
from ikd_graph.study import metrics
from ikd_graph.study.datasets import gplvm_data

KERNELS = [kernels.get(name) for name in kernels.KERNELS]


def naive_majorise(targets, weights, points, loose=None, slack=1.0):
    """Force and stress of every row, from dense targets and weights.

    A loose pair that is too far apart counts ``slack`` times: the force is that of the quadratic of
    whole weight with the same value and slope.
    """
    force, stress = np.zeros_like(points), np.zeros(len(points))
    for i in range(len(points)):
        for j in range(len(points)):
            gap = points[i] - points[j]
            distance = np.sqrt((gap**2).sum())
            price = weights[i, j]
            if loose is not None and loose[i, j] and distance > targets[i, j]:
                price *= slack
            stress[i] += price * (distance - targets[i, j]) ** 2
            if distance > 0.0:
                slope = price * (distance - targets[i, j])
                force[i] += (weights[i, j] * distance - slope) * gap / distance
    return force, stress


def noisy_problem(seed, n=40, m=2, noise=0.02):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(-1.5, 1.5, (n, m))
    corr = kernels.SquaredExponential().covariance(cdist(latent, latent, "sqeuclidean"))
    corr += noise * rng.standard_normal((n, n))
    corr = np.clip(0.5 * (corr + corr.T), -0.9, 0.999)
    np.fill_diagonal(corr, 1.0)
    g = graph.union(graph.threshold_graph(corr, 0.4), graph.neighbor_graph(corr, 6))
    return latent, graph.join(g, corr).graph


@pytest.mark.parametrize("seed", range(3))
def test_one_pass_over_the_pairs_agrees_with_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    n = 12 + seed  # sums go by fours
    points = rng.standard_normal((n, 3))
    points[1] = points[0]
    targets, weights = rng.uniform(0.1, 2.0, (2, n, n))
    np.fill_diagonal(weights, 0.0)
    indptr = np.arange(n + 1) * n
    indices = np.tile(np.arange(n, dtype=np.int32), n)
    force, stress = np.empty_like(points), np.empty(n)
    _jit.stress.majorise(indptr, indices, targets.ravel(), weights.ravel(), points, force, stress)
    wanted_force, wanted_stress = naive_majorise(targets, weights, points)
    np.testing.assert_allclose(force, wanted_force, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(stress, wanted_stress, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_one_pass_over_a_table_agrees_with_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    n = 12 + seed  # sums go by fours
    points = rng.standard_normal((n, 3))
    points[1] = points[0]
    targets, weights = rng.uniform(0.1, 2.0, (2, n, n))
    targets, weights = targets + targets.T, weights + weights.T
    np.fill_diagonal(weights, 0.0)
    loose = rng.random((n, n)) < 0.5
    loose |= loose.T
    force, by_row = naive_majorise(targets, weights, points, loose, 0.2)
    wanted = weights.sum(axis=1)[:, None] * points - weights @ points - force
    stress, slope = _pairs.Table(targets, weights, loose, 0.2).slope(points)
    assert stress == pytest.approx(0.5 * by_row.sum(), rel=1e-12)
    np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_one_pass_over_views_agrees_with_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    _, g = noisy_problem(seed)
    n, anchors = g.n_nodes, np.array([3, 11, 30])
    points = rng.standard_normal((n, 2))
    lengths, trust = rng.uniform(0.1, 2.0, (2, g.indices.size))
    targets, weights = rng.uniform(0.1, 2.0, (2, n, 3)).astype(np.float32)
    weights[anchors, np.arange(3)] = 0.0
    wanted_force, wanted_stress = np.zeros_like(points), np.zeros(n)
    for i in range(n):
        part = slice(g.indptr[i], g.indptr[i + 1])
        edges = ((g.indices[part], lengths[part], trust[part]), (anchors, targets[i], weights[i]))
        for loose, (seen, aims, counts) in zip((False, True), edges, strict=True):
            for j, aim, count in zip(seen, aims, counts, strict=True):
                pair = points[[i, j]]
                table, count_of = np.array([[0.0, aim], [0, 0]]), np.array([[0.0, count], [0, 0]])
                force, stress = naive_majorise(table, count_of, pair, np.full((2, 2), loose), 0.3)
                wanted_force[i] += force[0]
                wanted_stress[i] += stress[0]
    views = _anchors.Views(
        _pairs.Pairs(g.indptr, g.indices, lengths, trust), anchors, targets, weights, 0.3
    )
    force, stress = np.empty_like(points), np.empty(n)
    views.majorise(points, force, stress)
    force -= weights @ points[anchors]
    # Anchors are seen in single precision.
    np.testing.assert_allclose(force, wanted_force, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(stress, wanted_stress, rtol=1e-5)


@pytest.mark.parametrize("weights", _pairs.WEIGHTS)
@pytest.mark.parametrize("dense_limit", [2000, 10])
@pytest.mark.parametrize("seed", range(3))
def test_stress_never_rises(seed, dense_limit, weights, monkeypatch):
    monkeypatch.setattr(_limits, "STRESS_PRECISE", dense_limit)
    monkeypatch.setattr(_limits, "STRESS_FAR", dense_limit)
    latent, g = noisy_problem(seed)
    start = latent + 0.3 * np.random.default_rng(seed).standard_normal(latent.shape)
    labels = (latent[:, 0] > 0.0).astype(int)
    fit = refine.stress(
        start,
        g,
        "squared_exponential",
        100,
        weights=refine.Weights(weights, labels=labels),
        max_iter=40,
    )
    assert (np.diff(fit.history) <= 0.0).all()
    assert fit.history.size == fit.n_iter + 1
    if dense_limit == 2000 or weights == "precision":
        assert fit.history[-1] < 0.7 * fit.history[0]
        return
    # Anchors went first: all of their stress was gone before the history began.
    monkeypatch.setattr(_limits, "STRESS_FAR", 2000)
    wanted = refine.Weights(weights, labels=labels)
    before, after = (
        refine.stress(points, g, "squared_exponential", weights=wanted, max_iter=0).history[0]
        for points in (start, fit.latent)
    )
    assert after < 0.7 * before


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dense_limit", [2000, 10])
def test_exact_distances_stay_where_they_are(kernel, dense_limit, monkeypatch):
    monkeypatch.setattr(_limits, "STRESS_PRECISE", dense_limit)
    # On a line the geodesics along the graph are exact too.
    latent = np.sort(np.random.default_rng(1).uniform(-2.0, 2.0, 30))[:, None] + 7.0
    corr = kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    g = graph.union(graph.threshold_graph(corr, 0.4), graph.neighbor_graph(corr, 3))
    g = graph.join(g, corr).graph
    fit = refine.stress(latent, g, kernel, 50)
    assert fit.converged
    np.testing.assert_allclose(fit.latent, latent, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_precision_weights_bring_a_latent_nearer_to_the_truth(seed):
    latent, g = noisy_problem(seed)
    start = latent + 0.2 * np.random.default_rng(seed).standard_normal(latent.shape)

    def miss(points):
        return np.abs(cdist(points, points) - cdist(latent, latent)).mean()

    fit = refine.stress(start, g, "squared_exponential", 100)
    assert miss(fit.latent) < 0.5 * miss(start)


def test_sparse_and_dense_pairs_reach_the_same_stress(monkeypatch):
    latent, g = noisy_problem(4)
    start = latent + 0.1 * np.random.default_rng(4).standard_normal(latent.shape)
    dense = refine.stress(start, g, "squared_exponential", 100, max_iter=300)
    monkeypatch.setattr(_limits, "STRESS_PRECISE", 10)
    monkeypatch.setattr(_pairs, "N_LANDMARKS", len(latent))
    sparse = refine.stress(start, g, "squared_exponential", 100, max_iter=300)
    assert sparse.history[0] == pytest.approx(dense.history[0], rel=1e-7)
    assert sparse.history[-1] == pytest.approx(dense.history[-1], rel=1e-2)


def test_the_number_of_observed_dimensions_leaves_the_latent():
    latent, g = noisy_problem(5)
    few = refine.stress(latent, g, "matern", 10)
    many = refine.stress(latent, g, "matern", 10_000)
    np.testing.assert_allclose(few.latent, many.latent, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_distance_precision_agrees_with_simulated_correlations(kernel):
    rng = np.random.default_rng(6)
    n_observed, true = 500, 0.6
    pair = rng.multivariate_normal([0.0, 0.0], [[1.0, true], [true, 1.0]], (2000, n_observed))
    centred = pair - pair.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=1))
    found = (centred[..., 0] * centred[..., 1]).sum(axis=1) / spread.prod(axis=1)
    distances = np.sqrt(kernel.sq_distance(found))
    precision = refine.distance_precision(true, kernel, n_observed)
    assert 1.0 / distances.var() == pytest.approx(float(precision), rel=0.12)


def test_duplicates_and_zero_steps_are_no_obstacle():
    latent, g = noisy_problem(7)
    left, right, weights = graph.edges(g)
    weights[:2] = 1.0
    g = graph.from_edges(g.n_nodes, left, right, weights)
    latent[1] = latent[0]
    assert np.isfinite(refine.stress(latent, g, "gamma_exponential", 100).latent).all()
    fit = refine.stress(latent, g, "gamma_exponential", 100, max_iter=0)
    assert fit.n_iter == 0
    assert not fit.converged
    np.testing.assert_allclose(fit.latent, latent, atol=1e-14)


def test_what_does_not_fit_is_refused():
    latent, g = noisy_problem(8)
    with pytest.raises(ValueError, match=r"weights must be one of"):
        refine.stress(latent, g, "matern", 10, weights="none")
    with pytest.raises(ValueError, match="one row per node"):
        refine.stress(latent[:-1], g, "matern", 10)


@pytest.mark.parametrize("weights", ["path", "uniform"])
@pytest.mark.parametrize("path", ["covariance", "distance"])
def test_all_pairs_aim_at_their_geodesic_and_edges_at_their_own(path, weights):
    _, g = noisy_problem(1)
    kernel = kernels.SquaredExponential()
    pairs = _pairs.pairs_of(g, _pairs.Rule(kernel, 100, refine.Weights(weights), path))
    n = g.n_nodes
    targets, counts = pairs.targets, pairs.weights
    left, right, corr = graph.edges(g)
    wanted = np.full((n, n), np.inf)
    np.fill_diagonal(wanted, 0.0)
    step = -np.log(corr) if path == "covariance" else np.sqrt(-2.0 * np.log(corr))
    wanted[left, right] = wanted[right, left] = step
    for middle in range(n):
        wanted = np.minimum(wanted, wanted[:, [middle]] + wanted[[middle]])
    if path == "covariance":
        wanted = np.sqrt(2.0 * wanted)
    wanted[left, right] = wanted[right, left] = np.sqrt(-2.0 * np.log(corr))
    np.testing.assert_allclose(targets, wanted, rtol=1e-6, atol=1e-12)
    off = ~np.eye(n, dtype=bool)
    assert not np.diagonal(counts).any()
    ratio = counts[off] * (wanted[off] if weights == "path" else 1.0)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    known = refine.Weights(weights, squares=wanted**2)
    again = _pairs.pairs_of(g, _pairs.Rule(kernel, 100, known, path))
    np.testing.assert_allclose(again.targets, targets, rtol=1e-6)
    np.testing.assert_allclose(again.weights, counts, rtol=1e-6)


def test_pairs_across_components_count_less():
    _, g = noisy_problem(2)
    labels = np.arange(g.n_nodes) % 3
    kernel = kernels.SquaredExponential()
    rule = _pairs.Rule(kernel, 1, refine.Weights("uniform"), "distance")
    of_components = rule._replace(weights=refine.Weights("component", labels=labels))
    price = np.where(labels[:, None] == labels, 1.0, _pairs.ACROSS)
    for made in (_pairs.pairs_of, _anchors.views_of):
        alike, apart = made(g, rule), made(g, of_components)
        np.testing.assert_allclose(apart.weights, price * alike.weights)
        np.testing.assert_allclose(alike.targets, apart.targets)
    left, right, _ = graph.edges(g)
    np.testing.assert_allclose(apart.edges.links().toarray()[left, right], price[left, right])


def test_what_a_point_sees_of_the_anchors_has_the_expectation_of_all_pairs(monkeypatch):
    _, g = noisy_problem(1, n=300)
    labels = np.arange(300) % 3
    weights = refine.Weights("component", labels=labels)
    rule = _pairs.Rule(kernels.get("matern"), 1, weights, "distance")
    table = _pairs.pairs_of(g, rule)
    monkeypatch.setattr(_anchors, "ANCHORS", 100)
    views = _anchors.views_of(g, rule)
    assert views.anchors.size == 100
    np.testing.assert_allclose(views.weights.sum(), table.weights.sum(), rtol=0.02)
    other = ~np.isin(np.arange(300), views.anchors)
    ratio = views.weights[other] / table.weights[other][:, views.anchors]
    np.testing.assert_allclose(ratio, 3.0, rtol=1e-6)


@pytest.mark.parametrize("weights", ["path", "uniform"])
def test_anchors_do_not_depend_on_the_order_of_points(weights, monkeypatch):
    monkeypatch.setattr(_limits, "STRESS_FAR", 10)
    monkeypatch.setattr(_anchors, "ANCHORS", 60)
    latent, g = noisy_problem(3, n=200)
    order = np.random.default_rng(0).permutation(200)
    moved = graph.from_sparse(graph.to_sparse(g)[order][:, order].tocsr())
    wanted = refine.Weights(weights, slack=0.1)
    here = refine.stress(latent, g, "matern", weights=wanted)
    there = refine.stress(latent[order], moved, "matern", weights=wanted)
    np.testing.assert_allclose(there.latent, here.latent[order], atol=1e-6)


def test_groups_are_kept_and_arranged_with_all_pairs_and_with_anchors_alike(monkeypatch):
    # Figures of all pairs alike: neighbours .957, distances .33.
    X, y = load_digits(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(X))[:500]
    found = []
    for limit in (4000, 1200):
        monkeypatch.setattr(_limits, "STRESS_FAR", limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            Z = IKD(2).fit_transform(X)
        found.append(metrics.knn_accuracy(Z, y))
        assert found[-1] > 0.968
        assert spearmanr(pdist(X[some]), pdist(Z[some])).statistic > 0.4
    assert abs(found[0] - found[1]) < 0.01


def test_components_must_be_told():
    latent, g = noisy_problem(2)
    for labels in (None, np.zeros(3)):
        with pytest.raises(ValueError, match=r"labels must have shape .* for weights='component'"):
            refine.stress(latent, g, "matern", weights=refine.Weights("component", labels=labels))


def test_edges_may_be_as_precise_as_another_latent_says():
    latent, g = noisy_problem(2)
    kernel = kernels.Matern()
    rule = _pairs.Rule(kernel, 50, refine.Weights(known_at=latent), "distance")
    left, right, _ = graph.edges(g)
    apart = ((latent[left] - latent[right]) ** 2).sum(axis=1)
    wanted = refine.distance_precision(np.maximum(kernel.covariance(apart), 1e-3), kernel, 50)
    found = _pairs.pairs_of(g, rule).weights
    wanted = np.minimum(wanted, 1e4 * np.median(wanted))
    np.testing.assert_allclose(found[left, right], wanted)
    np.testing.assert_allclose(found[right, left], wanted)
    with pytest.raises(ValueError, match="known_at must have the shape of latent"):
        refine.stress(latent, g, kernel, 50, weights=refine.Weights(known_at=latent[:, :1]))
    with pytest.raises(ValueError, match=r"squares must be of the \d+ points of latent"):
        refine.stress(latent, g, kernel, 50, weights=refine.Weights(squares=np.zeros((2, 2))))


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize(
    ("name", "kernel", "noise", "best"),
    [
        ("medium", "squared_exponential", 0.5, "first"),
        ("hard", "squared_exponential", 0.0, "alone"),
        ("medium", "matern", 0.0, "again"),
    ],
)
def test_of_three_polishes_the_likeliest_is_taken(name, kernel, noise, best, seed):
    data = gplvm_data(name, 200, kernel=kernel, noise=noise, seed=seed)
    kernel = type(kernels.get(kernel))(length_scale=0.5)
    corr = np.corrcoef(data.X)
    g = graph.union(graph.threshold_graph(corr, 0.35), graph.neighbor_graph(corr, 6))
    g = graph.join(g, corr).graph
    start = data.latent + 0.05 * np.random.default_rng(seed).standard_normal(data.latent.shape)
    taken = refine.select_stress(start, g, corr, kernel, 200, threshold=0.35)

    def likelihood(fit):
        return gplvm.fit_variances(fit.latent, corr, 200, kernel)[2]

    others = {
        "first": refine.stress(start, g, kernel, 200),
        "alone": refine.stress(start, g, kernel, 200, weights=refine.Weights(faint=1e-6)),
    }
    if best == "again":
        assert likelihood(taken) > max(likelihood(fit) for fit in others.values())
    else:
        np.testing.assert_array_equal(taken.latent, others[best].latent)
        assert likelihood(taken) >= max(likelihood(fit) for fit in others.values())


def test_select_stress_moves_nothing_where_the_correlations_are_exact():
    latent = np.sort(np.random.default_rng(1).uniform(-2.0, 2.0, 30))[:, None]
    kernel = kernels.SquaredExponential()
    corr = kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    g = graph.union(graph.threshold_graph(corr, 0.4), graph.neighbor_graph(corr, 3))
    fit = refine.select_stress(latent, g, corr, kernel, 50, threshold=0.4)
    np.testing.assert_allclose(fit.latent, latent, atol=1e-6)
    with pytest.raises(ValueError, match=r"corr must have shape \(30, 30\), got \(29, 29\)"):
        refine.select_stress(latent, g, corr[1:, 1:], kernel, 50, threshold=0.4)


def test_weights_and_paths_have_names():
    _, g = noisy_problem(0)
    with pytest.raises(ValueError, match=r"weights must be one of .*got 'equal'"):
        refine.stress(np.zeros((g.n_nodes, 2)), g, "matern", weights="equal")
    with pytest.raises(ValueError, match=r"path must be one of .*got 'straight'"):
        refine.stress(np.zeros((g.n_nodes, 2)), g, "matern", path="straight")


def test_of_several_starts_the_one_of_least_stress_is_taken():
    latent, g = noisy_problem(4)
    lost = np.random.default_rng(0).standard_normal(latent.shape)
    alone = refine.stress(lost, g, "squared_exponential", 100)
    both = refine.stress(lost, g, "squared_exponential", 100, also=[latent])
    right = refine.stress(latent, g, "squared_exponential", 100)
    assert right.history[-1] < alone.history[-1]
    np.testing.assert_array_equal(both.latent, right.latent)
    with pytest.raises(ValueError, match="one row per node"):
        refine.stress(latent, g, "matern", 10, also=[latent[:-1]])
