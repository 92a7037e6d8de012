"""Drivers that measure tables: growing data, spike counts, false edges."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import false_edges_table
import growth
import missing_values_table
import spike_counts_table


@pytest.mark.parametrize("name", growth.LATENTS)
def test_a_longer_table_goes_on_where_a_shorter_one_ends(name):
    (_, few), (X, more) = (growth.table(name, n, 50, 0) for n in (100, 300))
    np.testing.assert_array_equal(more[:100], few)
    assert X.shape == (300, 50)
    # The columns are samples of one process at any length: noise apart they have variance one.
    signal = X.var(axis=0).mean() - growth.NOISE**2
    assert 0.4 < signal < 1.6


def lines(values, samples=(100, 300)):
    return [
        {
            "latent": "ring",
            "samples": n,
            "columns": growth.USUAL_COLUMNS,
            "seed": seed,
            "affine": r2,
            "decoded": 0.9,
        }
        for n, of_seeds in zip(samples, values, strict=True)
        for seed, r2 in enumerate(of_seeds)
    ]


def test_a_fall_of_the_median_is_named_and_that_of_one_seed_is_not(capsys):
    growth.report(lines([(0.9, 0.95, 0.99), (0.1, 0.95, 0.99)]))
    assert "no median falls" in capsys.readouterr().out
    growth.report(lines([(0.9, 0.95, 0.99), (0.1, 0.93, 0.99)]))
    assert "affine ring samples 100 -> 300: 0.950 -> 0.930" in capsys.readouterr().out


@pytest.mark.parametrize("scene", spike_counts_table.SCENES)
@pytest.mark.parametrize("rate", [0.2, 5.0])
def test_place_cells_fire_as_often_as_asked(scene, rate):
    X, place = spike_counts_table.place_cells(scene, 400, 60, rate, 0)
    assert X.mean() == pytest.approx(1.02 * rate, rel=0.05)
    assert place.min() >= 0.0
    assert place.max() <= 1.0
    assert len(place) == len(X) == 400


@pytest.mark.parametrize("latent", false_edges_table.LATENTS)
def test_false_pairs_are_as_many_as_asked_and_far_apart(latent):
    corr, points, false = false_edges_table.damaged(latent, 120, 0.01, 3)
    left, right = np.divmod(false, 120)
    assert false.size == round(0.01 * 120 * 119 / 2)
    assert np.all(corr[left, right] >= 0.9)
    np.testing.assert_array_equal(corr, corr.T)
    true = np.exp(-0.5 * ((points[left] - points[right]) ** 2).sum(axis=1))
    assert np.median(true) < 0.25


def test_the_page_of_false_edges_has_a_line_for_each_setting(tmp_path, monkeypatch):
    monkeypatch.setattr(false_edges_table, "ROLLS", ((200,), (0.1,), (10,)))
    monkeypatch.setattr(false_edges_table, "LATENTS", ("sheet",))
    monkeypatch.setattr(false_edges_table, "SHARES", (0.0, 0.02))
    monkeypatch.setattr(false_edges_table, "SIZES", (80,))
    rows = false_edges_table.measured(tmp_path / "found.csv", (0,), (0,))
    again = false_edges_table.measured(tmp_path / "found.csv", (0,), (0,))
    assert len(rows) == len(again) == 3
    text = false_edges_table.page(again, "")
    assert "| 200 | 0.1 | 10 |" in text
    assert "| sheet | 80 | 2.0% |" in text


def test_the_page_of_missing_values_has_a_line_for_each_setting(tmp_path, monkeypatch):
    monkeypatch.setattr(missing_values_table, "LATENTS", ("walk",))
    monkeypatch.setattr(missing_values_table, "WIDTHS", (30,))
    monkeypatch.setattr(missing_values_table, "NOISES", (0.0,))
    monkeypatch.setattr(missing_values_table, "SHARES", (0.1, 0.3))
    monkeypatch.setattr(missing_values_table, "POINTS", 40)
    monkeypatch.setattr(missing_values_table, "DIGITS", 120)
    quick = missing_values_table.IterativeImputer(max_iter=1, n_nearest_features=5)
    monkeypatch.setitem(missing_values_table.IMPUTERS, "iterative", quick)
    rows = missing_values_table.measured(tmp_path / "found.csv", (0, 1))
    again = missing_values_table.measured(tmp_path / "found.csv", (0, 1))
    assert len(rows) == len(again) == 8
    text = missing_values_table.page(again)
    assert "| walk | 30 | 0 | 30% |" in text
    assert "| digits | 64 | 0 | 10% |" in text


def test_holes_are_as_many_as_asked_and_the_rest_is_as_it_was():
    X, holes, _ = missing_values_table.make("sheet", 50, 0.5, 0.3, 0)
    gone = np.isnan(holes)
    assert gone.mean() == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(holes[~gone], X[~gone])


def test_a_false_pair_that_half_of_many_witnesses_speak_against_is_found():
    row = false_edges_table.look_at_damage("knot", 300, 0.005, "", 612)
    assert row["geodesic: found"] == row["geodesic: false edges"] > 200
    assert row["geodesic: lost"] == 0
    assert row["geodesic"] > 0.97
