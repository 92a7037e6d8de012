import numpy as np
import pytest

from ikd_graph.study import experiments
from ikd_graph.study.experiments import reconstruction


def test_our_way_back_is_nearer_than_that_of_principal_components():
    table = experiments.way_back((0.0, 0.5), ("ikd", "pca"), n_samples=500, n_trials=1)
    cells = {(row["noise"], row["rows"], row["method"]): row for row in table.summary()}
    assert len(cells) == 8
    assert all(row["failed"] == 0 for row in cells.values())
    for noise in (0.0, 0.5):
        for rows in ("fitted", "held out"):
            ours, theirs = cells[noise, rows, "ikd"], cells[noise, rows, "pca"]
            assert ours["mean"] < theirs["mean"]
            # With noise the error against the rows has the noise itself in it.
            assert ours["signal"] < 0.5 * theirs["signal"]
            assert ours["signal"] <= ours["mean"] + 1e-9


def test_the_best_setting_of_a_peer_counts_for_each_kind_of_rows(monkeypatch):
    class Off:
        def __init__(self, fitted_by, new_by, n_fitted):
            self.shift = {n_fitted: fitted_by}
            self.other = new_by

        def transform(self, X):
            return X

        def inverse_transform(self, X):
            return X + self.shift.get(len(X), self.other)

    def settings(X, seed):
        yield Off(1.0, 3.0, len(X))
        yield Off(2.0, 0.5, len(X))

    monkeypatch.setitem(reconstruction.WAYS_BACK, "pca", settings)
    table = experiments.way_back((0.0,), ("pca",), n_samples=50, n_trials=1)
    assert [row["mean"] for row in table.summary()] == pytest.approx([1.0, 0.25])
    assert [trial["T"] for trial in table.trials] == [40, 10]


def test_kernel_pca_comes_in_all_its_settings():
    X = np.random.default_rng(0).normal(size=(30, 6))
    found = list(reconstruction.WAYS_BACK["kernel_pca_rbf"](X, 0))
    assert len({(model.gamma, model.alpha) for model in found}) == 20


def test_a_way_back_that_fails_is_counted_with_its_reason(monkeypatch):
    def broken(X, seed):
        raise RuntimeError("no way")
        yield

    monkeypatch.setitem(reconstruction.WAYS_BACK, "pca", broken)
    table = experiments.way_back((0.0,), ("pca",), n_samples=50, n_trials=2)
    assert [row["failed"] for row in table.summary()] == [2, 2]
    assert "no way" in table.to_markdown()
    with pytest.raises(ValueError, match="methods must be one of 'ikd'"):
        experiments.way_back((0.0,), ("umap",))
