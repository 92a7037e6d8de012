import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from reference_gplvm import central_difference, naive_covariance
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

from ikd_graph import _limits, gplvm, kernels, refine
from ikd_graph.refine import (
    composite,
    descent,
    escape,
    minimize,
    objective,
    perturb,
    repair,
    search,
    unroll,
)
from ikd_graph.refine.closed_forms import unlike

KERNELS = [kernels.get(name) for name in kernels.KERNELS]


def sample(seed, kernel, n=30, m=1, n_observed=300, noise=0.02):
    """Latent on a box of a few length-scales, and the covariance of rows sampled from the model."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 4.0, (n, m)) * kernel.length_scale
    model = naive_covariance(latent, kernel.covariance, 1.0, noise)
    rows = np.linalg.cholesky(model) @ rng.standard_normal((n, n_observed))
    return latent, gplvm.sample_covariance(rows)


def rigid_gap(latent, found):
    """Root mean square distance after the best rotation or reflection and shift."""
    a, b = latent - latent.mean(axis=0), found - found.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    return np.sqrt(((b @ left @ right - a) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_likelihood_refine_finds_the_latent_and_is_likelier_than_the_truth(kernel):
    latent, cov = sample(0, kernel, m=2, n=40)
    fit = refine.likelihood(cov, 300, 2, kernel)
    assert rigid_gap(latent, fit.latent) < 0.25
    assert fit.log_likelihood > gplvm.log_likelihood(latent, cov, 300, kernel, 1.0, 0.02)
    assert fit.complete
    assert fit.n_iter > 100


def test_the_log_likelihood_belongs_to_the_parameters_returned():
    _, cov = sample(1, KERNELS[0])
    fit = refine.likelihood(7.3 * cov, 300, 1, KERNELS[0])
    own = gplvm.log_likelihood(fit.latent, 7.3 * cov, 300, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)
    assert fit.pool[0] == (fit.start, fit.log_likelihood, 0.0)


def test_the_units_of_the_observations_do_not_matter():
    _, cov = sample(2, KERNELS[3])
    fit, large = (refine.likelihood(unit * cov, 300, 1, "matern") for unit in (1.0, 1024.0))
    np.testing.assert_allclose(large.latent, fit.latent, atol=1e-9)
    assert large.noise == pytest.approx(1024.0 * fit.noise, rel=1e-9)
    assert large.variance == pytest.approx(1024.0 * fit.variance, rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_the_rows_leaves_no_trace(seed):
    _, cov = sample(seed, KERNELS[2], m=2)
    order = np.random.default_rng(seed).permutation(len(cov))
    fit = refine.likelihood(cov, 300, 2, KERNELS[2])
    mixed = refine.likelihood(cov[np.ix_(order, order)], 300, 2, KERNELS[2])
    np.testing.assert_allclose(mixed.latent, fit.latent[order], atol=1e-8)
    np.testing.assert_allclose(mixed.standard_errors, fit.standard_errors[order], atol=1e-8)


def test_the_order_of_the_rows_leaves_no_trace_where_a_core_is_searched(monkeypatch):
    monkeypatch.setattr(_limits, "LIKELIHOOD_BLOCKED", 20)
    monkeypatch.setattr(search, "BLOCK", 20)
    _, cov = sample(2, KERNELS[1], n=50, m=2)
    order = np.random.default_rng(2).permutation(len(cov))
    fit = refine.likelihood(cov, 300, 2, KERNELS[1])
    mixed = refine.likelihood(cov[np.ix_(order, order)], 300, 2, KERNELS[1])
    assert (mixed.latent == fit.latent[order]).all()
    assert mixed.log_likelihood == fit.log_likelihood


def test_two_runs_give_the_same_bits():
    _, cov = sample(3, KERNELS[1], m=2)
    first, second = (refine.likelihood(cov, 300, 2, KERNELS[1]) for _ in range(2))
    assert (first.latent == second.latent).all()
    assert first.log_likelihood == second.log_likelihood


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_on_an_exact_covariance_nothing_moves(kernel):
    latent, _ = sample(4, kernel, n=25, m=2)
    cov = naive_covariance(latent, kernel.covariance, 1.3, 0.05)
    fit = refine.likelihood(cov, 100, 2, kernel, starts={"truth": latent}, search="local")
    assert rigid_gap(latent, fit.latent) < 1e-5
    assert fit.variance == pytest.approx(1.3, rel=1e-5)
    assert fit.noise == pytest.approx(0.05, rel=1e-5)


def test_the_noise_is_found():
    _, cov = sample(5, KERNELS[0], n=50, m=1, n_observed=1000, noise=0.3)
    fit = refine.likelihood(cov, 1000, 1, KERNELS[0])
    assert fit.noise == pytest.approx(0.3, rel=0.05)
    assert fit.variance == pytest.approx(1.0, rel=0.25)


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[2]], ids=repr)
def test_auto_chooses_the_kernel_that_made_the_data(kernel):
    _, cov = sample(6, kernel, n=40, m=1, n_observed=500)
    assert type(refine.likelihood(cov, 500, 1, "auto").kernel) is type(kernel)


def test_a_free_shape_is_likelier_than_a_wrong_one():
    true = kernels.RationalQuadratic(alpha=0.5)
    _, cov = sample(7, true, n=40, n_observed=2000)
    wrong = replace(true, alpha=4.0)
    fixed = refine.likelihood(cov, 2000, 1, wrong)
    free = refine.likelihood(cov, 2000, 1, wrong, fit_shape=True)
    assert free.log_likelihood > fixed.log_likelihood
    assert abs(np.log(free.kernel.alpha / 0.5)) < abs(np.log(4.0 / 0.5))


def test_a_time_budget_ends_the_search_with_the_best_so_far():
    _, cov = sample(8, KERNELS[3], n=40, m=2)
    refine.likelihood(cov, 300, 2, "matern", time_budget=0.01)
    begin = time.perf_counter()
    fit = refine.likelihood(cov, 300, 2, "matern", time_budget=0.05)
    assert time.perf_counter() - begin < 5.0
    assert not fit.complete
    assert np.isfinite(fit.latent).all()
    own = gplvm.log_likelihood(fit.latent, cov, 300, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("budget", [0.01, 0.1, 0.3])
def test_out_of_time_the_log_likelihood_is_that_of_all_points(budget, monkeypatch):
    monkeypatch.setattr(_limits, "LIKELIHOOD_BLOCKED", 40)
    monkeypatch.setattr(search, "BLOCK", 20)
    _, cov = sample(8, KERNELS[3], n=90, m=2)
    fit = refine.likelihood(cov, 300, 2, "matern", time_budget=budget)
    own = gplvm.log_likelihood(fit.latent, cov, 300, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[3]], ids=repr)
@pytest.mark.parametrize("limit", [50, 100])
def test_blocks_of_points_find_the_latent_too(kernel, limit, monkeypatch):
    monkeypatch.setattr(search, "BLOCK", 20)
    monkeypatch.setattr(_limits, "LIKELIHOOD_BLOCKED", 40)
    monkeypatch.setattr(_limits, "LIKELIHOOD_WHOLE", limit)
    latent, cov = sample(9, kernel, n=60, m=1, n_observed=500)
    fit = refine.likelihood(cov, 500, 1, kernel)
    assert rigid_gap(latent, fit.latent) < 0.25
    own = gplvm.log_likelihood(fit.latent, cov, 500, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize(("seed", "way"), [(9, "local"), (9, "wide"), (49, "wide")])
def test_a_folded_line_is_unrolled(seed, way, monkeypatch):
    rng = np.random.default_rng([77, seed])
    line = np.sort(rng.uniform(0.0, 5.0, 36))[:, None]
    n_observed, sd = (90, 0.9) if seed == 9 else (40, 0.5)
    model = kernels.RationalQuadratic(length_scale=0.5).covariance((line - line.T) ** 2)
    rows = np.linalg.cholesky(model + 1e-9 * np.eye(36)) @ rng.standard_normal((36, n_observed))
    cov = gplvm.sample_covariance(rows + sd * rng.standard_normal(rows.shape))
    folded = {"folded": np.abs(line - 2.0)}

    def find():
        return refine.likelihood(
            cov, n_observed, 1, "rational_quadratic", starts=folded, search=way
        )

    found = find()
    assert abs(np.corrcoef(found.latent[:, 0], line[:, 0])[0, 1]) > 0.99
    monkeypatch.setattr(search, "EXTRA", ())
    monkeypatch.setattr(search, "PERTURB_WORK", 0.0)
    monkeypatch.setattr(repair, "_REPAIRS", 0)
    stuck = find()
    assert stuck.log_likelihood <= found.log_likelihood
    if way == "local":
        assert abs(np.corrcoef(stuck.latent[:, 0], line[:, 0])[0, 1]) < 0.95


def test_a_line_lifted_into_a_plane_stays_a_curve_of_the_same_points():
    latent, cov = sample(19, KERNELS[3], n=30, m=1)
    wide = objective.Objective(cov, KERNELS[3], 2)
    curve = unroll.lifted(wide, latent, "truth")
    assert curve.shape == (30, 2)
    lines = unroll.unroll_curve(curve, KERNELS[3], 1)
    assert len(lines) == 3
    for line in lines:
        assert abs(np.corrcoef(line[:, 0], latent[:, 0])[0, 1]) > 0.98


def test_the_axes_of_the_result_are_principal_and_the_widest_is_first():
    _, cov = sample(3, KERNELS[0], n=30, m=2)
    fit = refine.likelihood(cov, 300, 2, KERNELS[0])
    np.testing.assert_allclose(
        np.abs(PCA(2).fit_transform(fit.latent)), np.abs(fit.latent), atol=1e-9
    )
    peak = np.abs(fit.latent).argmax(axis=0)
    assert (fit.latent[peak, [0, 1]] > 0.0).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_scoring_converges_where_many_more_steps_of_l_bfgs_only_come_near(kernel):
    latent, cov = sample(20, kernel, n=40, m=2)
    at = objective.Objective(cov, kernel, 2)
    start = descent.fit_size(at, latent, "truth")
    scored = minimize.score(at, start, 60, tolerance=1e-13)
    followed = minimize.polish(at, start, 2000)
    assert scored.value <= followed.value + 1e-6
    assert np.abs(at(scored.vector)[1]).max() < 1e-3
    assert minimize.score(at, scored, 5).value <= scored.value


@pytest.mark.parametrize("seed", range(4))
def test_steps_from_an_old_information_end_where_those_of_scoring_do(seed):
    kernel = KERNELS[seed % len(KERNELS)]
    latent, cov = sample(40 + seed, kernel, n=30, m=2, noise=0.2)
    goal = objective.Objective(cov, kernel, 2)
    rng = np.random.default_rng(seed)
    start = goal.vector(latent + 0.1 * rng.standard_normal(latent.shape), 1.0, 0.2)
    vector, (value, gradient) = start, goal(start)
    for _ in range(200):
        known = goal.information(vector)
        known.flat[:: len(known) + 1] *= 1.1
        step = -np.linalg.solve(known, gradient)
        while goal.value(vector + step) > value and np.abs(step).max() > 1e-9:
            step *= 0.5
        vector = vector + step
        value, gradient = goal(vector)
    found = minimize.score(goal, objective.Candidate(np.inf, start, "near"), 60, tolerance=1e-11)
    assert found.value <= value + 1e-6


def test_an_information_that_cannot_be_factorised_ends_the_steps(monkeypatch):
    latent, cov = sample(21, KERNELS[0], n=12)
    at = objective.Objective(cov, KERNELS[0], 1)
    start = at.candidate(at.vector(latent), "here")
    size = start.vector.size
    monkeypatch.setattr(at, "information", lambda vector: -np.eye(size))
    # The second damping is one that steps have raised to more than is ever tried.
    for damping in (1e-2, 2e3):
        monkeypatch.setattr(minimize, "_DAMPING", damping)
        ended = minimize.score(at, start, 5)
        assert ended.value == start.value
        assert (ended.vector == start.vector).all()


def test_scoring_never_goes_up_and_stands_still_where_there_is_no_step():
    latent, cov = sample(21, KERNELS[0], n=12)
    at = objective.Objective(cov, KERNELS[0], 1)
    start = objective.Candidate(np.inf, at.vector(latent), "here")
    assert minimize.score(at, start, 0).value == at(start.vector)[0]
    values = [minimize.score(at, start, steps).value for steps in range(6)]
    assert (np.diff(values) <= 0.0).all()


def test_a_large_latent_goes_down_without_the_information(monkeypatch):
    latent, cov = sample(22, KERNELS[3], n=30)
    fit = refine.likelihood(cov, 300, 1, KERNELS[3], starts={"truth": latent}, search="local")
    monkeypatch.setattr(minimize, "SCORING_LIMIT", 10)
    other = refine.likelihood(cov, 300, 1, KERNELS[3], starts={"truth": latent}, search="local")
    assert other.log_likelihood == pytest.approx(fit.log_likelihood, abs=0.1)


def test_a_local_search_starts_from_the_given_latents_alone():
    _, cov = sample(23, KERNELS[2], n=30, m=2)
    thrown = np.random.default_rng(3).uniform(-2.0, 2.0, (2, 30, 2))
    starts = {"one": thrown[0], "other": thrown[1]}
    stuck = refine.likelihood(cov, 300, 2, KERNELS[2], starts=starts, search="local")
    assert {entry.start for entry in stuck.pool} == {"one", "other"}
    found = refine.likelihood(cov, 300, 2, KERNELS[2], starts=starts, search="wide")
    assert found.log_likelihood > stuck.log_likelihood - 1e-6
    assert {"one", "other"} < {entry.start for entry in found.pool}
    with pytest.raises(ValueError, match="starts must hold a latent where search is 'local'"):
        refine.likelihood(cov, 300, 1, KERNELS[2], search="local")
    with pytest.raises(ValueError, match="search must be one of"):
        refine.likelihood(cov, 300, 1, KERNELS[2], search="narrow")


def test_the_pool_tells_how_far_each_end_is_from_the_winner():
    latent, cov = sample(26, KERNELS[0], n=30, m=2)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    lost = np.random.default_rng(3).uniform(-2.0, 2.0, latent.shape)
    starts = {"lost": lost, "truth": latent, "turned": latent @ turn + 3.0}
    pool = refine.likelihood(cov, 300, 2, KERNELS[0], starts=starts, search="local").pool
    assert [entry.log_likelihood for entry in pool] == sorted(
        (entry.log_likelihood for entry in pool), reverse=True
    )
    by_name = {entry.start: entry for entry in pool}
    assert by_name["lost"].distance > 0.3
    assert max(by_name["truth"].distance, by_name["turned"].distance) < 1e-3
    assert pool[0].distance == 0.0


@pytest.mark.parametrize("way", search.WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_the_end_is_never_less_likely_than_a_plain_descent_from_a_given_start(seed, way):
    kernel = KERNELS[seed]
    latent, cov = sample(seed, kernel, n=40, m=2, n_observed=60, noise=0.3)
    scaled = cov / np.trace(cov) * len(cov)
    goal = objective.Objective(scaled, kernel, 2)
    start = latent + 0.5 * np.random.default_rng(seed).standard_normal(latent.shape)
    plain = descent.descend(goal, start, "mine")
    fit = refine.likelihood(scaled, 60, 2, kernel, starts={"mine": start}, search=way)
    assert fit.log_likelihood >= -60 * plain.value - 1e-6


def test_who_cannot_catch_up_is_given_up_on_the_way():
    truth, cov = sample(9, KERNELS[0], m=2)
    goal = objective.Objective(cov / np.trace(cov) * 30, KERNELS[0], 2)
    start = truth + np.random.default_rng(9).normal(0.0, 0.5, truth.shape)
    end = descent.catch_up(goal, start, "start", np.inf, 240)
    assert end.value == pytest.approx(descent.descend(goal, start, "start").value, abs=1e-6)
    before = goal.meter.n_evaluations
    # Whoever may still end below what is known goes on to the same place.
    assert descent.catch_up(goal, start, "start", end.value + 1e-9, 240).value == end.value
    whole = goal.meter.n_evaluations - before
    given_up = descent.catch_up(goal, start, "start", end.value - 100.0, 240)
    assert end.value <= given_up.value < np.inf
    assert goal.meter.n_evaluations - before - whole < whole


def test_every_start_goes_through_the_soft_floors_once_under_each_kernel(monkeypatch):
    latent, cov = sample(10, KERNELS[0], m=2)
    seen, real = [], search.anneal

    def anneal(goal, start, name):
        seen.append((goal.kernel, name))
        return real(goal, start, name)

    monkeypatch.setattr(search, "anneal", anneal)
    refine.likelihood(cov, 300, 2, "auto", starts={"mine": latent})
    assert len(seen) == len(set(seen)) > len(kernels.KERNELS)


def test_a_lower_floor_changes_neither_value_nor_gradient():
    latent, cov = sample(5, KERNELS[1], n=20, m=2)
    goal = objective.Objective(cov, KERNELS[1], 2)
    soft = minimize.polish(goal, goal.place(latent, "truth", 0.3), 30, 0.3)
    assert goal.scales(soft.vector)[1] == pytest.approx(0.3)
    np.testing.assert_array_equal(goal.raised(soft.vector, 0.1), soft.vector)
    lower = minimize.polish(goal, soft, 1, 0.1)
    assert lower.value < soft.value
    assert np.abs(goal.latent(lower.vector) - goal.latent(soft.vector)).max() < 0.5
    assert goal.scales(goal.raised(lower.vector, 0.3))[1] == pytest.approx(0.3)


def test_no_step_moves_a_point_farther_than_a_length_scale():
    kernel = kernels.SquaredExponential(length_scale=2.0)
    latent, cov = sample(6, kernel, n=20, m=2)
    goal = objective.Objective(cov, kernel, 2)
    # A latent far too small, and hardly any noise: the gradient is enormous.
    begin = objective.Candidate(np.inf, goal.vector(0.01 * latent, 1.0, 1e-7), "small")
    assert np.abs(goal(begin.vector)[1]).max() > 1e4
    for minimiser in (minimize.polish, minimize.score):
        ends = [goal.latent(minimiser(goal, begin, steps).vector) for steps in range(8)]
        gaps = [np.linalg.norm(b - a, axis=1).max() for a, b in itertools.pairwise(ends)]
        assert max(gaps) <= 2.0 + 1e-9
        assert max(gaps) > 0.0


def test_variances_stay_within_their_bounds():
    # Rows of one direction alone: the likeliest signal variance is infinite, the noise nothing.
    rows = np.outer(np.linspace(1.0, 2.0, 20), np.random.default_rng(0).standard_normal(200))
    fit = refine.likelihood(gplvm.sample_covariance(rows), 200, 1)
    scale = np.trace(gplvm.sample_covariance(rows)) / 20
    low, high = objective.VARIANCES
    assert low <= fit.variance / scale <= high * (1.0 + 1e-9)
    assert objective.LEAST_NOISE * (1.0 - 1e-9) <= fit.noise / scale <= objective.MOST_NOISE
    assert np.isfinite(fit.latent).all()


def test_lbfgs_holds_bounds_and_takes_shorter_steps_where_there_is_no_value():
    def bowl(at):
        if at[0] > 3.0:
            return np.inf, np.zeros(2)
        return float((at[0] - 2.9) ** 2 + (at[1] - 5.0) ** 2), 2.0 * (at - [2.9, 5.0])

    bounds = np.array([[-np.inf, 0.0], [np.inf, 1.0]])
    found = minimize.lbfgs(bowl, np.zeros(2), bounds, lambda step: np.inf, 50, 1e-14)
    np.testing.assert_allclose(found, [2.9, 1.0], atol=1e-5)


@pytest.mark.parametrize("patience", [0, 20])
def test_perturbations_never_lose_and_sometimes_gain(patience):
    latent, cov = sample(27, KERNELS[0], n=30, m=2, noise=0.3)
    goal = objective.Objective(cov / np.trace(cov) * 30, KERNELS[0], 2)
    wrong = latent.copy()
    wrong[latent[:, 0] > 2.0, 1] *= -1.0
    begin = descent.descend(goal, wrong, "mirrored")
    found = escape.escape(goal, begin, [], patience, np.inf)
    assert found.value <= begin.value
    assert escape.escape(goal, begin, [], patience, 0.0) == begin


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("turn", range(4))
def test_every_perturbation_changes_some_points(m, turn):
    latent = np.random.default_rng(m).standard_normal((40, m))
    moved = perturb.perturbed(latent, turn, 0.5, np.random.default_rng(turn))
    assert moved.shape == latent.shape
    still = np.isclose(moved, latent - latent.mean(axis=0)).all(axis=1)
    assert not still.all()
    if turn > 0 and m > 1:
        assert still.any()


def test_a_mirrored_part_keeps_its_own_distances():
    latent = np.random.default_rng(4).standard_normal((40, 3))
    moved = perturb.perturbed(latent, 1, 0.5, np.random.default_rng(1))
    centred = latent - latent.mean(axis=0)
    part = ~np.isclose(moved, centred).all(axis=1)
    np.testing.assert_allclose(cdist(moved[part], moved[part]), cdist(latent[part], latent[part]))
    np.testing.assert_allclose(moved[~part], centred[~part])


def test_a_part_is_cut_off_at_the_widest_gap_near_by():
    values = np.r_[np.arange(10.0), 20.0 + np.arange(10.0), 60.0 + np.arange(10.0)]
    assert perturb._widest_gap(values, 8) == 10
    assert perturb._widest_gap(values, 18) == 20
    assert perturb._widest_gap(values[:2], 0) == 1


def test_parts_are_points_and_clusters_of_them():
    _, cov = sample(24, KERNELS[0])
    found = perturb.parts(cov / np.sqrt(np.outer(np.diagonal(cov), np.diagonal(cov))), 6)
    assert [part.tolist() for part in found[:30]] == [[i] for i in range(30)]
    assert all(1 < len(part) <= 6 for part in found[30:])
    assert len(found) > 35


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_points_that_were_taken_out_are_placed_where_they_belong(kernel):
    latent, _ = sample(25, kernel, n=40, m=2)
    cov = naive_covariance(latent, kernel.covariance, 1.0, 0.02)
    group = np.array([3, 17])
    lost = latent.copy()
    lost[group] += 5.0 * kernel.length_scale
    (found,) = perturb.reinserted(lost, cov, kernel, 1.0, 0.1, [group])
    np.testing.assert_array_equal(np.delete(found, group, 0), np.delete(latent, group, 0))
    gap = np.linalg.norm(found[group] - latent[group], axis=1)
    assert gap.max() < 0.6 * kernel.length_scale


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_points_are_placed_by_a_core(kernel):
    latent, _ = sample(27, kernel, n=60, m=2)
    cov = naive_covariance(latent, kernel.covariance, 1.0, 0.02)
    core = composite.farthest_points(latent, 40)
    found = perturb.completed(latent[core], core, cov, kernel, 1.0, 0.1)
    np.testing.assert_array_equal(found[core], latent[core])
    gap = np.linalg.norm(found - latent, axis=1)
    assert gap.max() < 0.6 * kernel.length_scale


def test_farthest_points_cover_a_latent_and_are_never_the_same():
    latent = np.random.default_rng(3).uniform(0.0, 4.0, (200, 2))
    chosen = composite.farthest_points(latent, 40)
    assert (np.diff(chosen) > 0).all()
    reach = cdist(latent, latent[chosen]).min(axis=1).max()
    taken = cdist(latent[chosen], latent[chosen])[np.triu_indices(40, 1)]
    assert reach <= taken.min()
    assert composite.farthest_points(np.zeros((9, 2)), 5).tolist() == [0, 1, 2, 3, 4]


def test_a_core_leads_out_of_an_optimum_that_blocks_stay_in(monkeypatch):
    monkeypatch.setattr(_limits, "LIKELIHOOD_BLOCKED", 40)
    monkeypatch.setattr(search, "BLOCK", 30)
    kernel = KERNELS[1]
    line, cov = sample(6, kernel, n=70, n_observed=300, noise=0.3)
    folded = {"folded": np.abs(line - line.mean())}

    def find():
        fit = refine.likelihood(cov, 300, 1, kernel, starts=folded, search="local")
        return abs(np.corrcoef(fit.latent[:, 0], line[:, 0])[0, 1])

    # Neither misfits placed anew nor stretches turned: they would find the way too.
    monkeypatch.setattr(repair, "_REPAIRS", 0)
    monkeypatch.setattr(repair, "reverse", lambda objective, best, *_: best)
    assert find() > 0.99
    monkeypatch.setattr(search._OneKernel, "_through_core", lambda _, lead: lead)
    assert find() < 0.95
    monkeypatch.setattr(repair, "_REPAIRS", 1)
    assert find() > 0.99


@pytest.mark.parametrize("cut", range(3))
def test_every_point_is_in_one_cell_and_one_spread_block(cut):
    latent = np.random.default_rng(10).uniform(0.0, 4.0, (90, 2))
    blocks = composite.blocks_of(latent, 15, cut)
    assert (np.bincount(np.concatenate(blocks), minlength=90) == 2).all()
    assert all((np.diff(block) > 0).all() for block in blocks)
    assert max(block.size for block in blocks) == 15
    # Halving leaves cells of 90 / 8 points, and these are neighbours.
    cells = blocks[:8]
    assert np.mean([latent[cell].std(axis=0).mean() for cell in cells]) < 0.6 * latent.std()


@pytest.mark.parametrize("kernel", [*KERNELS, kernels.GammaExponential(gamma=1.6)], ids=repr)
@pytest.mark.parametrize("blocked", [False, True])
def test_the_gradient_of_the_objective_equals_finite_differences(kernel, blocked):
    latent, cov = sample(11, kernel, n=12, m=2)
    blocks = [np.arange(8), np.arange(4, 12)] if blocked else None
    shape = gplvm.shape_name(kernel) is not None
    at = objective.Objective(cov, kernel, 2, blocks=blocks, shape=shape)
    vector = at.vector(latent, 0.9, 0.05)
    numeric = central_difference(lambda x: at(x)[0], vector)
    np.testing.assert_allclose(at(vector)[1], numeric, rtol=1e-5, atol=1e-6)


def test_standard_errors_equal_those_of_the_naive_information():
    kernel = KERNELS[3]
    latent, _ = sample(12, kernel, n=8, m=2)
    model = naive_covariance(latent, kernel.covariance, 1.2, 0.1)
    inverse = np.linalg.inv(model)
    slopes = []
    for i in range(8):
        for c in range(2):
            shift = np.zeros((8, 2))
            shift[i, c] = 1e-5
            up = naive_covariance(latent + shift, kernel.covariance, 1.2, 0.1)
            down = naive_covariance(latent - shift, kernel.covariance, 1.2, 0.1)
            slopes.append(inverse @ (up - down) / 2e-5)
    information = 50.0 * np.array([[np.trace(a @ b) for b in slopes] for a in slopes])
    wanted = np.sqrt(np.diagonal(np.linalg.pinv(information, rcond=1e-7))).reshape(8, 2)
    found = refine.standard_errors(latent, 100, kernel, 1.2, 0.1)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_standard_errors_are_as_large_as_the_errors():
    kernel, n_observed = KERNELS[0], 500
    latent, _ = sample(13, kernel, n=30, m=2)
    model = naive_covariance(latent, kernel.covariance, 1.0, 0.1)
    root = np.linalg.cholesky(model)
    ratios = []
    for seed in range(6):
        rows = root @ np.random.default_rng(seed).standard_normal((30, n_observed))
        cov = gplvm.sample_covariance(rows)
        fit = refine.likelihood(cov, n_observed, 2, kernel, starts={"truth": latent})
        expected = np.sqrt((fit.standard_errors**2).sum(axis=1).mean())
        ratios.append(rigid_gap(latent, fit.latent) / expected)
    assert 0.7 < np.mean(ratios) < 1.4


def test_starts_are_closed_forms_of_several_graphs(monkeypatch):
    latent, cov = sample(14, KERNELS[0], m=2)
    found = refine.starts(cov, 300, 2)
    assert len(found) == 6
    assert not np.allclose(found["threshold"], found["threshold + stress"])
    assert all(start.shape == (30, 2) and np.isfinite(start).all() for start in found.values())
    near = {name for name, start in found.items() if rigid_gap(latent, start) < 0.8}
    assert near >= set(found) - {"eigen", "principal components"}
    monkeypatch.setattr(_limits, "STARTS_MANY", 20)
    assert set(refine.starts(cov, 300, 2)) == {"threshold", "5 neighbors"}


def test_a_start_that_is_given_is_not_searched_twice():
    latent, cov = sample(14, KERNELS[0], m=2)
    found = refine.starts(cov, 300, 2)
    turned = found["threshold"] @ np.array([[0.6, -0.8], [0.8, 0.6]]) + 1.0
    given = {"mine": turned, "eigen": latent}
    assert set(unlike(found, given)) == set(found) - {"threshold", "eigen"}
    assert set(unlike(found, {"mine": 1.001 * turned})) == set(found)


def test_tiny_problems_are_solved():
    fit = refine.likelihood(np.array([[1.0, 0.4], [0.4, 1.0]]), 50, 1)
    assert fit.latent.shape == (2, 1)
    assert np.isfinite(fit.latent).all()


def test_duplicate_points_are_no_obstacle():
    _, cov = sample(15, KERNELS[2], n=20)
    twice = np.repeat(np.arange(20), 2)
    fit = refine.likelihood(cov[np.ix_(twice, twice)], 300, 1, KERNELS[2])
    assert np.isfinite(fit.latent).all()


def test_what_does_not_fit_is_refused():
    latent, cov = sample(17, KERNELS[0], n=10)
    with pytest.raises(ValueError, match="sample_cov must be symmetric"):
        refine.likelihood(cov + np.triu(cov, 1), 300, 1)
    with pytest.raises(ValueError, match="n_components must be less"):
        refine.likelihood(cov, 300, 10)
    with pytest.raises(ValueError, match="n_observed must be an integer"):
        refine.likelihood(cov, 0, 1)
    with pytest.raises(ValueError, match="time_budget must be positive"):
        refine.likelihood(cov, 300, 1, time_budget=0.0)
    with pytest.raises(ValueError, match=r"starts\['mine'\] must have shape"):
        refine.likelihood(cov, 300, 2, starts={"mine": latent})
    with pytest.raises(ValueError, match="must be positive"):
        refine.likelihood(np.zeros((4, 4)), 300, 1)


def test_cdist_of_the_result_is_in_units_of_the_kernel():
    kernel = kernels.SquaredExponential(length_scale=10.0)
    latent, cov = sample(18, kernel, n=30, m=1, n_observed=1000)
    fit = refine.likelihood(cov, 1000, 1, kernel)
    assert cdist(fit.latent, fit.latent).max() == pytest.approx(
        cdist(latent, latent).max(), rel=0.1
    )
