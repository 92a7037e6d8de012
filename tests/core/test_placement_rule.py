"""New rows land where the fit puts rows like them, each by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from tables import r2_of_placed, roll

from ikd_graph import IKD, graph, similarity
from ikd_graph.datasets import gplvm_data
from ikd_graph.placement import Reconstruction


def placed(rows, latent, g, sim):
    """Coordinates and residuals of rows in an embedding of the rows of a similarity."""
    return Reconstruction(latent, sim, g).place(rows)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    log_step=st.floats(-7.0, -4.0),
    torn=st.booleans(),
    flat=st.booleans(),
)
def test_a_row_near_a_training_row_lands_near_it(seed, log_step, torn, flat):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2 if flat else 9)) / 2.0
    sim = similarity.compare(X, "euclidean")
    g = graph.neighbors(sim, 6)
    # Nothing ties the latent to the rows: it may be torn anyhow.
    latent = rng.normal(size=(40, 2)) if torn else X[:, :2]
    step = rng.normal(size=X.shape)
    step *= 10.0**log_step / np.linalg.norm(step, axis=1, keepdims=True)
    found, residual = placed(X + step, latent, g, sim)
    nearest = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 1]
    assert np.all(np.linalg.norm(found - latent, axis=1) <= 1e-6 + 500 * 10.0**log_step / nearest)
    assert np.all(np.isfinite(residual))


def test_a_row_stays_on_the_sheet_of_its_nearest_row():
    # Two sheets a little apart that are far apart in the latent, as the turns of a roll are.
    rng = np.random.default_rng(0)
    flat = rng.uniform(0, 1, (200, 2))
    upper = np.repeat([0.0, 1.0], 100)
    X = np.column_stack([flat, 0.12 * upper])
    sim = similarity.compare(X, "euclidean")
    latent = flat + 10.0 * upper[:, None]
    similar = sim.matrix().copy()
    similar[upper[:, None] != upper] = 0.0
    new = rng.uniform(0.1, 0.9, (40, 2))
    rows = np.column_stack([new, np.full(40, 0.01)])
    found = placed(rows, latent, graph.neighbors(similar, 8), sim)[0]
    nearest = sim.nearest(rows, 1)[0][:, 0]
    on_upper = found.mean(axis=1) > 5.0
    assert np.array_equal(on_upper, upper[nearest] == 1.0)
    away = np.linalg.norm(found[~on_upper] - new[~on_upper], axis=1)
    assert np.median(away) < 0.03
    assert away.max() < 0.3


def test_rows_without_neighbors_and_few_rows_are_placed():
    X = np.eye(3)
    lonely = graph.from_edges(3, np.array([0]), np.array([1]), np.array([0.5]))
    sim, latent = similarity.compare(X, "euclidean"), np.array([[0.0], [1.0], [5.0]])
    for g in (lonely, None):
        found, residual = placed(X + 1e-7, latent, g, sim)
        np.testing.assert_allclose(found, latent, atol=1e-4)
        assert np.all(np.isfinite(residual))


@pytest.mark.parametrize("n", [1000, pytest.param(2000, marks=pytest.mark.slow)])
def test_held_out_rows_of_a_roll_are_on_it(n):
    X, truth = roll(n)
    order = np.random.default_rng(0).permutation(n)
    train, new = order[: int(0.8 * n)], order[int(0.8 * n) :]
    model = IKD(2, random_state=0).fit(X[train])
    found = model.transform(X[new])
    assert r2_of_placed(model.embedding_, truth[train], found, truth[new]) >= 0.999


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_noisy_draws_of_the_model_are_averaged(noise):
    truth = np.random.default_rng(4).uniform(-1, 1, (250, 2))
    X = gplvm_data(truth, 200, noise=noise, seed=7).X
    model = IKD(2, affinity="correlation", strategy="geodesic", refine=None).fit(X[:200])
    found, (_, near) = model.transform(X[200:]), cKDTree(X[:200]).query(X[200:])
    align = np.linalg.lstsq(np.c_[model.embedding_, np.ones(200)], truth[:200])[0]
    error, of_nearest = (
        np.mean((np.c_[z, np.ones(50)] @ align - truth[200:]) ** 2)
        for z in (found, model.embedding_[near])
    )
    assert error < (0.7 if noise else 0.8) * of_nearest
