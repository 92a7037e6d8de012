"""Missing values: refused by default, or filled in from the nearest rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import procrustes
from scipy.stats import multivariate_normal
from sklearn.datasets import load_breast_cancer, load_wine
from tables import process, quiet

from ikd_graph import IKD, covariance, diagnose, gplvm, graph, kernels, missing, refine
from ikd_graph.cli import main
from ikd_graph.metrics import affine_r2


def table(n=60, width=60, seed=0, fraction=0.2, noise=0.2):
    """Samples of a Gaussian process with holes, its latent, and the table without holes."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.random(n))[:, None] * 4.0
    whole = process(z, width, noise, seed)
    X = np.where(rng.random(whole.shape) < fraction, np.nan, whole)
    return X, z, whole


def quick(**more):
    return IKD(1, missing="impute", affinity="correlation", graph=7, refine=None, **more)


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


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise", "eigen", "linear"])
@pytest.mark.parametrize("rule", ["pairwise", "impute"])
def test_rows_with_holes_are_never_dropped(rule, strategy):
    X = table(n=40, width=90, fraction=0.35)[0]
    X[7] = X[3]
    model = IKD(1, missing=rule, strategy=strategy, affinity="correlation", refine=None)
    Z = quiet(model, X).embedding_
    placed = model.transform(X[::-1])
    assert Z.shape == (len(X), 1)
    assert np.isfinite(Z).all()
    assert np.array_equal(Z[7], Z[3])
    assert np.array_equal(placed, Z[::-1])


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


@pytest.mark.parametrize("setting", [{"fit_shape": True}, {"descent": "local"}])
def test_settings_of_the_likelihood_that_need_all_pairs_are_refused_where_some_are_unknown(setting):
    X, z, _ = table(30, 60, fraction=0.05)
    model = IKD(1, missing="pairwise", affinity="correlation", refine=refine.Likelihood(**setting))
    assert affine_r2(z, model.fit(X).embedding_) > 0.9
    X[:12, 25:], X[18:, :25] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"where pairs of rows are unknown, got Likelihood\("):
        model.fit(X)


@pytest.mark.parametrize("rule", ["pairwise", "impute"])
@pytest.mark.parametrize("refined", ["auto", None])
def test_lost_cells_leave_how_rows_are_compared_and_what_is_known_of_it(rule, refined):
    X = load_wine().data
    whole = IKD(2, refine=refined).fit(X)
    X[np.random.default_rng(0).random(X.shape) < 0.01] = np.nan
    model = IKD(2, missing=rule, refine=refined).fit(X)
    assert model.settings_.affinity == whole.settings_.affinity == "standardized_euclidean"
    assert model.settings_.graph == whole.settings_.graph
    assert abs(model.agreement_ - whole.agreement_) < 0.3
    assert abs(model.held_out_r2_ - whole.held_out_r2_) < 0.1
    assert 1.0 - procrustes(model.embedding_, whole.embedding_)[2] > 0.7


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_a_pair_that_is_unknown_leaves_how_all_others_are_compared(load):
    X = load().data[::2]
    whole = IKD(2).fit(X)
    X[np.random.default_rng(3).random(X.shape) < 0.02] = np.nan
    # Two rows that share too few columns, and enough with all others.
    cut = X.shape[1] // 4 + 1
    X[4, :cut], X[9, -cut:] = np.nan, np.nan
    assert np.isfinite(X[4] + X[9]).sum() < min(20, X.shape[1] // 2)
    model = IKD(2, missing="pairwise").fit(X)
    assert model.settings_.affinity == whole.settings_.affinity != "correlation"


@pytest.mark.parametrize("rule", ["pairwise", "impute"])
def test_samples_of_the_model_with_lost_cells_have_their_likelihood_and_error_bars(rule):
    X, z, _ = table(80, 150, fraction=0.05)
    model = IKD(1, missing=rule).fit(X)
    assert model.settings_.model_based
    assert isinstance(model.settings_.refine, refine.Likelihood)
    assert affine_r2(z, model.embedding_) > 0.98
    assert 0.8 < model.reliability_ < 1.0
    placed, errors = model.transform(X[:3] + 0.01, return_std=True)
    assert np.isfinite(errors).all()
    np.testing.assert_allclose(placed, model.embedding_[:3], atol=0.3)


@pytest.mark.parametrize("time_budget", [None, 1e-9])
def test_new_rows_are_placed_after_a_likelihood_of_rows_with_holes(time_budget):
    X, _, whole = table(30, 40, fraction=0.05)
    how = refine.Likelihood(time_budget=time_budget)
    model = IKD(1, missing="pairwise", affinity="correlation", refine=how).fit(X)
    assert (model.n_iter_ < 20) == (time_budget is not None)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    for new in (1.01 * X, whole):
        assert np.abs(model.transform(new) - model.embedding_).max() < np.ptp(model.embedding_)


def test_new_rows_of_few_values_are_placed_near_by_a_linear_map_of_rows_with_holes():
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 60)) + 0.2 * rng.normal(size=(60, 60))
    X = np.where(rng.random(whole.shape) < 0.1, np.nan, whole)
    model = IKD(2, missing="pairwise").fit(X)
    assert model.settings_.strategy.name == "linear"
    new = whole[:3].copy()
    new[0, 22:], new[1, 25:] = np.nan, np.nan
    assert np.abs(model.transform(new) - model.embedding_[:3]).max() < 1.0


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
    with pytest.raises(ValueError, match=r"contains NaN.* got 1 row with missing values: 3;"):
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


def sessions(seed=0, n_sessions=3, rows=40, width=100, shared=40, noise=0.5, thin=False):
    """Sessions that share columns with their neighbors and no rows; their latent; all values."""
    rng = np.random.default_rng(seed)
    z, step = rng.uniform(size=(n_sessions * rows, 2)) * [4.0, 2.5], width - shared
    if thin:
        z[:, 1] = np.sin(2.0 * z[:, 0])
    whole = process(z, width + step * (n_sessions - 1), noise, seed)
    X = np.full(whole.shape, np.nan)
    for k in range(n_sessions):
        part = slice(k * rows, (k + 1) * rows), slice(k * step, k * step + width)
        X[part] = whole[part]
    return X, z, whole


@pytest.mark.parametrize("kind", ["correlation", "cosine", "euclidean"])
def test_a_pair_is_compared_over_the_columns_that_both_rows_have(kind):
    X = table()[0][:12]
    found = covariance.pairwise(X, kind)
    for i in range(12):
        for j in range(12):
            both = np.isfinite(X[i]) & np.isfinite(X[j])
            a, b = X[i][both], X[j][both]
            assert found.counts[i, j] == both.sum()
            expected = {
                "correlation": np.corrcoef(a, b)[0, 1],
                "cosine": a @ b / np.sqrt((a @ a) * (b @ b)),
                "euclidean": ((a - b) ** 2).mean() * X.shape[1],
            }[kind]
            assert found.values[i, j] == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(found.values, found.values.T)


def test_unknown_pairs_are_no_edges_and_change_nothing():
    X, z, _ = sessions()
    model = IKD(2, missing="pairwise", graph=0.3, refine="stress").fit(X)
    low, high, weights = graph.edges(model.graph_)
    counts = covariance.pairwise(X).counts
    assert (counts[low, high] >= 20).all()
    assert (weights > 2.5 / np.sqrt(counts[low, high])).all()
    assert affine_r2(z, model.embedding_) > 0.8
    some = IKD(2, missing=missing.Pairwise(50), graph=0.3, refine="stress")
    with pytest.raises(ValueError, match=r"at least 50 columns .* 3 groups .* has 40 rows"):
        some.fit(X)


@pytest.mark.parametrize("seed", range(3))
def test_sessions_without_a_common_row_are_nearly_as_good_as_the_whole_table(seed):
    X, z, whole = sessions(seed, rows=30)
    model = IKD(2, missing="pairwise").fit(X)
    complete = IKD(2).fit(whole)
    assert affine_r2(z, model.embedding_) > affine_r2(z, complete.embedding_) - 0.03
    assert (model.fixed_ == "fixed").all()
    back = model.inverse_transform(model.embedding_)
    known = np.isfinite(X)
    assert np.corrcoef(back[known], whole[known])[0, 1] > 0.8
    # Values that nobody measured are predicted by the rows that have the column.
    assert np.corrcoef(back[~known], whole[~known])[0, 1] > 0.7
    assert np.isfinite(model.score(X))


@pytest.mark.slow
def test_a_thin_map_is_unfolded_and_a_cheap_fold_is_named():
    found = []
    for seed in (0, 1, 3):
        X, z, _ = sessions(seed, n_sessions=5, thin=True)
        with pytest.warns(UserWarning, match="mirrored"):
            model = IKD(2, missing="pairwise").fit(X)
        found.append(affine_r2(z, model.embedding_))
        assert 0.15 < (model.fixed_ != "fixed").mean() < 0.8
        # What may be mirrored is one end of the curve, or a session.
        joints = model.joints_
        ends = [np.abs(np.corrcoef(part, z[:, 0])[0, 1]) for part in joints.parts[5:]]
        assert min(ends) > 0.5
        assert (joints.kinds[5:] != "fixed").any()
        assert "may be mirrored: that costs" in str(joints)
    assert np.median(found) > 0.95


def test_the_likelihood_of_known_entries_is_that_of_scipy():
    X, z, _ = sessions(n_sessions=2, rows=8, width=20, shared=6)
    X[3, :2] = np.nan
    fit = gplvm.fit_noise_model(z, X, kernels.SquaredExponential())
    cov = fit.variance * fit.kernel.covariance(((z[:, None] - z) ** 2).sum(axis=-1))
    cov += fit.noise * np.eye(len(X))
    expected = 0.0
    for column in X.T:
        at = np.flatnonzero(np.isfinite(column))
        expected += multivariate_normal.logpdf(column[at], cov=cov[np.ix_(at, at)])
    assert fit.log_likelihood == pytest.approx(expected, rel=1e-9)


def test_groups_without_a_common_column_are_never_joined():
    X, _, whole = sessions()
    X[:40, 100:] = np.nan
    X[40:, :100] = np.nan
    X[40:80, 100:160] = whole[40:80, 100:160]
    match = r"2 groups .* 80 rows, the others are 0, 1, "
    for strategy in ("geodesic", "blockwise"):
        with pytest.raises(ValueError, match=match):
            IKD(2, missing="pairwise", strategy=strategy).fit(X)


def test_the_order_of_rows_and_the_bits_of_a_single_row_do_not_matter():
    X, _, _ = sessions(1)
    fitted = IKD(2, missing="pairwise", refine="stress").fit(X[:100])
    order = np.random.default_rng(0).permutation(100)
    other = IKD(2, missing="pairwise", refine="stress").fit(X[order])
    np.testing.assert_allclose(other.embedding_, fitted.embedding_[order], atol=1e-8)
    placed = fitted.transform(X[100:])
    assert np.array_equal(fitted.transform(X[103:104]), placed[3:4])


def test_sparse_rows_hold_nan_where_a_value_is_unknown():
    X = table(fraction=0.1)[0]
    dense = IKD(1, missing="pairwise", refine=None).fit_transform(X)
    assert np.array_equal(
        IKD(1, missing="pairwise", refine=None).fit_transform(sp.csr_array(X)), dense
    )


def test_a_model_of_unknown_pairs_is_saved(tmp_path):
    X, _, _ = sessions()
    model = IKD(2, missing=missing.Pairwise(30)).fit(X[::2])
    model.save(tmp_path / "x")
    again = IKD.load(tmp_path / "x")
    assert np.array_equal(again.transform(X[1::2]), model.transform(X[1::2]))
    assert again.missing == model.missing or again.missing.min_columns == 30


def test_diagnose_says_how_many_pairs_are_known():
    # Too few columns for samples of the model to be told: no likelihood is searched.
    X, _, _ = sessions(rows=25, width=48, shared=24)
    diagnosis = diagnose(X, missing="pairwise")
    counts = np.isfinite(X).astype(int) @ np.isfinite(X).T
    assert (diagnosis.n_used, diagnosis.n_observed) == X.shape
    text, n_known = (
        diagnosis.findings()["known pairs"],
        (counts[np.triu_indices(75, 1)] >= 20).sum(),
    )
    assert f"{n_known} of 2775 pairs of rows share at least 20 columns" in text
    with pytest.raises(ValueError, match="NaN"):
        diagnose(X)
    masked = np.ma.masked_invalid(X)
    masked.data[np.isnan(X)] = 1e6
    assert str(diagnose(masked, missing="pairwise")) == str(diagnosis)
    assert text.endswith("holes were filled in at random")
    model = IKD(2, missing="pairwise").fit(X)
    assert diagnosis.model.settings_.refine == model.settings_.refine
    assert diagnosis.agreement == model.agreement_
    assert diagnosis.agreement > 0.7
    assert diagnosis.p_value < 0.01
    rule = missing.Pairwise(min_columns=22)
    assert (
        diagnose(X, missing=rule)
        .steps[-1]
        .python.endswith("missing=ikd_graph.missing.Pairwise(min_columns=22)).fit(X)")
    )
    assert diagnose(X, missing="impute").findings()["known pairs"] == text


@pytest.mark.parametrize("kind", ["at random", "sessions"])
def test_what_is_filled_in_makes_no_structure_of_noise(kind):
    rng = np.random.default_rng(0)
    holes = np.isnan(sessions()[0]) if kind == "sessions" else rng.random((60, 200)) < 0.3
    X = np.where(holes, np.nan, rng.normal(size=holes.shape))
    with pytest.warns(UserWarning, match="nothing to see beyond chance"):
        found = diagnose(X, missing="pairwise")
    assert found.n_trusted == 0


def test_columns_of_a_table_with_holes_are_asked_for():
    X, _, whole = table()
    model = IKD(1, missing="pairwise", refine=None).fit(X)
    with pytest.raises(ValueError, match=rf"got {np.isnan(X).sum()} missing values"):
        model.columns()
    assert len(model.columns(whole[:, :8], null="permute")) == 8
    filled = IKD(1, missing="impute", refine=None).fit(X)
    assert len(filled.columns(null="permute")) == X.shape[1]


def test_embed_of_unknown_cells_writes_all_but_the_columns(tmp_path, capsys):
    X, _, _ = table(n=40, width=40)
    file = tmp_path / "holes.csv"
    np.savetxt(file, X, delimiter=",")
    words = ["embed", str(file), "--components", "1", "--missing", "pairwise", "--refine", "none"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"holes_embedding.csv", "holes_embedding.png", "holes_report.html"} <= written
    assert "holes_columns.csv" not in written
    assert f"{np.isnan(X).sum()} missing values" in " ".join(capsys.readouterr().err.split())


def test_roots_of_negative_values_are_no_missing_values():
    X, _, _ = table()
    with pytest.raises(ValueError, match="X must not be negative for affinity='hellinger'"):
        IKD(1, missing="pairwise", affinity="hellinger").fit(X)
    model = IKD(1, missing="pairwise", affinity="hellinger", refine=None).fit(np.abs(X))
    with pytest.raises(ValueError, match="X must not be negative for affinity='hellinger'"):
        model.transform(X[:2] - 10.0)


def test_rows_that_cannot_be_compared_are_told_why():
    X, _, _ = table()
    model = IKD(1, missing="pairwise", affinity="correlation", refine=None).fit(X)
    few = np.where(np.arange(X.shape[1]) < 5, 1.0 + np.arange(X.shape[1]), np.nan)[None]
    with pytest.warns(UserWarning, match="or sharing fewer than 20 columns with each"):
        assert np.isnan(model.transform(few)).all()
    with (
        pytest.warns(UserWarning, match="get NaN: 0"),
        pytest.raises(ValueError, match="a row that transform can place, got none of 1; pass"),
    ):
        model.score(few)
    X[3] = np.where(np.isnan(X[3]), np.nan, 2.0)
    with pytest.raises(ValueError, match=r"rows of X must vary .* 1 constant row\(s\): 3; drop"):
        IKD(1, missing="pairwise", affinity="correlation").fit(X)


def test_diagnose_says_what_to_do_with_holes_at_random():
    X, _, _ = table()
    with pytest.raises(ValueError, match=r"got \d+ rows with missing values: 0, 1.*'pairwise'"):
        diagnose(X)
    X = np.where(np.eye(60, dtype=bool) | np.eye(60, k=1, dtype=bool), X, np.nan)
    X[np.isnan(X).all(axis=1), 0] = 0.0
    with pytest.raises(ValueError, match=r"related by at least 20 columns .* missing='impute'"):
        diagnose(np.where(np.eye(60, dtype=bool), 1.0, X), missing="pairwise")


def test_a_session_that_contradicts_the_others_is_free():
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(120, 2)) * [4.0, 2.5]
    elsewhere = np.random.default_rng(1).permutation(z[40:80])
    whole = process(np.vstack([z, elsewhere]), 220, 0.3, 0)
    # In the columns that it shares with the first session, rows of the second are exchanged.
    whole[40:80, :100] = whole[120:, :100]
    X = np.full((120, 220), np.nan)
    for k in range(3):
        part = slice(40 * k, 40 * k + 40), slice(60 * k, 60 * k + 100)
        X[part] = whole[part]
    with pytest.warns(UserWarning, match=r"joints left open, so that of 120 points .* freely"):
        model = IKD(2, missing="pairwise", refine="likelihood").fit(X)
    assert (model.fixed_[40:80] == "free").all()
    assert "may lie elsewhere: their correlations with other rows differ" in str(model.joints_)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [2.0**-100, 2.0**100])
def test_holes_are_filled_alike_in_any_unit(size):
    X, _, _ = table()
    X = X.astype(np.float32)
    expected = missing.fill(X, X)
    scaled = X * np.float32(size)
    np.testing.assert_array_equal(missing.fill(scaled, scaled), expected * np.float32(size))


def placed_r2(model, placed, z, new):
    """R² of latent values of new rows, by the affine map that takes the embedding to the truth."""
    design = np.column_stack([model.embedding_, np.ones(len(model.embedding_))])
    fit = np.linalg.lstsq(design, z[~new], rcond=None)[0]
    error = z[new] - np.column_stack([placed, np.ones(new.sum())]) @ fit
    return 1.0 - (error**2).sum() / ((z[new] - z[new].mean(axis=0)) ** 2).sum()


WAYS = {
    "likelihood": {"affinity": "correlation", "refine": "likelihood"},
    "closed form": {"affinity": "correlation", "graph": 7, "refine": None},
    "distances": {"affinity": "euclidean", "strategy": "geodesic"},
    "standardized": {"affinity": "standardized_euclidean", "strategy": "geodesic"},
    "projection": {"strategy": "linear", "affinity": "euclidean"},
    "all pairs": {"strategy": "eigen", "affinity": "correlation", "refine": None},
}


@pytest.fixture(scope="module", params=WAYS)
def placing(request):
    """A way to fit, points, their rows, which of them are new, and a fit of the others."""
    z = np.random.default_rng(1).uniform(size=(80, 2)) * [2.0, 1.5]
    whole, new = process(z, 80, 0.2, 1), np.arange(80) >= 55
    return request.param, z, whole, new, quiet(IKD(2, **WAYS[request.param]), whole[~new])


@pytest.mark.parametrize("rule", ["pairwise", "impute"])
@pytest.mark.filterwarnings("ignore:.*covariance <= 0")
def test_rows_with_holes_are_placed_by_a_fit_without_any(placing, rule, tmp_path):
    way, z, whole, new, plain = placing
    holes = np.random.default_rng(1).random((25, 80)) < 0.3
    X = np.where(holes, np.nan, whole[new])
    model = IKD(2, missing=rule, **WAYS[way]).fit(whole[~new])
    assert np.abs(model.embedding_ - plain.embedding_).max() < 1e-10
    assert np.array_equal(model.transform(whole[new]), plain.transform(whole[new]))
    placed = model.transform(X)
    best = placed_r2(plain, plain.transform(whole[new]), z, new)
    assert placed_r2(model, placed, z, new) > best - 0.03
    # Each by itself, whatever the other rows have.
    assert np.array_equal(model.transform(X[3:4]), placed[3:4])
    mixed = np.vstack([whole[new][:2], X[3:5]])
    assert np.array_equal(model.transform(mixed)[2:], placed[3:5])
    assert model.score(X) == pytest.approx(plain.score(whole[new]), abs=25.0)
    assert np.median(model.placement_residuals(X)) < np.ptp(model.embedding_)
    model.save(tmp_path / "x")
    assert np.array_equal(IKD.load(tmp_path / "x").transform(X), placed)
    if way == "likelihood":
        usual = plain.transform(whole[new], return_std=True)[1]
        errors = model.transform(X, return_std=True)[1]
        wider = np.median(errors / usual)
        assert 1.03 < wider < 1.2 if rule == "pairwise" else 0.9 < wider < 1.1


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_row_of_few_values_cannot_be_placed_by_a_fit_without_holes(kind):
    whole = table()[2]
    model = IKD(1, missing="pairwise", affinity="euclidean", refine=None).fit(whole)
    X = whole[:3] + 0.01
    X[0, 3] = X[1, 20:] = X[2, 19:] = np.nan
    with pytest.warns(UserWarning, match=r"1 of 3 rows .* fewer than 20 columns .* get NaN: 2$"):
        placed = model.transform(sp.csr_array(X) if kind == "sparse" else X)
    assert np.isfinite(placed).ravel().tolist() == [True, True, False]
    np.testing.assert_allclose(placed[:2], model.embedding_[:2], atol=0.2)


def test_holes_in_a_large_sparse_row_are_unknown(monkeypatch):
    from ikd_graph._base import limits

    monkeypatch.setattr(limits, "DENSE_ENTRIES", 100)
    rng = np.random.default_rng(0)
    whole = rng.poisson(np.exp(table(width=200)[2])) * 1.0
    model = IKD(1, missing="pairwise", affinity="cosine", graph=7).fit(sp.csr_array(whole[:50]))
    X = np.where(rng.random((10, 200)) < 0.1, np.nan, whole[50:])
    off = model.transform(sp.csr_array(X)) - model.transform(sp.csr_array(whole[50:]))
    assert np.abs(off).max() < 0.2 * np.ptp(model.embedding_)


def stations(seed=0):
    """Stations that all have 60 days, one of which has every day."""
    X = process(np.linspace(0.0, 3.0, 39)[:, None], 400, 0.3, seed)
    holes = np.random.default_rng(seed).random(X.shape) < 0.3
    holes[0] = holes[:, :60] = False
    return np.where(holes, np.nan, X)


def test_a_diagnosis_is_of_all_rows_and_columns():
    X = stations()
    with pytest.warns(UserWarning, match="at most neighborhoods"):
        diagnosis = diagnose(X, 1, missing="pairwise")
    assert (diagnosis.n_used, diagnosis.n_observed) == (39, 400)
    model = IKD("auto", missing="pairwise").fit(X)
    assert model.n_components_ <= 2
    assert "by held-out columns" in model.settings_.reasons["n_components"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_holes_are_filled_alike_at_any_level(dtype):
    X = table()[0].round(3)
    level = dtype(4096.0) if dtype is np.float32 else 1e8
    filled = missing.fill(X.astype(dtype) + level, X.astype(dtype) + level) - level
    np.testing.assert_allclose(filled, missing.fill(X, X), atol=2e-3)


def test_what_was_filled_in_is_no_evidence(tmp_path):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 40)) < 0.3, np.nan, rng.normal(size=(60, 40)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(2, missing="impute").fit(X)
        found = diagnose(X, missing="impute").chance
        filled = IKD(2).fit(missing.fill(X, X)).trust_.chance
    assert model.trust_.chance == found
    assert found.p_value > 0.05 > filled.p_value
    model.save(tmp_path / "m.ikd")
    assert IKD.load(tmp_path / "m.ikd").trust_.chance == found
