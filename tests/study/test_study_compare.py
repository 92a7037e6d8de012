import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.decomposition import PCA
from stubs_study import Dies, Hangs, Raises, memory_of_a_fit

from ikd_graph import IKD
from ikd_graph.study import baselines, compare, datasets, metrics
from ikd_graph.study.compare import _methods, _processes, _worker
from ikd_graph.study.datasets._record import encode_labels


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


@pytest.mark.slow
def test_strategies_share_an_affinity_and_the_default_call_is_what_it_is(roll):
    found = compare.compare(roll, ["ikd", "geodesic", "blockwise", "eigen"], n_halves=1)
    used = {row.method: row.used for row in found.rows}
    assert used["geodesic"]["graph"] == used["blockwise"]["graph"]
    assert len({used[name]["affinity"] for name in ("geodesic", "blockwise", "eigen")}) == 1
    assert used["ikd"]["affinity"] == IKD().fit(roll.X).settings_.affinity


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
    assert scores["svm"] > 0.95
    assert scores["trustworthiness"] == scores["continuity_15"] == scores["r_nx_auc"] == 1.0
    assert not {"r2_affine", "decoding", "centroid_triplets"} & set(scores)
    large = datasets.swiss_roll(2300)
    assert compare.score(large, large.latent)["trustworthiness"] > 0.98


def test_a_score_is_what_the_measures_give_one_by_one(digits):
    X, y = digits[0][:200], digits[1][:200]
    Z = PCA(2).fit_transform(X)
    data = datasets.Dataset(X=X, y=y, label_names=tuple("0123456789"))
    scores = compare.score(data, Z)
    assert set(scores) == {
        name for group in ("labels", "local", "global") for name in compare.GROUPS[group]
    } - {"decoding", "decoding_blocks"}
    assert scores["trustworthiness_50"] == metrics.trustworthiness(X, Z, 50)
    assert scores["continuity_15"] == metrics.continuity(X, Z, 15)
    assert scores["global_distances"] == metrics.global_distance_preservation(X, Z)
    assert scores["density"] == metrics.density_preservation(X, Z)
    assert scores["centroid_distances"] == metrics.centroid_distances(X, Z, y)
    assert scores["svm"] == metrics.svm_accuracy(Z, y)


def test_a_measurement_is_decoded_and_an_angle_around_its_circle(rng):
    angle = rng.uniform(0.0, 360.0, size=200)
    ring = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    data = datasets.Dataset(X=ring, y=angle)
    scores = compare.score(data, ring)
    assert scores["decoding"] == metrics.decoding_r2(ring, angle)
    assert scores["decoding_blocks"] == metrics.decoding_r2(ring, angle, seed=None)
    assert "knn" not in scores
    around = compare.score(replace(data, label_period=360.0), ring)
    assert around["decoding"] > scores["decoding"]


@pytest.mark.parametrize(
    ("values", "decoded"),
    [
        (np.arange(200) % 100, True),
        (np.arange(200) % 10, False),
        (np.repeat(np.arange(50), 4), True),
        (np.where(np.arange(200) < 150, np.arange(200) / 7.0, np.nan), True),
        (np.where(np.arange(200) < 150, np.arange(200) / 7.0, np.inf), True),
        (np.full(200, np.nan), False),
        (np.full(200, 0.5), False),
        (np.array([f"name {i % 100}" for i in range(200)]), False),
    ],
)
def test_many_whole_numbers_are_a_measurement_and_names_or_few_numbers_are_none(values, decoded):
    y, names = encode_labels(values)
    Z = np.arange(200.0)[:, None]
    scores = compare.score(datasets.Dataset(X=Z, y=y, label_names=names), Z)
    assert ("decoding" in scores) == decoded
    assert np.all(np.isfinite(list(scores.values())))


@pytest.mark.slow
def test_methods_predict_the_other_half_of_the_columns_and_the_noise_costs(rng):
    data = datasets.gplvm_data("medium", 40, seed=0)
    clean, noisy = compare.compare(data, [("mine", PCA())], noise=[0.0, 2.0], n_halves=3).rows
    expected = metrics.co_smoothing(PCA(2), data.X, n_splits=3)
    assert clean.co_smoothing == pytest.approx(expected.r2)
    assert clean.co_smoothing_error == pytest.approx(expected.standard_error)
    assert noisy.co_smoothing < clean.co_smoothing
    (none,) = compare.compare(data, ["pca"], n_halves=0).rows
    assert np.isnan(none.co_smoothing)
    few = datasets.Dataset(X=data.X[:, :7])
    assert np.isnan(compare.compare(few, ["pca"]).rows[0].co_smoothing)


@pytest.mark.slow
def test_halves_are_not_fitted_to_where_the_whole_was_too_much(tmp_path, monkeypatch):
    data = datasets.Dataset(X=np.random.default_rng(0).normal(size=(200, 8)))
    asked = []
    plain = _processes._watch
    monkeypatch.setattr(_processes, "STARTUP_SECONDS", 20.0)

    def watch(folder, cells, timeout, bar):
        asked.append([cell.number for cell in cells])
        return plain(folder, cells, timeout, bar)

    monkeypatch.setattr(_processes, "_watch", watch)
    found = compare.compare(data, [("dies", Dies())], seeds=[0, 1], n_halves=2)
    assert asked == [[0, 1, 2, 3, 4, 5], [1, 4, 5]]
    assert len(found.rows) == 2


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


def test_the_default_and_the_peers_leave_out_what_is_not_installed(monkeypatch):
    installed = {"sklearn", "pacmap"}
    monkeypatch.setattr(_methods, "find_spec", lambda name: name if name in installed else None)
    names = [name for name, _ in _methods.expand(None)]
    assert names == [name for name in compare.DEFAULT_METHODS if name != "umap"]
    peers = [name for name, _ in _methods.expand(["pca", "peers"])]
    assert peers == ["pca", "isomap", "laplacian_eigenmaps", "tsne", "pacmap", "localmap"]
    assert [name for name, _ in _methods.expand(["umap"])] == ["umap"]


def test_a_kernel_is_given_to_our_own_methods_alone():
    mine = ("mine", PCA())
    eigen, *others = compare.with_kernel(["eigen", "pca", mine], "matern")
    assert (eigen[0], eigen[1].strategy, eigen[1].kernel) == ("eigen", "eigen", "matern")
    assert others == ["pca", mine]


def test_a_strategy_is_compared_plain_refined_and_as_the_paper_has_it():
    names = {f"{s}{r}" for s in ("blockwise", "geodesic") for r in ("", "+stress", "+likelihood")}
    assert {"ikd", "eigen", "paper_blockwise", "paper_geodesic", *names} == set(compare.IKD_METHODS)
    paper = _methods.our_own("paper_geodesic")
    assert (paper.strategy.path, paper.graph.s0, paper.refine) == ("covariance", 0.1, None)


@pytest.mark.slow
def test_a_refined_strategy_is_a_row_of_its_own():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 40), 100, noise=0.5, seed=0)
    found = compare.compare(data, ["geodesic", "geodesic+stress"], n_components=3)
    plain, refined = found.rows
    assert [row.title for row in found.rows] == ["IKD geodesic", "IKD geodesic+stress"]
    assert "refine='stress'" in refined.settings
    assert plain.r2_affine != refined.r2_affine


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


@pytest.mark.slow
def test_memory_is_that_of_the_fit_and_not_of_what_came_before():
    if not sys.platform.startswith("linux"):
        pytest.skip("the peak can be reset on Linux only")
    # A process of its own: what other tests gave back to theirs would not be asked for again. Its
    # peak must not be that of the process that starts it.
    large = np.ones(60_000_000)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        peak, extra = fresh.submit(memory_of_a_fit).result()
    assert 30.0 < extra < 60.0
    assert extra < peak < large.nbytes / 2**20


def test_our_own_strategies_are_rows_with_their_spectrum():
    data = datasets.gplvm_data("medium", 300, seed=0)
    ours = compare.with_kernel(["eigen"], "squared_exponential")
    found = compare.compare(data, ours, n_components=3, n_halves=1)
    assert found.rows[0].failure == ""
    assert found.rows[0].title == "IKD eigen"
    assert found.spectra[0].shape == (3,)
