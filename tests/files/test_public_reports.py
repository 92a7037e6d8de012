"""Inputs that people brought to public trackers of the field, made small: matrices and arrays."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from ikd_graph import IKD, graph, strategies
from ikd_graph.metrics import affine_r2

GIVEN = {"affinity": "precomputed"}
PATHS = {"strategy": "geodesic", **GIVEN}
NEAR = {"refine": None, "strategy": "geodesic", "affinity": "euclidean", "graph": 8}


def smooth(n=60, p=30, seed=0):
    """Rows that are smooth functions of a 2-D latent; the latent, the rows."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0, 1, (n, 2))
    waves = np.sin(2.0 * latent @ rng.normal(size=(2, p)) + rng.uniform(0, 6, p))
    return latent, waves + 0.05 * rng.normal(size=(n, p))


def gap(a, b):
    """Largest difference of two embeddings up to the signs of their columns."""
    signs = np.sign((a * b).sum(axis=0))
    return np.abs(a * np.where(signs == 0, 1, signs) - b).max()


def correlations_above(level=0.3, zeros=False):
    """Sparse correlations of `smooth` rows; small ones are left out, or stored as zeros."""
    corr = np.corrcoef(smooth()[1])
    matrix = sp.csr_array(np.where(corr > level, corr, 9.0 if zeros else 0.0))
    matrix.data[matrix.data == 9.0] = 0.0
    return matrix


def weighted(g, seed=0):
    """The graph with weights about 0.8."""
    rng = np.random.default_rng(seed)
    for a, b in g.edges:
        g[a][b]["weight"] = float(np.clip(0.8 + 0.15 * rng.normal(), 0.1, 0.999))
    return g


def locked(matrix):
    """The sparse matrix, which cannot be written to."""
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


def sample_covariance(seed):
    """A latent of 100 points, and the covariance of 200 columns drawn from the model."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0, 2.5, (100, 2))
    cov = np.exp(-0.5 * ((latent[:, None] - latent) ** 2).sum(axis=-1)) + 1e-9 * np.eye(100)
    return latent, np.linalg.cholesky(cov) @ rng.normal(size=(100, 200))


@pytest.mark.parametrize("noise", [1e-16, -4.4e-16, 1e-12])
def test_distances_with_rounding_on_the_diagonal_are_not_covariances(noise):
    """https://github.com/lmcinnes/umap/issues/854: 1 - similarity, rounding on the diagonal."""
    distances = 1.0 - np.corrcoef(smooth()[1])
    np.fill_diagonal(distances, noise)
    with pytest.raises(ValueError, match="precomputed_distance"):
        IKD(**GIVEN).fit(distances)
    Z = IKD(affinity="precomputed_distance").fit_transform(distances)
    np.fill_diagonal(distances, 0.0)
    assert gap(Z, IKD(affinity="precomputed_distance").fit_transform(distances)) < 1e-6


def test_a_sparse_graph_of_distances_is_not_one_of_covariances():
    """https://github.com/scikit-learn/scikit-learn/pull/10482: output of KNeighborsTransformer."""
    latent, X = smooth()
    near = kneighbors_graph(X, 8, mode="distance")
    near = sp.csr_array(near.maximum(near.T))
    with pytest.raises(ValueError, match="precomputed_distance"):
        IKD(**GIVEN).fit(near + 1e-12 * sp.eye_array(60))
    Z = IKD(affinity="precomputed_distance").fit_transform(near)
    assert affine_r2(latent, Z) > 0.8


def test_a_correlation_of_one_is_an_edge_of_length_zero():
    """https://github.com/scikit-learn/scikit-learn/issues/26999: two points at distance 0."""
    g = nx.path_graph(6)
    nx.set_edge_attributes(g, dict(zip(g.edges, (0.9, 1.0, 1.0, 1.0, 0.9), strict=True)), "weight")
    end = np.sqrt(-2.0 * np.log(0.9))
    found = np.sort(IKD(1, **GIVEN).fit(g).embedding_.ravel())
    np.testing.assert_allclose(found, [-end, 0, 0, 0, 0, end], atol=1e-5)


@pytest.mark.parametrize("make", [nx.les_miserables_graph, nx.karate_club_graph])
def test_a_connected_graph_keeps_every_edge(make):
    """https://github.com/lmcinnes/umap/issues/81: the adjacency of a networkx graph."""
    for seed in range(8):
        g = weighted(make(), seed)
        model = IKD(2, **PATHS).fit(g)
        assert model.component_labels_.max() == 0
        assert model.graph_.n_edges == g.number_of_edges()
    grid = nx.grid_2d_graph(5, 5)
    nx.set_edge_attributes(grid, 0.6, "weight")
    grid[0, 0][0, 1]["weight"] = 1.0
    latent = IKD(2, **PATHS, refine=None).fit_transform(nx.convert_node_labels_to_integers(grid))
    assert np.linalg.norm(latent[0] - latent[1]) < 1.0


def test_a_graph_of_ones_is_one_place():
    """https://github.com/scikit-learn/scikit-learn/issues/4015: mode="connectivity"."""
    near = kneighbors_graph(smooth()[1], 8, mode="connectivity")
    with pytest.warns(UserWarning, match="all precomputed similarities are 1"):
        assert np.ptp(IKD(**GIVEN).fit_transform(near.maximum(near.T))) < 1e-6


def test_weights_above_one_are_taken_for_one_with_a_warning():
    """https://github.com/lmcinnes/umap/issues/81: integer weights, 1 to 7, of the karate club."""
    ones = pytest.warns(UserWarning, match=r"all precomputed similarities are 1.* scales counts S")
    with ones, pytest.warns(UserWarning, match="exceed the variances"):
        latent = IKD(**GIVEN).fit_transform(nx.karate_club_graph())
    assert np.isfinite(latent).all()


def test_stored_zeros_and_negatives_are_taken_as_from_a_dense_matrix():
    """https://github.com/scikit-learn/scikit-learn/pull/10482, issues/19744: any matrix."""
    plain, padded = correlations_above(), correlations_above(zeros=True)
    assert padded.nnz > plain.nnz
    assert gap(IKD(**PATHS).fit_transform(plain), IKD(**PATHS).fit_transform(padded)) < 1e-9
    latent, X = smooth()
    whole = sp.csr_array(np.corrcoef(X))
    assert affine_r2(latent, IKD(**GIVEN).fit_transform(whole)) > 0.7


def test_read_only_sparse_matrices_are_taken_and_not_changed():
    """https://github.com/scikit-learn/scikit-learn/issues/10916, 12102 and 27508: joblib's."""
    plain = correlations_above(zeros=True)
    matrix = locked(plain.copy())
    for settings in (PATHS, {"strategy": strategies.Geodesic(path="covariance"), **GIVEN}):
        model = IKD(**settings).fit(plain.copy())
        assert gap(IKD(**settings).fit_transform(matrix), model.embedding_) < 1e-9
        np.testing.assert_array_equal(model.transform(locked(matrix[:5])), model.embedding_[:5])
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(matrix, name), getattr(plain, name))


def test_covariances_are_divided_by_the_deviations_of_both_points():
    """https://github.com/silx-kit/pymca/pull/645: covariance or correlation."""
    latent, X = smooth()
    X = X - X.mean(axis=1, keepdims=True)
    X *= np.exp(0.7 * np.random.default_rng(1).normal(size=(60, 1)))
    for matrix in (np.cov(X), sp.csr_array(np.cov(X))):
        assert affine_r2(latent, IKD(**GIVEN).fit_transform(matrix)) > 0.8


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
def test_covariances_of_samples_of_the_model(strategy):
    """https://github.com/distillpub/post--visual-exploration-gaussian-processes/issues/47."""
    given, rows = [], []
    for seed in range(5):
        latent, X = sample_covariance(seed)
        given.append(affine_r2(latent, IKD(strategy=strategy, **GIVEN).fit_transform(np.cov(X))))
        own = IKD(strategy=strategy, affinity="covariance", refine=None)
        rows.append(affine_r2(latent, own.fit_transform(X)))
    assert np.mean(given) > 0.9
    assert np.mean(rows) > 0.9


def test_pairs_without_covariance_are_no_neighbors():
    """https://github.com/scikit-learn/scikit-learn/issues/5327: two blocks, nothing between."""
    line = np.linspace(0, 1, 5)
    block = np.exp(-0.5 * ((line[:, None] - line) / 0.3) ** 2)
    rule = graph.Neighbors(disconnected="raise")
    for matrix in (sp.block_diag([block, block]).toarray(), sp.block_diag([block, block]).tocsr()):
        with pytest.raises(ValueError, match="2 components"):
            IKD(graph=rule, **PATHS).fit(matrix)


def test_pairs_that_are_not_known_get_a_cure_that_helps():
    """https://github.com/scikit-learn-contrib/hdbscan/issues/187: NaN between some points."""
    latent, X = smooth()
    corr = np.corrcoef(X)
    corr[np.abs(corr) < 0.05] = np.nan
    with pytest.raises(ValueError, match="sparse") as error:
        IKD(**GIVEN).fit(corr)
    assert "HistGradient" not in str(error.value)
    assert affine_r2(latent, IKD(**GIVEN).fit_transform(sp.csr_array(np.nan_to_num(corr)))) > 0.7


def test_nearly_symmetric_matrices_are_averaged():
    """https://github.com/scikit-learn/scikit-learn/issues/19744: asymmetry of 1e-9."""
    corr = np.corrcoef(smooth()[1])
    askew = corr + 1e-9 * np.triu(np.random.default_rng(0).normal(size=corr.shape), 1)
    for kind in (np.asarray, sp.csr_array):
        found = IKD(**PATHS, refine=None).fit_transform(kind(askew))
        assert gap(found, IKD(**PATHS, refine=None).fit_transform(kind(corr))) < 1e-6


def test_columns_of_periods_are_named():
    """https://github.com/tappat225/PV_prediction/issues/3: a column of times."""
    table = pd.DataFrame(smooth()[1]).add_prefix("c")
    table["month"] = pd.period_range("2020-01", periods=60, freq="M")
    with pytest.raises(ValueError, match="month"):
        IKD(**NEAR).fit(table)
    times = np.datetime64("2020-01-01") + np.arange(60)[:, None] * np.arange(1, 5)
    for X in (times, times - times[0]):
        with pytest.raises(ValueError, match="times"):
            IKD(**NEAR).fit(X)


def test_missing_values_of_pandas_in_arrays_and_frames():
    """https://github.com/pandas-dev/pandas/issues/48864: nullable columns; scikit-learn 34538."""
    table = pd.DataFrame(smooth()[1])
    cells = table.to_numpy().astype(object)
    cells[3, 4] = cells[7, 2] = pd.NA
    frame = pd.DataFrame(cells).convert_dtypes()
    for X in (cells, frame):
        with pytest.raises(ValueError, match=r"2 rows .* 3, 7"):
            IKD(**NEAR).fit(X)
        assert IKD(missing="pairwise", **NEAR).fit(X).embedding_.shape == (60, 2)


def test_wide_indices_and_self_loops_change_nothing():
    """https://github.com/scipy/scipy/issues/20904: int64; https://github.com/igraph/igraph/issues/82."""
    matrix = correlations_above()
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert gap(IKD(**GIVEN).fit_transform(matrix), IKD(**GIVEN).fit_transform(wide)) < 1e-12
    loops = nx.from_scipy_sparse_array(matrix)
    bare = nx.Graph(loops)
    bare.remove_edges_from(list(nx.selfloop_edges(bare)))
    assert gap(IKD(**GIVEN).fit_transform(loops), IKD(**GIVEN).fit_transform(bare)) < 1e-9
