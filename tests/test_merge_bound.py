"""The lower bound of a merger: never above a cost, tight where it can be, zero for exact pieces."""

import numpy as np
import pytest

from ikd_graph import alignment
from ikd_graph.blocks import SolvedBlocks
from ikd_graph.cliques import Blocks


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
    found = alignment.merge(solved, len(start), start=start, max_rounds=60)
    return found.objective, found.coordinates


def test_the_bound_is_tight_in_four_of_five_noisy_problems_and_never_above_a_restart():
    gaps = []
    for seed in range(30):
        solved, points = pieces(seed, 0.1)
        found = alignment.merge_bound(solved, merged_cost(solved, points)[1])
        gaps.append(found.gap)
        rng = np.random.default_rng(seed)
        for _ in range(10):
            other, _ = merged_cost(solved, rng.normal(size=points.shape))
            assert found.bound <= other * (1.0 + 1e-9)
    assert np.mean(np.array(gaps) < 0.01) >= 0.8


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_holds_whatever_merger_it_is_made_from(seed):
    solved, points = pieces(seed, 0.1)
    cost, best = merged_cost(solved, points)
    found = alignment.merge_bound(solved, best)
    assert found.cost == pytest.approx(cost)
    assert found.bound <= cost
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


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (1e-9, "the merger is proven optimal"),
        (2e-4, "the merger is proven to be within 0.02% of the lowest cost"),
        (0.25, "no merger of these cliques can cost less than 75.0% of this one"),
        (1.0, "it could not be proved that this merger is optimal"),
    ],
)
def test_the_words_claim_no_more_than_the_gap(gap, words):
    assert alignment.MergeBound(2.0, 2.0 * (1.0 - gap), gap).words == words


@pytest.mark.parametrize("size", [1, 3])
def test_lines_and_rooms_have_bounds_too(size):
    rng = np.random.default_rng(size)
    points = rng.normal(size=(30, size))
    points = points[np.argsort(points[:, 0])]
    members = [np.arange(start, start + 8) for start in range(0, 23, 2)]
    own = []
    for rows in members:
        turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
        own.append((points[rows] + 0.02 * rng.normal(size=(8, size))) @ turn)
    k = len(members)
    blocks = Blocks(np.arange(0, 8 * k + 1, 8), np.concatenate(members).astype(np.int32))
    solved = SolvedBlocks(
        blocks, np.vstack(own), np.ones(8 * k), np.ones((k, size)), np.ones(k), np.zeros(k), 0
    )
    best = merged_cost(solved, points)[1]
    found = alignment.merge_bound(solved, best)
    assert found.gap < 0.01
    for _ in range(20):
        assert found.bound <= merged_cost(solved, rng.normal(size=points.shape))[0] * (1.0 + 1e-9)
