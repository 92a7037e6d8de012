import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.manifold import smacof
from tables import quiet

from ikd_graph import IKD, geodesics, graph, kernels, refine
from ikd_graph.cli import main
from ikd_graph.metrics import affine_r2

KERNELS = [kernels.get(name) for name in kernels.KERNELS]
WEIGHTS = ("precision", "uniform", "elastic")


def measure_from(n_landmarks, monkeypatch):
    """Let so many landmarks stand for the points, or none."""
    monkeypatch.setattr(geodesics, "auto_landmarks", lambda *_: n_landmarks)


def noisy_problem(seed, n=40, m=2, noise=0.02):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(-1.5, 1.5, (n, m))
    corr = kernels.SquaredExponential().covariance(cdist(latent, latent, "sqeuclidean"))
    corr += noise * rng.standard_normal((n, n))
    corr = np.clip(0.5 * (corr + corr.T), -0.9, 0.999)
    np.fill_diagonal(corr, 1.0)
    g = graph.union(graph.threshold(corr, 0.4), graph.neighbors(corr, 6))
    return latent, graph.join(g, corr).graph


def complete_graph(seed, noise):
    """A latent, one near it with two equal points, noisy distances, and the graph of all pairs."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(-1.0, 1.0, (30, 3))
    near = latent + 0.1 * rng.standard_normal(latent.shape)
    near[1] = near[0]
    upper = np.triu(cdist(latent, latent) * np.exp(noise * rng.standard_normal((30, 30))), 1)
    distances = upper + upper.T
    corr = kernels.SquaredExponential().covariance(distances**2)
    return latent, near, distances, graph.threshold(corr, 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_stress_is_its_formula_and_uniform_weights_end_where_scikit_learn_does(
    seed, monkeypatch
):
    _, start, distances, g = complete_graph(seed, 0.05)
    pairs = np.triu_indices(30, 1)
    corr = graph.to_sparse(g).toarray()[pairs]
    precisions = refine.distance_precision(corr, kernels.SquaredExponential(), 100)
    cases = (("precision", 15, 2e-3), ("precision", None, 1e-6), ("uniform", None, 1e-6))
    for weights, n_landmarks, tolerance in cases:
        measure_from(n_landmarks, monkeypatch)
        fit = refine.stress(start, g, "squared_exponential", 100, weights=weights, max_iter=200)
        values = precisions if weights == "precision" else 1.0
        for at, stress in ((start, fit.history[0]), (fit.latent, fit.history[-1])):
            naive = np.sum(values * (cdist(at, at) - distances)[pairs] ** 2)
            assert stress == pytest.approx(naive, rel=tolerance)
    how = {"n_init": 1, "max_iter": 2000, "eps": 1e-9, "normalized_stress": False}
    oracle, _ = smacof(distances, n_components=3, init=start, **how)
    np.testing.assert_allclose(cdist(at, at), cdist(oracle, oracle), atol=2e-3)


@pytest.mark.parametrize("weights", ["precision", "uniform"])
@pytest.mark.parametrize("n_landmarks", [None, 15])
def test_exact_distances_are_reached(n_landmarks, weights, monkeypatch):
    measure_from(n_landmarks, monkeypatch)
    latent, start, _, g = complete_graph(0, 0.0)
    fit = refine.stress(start, g, "squared_exponential", 100, weights=weights, max_iter=300)
    np.testing.assert_allclose(cdist(fit.latent, fit.latent), cdist(latent, latent), atol=1e-3)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_landmarks", [None, 20])
@pytest.mark.parametrize("seed", range(3))
def test_stress_never_rises(seed, n_landmarks, weights, monkeypatch):
    measure_from(n_landmarks, monkeypatch)
    latent, g = noisy_problem(seed)
    start = latent + 0.3 * np.random.default_rng(seed).standard_normal(latent.shape)
    fit = refine.stress(start, g, "squared_exponential", 100, weights=weights, max_iter=40)
    assert (np.diff(fit.history) <= 0.0).all()
    assert fit.history.size == fit.n_iter + 1
    assert fit.history[-1] < 0.7 * fit.history[0]


@pytest.mark.parametrize("seed", range(3))
def test_precision_weights_bring_a_latent_nearer_to_the_truth(seed):
    latent, g = noisy_problem(seed)
    start = latent + 0.2 * np.random.default_rng(seed).standard_normal(latent.shape)

    def miss(points):
        return np.abs(cdist(points, points) - cdist(latent, latent)).mean()

    fit = refine.stress(start, g, "squared_exponential", 100)
    assert miss(fit.latent) < 0.5 * miss(start)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_landmarks_and_all_pairs_reach_a_similar_latent(weights, monkeypatch):
    latent, g = noisy_problem(4, n=300)
    start = latent + 0.1 * np.random.default_rng(4).standard_normal(latent.shape)
    dense = refine.stress(start, g, "squared_exponential", 100, weights=weights)
    measure_from(100, monkeypatch)
    sparse = refine.stress(start, g, "squared_exponential", 100, weights=weights)
    gaps = cdist(sparse.latent, sparse.latent) - cdist(dense.latent, dense.latent)
    assert np.sqrt((gaps**2).mean()) < 0.1


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_distance_precision_agrees_with_simulated_correlations(kernel):
    rng = np.random.default_rng(6)
    n_observed, true = 500, 0.6
    pair = rng.multivariate_normal([0.0, 0.0], [[1.0, true], [true, 1.0]], (2000, n_observed))
    centered = pair - pair.mean(axis=1, keepdims=True)
    spread = np.sqrt((centered**2).sum(axis=1))
    found = (centered[..., 0] * centered[..., 1]).sum(axis=1) / spread.prod(axis=1)
    distances = np.sqrt(kernel.sq_distance(found))
    precision = refine.distance_precision(true, kernel, n_observed)
    assert 1.0 / distances.var() == pytest.approx(float(precision), rel=0.12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_landmarks", [None, 80])
def test_the_order_of_points_leaves_no_trace(weights, n_landmarks, monkeypatch):
    measure_from(n_landmarks, monkeypatch)
    latent, g = noisy_problem(3, n=200)
    order = np.random.default_rng(0).permutation(200)
    moved = graph.from_scipy(graph.to_sparse(g)[order][:, order].tocsr())
    here = refine.stress(latent, g, "matern", weights=weights)
    there = refine.stress(latent[order], moved, "matern", weights=weights)
    tolerance = 1e-8 if n_landmarks is None else 1e-5
    np.testing.assert_allclose(there.latent, here.latent[order], atol=tolerance)


def ranges(seed, relative=0.03, n=150, radius=0.25):
    """Points, noisy distances of the near ones, and the standard errors of these."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(size=(n, 2))
    exact = cdist(points, points)
    errors = np.where(rng.uniform(size=exact.shape) < 0.5, 0.2 * relative, relative) * exact
    upper = np.triu(np.where(exact < radius, exact + errors * rng.normal(size=exact.shape), 0.0), 1)
    given = upper + upper.T
    return points, given, np.where(given > 0.0, np.triu(errors) + np.triu(errors).T, 0.0)


def error_of(points, embedding):
    """Root mean square distance after the best rigid motion."""
    a, b = points - points.mean(axis=0), embedding - embedding.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    return np.sqrt(np.square(b @ left @ right - a).sum(axis=1).mean())


@pytest.mark.parametrize("n_landmarks", [None, 15])
def test_distances_are_weighed_by_their_noise_as_an_optimizer_does(n_landmarks, monkeypatch):
    measure_from(n_landmarks, monkeypatch)
    points, given, errors = ranges(0)
    kernel = kernels.SquaredExponential(length_scale=0.3)
    g = graph.threshold(np.where(given > 0.0, kernel.covariance(given**2), 0.0), 1e-9)
    start = points + 0.01 * np.random.default_rng(1).normal(size=points.shape)
    a, b = np.nonzero(np.triu(given))

    def chi_square(x):
        at = x.reshape(points.shape)
        return np.sum(((np.linalg.norm(at[a] - at[b], axis=1) - given[a, b]) / errors[a, b]) ** 2)

    def gradient(x):
        at, slopes = x.reshape(points.shape), np.zeros(points.shape)
        away = at[a] - at[b]
        length = np.linalg.norm(away, axis=1)
        pull = (2.0 * (length - given[a, b]) / (length * errors[a, b] ** 2))[:, None] * away
        np.add.at(slopes, a, pull)
        np.subtract.at(slopes, b, pull)
        return slopes.ravel()

    def optimum(near):
        return minimize(chi_square, near.ravel(), jac=gradient, options={"maxiter": 20})

    for noise in (errors, sp.csr_array(np.triu(errors))):
        fit = refine.stress(start, g, kernel, noise=noise, max_iter=1000)
        best = optimum(fit.latent)
        assert chi_square(fit.latent) < 1.01 * best.fun < 0.1 * chi_square(start)
    alike = refine.stress(start, g, kernel, noise=0.01, max_iter=1000)
    errors = np.full_like(errors, 0.01)
    best = optimum(alike.latent)
    assert chi_square(alike.latent) < 1.01 * best.fun


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_known_errors_of_distances_bring_a_map_nearer_to_the_truth(unit):
    points, given, errors = ranges(1)
    X, noise = sp.csr_array(given) * unit, sp.csr_array(errors) * unit
    maps = {}
    for name, how in (("none", None), ("some", refine.Stress(noise=noise))):
        model = IKD(2, strategy="blockwise", affinity="precomputed_distance", refine=how)
        maps[name] = error_of(points, quiet(model, X).embedding_ / unit)
    assert maps["some"] < 0.6 * maps["none"]
    said = model.settings_.reasons["refine"]
    assert 0.8 < float(said.split("by ")[1].split(" times")[0]) < 1.2
    with pytest.warns(UserWarning, match="times their noise: the noise is larger than said"):
        model.set_params(refine=refine.Stress(noise=0.2 * noise)).fit(X)


def test_noise_that_is_missing_or_of_no_distance_is_refused():
    _, given, errors = ranges(2, n=60, radius=0.5)
    X = sp.csr_array(given)
    model = IKD(2, strategy="blockwise", affinity="precomputed_distance")
    errors[3] = errors[:, 3] = 0.0
    for noise, match in (
        (errors, r"positive and finite for every edge of the graph, got 0 for points \d+ and \d+,"),
        (errors[:5, :5], r"a number or have shape \(60, 60\), got shape \(5, 5\)"),
        (-1.0, "noise must be positive and finite, got -1.0"),
    ):
        with pytest.raises(ValueError, match=match):
            model.set_params(refine=refine.Stress(noise=noise)).fit(X)
    rows = np.random.default_rng(0).normal(size=(40, 60))
    with pytest.raises(ValueError, match="got a number for affinity='correlation'"):
        IKD(2, affinity="correlation", graph=5, refine=refine.Stress(noise=1.0)).fit(rows)
    how = refine.Stress(noise=np.ones((40, 40)))
    with pytest.raises(ValueError, match="got a matrix for affinity='euclidean'"):
        IKD(2, affinity="euclidean", graph=5, refine=how).fit(rows)
    with pytest.raises(ValueError, match=r"on a graph, .*strategy='eigen'"):
        IKD(2, affinity="euclidean", strategy="eigen", refine=refine.Stress(noise=1.0)).fit(rows)


def test_a_noise_of_complete_distances_is_that_of_all_pairs():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(60, 2))
    errors = 0.01 * rng.uniform(1.0, 20.0, size=(60, 60))
    errors = np.maximum(errors, errors.T)
    whole = np.abs(np.triu(cdist(points, points) + errors * rng.normal(size=(60, 60)), 1))
    off = {}
    for name, how in (("alike", "stress"), ("each", refine.Stress(noise=errors))):
        model = IKD(2, affinity="precomputed_distance", refine=how).fit(whole + whole.T)
        off[name] = error_of(points, model.embedding_)
    assert off["each"] < 0.8 * off["alike"]
    said = model.settings_.reasons["refine"]
    assert 0.8 < float(said.split("by ")[1].split(" times")[0]) < 1.2


def test_a_noise_is_a_flag_of_the_command_line(tmp_path, capsys):
    np.savetxt(tmp_path / "d.csv", cdist(*2 * [np.random.default_rng(0).uniform(size=(40, 2))]))
    main(
        f"embed {tmp_path / 'd.csv'} --affinity precomputed_distance --strategy geodesic --refine "
        f"stress:noise=0.05 --header none --output {tmp_path}".split()
    )
    assert "--refine stress:noise=0.05" in capsys.readouterr().out


@pytest.mark.parametrize("refinement", ["stress", refine.Stress(weights="precision")])
@pytest.mark.parametrize("size", [2.0**-200, 2.0**-60, 2.0**60, 2.0**200])
def test_a_stress_does_not_depend_on_the_unit_of_the_distances(refinement, size):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(40, 6)), axis=0)
    model = IKD(affinity="euclidean", strategy="geodesic", graph=6, refine=refinement)
    expected = quiet(model, X).embedding_
    placed = model.transform(1.01 * X)
    np.testing.assert_allclose(quiet(model, X * size).embedding_, expected * size, rtol=1e-6)
    np.testing.assert_allclose(model.transform(1.01 * X * size), placed * size, rtol=1e-6)


def test_distances_of_thirteen_magnitudes_have_a_stress():
    corr = np.full((4, 4), 0.001)
    corr[1, 2], corr[2, 3], corr[1, 3] = 0.53607806, 0.55205775, 0.02286061
    g = graph.threshold(np.maximum(corr, corr.T), 1e-4)
    start = np.random.default_rng(0).normal(size=(4, 2))
    fit = refine.stress(start, g, kernels.RationalQuadratic(alpha=0.1), 8)
    assert np.isfinite(fit.latent).all()
    assert (np.diff(fit.history) <= 1e-6 * fit.history[0]).all()


@pytest.mark.parametrize("seed", range(3))
def test_elastic_edges_bring_noisy_rows_nearer_to_their_circle(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, 600)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    waves = np.cos(2.0 * circle @ rng.normal(size=(2, 80)) + rng.uniform(0.0, 6.0, 80))
    rows = waves + rng.normal(size=(600, 80))

    def r2(weights):
        model = IKD(2, strategy="geodesic", affinity="correlation", refine=refine.Stress(weights))
        return affine_r2(circle, model.fit_transform(rows))

    assert r2("elastic") > r2("uniform") + 0.01
