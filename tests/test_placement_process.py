"""New rows land where the process that was fitted finds them likeliest."""

import pickle

import numpy as np
import pytest
from polish_cells import sample_cell

from ikd_graph import IKD, _limits, gplvm, kernels, placement
from ikd_graph.gplvm import _locate

KERNELS = [
    kernels.SquaredExponential(length_scale=0.7),
    kernels.GammaExponential(),
    kernels.Matern(),
]


def sq_distances(one, other):
    return ((one[:, None] - other[None]) ** 2).sum(-1)


def naive_cost(latent, rows, kernel, variance, noise, row, place):
    """Least cost of a row at a place over all variances from that of the process up."""
    n = rows.shape[1]
    total = variance * kernel.covariance(sq_distances(latent, latent)) + noise * np.eye(len(latent))
    across = variance * kernel.covariance(sq_distances(place[None], latent))[0]
    by = np.linalg.solve(total, across)
    square = np.sum((row - by @ rows) ** 2)
    spread = variance + noise - across @ by
    tried = spread * np.exp(np.linspace(0.0, 20.0, 20_001))
    return np.min(0.5 * n * np.log(tried) + 0.5 * square / tried)


def sampled(kernel, seed=0, n=40, n_observed=25, noise=0.05):
    """Rows of a process over a plane and one more row, with where it belongs."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(-1.0, 1.0, (n + 1, 2))
    cov = kernel.covariance(sq_distances(latent, latent)) + noise * np.eye(n + 1)
    rows = np.linalg.cholesky(cov) @ rng.normal(size=(n + 1, n_observed))
    return latent[:-1], rows[:-1], rows[-1], latent[-1]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("n_observed", [25, 90])
@pytest.mark.parametrize("alien", [False, True])
def test_the_cost_is_that_of_the_process_and_its_slope_is_exact(kernel, n_observed, alien):
    latent, rows, row, place = sampled(kernel, n_observed=n_observed)
    row = 3.0 * row[::-1] if alien else row
    process = gplvm.condition(latent, rows, kernel, 1.3, 0.1, centred=False)
    seen = gplvm.see(process, row)
    at = _locate._look(process, seen, place)
    # The naive one steps through variances.
    expected = naive_cost(latent, rows, kernel, 1.3, 0.1, row, place)
    np.testing.assert_allclose(at.cost, expected, rtol=1e-5)
    for axis in range(2):
        step = 1e-5 * np.eye(2)[axis]
        ahead, behind = (_locate._look(process, seen, place + s).cost for s in (step, -step))
        assert at.slope[axis] == pytest.approx((ahead - behind) / 2e-5, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_no_place_of_a_grid_is_likelier(kernel, seed):
    latent, rows, row, place = sampled(kernel, seed)
    process = gplvm.condition(latent, rows, kernel, 1.0, 0.05, centred=False)
    seen = gplvm.see(process, row)
    found = gplvm.likeliest(process, seen, place)[0]
    line = np.linspace(-1.2, 1.2, 49)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    best = min(_locate._look(process, seen, point).cost for point in grid)
    assert _locate._look(process, seen, found).cost <= best + 0.5


def split(kernel, noise, n_observed=100, seed=3, family="walk"):
    """A fit of two thirds of a cell, and the rest of it."""
    rng = np.random.default_rng(seed)
    cell = sample_cell(family, kernel, 1.0, noise, (180, n_observed, 2), rng)
    order = rng.permutation(180)
    train, new = order[:120], order[120:]
    model = IKD(2, kernel=kernel, strategy="geodesic", refine="likelihood", random_state=0)
    return model.fit(cell.rows[train]), cell, train, new


@pytest.fixture(scope="module")
def noisy():
    return split("squared_exponential", 1.0)


def r2_in_frame(latent, truth, placed, where):
    design = np.column_stack([latent, np.ones(len(latent))])
    frame = np.linalg.lstsq(design, truth)[0]
    found = np.column_stack([placed, np.ones(len(placed))]) @ frame
    return 1.0 - np.sum((where - found) ** 2) / np.sum((where - truth.mean(0)) ** 2)


def by_reconstruction(model, rows):
    return placement.place(model._model.placement, model._model.similarity, rows)[0]


@pytest.mark.parametrize(
    ("kernel", "noise"), [("squared_exponential", 1.0), ("gamma_exponential", 0.3), ("matern", 0.0)]
)
def test_held_out_rows_are_as_right_as_the_fit(kernel, noise):
    model, cell, train, new = split(kernel, noise)
    of_fit = r2_in_frame(model.embedding_, cell.latent[train], model.embedding_, cell.latent[train])
    of_new, of_start = (
        r2_in_frame(model.embedding_, cell.latent[train], placed, cell.latent[new])
        for placed in (model.transform(cell.rows[new]), by_reconstruction(model, cell.rows[new]))
    )
    assert of_new >= of_fit - 0.01
    assert of_new > of_start


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_training_rows_moved_a_little_stay(noise):
    model, cell, train, _ = split("squared_exponential", noise)
    X = cell.rows[train]
    step = 1e-6 * X.std() * np.random.default_rng(0).normal(size=X.shape)
    moved = np.linalg.norm(model.transform(X + step) - model.embedding_, axis=1)
    assert moved.max() <= 1e-3 * np.linalg.norm(model.embedding_, axis=1).max()
    assert np.array_equal(model.transform(X), model.embedding_)


def test_training_rows_would_move_without_the_way_back(noisy, monkeypatch):
    model, cell, train, _ = noisy
    monkeypatch.setattr(placement, "_freshness", lambda process, seen: 1.0)
    X = cell.rows[train] + 1e-9
    # The offset of a row is not seen; something has to be.
    X[:, 0] += 1e-9
    moved = np.linalg.norm(model.transform(X) - model.embedding_, axis=1)
    assert moved.max() > 1e-2 * np.linalg.norm(model.embedding_, axis=1).max()


def test_a_row_with_noise_of_its_own_is_fresh_and_a_copy_goes_over_smoothly(noisy):
    model, cell, train, new = noisy
    process = model._process_model()
    fresh = [placement._freshness(process, gplvm.see(process, row)) for row in cell.rows[new]]
    assert min(fresh) == 1.0
    # From a training row along its own noise: up from 0 to 1, and no step takes the slope along.
    row, away = cell.rows[train[0]], np.random.default_rng(0).normal(size=100)
    line = np.linspace(0.0, 2.0, 2001)
    share = np.array(
        [placement._freshness(process, gplvm.see(process, row + s * away)) for s in line]
    )
    assert share[0] < 1e-20
    assert share[-1] == 1.0
    slope = np.diff(share) / np.diff(line)
    assert np.all(slope > -1e-9)
    assert np.abs(np.diff(slope)).max() < 0.02 * slope.max()


def test_rows_are_placed_each_by_itself_to_the_bit(noisy):
    model, cell, _, new = noisy
    rows = cell.rows[new]
    together = model.transform(rows)
    for index in range(0, len(rows), 7):
        assert np.array_equal(model.transform(rows[index : index + 1])[0], together[index])
    assert np.array_equal(model.transform(rows[::-1])[::-1], together)
    assert np.array_equal(model.transform(np.asfortranarray(rows)), together)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(rows), together)


def test_a_row_like_none_stays_near_and_has_a_large_residual(noisy):
    model, cell, _, new = noisy
    usual = model.placement_residuals(cell.rows[new])
    rows = 3.0 * np.random.default_rng(1).normal(size=(20, 100))
    assert np.median(model.placement_residuals(rows)) > 2.0 * np.median(usual)
    apart = sq_distances(model.transform(rows), model.embedding_).min(axis=1)
    assert np.sqrt(apart.max()) <= model.kernel_.length_scale * (1.0 + 1e-9)
    for odd in (np.zeros((1, 100)), np.full((1, 100), 1e6)):
        odd = odd + np.arange(100.0) * 1e-3
        assert np.isfinite(model.transform(odd)).all()


def test_beyond_the_limit_rows_are_reconstructed(noisy, monkeypatch):
    model, cell, _, new = noisy
    again = pickle.loads(pickle.dumps(model))
    again._process = None
    monkeypatch.setattr(_limits, "PLACED_BY_PROCESS", 119)
    rows = cell.rows[new]
    assert np.array_equal(again.transform(rows), by_reconstruction(model, rows))
    assert not np.array_equal(again.transform(rows), model.transform(rows))


def test_a_latent_that_is_not_of_the_model_has_no_process():
    X = np.random.default_rng(0).exponential(size=(60, 8)) ** 2
    model = IKD(2, refine="stress", affinity="euclidean").fit(X)
    assert model._process_model() is None


def test_the_closed_form_of_trusted_correlations_has_a_process_when_it_is_polished():
    cell = sample_cell("walk", "matern", 1.0, 0.3, (90, 200, 2), np.random.default_rng(4))
    plain, polished = (
        IKD(2, kernel="matern", refine=refine).fit(cell.rows) for refine in (None, "stress")
    )
    assert plain._process_model() is None
    assert polished._process_model().noise == pytest.approx(polished.noise_variance_, rel=1e-6)


def test_few_columns_leave_rows_to_their_reconstruction():
    cell = sample_cell("walk", "matern", 1.0, 0.3, (60, 20, 2), np.random.default_rng(5))
    for columns, made in ((19, False), (20, True)):
        model = IKD(2, kernel="matern", strategy="geodesic", refine="likelihood")
        model.fit(cell.rows[:, :columns])
        assert (model._process_model() is not None) == made
