"""Missing values: refused by default, or filled in from the nearest rows."""

import numpy as np
import pytest
from tables import process

from ikd_graph import IKD, missing
from ikd_graph.metrics import affine_r2


def table(n=60, width=60, seed=0, fraction=0.2, noise=0.2):
    """Samples of a Gaussian process with holes, its latent, and the table without holes."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.random(n))[:, None] * 4.0
    whole = process(z, width, noise, seed)
    X = np.where(rng.random(whole.shape) < fraction, np.nan, whole)
    return X, z, whole


def quick(**more):
    return IKD(1, missing="pairwise", affinity="correlation", graph=7, refine=None, **more)


@pytest.mark.parametrize("affinity", ["auto", "correlation", "cosine", "covariance", "euclidean"])
def test_the_latent_is_found_in_spite_of_holes(affinity):
    lost = []
    for seed in range(3):
        X, z, whole = table(seed=seed, fraction=0.3)
        model = IKD(1, missing="pairwise", affinity=affinity, refine="stress").fit(X)
        without = IKD(1, affinity=affinity, refine="stress").fit_transform(whole)
        lost.append(affine_r2(z, without) - affine_r2(z, model.embedding_))
        assert np.array_equal(model.transform(X), model.embedding_)
    assert np.mean(lost) < 0.02


def naive_fill(row, rows):
    """Means over the five rows nearest over shared columns that have a value, by loops."""
    squares = np.nanmean((rows - row) ** 2, axis=1)
    filled = row.copy()
    for column in np.flatnonzero(np.isnan(row)):
        near = [i for i in np.argsort(squares) if np.isfinite(rows[i, column])][:5]
        weights = 1.0 / np.sqrt(squares[near])
        filled[column] = weights @ rows[near, column] / weights.sum()
    return filled


def test_holes_are_filled_as_by_a_naive_twin():
    X, _, whole = table()
    filled, known = missing.fill(X[:9], X), np.isfinite(X[:9])
    assert np.array_equal(filled[known], X[:9][known])
    for at in range(9):
        np.testing.assert_allclose(filled[at], naive_fill(X[at], X), atol=1e-9)
    by_mean = np.nanmean(X, axis=0) - whole[:9]
    assert np.abs((filled - whole[:9])[~known]).mean() < 0.5 * np.abs(by_mean[~known]).mean()


def test_new_rows_with_holes_are_placed_each_by_itself():
    X, z, whole = table(seed=1)
    model = quick().fit(X[::2])
    placed = model.transform(X[1::2])
    assert np.corrcoef(placed.ravel(), z[1::2].ravel())[0, 1] ** 2 > 0.9
    assert np.array_equal(model.transform(X[5:6]), placed[2:3])
    assert np.isfinite(model.score(X[1::2]))
    assert np.isfinite(model.inverse_transform(placed)).all()
    assert model.transform(whole[1::2]).shape == placed.shape


def test_masks_and_pandas_na_are_missing_values():
    X = table()[0]
    expected = quick().fit_transform(X)
    masked = np.ma.masked_invalid(X)
    masked.data[np.isnan(X)] = 1e6
    assert np.array_equal(quick().fit_transform(masked), expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X).convert_dtypes()
    assert frame.isna().sum().sum() == np.isnan(X).sum()
    # Its columns lie one after the other in memory: the last bits of sums are others.
    assert np.allclose(quick().fit_transform(frame), expected, atol=1e-9)


def test_by_default_they_are_refused_with_the_ways_out():
    X = table()[0]
    with pytest.raises(ValueError, match=r"contains NaN.* got 60 rows.*missing='pairwise'.*impute"):
        IKD().fit(X)
    with pytest.raises(ValueError, match="missing='pairwise'"):
        IKD().fit(np.ma.masked_invalid(X))
    model = IKD(1, graph=5, refine=None).fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match=r"contains NaN.* got 1 rows with missing values: 3;"):
        model.transform(np.where(np.arange(60)[:, None] == 3, X, 0.5))
    with pytest.raises(ValueError, match="missing='pairwise' must know the observations"):
        IKD(missing="pairwise", affinity="precomputed").fit(np.eye(9))


def test_empty_rows_and_columns_are_named():
    X = table()[0]
    for axis, name in ((0, "row"), (1, "column")):
        empty = X.copy()
        np.moveaxis(empty, axis, 0)[7] = np.nan
        with pytest.raises(ValueError, match=f"every {name} of X must hold a value, got 1 .*: 7"):
            quick().fit(empty)
    with pytest.warns(UserWarning, match=r"1 of 2 rows cannot be compared .* get NaN: 1$"):
        placed = quick().fit(X).transform([X[0] + 0.01, np.full(60, np.nan)])
    assert np.isfinite(placed).all(axis=1).tolist() == [True, False]


def test_a_model_with_holes_is_saved(tmp_path):
    X = table()[0]
    model = quick().fit(X)
    model.save(tmp_path / "x")
    assert np.array_equal(IKD.load(tmp_path / "x").transform(X), model.embedding_)
