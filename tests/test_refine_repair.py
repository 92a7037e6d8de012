"""Repair of local optima: misfits found and placed anew, lines rejoined, lost points drawn in."""

import numpy as np
import polish_cells
import pytest

from ikd_graph import gplvm, kernels, refine
from ikd_graph.refine import reverse
from ikd_graph.refine.descent import descend
from ikd_graph.refine.objective import Objective
from ikd_graph.refine.pieces import assembled
from ikd_graph.refine.repair import drawn_in, misfits, repaired
from ikd_graph.study.metrics import affine_r2

N_OBSERVED = 300
KERNEL = kernels.Matern()


def problem(latent: np.ndarray, seed: int = 0, noise: float = 0.2) -> Objective:
    """Likelihood of rows sampled at a latent."""
    rng = np.random.default_rng(seed)
    sq_dist = ((latent[:, None] - latent) ** 2).sum(axis=-1)
    model = KERNEL.covariance(sq_dist) + noise * np.eye(len(latent))
    rows = np.linalg.cholesky(model) @ rng.standard_normal((len(latent), N_OBSERVED))
    cov = gplvm.sample_covariance(rows)
    return Objective(cov / np.diagonal(cov).mean(), KERNEL, latent.shape[1])


@pytest.fixture(scope="module")
def line() -> np.ndarray:
    return np.sort(np.random.default_rng(1).uniform(0.0, 12.0, 90))[:, None]


@pytest.fixture(scope="module")
def plane() -> np.ndarray:
    return np.random.default_rng(2).uniform(0.0, 4.0, (80, 2))


@pytest.mark.parametrize("seed", range(5))
def test_the_true_latent_has_hardly_any_misfits(line, plane, seed):
    for latent in (line, plane):
        objective = problem(latent, seed)
        vector = objective.vector(latent, 0.83, 0.17)
        # One pair of all disagrees by chance.
        assert misfits(objective, vector, N_OBSERVED).size <= 3


def test_points_that_were_moved_are_the_misfits(plane):
    objective, wrong = problem(plane), plane.copy()
    wrong[[3, 40]] = plane[[40, 3]]
    assert np.linalg.norm(plane[3] - plane[40]) > 1.0
    found = misfits(objective, objective.vector(wrong, 0.83, 0.17), N_OBSERVED)
    assert set(found.tolist()) == {3, 40}


def test_misfits_are_placed_where_they_belong(plane):
    objective, wrong = problem(plane), plane.copy()
    wrong[[3, 40, 17]] = plane[[40, 17, 3]]
    right = descend(objective, plane, "right")
    stuck = descend(objective, wrong, "wrong")
    assert stuck.value > right.value + 0.05
    found = repaired(objective, stuck, N_OBSERVED)
    end = descend(objective, objective.latent(found.vector), "repaired")
    assert end.value < right.value + 1e-3
    assert repaired(objective, right, N_OBSERVED) is None


def test_a_line_in_pieces_is_put_together(line):
    objective, broken = problem(line), line.copy()
    middle = line > 8.0
    broken[middle] = 40.0 - line[middle]
    vector = objective.vector(broken, 0.83, 0.17)
    assert affine_r2(line, broken) < 0.9
    latent, seam = assembled(objective, vector, N_OBSERVED)
    assert affine_r2(line, latent) > 0.99
    assert not seam.size
    assert assembled(objective, objective.vector(line, 0.83, 0.17), N_OBSERVED) is None


def test_a_fold_is_cut_and_laid_straight(line):
    objective, folded = problem(line), line.copy()
    folded[line > 6.0] = 12.0 - line[line > 6.0]
    vector = objective.vector(folded, 0.83, 0.17)
    latent, seam = assembled(objective, vector, N_OBSERVED)
    assert np.mean(np.abs(line[seam] - 6.0) < 2.0) > 0.8
    sure = np.setdiff1d(np.arange(len(line)), seam)
    assert affine_r2(line[sure], latent[sure]) > 0.99


def test_a_point_that_nothing_holds_is_drawn_in():
    latent = np.vstack([np.random.default_rng(3).uniform(0.0, 3.0, (40, 2)), [[60.0, 0.0]]])
    objective = problem(latent)
    here = objective.candidate(objective.vector(latent, 0.83, 0.17), "far")
    near = drawn_in(objective, here, N_OBSERVED)
    moved = objective.latent(near.vector)
    assert np.array_equal(moved[:-1], latent[:-1])
    assert np.linalg.norm(moved[:-1] - moved[-1], axis=1).min() < 12.0
    assert near.value < here.value + 0.2 / N_OBSERVED


def test_points_that_hold_one_another_stay(plane):
    objective = problem(plane)
    here = objective.candidate(objective.vector(plane, 0.83, 0.17), "here")
    assert drawn_in(objective, here, N_OBSERVED) is here


def test_a_broken_start_no_longer_ends_broken(line):
    objective, broken = problem(line), line.copy()
    middle = line > 8.0
    broken[middle] = 40.0 - line[middle]
    fit = refine.likelihood(
        objective.cov, N_OBSERVED, 1, KERNEL, starts={"broken": broken}, search="local"
    )
    assert affine_r2(line, fit.latent) > 0.99


@pytest.mark.parametrize(("first", "last"), [(0, 20), (25, 60), (70, 99)])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_stretch_the_wrong_way_round_is_turned(first, last, width):
    rng = np.random.default_rng(first)
    true = np.sort(rng.uniform(0.0, 12.0, 100))
    corr = np.exp(-np.abs(true[:, None] - true))
    line = true.copy()
    stretch = slice(first, last + 1)
    line[stretch] = true[first] + true[last] - true[stretch]
    found = reverse.turned_line(line, corr, width, 0.2)
    np.testing.assert_allclose(found, true, atol=1e-12)
    assert reverse.turned_line(true, corr, width, 0.2) is None


def test_what_turning_gains_equals_its_definition():
    rng = np.random.default_rng(0)
    n, width = 13, 3
    corr = np.corrcoef(rng.standard_normal((n, 4)))
    gains = reverse._gains(corr, width)
    for first in range(n):
        for last in range(first + 1, n):
            if (first, last) == (0, n - 1):
                continue
            points = list(range(first, last + 1))
            before, after = range(max(first - width, 0), first), range(last + 1, n)[:width]

            def tied(one, other):
                return corr[np.ix_(one, other)].mean() if len(one) and len(other) else 0.0

            expected = tied(before, points[-width:]) - tied(before, points[:width])
            expected += tied(points[:width], after) - tied(points[-width:], after)
            assert gains[first, last] == pytest.approx(expected, abs=1e-12)


def test_a_turned_line_is_never_less_likely():
    cell = polish_cells.sample_cell(
        "cloud", "gamma_exponential", 0.5, 0.5, (80, 200, 1), np.random.default_rng(3)
    )
    cov = gplvm.sample_covariance(cell.rows)
    objective = Objective(cov / (np.trace(cov) / 80), kernels.get(cell.kernel), 1)
    order = np.argsort(cell.latent[:, 0])
    line = cell.latent[:, 0] / cell.length_scale
    stretch = order[30:55]
    line[stretch] = line[stretch].min() + line[stretch].max() - line[stretch]
    wrong = descend(objective, line[:, None], "start")
    asked = []

    def down(start):
        asked.append(start)
        return descend(objective, start, "start")

    found = reverse.reverse(objective, wrong, 200, down, np.inf)
    assert asked
    assert found.value < wrong.value - 1.0
    assert affine_r2(cell.latent, objective.latent(found.vector)) > 0.99
    assert reverse.reverse(objective, wrong, 200, down, -1.0) is wrong
