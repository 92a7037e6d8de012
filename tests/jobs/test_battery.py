"""The battery in benchmarks/battery: its split, its scores, its runs, its table."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from battery import _record, run, scores, sets, table
from battery.__main__ import main


def test_every_set_is_in_one_half_and_what_was_developed_on_does_not_confirm():
    halves = sets.halves()
    assert sorted(halves["develop"] + halves["confirm"]) == sorted(sets.SETS)
    assert set(sets.DEVELOPED_ON) <= set(halves["develop"])
    assert abs(len(halves["develop"]) - len(halves["confirm"])) <= 2


@pytest.mark.parametrize("name", sets.SIMULATED)
def test_a_simulator_replays_its_seed_and_differs_between_seeds(name):
    first, other = sets.SIMULATED[name](1), sets.SIMULATED[name](2)
    assert first.kind in _record.KINDS
    assert len(first.X) == len(first.truth)
    assert np.isfinite(first.X).all()
    assert np.isfinite(first.truth).all()
    np.testing.assert_array_equal(first.X, sets.SIMULATED[name](1).X)
    assert first.X.shape != other.X.shape or not np.array_equal(first.X, other.X)


def test_scores_are_one_for_the_truth_and_by_chance_for_noise():
    rng = np.random.default_rng(0)
    place, noise = rng.uniform(size=(400, 2)), rng.normal(size=(400, 2))
    angle, group = rng.uniform(0.0, 6.28, 400), rng.integers(4, size=400)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    apart = 9.0 * ring[group] + 0.01 * noise
    for kind, truth, good, chance in (
        ("position", place, place, 0.0),
        ("latent", place, place @ [[2.0, 1.0], [0.0, 1.0]], 0.0),
        ("circular", angle, ring, 0.0),
        ("classes", group, apart, 0.25),
    ):
        points = _record.Points(good, truth, kind)
        assert scores.measure(points, good)["score"] > 0.97
        assert scores.measure(points, noise)["score"] < chance + 0.1
        assert scores.measure(points, good)["trust"] == pytest.approx(1.0, abs=0.01)


def test_a_run_is_resumed(tmp_path, capsys):
    half = next(h for h, names in sets.halves().items() if "iris" in names)
    wanted = ["--half", half, "--only", "^iris$", "--dims", "2,4", "--out", str(tmp_path)]
    main([*wanted, "--methods", "default,pca"])
    main([*wanted, "--methods", "default,euclidean,pca"])
    lines = run.read(tmp_path / f"{half}.jsonl")
    # Four columns have no four coordinates to be reduced to.
    assert [(ln["method"], ln["M"]) for ln in lines] == [
        ("default", 2),
        ("pca", 2),
        ("euclidean", 2),
    ]
    with (tmp_path / f"{half}.jsonl").open("a") as file:
        file.write(json.dumps(lines[0]) + "\n")
    assert run.read(tmp_path / f"{half}.jsonl") == lines
    (cell,) = table.cells(lines)
    by = {line["method"]: line["score"] for line in lines}
    assert cell["regret"] == pytest.approx(max(by["euclidean"] - by["default"], 0.0))
    assert cell["behind"] == pytest.approx(by["pca"] - by["default"])
    assert "iris" in capsys.readouterr().out
    assert (tmp_path / f"{half}.md").exists()
    assert (tmp_path / f"{half}.csv").exists()
