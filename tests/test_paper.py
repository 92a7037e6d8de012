"""The paper's experiments in examples/paper: each runs, at a size as small as can be."""

import csv
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ikd_graph import kernels
from ikd_graph.study import baselines, datasets, metrics

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

import paper  # noqa: E402
from paper import __main__ as runner  # noqa: E402
from paper import _lab, _peers  # noqa: E402

QUICK = ("eigen", "pca")


def run(name, *arguments, **settings):
    return paper.load(name).run(*arguments, **settings)


@pytest.fixture(scope="module")
def few_digits():
    data = datasets.load("digits")
    return datasets.Dataset(
        X=data.X[:200], y=data.y[:200], label_names=data.label_names, name="few"
    )


SMALL = {
    "fig2": ((("gp", "sine"), (10, 20), QUICK), {"n_samples": 60, "n_trials": 2}),
    "fig4": ((("medium",), ("matern",), (50,), QUICK), {"n_trials": 2}),
    "fig5": (((0.0, 1.0), (200,), QUICK), {"n_trials": 3}),
    "fig6": (((50,), QUICK), {"n_trials": 1}),
    "mismatch": ((("matern",), (50,), QUICK), {"n_trials": 1}),
    "merge_quality": ((("easy",), (200,), QUICK), {"n_trials": 1}),
    "half_moons": ((("pca", "kernel_pca_rbf", "geodesic"),), {"n_samples": 60, "n_trials": 2}),
    "swiss_roll": ((("pca", "geodesic"),), {"n_samples": 300, "n_trials": 1}),
    "way_back": (((0.0,), ("pca",)), {"n_samples": 100, "n_trials": 2}),
}
ON_CLASSES = {
    "table2": ((("matern",), (2,), (5, 10), QUICK), {}),
    "fig13": (((100, 150), (2,), ("pca",)), {}),
    "faces": ((("pca",),), {}),
    "starts": ((("tsne",),), {"ours": "eigen", "n_trials": 1}),
}


@pytest.mark.parametrize("name", SMALL)
def test_an_experiment_measures_every_cell(name):
    settings, options = SMALL[name]
    table = run(name, *settings, **options)
    assert table.name == name
    for row in table.summary():
        assert row["n"] == options["n_trials"]
        assert row["failed"] == 0
        assert 0.0 < row["mean"] <= 1.0
        assert row["seconds"] >= 0.0


@pytest.mark.parametrize("name", ON_CLASSES)
def test_an_experiment_on_classes_measures_every_cell(name, few_digits):
    settings, options = ON_CLASSES[name]
    table = run(name, few_digits, *settings, **options)
    assert all(row["failed"] == 0 and 0.3 < row["mean"] <= 1.0 for row in table.summary())
    with pytest.raises(ValueError, match="data must have classes, got none in 'swiss_roll'"):
        run(name, datasets.swiss_roll(60), *settings, **options)


def test_every_experiment_is_run_here_or_takes_too_long():
    elsewhere = {"fig7", "new_points", "gplvm_race", "diagnosis_calibration"}
    assert set(paper.NAMES) == {*SMALL, *ON_CLASSES, *elsewhere}


@pytest.mark.slow
def test_what_is_found_of_the_model_is_compared_with_the_truth():
    latent = datasets.ou_latent(30, 1, variance=0.5, seed=0)
    table = run("fig4", {"own": latent}, ("matern",), (200,), ("ikd", "pca"), n_trials=1)
    ours, peer = table.trials
    assert -5.0 < ours["likelihood_gap"] < 1.0
    assert np.isnan(peer["likelihood_gap"])
    quiet, loud = run("fig5", (0.0, 0.5), (200,), ("ikd_auto_kernel",), n_trials=1).trials
    assert np.isnan(quiet["noise_error"])
    assert abs(loud["noise_error"]) < 0.6


@pytest.mark.slow
def test_our_way_back_is_nearer_than_that_of_principal_components():
    table = run("way_back", (0.5,), ("ikd", "pca"), n_samples=500, n_trials=1)
    ours, theirs, ours_new, theirs_new = table.summary()
    assert ours["signal"] < 0.5 * theirs["signal"]
    assert ours_new["signal"] < 0.5 * theirs_new["signal"]


def test_a_table_is_written_whole(tmp_path):
    trials = [
        {"N": n, "r2": value, "seconds": 1.0, "failure": ""}
        for n, value in [(10, 0.5), (10, 0.7), (20, 1.0)]
    ]
    trials.append({"N": 30, "seconds": np.nan, "failure": "a|b\nc"})
    table = _lab.Table("t", "A title", trials, ("N",), "r2", ["a | note"], bad_below=0.6)
    files = table.write(tmp_path / "new")
    assert [path.name for path in files] == ["t.md", "t.csv"]
    text = files[0].read_text()
    assert text.startswith("# A title\n\n- a | note\n\n| N | n | mean |")
    assert "| 10 | 2 | 0.6 | 0.1414 | 0.1 | 0.5 | 0.7 | 0.5 | 1 | 0 |" in text
    assert "| 30 | 0 | - |" in text
    assert "a\\|b c" in text
    rows = list(csv.DictReader(io.StringIO(files[1].read_text())))
    assert [row["r2"] for row in rows] == ["0.5", "0.7", "1.0", ""]
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["t.csv", "t.md"]


def test_the_runner_takes_settings_of_an_experiment(tmp_path, capsys):
    settings = ["--set", "methods=pca", "noise=0.5", "n_features=20,30"]
    runner.main(["fig5", "--trials", "2", "-o", str(tmp_path), *settings])
    assert "| 30 | 0.5 | pca | 2 |" in capsys.readouterr().out
    assert (tmp_path / "fig5.csv").exists()
    with pytest.raises(SystemExit, match="fig5 takes noise, n_features, methods"):
        runner.main(["fig5", "--set", "x=1"])


@pytest.mark.slow
def test_the_gplvm_of_gpy_embeds():
    pytest.importorskip("GPy")
    data = datasets.gplvm_data("medium", 20, noise=0.3, seed=0)
    found = baselines.embed("gplvm", data.X[::4], 2, start=data.latent[::4, :2])
    assert found.failure == ""
    assert metrics.affine_r2(data.latent[::4], found.value) > 0.3


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.SquaredExponential(length_scale=0.5),
        kernels.RationalQuadratic(alpha=2.0, length_scale=0.5),
        kernels.GammaExponential(length_scale=0.5),
        kernels.Matern(nu=1.5, length_scale=0.5),
        kernels.Matern(nu=2.5),
    ],
)
def test_kernels_of_gpy_agree_with_ours(kernel):
    gpy = pytest.importorskip("GPy")
    latent = np.random.default_rng(0).normal(size=(8, 2))
    theirs = _peers.gpy_kernel(gpy.kern, kernel, 2).K(latent)
    np.testing.assert_allclose(theirs, kernel.covariance(cdist(latent, latent, "sqeuclidean")))


def test_the_autoencoder_embeds():
    pytest.importorskip("torch")
    data = datasets.swiss_roll(200)
    found = baselines.embed("vae", data.X, 2)
    assert found.failure == ""
    assert found.value.shape == (200, 2)


def test_a_diffusion_map_is_the_random_walk_of_a_naive_one():
    X = np.random.default_rng(0).normal(size=(30, 3))
    weights = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2.0)
    walk = weights / weights.sum(axis=1, keepdims=True)
    found = _peers.diffusion_map(X, 2, epsilon=2.0, time_steps=3)
    values = np.sort(np.linalg.eigvals(walk).real)[::-1]
    for column, value in zip(found.T, values[1:3], strict=True):
        np.testing.assert_allclose(walk @ column, value * column, atol=1e-10)
    once = _peers.diffusion_map(X, 2, epsilon=2.0)
    np.testing.assert_allclose(found, once * values[1:3] ** 2, atol=1e-12)
