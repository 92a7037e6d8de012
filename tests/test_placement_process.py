"""New rows land where the process that was fitted finds them likeliest."""

import pickle

import numpy as np
import pytest
from tables import quiet, r2_of_placed, sheet, sq_distances

from ikd_graph import IKD, gplvm, kernels, placement

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
KERNELS = [
    kernels.SquaredExponential(length_scale=0.7),
    kernels.GammaExponential(),
    kernels.Matern(),
]


def naive_cost(latent, rows, kernel, variance, noise, row, spot):
    """Least cost of a row at a place over all variances from that of the process up."""
    n = rows.shape[1]
    total = variance * kernel.covariance(sq_distances(latent)) + noise * np.eye(len(latent))
    across = variance * kernel.covariance(sq_distances(spot[None], latent))[0]
    by = np.linalg.solve(total, across)
    square = np.sum((row - by @ rows) ** 2)
    spread = variance + noise - across @ by
    tried = spread * np.exp(np.linspace(0.0, 20.0, 20_001))
    return np.min(0.5 * n * np.log(tried) + 0.5 * square / tried)


def sampled(kernel, seed=0, n=40, n_columns=25, noise=0.05):
    """Rows of a process over a plane and one more row, with where it belongs."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(-1.0, 1.0, (n + 1, 2))
    cov = kernel.covariance(sq_distances(latent)) + noise * np.eye(n + 1)
    rows = np.linalg.cholesky(cov) @ rng.normal(size=(n + 1, n_columns))
    return latent[:-1], rows[:-1], rows[-1], latent[-1]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_no_place_of_a_grid_is_likelier(kernel, seed):
    latent, rows, row, spot = sampled(kernel, seed)
    fitted = gplvm.condition(latent, rows, kernel, 1.0, 0.05, centred=False)
    best, _ = gplvm.likeliest(fitted, gplvm.see(fitted, row), spot)
    line = np.linspace(-1.2, 1.2, 25)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def cost(at):
        return naive_cost(latent, rows, kernel, 1.0, 0.05, row, at)

    assert cost(best) <= min(cost(point) for point in grid) + 0.5
    assert cost(best) <= cost(spot) + 1e-3


def split(step, noise, seed=3):
    """A fit of two thirds of a sheet, and the rest of it."""
    X, latent = sheet(seed, 150, 100, noise)
    train, new = np.arange(100), np.arange(100, 150)
    model = IKD(2, strategy="geodesic", affinity="correlation", refine=step, random_state=0)
    return quiet(model, X[train]), X, latent, train, new


STEPS = ["stress", "likelihood"]


@pytest.fixture(scope="module", params=STEPS)
def noisy(request):
    return split(request.param, 1.0)


def by_reconstruction(model, rows, monkeypatch):
    """Where rows are put without the process."""
    again = pickle.loads(pickle.dumps(model))
    with monkeypatch.context() as changed:
        stay = lambda process, seen, start: (start, 0.0)  # noqa: E731
        changed.setattr(placement.gplvm.likeliest, "unchecked", stay)
        return again.transform(rows)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_held_out_rows_are_as_right_as_the_fit(step, noise, monkeypatch):
    model, X, latent, train, new = split(step, noise)
    frame = model.embedding_, latent[train]
    of_fit = r2_of_placed(*frame, model.embedding_, latent[train])
    of_new = r2_of_placed(*frame, model.transform(X[new]), latent[new])
    of_start = r2_of_placed(*frame, by_reconstruction(model, X[new], monkeypatch), latent[new])
    assert of_new >= of_fit - 0.04
    assert of_new > of_start - 0.01


def test_a_row_between_a_training_row_and_its_like_moves_smoothly(noisy):
    model, X, _, train, _ = noisy
    row, away = X[train[0]], np.random.default_rng(0).normal(size=100)
    line = np.linspace(0.0, 1.5, 301)
    walk = model.transform(np.array([row + step * away for step in line]))
    extent = np.linalg.norm(model.embedding_, axis=1).max()
    steps = np.linalg.norm(np.diff(walk, axis=0), axis=1)
    assert np.linalg.norm(walk[0] - model.embedding_[0]) < 1e-9
    assert np.linalg.norm(walk[-1] - walk[0]) > 1e-3 * extent
    assert steps.max() < 0.1 * extent


def test_rows_are_placed_each_by_itself_to_the_bit(noisy):
    model, X, _, _, new = noisy
    rows = X[new]
    together = model.transform(rows)
    for index in range(0, len(rows), 7):
        assert np.array_equal(model.transform(rows[index : index + 1])[0], together[index])
    assert np.array_equal(model.transform(np.asfortranarray(rows[::-1]))[::-1], together)


def test_a_row_like_none_stays_near_and_has_a_large_residual(noisy):
    model, X, _, _, new = noisy
    usual = model.placement_residuals(X[new])
    rows = 3.0 * np.random.default_rng(1).normal(size=(20, 100))
    assert np.median(model.placement_residuals(rows)) > 1.5 * np.median(usual)
    extent = np.linalg.norm(model.embedding_, axis=1).max()
    assert np.linalg.norm(model.transform(rows), axis=1).max() < 2.0 * extent
    for odd in (np.zeros((1, 100)), np.full((1, 100), 1e6)):
        assert np.isfinite(model.transform(odd + np.arange(100.0) * 1e-3)).all()
