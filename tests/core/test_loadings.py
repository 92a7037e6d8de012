"""Derivatives of columns along a map: exact, with errors that hold, and what is refused."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import ikd_graph
from ikd_graph import IKD, kernels

SMOOTH = [
    kernels.SquaredExponential(),
    kernels.RationalQuadratic(),
    kernels.Matern(nu=2.5),
    kernels.Matern(nu=1.5),
]


def differences(model, points, step=1e-5):
    """Derivatives of `inverse_transform` by central differences, (n, p, m)."""
    moves = step * np.eye(points.shape[1])
    parts = [
        model.inverse_transform(points + e) - model.inverse_transform(points - e) for e in moves
    ]
    return np.stack(parts, axis=-1) / (2.0 * step)


def samples(kernel, n=80, p=120, noise=0.3, seed=0):
    """Points, columns that are samples of a process of theirs with noise, and true derivatives."""
    rng = np.random.default_rng(seed)
    Z, step = rng.uniform(-2.0, 2.0, size=(n, 2)), 1e-4
    around = [Z, *(Z + sign * move for move in step * np.eye(2) for sign in (1.0, -1.0))]
    cov = kernel.covariance(cdist(np.vstack(around), np.vstack(around), "sqeuclidean"))
    values, vectors = np.linalg.eigh(cov)
    drawn = (vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.normal(size=(len(cov), p))
    f, right, left, up, down = np.split(drawn, 5)
    slopes = np.stack([right - left, up - down], axis=-1) / (2.0 * step)
    return Z, f + noise * rng.normal(size=(n, p)), slopes


def with_holes(X, fraction=0.05):
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < fraction] = np.nan
    return X


@functools.cache
def of_samples(kernel, noise):
    """Points, columns and derivatives of samples, and a model of the columns."""
    Z, X, slopes = samples(kernel, n=80, p=150, noise=noise, seed=3)
    return Z, X, slopes, IKD(kernel=kernel).fit(X)


def fit_samples(kernel):
    return of_samples(kernel, 0.5)[3]


DIGITS = load_digits().data[:90]
FITS = [
    pytest.param(functools.partial(fit_samples, kernel), id=f"samples of {kernel!r}")
    for kernel in SMOOTH
]
FITS += [
    pytest.param(lambda: IKD(refine="stress").fit(DIGITS), id="digits"),
    pytest.param(lambda: IKD(3, strategy="linear").fit(DIGITS), id="linear"),
    pytest.param(lambda: IKD(1, strategy="geodesic").fit(load_iris().data), id="duplicates, 1-D"),
    pytest.param(
        lambda: IKD(strategy="blockwise", graph=7, refine=None).fit(DIGITS), id="blockwise"
    ),
    pytest.param(
        lambda: IKD(missing="pairwise", refine="stress").fit(with_holes(DIGITS)), id="holes"
    ),
    pytest.param(lambda: IKD(refine="stress").fit(sp.csr_array(DIGITS)), id="sparse"),
    pytest.param(
        lambda: IKD(n_landmarks=40, refine="stress").fit(DIGITS.astype(np.float32)), id="float32"
    ),
]


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("fit", FITS)
def test_values_are_the_derivatives_of_inverse_transform(fit):
    model = fit()
    found = model.loadings()
    points = np.asarray(model.embedding_[:20], np.float64) + 0.01
    expected = differences(model, points)
    moved = model.loadings(points)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(moved.values, expected, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(moved.fitted, model.inverse_transform(points), atol=1e-8 * scale)
    assert found.values.shape == (
        *model.embedding_.shape[:1],
        model.n_features_in_,
        points.shape[1],
    )
    assert np.isfinite(found.standard_errors).all()


def test_columns_of_a_model_have_noise_of_their_own():
    Z, X, slopes = samples(SMOOTH[0], n=150, p=90, noise=0.0)
    rng = np.random.default_rng(0)
    noise, there = np.repeat([0.1, 0.3, 1.0], 30), np.arange(90) % 3 > 0
    X = X * there + noise * rng.normal(size=X.shape)
    model = IKD(strategy="geodesic", affinity="euclidean", refine="stress").fit(X)
    E = model.embedding_
    turn, _ = orthogonal_procrustes(Z - Z.mean(axis=0), E)
    scale = np.sum((Z - Z.mean(axis=0)) @ turn * E) / np.sum(E**2)
    found, truth = model.loadings(), scale * slopes @ turn * there[:, None]
    off = np.abs(found.values - truth) / found.standard_errors
    for level in (0.1, 0.3, 1.0):
        assert 0.9 <= np.mean(off[:, ~there & (noise == level)] <= 1.96) <= 0.99
        assert np.mean(off[:, there & (noise == level)] <= 1.96) >= 0.7


def test_standard_errors_given_the_map_are_those_of_differences_of_scikit_learn():
    X, step = samples(SMOOTH[0], n=50, noise=0.2)[1], 1e-3
    model = IKD(kernel=SMOOTH[0]).fit(X)
    assert model.settings_.model_based
    noise_model, Z = model.noise_model(), model.embedding_
    kernel = RBF(noise_model.kernel.length_scale)
    ratio = noise_model.noise / noise_model.variance
    found, cov = replace(model.loadings(), spread=None), kernel(Z) + ratio * np.eye(50)
    for column in (0, 50):
        x = X[:, column] - X[:, column].mean()
        variance = x @ np.linalg.solve(cov, x) / 50
        process = GaussianProcessRegressor(kernel, alpha=ratio, optimizer=None)
        process.fit(Z, x / np.sqrt(variance))
        for row in (0, 7, 30):
            for axis, move in enumerate(step * np.eye(2)):
                mean, around = process.predict(Z[row] + np.array([move, -move]), return_cov=True)
                slope = (mean[0] - mean[1]) / (2.0 * step)
                spread = np.sqrt(around[0, 0] + around[1, 1] - 2.0 * around[0, 1]) / (2.0 * step)
                expected = np.sqrt(variance) * np.array([slope, spread])
                value = found.values[row, column, axis], found.standard_errors[row, column, axis]
                np.testing.assert_allclose(value, expected, rtol=1e-2)


@pytest.mark.parametrize("kernel", SMOOTH, ids=repr)
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_intervals_hold_the_true_derivatives(kernel, noise):
    Z, X, slopes, model = of_samples(kernel, noise)
    turn = orthogonal_procrustes(Z - Z.mean(axis=0), model.embedding_)[0]
    given = ikd_graph.loadings(Z, X, kernel=kernel)
    for found, truth in ((model.loadings(), slopes @ turn), (given, slopes)):
        off = np.abs(found.values - truth) / found.standard_errors
        assert 0.9 <= np.mean(off <= 1.96) <= 0.99
        assert 0.43 <= np.mean(off <= 0.6745) <= 0.65
        assert 0.7 <= np.std((found.values - truth) / found.standard_errors) <= 1.3


def test_errors_of_coordinates_are_in_those_of_derivatives():
    inside, given_the_map = [], []
    for seed in range(3):
        Z, X, slopes = samples(SMOOTH[0], n=60, noise=0.0, seed=seed)
        model = IKD(kernel=SMOOTH[0]).fit(X)
        turn = orthogonal_procrustes(Z - Z.mean(axis=0), model.embedding_)[0]
        found = model.loadings()
        off, alone = np.abs(found.values - slopes @ turn), replace(found, spread=None)
        inside.append(np.mean(off <= 1.96 * found.standard_errors))
        given_the_map.append(np.mean(off <= 1.96 * alone.standard_errors))
    assert np.mean(inside) >= 0.9
    assert np.mean(given_the_map) <= 0.85


@pytest.fixture(scope="module")
def planted():
    """A map and columns: two along the axes, one in the east alone, one of noise, a constant."""
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2.0, 2.0, size=(400, 2))
    table = {
        "east": 3.0 * Z[:, 0],
        "north": Z[:, 1],
        "east only": np.maximum(Z[:, 0], 0.0) ** 2,
        "noise": np.zeros(400),
        "constant": np.ones(400),
    }
    X = pd.DataFrame(table)
    X.iloc[:, :4] += 0.1 * rng.normal(size=(400, 4))
    return Z, X


def test_columns_are_named_by_point_region_and_path(planted):
    Z, X = planted
    found = ikd_graph.loadings(Z, X)
    west, east = cdist([[-1.0, 0.0], [1.5, 0.0]], Z).argmin(axis=1)
    top = found.top(where=east)
    assert top["column"].iloc[0] == "east only"
    assert not {"noise", "constant"} & set(top["column"].iloc[:3])
    assert [X.columns[k] for k in top.index] == top["column"].tolist()
    assert set(found.top(2, where=west)["column"]) == {"east", "north"}
    region = found.top(where=Z[:, 0] < -0.5).set_index("column")
    assert list(region.index[:2]) in (["east", "north"], ["north", "east"])
    np.testing.assert_allclose(region.loc["east", ["ikd0", "ikd1"]], [3.0, 0.0], atol=0.1)
    path = found.top(where=[[-1.0, 0.0], [1.0, 0.0]]).set_index("column")
    assert path.index[0] == "east"
    assert "constant" not in path.index
    assert abs(path.loc["east", "change"] - 6.0) < 4.0 * path.loc["east", "change_se"] < 0.8
    by_rows = found.top(where=[west, east]).set_index("column")
    np.testing.assert_allclose(
        by_rows.loc["east", "change"], 3.0 * (Z[east, 0] - Z[west, 0]), atol=0.5
    )
    everywhere = found.top()
    assert everywhere["size"].is_monotonic_decreasing
    assert (everywhere["size"] > 0.0).all()
    assert "derivatives of 5 columns at 400 points" in repr(found)
    assert "beyond two standard errors on this map (by chance 2%)" in repr(found)
    assert "change most, in standard deviations: east only, " in repr(found)


def test_paths_are_differences_of_the_mean(planted):
    Z, X = planted
    found = ikd_graph.loadings(Z, X, points=[[-1.0, 0.5], [1.5, -0.3]])
    path = found.top(where=[0, 1]).set_index("column")["change"]
    expected = pd.Series(found.fitted[1] - found.fitted[0], index=found.names)
    np.testing.assert_allclose(path, expected[path.index], rtol=1e-9)


def test_a_point_of_noise_names_nothing_surely():
    rng = np.random.default_rng(0)
    found = ikd_graph.loadings(rng.normal(size=(200, 2)), rng.normal(size=(200, 50)))
    assert "none can be told" in repr(found)


def test_a_constant_does_not_change(planted):
    found = ikd_graph.loadings(*planted)
    assert not found.values[:, 4].any()
    assert not found.standard_errors[:, 4].any()


def test_units_scale_values_and_errors(planted):
    Z, X = planted
    one, other = ikd_graph.loadings(Z, X), ikd_graph.loadings(Z, 1000.0 * X + 5.0)
    np.testing.assert_allclose(other.values, 1000.0 * one.values, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.standard_errors, 1000.0 * one.standard_errors, rtol=1e-6)
    assert one.top()["column"].tolist() == other.top()["column"].tolist()


def test_columns_are_chosen_by_name_and_position(planted):
    Z, X = planted
    every, some = ikd_graph.loadings(Z, X), ikd_graph.loadings(Z, X, columns=["north", 0])
    assert some.names == ("north", "east")
    kernel = kernels.SquaredExponential()
    every, some = (ikd_graph.loadings(Z, X, kernel=kernel, columns=c) for c in (None, ["north", 0]))
    np.testing.assert_allclose(some.values, every.values[:, [1, 0]], atol=1e-10)
    model = IKD().fit(X)
    np.testing.assert_allclose(
        model.loadings(columns=["north"]).values[:, 0], model.loadings().values[:, 1], atol=1e-10
    )


def test_columns_that_are_named_by_numbers_are_chosen_by_them(planted):
    Z, X = planted
    numbered = X.set_axis([10, 11, 12, 13, 14], axis=1)
    assert ikd_graph.loadings(Z, numbered, columns=[12, 0]).names == ("12", "10")
    assert IKD().fit(numbered).loadings(columns=[12]).names == ("12",)


def test_sparse_rows_and_dense_ones_say_the_same():
    X = DIGITS[:, :40]
    Z = np.random.default_rng(0).normal(size=(90, 2))
    dense, sparse = ikd_graph.loadings(Z, X), ikd_graph.loadings(Z, sp.csr_array(X))
    np.testing.assert_allclose(sparse.values, dense.values, atol=1e-9)


def test_many_columns_are_those_of_few():
    rng = np.random.default_rng(0)
    Z, X = rng.normal(size=(60, 2)), rng.normal(size=(60, 3000))
    kernel = kernels.Matern()
    every = ikd_graph.loadings(Z, X, kernel=kernel)
    part = ikd_graph.loadings(Z, X[:, 2990:], kernel=kernel)
    np.testing.assert_allclose(every.values[:, 2990:], part.values, atol=1e-10)
    np.testing.assert_allclose(every.standard_errors[:, 2990:], part.standard_errors, atol=1e-10)


def test_tables_have_a_row_for_each_point_and_column(planted):
    Z, X = planted
    found = ikd_graph.loadings(Z, X, points=Z[:7], columns=[0, 1])
    table = found.to_pandas()
    assert table.shape == (14, 6)
    row = table.query("point == 3 and column == 'north'").iloc[0]
    assert row["ikd1"] == found.values[3, 1, 1]
    assert row["ikd1_se"] == found.standard_errors[3, 1, 1]


def test_rotating_a_map_rotates_gradients(planted):
    Z, X = planted
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(2, 2)))[0]
    one, other = ikd_graph.loadings(Z, X), ikd_graph.loadings(Z @ turn, X)
    np.testing.assert_allclose(other.values, one.values @ turn, atol=1e-6)


def test_a_saved_model_says_the_same(tmp_path):
    model = IKD(refine="stress").fit(DIGITS)
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    np.testing.assert_allclose(again.loadings().values, model.loadings().values, atol=1e-10)


@pytest.mark.parametrize("kernel", [kernels.GammaExponential(), kernels.Matern(nu=0.5)], ids=repr)
def test_kernels_without_a_derivative_are_refused_with_one_to_take(kernel, planted):
    Z, X = planted
    with pytest.raises(ValueError, match="take 'squared_exponential' or 'matern'"):
        ikd_graph.loadings(Z, X, kernel=kernel)
    model = IKD(kernel=kernel, refine=None).fit(samples(SMOOTH[0])[1])
    with pytest.raises(ValueError, match="kernel of the model must be differentiable"):
        model.loadings()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": [[1.0, 2.0, 3.0]]}, "points must have the 2 coordinates of Z, got 3"),
        ({"columns": ["south"]}, "got 'south'; the names are east, north"),
        ({"columns": [5]}, "positions from 0 to 4, got 5"),
        ({"columns": [1.5]}, "positions from 0 to 4, got 1.5"),
        ({"columns": []}, "got none"),
        ({"columns": [True, False, False, False, False]}, "positions from 0 to 4, got True;"),
        ({"columns": slice(2)}, r"positions from 0 to 4, got slice\(None, 2, None\);"),
        ({"columns": {"east", "north"}}, "positions from 0 to 4, got {"),
        ({"columns": [2], "names": [5, 3, 1, 2, 0]}, "got 2, which fits 2 columns"),
        ({"columns": ["a"], "names": [*"abcda"]}, "got 'a', which fits 2 columns"),
        ({"names": ["a"]}, "names must be one for each of 5 columns"),
    ],
)
def test_what_does_not_fit_is_refused(change, message, planted):
    with pytest.raises(ValueError, match=message):
        ikd_graph.loadings(*planted, **change)


def test_what_is_no_place_is_refused(planted):
    found = ikd_graph.loadings(*planted)
    with pytest.raises(ValueError, match="one or two numbers of rows"):
        found.top(where=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="where must lie from 0 to 399, got 400"):
        found.top(where=400)
    with pytest.raises(ValueError, match="where must be True for at least one row"):
        found.top(where=np.zeros(400, dtype=bool))
    with pytest.raises(ValueError, match="n must be"):
        found.top(0)


def test_values_between_points_know_no_columns():
    D = cdist(DIGITS[:40], DIGITS[:40])
    model = IKD(affinity="precomputed_distance").fit(D)
    with pytest.raises(ValueError, match="loadings must know the observations"):
        model.loadings()
    with pytest.raises(ValueError, match="Z must have the 2 columns of the embedding, got 3"):
        IKD(strategy="linear").fit(DIGITS).loadings([[0.0, 0.0, 0.0]])
