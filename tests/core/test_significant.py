"""Effective columns, significant pairs and rows regressed out, against slow formulas and scipy."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ikd_graph import IKD, covariance, graph, model_selection
from ikd_graph.cli import main

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "battery"))

from null_tables import KINDS, following, found_and_false, null_table, planted_table


def bartlett(X):
    """Effective columns by the sum over lags, of every pair of rows."""
    X = stats.zscore(X, axis=1)
    X = X - X.mean(axis=0)
    X = X - X.mean(axis=1, keepdims=True)
    n, width = X.shape
    acf = np.array([[(row[k:] * row[: width - k]).sum() for k in range(width)] for row in X]) / (
        X**2
    ).sum(axis=1, keepdims=True)
    pairs = np.triu_indices(n, 1)
    # The mean was taken off: all lags together sum up to nothing.
    total = 1.0 + 2.0 * (acf[pairs[0], 1:] * acf[pairs[1], 1:]).sum(axis=1)
    circular = np.array([acf[:, k] + acf[:, width - k] for k in range(1, width)]).T
    ring = 1.0 + (circular[pairs[0]] * circular[pairs[1]]).sum(axis=1)
    squared = np.mean(np.corrcoef(X)[pairs] ** 2)
    return total.mean(), ring.mean() * (width - 1) / width / (1.0 + squared)


@pytest.mark.parametrize("past", [0.6, 0.9])
def test_effective_columns_are_those_of_bartletts_sum(past):
    X = following(np.random.default_rng(3), 30, 300, past)
    lags, ring = bartlett(X)
    found = covariance.effective_columns(X)
    assert found == pytest.approx(300 / ring, rel=1e-9)
    assert found == pytest.approx(300 * (1 - past**2) / (1 + past**2), rel=0.15)
    # The sum over lags alone, of which the far ones are noise.
    assert 300 / lags == pytest.approx(found, rel=0.4)


def test_order_counts_only_where_there_is_one():
    rng = np.random.default_rng(0)
    X = following(rng, 40, 500, 0.9)
    assert covariance.effective_columns(X) < 80
    assert covariance.effective_columns(X[:, rng.permutation(500)]) == 500
    assert covariance.effective_columns(rng.normal(size=(40, 500)), n_removed=3) == 497
    # The variance of correlations is that of fewer columns where these differ in scale.
    scales = np.exp(0.6 * rng.normal(size=500))
    uneven = rng.normal(size=(60, 500)) * scales
    expected = (scales**2).sum() ** 2 / (scales**4).sum()
    assert covariance.effective_columns(uneven) == pytest.approx(expected, rel=0.2)
    # Related rows, whose columns are independent.
    mixed = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 500))
    assert covariance.effective_columns(mixed) == 500
    assert covariance.effective_columns(np.ones((5, 6))) == 6
    assert covariance.effective_columns(1e200 * X) == pytest.approx(covariance.effective_columns(X))


def test_rows_are_regressed_out_as_by_least_squares():
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(6, 40)), rng.normal(size=(2, 40))
    design = np.c_[np.ones(40), others.T]
    expected = X - (design @ np.linalg.lstsq(design, X.T, rcond=None)[0]).T
    np.testing.assert_allclose(covariance.regress_out(X, others), expected, atol=1e-12)
    twice = covariance.regress_out(X, np.vstack([others, others, np.ones(40)]))
    np.testing.assert_allclose(twice, expected, atol=1e-12)
    units = (X.T - X.mean(axis=1)) / X.std(axis=1)
    np.testing.assert_allclose(
        covariance.remove_mean_row(X), covariance.regress_out(X, [units.mean(axis=1)]), atol=1e-12
    )
    with pytest.raises(ValueError, match="nuisance must have the 40 columns of X, got 39"):
        covariance.regress_out(X, others[:, 1:])


def naive_standardized(X):
    """Rows and columns of mean 0 and one variance, twice over, a loop for each step."""
    rows = np.array([row - row.mean() for row in X])
    for _ in range(2):
        rows = np.array([row / np.linalg.norm(row) for row in rows])
        columns = [column - column.mean() for column in rows.T]
        units = np.array([1.0 / np.linalg.norm(column) for column in columns])
        rows = np.transpose([column * unit for column, unit in zip(columns, units, strict=True)])
        rows = np.array([row - (row @ units) / (units @ units) * units for row in rows])
        rows = np.array([row - row.mean() for row in rows])
    return rows


def naive_significant(X, fdr, n_removed=0):
    """Pairs by scipy's tests and correction."""
    free = covariance.effective_columns(X, n_removed=n_removed) - 2
    scores = stats.norm.ppf((stats.rankdata(X, axis=1) - 0.5) / X.shape[1])
    pairs = np.triu_indices(len(X), 1)
    as_they_are = [np.corrcoef(table)[pairs] for table in (X, scores)]
    # About the mean of all, n unrelated rows correlate by -1 / (n - 1).
    z = [np.arctanh(np.corrcoef(naive_standardized(table))[pairs]) for table in (X, scores)]
    r = np.min([*as_they_are, *np.tanh(np.array(z) + np.arctanh(1 / (len(X) - 1)))], axis=0)
    p = stats.t.sf(r * np.sqrt(free / (1 - r**2)), free)
    kept = stats.false_discovery_control(p, method="by") <= fdr
    return {(int(a), int(b)) for a, b in zip(*np.array(pairs)[:, kept], strict=True)}


@pytest.mark.parametrize("past", [0.0, 0.7])
@pytest.mark.parametrize("fdr", [0.01, 0.2])
def test_significant_pairs_are_those_of_scipy(past, fdr):
    rng = np.random.default_rng(5)
    X = following(rng, 40, 300, past)
    X[:10] += 1.5 * following(rng, 1, 300, past)
    g = graph.significant_graph(X, fdr, n_removed=2)
    left, right, corr = graph.edges(g)
    expected = naive_significant(X, fdr, 2)
    assert 2 < len(expected) < 100
    assert set(zip(left.tolist(), right.tolist(), strict=True)) == expected
    np.testing.assert_allclose(corr, np.corrcoef(X)[left, right])


def test_one_day_far_out_makes_no_pair_significant():
    X = np.random.default_rng(0).normal(size=(30, 200))
    X[:, 17] += 100.0
    assert np.corrcoef(X)[0, 1] > 0.9
    assert graph.significant_graph(X).n_edges == 0


DRAWS = {
    "gaussian": lambda rng, size: rng.normal(size=size),
    "Student's t, 5": lambda rng, size: rng.standard_t(5, size=size) / np.sqrt(5.0 / 3.0),
    "uniform": lambda rng, size: rng.uniform(-1.0, 1.0, size) * np.sqrt(3.0),
}
SIZES = [(90, 60), (200, 100), (40, 400), (12, 200), (3, 300)]


def leveled(draw, size, level, seed):
    """Noise of variance 1, and columns with levels."""
    rng = np.random.default_rng(seed)
    return DRAWS[draw](rng, size) + level * rng.normal(size=size[1])


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("level", [1.0, 10.0])
def test_levels_of_columns_make_no_pair_of_noise_significant(draw, level):
    tables = [leveled(draw, size, level, seed) for size in SIZES for seed in range(4)]
    # At the rate of 5 % one of 20 is expected to have any.
    assert sum(graph.significant_graph(X, 0.05).n_edges > 0 for X in tables) <= 3
    # 5 % by the largest correlation, and as many by the largest eigenvalue.
    assert sum(model_selection.has_significant_correlation(X) for X in tables) <= 5


def test_units_of_columns_make_no_pair_of_noise_significant():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 60)) * 10.0 ** rng.uniform(-1.0, 1.0, 60)
        assert not graph.significant_graph(X, 0.05).n_edges
        assert not model_selection.has_significant_correlation(X)


@pytest.mark.parametrize("level", [0.0, 3.0])
def test_rows_that_share_a_signal_are_found_below_levels(level):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 200)) + level * rng.normal(size=200)
        X[:4] += 1.2 * rng.normal(size=200)
        X[4:8] += 1.2 * rng.normal(size=200)
        left, right, corr = graph.edges(graph.significant_graph(X))
        assert left.size >= 11
        assert ((left < 4) == (right < 4)).all()
        assert (right < 8).all()
        np.testing.assert_allclose(corr, np.corrcoef(X)[left, right])


def test_what_all_rows_share_is_no_structure_and_opposite_groups_are():
    rng = np.random.default_rng(0)
    shared, noise = rng.normal(size=500), rng.normal(size=(40, 500))
    assert not graph.significant_graph(noise + shared).n_edges
    opposite = noise + np.where(np.arange(40) < 20, 1.0, -1.0)[:, None] * shared
    left, right, _ = graph.edges(graph.significant_graph(opposite))
    assert left.size == 2 * 190
    assert ((left < 20) == (right < 20)).all()


def test_constant_rows_and_two_rows_have_no_significant_pair():
    X = leveled("gaussian", (10, 200), 5.0, 0)
    X[[2, 7]] = 1.0
    with pytest.warns(UserWarning, match="2 rows of X do not vary"):
        assert graph.significant_graph(X, 0.05).n_edges == 0
    assert graph.significant_graph(leveled("gaussian", (2, 200), 5.0, 0), 0.05).n_edges == 0
    assert not model_selection.has_significant_correlation(X[:2])
    assert graph.significant_graph(np.tile(X[:1], (4, 1))).n_edges == 0


@pytest.mark.slow
def test_null_tables_have_no_significant_pairs_and_planted_cliques_are_found():
    seeds = range(7000, 7012)
    with_edge, above = 0, []
    for number, draw in enumerate(KINDS.values()):
        for seed in seeds:
            _, edges, _, two = null_table(draw(np.random.default_rng([seed, number])), 0.01)
            with_edge += edges > 0
            above.append(two)
    assert with_edge <= 0.03 * 60
    assert max(above) < 2 * 0.0228
    for kind in ("white", "autoregressive"):
        scores = [
            found_and_false(*planted_table(np.random.default_rng(seed), kind, 4, 5), 0.01)
            for seed in seeds
        ]
        power, false = np.mean(scores, axis=0)
        assert power >= 0.8
        assert false <= 0.02


def test_thresholds_know_that_columns_follow():
    X = following(np.random.default_rng(1), 94, 1000, 0.9)
    assert not model_selection.has_significant_correlation(X)
    with pytest.warns(UserWarning, match="no two of 94 rows"):
        model = IKD(2).fit(X)
    assert model.settings_.graph.s0 == pytest.approx(5 / covariance.effective_columns(X) ** 0.5)
    assert "count as 11" in model.settings_.reasons["columns"]


def sectors(n_days=300, noise=0.8):
    rng = np.random.default_rng(0)
    shared = np.repeat(rng.normal(size=(4, n_days)), 8, axis=0)
    return shared + noise * rng.normal(size=(32, n_days))


@pytest.mark.filterwarnings("ignore:the graph has:UserWarning")
def test_the_graph_of_a_model_has_the_significant_pairs():
    X = sectors()
    model = IKD(2, graph=graph.Threshold(fdr=0.01), refine=None).fit(X)
    assert model.settings_.affinity == "correlation"
    edges = {tuple(pair) for pair in np.transpose(graph.edges(model.graph_)[:2]).tolist()}
    significant = naive_significant(X, 0.01)
    assert edges >= significant
    # Links between components were added.
    joined = model.component_labels_[np.array(sorted(edges - significant))]
    assert (joined[:, 0] != joined[:, 1]).all()
    again = IKD(**model.settings_.parameters()).fit(X)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    noise = np.random.default_rng(0).normal(size=(30, 60))
    with pytest.warns(UserWarning, match="no two rows are significantly correlated"):
        IKD(2, graph=graph.Threshold(fdr=0.01), refine=None).fit(noise)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_flags_of_common_modes_and_significance(tmp_path, capsys):
    # Too few columns for samples of the model to be told: no likelihood is searched.
    market = 2.0 * np.random.default_rng(9).normal(size=90)
    names = [f"S{k // 8}_{k}" for k in range(32)]
    days = [f"d{k}" for k in range(90)]
    table = pd.DataFrame(sectors(90, 0.4) + market, pd.Index(names, name="stock"), days)
    table.to_csv(tmp_path / "t.csv")
    read = (str(tmp_path / "t.csv"), "--index", "stock", "--output", str(tmp_path / "out"))
    assert main(["diagnose", *read]) == 0
    # What all share is named, and taking it off is tried.
    told = capsys.readouterr().out
    assert "in the mean (levels of columns, a market, a season)" in told
    assert "emoving the mean row" in told
    assert main(["diagnose", *read, "--remove-mean-row"]) == 0
    said = capsys.readouterr().out
    pairs = pd.read_csv(tmp_path / "out" / "t_pairs.csv")
    assert len(pairs) == 4 * 28
    assert (pairs.row.str[:2] == pairs.other.str[:2]).all()
    assert (
        main(
            [
                "embed",
                *read,
                "--remove-mean-row",
                "--graph",
                "threshold:fdr=0.01",
                "--refine",
                "none",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "--graph threshold:fdr=0.01,n_removed=1,prune=no" in out
    assert "--remove-mean-row" in out.split("To repeat")[1]
    assert "fdr=0.01" in out.split("To repeat")[1]
    assert main(["cliques", *read, "--graph", "threshold:fdr=0.01", "--standardize-rows"]) == 0
    # The market alone joins no two sectors.
    assert re.search(r"largest.* 8\b", capsys.readouterr().out)
    assert f"{4 * 28} significant correlations" in said


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scores_that_correlate_by_minus_one_are_no_pair():
    rows = np.zeros((30, 3))
    rows[:, :2] = 100.0 + np.random.default_rng(0).normal(size=(30, 2))
    corr = np.corrcoef(rows)
    low, high, _ = graph.edges(graph.significant_graph(rows, fdr=0.2))
    assert (corr[low, high] > 0.0).all()
