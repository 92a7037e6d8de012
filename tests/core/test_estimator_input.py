"""Input that an estimator must not take for what it is not."""

import numpy as np
import pandas as pd
import pytest

from ikd_graph import IKD, blockwise, kernels
from ikd_graph.strategies import Blockwise


@pytest.fixture
def X(rng):
    return np.cos(rng.random((40, 2)) @ rng.standard_normal((2, 30)))


def test_what_is_masked_is_not_used(X):
    masked = np.ma.masked_array(X, np.zeros(X.shape, bool))
    model = IKD(2).fit(masked)
    masked[3, 4] = np.ma.masked
    with pytest.raises(ValueError, match="got 1 row with missing values: 3"):
        IKD(2).fit(masked)
    with pytest.raises(ValueError, match="got 1 row with missing values: 3"):
        model.transform(masked)


@pytest.mark.parametrize("affinity", ["cosine", "correlation", "hellinger", "covariance"])
def test_a_constant_new_row_is_nan_and_others_are_placed(X, affinity):
    X = np.abs(X)
    model = IKD(2, affinity=affinity, refine=None).fit(X)
    new = 1.01 * X
    placed = model.transform(new)
    new[7] = 0.0
    with pytest.warns(UserWarning, match=r"1 of 40 rows cannot be compared .* get NaN: 7$"):
        found = model.transform(new)
    assert np.isnan(found[7]).all()
    with pytest.warns(UserWarning, match="1 of 40"):
        assert np.isnan(model.placement_residuals(new)).sum() == 1
    np.testing.assert_array_equal(np.delete(found, 7, axis=0), np.delete(placed, 7, axis=0))
    with pytest.warns(UserWarning, match="1 of 40"):
        assert np.isfinite(model.score(new))


def test_a_new_point_without_a_covariance_is_not_placed(X):
    model = IKD(2, affinity="precomputed", refine=None).fit(np.corrcoef(X))
    with pytest.warns(UserWarning, match="1 of 1 rows cannot be compared"):
        assert np.isnan(model.transform(np.zeros((1, 40)))).all()


def test_a_failed_fit_leaves_the_model_as_it_was(X):
    model = IKD(2, refine=None, graph=8, affinity="euclidean").fit(X)
    placed = model.transform(X + 0.1)
    with pytest.raises(ValueError, match="must vary"):
        model.fit(np.zeros((20, 3)))
    assert model.n_features_in_ == 30
    np.testing.assert_array_equal(model.transform(X + 0.1), placed)


def test_an_interrupt_during_a_fit_leaves_the_model_as_it_was(X):
    interrupts = []

    def merge(solved, n_points):
        if interrupts:
            raise interrupts.pop()
        return blockwise.merge(solved, n_points).coordinates

    model = IKD(2, strategy=Blockwise(merge=merge), refine=None, graph=8).fit(X)
    placed = model.transform(X + 0.1)
    interrupts.append(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt, match="stopped during the stage 'closed form'"):
        model.fit(X[:, :12])
    assert model.n_features_in_ == 30
    np.testing.assert_array_equal(model.transform(X + 0.1), placed)


@pytest.mark.parametrize("affinity", ["euclidean", "standardized_euclidean", "correlation"])
def test_a_large_offset_is_answered_or_refused(X, affinity):
    def fitted(table):
        return IKD(2, affinity=affinity, refine=None, graph=8).fit_transform(table)

    near = fitted(X - X.min())
    np.testing.assert_allclose(fitted(X + 1e9), near, atol=1e-4 * np.ptp(near))
    with pytest.raises(ValueError, match=r"columns of X must vary .* subtract the mean"):
        fitted(X + 1e15)
    # The cure works.
    table = X + 1e14
    assert np.ptp(fitted(table - table.mean(axis=0))) > 0.1 * np.ptp(near)


def test_cosines_that_are_all_rounding_are_told(X):
    with pytest.warns(UserWarning, match=r"all cosine similarities are 1 up to rounding"):
        IKD(2, affinity="cosine", refine=None).fit(X + 1e12)


def test_a_generator_is_drawn_from_once_a_fit_and_by_no_check(X):
    state, other = np.random.RandomState(0), np.random.RandomState(0)
    model = IKD(2, graph=8, random_state=state)
    model.check_parameters()
    model.fit(X)
    other.randint(2**31)
    assert state.randint(2**31) == other.randint(2**31)


@pytest.mark.parametrize("kernel", [kernels.Matern(nu=0.5), kernels.Matern(), "rational_quadratic"])
def test_rows_far_away_are_the_mean_row(X, kernel):
    model = IKD(2, kernel=kernel, refine=None, affinity="euclidean").fit(X)
    rows = model.inverse_transform([[1e160, 0.0], [1e308, -1e308]])
    np.testing.assert_allclose(rows, np.tile(X.mean(axis=0), (2, 1)), atol=1e-6)


def test_warnings_point_at_the_line_of_the_user(X):
    apart = np.vstack([X, X + 100.0])
    for call in (IKD(2, graph=3).fit, IKD(2, graph=3).fit_transform):
        with pytest.warns(UserWarning, match="2 connected components") as caught:
            call(apart)
        assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(UserWarning, match="have a covariance <= 0") as caught:
        IKD(2, strategy="eigen", affinity="precomputed").fit_transform(np.corrcoef(X))
    assert {warning.filename for warning in caught} == {__file__}


def test_control_characters_of_names_are_escaped_in_messages(X):
    table = pd.DataFrame(X).rename(columns=lambda name: f"\x1b[31m{name}\u202e")
    model = IKD(2).fit(table)
    with pytest.raises(ValueError, match="feature names") as error:
        model.transform(table.add_suffix("\x1b[0m"))
    assert str(error.value).replace("\n", "").isprintable()
    with pytest.raises(ValueError, match="must hold numbers") as error:
        IKD().fit(table.astype(str))
    assert str(error.value).isprintable()


@pytest.mark.parametrize("size", [1e-310, 1e-80, 1e80, 1e160])
def test_values_whose_moments_overflow_or_vanish_are_refused(size):
    X = np.random.default_rng(0).normal(size=(12, 6))
    with pytest.raises(ValueError, match=r"X must have a largest value between 1e-70 and 1e\+70"):
        IKD(1).fit(size * X)
    model = IKD(1, graph=5, refine=None, affinity="euclidean").fit(X)
    if size > 1.0:
        with pytest.raises(ValueError, match="multiply it by a power of ten"):
            model.transform(size * X)
    else:
        # Next to the training rows these are rows of zeros.
        np.testing.assert_array_equal(model.transform(size * X), model.transform(0.0 * X))
