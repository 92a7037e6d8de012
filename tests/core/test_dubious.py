"""Rows that lie wrong on a map are found; right maps, correlated noise and factors give few."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.signal import lfilter
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

import ikd_graph
from ikd_graph._base import limits
from ikd_graph.plotting import plot


def surface(seed=0, n=250, p=80, sd=0.5):
    """Positions on a bent surface, and columns of one variance with noise of their own."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1.0, 1.0, size=(n, 2))
    bent = np.column_stack([Z, np.sin(2.5 * Z[:, 0]), np.cos(2.5 * Z[:, 1])])
    X = bent @ rng.normal(size=(4, p))
    return Z, X / X.std(axis=0) + sd * rng.normal(size=X.shape)


def misplaced(Z, seed=0):
    """Map on which a tenth of the rows changed places, and those that moved far."""
    rng = np.random.default_rng(seed)
    rows, moved = rng.choice(len(Z), len(Z) // 10, replace=False), Z.copy()
    moved[rows] = Z[np.roll(rows, 1)]
    return moved, np.linalg.norm(moved - Z, axis=1)


def along(rng, shape, past, axis):
    """Autoregressive noise of variance one."""
    noise = lfilter([1.0], [1.0, -past], rng.normal(size=shape), axis=axis)
    return np.sqrt(1.0 - past**2) * noise


@pytest.mark.parametrize(("sd", "power"), [(0.5, 0.8), (1.0, 0.5)])
def test_misplaced_rows_are_found_and_others_are_not(sd, power):
    found, false = [], []
    for seed in range(6):
        Z, X = surface(seed, sd=sd)
        assert not ikd_graph.dubious(Z, X).mask.any()
        wrong, far = misplaced(Z, seed)
        dubious = ikd_graph.dubious(wrong, X)
        found.append(dubious.mask[far > 0.6].mean())
        false.append(dubious.mask[far == 0.0].sum() / max(dubious.n_dubious, 1))
        assert dubious.excess[far > 0.6].mean() > 0.2 > abs(dubious.excess[far == 0.0].mean())
    assert np.mean(found) >= power
    assert np.mean(false) <= 0.05


def test_right_rows_among_many_misplaced_ones_are_not_dubious():
    rng = np.random.default_rng(0)
    line = rng.uniform(size=(600, 1))
    X = np.sin(2.0 * np.pi * line * rng.uniform(0.5, 2.0, 200) + rng.uniform(0.0, 6.0, 200))
    X = X / X.std(axis=0) + 0.3 * rng.normal(size=X.shape)
    rows, wrong = rng.choice(600, 120, replace=False), line.copy()
    wrong[rows] = line[np.roll(rows, 1)]
    dubious, far = ikd_graph.dubious(wrong, X), np.abs(wrong - line)[:, 0]
    assert dubious.mask[far > 0.3].all()
    assert not dubious.mask[far == 0.0].any()


def test_rows_of_a_kind_that_are_strewn_over_the_map_are_found():
    Z, X = surface()
    X[:6] += 3.0 * np.random.default_rng(0).normal(size=80)
    assert np.flatnonzero(ikd_graph.dubious(Z, X).mask).tolist() == [*range(6)]


def test_p_values_of_a_right_map_are_rarely_small():
    p_values = [ikd_graph.dubious(*surface(seed, sd=1.0)).p_values for seed in range(5)]
    p_values += [ikd_graph.dubious(*surface(9, n=20, p=8)).p_values]
    for level in (0.01, 0.05):
        assert np.mean(np.concatenate(p_values) <= level) <= level
    white = np.random.default_rng(0).normal(size=(200, 42))
    assert ikd_graph.dubious(white[:, :2], white[:, 2:]).n_dubious == 0


NOISE = {
    "along columns": lambda rng, shape: along(rng, shape, 0.9, 1),
    "along rows": lambda rng, shape: along(rng, shape, 0.9, 0),
    "a factor": lambda rng, shape: (
        0.5 * rng.normal(size=shape) + np.outer(*(rng.normal(size=size) for size in shape))
    ),
    "levels of rows": lambda rng, shape: (
        0.5 * rng.normal(size=shape) + 2.0 * rng.normal(size=(shape[0], 1))
    ),
    "heavy tails": lambda rng, shape: 0.5 * rng.standard_t(2, size=shape),
    "rare values": lambda rng, shape: 20.0 * (rng.random(shape) < 0.005),
}


@pytest.mark.parametrize("kind", NOISE)
def test_noise_that_is_not_independent_makes_few_rows_dubious(kind):
    fractions = []
    for seed in range(5):
        Z, X = surface(seed, sd=0.0)
        noise = NOISE[kind](np.random.default_rng(100 + seed), X.shape)
        fractions.append(ikd_graph.dubious(Z, X + noise).mask.mean())
    assert np.mean(fractions) <= 0.01


def test_rare_ones_and_missing_dimensions_make_few_rows_dubious():
    rare, lacking = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z, X = surface(seed, sd=1.0)
        rare.append(ikd_graph.dubious(Z, (X > 2.5) * 1.0).mask.mean())
        Z = rng.normal(size=(300, 2))
        covariance = np.exp(-0.5 * cdist(Z, Z, "sqeuclidean")) + 1e-8 * np.eye(300)
        X = np.linalg.cholesky(covariance) @ rng.normal(size=(300, 120))
        X += 0.3 * rng.normal(size=X.shape)
        lacking.append(ikd_graph.dubious(PCA(2).fit_transform(X), X).mask.mean())
    assert np.mean(rare) <= 0.01
    assert np.mean(lacking) <= 0.02


def test_walks_clusters_and_copies_make_few_rows_dubious():
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(200, 60)).cumsum(axis=0)
    assert ikd_graph.dubious(PCA(2).fit_transform(walks), walks).mask.mean() <= 0.01
    kinds = np.repeat(np.arange(4), [100, 60, 35, 5])
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    X = rng.normal(size=(4, 60))[kinds] + rng.normal(size=(200, 60))
    assert ikd_graph.dubious(centers[kinds] + rng.normal(size=(200, 2)), X).mask.mean() <= 0.01
    Z, X = surface()
    copies = rng.integers(0, 100, 250)
    assert ikd_graph.dubious(Z[copies], X[copies]).mask.mean() <= 0.01


def test_units_and_the_order_of_rows_and_columns_change_nothing():
    Z, X = surface()
    Z, rng = misplaced(Z)[0], np.random.default_rng(1)
    dubious = ikd_graph.dubious(Z, X)
    scaled = ikd_graph.dubious(100.0 * Z - 3.0, X * np.exp(3.0 * rng.normal(size=80)) + 50.0)
    np.testing.assert_allclose(scaled.p_values, dubious.p_values, atol=1e-9)
    rows, columns = rng.permutation(250), rng.permutation(80)
    turned = ikd_graph.dubious(Z[rows], X[rows][:, columns])
    np.testing.assert_allclose(turned.p_values, dubious.p_values[rows], atol=1e-9)
    constant = ikd_graph.dubious(Z, np.column_stack([np.full(250, 7.0), X]))
    np.testing.assert_allclose(constant.p_values, dubious.p_values, atol=1e-9)


def test_rows_go_together_by_name_and_keep_their_names():
    Z, X = surface()
    names = [f"cell {row}" for row in range(250)]
    table = pd.DataFrame(X, index=names)
    Z = pd.DataFrame(misplaced(Z)[0], index=names)
    dubious = ikd_graph.dubious(Z, table.sample(frac=1.0, random_state=0))
    np.testing.assert_array_equal(dubious.p_values, ikd_graph.dubious(Z.to_numpy(), X).p_values)
    frame = dubious.to_pandas()
    assert frame.index.tolist() == names
    assert frame.columns.tolist() == ["p_value", "q_value", "excess", "dubious"]
    assert frame["dubious"].tolist() == (frame["q_value"] <= 0.05).tolist()


@pytest.mark.parametrize("fraction", [0.1, 0.6])
def test_missing_values_are_left_out(fraction):
    Z, X = surface(p=160)
    X[np.random.default_rng(0).random(X.shape) < fraction] = np.nan
    before = X.copy()
    assert not ikd_graph.dubious(Z, X).mask.any()
    wrong, far = misplaced(Z)
    assert ikd_graph.dubious(wrong, X).mask[far > 0.6].mean() > 0.8
    np.testing.assert_array_equal(X, before)
    # Sessions that share some columns.
    X[:125, :60], X[125:, 100:] = np.nan, np.nan
    assert ikd_graph.dubious(Z, X).mask.mean() <= 0.01


@pytest.mark.parametrize("affinity", ["auto", "euclidean", "correlation"])
def test_sparse_counts_give_what_dense_ones_give(affinity, monkeypatch):
    Z, X = surface(p=120, sd=0.0)
    rng = np.random.default_rng(0)
    depth = np.exp(0.5 * rng.normal(size=(250, 1)))
    counts = rng.poisson(depth * np.exp(X)).astype(float)
    wrong, far = misplaced(Z)
    dense = ikd_graph.dubious(wrong, counts, affinity=affinity)
    monkeypatch.setattr(limits, "DENSE_ENTRIES", 0)
    sparse = ikd_graph.dubious(wrong, sp.coo_array(counts), affinity=affinity)
    np.testing.assert_allclose(sparse.p_values, dense.p_values, atol=1e-9)
    if affinity != "euclidean":
        assert dense.mask[far > 0.6].mean() > 0.6
        assert dense.mask[far == 0.0].sum() <= 1
        assert not ikd_graph.dubious(Z, counts, affinity=affinity).mask.any()


def test_levels_of_rows_do_not_count_where_rows_are_compared_by_correlation():
    Z, X = surface()
    X += 9.0 * np.random.default_rng(0).normal(size=(250, 1))
    wrong, far = misplaced(Z)
    assert ikd_graph.dubious(wrong, X, affinity="correlation").mask[far > 0.6].mean() > 0.6
    assert ikd_graph.dubious(Z, X, affinity="correlation").n_dubious == 0
    assert ikd_graph.dubious(Z, X).is_contradicted


def test_new_rows_are_judged_alone_among_those_of_the_map():
    Z, X = surface(n=300)
    wrong, far = misplaced(Z, 1)
    known, new = slice(0, 250), slice(250, 300)
    dubious = ikd_graph.dubious(Z[known], X[known], new=(wrong[new], X[new]))
    assert len(dubious) == len(dubious.embedding) == 50
    assert dubious.mask[far[new] > 0.6].mean() > 0.8
    assert not dubious.mask[far[new] == 0.0].any()
    alone = ikd_graph.dubious(Z[known], X[known], new=(wrong[new][:1], X[new][:1]))
    np.testing.assert_allclose(alone.p_values, dubious.p_values[:1], atol=1e-12)
    table = pd.DataFrame(X, columns=[f"gene {k}" for k in range(80)])
    other = ikd_graph.dubious(
        Z[known], table[known], new=(wrong[new], table[new][table.columns[::-1]])
    )
    np.testing.assert_allclose(other.p_values, dubious.p_values, atol=1e-12)
    with pytest.raises(ValueError, match="X_new must have the 80 columns"):
        ikd_graph.dubious(Z[known], X[known], new=(wrong[new], X[new][:, :9]))


def test_a_map_that_is_wrong_everywhere_is_told():
    Z, X = surface()
    wrong = ikd_graph.dubious(np.random.default_rng(0).permutation(Z), X)
    assert wrong.is_contradicted
    assert repr(wrong).startswith("The map as a whole lacks most of what columns share: ")
    assert wrong.r2_map < 0.1 < 0.6 < wrong.r2_data
    assert not ikd_graph.dubious(Z, X).is_contradicted
    noise = np.random.default_rng(0).normal(size=X.shape)
    dubious = ikd_graph.dubious(Z, noise)
    assert not dubious.is_contradicted
    assert "nothing beyond chance" in repr(dubious)


def test_a_method_is_judged_by_its_map_and_by_halves_of_the_columns():
    calls = []

    def method(table):
        calls.append(table)
        return PCA(2, random_state=0).fit_transform(table)

    table = pd.DataFrame(surface()[1], index=[f"r{row}" for row in range(250)])
    dubious = ikd_graph.dubious(method, table)
    assert [type(each) for each in calls] == 7 * [pd.DataFrame]
    assert [each.shape[1] for each in calls] == [80, *6 * [40]]
    for first, second in zip(calls[1::2], calls[2::2], strict=True):
        assert {*first.columns, *second.columns} == {*table.columns}
    np.testing.assert_array_equal(dubious.embedding, PCA(2, random_state=0).fit_transform(table))
    assert len(dubious.agreements) == 3
    assert 0.0 < min(dubious.agreements) < max(dubious.agreements) <= 1.0
    assert dubious.sentences()[1:] == dubious.trust.sentences()
    assert "agreement of halves" in repr(dubious)
    assert dubious.to_pandas().index[0] == "r0"
    given = ikd_graph.dubious(dubious.embedding, table)
    np.testing.assert_array_equal(given.p_values, dubious.p_values)
    assert "p value 0.005" in repr(given)
    assert "halves" not in repr(given)


def test_dubious_rows_are_ringed_in_the_picture():
    Z, X = surface()
    wrong, far = misplaced(Z)
    dubious = ikd_graph.dubious(wrong, X)
    ax = dubious.plot(color=far, ax=plot.axes())
    rings = [each for each in ax.collections if each.get_label() == "dubious"]
    np.testing.assert_allclose(rings[0].get_offsets(), wrong[dubious.mask])


Z, X = surface()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((Z[:19], X[:19]), "at least 20 rows .* got n_samples = 19"),
        ((Z, X[:, :7]), "8 column"),
        ((Z, np.repeat(X[:, :6], 3, axis=1)), "at least 8 different columns"),
        ((Z, np.ones((250, 9))), "at least 8 different columns .* got fewer among 0 that vary"),
        ((Z[1:], X), "a row for each of the 250 rows .* got 249"),
        ((np.where(Z > 0.9, np.nan, Z), X), "leave out rows that are not on the map"),
        ((Z, np.where(X > 1.0, np.inf, X)), "X contains infinity"),
        ((lambda table: table[:9], X), "Z must have a row for each of the 250 rows"),
        ((Z, np.where(np.arange(80) == 3, np.nan, X)), "every column of X must hold a value"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_the_cure(given, message):
    with pytest.raises(ValueError, match=message):
        ikd_graph.dubious(*given)


def test_names_of_affinities_and_nulls_are_checked():
    with pytest.raises(ValueError, match="affinity"):
        ikd_graph.dubious(Z, X, affinity="near")
    with pytest.raises(ValueError, match="null"):
        ikd_graph.dubious(Z, X, null="none")
    with pytest.raises(ValueError, match="must not be negative"):
        ikd_graph.dubious(Z, X, affinity="hellinger")


def test_new_rows_and_rows_of_a_method_go_by_name():
    rng = np.random.default_rng(5)
    Z = rng.uniform(-2.0, 2.0, (80, 2))
    X = np.sin(Z @ rng.normal(size=(2, 40))) + 0.3 * rng.normal(size=(80, 40))
    names = [f"r{k}" for k in range(80)]
    points, frame = pd.DataFrame(Z, names), pd.DataFrame(X, names).add_prefix("c")
    old, new = slice(0, 60), slice(60, 80)
    one, two = (
        ikd_graph.dubious(points[old], frame[old], new=(points[new], rows))
        for rows in (frame[new], frame[new].iloc[::-1])
    )
    np.testing.assert_allclose(one.p_values, two.p_values, rtol=1e-9)
    assert list(two.to_pandas().index) == names[60:]
    itself = ikd_graph.dubious(points, frame)
    of_method = ikd_graph.dubious(lambda table: points.loc[table.index[::-1]], frame)
    np.testing.assert_allclose(of_method.p_values, itself.p_values, rtol=1e-9)
    with pytest.raises(ValueError, match="must be a pair"):
        ikd_graph.IKD(refine=None, graph=8).fit(frame).dubious(new=(Z, X, X))


def test_a_row_more_than_are_sampled_changes_little():
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2.0, 2.0, (2001, 2))
    X = np.sin(Z @ rng.normal(size=(2, 40))) + 0.5 * rng.normal(size=(2001, 40))
    Z[:200] = Z[rng.permutation(200)]
    one, more = (ikd_graph.dubious(Z[:n], X[:n]) for n in (2000, 2001))
    both = one.mask | more.mask[:2000]
    assert both.sum() > 100
    assert (one.mask & more.mask[:2000]).sum() > 0.9 * both.sum()
