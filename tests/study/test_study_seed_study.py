"""Half moons, Swiss roll, faces and the calibration of the diagnosis: small runs of each."""

import numpy as np
import pytest

from ikd_graph import IKD
from ikd_graph.study import baselines, datasets, diagnosis, dimension, experiments, metrics
from ikd_graph.study.experiments import calibration, real, seed_study

QUICK = ("pca", "kernel_pca_rbf", "kernel_pca_cosine", "geodesic")


def test_half_moons_have_a_row_for_each_method_and_a_panel_for_the_best_kernel():
    found = experiments.half_moons(QUICK, n_samples=60, n_trials=2)
    assert [row["method"] for row in found.summary()] == list(QUICK)
    assert all(row["n"] == 2 and row["failed"] == 0 for row in found.summary())
    best = max(
        (t for t in found.trials if t["trial"] == 0 and "kernel" in t["method"]),
        key=lambda t: t["linear"],
    )
    titles = ["PCA", baselines.PEERS[best["method"]].title, "IKD geodesic"]
    assert list(found.panels) == list(found.scores) == titles
    assert all(Z.shape == (60, 2) for Z in found.panels.values())
    assert found.data.X.shape == (60, 2)
    assert "coordinates" not in found.to_csv()
    assert found.scores["IKD geodesic"] > found.scores["PCA"]


def test_a_swiss_roll_is_unrolled_and_measured_against_its_sheet():
    found = experiments.swiss_roll(("pca", "geodesic"), n_trials=1, seed=2)
    sheet = datasets.swiss_roll(500, seed=2).latent
    Z = found.panels["IKD geodesic"]
    assert found.scores["IKD geodesic"] == pytest.approx(metrics.affine_r2(sheet, Z))
    assert found.scores["IKD geodesic"] > 0.9 > 0.5 > found.scores["PCA"]
    assert found.trials[1]["rigid"] == pytest.approx(metrics.rigid_r2(sheet, Z, scale=True))


def test_a_method_that_fails_is_a_row_without_a_panel(monkeypatch):
    failed = {"coordinates": None, "seconds": 0.0, "cpu_seconds": 0.0, "failure": "gone"}
    monkeypatch.setattr(seed_study, "fit", lambda *a, **k: dict(failed))
    found = experiments.half_moons(("pca",), n_samples=20, n_trials=1)
    assert found.panels == {}
    assert found.summary()[0]["failure"] == "gone"


def test_the_default_call_is_left_to_itself_and_the_strategies_are_told_the_affinity(monkeypatch):
    asked = {}

    def told(method, X, n_components, seed, **changes):
        asked[method] = changes
        return {"coordinates": X, "seconds": 0.0, "cpu_seconds": 0.0, "failure": ""}

    monkeypatch.setattr(seed_study, "fit", told)
    found = experiments.half_moons(("ikd", "geodesic", "isomap"), n_samples=20, n_trials=1)
    assert list(found.panels) == ["IKD", "IKD geodesic", "Isomap"]
    assert asked["ikd"] == asked["isomap"] == {}
    assert asked["geodesic"]["affinity"] == "euclidean"


def test_faces_are_embedded_at_their_box_counting_dimension(monkeypatch, digits):
    data = datasets.Dataset(
        X=digits[0][:150], y=digits[1][:150], label_names=tuple("0123456789"), name="small"
    )
    asked = []

    def told(task):
        asked.append(task.n_components)
        return [{"method": task.method, "accuracy": 0.5, "seconds": 0.0, "failure": ""}]

    monkeypatch.setattr(real, "real_trial", told)
    monkeypatch.setattr(real, "ALSO", ())
    table = experiments.faces(data, ("pca",))
    expected = dimension.box_counting_dimension(data.X).dimension
    assert asked == [round(expected)]
    assert f"box-counting dimension of the images {expected:.2f}" in table.notes[0]


@pytest.fixture
def quick_diagnosis(monkeypatch):
    def embed(n_components, **parameters):
        return IKD(n_components, **{**parameters, "refine": None})

    monkeypatch.setattr(calibration, "IKD", embed)
    monkeypatch.setattr(diagnosis.choices, "LIKELIHOOD_POINTS", 0)


def test_a_calibration_has_a_row_for_each_set_and_follows_from_its_seed(quick_diagnosis):
    found = experiments.diagnosis_calibration(n_trials=3, n_draws=2, seed=5)
    again = experiments.diagnosis_calibration(n_trials=3, n_draws=2, seed=5)
    assert len(found.summary()) == 3
    wanted = ("expected", "reached", "warned", "N", "noise")
    assert [[t[k] for k in wanted] for t in found.trials] == [
        [t[k] for k in wanted] for t in again.trials
    ]
    assert all(0.0 <= t["reached"] <= 1.0 for t in found.trials)
    assert found.notes[2].startswith("correlation of expected and reached R²")


def test_a_calibration_counts_what_was_warned_of_and_what_was_not():
    trials = [
        {"expected": e, "reached": r, "warned": w, "warned_r2": v}
        for e, r, w, v in [(0.9, 0.6, 1, 0), (0.5, 0.5, 1, 1), (0.9, 0.9, 1, 0), (1.0, 1.0, 0, 0)]
    ]
    first, any_warning, low_r2 = calibration.say_calibration(trials)
    link = np.corrcoef([0.9, 0.5, 0.9, 1.0], [0.6, 0.5, 0.9, 1.0])[0, 1]
    assert f"{link:.3f} over 4 sets; mean error +0.075" in first
    assert any_warning == "warned by any warning: 2 of 2 sets below 0.7; 1 of 2 above it"
    assert low_r2 == "warned by a low expected R²: 1 of 2 sets below 0.7; 0 of 2 above it"
