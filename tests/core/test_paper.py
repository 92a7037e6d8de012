"""The paper's experiments in examples/paper: each runs small, and its tables are those stored."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA, KernelPCA
from sklearn.manifold import Isomap

from ikd_graph import IKD, datasets, eigen, graph, kernels, metrics
from ikd_graph.datasets import fixed_latent, gplvm_data
from ikd_graph.jobs import baselines
from ikd_graph.metrics import affine_r2

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import paper  # noqa: E402
from paper import __main__ as runner  # noqa: E402
from paper import _answers, _lab, _peers, _published_form, _real, _recovery  # noqa: E402

ELSEWHERE = {
    "fig8",
    "fig10",
    "fig11",
    "fig13",
    "paired",
    "vae_start",
}  # need data or packages that do not come with this one


def trials_of(name, folder):
    """Trials of an experiment in a folder, each of which is there once."""
    trials = _lab.Table.read(name, paper.load(name), folder).trials
    assert len(trials) == len({tuple(map(str, trial.values())) for trial in trials})
    return trials


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in paper.NAMES if n not in ELSEWHERE])
def test_an_experiment_runs_small_and_one_method_of_it_again(name, tmp_path):
    small = [name, "--quick", "-o", str(tmp_path)]
    runner.main(small)
    expected = {f"{name}.{end}" for end in ("csv", "md", "png")}
    if paper.load(name).across:
        expected.add(f"{name}_cells.csv")
    assert {p.name for p in tmp_path.iterdir()} == expected
    table = _lab.Table.read(name, paper.load(name), tmp_path)
    assert not any(t["failure"] for t in table.trials)
    assert all(np.isfinite(row["mean"]) for row in table.summary() if "n" in row)
    assert (tmp_path / f"{name}.md").read_text() == table.to_markdown()
    method, before = paper.load(name).methods(True)[-1], trials_of(name, tmp_path)
    runner.main([*small, "--methods", method])
    after = trials_of(name, tmp_path)
    assert len(after) == len(before)
    others = [
        [trial for trial in trials if trial["method"] != method] for trials in (before, after)
    ]
    assert sorted(map(str, others[0])) == sorted(map(str, others[1]))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_one_method_of_an_experiment_runs_alone(name, tmp_path, capsys):
    method = paper.load(name).methods(True)[-1]
    for _ in range(2):
        runner.main([name, "--quick", "--methods", method, "-o", str(tmp_path)])
    if not (tmp_path / f"{name}.csv").exists():
        assert f"{name}: left out" in capsys.readouterr().out
        return
    assert {trial["method"] for trial in trials_of(name, tmp_path)} == {method}


@pytest.mark.parametrize("name", [*paper.NAMES, "all"])
def test_a_method_that_an_experiment_does_not_have_is_named_in_one_line(name, tmp_path):
    with pytest.raises(SystemExit, match=r"\w+ has no method 'lda'; it has [^\n]*$"):
        runner.main([name, "--quick", "--methods", "lda", "-o", str(tmp_path)])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", paper.NAMES)
def test_every_stored_method_is_one_that_the_experiment_has(name):
    stored = _lab.Table.read(name, paper.load(name), runner.RESULTS).trials
    assert {trial["method"] for trial in stored} <= set(paper.load(name).methods(False))


def test_trials_of_some_methods_replace_those_of_the_same_cell_only():
    cell = {"case": "match", "cpu_seconds": 1.0, "failure": "", **_lab.origin()}
    stored = [{**cell, "N": n, "method": m, "trial": t, "r2_affine": 0.5}
              for n in (100, 200) for t in (0, 1) for m in ("ikd", "pca")]  # fmt: skip
    new = {**cell, "N": 100, "method": "ikd", "trial": 0, "r2_affine": 0.9}
    experiment = paper.load("fig6")
    merged = _lab.Table("fig6", experiment, stored).merged(_lab.Table("fig6", experiment, [new]))
    assert len(merged.trials) == len(stored)
    assert [t for t in merged.trials if t["r2_affine"] == 0.9] == [new]


def test_the_default_is_fitted_without_the_kernel_that_others_are_given(monkeypatch):
    given = []
    monkeypatch.setattr(_lab, "_warm_up", lambda method: None)

    class Recorder:
        def __init__(self, n_components, **settings):
            given.append(settings)

        def fit_transform(self, X):
            return X

    monkeypatch.setattr(_lab, "IKD", Recorder)
    for method in ("ikd", "ikd_kernel"):
        _lab.fit(method, np.eye(3), 2, 0, kernel="matern")
    assert given == [{"random_state": 0}, {"random_state": 0, "kernel": "matern"}]


@pytest.mark.slow
def test_peers_run_from_a_checkout(tmp_path):
    command = [sys.executable, "-m", "benchmarks.shown.peers", "--quick", "-o", str(tmp_path)]
    subprocess.run(command, cwd=EXAMPLES.parent, check=True)
    counted = _lab.Table.read("peers", paper.load("fig3"), tmp_path).trials
    cliques = {t["score"] for t in counted if t["task"] == "maximal cliques"}
    assert len(cliques) == 1


def test_a_missing_data_set_does_not_stop_the_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("IKD_GRAPH_DATA", str(tmp_path))
    for kept in (_real.dataset, _real.embedded):  # by tests that had the data
        kept.cache_clear()
    runner.main(["fig10", "fig3", "--quick", "-o", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.count("fig10: left out, the data set 'coil20'") == 1
    assert "fig3.png" in printed


def test_published_values_stand_beside_the_means():
    experiment = paper.load("fig4")
    cell = {"latent": "medium", "kernel": "matern", "N": 200, "cpu_seconds": 1.0, "failure": ""}
    values = {"ikd": (0.9, 1.0), "pca": (0.6, 0.7)}
    trials = [
        {**cell, "method": method, "r2_affine": value, **_lab.origin()}
        for method, pair in values.items()
        for value in pair
    ]
    ours, pca, gplvm = _lab.Table("fig4", experiment, trials).summary()
    assert (ours["mean"], ours["published"]) == (pytest.approx(0.95), 0.8246)
    assert (pca["n"], pca["se"], pca["published"]) == (2, pytest.approx(0.05), 0.656)
    assert (gplvm["method"], gplvm["published"]) == ("gplvm", 0.7533)
    assert "mean" not in gplvm


@pytest.mark.parametrize("name", paper.NAMES)
def test_committed_tables_are_those_of_the_committed_trials(name):
    table = _lab.Table.read(name, paper.load(name), runner.RESULTS)
    assert (runner.RESULTS / f"{name}.md").read_text() == table.to_markdown()
    if paper.load(name).across:
        assert (runner.RESULTS / f"{name}_cells.csv").read_text() == table.cells_csv()
    assert (runner.RESULTS / f"{name}.png").stat().st_size > 5_000


@pytest.mark.parametrize("page", sorted(runner.RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_of_results_can_be_read(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 200


def test_every_row_is_of_a_commit_that_the_head_of_its_table_names():
    for name in paper.NAMES:
        table = _lab.Table.read(name, paper.load(name), runner.RESULTS)
        head = (runner.RESULTS / f"{name}.md").read_text().split("\n|")[0]
        for trial in table.trials:
            line = next(x for x in head.splitlines() if f"commit {trial['commit']}," in x)
            assert trial["method"] in line


def test_the_answers_are_those_of_the_committed_trials():
    text = _answers.README.read_text(encoding="utf-8")
    assert _answers.written(text) == text
    assert _answers.written(text.replace("| `ikd` | 0.", "| `ikd` | 1.")) == text


def test_trials_repeat_with_their_number_and_differ_from_one_another():
    cell = _recovery.gplvm_cell({"N": 50}, fixed_latent("medium"), 50, "matern", ("pca",))
    first, again, second = (_recovery.trial(cell, t)[0]["r2_affine"] for t in (0, 0, 1))
    assert first == again != second


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_published_form_reaches_what_was_published():
    kernel, latent = kernels.SquaredExponential(length_scale=0.5), fixed_latent("medium")
    scores = []
    for seed in range(4):
        X = gplvm_data(latent, 200, kernel="squared_exponential", seed=seed).X
        scores.append(affine_r2(latent, _published_form.embed(X, 3, kernel)))
    # Published: .928.
    assert np.mean(scores) > 0.9


@pytest.mark.parametrize(("mapping", "line"), [("gp", 0.980), ("sine", 0.992), ("bump_l1", 0.988)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_published_form_of_fig_2_reaches_what_was_published(mapping, line):
    cells = importlib.import_module("paper.fig2").cells(False)
    cell = next(c for c in cells if c.columns == {"mapping": mapping, "N": 100})
    row = _recovery.trial(cell, 0, only=("published_form",))[0]
    assert abs(row["r2_affine"] - line) < 0.01


@pytest.mark.skipif(
    "IKD_GRAPH_PUBLISHED" not in os.environ,
    reason="needs the published trials, whose folder IKD_GRAPH_PUBLISHED names",
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_published_form_gives_the_published_values_on_the_published_samples():
    module = importlib.import_module("paper.paired")
    gaps = [
        module.trial(name, 100, t, ("published_form",))[0]["above published ikd"]
        for name in ("hard", "easy")
        for t in range(4)
    ]
    assert np.median(np.abs(gaps)) < 0.003


@pytest.mark.slow
def test_faces_in_twelve_dimensions_are_told_apart(data_home):
    """Cliques of two to nine faces; 13 shared ones would tell of noise."""
    row = importlib.import_module("paper.faces").votes("blockwise", 12, False)[0]
    assert row["accuracy"] > 0.76


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


def test_relatives_are_the_special_cases_that_the_page_of_mathematics_names():
    X = datasets.swiss_roll(200).X
    paths = {"strategy": "geodesic", "graph": graph.Neighbors(8, prune=False), "refine": None}
    ours = IKD(2, affinity="euclidean", **paths).fit_transform(X)
    theirs = Isomap(n_neighbors=8, n_components=2).fit_transform(X)
    assert metrics.rigid_r2(theirs, ours, scale=True) == pytest.approx(1.0)
    S = np.cov(X)
    variances = np.diag(S)
    linear = eigen.coordinates(variances[:, None] + variances - 2.0 * S, 2, "center").coordinates
    theirs = KernelPCA(2, kernel="precomputed").fit_transform(S)
    assert metrics.rigid_r2(theirs, linear) == pytest.approx(1.0)
    f = kernels.SquaredExponential(length_scale=5.0)
    D = f.sq_distance(f.covariance(cdist(X, X, "sqeuclidean")))
    inverted = eigen.coordinates(D, 2, "center").coordinates
    assert metrics.rigid_r2(PCA(2).fit_transform(X), inverted, scale=True) == pytest.approx(1.0)
