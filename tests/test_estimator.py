import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from ikd_graph import IKD, kernels
from ikd_graph import model as models
from ikd_graph.study.datasets import add_noise, gp_mapping
from ikd_graph.study.metrics import affine_r2, rigid_r2

KERNELS = [
    kernels.SquaredExponential(length_scale=0.8),
    kernels.RationalQuadratic(alpha=1.0),
    kernels.GammaExponential(gamma=1.0, length_scale=2.0),
    kernels.Matern(nu=0.5),
    kernels.Matern(nu=1.5),
    kernels.Matern(nu=2.5),
    kernels.Matern(nu=0.8),
]
STRATEGIES = ["eigen", "blockwise", "geodesic", "linear"]


def sq_distances(points):
    return ((points[:, None] - points[None]) ** 2).sum(-1)


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


def curve(seed=0, n=90, n_features=60, noise=0.05):
    """Noisy observations of a curve in two dimensions."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 4.0, n)
    latent = np.column_stack([t, np.sin(2.0 * t)])
    cov = np.exp(-0.5 * sq_distances(latent)) + 1e-9 * np.eye(n)
    X = np.linalg.cholesky(cov) @ rng.normal(size=(n, n_features))
    return X + noise * rng.normal(size=X.shape), latent


def faults_of_the_data(estimator):
    """Checks whose rows an estimator may not take, with the reason."""
    if estimator.affinity != "shared_neighbors":
        return {}
    reason = "rows of zeros, which have no correlation, are among those of the check"
    return {f"check_estimator_sparse_{what}": reason for what in ("tag", "array", "matrix")}


@parametrize_with_checks(
    [IKD()]
    + [IKD(strategy=strategy, refine=None) for strategy in STRATEGIES]
    + [IKD(merge="greedy", strategy="blockwise", refine="stress")]
    + [IKD(path="covariance", n_neighbors=5, refine=None)]
    + [IKD(affinity="shared_neighbors"), IKD(affinity="euclidean", mutual=True, n_neighbors=6)],
    expected_failed_checks=faults_of_the_data,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize("reference", ["min_max", "min_mean", "center", 5])
def test_eigen_returns_the_latent_of_an_exact_covariance(kernel, n, reference):
    latent = np.random.default_rng(n).normal(size=(n, 3))
    cov = 2.5 * kernel.covariance(sq_distances(latent))
    model = IKD(3, strategy="eigen", kernel=kernel, affinity="precomputed", reference=reference)
    assert rigid_r2(latent, model.fit_transform(cov)) > 1 - 1e-6
    np.testing.assert_allclose(model.variance_, 2.5)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("merge", ["greedy", "global"])
@pytest.mark.parametrize("n", [60, 150])
def test_blockwise_returns_the_latent_of_an_exact_covariance(kernel, merge, n):
    latent = np.random.default_rng(n).uniform(size=(n, 2)) * [3.0, 1.5] * kernel.length_scale
    cov = kernel.covariance(sq_distances(latent))
    model = IKD(
        2,
        strategy="blockwise",
        kernel=kernel,
        affinity="precomputed",
        threshold=float(kernel.covariance(kernel.length_scale**2)),
        merge=merge,
    )
    assert rigid_r2(latent, model.fit_transform(cov)) > 1 - 1e-6
    assert model.merge_residuals_.max() < 1e-5
    assert model.cliques_.n_blocks > 1


def test_noisy_cliques_are_held_together_by_the_geodesic_solution():
    behind = {0.0: [], 1.0: []}
    for seed, sd in itertools.product(range(4), behind):
        rng = np.random.default_rng(seed)
        latent = rng.uniform(size=(150, 2)) * [4.0, 3.0]
        X = add_noise(gp_mapping(latent, 50, seed=rng), sd, seed=rng)
        settings = {"affinity": "correlation", "refine": None}
        blockwise = IKD(2, strategy="blockwise", **settings).fit(X)
        geodesic = IKD(2, strategy="geodesic", **settings).fit(X)
        behind[sd].append(affine_r2(latent, geodesic.embedding_))
        behind[sd][-1] -= affine_r2(latent, blockwise.embedding_)
        assert (blockwise.merge_start_share_ > 0.1) == (sd > 0.0)
        assert geodesic.merge_start_share_ is None
    # By .06 and more if cliques stood alone.
    assert np.mean(behind[0.0]) < 0.0
    assert np.mean(behind[1.0]) < 0.03


def test_the_merger_of_an_exact_covariance_is_proven_optimal():
    latent = np.random.default_rng(5).uniform(size=(80, 2)) * [3.0, 1.5]
    kernel = kernels.SquaredExponential()
    cov = kernel.covariance(sq_distances(latent))
    model = IKD(strategy="blockwise", affinity="precomputed", threshold=0.6).fit(cov)
    assert model.merge_gap_ < 1e-8
    assert model._merge_bound().words == "the merger is proven optimal"


@pytest.mark.parametrize(
    "options", [{"merge": "greedy"}, {"refine": "stress"}, {"strategy": "geodesic"}], ids=str
)
def test_only_cliques_merged_all_at_once_have_a_gap(options):
    X, _ = curve()
    how = {"strategy": "blockwise", "refine": None, "threshold": 0.4, "n_neighbors": 6}
    assert quiet(IKD(2, **{**how, **options}), X).merge_gap_ is None
    assert 0.0 <= quiet(IKD(2, **how), X).merge_gap_ <= 1.0


def test_the_gap_is_computed_once_and_only_when_it_is_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(models.Model, "merge_bound", lambda found: asked.append(found))
    fitted = quiet(IKD(2, strategy="blockwise", refine=None, threshold=0.4), curve()[0])
    assert not asked
    assert fitted.merge_gap_ is None
    assert fitted.merge_gap_ is None
    assert len(asked) == 1
    fitted.fit(curve(1)[0])
    assert fitted.merge_gap_ is None
    assert len(asked) == 2


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), strategy=st.sampled_from(STRATEGIES))
@example(seed=19121, strategy="blockwise")  # cliques tie for the first merger
def test_permuting_the_rows_permutes_the_latent(seed, strategy):
    X, _ = curve(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    model = IKD(2, refine=None, strategy=strategy, threshold=0.4, n_neighbors=6)
    plain = quiet(model, X).embedding_
    mixed = quiet(clone(model), X[order]).embedding_
    np.testing.assert_allclose(mixed, plain[order], atol=1e-8 * np.abs(plain).max())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_everything_learnt_has_its_shape(strategy):
    X, _ = curve()
    model = quiet(IKD(2, refine=None, strategy=strategy), X)
    n = len(X)
    assert model.embedding_.shape == (n, 2)
    assert model.eigenvalues_.shape == (2,)
    assert model.explained_variance_ratio_.shape == (2,)
    assert 0.0 <= model.explained_variance_ratio_.sum() <= 1.0 + 1e-12
    assert 0.0 <= model.negative_mass_ < 1.0
    assert model.component_labels_.shape == (n,)
    assert model.strategy_ == strategy
    assert model.n_features_in_ == X.shape[1]
    assert set(model.get_feature_names_out()) == {"ikd0", "ikd1"}
    assert all(seconds >= 0.0 for seconds in model.stage_times_.values())
    assert (model.graph_ is None) == (strategy in ("eigen", "linear"))
    assert (model.cliques_ is None) == (strategy != "blockwise")
    assert np.all(np.isfinite(model.embedding_))


def test_auto_says_what_it_chose_and_why():
    X, _ = curve()
    model = quiet(IKD(2), X[:40])
    assert {"strategy", "threshold", "path", "reference", "refine"} <= set(model.choices_)
    assert (
        quiet(
            IKD(
                2,
                affinity="correlation",
                refine=None,
                strategy="geodesic",
                threshold=0.5,
                path="distance",
                reference="center",
                n_landmarks=None,
            ),
            X,
        ).choices_
        == {}
    )


def test_pandas_goes_in_and_comes_out():
    X, _ = curve()
    frame = pd.DataFrame(X, index=[f"cell{i}" for i in range(len(X))]).add_prefix("gene")
    model = IKD(2, refine=None, n_neighbors=6).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["ikd0", "ikd1"]
    assert list(out.index) == list(frame.index)
    np.testing.assert_array_equal(out.to_numpy(), model.embedding_)
    assert list(model.feature_names_in_) == list(frame.columns)


def test_it_works_in_a_pipeline():
    X, _ = curve()
    pipeline = make_pipeline(FunctionTransformer(np.tanh), IKD(2, refine=None, n_neighbors=6))
    assert pipeline.fit_transform(X).shape == (len(X), 2)
    assert pipeline.transform(X[:3]).shape == (3, 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_precomputed_correlation_gives_what_the_rows_give(strategy):
    X, _ = curve()
    settings_ = {"strategy": strategy, "threshold": 0.3, "n_neighbors": 6}
    from_rows = quiet(IKD(2, refine=None, **settings_), X).embedding_
    corr = np.corrcoef(X)
    from_corr = quiet(IKD(2, refine=None, affinity="precomputed", **settings_), corr).embedding_
    np.testing.assert_allclose(from_corr, from_rows, atol=1e-9)


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
def test_a_sparse_covariance_is_the_graph(strategy):
    X, _ = curve()
    corr = np.corrcoef(X)
    thinned = sp.csr_array(np.where(corr > 0.3, corr, 0.0))
    dense = quiet(IKD(2, affinity="precomputed", strategy=strategy, threshold=0.3), corr)
    sparse = quiet(IKD(2, affinity="precomputed", strategy=strategy), thinned)
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-9)
    thinner = quiet(IKD(2, affinity="precomputed", strategy=strategy, threshold=0.5), thinned)
    assert thinner.graph_.weights.min() > 0.5


def test_eigen_asks_for_every_pair_of_a_sparse_covariance():
    thinned = sp.csr_array(np.eye(5) + np.eye(5, k=1) * 0.5 + np.eye(5, k=-1) * 0.5)
    with pytest.raises(ValueError, match=r"strategy='eigen' must know .* 13 of 25 entries"):
        IKD(2, strategy="eigen", affinity="precomputed").fit(thinned)
    whole = sp.csr_array(np.full((5, 5), 0.5) + 0.5 * np.eye(5))
    assert IKD(2, strategy="eigen", affinity="precomputed").fit(whole).embedding_.shape == (5, 2)


def two_curves(n=50):
    """Observations whose correlations fall apart in two groups."""
    first, second = curve(1, n)[0], curve(2, n)[0]
    return np.vstack([first, second])


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
def test_a_graph_in_pieces_is_joined_separated_or_refused(strategy):
    X = two_curves()
    settings_ = {"strategy": strategy, "threshold": 0.75, "n_neighbors": None}
    with pytest.raises(ValueError, match=r"graph must be connected for disconnected='raise', got"):
        IKD(2, refine=None, disconnected="raise", **settings_).fit(X)
    with pytest.warns(UserWarning, match=r"graph has \d+ components .* joined by \d+ bridges?"):
        joined = IKD(2, refine=None, disconnected="join", **settings_).fit(X)
    assert np.all(np.isfinite(joined.embedding_))
    with pytest.warns(UserWarning, match=r"laid side by side, so that distances"):
        apart = IKD(2, refine=None, disconnected="separate", **settings_).fit(X)
    assert apart.n_components_graph_ == joined.n_components_graph_ > 1
    boxes = [
        (part.min(axis=0), part.max(axis=0))
        for label in range(apart.n_components_graph_)
        for part in [apart.embedding_[apart.component_labels_ == label]]
    ]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert np.any(low > other_high) or np.any(high < other_low)


def test_isolated_points_are_placed_and_counted():
    X, _ = curve()
    X[7] = np.random.default_rng(99).normal(size=X.shape[1])
    with pytest.warns(UserWarning, match="components"):
        model = IKD(2, refine=None, strategy="blockwise", threshold=0.5, n_neighbors=None).fit(X)
    assert np.all(np.isfinite(model.embedding_))


def test_duplicate_rows_share_their_place():
    X, _ = curve()
    X = np.vstack([X, X[:5], X[:1], X[:1]])
    for strategy in STRATEGIES:
        # A threshold graph: among equal neighbours a k-NN graph has to choose by index.
        latent = quiet(IKD(2, refine=None, strategy=strategy, threshold=0.5), X).embedding_
        np.testing.assert_allclose(latent[90:95], latent[:5], atol=1e-6)


def test_all_rows_equal_is_one_place():
    X = np.tile(np.arange(5.0), (12, 1))
    for strategy in STRATEGIES:
        latent = quiet(IKD(2, refine=None, strategy=strategy, n_neighbors=3), X).embedding_
        assert np.abs(latent).max() < 1e-6


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_very_few_points_have_an_answer(n, strategy):
    X, _ = curve(n=90)
    latent = quiet(IKD(1, refine=None, strategy=strategy), X[:n]).embedding_
    assert latent.shape == (n, 1)
    assert np.all(np.isfinite(latent))


def test_the_likelihood_polish_finds_the_latent_and_its_noise():
    X, latent = curve(n=60, n_features=300, noise=0.5)
    model = IKD(2).fit(X)
    assert model.refine_ == "likelihood"
    plain = IKD(2, refine=None).fit(X)
    assert affine_r2(latent, model.embedding_) > max(0.97, affine_r2(latent, plain.embedding_))
    assert abs(model.noise_variance_ / 0.25 - 1.0) < 0.1
    assert model.standard_errors_.shape == (60, 2)
    assert model.n_iter_ > 0
    np.testing.assert_allclose(model.score(X), model.log_likelihood_ / 300, rtol=1e-6)
    assert model.score(X) > plain.score(X)


def test_the_kernel_can_be_chosen_by_likelihood():
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 6.0, 50)[:, None]
    cov = kernels.GammaExponential().covariance((t - t.T) ** 2)
    X = np.linalg.cholesky(cov) @ rng.normal(size=(50, 400))
    model = IKD(1, kernel="auto", refine="likelihood").fit(X)
    assert isinstance(model.kernel_, kernels.GammaExponential)
    assert "The gamma exponential kernel, because it makes" in model.choices_["kernel"]


@pytest.mark.parametrize("refine", [None, "stress", "likelihood"])
@pytest.mark.parametrize("affinity", ["correlation", "cosine"])
def test_rows_come_back_from_their_latent(refine, affinity):
    X, _ = curve(n=60, n_features=200, noise=0.1)
    X += 5.0 if affinity == "correlation" else 0.0
    model = IKD(2, refine=refine, affinity=affinity, threshold=0.3, n_neighbors=6).fit(X)
    back, std = model.inverse_transform(model.transform(X), return_std=True)
    assert np.mean((back - X) ** 2) < 0.1 * np.mean((X - X.mean(axis=0)) ** 2)
    far = model.inverse_transform(np.array([[50.0, 50.0]]), return_std=True)
    np.testing.assert_allclose(far[0], X.mean(axis=0)[None], atol=1e-6)
    assert far[1] > std.max()


def test_a_precomputed_covariance_knows_no_rows():
    corr = np.corrcoef(curve()[0])
    model = quiet(IKD(2, affinity="precomputed"), corr)
    with pytest.raises(ValueError, match="inverse_transform must know the observations"):
        model.inverse_transform(model.embedding_)
    with pytest.raises(ValueError, match="score must know the observations"):
        model.score(corr)
    with pytest.raises(ValueError, match="refine='likelihood' must know the observations"):
        IKD(2, affinity="precomputed", refine="likelihood").fit(corr)


def test_nothing_the_caller_owns_is_changed():
    X, _ = curve()
    X.setflags(write=False)
    model = IKD(2, refine=None, n_neighbors=6)
    before = model.get_params()
    model.fit(X)
    assert model.get_params() == before
    corr = np.corrcoef(X)
    corr.setflags(write=False)
    quiet(IKD(2, refine=None, affinity="precomputed", strategy="eigen"), corr)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_pickle_keeps_the_model_in_plain_arrays(strategy):
    X, _ = curve()
    model = quiet(IKD(2, refine=None, strategy=strategy), X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    np.testing.assert_array_equal(again.transform(X[::7] + 0.01), model.transform(X[::7] + 0.01))
    assert b"numba" not in pickle.dumps(model)


def test_the_unit_of_the_latent_is_the_length_scale():
    X, _ = curve()
    one = IKD(2, refine=None, n_neighbors=6).fit_transform(X)
    two = IKD(
        2, refine=None, n_neighbors=6, kernel=kernels.SquaredExponential(length_scale=2.0)
    ).fit_transform(X)
    np.testing.assert_allclose(two, 2.0 * one, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer at least 1, got 0"),
        ({"n_components": 2.5}, "n_components must be an integer at least 1, got 2.5"),
        ({"n_components": 90}, "n_components must be less than the number of points, got .*=90"),
        ({"strategy": "cliques"}, "strategy must be one of 'auto', 'eigen'.*got 'cliques'"),
        ({"kernel": "gauss"}, "kernel must be one of .*got 'gauss'"),
        ({"affinity": "distance"}, "affinity must be one of .*got 'distance'"),
        ({"threshold": 0.0}, r"threshold must lie in \(0, 1\), got 0.0"),
        ({"threshold": 1.5}, r"threshold must lie in \(0, 1\), got 1.5"),
        ({"threshold": "high"}, r"threshold must lie in \(0, 1\), got 'high'"),
        ({"threshold": None}, "threshold and n_neighbors must not both be None"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer at least 1, got 0"),
        ({"neighbors": "fast"}, "neighbors must be one of .*got 'fast'"),
        ({"path": "short"}, "path must be one of .*got 'short'"),
        ({"reference": "middle"}, "reference must be one of .*got 'middle'"),
        ({"reference": 90, "strategy": "eigen"}, "reference must be .* index of a point"),
        ({"merge": "all"}, "merge must be one of 'greedy', 'global'; got 'all'"),
        ({"max_cliques": 0}, "max_cliques must be an integer at least 1"),
        ({"disconnected": "ignore"}, "disconnected must be one of .*got 'ignore'"),
        ({"refine": "more"}, "refine must be one of 'auto', 'likelihood', 'stress'; got 'more'"),
        ({"time_budget": -1.0}, "time_budget must be positive and finite, got -1.0"),
        ({"verbose": -1}, "verbose must be an integer at least 0"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_bad_parameter_is_named_with_rule_value_and_cure(parameters, message):
    X, _ = curve()
    with pytest.raises(ValueError, match=message):
        IKD(**parameters).fit(X)


def spoilt(value):
    X, _ = curve()
    X[3, 4] = value
    return X


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (spoilt(np.nan), {}, "contains NaN"),
        (spoilt(np.inf), {}, "infinity"),
        (
            np.vstack([curve()[0], np.ones(60)]),
            {"affinity": "correlation"},
            r"rows of X must vary.*constant row\(s\): 90",
        ),
        (curve()[0][:1], {}, r"X must have at least 2 rows.*n_samples = 1"),
        (curve()[0][:, :1], {}, "X must have at least 2 columns.*n_features = 1"),
        (np.ones(5), {}, "Expected 2D array"),
        (np.empty((0, 5)), {}, r"0 sample\(s\)"),
        (np.triu(np.ones((5, 5))), {"affinity": "precomputed"}, "precomputed X must be symmetric"),
        (np.ones((5, 4)), {"affinity": "precomputed"}, "precomputed X must be square"),
        (np.zeros((5, 5)), {"affinity": "precomputed"}, "positive mean, got 0"),
        (
            sp.csr_array(np.eye(5)),
            {"affinity": "precomputed", "n_neighbors": 3},
            "n_neighbors must be None for a sparse precomputed X, got 3",
        ),
        (
            sp.csr_array(np.eye(5)),
            {"affinity": "precomputed"},
            "sparse precomputed X must be one connected graph .* got 5 components",
        ),
    ],
)
def test_bad_input_is_named_before_any_work(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        IKD(**parameters).fit(X)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        IKD().transform(curve()[0])


@pytest.mark.parametrize("affinity", ["euclidean", "shared_neighbors", "cosine"])
def test_every_affinity_places_rows_one_by_one_and_training_rows_exactly(affinity):
    X, _ = curve(3)
    model = quiet(IKD(2, affinity=affinity, refine="stress"), X)
    assert (model.affinity_, model.refine_) == (affinity, "stress")
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    new = X[:9] + 0.01 * np.random.default_rng(0).normal(size=X[:9].shape)
    together = model.transform(new)
    for at, row in enumerate(new):
        np.testing.assert_allclose(model.transform(row[None])[0], together[at], atol=1e-9)
    spread = np.ptp(model.embedding_, axis=0).max()
    assert np.abs(together - model.embedding_[:9]).max() < 0.2 * spread


@pytest.mark.parametrize("refine", ["stress", "likelihood"])
def test_roots_of_counts_are_placed_kept_and_explained_in_counts(refine):
    rng = np.random.default_rng(0)
    place, centres = rng.uniform(size=(150, 2)), rng.uniform(size=(40, 2))
    sq_dist = ((place[:, None] - centres) ** 2).sum(axis=2)
    rates = 4.0 * np.exp(-0.5 * sq_dist / 0.2**2) + 0.1
    X = rng.poisson(rates)
    model = quiet(IKD(2, affinity="hellinger", refine=refine, starts="own"), X)
    assert model.refine_ == refine
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.embedding_)
    new = rng.poisson(rates)
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    near = NearestNeighbors(n_neighbors=10).fit(model.embedding_)
    told = place[near.kneighbors(model.transform(new), return_distance=False)].mean(axis=1)
    assert r2_score(place, told) > 0.8
    # The way back is in counts, not in roots.
    back = model.inverse_transform(model.embedding_)
    assert abs(back.mean() / X.mean() - 1.0) < 0.05
    assert r2_score(rates.ravel(), back.ravel()) > 0.8
    assert 0.5 < model.noise_variance_ / rates.mean() < 1.5
    with pytest.raises(ValueError, match="must not be negative"):
        model.transform(-X[:2] - 1)


@pytest.mark.parametrize("affinity", ["auto", "euclidean", "shared_neighbors", "cosine"])
def test_the_latent_moves_with_the_rows_whatever_the_affinity(affinity, digits):
    # All that is tried for "auto" is cheap beside one search of a likelihood for each name.
    X = digits[0][: 60 if affinity == "auto" else 30]
    order = np.random.default_rng(1).permutation(len(X))
    one, other = (quiet(IKD(2, affinity=affinity), rows).embedding_ for rows in (X, X[order]))
    np.testing.assert_allclose(other, one[order], atol=1e-8)


def test_euclidean_similarity_unfolds_two_columns():
    angle = np.random.default_rng(0).uniform(0.0, 5.0, 150)
    spiral = (1.0 + angle)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    model = quiet(IKD(1, affinity="euclidean"), spiral)
    length = 0.5 * ((1.0 + angle) * np.sqrt(1.0 + (1.0 + angle) ** 2) + np.arcsinh(1.0 + angle))
    assert affine_r2(length[:, None], model.embedding_) > 0.98


def test_shared_neighbours_say_what_they_cannot_be_combined_with():
    X, _ = curve()
    with pytest.raises(ValueError, match=r"strategy must be 'geodesic' or 'blockwise'"):
        IKD(affinity="shared_neighbors", strategy="eigen").fit(X)
    with pytest.raises(ValueError, match=r"threshold must be 'auto' or None .*got 0.3"):
        IKD(affinity="shared_neighbors", threshold=0.3).fit(X)
    with pytest.raises(ValueError, match=r"mutual must be one of .*got 'both'"):
        IKD(mutual="both").fit(X)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
def test_the_number_of_coordinates_is_found(n_components, strategy):
    rng = np.random.default_rng(n_components)
    latent = rng.uniform(-1.2, 1.2, (150, n_components))
    cov = np.exp(-0.5 * sq_distances(latent)) + 1e-9 * np.eye(150)
    X = np.linalg.cholesky(cov) @ rng.normal(size=(150, 2000))
    model = quiet(IKD("auto", strategy=strategy, refine=None), X)
    assert model.n_components_ == model.embedding_.shape[1] == n_components
    assert model.spectrum_.size == 15
    assert "last wide gap" in model.choices_["n_components"]
    given_ = quiet(IKD(n_components, strategy=strategy, refine=None), X)
    np.testing.assert_allclose(given_.embedding_, model.embedding_, atol=1e-9)
    np.testing.assert_array_equal(given_.spectrum_, given_.eigenvalues_)


def test_two_points_have_one_coordinate_and_other_words_are_refused():
    rows = np.random.default_rng(0).normal(size=(2, 30))
    assert quiet(IKD("auto"), rows).embedding_.shape == (2, 1)
    with pytest.raises(ValueError, match=r"n_components must be an integer or 'auto', got 'all'"):
        IKD("all").fit(rows)


def test_a_table_of_one_value_is_refused_by_every_affinity():
    for settings_ in ({}, {"affinity": "euclidean"}, {"affinity": "correlation"}):
        with pytest.raises(ValueError, match="rows of X must vary"):
            IKD(2, **settings_).fit(np.ones((10, 5)))


def test_silent_rows_of_counts_are_warned_of_once_where_the_similarity_was_named():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.5, 4.0, size=(40, 120)))
    counts[[3, 7]] = 0
    for affinity, times in (("cosine", 1), ("auto", 0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = IKD(2, affinity=affinity).fit(counts)
        assert len([one for one in caught if "not vary" in str(one.message)]) == times
    if model.affinity_ != "euclidean":
        assert "not vary" in model.choices_["rows"]


def test_a_silent_row_has_a_similarity_that_nobody_chose():
    X = np.vstack([curve()[0], np.ones(60)])
    model = quiet(IKD(1), X)
    assert model.affinity_ in {"euclidean", "standardized_euclidean"}
    assert np.all(np.isfinite(model.embedding_))


def test_the_shape_of_the_kernel_is_fitted_on_request():
    latent = np.random.default_rng(3).uniform(0.0, 3.0, (40, 1))
    model = kernels.RationalQuadratic(alpha=0.4).covariance(sq_distances(latent))
    rows = np.linalg.cholesky(model + 0.01 * np.eye(40))
    X = rows @ np.random.default_rng(4).standard_normal((40, 800))
    wrong = kernels.RationalQuadratic(alpha=3.0)
    fixed = IKD(1, kernel=wrong, refine="likelihood").fit(X)
    free = IKD(1, kernel=wrong, refine="likelihood", fit_shape=True).fit(X)
    assert fixed.kernel_.alpha == 3.0
    assert free.kernel_.alpha < 1.0
    assert free.log_likelihood_ > fixed.log_likelihood_
    with pytest.raises(ValueError, match="fit_shape must be True or False, got 'yes'"):
        IKD(fit_shape="yes").fit(X)
