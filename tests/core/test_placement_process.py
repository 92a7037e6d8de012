"""New rows land where the process that was fitted finds them most likely."""

import functools
import pickle

import numpy as np
import pytest
from tables import quiet, r2_of_placed, sheet, sq_distances

from ikd_graph import IKD, gplvm, kernels

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
    fitted = gplvm.GaussianProcess(latent, rows, kernel, 1.0, 0.05)
    best = fitted.place(fitted.observe(row[None]), spot[None])[0][0]
    line = np.linspace(-1.2, 1.2, 25)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def cost(at):
        return naive_cost(latent, rows, kernel, 1.0, 0.05, row, at)

    assert cost(best) <= min(cost(point) for point in grid) + 0.5
    assert cost(best) <= cost(spot) + 1e-3


class Custom(kernels.StationaryKernel):
    """The squared exponential, as somebody would write it who does not know that it is here."""

    def _f(self, d):
        return np.exp(-d / 2.0)

    def _f_prime(self, d):
        return -np.exp(-d / 2.0) / 2.0


@pytest.mark.parametrize("n_columns", [12, 90])
@pytest.mark.parametrize("seed", range(2))
def test_a_custom_kernel_places_as_the_built_in_one(seed, n_columns):
    kernel = kernels.SquaredExponential(length_scale=0.7)
    latent, rows, row, spot = sampled(kernel, seed, n_columns=n_columns)
    placed = []
    for each in (kernel, Custom(length_scale=0.7)):
        fitted = gplvm.GaussianProcess(latent, rows, each, 1.0, 0.05)
        observed = fitted.observe(np.stack([row, rows[0] + 0.3]))
        placed.append(fitted.place(observed, np.stack([spot, latent[0]])))
    np.testing.assert_allclose(placed[0][0], placed[1][0], atol=1e-8)
    np.testing.assert_allclose(placed[0][1], placed[1][1], rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("n_columns", [25, 90])
def test_the_log_density_is_that_of_the_row_at_its_place(kernel, n_columns):
    latent, rows, row, spot = sampled(kernel, 5, n_columns=n_columns)
    fitted = gplvm.GaussianProcess(latent, rows, kernel, 1.0, 0.05)
    observed = fitted.observe(row[None])
    place, log_density = fitted.place(observed, spot[None])
    cost = naive_cost(latent, rows, kernel, 1.0, 0.05, row, place[0])
    expected = -cost - 0.5 * n_columns * np.log(2.0 * np.pi)
    assert log_density[0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("n_columns", [25, 90])
def test_each_row_is_placed_as_if_it_were_alone_to_the_bit(n_columns):
    latent, rows, _, _ = sampled(kernels.Matern(), 7, n=50, n_columns=n_columns)
    rng = np.random.default_rng(0)
    fitted = gplvm.GaussianProcess(latent, rows, kernels.Matern(), 1.0, 0.05, centered=True)
    new = rows[rng.integers(0, 50, 150)] + 0.3 * rng.normal(size=(150, n_columns))
    starts = rng.uniform(-1.0, 1.0, (150, 2))
    together, densities = fitted.place(fitted.observe(new), starts)
    for i in range(0, 150, 11):
        observed = fitted.observe(np.asfortranarray(new[i : i + 1]))
        place, log_density = fitted.place(observed, starts[i : i + 1])
        assert np.array_equal(place[0], together[i])
        assert log_density[0] == densities[i]
        assert np.array_equal(fitted.observe(new[i : i + 1]).sq_dist, observed.sq_dist)


def test_rows_and_starts_that_do_not_fit_are_refused():
    latent, rows, row, _ = sampled(KERNELS[0])
    fitted = gplvm.GaussianProcess(latent, rows, KERNELS[0], 1.0, 0.05)
    with pytest.raises(ValueError, match="rows must have the 25 columns"):
        fitted.observe(rows[:, :-1])
    with pytest.raises(ValueError, match="rows must have the 25 columns"):
        fitted.observe(row[:-1][None])
    with pytest.raises(ValueError, match=r"init must have shape \(1, 2\)"):
        fitted.place(fitted.observe(row[None]), np.zeros((2, 2)))


@functools.cache
def split(step, noise):
    """A fit of two thirds of a sheet, and the rest of it."""
    X, latent = sheet(3, 150, 100, noise)
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
        stay = lambda process, observed, starts: (starts, None)  # noqa: E731
        changed.setattr(gplvm.GaussianProcess, "place", stay)
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
    limit = np.quantile(model.residuals_, 0.95)
    assert np.mean(model.placement_residuals(X[new]) > limit) < 0.2
    rows = 3.0 * np.random.default_rng(1).normal(size=(20, 100))
    assert np.median(model.placement_residuals(rows)) > limit
    extent = np.linalg.norm(model.embedding_, axis=1).max()
    assert np.linalg.norm(model.transform(rows), axis=1).max() < 2.0 * extent
    for odd in (np.zeros((1, 100)), np.full((1, 100), 1e6)):
        assert np.isfinite(model.transform(odd + np.arange(100.0) * 1e-3)).all()
