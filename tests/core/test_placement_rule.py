"""New rows land where the fit puts rows like them, each by itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from sklearn import datasets
from tables import quiet, r2_of_placed, roll, sheet, sq_distances

from ikd_graph import IKD, graph, refine, similarity
from ikd_graph._base import limits
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


def naive_weights(rows, near, row):
    """Weights of the rows near to another, by the formula of the module."""
    gaps = row - rows[near]
    system = gaps @ gaps.T + 0.1 * np.diag((gaps**2).sum(axis=1))
    weights = np.linalg.solve(system, np.ones(near.size))
    return weights / weights.sum()


@pytest.mark.parametrize("n_columns", [3, 60])
@pytest.mark.parametrize("joined", ["few", "all"])
def test_weights_are_those_of_the_formula(joined, n_columns):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(150, n_columns)), rng.normal(size=(20, n_columns))
    latent = rng.normal(size=(150, 2))
    sim = similarity.compare(X, "euclidean")
    g = graph.neighbors(sim, 9)
    found, residual = placed(new, latent, g if joined == "few" else None, sim)
    center = X.mean(axis=0)
    for i, row in enumerate(new):
        near = np.argsort(((X - row) ** 2).sum(axis=1))[:40]
        if joined == "few":
            neighbors = g.indices[g.indptr[near[0]] : g.indptr[near[0] + 1]]
            near = near[np.isin(near, [near[0], *neighbors])]
        weights = naive_weights(X, near, row)
        np.testing.assert_allclose(found[i], weights @ latent[near], atol=1e-9)
        left, whole = ((row - part) ** 2 for part in (weights @ X[near], center))
        typical = ((X - center) ** 2).sum(axis=1).mean()
        assert residual[i] == pytest.approx(left.sum() / min(whole.sum(), typical), abs=1e-9)


def bent(seed=0, n=220, n_columns=40):
    """A bent surface in the plane, with noise."""
    rng = np.random.default_rng(seed)
    X = np.tanh(2.0 * rng.uniform(-1, 1, (n, 2)) @ rng.normal(size=(2, n_columns)) + 0.5)
    return X + 0.1 * rng.normal(size=X.shape)


def with_holes(X):
    holes = np.random.default_rng(1).random(X.shape) < 0.1
    return np.where(holes, np.nan, X)


def distances(X):
    return np.sqrt(sq_distances(X, X[:150]))


CLOSED = {"strategy": "geodesic", "refine": None}
KINDS = {
    "default": (lambda X: X, {}),
    "euclidean": (lambda X: X, {"affinity": "euclidean", **CLOSED}),
    "standardized": (lambda X: X, {"affinity": "standardized_euclidean", **CLOSED}),
    "correlation": (lambda X: X, {"affinity": "correlation", **CLOSED}),
    "single": (lambda X: X.astype(np.float32), {"affinity": "correlation", **CLOSED}),
    "sparse": (lambda X: sp.csr_array(np.maximum(X, 0.0)), {"affinity": "cosine", **CLOSED}),
    "far from 0": (lambda X: sp.csr_array(np.maximum(X, 0.0)), {"affinity": "euclidean", **CLOSED}),
    "holes": (with_holes, {"missing": "pairwise", **CLOSED}),
    "distances": (distances, {"affinity": "precomputed_distance", **CLOSED}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_placed_by_itself_to_the_bit(kind, monkeypatch):
    # Rows beyond these sizes stay sparse, and in single precision.
    monkeypatch.setattr(limits, "DENSE_ENTRIES", 100)
    monkeypatch.setattr(limits, "DOUBLE", 100)
    change, options = KINDS[kind]
    X = change(bent())
    model = quiet(IKD(2, random_state=0, **options), X[:150, :150])
    new = X[150:].copy()
    # A row far away makes products of all rows with it large.
    new[[0]] = 1e4 * new[[0]]
    placed, residuals = model.transform(new), model.placement_residuals(new)
    assert np.isfinite(placed).all()
    assert np.array_equal(model.transform(new[::-1]), placed[::-1])
    for at in range(0, 70, 23):
        assert np.array_equal(model.transform(new[[at]])[0], placed[at])
        assert model.placement_residuals(new[[at]])[0] == residuals[at]


SLOW = pytest.param("digits", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [SLOW, "iris", "wine", "breast_cancer", "swiss_roll"])
def test_a_training_row_that_is_nudged_stays_where_it_is(name):
    if name == "swiss_roll":
        X = datasets.make_swiss_roll(600, random_state=0)[0]
    else:
        X = getattr(datasets, f"load_{name}")().data[:600]
    assert moved_by_a_nudge(quiet(IKD(2, random_state=0), X), X) < 1e-5


def test_so_does_one_that_the_process_was_not_fitted_to(monkeypatch):
    monkeypatch.setitem(refine.MAX_POINTS, "annealed", 40)
    X = sheet(0, 120, 20, noise=1.0)[0]
    model = IKD(2, affinity="euclidean", strategy="geodesic", refine="likelihood", random_state=0)
    assert moved_by_a_nudge(quiet(model, X), X) < 1e-5


def moved_by_a_nudge(model, X):
    """How far a training row moves at most if it changes a little, over the radius of the map."""
    step = 1e-6 * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)
    away = np.linalg.norm(model.transform(X + step) - model.embedding_, axis=1)
    return away.max() / np.linalg.norm(model.embedding_, axis=1).max()
