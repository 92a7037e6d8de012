"""The tables of benchmarks/battery, their halves and their scores."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "battery"))

import first_answer
import first_tables

SIMULATED = [name for group in first_tables.SIMULATED.values() for name in group]


def test_every_table_is_in_one_half_and_both_halves_have_tables_of_every_group():
    halves = [first_tables.half(name) for name in first_tables.HALVES]
    assert sorted(name for half in halves for name in half) == sorted(first_tables.TABLES)
    for half in halves:
        groups = {first_tables.GROUP_OF[name] for name in half}
        lonely = {name for name, many in first_tables.SIMULATED.items() if len(many) == 1}
        assert groups >= {*first_tables.SIMULATED, *first_tables.REAL} - lonely


@pytest.mark.parametrize("name", SIMULATED)
def test_a_simulated_table_replays_its_seed_and_differs_between_seeds(name):
    first, other = first_tables.make(name, 1), first_tables.make(name, 2)
    assert first.kind in ("latent", "position", "classes")
    assert len(first.X) == len(first.truth) <= first_tables.MAX_ROWS
    assert np.isfinite(first.X).all()
    assert np.isfinite(first.truth).all()
    np.testing.assert_array_equal(first.X, first_tables.make(name, 1).X)
    assert first.X.shape != other.X.shape or not np.array_equal(first.X, other.X)


def test_scores_are_one_for_the_truth_and_by_chance_for_noise():
    rng = np.random.default_rng(0)
    place, noise = rng.uniform(size=(400, 2)), rng.normal(size=(400, 2))
    group = rng.integers(4, size=400)
    apart = 9.0 * first_tables.circle(1.5 * group) + 0.01 * noise
    for kind, truth, good, chance in (
        ("position", place, place, 0.0),
        ("latent", place, place @ [[2.0, 1.0], [0.0, 1.0]], 0.0),
        ("classes", group, apart, 0.25),
    ):
        points = first_tables.Points(good, truth, kind)
        right, wrong = (first_answer.scores(Z, points) for Z in (good, noise))
        assert right["neighbors"] > 0.97
        assert wrong["neighbors"] < chance + 0.1
        if kind != "classes":
            assert right["metric"] == pytest.approx(1.0)
            assert wrong["metric"] < 0.1
