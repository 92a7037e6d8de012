"""Which columns make a map: found ones, their axes, what they change by, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.signal import lfilter
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from tables import quiet

import ikd_graph
from ikd_graph import IKD, kernels


def planted(n=250, p=60, seed=0):
    """Map, and columns: 0 to 4 along axis 1, 5 to 9 along axis 2, the others noise."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1.5, 1.5, size=(n, 2))
    X = rng.normal(size=(n, p))
    X[:, :5] += 2.0 * np.sin(Z[:, :1] + rng.uniform(-0.5, 0.5, 5))
    X[:, 5:10] += 2.0 * np.sin(Z[:, 1:] + rng.uniform(-0.5, 0.5, 5))
    return Z, X


def test_planted_columns_are_found_with_their_axes():
    found = ikd_graph.columns(*planted())
    assert set(range(10)) <= set(found.position[found.q_value <= 0.05].tolist())
    assert found.n_significant <= 12
    assert set(found.top(0)) == {f"x{k}" for k in range(5)}
    assert set(found.top(1)) == {f"x{k}" for k in range(5, 10)}
    assert "dimension 1: x" in repr(found)
    truth = (found.position[:10] < 5).astype(float)
    assert np.mean(np.abs(found.fraction[:10, 0] - truth) <= 2.0 * found.fraction_se[:10, 0]) >= 0.9


def test_noise_gives_few_columns():
    counts = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = ikd_graph.columns(rng.normal(size=(80, 2)), rng.normal(size=(80, 50)))
        counts.append(found.n_significant > 0)
    # A rate of 5 % for any discovery: six of twenty would come once in three thousand runs.
    assert sum(counts) <= 5


def test_predictions_are_those_of_scikit_learn_with_rows_left_out_one_at_a_time():
    Z, X = planted(n=60, p=12)
    kernel = kernels.SquaredExponential(length_scale=1.2)
    found = ikd_graph.columns(Z, X, kernel=kernel)
    for rank in (0, 5):
        y = X[:, found.position[rank]]
        # The noise ratio of largest likelihood is one of a grid: the nearest fits as well.
        scores = []
        for ratio in np.logspace(-3, 4, 15):
            loo = [
                GaussianProcessRegressor(100.0 * RBF(1.2), alpha=100.0 * ratio, optimizer=None)
                .fit(np.delete(Z, i, 0), np.delete(y, i) - np.delete(y, i).mean())
                .predict(Z[[i]])[0]
                + np.delete(y, i).mean()
                for i in range(60)
            ]
            around = [(y[i] - np.delete(y, i).mean()) ** 2 for i in range(60)]
            scores.append(1.0 - np.sum((y - loo) ** 2) / np.sum(around))
        assert np.abs(np.array(scores) - found.r2[rank]).min() < 0.02


def test_slopes_at_the_center_and_changes_are_those_of_a_plane():
    rng = np.random.default_rng(1)
    Z = rng.uniform(-1, 1, size=(400, 2))
    X = np.column_stack([3.0 * Z[:, 0] - Z[:, 1], rng.normal(size=400)])
    X[:, 0] += 0.1 * rng.normal(size=400)
    found = ikd_graph.columns(Z, X, where=[[-0.5, 0.0], [0.5, 0.0]])
    assert found.names[0] == "x0"
    np.testing.assert_allclose(found.slope[0], [3.0, -1.0], atol=0.3)
    assert abs(found.change[0] - 3.0) < 4.0 * found.change_se[0] < 0.3
    assert found.change_q[0] < 1e-6 < 0.01 < found.change_q[1]
    np.testing.assert_allclose(found.fraction[0], [0.9, 0.1], atol=0.02)


def test_two_rows_name_a_path_and_a_mask_names_a_region():
    Z, X = planted()
    ends = ikd_graph.columns(Z, X, where=[3, 8])
    by_place = ikd_graph.columns(Z, X, where=Z[[3, 8]])
    np.testing.assert_array_equal(ends.change, by_place.change)
    inside = Z[:, 0] > 0.0
    region = ikd_graph.columns(Z, X, where=inside)
    alone = ikd_graph.columns(Z[inside], X[inside])
    np.testing.assert_allclose(region.r2, alone.r2)


def test_sparse_tables_frames_and_arrays_give_the_same():
    Z, X = planted(n=120, p=20)
    X = np.where(X > 1.0, np.rint(X), 0.0)
    dense = ikd_graph.columns(Z, X)
    sparse = ikd_graph.columns(Z, sp.csr_array(X))
    frame = ikd_graph.columns(Z, pd.DataFrame(X, columns=[f"gene {k}" for k in range(20)]))
    np.testing.assert_allclose(dense.r2, sparse.r2)
    np.testing.assert_allclose(dense.p_value, frame.p_value)
    assert frame.names[0] == f"gene {dense.position[0]}"


def test_units_and_levels_of_columns_do_not_matter():
    Z, X = planted(n=100, p=15)
    units = 10.0 ** np.arange(-7, 8)
    plain, scaled = ikd_graph.columns(Z, X), ikd_graph.columns(Z, X * units + 5.0 * units)
    np.testing.assert_allclose(np.sort(plain.r2), np.sort(scaled.r2), atol=1e-6)
    np.testing.assert_allclose(plain.fraction[:5], scaled.fraction[:5], atol=1e-4)


def test_a_turned_map_turns_the_fractions():
    Z, X = planted()
    straight, turned = ikd_graph.columns(Z, X), ikd_graph.columns(Z[:, ::-1], X)
    np.testing.assert_allclose(straight.r2, turned.r2, atol=1e-6)
    np.testing.assert_allclose(straight.fraction[:10], turned.fraction[:10, ::-1], atol=1e-5)


def test_rows_that_follow_in_time_do_not_make_drifting_columns_significant():
    rng = np.random.default_rng(4)
    # A map that moves slowly, and columns that do so on their own.
    series = lfilter([1.0], [1.0, -0.95], rng.normal(size=(700, 62)), axis=0)[-400:]
    Z, X = series[:, :2], series[:, 2:]
    with pytest.warns(UserWarning, match="null='permute'"):
        shifted = ikd_graph.columns(Z, X)
    assert shifted.n_significant <= 6
    assert ikd_graph.columns(Z, X, null="permute").n_significant > 50


def found_falsely(found, n_related):
    """Numbers of related and unrelated columns that were found; the first are related."""
    positions = found.position[found.q_value <= 0.05]
    return np.sum(positions < n_related), np.sum(positions >= n_related)


def test_noise_of_unequal_rows_makes_no_columns():
    rng = np.random.default_rng(0)
    rows = np.exp(0.8 * rng.normal(size=(250, 1)))
    Z = rng.uniform(size=(250, 2))
    X = rows * rng.normal(size=(250, 200))
    X[:, :60] += 1.5 * np.sin(6.0 * Z @ rng.normal(size=(2, 60)) + rng.uniform(0.0, 6.0, 60))
    related, unrelated = found_falsely(quiet(IKD(2, refine="stress"), X).columns(), 60)
    assert related >= 50
    assert unrelated <= 0.1 * related


def test_noise_that_grows_along_the_map_hides_nothing_and_makes_nothing():
    counts = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Z = rng.uniform(size=(200, 2))
        X = np.exp(2.0 * Z[:, :1]) * rng.normal(size=(200, 60))
        X[:, :20] += np.sin(5.0 * Z[:, 1:] + rng.uniform(0.0, 6.0, 20))
        counts.append(found_falsely(ikd_graph.columns(Z, X), 20))
    related, unrelated = np.sum(counts, axis=0)
    assert related >= 140
    assert unrelated <= 0.1 * related


@pytest.mark.parametrize("n_factors", [1, 2, 4])
def test_columns_that_repeat_one_another_are_not_taken_for_noise_of_rows(n_factors):
    counts = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, n_factors)) @ rng.normal(size=(n_factors, 24))
        X += 0.05 * rng.normal(size=X.shape)
        counts.append(ikd_graph.columns(rng.uniform(size=(200, 2)), X).n_significant > 0)
    assert sum(counts) <= 4


def test_sensors_of_one_period_cannot_be_told_by_shifts():
    rng = np.random.default_rng(0)
    turns = 2.0 * np.pi * np.arange(400)[:, None] / 40.0 * rng.integers(1, 3, 24)
    X = np.sin(turns + rng.uniform(0.0, 6.0, 24)) + 0.2 * rng.normal(size=(400, 24))
    model = quiet(IKD(2, refine="stress"), X)
    with pytest.warns(UserWarning, match="columns that were shifted"):
        found = model.columns()
    assert "none of 24 columns can be shown to be related to the map" in repr(found)
    assert "0 of 24" not in repr(found)
    assert "24 of 24 columns are related" in repr(model.columns(null="permute"))


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_a_map_of_correlations_sees_no_levels_of_rows(stored, monkeypatch):
    monkeypatch.setattr("ikd_graph._base.limits.DENSE_ENTRIES", 1)
    rng = np.random.default_rng(2)
    Z = rng.uniform(size=(150, 2))
    X = 0.7 * rng.normal(size=(150, 65)) + 5.0 * rng.normal(size=(150, 1))
    X[:, :45] += np.sin(4.0 * Z @ rng.normal(size=(2, 45)) + rng.uniform(0.0, 6.0, 45))
    model = quiet(IKD(2, affinity="correlation", refine="stress"), stored(X))
    related, unrelated = found_falsely(model.columns(), 45)
    assert related >= 36
    assert unrelated <= 4


def test_means_of_columns_make_no_columns_of_a_map_of_correlations():
    rng = np.random.default_rng(0)
    Z, rates = rng.uniform(size=(200, 2)), np.exp(rng.uniform(-2.0, 1.0, 120))
    X = rng.poisson(rates, (200, 120)).astype(float)
    X[:, :40] += 3.0 * np.sin(5.0 * Z @ rng.normal(size=(2, 40)) + rng.uniform(0.0, 6.0, 40))
    model = quiet(IKD(2, affinity="correlation", refine="stress"), X)
    related, unrelated = found_falsely(model.columns(), 40)
    assert related >= 36
    assert unrelated <= 0.1 * related


def test_a_column_of_two_values_far_apart_is_not_found():
    rng = np.random.default_rng(0)
    Z, X = rng.normal(size=(200, 2)), rng.normal(size=(200, 80))
    X[:, 0] = 0.0
    nearest = np.argsort(cdist(Z[:1], Z)[0])[:2]
    X[nearest, 0] = 1.0
    found = ikd_graph.columns(Z, X)
    assert found.q_value[found.position == 0][0] > 0.05


def test_constant_columns_are_counted_and_kept():
    Z, X = planted(n=60, p=12)
    X[:, 3] = 7.0
    with pytest.warns(UserWarning, match="1 of 12 columns of X are constant"):
        found = ikd_graph.columns(Z, X)
    at = found.names.index("x3")
    assert (found.r2[at], found.p_value[at]) == (0.0, 1.0)
    assert np.isnan(found.fraction[at]).all()
    assert len(found) == 12


def test_a_constant_column_makes_no_map_of_correlations():
    X = planted()[1]
    X[:, 50] = 3.14
    model = IKD(2, affinity="correlation", strategy="geodesic", refine=None).fit(X)
    with pytest.warns(UserWarning, match="1 of 60 columns of X are constant"):
        found = model.columns()
    assert found.p_value[found.position == 50] == [1.0]


def test_errors_of_the_map_widen_those_of_the_fractions():
    Z, X = planted()
    plain = ikd_graph.columns(Z, X)
    widened = ikd_graph.columns(Z, X, errors=np.full(Z.shape, 0.3))
    assert np.all(widened.fraction_se[:10] >= plain.fraction_se[:10])
    assert widened.fraction_se[:10].mean() > 1.05 * plain.fraction_se[:10].mean()


def test_the_model_names_its_columns():
    latent = np.random.default_rng(0).uniform(size=(80, 2))
    waves = np.sin(4.0 * latent @ np.random.default_rng(1).normal(size=(2, 30)))
    X = pd.DataFrame(waves, columns=[f"sensor {k}" for k in range(30)])
    X["nothing"] = np.random.default_rng(2).normal(size=80)
    model = quiet(IKD(2, refine="stress"), X)
    found = model.columns()
    assert found.names[-1] == "nothing"
    assert found.to_pandas().shape == (31, 5 + 2 * 3)
    assert model.columns(waves[:, :4]).names[0].startswith("x")


def test_inputs_are_not_changed_and_runs_repeat():
    Z, X = planted(n=60, p=10)
    before = X.copy()
    first, second = ikd_graph.columns(Z, X), ikd_graph.columns(Z, X)
    np.testing.assert_array_equal(first.p_value, second.p_value)
    np.testing.assert_array_equal(X, before)


def test_pictures_show_the_columns():
    found = ikd_graph.columns(*planted(n=100, p=20))
    ax = found.plot()
    assert set(found.names[:3]) <= {text.get_text() for text in ax.texts}
    first = found.plot("surfaces", n=3)
    assert first.get_title(loc="left") == found.names[0]
    one = ikd_graph.columns(planted(n=100)[0][:, :1], planted(n=100)[1])
    assert one.plot().get_xlabel() == "row"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((9, 3))}, "X must have a row for each of the 10 rows of Z, got 9"),
        ({"names": ["a"]}, "names must be one for each of 3 columns"),
        ({"where": [0, 30]}, "where"),
        ({"where": [0.5, 3.0, 1.0]}, "where must be True or False"),
        ({"where": np.arange(10) < 2}, "at least 10 different points, got 2"),
        ({"errors": np.ones((10, 1))}, "errors must be a table .* of the same shape as Z"),
        ({"kernel": kernels.Matern(nu=0.5)}, "differentiable at distance 0"),
        ({"null": "shuffle"}, "null must be one of 'shift', 'permute'"),
        ({"X": np.full((10, 3), np.nan)}, "X contains NaN: got 10 rows"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    rng = np.random.default_rng(0)
    given = {"Z": rng.normal(size=(10, 2)), "X": rng.normal(size=(10, 3)), **change}
    with pytest.raises(ValueError, match=message):
        ikd_graph.columns(**given)


def test_the_default_length_scale_is_half_the_median_distance():
    Z, X = planted(n=100, p=10)
    assert ikd_graph.columns(Z, X).kernel.length_scale == pytest.approx(0.5 * np.median(pdist(Z)))


def test_many_rows_are_fitted_as_few_are():
    Z, X = planted(n=1500, p=12)
    found = ikd_graph.columns(Z, X)
    assert sorted(found.position[:10].tolist()) == [*range(10)]
    # The best that can be predicted: a signal of variance 2 to 4 in noise of variance 1.
    assert 0.4 < found.r2[9] < found.r2[0] < 0.85


def test_points_that_lie_in_one_place_are_no_obstacle():
    Z, X = planted(n=60, p=10)
    Z[:30] = Z[0]
    found = ikd_graph.columns(Z, X)
    assert np.isfinite(found.r2).all()


def test_a_map_in_one_point_is_refused():
    with pytest.raises(ValueError, match="Z must hold at least 10 different points, got 1"):
        ikd_graph.columns(np.zeros((60, 2)), planted(n=60)[1])


def test_unrelated_columns_are_not_found_on_a_map_that_they_made():
    counts, on_itself = [], []
    for seed in range(6):
        X = np.random.default_rng(seed).standard_t(2.5, size=(80, 40))
        model = quiet(IKD(2, refine="stress"), X)
        counts.append(model.columns().n_significant)
        on_itself.append(model.columns(maps=()).n_significant)
    assert sum(count > 0 for count in counts) <= 2
    assert sum(on_itself) > sum(counts) + 10


def test_columns_are_judged_on_the_map_without_them():
    Z, X = planted()
    rng = np.random.default_rng(0)
    even = np.arange(60) % 2 == 0
    noise = rng.normal(size=Z.shape)
    # Odd columns are judged on a map of nothing.
    found = ikd_graph.columns(Z, X, maps=[(even, Z), (~even, noise)])
    significant = set(found.position[found.q_value <= 0.05].tolist())
    assert {0, 2, 4, 6, 8} <= significant
    assert not {1, 3, 5, 7, 9} & significant
    # The axes are those of the map itself, as far as the other maps agree.
    plain = ikd_graph.columns(Z, X)
    of = dict(zip(found.position.tolist(), range(60), strict=True))
    first = of[int(plain.position[0])]
    np.testing.assert_allclose(found.fraction[first], plain.fraction[0])
    assert found.fraction_se[first, 0] > plain.fraction_se[0, 0]


def test_turned_maps_are_aligned_before_they_are_compared():
    Z, X = planted()
    even = np.arange(60) % 2 == 0
    turned = ikd_graph.columns(Z, X, maps=[(even, Z), (~even, Z[:, ::-1] * [3.0, -3.0])])
    plain = ikd_graph.columns(Z, X)
    np.testing.assert_allclose(turned.fraction_se[:10], plain.fraction_se[:10], rtol=1e-3)


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ([([0, 1], np.eye(60, 2))], "maps must hold out each of the 10 columns once"),
        (
            [(np.arange(10), np.ones((9, 2)))],
            "coordinates of maps must be .* same shape as Z",
        ),
        ([([0, 40], np.eye(60, 2))], "columns of maps"),
    ],
)
def test_maps_that_do_not_fit_are_refused(maps, message):
    Z, X = planted(n=60, p=10)
    with pytest.raises(ValueError, match=message):
        ikd_graph.columns(Z, X, maps=maps)


def test_rows_that_are_not_on_a_map_are_left_out_of_it():
    Z, X = planted()
    even = np.arange(60) % 2 == 0
    some = np.where(np.arange(len(Z))[:, None] < 150, Z, np.nan)
    found = ikd_graph.columns(Z, X, maps=[(even, some), (~even, some)])
    alone = ikd_graph.columns(Z[:150], X[:150])
    at = np.argsort(found.position)
    np.testing.assert_allclose(found.r2[at], alone.r2[np.argsort(alone.position)])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_that_have_no_squares_are_refused(unit):
    Z, X = planted(40, 10)
    with pytest.raises(ValueError, match="X must have a largest value between 1e-70 and"):
        ikd_graph.columns(Z, X * unit)
    with pytest.raises(ValueError, match="Z must have a largest value between 1e-70 and"):
        ikd_graph.columns(Z * unit, X)
    found, scaled = ikd_graph.columns(Z, X), ikd_graph.columns(Z * 2.0**99, X * 2.0**-99)
    np.testing.assert_allclose(scaled.r2, found.r2)
    np.testing.assert_allclose(scaled.fraction, found.fraction)


def test_wrong_paths_and_names_are_named():
    Z, X = planted(40, 10)
    with pytest.raises(ValueError, match="where must be finite, got 1 NaN"):
        ikd_graph.columns(Z, X, where=[[np.nan, 0.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="names must be one for each of 10 columns"):
        ikd_graph.columns(Z, X, names=5)


def test_a_map_of_few_different_points_is_refused():
    rng = np.random.default_rng(0)
    Z, X = rng.normal(size=(9, 2)), rng.normal(size=(9, 40))
    with pytest.raises(ValueError, match="at least 10 different points, got 9 in 9 rows"):
        ikd_graph.columns(Z, X)
    with pytest.raises(ValueError, match="got 9 in 36 rows"):
        ikd_graph.columns(np.tile(Z, (4, 1)), np.tile(X, (4, 1)))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_that_repeat_find_no_column_by_rounding():
    rng = np.random.default_rng(0)
    which = np.arange(48) % 12
    found = ikd_graph.columns(rng.normal(size=(12, 2))[which], rng.normal(size=(12, 20))[which])
    assert np.isfinite(found.p_value).all()
    assert found.n_significant == 0
