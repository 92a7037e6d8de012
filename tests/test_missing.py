"""Missing values: refused by default, or filled in by what the rows tell of one another."""

import numpy as np
import pytest

from ikd_graph import IKD, covariance, missing
from ikd_graph._settings import Settings
from ikd_graph._stages import Stages
from ikd_graph.study.metrics import affine_r2


def table(n=60, width=60, seed=0, share=0.2, noise=0.2):
    """Samples of a Gaussian process with holes, its latent, and the table without holes."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.random(n))[:, None] * 4.0
    cov = np.exp(-((z - z.T) ** 2) / 2.0) + 1e-6 * np.eye(n)
    whole = np.linalg.cholesky(cov) @ rng.normal(size=(n, width))
    whole += noise * rng.normal(size=(n, width))
    X = whole.copy()
    X[rng.random(X.shape) < share] = np.nan
    return X, z, whole


def filled_in(X, affinity="correlation"):
    """The table that a fit sees."""
    return missing.fill(X, Settings(1, affinity=affinity), Stages())


def quick(**more):
    return IKD(1, missing="pairwise", affinity="correlation", graph=7, refine=None, **more)


@pytest.mark.parametrize(
    ("scaling", "whole"),
    [("correlation", covariance.correlation), ("cosine", covariance.cosine)],
)
def test_pairs_are_compared_over_the_columns_both_have(scaling, whole):
    X = table(12, 30)[0] + 3.0
    found, shared = covariance.pairwise(X, X, scaling)
    for i in range(12):
        for j in range(12):
            both = np.isfinite(X[i]) & np.isfinite(X[j])
            assert shared[i, j] == both.sum()
            pair = whole(X[np.ix_([i, j], np.flatnonzero(both))])
            assert found[i, j] == pytest.approx(pair[0, 1] if i != j else 1.0, abs=1e-12)


def test_euclidean_distances_are_scaled_by_the_share_that_is_seen():
    X = table(9, 30)[0] + np.arange(30.0) * 1e3
    found, shared = covariance.pairwise(X, X, "euclidean")
    gaps = np.nanmean((X[0] - X[5]) ** 2)
    assert found[0, 5] == pytest.approx(-gaps, rel=1e-9)
    assert shared[0, 5] == np.isfinite(X[0] - X[5]).sum()


@pytest.mark.parametrize("affinity", ["auto", "correlation", "cosine", "covariance", "euclidean"])
def test_the_latent_is_found_in_spite_of_holes(affinity):
    lost = []
    for seed in range(3):
        X, z, whole = table(seed=seed, share=0.3)
        model = IKD(1, missing="pairwise", affinity=affinity, refine="stress").fit(X)
        without = IKD(1, affinity=affinity, refine="stress").fit_transform(whole)
        lost.append(affine_r2(z, without) - affine_r2(z, model.embedding_))
        assert np.array_equal(model.transform(X), model.embedding_)
    # Of covariances single tables lose up to .07; the mean of eight seeds is .045.
    assert np.mean(lost) < 0.05


def test_known_values_stay_and_the_others_are_near_what_they_were():
    X, _, whole = table()
    filled = filled_in(X)
    known = np.isfinite(X)
    assert np.array_equal(filled[known], X[known])
    by_mean = np.nanmean(X, axis=0) + 0.0 * X[:1]
    error = np.abs((filled - whole)[~known]).mean()
    assert error < 0.5 * np.abs((np.nan_to_num(by_mean) - whole)[~known]).mean()


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
    with pytest.raises(ValueError, match=r"contains NaN.* got 1 rows with some missing: 3;"):
        IKD(1, graph=5, refine=None).fit(np.nan_to_num(X)).transform(
            np.where(np.arange(60)[:, None] == 3, X, 0.5)
        )
    with pytest.raises(ValueError, match="missing must be one of 'error', 'pairwise'"):
        IKD(missing="drop").fit(X)
    with pytest.raises(ValueError, match="missing='pairwise' must know the observations"):
        IKD(missing="pairwise", affinity="precomputed").fit(np.eye(9))


def test_empty_rows_and_columns_and_pairs_without_overlap_are_named():
    X = table()[0]
    empty = X.copy()
    empty[7] = np.nan
    with pytest.raises(ValueError, match="every row of X must hold a value, got 1 empty: 7"):
        quick().fit(empty)
    empty = X.copy()
    empty[:, 4] = np.nan
    with pytest.raises(ValueError, match="every column of X must hold a value, got 1 empty: 4"):
        quick().fit(empty)
    model = quick().fit(X)
    few = np.where(np.arange(60) < 2, 1.0, np.nan)
    with pytest.warns(UserWarning, match=r"1 of 2 rows cannot be compared .* get NaN: 1$"):
        placed = model.transform([X[0] + 0.01, few])
    assert np.isfinite(placed).all(axis=1).tolist() == [True, False]


def test_rows_that_share_columns_with_less_than_half_of_the_others_are_named():
    apart = table()[2]
    apart[9, 2:] = np.nan
    with pytest.raises(
        ValueError,
        match=r"at least 3 columns.* got 0 of 59 rows for row 9 \(1 such rows: 9\); drop",
    ):
        quick().fit(apart)
    # Of two halves without a column in common each row shares columns with 29 others.
    apart = table()[2]
    apart[:30, 30:], apart[30:, :30] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"got 29 of 59 rows for row 0 \(60 such rows: 0, 1, 2"):
        quick().fit(apart)


@pytest.mark.parametrize("affinity", ["correlation", "euclidean"])
def test_a_pair_without_overlap_is_counted_and_placed_by_the_others(affinity):
    _, z, whole = table()
    apart = whole.copy()
    apart[2, 30:], apart[55, :29] = np.nan, np.nan
    # The two are at either end, and no edge of nothing may bring them together.
    assert abs(z[2, 0] - z[55, 0]) > 2.0
    model = IKD(1, missing="pairwise", affinity=affinity, refine="stress")
    with pytest.warns(UserWarning, match="1 of 1770 pairs of rows have fewer than 3 columns"):
        model.fit(apart)
    assert affine_r2(z, model.embedding_) > 0.9


@pytest.mark.parametrize("affinity", ["correlation", "euclidean"])
def test_two_columns_in_common_tell_nothing_of_a_pair(affinity):
    X, z, _ = table(width=30, share=0.0)
    # Two rows at either end share columns 3 and 4, in which they agree: any two rows correlate by
    # 1 or by -1 over two columns.
    X[2, 5:], X[55, :3] = np.nan, np.nan
    X[55, 3:5] = X[2, 3:5]
    model = IKD(1, missing="pairwise", affinity=affinity, refine="stress")
    with pytest.warns(UserWarning, match="1 of 1770 pairs of rows have fewer than 3 columns"):
        model.fit(X)
    assert affine_r2(z, model.embedding_) > 0.85


def test_a_model_with_holes_is_saved(tmp_path):
    X = table()[0]
    model = quick().fit(X)
    model.save(tmp_path / "x")
    assert np.array_equal(IKD.load(tmp_path / "x").transform(X), model.embedding_)
