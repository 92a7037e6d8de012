"""What is done to rows is learnt once: a row alone is treated as among others, by every way in."""

import csv

import numpy as np
import pytest
from sklearn.preprocessing import RobustScaler, StandardScaler

from ikd_graph import IKD, covariance, datasets
from ikd_graph.cli import main
from ikd_graph.datasets import Reading

pd = pytest.importorskip("pandas")

FAST = ("--strategy", "geodesic", "--graph", "8", "--refine", "none", "--affinity", "euclidean")

WAYS = {
    "transform": (["--transform", "sqrt"], {"transform": "sqrt"}),
    "standardize-rows": (["--standardize-rows"], {"standardize_rows": True}),
    "scale": (["--scale", "standard"], {"scale": "standard"}),
    "robust": (["--scale", "robust"], {"scale": "robust"}),
    "mean row": (["--remove-mean-row"], {"remove_mean_row": True}),
    "impute": (["--impute", "median", "--na=-999"], {"impute": "median", "na": ("-999",)}),
    "all": (
        ["--transform", "log1p", "--scale", "--standardize-rows", "--remove-mean-row"],
        {"transform": "log1p", "scale": "standard", "standardize_rows": True}
        | {"remove_mean_row": True},
    ),
}  # fmt: skip


def counts(n=60, p=24):
    rng = np.random.default_rng(0)
    rates = np.exp(1.5 + np.sin(3 * rng.uniform(0, 1, (n, 2)) @ rng.normal(size=(2, p))))
    return rng.poisson(rates).astype(float)


def learn(folder, X, **reading):
    """What is done to rows, as it was learnt from a file of some."""
    np.save(folder / "rows.npy", X)
    return datasets.load(folder / "rows.npy", reading=Reading(**reading)).steps


def write(path, X, names):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *X.tolist()])


def placed(path):
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    return np.array([[float(row[head.index(f"ikd{k}")]) for k in (0, 1)] for row in rows])


@pytest.mark.parametrize("way", WAYS)
def test_new_rows_are_treated_as_those_of_the_model(tmp_path, way, capsys):
    words, parameters = WAYS[way]
    X, names = counts(), [f"g{k}" for k in range(24)]
    if way == "impute":
        X[5, 3] = X[45, 7] = X[50, 3] = -999.0
    write(tmp_path / "old.csv", X[:40], names)
    out = ["-o", str(tmp_path), "-q"]
    assert main(["embed", str(tmp_path / "old.csv"), "--save-model", *out, *FAST, *words]) == 0
    model = tmp_path / "old_model.ikd"
    # Columns in another order, with one more, and one file with a row alone.
    order = np.random.default_rng(1).permutation(24)
    for name, rows in (("all", X), ("alone", X[45:46])):
        extra = np.c_[rows[:, order], np.full(len(rows), 7.0)]
        write(tmp_path / f"{name}.csv", extra, [*(names[c] for c in order), "extra"])
        words_out = ["place", str(model), str(tmp_path / f"{name}.csv"), "-o", str(tmp_path)]
        assert main(words_out) == 0
        said = capsys.readouterr().out
        assert "left out: extra" in said
        assert all(step in said for step in learn(tmp_path, X[:40], **parameters).steps())
    Z = placed(tmp_path / "all_placed.csv")
    np.testing.assert_array_equal(Z[:40], placed(tmp_path / "old_embedding.csv"))
    np.testing.assert_array_equal(placed(tmp_path / "alone_placed.csv")[0], Z[45])
    # The same in Python: by the saved model, and by what was learnt from its rows.
    settings = {"strategy": "geodesic", "graph": 8, "refine": None, "affinity": "euclidean"}
    frame = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(IKD.load(model).transform(frame), Z)
    own = learn(tmp_path, X[:40], **parameters)
    again = IKD(**settings).fit(own.apply(X[:40]))
    np.testing.assert_allclose(again.transform(own.apply(X)), Z, atol=1e-9)
    np.testing.assert_array_equal(own.apply(X[45:46])[0], own.apply(X)[45])


def test_holes_in_new_rows_are_filled_by_what_was_learnt_and_named_where_nothing_was(
    tmp_path, capsys
):
    X, names = counts(), [f"g{k}" for k in range(24)]
    write(tmp_path / "t.csv", X, names)
    out = ["-o", str(tmp_path)]
    words = ["embed", str(tmp_path / "t.csv"), "--save-model", *out, *FAST]
    hole = X[:3].astype(object)
    hole[1, 2] = ""
    write(tmp_path / "hole.csv", hole, names)
    place = ["place", str(tmp_path / "t_model.ikd"), str(tmp_path / "hole.csv"), *out]
    assert main([*words, "--impute", "median"]) == 0
    assert main(place) == 0
    filled = X[:3].copy()
    filled[1, 2] = np.median(X[:, 2])
    expected = IKD.load(tmp_path / "t_model.ikd").transform(pd.DataFrame(filled, columns=names))
    np.testing.assert_array_equal(placed(tmp_path / "hole_placed.csv"), expected)
    assert main(words) == 0
    assert main(place) == 2
    assert "missing values: 1" in capsys.readouterr().err


def test_rows_agree_with_scikit_learn_and_the_functions_of_covariance(tmp_path):
    X = counts()
    pairs = (
        ({"scale": "standard"}, StandardScaler().fit_transform(X)),
        ({"scale": "robust"}, RobustScaler().fit_transform(X)),
        ({"transform": "log1p"}, np.log1p(X)),
        ({"remove_mean_row": True}, covariance.remove_mean_row(X)),
    )
    for own, expected in pairs:
        np.testing.assert_allclose(learn(tmp_path, X, **own).apply(X), expected, atol=1e-12)


def test_wrong_parameters_and_values_are_refused(tmp_path):
    X = counts()
    with pytest.raises(ValueError, match="scale must be one of 'standard'"):
        Reading(scale="none")
    with pytest.raises(ValueError, match=r"sqrt. must be defined for all values, got 1"):
        learn(tmp_path, X, transform="sqrt").apply(-1.0 * (np.arange(24) == 3)[None])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_a_unit_that_has_no_squares_is_not_scaled(unit, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 5)) * unit
    with pytest.raises(ValueError, match="X must have a largest value between"):
        learn(tmp_path, X, scale="standard")


def test_rows_with_holes_are_filled_by_the_parameter_and_by_the_flag(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(20, 5))
    X[3, 3] = np.nan
    with pytest.raises(ValueError, match="impute='median' fills them"):
        learn(tmp_path, X, standardize_rows=True, keep_missing=True)
    np.savetxt(tmp_path / "holes.csv", X, delimiter=",")
    words = ["embed", str(tmp_path / "holes.csv"), "--standardize-rows", "--missing", "pairwise"]
    assert main(words) == 2
    assert "--impute median fills them" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", ["standard", "robust"])
def test_columns_without_spread_are_only_centered(scale, tmp_path):
    X = np.c_[np.arange(6.0), np.full(6, 0.1)]
    rows = learn(tmp_path, X, impute="median", scale=scale).apply(X)
    assert np.isfinite(rows).all()
    assert not rows[:, 1:].any()


@pytest.mark.parametrize("scale", ["standard", "robust"])
def test_a_column_of_any_unit_is_scaled(scale, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    tiny = X * [1e-20, 1.0, 1e20]
    wanted = learn(tmp_path, X, scale=scale).apply(X)
    np.testing.assert_allclose(learn(tmp_path, tiny, scale=scale).apply(tiny), wanted)


def test_holes_are_filled_one_way_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(20, 4)).astype(object)
    X[3, 1] = ""
    write(tmp_path / "t.csv", X, "abcd")
    for rule in ("pairwise", "impute"):
        assert main(["embed", "t.csv", "--missing", rule, "--impute", "mean"]) == 2
        told = capsys.readouterr().err
        assert f"--missing {rule} and --impute mean must not be given together" in told
    assert not list(tmp_path.glob("t_*"))
