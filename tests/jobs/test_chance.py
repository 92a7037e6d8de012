"""The p value of a table: small where rows are related, and not because series are slow."""

import numpy as np
import pytest
from scipy.signal import lfilter

from ikd_graph import datasets, diagnose
from ikd_graph.chance import chance_test

SIZES = [(40, 20), (60, 40), (70, 60), (80, 25), (30, 90), (45, 120), (90, 40), (45, 45)]


def following(rng, size, past, axis):
    """Unrelated series along an axis, stationary, or random walks from 0."""
    if past == 1.0:
        return rng.normal(size=size).cumsum(axis=axis)
    if axis == 1:
        return following(rng, size[::-1], past, 0).T
    noise = rng.normal(size=(size[0] + 200, size[1]))
    return lfilter([1.0], [1.0, -past], noise, axis=0)[200:]


def rejected(tables):
    """Tables with a p value of at most 5 %."""
    return sum(chance_test(X, random_state=k).p_value <= 0.05 for k, X in enumerate(tables))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("past", [0.0, 0.8, 0.97, 1.0])
def test_unrelated_series_are_rejected_at_the_level_however_slow(past, axis):
    rng = np.random.default_rng(7)
    # Of 48 tables 2.4 are expected; 8 or more are in one of 300 such counts.
    assert rejected(following(rng, size, past, axis) for size in SIZES * 6) <= 7


def test_slow_series_of_any_units_and_distribution_are_rejected_at_the_level():
    rng = np.random.default_rng(8)
    walks = [following(rng, size, 1.0, 0) for size in SIZES * 4]
    units = [np.exp(rng.normal(size=X.shape[1])) for X in walks]
    assert rejected(X * unit + 100.0 * unit for X, unit in zip(walks, units, strict=True)) <= 6
    assert rejected(np.exp(0.1 * X) for X in walks) <= 6


@pytest.mark.parametrize(("level", "scale"), [(2.0, 0.0), (10.0, 0.0), (0.0, 0.7), (2.0, 0.7)])
def test_rows_may_have_levels_and_scales_of_their_own(level, scale):
    rng, tables, factors = np.random.default_rng(9), [], []
    for size in SIZES * 6:
        own = rng.normal(size=(2, size[0], 1))
        tables.append(level * own[0] + np.exp(scale * own[1]) * rng.normal(size=size))
        factors.append(tables[-1] + rng.normal(size=(size[0], 1)) * rng.normal(size=size[1]))
    assert rejected(tables) <= 7
    assert rejected(factors[:8]) == 8


def test_series_may_forget_at_different_rates():
    rng, tables = np.random.default_rng(10), []
    for n, width in SIZES * 6:
        pasts = rng.uniform(0.0, 0.95, width)
        tables.append(np.hstack([following(rng, (n, 1), past, 0) for past in pasts]))
    assert rejected(tables) <= 7


@pytest.mark.filterwarnings("ignore:halves of the columns give similar maps")
def test_cells_in_order_are_found_where_that_order_is_arbitrary():
    rng = np.random.default_rng(0)
    heading = rng.uniform(0.0, 2.0 * np.pi, (150, 1))
    preferred = np.linspace(0.0, 2.0 * np.pi, 50, endpoint=False)
    X = np.exp(2.0 * np.cos(heading - preferred) - 2.0) + 0.25 * rng.normal(size=(150, 50))
    # Rows that are shifted along the cells are rows of other headings.
    found = chance_test(X)
    assert found.p_value > 0.05
    assert "nothing beyond the order of the columns" in str(found)
    assert "null='permute_all'" in str(found)
    assert "cure" not in diagnose(X).findings()
    assert chance_test(X, null="permute_all").p_value == 0.005
    noise = [chance_test(rng.normal(size=(60, 40)), null="permute_all") for _ in range(40)]
    assert sum(each.p_value <= 0.05 for each in noise) <= 6


def test_a_ring_in_order_is_found_where_the_order_is_arbitrary():
    angle = 2.0 * np.pi * np.arange(100)[:, None] / 100
    ring = datasets.gplvm_data(np.hstack([np.cos(angle), np.sin(angle)]), 60, noise=0.5).X
    found = chance_test(ring)
    assert found.p_value > 0.05
    assert "null='permute'" in str(found)
    assert chance_test(ring, null="permute").p_value == 0.005
    noise = [np.random.default_rng(seed).normal(size=(60, 40)) for seed in range(40)]
    assert sum(chance_test(X, null="permute").p_value <= 0.05 for X in noise) <= 6


@pytest.mark.parametrize(
    ("kind", "fraction"), [("cloud", 0.2), ("path", 0.2), ("in time", 0.2), ("curve", 0.5)]
)
def test_a_latent_is_found_behind_noise_and_slow_series(kind, fraction):
    tables = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        latent = rng.normal(size=(100, 2))
        if kind == "path":
            latent = datasets.ou_latent(100, 2, variance=1.0, time_scale=5.0, seed=rng)
        elif kind == "curve":
            angle = 2.0 * np.pi * np.arange(100)[:, None] / 100
            latent = 1.5 * np.hstack([np.cos(angle), np.sin(2.0 * angle)])
        cov = np.exp(-0.5 * ((latent[:, None] - latent) ** 2).sum(axis=-1))
        past = 0.8 if kind == "in time" else 0.0
        root = np.linalg.cholesky(cov + 1e-8 * np.eye(100))
        signal, noise = (following(rng, (100, 80), past, 1) for _ in range(2))
        tables.append(np.sqrt(fraction) * root @ signal + np.sqrt(1.0 - fraction) * noise)
    assert rejected(tables) >= 8


def test_words_tell_an_order_of_rows_from_nothing_at_all():
    rng = np.random.default_rng(0)
    noise, walks = rng.normal(size=(60, 40)), following(rng, (60, 40), 1.0, 0)
    found = chance_test(noise)
    assert found.is_noise
    assert str(found).startswith("nothing beyond chance was found")
    found = chance_test(walks)
    assert found.ordered
    assert not found.is_noise
    assert str(found).startswith("nothing beyond the order of the rows was found")
    found = chance_test(walks.T)
    assert not found.ordered
    # Rows in another order are a table of another kind, of which columns follow nothing.
    assert not chance_test(walks[rng.permutation(60)]).ordered


@pytest.mark.parametrize(("shape", "what"), [((1, 5), "2 rows"), ((5, 1), "2 column")])
def test_tables_that_nothing_can_be_compared_in_are_refused(shape, what):
    with pytest.raises(ValueError, match=f"X must have at least .*{what}"):
        chance_test(np.random.default_rng(0).normal(size=shape))


@pytest.mark.parametrize("shape", [(100, 300), (300, 300), (60, 40)])
def test_noise_of_any_shape_has_no_order(shape):
    noise = np.random.default_rng(4).normal(size=shape)
    assert not chance_test(noise).ordered
