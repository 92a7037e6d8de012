import pickle
import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from stubs_study import Dies, Hangs, Raises, Takes

from ikd_graph.study import baselines, compare, datasets
from ikd_graph.study.compare import _compare, _processes, _worker


@pytest.fixture(scope="module")
def roll():
    return datasets.swiss_roll(400)


@pytest.fixture(scope="module")
def found(roll):
    return compare.compare(roll, ["isomap", ("mine", PCA())], noise=[0.0, 9.0], seeds=[0, 1])


def test_every_method_has_a_row_for_each_noise_and_seed(found):
    assert [row.method for row in found.rows] == ["isomap"] * 4 + ["mine"] * 4
    cells = [(0.0, 0), (0.0, 1), (9.0, 0), (9.0, 1)]
    assert [(row.noise, row.seed) for row in found.rows[:4]] == cells
    assert all(row.failure == "" for row in found.rows)
    assert all(row.seconds > 0.0 and row.peak_mb > 10.0 for row in found.rows)
    assert found.versions["numpy"] == np.__version__


def test_rows_hold_what_the_method_gives_when_called_directly(found, roll):
    direct = baselines.embed("isomap", roll.X).coordinates
    np.testing.assert_allclose(found.embeddings[0], direct, atol=1e-8)
    expected = compare.score(roll, direct)["r2_affine"]
    assert found.rows[0].r2_affine == pytest.approx(expected)
    assert (found.best().method, found.best().noise) == ("isomap", 0.0)
    assert found.measure == "r2_affine"


def test_a_table_has_a_column_for_each_field(found):
    pandas = pytest.importorskip("pandas")
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert table.shape[0] == 8
    assert set(compare.MEASURES) <= set(table.columns)
    assert found.to_records()[0]["title"] == "Isomap"


def test_aligned_embeddings_lie_on_the_truth(found, roll):
    turned = found.aligned()[0]
    gap = np.mean((turned - roll.latent) ** 2)
    assert gap < np.mean((found.embeddings[0] - roll.latent) ** 2)
    assert gap < 0.3 * roll.latent.var()


def test_the_best_kernel_stands_for_kernel_pca(roll):
    rows = [
        compare.Row(name, name, "", 2, 0.0, 0, trustworthiness=value)
        for name, value in [
            ("pca", 0.9),
            ("kernel_pca_poly", np.nan),
            ("kernel_pca_rbf", 0.5),
            ("kernel_pca_sigmoid", 0.7),
            ("kernel_pca_cosine", 0.6),
        ]
    ]
    embeddings = [np.full((3, 2), i) for i in range(5)]
    found = compare.Comparison("", rows, embeddings, [None] * 5, [roll] * 5, {})
    kept, points, spectra, data = _compare._best_kernel_pca(found)
    assert [row.method for row in kept] == ["pca", "kernel_pca"]
    assert kept[1].settings == "best of 4: sigmoid"
    assert points[1][0, 0] == 3
    assert len(spectra) == len(data) == 2
    names = [name for name, _ in _compare._expand(["kernel_pca"], optional=False)]
    assert len(names) == 4


def test_what_crashes_hangs_or_raises_is_a_row_with_its_reason(roll, monkeypatch):
    found = compare.compare(roll, [("dies", Dies()), ("raises", Raises())])
    reasons = {row.method: row.failure for row in found.rows}
    assert reasons["dies"].startswith("the process ended with code 3")
    assert reasons["raises"] == "RuntimeError: no luck"
    assert all(np.isnan(row.seconds) and np.isnan(row.extra_mb) for row in found.rows)
    with pytest.raises(ValueError, match="at least one row must have 'knn', got none"):
        found.best("knn")
    monkeypatch.setattr(_processes, "STARTUP_SECONDS", 0.0)
    slow = compare.compare(roll, [("hangs", Hangs())], timeout=2.0, seeds=[0, 1])
    assert [row.failure for row in slow.rows] == ["stopped after 2 s"] * 2


def test_a_source_is_drawn_for_each_noise_and_seed():
    asked = []

    def draw(noise, seed):
        asked.append((noise, seed))
        return datasets.gplvm_data("medium", 20, noise=noise, seed=seed)

    found = compare.compare(draw, ["pca"], n_components=[2, 3], noise=[0.0, 1.0], seeds=[4])
    assert asked == [(0.0, 4), (1.0, 4)]
    assert [row.n_components for row in found.rows] == [2, 2, 3, 3]
    assert found.name == "medium_N20"
    assert np.isfinite(found.rows[0].r2_rigid)


def test_labels_without_a_latent_are_judged_by_classes():
    moons = datasets.half_moons()
    scores = compare.score(moons, moons.X)
    assert scores["knn"] > 0.95
    assert scores["trustworthiness"] == 1.0
    assert "r2_affine" not in scores
    large = datasets.swiss_roll(2300)
    assert compare.score(large, large.latent)["trustworthiness"] > 0.98


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["pcaa"], "methods must be one of 'ikd', 'blockwise'"),
        ([], "methods must name at least one"),
        ([("mine", object())], "must have fit_transform"),
    ],
)
def test_unknown_methods_are_refused(roll, methods, message):
    with pytest.raises(ValueError, match=message):
        compare.compare(roll, methods)


def test_the_default_leaves_out_what_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    names = [name for name, _ in _compare._expand(compare.DEFAULT_METHODS, optional=True)]
    assert "umap" not in names
    asked = [name for name, _ in _compare._expand(["umap"], optional=False)]
    assert asked == ["umap"]


def test_a_strategy_is_compared_plain_and_polished():
    for name, settings in compare.IKD_METHODS.items():
        strategy, _, polish = name.partition("+")
        wanted = {"strategy": strategy, "refine": polish or None}
        assert settings == ({} if name == "ikd" else wanted)
    assert {f"{s}+{p}" for s in ("blockwise", "geodesic") for p in ("stress", "likelihood")} <= set(
        compare.IKD_METHODS
    )


@pytest.mark.slow
def test_a_polished_strategy_is_a_row_of_its_own():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 40), 100, noise=0.5, seed=0)
    found = compare.compare(data, ["geodesic", "geodesic+stress"], n_components=3)
    plain, polished = found.rows
    assert [row.title for row in found.rows] == ["IKD geodesic", "IKD geodesic+stress"]
    assert "refine='stress'" in polished.settings
    assert plain.r2_affine != polished.r2_affine


def test_a_signal_is_named(tmp_path):
    log = tmp_path / "log"
    log.write_text("line\nKilled\n")
    assert _processes._reason(-9, log) == (
        "the process was ended by signal 9 (often out of memory): Killed"
    )


def test_a_worker_leaves_a_result_for_each_cell(tmp_path, roll):
    np.save(tmp_path / "X.npy", roll.X)
    cells = [_worker.Cell(n, str(tmp_path / "X.npy"), 2, n) for n in range(2)]
    (tmp_path / "job.pkl").write_bytes(pickle.dumps(_worker.Job("pca", None, cells)))
    _worker.main(tmp_path)
    outcome = pickle.loads((tmp_path / "result-1.pkl").read_bytes())
    assert outcome.coordinates.shape == (400, 2)
    assert outcome.failure == ""


def test_memory_is_that_of_the_fit_and_not_of_what_came_before():
    if not sys.platform.startswith("linux"):
        pytest.skip("the peak can be reset on Linux only")
    held = np.ones(20_000_000)
    del held
    job = _worker.Job("", Takes(40), [])
    # A system that takes pages back meanwhile hides as much of a fit: the most of three is its own.
    outcome = max(
        (
            _worker.run_cell(job, _worker.Cell(0, "", 2, 0), np.ones((200, 3)), 0.0)
            for _ in range(3)
        ),
        key=lambda found: found.extra_mb,
    )
    assert 30.0 < outcome.extra_mb < 60.0
    assert outcome.peak_mb > outcome.extra_mb


def test_our_own_strategies_are_rows_with_their_spectrum():
    data = datasets.gplvm_data("medium", 300, seed=0)
    found = compare.compare(data, ["eigen"], n_components=3, kernel="squared_exponential")
    assert found.rows[0].failure == ""
    assert found.rows[0].title == "IKD eigen"
    assert found.spectra[0].shape == (3,)
