"""What `IKD` promises: a scikit-learn estimator whose coordinates depend on nothing else."""

import pickle

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.manifold import Isomap
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from tables import curve, process, quiet, sheet, sq_distances, warned

from ikd_graph import IKD, blockwise, datasets, graph, kernels, refine, strategies
from ikd_graph.metrics import affine_r2, rigid_r2

KERNELS = [
    kernels.SquaredExponential(length_scale=0.8),
    kernels.RationalQuadratic(alpha=1.0),
    kernels.GammaExponential(gamma=1.0, length_scale=2.0),
    kernels.Matern(nu=0.5),
    kernels.Matern(nu=2.5),
]
NAMES = ["geodesic", "blockwise", "eigen", "linear"]
AFFINITIES = ["correlation", "cosine", "covariance", "euclidean", "standardized_euclidean"]
BOTH = graph.Threshold(0.4, n_neighbors=6)


# scikit-learn -------------------------------------------------------------------------------------


def expected_faults(estimator):
    """Checks whose rows an estimator may not take, with the reason."""
    if estimator.affinity in ("auto", "euclidean"):
        return {}
    reason = "rows of zeros, which have no correlation, are among those of the check"
    return {f"check_estimator_sparse_{what}": reason for what in ("tag", "array", "matrix")}


@parametrize_with_checks(
    [
        IKD(),
        IKD(refine="stress"),
        IKD(strategy="geodesic", refine=None),
        IKD(strategy="blockwise", refine=None),
        IKD(strategy="eigen"),
        IKD(strategy="linear"),
        IKD(strategy=strategies.Blockwise(merge="greedy"), affinity="euclidean"),
        IKD(strategy=strategies.Geodesic.paper(), graph=5, affinity="euclidean", refine=None),
        IKD(graph=0.3, affinity="euclidean"),
        IKD(graph=graph.Neighbors(6, mutual=True), affinity="euclidean"),
        IKD(affinity="shared_neighbors"),
        IKD(n_components="auto", refine=None),
        IKD(missing="pairwise", affinity="euclidean", refine=None),
    ],
    expected_failed_checks=expected_faults,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


def test_an_estimator_prints_the_objects_it_was_given_and_nothing_else():
    model = IKD(3, strategy=strategies.Geodesic(path="covariance"), graph=graph.Neighbors(5))
    text = " ".join(repr(model).split())
    assert text == "IKD(graph=Neighbors(k=5), n_components=3, strategy=Geodesic(path='covariance'))"
    assert repr(IKD()) == "IKD()"
    copy = clone(model)
    assert copy.strategy is not model.strategy
    assert copy.get_params()["strategy__path"] == "covariance"
    assert copy.set_params(graph__k=9).graph == graph.Neighbors(9)
    assert model.graph == graph.Neighbors(5)
    again = pickle.loads(pickle.dumps(model))
    assert again.strategy == model.strategy != strategies.Geodesic()


def test_parameters_of_objects_are_searched():
    X, _ = sheet(n=60, n_columns=40)
    model = IKD(2, strategy=strategies.Geodesic(), graph=graph.Neighbors(8), affinity="correlation",
                refine=None)  # fmt: skip
    grid = {"strategy__path": ["distance", "covariance"], "graph__k": [2, 10]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise")
    search = quiet(search, X)
    scores = search.cv_results_["mean_test_score"]
    assert np.all(np.isfinite(scores))
    assert len(set(scores.round(9))) == 4
    chosen = search.best_estimator_
    assert chosen.settings_.strategy.path == search.best_params_["strategy__path"]
    assert chosen.settings_.graph.k == search.best_params_["graph__k"]


def test_pandas_goes_in_and_comes_out():
    X, _ = curve()
    frame = pd.DataFrame(X, index=[f"cell{i}" for i in range(len(X))]).add_prefix("gene")
    model = IKD(2, refine=None, graph=6).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["ikd0", "ikd1"]
    assert list(out.index) == list(frame.index)
    np.testing.assert_array_equal(out.to_numpy(), model.embedding_)
    assert list(model.feature_names_in_) == list(frame.columns)


# What comes out -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("reference", ["min_max", "min_mean", "center", 5])
def test_eigen_returns_the_latent_of_an_exact_covariance(kernel, reference):
    latent = np.random.default_rng(0).normal(size=(60, 3))
    cov = 2.5 * kernel.covariance(sq_distances(latent))
    strategy = strategies.Eigen(reference=reference)
    model = IKD(3, strategy=strategy, kernel=kernel, affinity="precomputed")
    assert rigid_r2(latent, model.fit_transform(cov)) > 1 - 1e-6
    assert model.kernel_ == kernel


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("merge", ["greedy", "global"])
def test_blockwise_returns_the_latent_of_an_exact_covariance(kernel, merge):
    latent = np.random.default_rng(60).uniform(size=(60, 2)) * [3.0, 1.5] * kernel.length_scale
    cov = kernel.covariance(sq_distances(latent))
    level = float(kernel.covariance(kernel.length_scale**2))
    strategy = strategies.Blockwise(merge=merge)
    model = IKD(2, strategy=strategy, graph=level, kernel=kernel, affinity="precomputed")
    assert rigid_r2(latent, model.fit_transform(cov)) > 1 - 1e-6
    assert model.merge_residuals_.max() < 1e-5
    assert repr(model.cliques_).startswith(f"{len(model.cliques_)} cliques of 60 points, largest ")
    held = [k for k, clique in enumerate(model.cliques_) if 7 in clique]
    assert model.cliques_.of_point(7).tolist() == held != []


def test_own_cliques_and_an_own_merger_go_into_blockwise():
    latent = np.random.default_rng(60).uniform(size=(60, 2)) * [3.0, 1.5]
    cov = kernels.SquaredExponential().covariance(sq_distances(latent))
    seen = []

    def merge(solved, n_points):
        seen.append(solved.blocks.sizes.size)
        return blockwise.merge_greedy(solved, n_points).coordinates

    def all_of(g):
        return networkx.find_cliques(graph.to_networkx(g))

    own = strategies.Blockwise(merge=merge, cliques=all_of)
    model = IKD(2, strategy=own, graph=0.6, affinity="precomputed", refine=None)
    assert rigid_r2(latent, model.fit_transform(cov)) > 1 - 1e-6
    assert seen == [len(model.cliques_)] == [len(list(all_of(model.graph_)))]
    assert model.merge_residuals_.max() < 1e-5
    own.merge = lambda solved, n_points: np.zeros((3, 2))
    with pytest.raises(
        ValueError, match=r"merge must return finite .* \(60, 2\), got shape \(3, 2\)"
    ):
        model.fit(cov)


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("step", [None, "stress"])
def test_fitted_attributes_match_the_embedding(strategy, step):
    X, _ = curve()
    model = quiet(IKD(2, refine=step, strategy=strategy), X)
    n, Z = len(X), model.embedding_
    assert Z.shape == (n, 2)
    assert np.all(np.isfinite(Z))
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-9)
    squares = Z.T @ Z
    np.testing.assert_allclose(np.diag(squares), model.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(squares[0, 1], 0.0, atol=1e-8 * squares[0, 0])
    assert model.eigenvalues_[0] >= model.eigenvalues_[1] > 0.0
    assert model.explained_variance_ratio_.shape == (2,)
    assert 0.0 < model.explained_variance_ratio_.sum() <= 1.0 + 1e-12
    on_graph = strategy in ("geodesic", "blockwise")
    refined = step == "stress" and on_graph
    assert (model.negative_mass_ is None) == refined
    assert (model.n_iter_ > 0) == refined
    if refined:
        np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0)
    assert model.component_labels_.shape == (n,)
    assert model.component_labels_.max() == 0
    assert model.settings_.strategy.name == strategy
    assert model.n_features_in_ == X.shape[1]
    assert model.n_components_ == 2
    assert set(model.get_feature_names_out()) == {"ikd0", "ikd1"}
    assert all(seconds >= 0.0 for seconds in model.stage_times_.values())
    assert (model.graph_ is None) == (not on_graph)
    assert (model.cliques_ is None) == (strategy != "blockwise")
    assert (model.merge_residuals_ is None) == (strategy != "blockwise")
    assert model.landmarks_ is None
    assert model.optima_ == ()


def test_the_unit_of_the_embedding_is_the_length_scale():
    X, _ = curve()
    settings = {"refine": None, "graph": 6, "affinity": "correlation"}
    one = IKD(2, **settings).fit_transform(X)
    wide = kernels.SquaredExponential(length_scale=2.0)
    np.testing.assert_allclose(
        IKD(2, kernel=wide, **settings).fit_transform(X), 2.0 * one, atol=1e-9
    )


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("affinity", ["euclidean", "precomputed_distance"])
@pytest.mark.parametrize("kernel", ["auto", "matern"])
def test_distances_come_out_as_they_went_in(strategy, affinity, kernel, unit):
    points = unit * np.random.default_rng(0).normal(size=(40, 2))
    expected = pdist(points)
    X = points if affinity == "euclidean" else squareform(expected)
    whole = {"graph": 39} if strategy in ("geodesic", "blockwise") else {}
    model = IKD(2, strategy=strategy, affinity=affinity, kernel=kernel, refine=None, **whole).fit(X)
    np.testing.assert_allclose(pdist(model.embedding_), expected, rtol=1e-9)
    if kernel == "matern":
        assert "distances are taken as they are" in model.settings_.reasons["kernel"]


def test_the_geodesic_of_distances_to_neighbors_is_isomap():
    X = datasets.swiss_roll(300).X
    model = IKD(
        2, strategy="geodesic", affinity="euclidean", refine=None,
        graph=graph.Neighbors(8, prune=False),
    )  # fmt: skip
    expected = Isomap(n_neighbors=8).fit_transform(X)
    found = model.fit_transform(X)
    np.testing.assert_allclose(pdist(found), pdist(expected), rtol=1e-9)


@pytest.mark.parametrize("size", [2, 3])
def test_a_shape_is_found_exactly_from_its_short_distances(size):
    points = np.random.default_rng(size).uniform(size=(200, size))
    distances = squareform(pdist(points))
    near = sp.csr_array(np.where(distances < (0.3 if size == 2 else 0.5), distances, 0.0))
    model = IKD(size, strategy="blockwise", affinity="precomputed_distance", refine=None).fit(near)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(points), atol=1e-9)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("strategy", ["geodesic", "blockwise", "eigen"])
def test_the_number_of_coordinates_is_found(n_components, strategy):
    latent = np.random.default_rng(n_components).uniform(-1.2, 1.2, (100, n_components))
    X = process(latent, 2000, seed=n_components)
    corr = np.corrcoef(X)
    settings = {"strategy": strategy, "affinity": "precomputed", "refine": None}
    model = quiet(IKD("auto", **settings), corr)
    assert model.n_components_ == model.embedding_.shape[1] == n_components
    assert model.settings_.n_components == n_components
    assert model.spectrum_.size == 15
    assert "last wide gap" in model.settings_.reasons["n_components"]
    named = quiet(IKD(n_components, **settings), corr)
    np.testing.assert_allclose(named.embedding_, model.embedding_, atol=1e-9)
    np.testing.assert_allclose(named.spectrum_[:n_components], named.eigenvalues_, rtol=1e-9)


# What the coordinates depend on -------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    strategy=st.sampled_from(NAMES),
    affinity=st.sampled_from(AFFINITIES),
)
@example(seed=19121, strategy="blockwise", affinity="correlation")  # cliques tie for a merge
def test_permuting_rows_or_columns_permutes_nothing_else(seed, strategy, affinity):
    X, _ = curve(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    model = IKD(2, refine=None, strategy=strategy, affinity=affinity, graph=BOTH)
    plain = quiet(model, X).embedding_
    limit = 1e-8 * np.abs(plain).max()
    np.testing.assert_allclose(quiet(clone(model), X[rows]).embedding_, plain[rows], atol=limit)
    np.testing.assert_allclose(quiet(clone(model), X[:, columns]).embedding_, plain, atol=limit)


# What an affinity promises to ignore.
IGNORED = {
    "correlation": ("row offset", "row scale", "scale"),
    "cosine": ("row scale", "scale"),
    "covariance": ("row offset", "row scale", "scale"),
    "euclidean": ("column offset",),
    "standardized_euclidean": ("column offset", "column scale", "scale"),
}


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("affinity", AFFINITIES)
def test_what_an_affinity_ignores_changes_nothing(strategy, affinity):
    X, _ = sheet(3, n=60, n_columns=30)
    rng = np.random.default_rng(1)
    changes = {
        "row offset": X + rng.normal(size=(60, 1)),
        "row scale": X * rng.uniform(0.5, 2.0, size=(60, 1)),
        "column offset": X + 5.0 * rng.normal(size=30),
        "column scale": X * rng.uniform(0.01, 100.0, size=30),
        "scale": 1e3 * X,
    }
    model = IKD(2, strategy=strategy, affinity=affinity, graph=8, refine=None)
    plain = quiet(model, X).embedding_
    for name, changed in changes.items():
        Z = quiet(clone(model), changed).embedding_
        same = np.allclose(Z, plain, atol=1e-8 * np.abs(plain).max())
        assert same == (name in IGNORED[affinity]), name


@pytest.mark.parametrize("strategy", [*NAMES, strategies.Blockwise(merge="greedy")], ids=str)
@pytest.mark.parametrize("step", [None, "stress"])
def test_any_number_of_threads_gives_the_same_bits(strategy, step):
    X, _ = sheet(n=200, n_columns=50)
    new = X[:20] + 0.01 * np.random.default_rng(0).normal(size=(20, 50))
    one, two, every = (
        quiet(IKD(2, strategy=strategy, refine=step, affinity="correlation", n_jobs=jobs), X)
        for jobs in (1, 2, -1)
    )
    for model in (two, every):
        assert model.embedding_.tobytes() == one.embedding_.tobytes()
        assert model.transform(new).tobytes() == one.transform(new).tobytes()


@pytest.mark.parametrize("strategy", NAMES)
def test_single_precision_goes_in_and_comes_out(strategy):
    X, _ = sheet(n=80)
    double = quiet(IKD(2, strategy=strategy, affinity="euclidean"), X)
    single = quiet(IKD(2, strategy=strategy, affinity="euclidean"), X.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    assert single.transform(X[:5] + 0.1).dtype == np.float32
    np.testing.assert_array_equal(single.transform(X.astype(np.float32)), single.embedding_)
    assert rigid_r2(double.embedding_, single.embedding_) > 1 - 1e-4


@pytest.mark.parametrize("kind", ["rows", "float32", "sparse", "precomputed", "distances"])
def test_fit_and_transform_write_to_nothing_and_the_model_owns_what_it_needs(kind):
    X, _ = sheet(n=60)
    tables = {
        "rows": (X.copy(), "correlation"),
        "float32": (X.astype(np.float32), "euclidean"),
        "sparse": (sp.csr_array(np.where(X > 0.5, X, 0.0)), "euclidean"),
        "precomputed": (np.corrcoef(X), "precomputed"),
        "distances": (np.sqrt(sq_distances(X)), "precomputed_distance"),
    }
    table, affinity = tables[kind]
    values = table.data if kind == "sparse" else table
    before = values.copy()
    model = IKD(2, affinity=affinity, refine=None, graph=8)
    parameters = model.get_params()
    quiet(model, table)
    assert model.get_params() == parameters
    new = table[:5] * 1.01
    placed = model.transform(new)
    stored = model.embedding_.copy()
    np.testing.assert_array_equal(values, before)
    old_table = table.copy()
    reference = quiet(clone(model), old_table)
    values *= -7.0
    np.testing.assert_array_equal(model.transform(new), placed)
    np.testing.assert_array_equal(model.transform(old_table), stored)
    if not affinity.startswith("precomputed"):
        # Computed only now.
        np.testing.assert_array_equal(
            model.inverse_transform(stored), reference.inverse_transform(stored)
        )
        assert model.score(old_table) == reference.score(old_table)


# Duplicates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("step", [None, "stress"])
def test_duplicate_rows_share_coordinates(strategy, step):
    X, _ = curve()
    model = IKD(2, refine=step, strategy=strategy, affinity="correlation", graph=0.5)
    plain = quiet(model, X).embedding_
    copies = np.r_[0, 0, 0:5]
    Z = quiet(clone(model), np.vstack([X, X[copies]])).embedding_
    np.testing.assert_array_equal(Z[90:], Z[copies])
    # Without the shift and turn that the mean and the axes of more points bring about.
    shape, changed = sq_distances(plain), sq_distances(Z[:90])
    np.testing.assert_allclose(changed, shape, atol=1e-7 * shape.max())


def test_fewer_different_rows_than_coordinates_need_are_refused():
    X, _ = curve()
    with pytest.raises(ValueError, match="less than the number of points"):
        IKD(2, affinity="euclidean").fit(X[np.arange(12) // 6])


# Covariances, distances and graphs that are given -------------------------------------------------


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("rule", [0.3, 8, BOTH], ids=str)
def test_a_precomputed_correlation_gives_what_the_rows_give(strategy, rule):
    X, _ = curve()
    settings_ = {"strategy": strategy, "graph": rule, "refine": None}
    from_rows = quiet(IKD(2, affinity="correlation", **settings_), X).embedding_
    given_ = quiet(IKD(2, affinity="precomputed", **settings_), np.corrcoef(X))
    np.testing.assert_allclose(given_.embedding_, from_rows, atol=1e-9)
    cov = quiet(IKD(2, affinity="precomputed", **settings_), np.cov(X))
    np.testing.assert_allclose(cov.embedding_, from_rows, atol=1e-9)


@pytest.mark.parametrize("strategy", NAMES)
def test_precomputed_distances_give_what_the_rows_give(strategy):
    X, _ = sheet(n=60)
    settings_ = {"strategy": strategy, "graph": 8, "refine": None}
    from_rows = quiet(IKD(2, affinity="euclidean", **settings_), X)
    distances = np.sqrt(sq_distances(X))
    given_ = quiet(IKD(2, affinity="precomputed_distance", **settings_), distances)
    np.testing.assert_allclose(given_.embedding_, from_rows.embedding_, atol=1e-9)
    np.testing.assert_array_equal(given_.transform(distances), given_.embedding_)


@pytest.mark.parametrize("strategy", NAMES)
def test_results_that_are_changed_change_no_model(strategy, tmp_path):
    X, _ = sheet(n=60)
    model = IKD(2, strategy=strategy, affinity="euclidean", refine=None)
    changed = model.fit_transform(X)
    new = X + 1e-3
    expected = (model.embedding_.copy(), model.transform(X), model.transform(new), model.score(X))
    slopes = model.loadings(columns=[0]).values
    model.save(tmp_path / "before.ikd")
    changed *= -1.0
    np.testing.assert_array_equal(model.embedding_, expected[0])
    loadings, residuals, joints = model.loadings(columns=[0]), model.residuals_, model.joints_
    own = [value for name, value in vars(model).items() if name.endswith("_")]
    parts = [part for record in own if isinstance(record, tuple) for part in record]
    blocks = [] if model.cliques_ is None else [*model.cliques_.blocks]
    for each in (*own, *parts, *blocks, loadings.points, residuals, *(joints or ())):
        if isinstance(each, np.ndarray) and each.dtype.kind in "fi" and each.flags.writeable:
            each[...] = -7
    for found, wanted in zip(
        (model.transform(X), model.transform(new), model.score(X)), expected[1:], strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(model.loadings(columns=[0]).values, slopes)
    model.save(tmp_path / "after.ikd")
    np.testing.assert_array_equal(*(np.load(path)["digest"] for path in tmp_path.iterdir()))


def test_distances_are_refused_as_covariances_and_taken_as_what_they_are():
    X, latent = sheet(n=80, n_columns=3, noise=0.0)
    distances = np.sqrt(sq_distances(latent))
    with pytest.raises(ValueError, match=r"diagonal of zeros.*affinity='precomputed_distance'"):
        IKD(2, affinity="precomputed").fit(distances)
    with pytest.raises(ValueError, match=r"must hold distances|zeros on the diagonal"):
        IKD(2, affinity="precomputed_distance").fit(np.corrcoef(X))
    model = IKD(2, affinity="precomputed_distance", graph=10).fit(distances[:60, :60])
    assert affine_r2(latent[:60], model.embedding_) > 0.99
    linear = IKD(2, affinity="precomputed_distance", strategy="linear").fit_transform(distances)
    assert affine_r2(latent, linear) > 1 - 1e-9


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
def test_a_sparse_covariance_is_the_graph(strategy):
    corr = np.corrcoef(curve()[0])
    thinned = sp.csr_array(np.where(corr > 0.3, corr, 0.0))
    dense = quiet(IKD(2, affinity="precomputed", strategy=strategy, graph=0.3), corr)
    sparse = quiet(IKD(2, affinity="precomputed", strategy=strategy), thinned)
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-9)
    thinner = quiet(IKD(2, affinity="precomputed", strategy=strategy, graph=0.5), thinned)
    assert thinner.graph_.weights.min() > 0.5
    nearest = quiet(IKD(2, affinity="precomputed", strategy=strategy, graph=6), thinned)
    expected = graph.strongest(graph.as_graph(thinned), 6)
    np.testing.assert_array_equal(nearest.graph_.indices, expected.indices)


def joined(X):
    """Own graph of the rows of X, as a CsrGraph, a networkx graph and a sparse matrix."""
    g = graph.neighbors(np.corrcoef(X), 8)
    named = networkx.relabel_nodes(graph.to_networkx(g), {i: f"cell {i}" for i in range(len(X))})
    return g, named, graph.to_sparse(g), sp.csr_matrix(graph.to_sparse(g))


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
@pytest.mark.parametrize("step", [None, "stress"])
def test_an_own_graph_of_the_rows_is_used_as_it_is(strategy, step):
    X, _ = sheet(n=60)
    own, *others = joined(X)
    settings_ = {"strategy": strategy, "affinity": "correlation", "refine": step}
    model = quiet(IKD(2, graph=own, **settings_), X)
    for first, second in zip(model.graph_, own, strict=True):
        np.testing.assert_array_equal(first, second)
    rule = quiet(IKD(2, graph=graph.Neighbors(8, prune=False), **settings_), X)
    np.testing.assert_allclose(model.embedding_, rule.embedding_, atol=1e-9)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    for other in others:
        Z = quiet(IKD(2, graph=other, **settings_), X).embedding_
        np.testing.assert_allclose(Z, model.embedding_, atol=1e-12)


def test_an_own_graph_is_never_pruned_and_survives_clone_and_pickle():
    X, latent = sheet(n=60)
    far = np.argmax(sq_distances(latent)[0])
    corr = np.corrcoef(X)
    own = graph.union(graph.neighbors(corr, 8), graph.from_edges(60, [0], [int(far)], [0.9]))
    model = IKD(2, graph=own, strategy="geodesic", affinity="euclidean", refine=None)
    quiet(model, X)
    assert model.graph_.n_edges == own.n_edges
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(quiet(copy, X).embedding_, model.embedding_)
    with pytest.raises(ValueError, match="60"):
        IKD(2, graph=own).fit(X[:50])


def test_a_table_of_pairs_knows_no_rows():
    X, _ = curve()
    tables = {
        "precomputed": np.corrcoef(X),
        "precomputed_distance": np.sqrt(sq_distances(X)),
    }
    for affinity, table in tables.items():
        model = quiet(IKD(2, affinity=affinity), table)
        with pytest.raises(ValueError, match="inverse_transform must know the observations"):
            model.inverse_transform(model.embedding_)
        with pytest.raises(ValueError, match="score must know the observations"):
            model.score(table)
        with pytest.raises(ValueError, match="noise_model must know the observations"):
            model.noise_model()
        with pytest.raises(ValueError, match="refine='likelihood' must know the observations"):
            IKD(2, affinity=affinity, refine="likelihood").fit(table)


# Connected components -----------------------------------------------------------------------------


def test_nobody_is_warned_of_components_of_a_graph_he_did_not_name():
    rng = np.random.default_rng(0)
    centers = 9.0 * rng.normal(size=(3, 30))
    X = np.repeat(centers, 40, axis=0) + rng.normal(size=(120, 30))
    model = IKD(2, strategy="geodesic", affinity="euclidean")
    assert warned(model, X) == []
    assert model.component_labels_.max() == 2
    assert "3 connected components" in model.settings_.reasons["components"]


# Placing and going back ---------------------------------------------------------------------------


@pytest.mark.parametrize("affinity", [*AFFINITIES, "shared_neighbors"])
@pytest.mark.parametrize("strategy", NAMES)
def test_rows_are_placed_independently(strategy, affinity):
    if affinity == "shared_neighbors" and strategy in ("eigen", "linear"):
        return
    X, _ = curve(3)
    model = quiet(IKD(2, strategy=strategy, affinity=affinity, refine="stress"), X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    new = X[:9] + 0.01 * np.random.default_rng(0).normal(size=X[:9].shape)
    together = model.transform(new)
    for at, row in enumerate(new):
        np.testing.assert_array_equal(model.transform(row[None])[0], together[at])
    spread = np.ptp(model.embedding_, axis=0).max()
    assert np.abs(together - model.embedding_[:9]).max() < 0.2 * spread


@pytest.mark.parametrize("step", [None, "stress", "likelihood"])
@pytest.mark.parametrize("affinity", ["correlation", "cosine"])
def test_rows_come_back_from_their_coordinates(step, affinity):
    X, _ = curve(n=40, n_columns=120, noise=0.1)
    X += 5.0 if affinity == "correlation" else 0.0
    model = IKD(2, refine=step, affinity=affinity, graph=graph.Threshold(0.3, n_neighbors=6)).fit(X)
    back, std = model.inverse_transform(model.transform(X), return_std=True)
    assert np.mean((back - X) ** 2) < 0.1 * np.mean((X - X.mean(axis=0)) ** 2)
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), back)
    far = model.inverse_transform(np.array([[50.0, 50.0]]), return_std=True)
    np.testing.assert_allclose(far[0], X.mean(axis=0)[None], atol=1e-6)
    assert far[1] >= std.max() > std.min()


def test_the_noise_model_knows_the_noise_and_the_score_prefers_rows_of_the_model():
    X, _ = sheet(n=120, n_columns=300, noise=0.3)
    model = quiet(IKD(2, affinity="correlation", refine="stress"), X[:100])
    noise = model.noise_model()
    assert noise.noise == pytest.approx(0.09, rel=0.35)
    assert noise.variance > noise.noise
    assert model.log_likelihood() == noise.log_likelihood
    np.testing.assert_allclose(model.score(X[:100]), noise.log_likelihood / 300, rtol=1e-6)
    shuffled = np.random.default_rng(0).permuted(X[100:], axis=1)
    assert model.score(X[100:]) > model.score(shuffled)


# Likelihood ---------------------------------------------------------------------------------------


def test_the_likelihood_finds_the_latent_and_its_noise():
    X, latent = curve(n=60, n_columns=300, noise=0.5)
    model = IKD(2).fit(X)
    assert isinstance(model.settings_.refine, refine.Likelihood)
    plain = IKD(2, refine=None).fit(X)
    assert affine_r2(latent, model.embedding_) > max(0.97, affine_r2(latent, plain.embedding_))
    assert abs(model.noise_model().noise / 0.25 - 1.0) < 0.1
    assert model.standard_errors_.shape == (60, 2)
    assert model.n_iter_ > 0
    np.testing.assert_allclose(model.score(X), model.log_likelihood() / 300, rtol=1e-6)
    assert model.score(X) > plain.score(X)


@pytest.mark.parametrize("strategy", NAMES)
def test_a_named_strategy_is_where_the_likelihood_starts(strategy):
    X, _ = curve(1, n=25, n_columns=120)
    model, plain = (
        quiet(IKD(2, strategy=strategy, affinity="correlation", refine=step), X)
        for step in ("likelihood", None)
    )
    assert len(model.optima_) >= 1
    assert model.optima_[0].log_likelihood == pytest.approx(model.log_likelihood(), rel=1e-9)
    assert model.log_likelihood() >= plain.log_likelihood()


# What is said while it works ----------------------------------------------------------------------


def test_a_terminal_shows_a_bar_and_a_notebook_or_a_log_lines(monkeypatch, capsys):
    X, _ = curve()
    model = IKD(2, strategy="geodesic", refine="stress", verbose=1)
    quiet(model, X)
    said = capsys.readouterr().err.splitlines()
    assert said == [f"ikd_graph: {name} ..." for name in model.stage_times_]
    plain = model.embedding_
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    quiet(model, X)
    said = capsys.readouterr().err
    assert "00:00 stress" in said
    assert "ikd_graph: " not in said
    np.testing.assert_array_equal(model.embedding_, plain)
    quiet(IKD(2, strategy="geodesic"), X)
    assert capsys.readouterr().err == ""
