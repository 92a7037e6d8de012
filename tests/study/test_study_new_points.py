import numpy as np
import pytest

from ikd_graph.study import datasets, experiments
from ikd_graph.study.experiments import placing


@pytest.fixture(scope="module")
def few_digits():
    data = datasets.load("digits")
    return datasets.Dataset(
        X=data.X[:300], y=data.y[:300], label_names=data.label_names, name="few"
    )


def test_new_rows_are_classified_by_the_fitted_ones(few_digits):
    table = experiments.new_points((few_digits,), (2, 5), ("ikd", "isomap_5", "pca"), n_trials=2)
    summary = table.summary()
    assert [(row["M"], row["method"]) for row in summary] == [
        (m, method) for m in (2, 5) for method in ("ikd", "isomap_5", "pca")
    ]
    assert all(row["n"] == 2 and row["failed"] == 0 for row in summary)
    assert all(trial["T"] == 240 for trial in table.trials)
    ours = summary[3]
    assert ours["mean"] > 0.8
    assert ours["gap"] == pytest.approx(ours["whole"] - ours["mean"])
    assert np.isnan(summary[4]["whole"])


def test_splits_repeat_with_their_seed(few_digits):
    def accuracies(seed):
        table = experiments.new_points((few_digits,), (5,), ("pca",), n_trials=3, seed=seed)
        return [trial["accuracy"] for trial in table.trials]

    first = accuracies(0)
    assert accuracies(0) == first
    assert accuracies(1)[:2] == first[1:]
    assert len(set(first)) > 1


def test_new_rows_have_no_say_in_the_fit(few_digits, monkeypatch):
    seen = []

    class Spy:
        def __init__(self, n_components, seed):
            self.n_components = n_components

        def fit(self, X):
            return self

        def fit_transform(self, X):
            seen.append(("fit", X.copy()))
            return X[:, : self.n_components]

        def transform(self, X):
            seen.append(("place", X.copy()))
            return X[:, : self.n_components]

    monkeypatch.setitem(placing.PLACERS, "pca", Spy)
    experiments.new_points((few_digits,), (2,), ("pca",), n_trials=1)
    (_, fitted), (_, placed) = seen[-2:]
    rows = {row.tobytes() for row in few_digits.X}
    old, new = ({row.tobytes() for row in part} for part in (fitted, placed))
    assert old | new == rows
    assert not old & new


def test_a_peer_that_fails_is_counted_with_its_reason(few_digits, monkeypatch):
    def missing(n_components, seed):
        raise ModuleNotFoundError("No module named 'umap'")

    monkeypatch.setitem(placing.PLACERS, "umap", missing)
    table = experiments.new_points((few_digits,), (2,), ("umap",), n_trials=2)
    assert table.summary()[0]["failed"] == 2
    assert "No module named 'umap'" in table.to_markdown()


def test_methods_that_cannot_place_new_rows_are_refused(few_digits):
    with pytest.raises(ValueError, match="methods must be one of 'ikd'"):
        experiments.new_points((few_digits,), (2,), ("tsne",))
    with pytest.raises(ValueError, match="data must have classes, got none in 'swiss_roll'"):
        experiments.new_points((datasets.swiss_roll(50),), (2,), ("pca",), n_trials=1)
