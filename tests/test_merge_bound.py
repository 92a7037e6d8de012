"""The lower bound of a merger: never above a cost, tight where it can be, zero for exact pieces."""

import numpy as np
import pytest

from ikd_graph import alignment
from ikd_graph._records import Blocks, SolvedBlocks
from ikd_graph.alignment import _bound


def pieces(seed, noise, n=40, size=9, step=3):
    """Overlapping strips of a plane, each turned and shifted, and the plane."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)) * [3.0, 1.0]
    points = points[np.argsort(points[:, 0])]
    starts = range(0, n - size + 1, step)
    members = [np.arange(start, start + size) for start in starts]
    members[-1] = np.arange(members[-1][0], n)
    own = []
    for rows in members:
        turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
        place = points[rows] + noise * rng.normal(size=(rows.size, 2))
        own.append(place @ turn + rng.normal(size=2))
    sizes = [rows.size for rows in members]
    blocks = Blocks(np.cumsum([0, *sizes]), np.concatenate(members).astype(np.int32))
    k, total = len(sizes), sum(sizes)
    precision = rng.uniform(0.5, 2.0, total)
    flat = np.ones((k, 2)), np.ones(k), np.zeros(k)
    return SolvedBlocks(blocks, np.vstack(own), precision, *flat, 0), points


def merged_cost(solved, start):
    found = alignment.merge_global(solved, len(start), start=start, max_rounds=60)
    return found.objective, found.coordinates


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_is_below_every_merger_and_mostly_tight(seed):
    solved, points = pieces(seed, 0.1)
    cost, best = merged_cost(solved, points)
    found = alignment.merge_bound(solved, best)
    assert found.cost == pytest.approx(cost)
    assert found.bound <= cost
    assert found.gap < 0.01
    rng = np.random.default_rng(seed)
    for _ in range(10):
        start = rng.normal(size=points.shape)
        other, place = merged_cost(solved, start)
        assert found.bound <= other * (1.0 + 1e-9)
        assert alignment.merge_bound(solved, place).bound <= cost * (1.0 + 1e-9)


def test_a_bound_does_not_depend_on_what_was_merged_well():
    # A merger with a part mirrored is no better than the gap says.
    solved, points = pieces(3, 0.1)
    cost, best = merged_cost(solved, points)
    wrong = best.copy()
    wrong[25:, 1] *= -1.0
    found = alignment.merge_bound(solved, wrong)
    assert found.cost > cost
    assert found.bound <= cost * (1.0 + 1e-9)
    assert found.gap > 0.3
    assert found.words.startswith("no merger of these cliques can cost less than")


def test_exact_pieces_are_proven():
    solved, points = pieces(1, 0.0)
    found = alignment.merge_bound(solved, points)
    assert found.gap < 1e-8
    assert found.words == "the merger is proven optimal"


def test_the_quadratic_form_is_the_cost_of_the_rotations():
    solved, points = pieces(2, 0.2)
    _, best = merged_cost(solved, points)
    consensus = _bound.Rounds(solved, len(points), "precision")
    # With the rotations held the best consensus is the mean of the proposals.
    for _ in range(3000):
        consensus.place(best)
        best = consensus.average(best)
    consensus.place(best)
    quadratic, _ = _bound._quadratic(solved, consensus.weights, len(points))
    frames = _bound._frames_of(solved, consensus).reshape(-1, 2)
    assert _bound._cost(quadratic, frames) == pytest.approx(consensus.fit_of(best)[0], rel=1e-6)


def test_too_many_pieces_have_no_bound(monkeypatch):
    solved, points = pieces(0, 0.1)
    monkeypatch.setattr(_bound, "MOST_FRAMES", 10)
    assert alignment.merge_bound(solved, points) is None
