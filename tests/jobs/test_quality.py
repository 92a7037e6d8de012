"""What is likely to spoil an embedding: said where it is planted, and nowhere else."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
)
from tables import sheet

from ikd_graph import IKD, datasets, diagnose
from ikd_graph.cli import main
from ikd_graph.datasets import Dataset, Labels
from ikd_graph.jobs.diagnose.quality import (
    check_data_quality,
    clock_columns,
    dominant_columns,
    leaking_columns,
)


@pytest.fixture
def smooth():
    rng = np.random.default_rng(2)
    at = np.linspace(0, 7, 60)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, 9) + rng.uniform(0, 6, 9))
    return X + 0.05 * rng.normal(size=X.shape)


NAMES = tuple("abcdefghi")


def test_nothing_is_said_of_an_ordinary_table(smooth):
    assert check_data_quality(Dataset(smooth, feature_names=NAMES)) == []


@pytest.mark.parametrize("name", ["digits", "swiss_roll", "half_moons", "spike_counts", "medium"])
def test_nothing_is_said_of_the_built_in_data(name):
    assert check_data_quality(datasets.load(name)) == []


def changed(folder, X, **reading):
    """Rows as a file of them is read."""
    np.save(folder / "rows.npy", X)
    return datasets.load(folder / "rows.npy", reading=datasets.Reading(**reading)).X


def test_levels_of_rows_are_named_with_a_cure_that_works(smooth, tmp_path):
    X = smooth + np.random.default_rng(0).uniform(300.0, 900.0, 60)[:, None]
    (said,) = check_data_quality(Dataset(X, feature_names=NAMES))
    assert said.startswith("row means hold 100.0%")
    assert "standardize_rows=True" in said
    rows = changed(tmp_path, X, standardize_rows=True)
    np.testing.assert_allclose(
        (rows.mean(axis=1), rows.std(axis=1)), [[0] * 60, [1] * 60], atol=1e-9
    )
    assert check_data_quality(Dataset(rows, feature_names=NAMES)) == []
    X[3, 3] = np.nan
    with pytest.raises(ValueError, match="rows must have no missing cells"):
        changed(tmp_path, X, standardize_rows=True, keep_missing=True)


@pytest.mark.parametrize("how", ["scale", "offset"])
def test_a_column_of_another_unit_is_named(smooth, how, tmp_path):
    X = smooth.copy()
    X[:, 3] = X[:, 3] * 1000 if how == "scale" else X[:, 3] + 1013
    (said,) = check_data_quality(Dataset(X, feature_names=NAMES))
    assert said.startswith("1 of 9 columns holds ")
    assert "(d): unscaled, the others hardly matter; scale=" in said
    scaled = changed(tmp_path, X, scale="standard")
    assert check_data_quality(Dataset(scaled, feature_names=NAMES)) == []


def test_counts_that_dominate_are_to_be_transformed():
    rng = np.random.default_rng(0)
    X = rng.poisson([5000.0, *[2.0] * 11], size=(80, 12)).astype(float)
    (said,) = check_data_quality(Dataset(X * 1.0))
    assert "transform='sqrt'" in said
    assert dominant_columns(np.sqrt(X) - np.sqrt(X).mean(axis=0))[0] == []


@pytest.mark.parametrize(
    "make",
    [
        lambda n: 0.5 * np.arange(n),
        lambda n: 100.0 - np.arange(n),
        lambda n: np.round(np.arange(n) / 30, 3),
        lambda n: 1.7e9 + 60.0 * np.arange(n),
    ],
    ids=["clock", "falling", "rounded", "seconds since 1970"],
)
def test_a_clock_or_an_index_is_named_once(smooth, make):
    X = np.column_stack([make(len(smooth)), smooth])
    said = check_data_quality(Dataset(X, feature_names=("time", *NAMES)))
    assert len(said) == 1
    assert said[0].startswith("'time' is taken as a measurement and rises or falls")
    assert said[0].endswith("index='time' or labels=('time',)")


@pytest.mark.parametrize("name", ["time", "t (s)", "angle", "heading_deg", "x", "Longitude"])
def test_a_clock_an_angle_or_a_position_is_named_whatever_its_values(smooth, name):
    rng = np.random.default_rng(1)
    X = np.column_stack([smooth, 1000 * np.cumsum(rng.exponential(size=len(smooth)))])
    (said,) = check_data_quality(Dataset(X, feature_names=(*NAMES, name)))
    assert said.startswith(f"{name!r} is taken as a measurement")
    assert "labels=" in said
    assert "scale=" not in said


def test_a_clock_with_gaps_is_named_without_its_name(smooth):
    kept = np.delete(np.arange(80), np.arange(20, 40))
    assert clock_columns(np.column_stack([smooth, 0.1 * kept])) == [9]


def test_a_table_of_positions_is_a_table(smooth):
    assert check_data_quality(Dataset(smooth[:, :3], feature_names=("x", "y", "z"))) == []


def test_what_only_rises_or_counts_is_no_clock(smooth):
    rng = np.random.default_rng(1)
    growing = np.cumsum(rng.uniform(0.1, 1.0, len(smooth)))
    counts = rng.integers(0, len(smooth), len(smooth)).astype(float)
    counts[:2] = 0, len(smooth) - 1
    constant = np.full(len(smooth), 3.0)
    assert clock_columns(np.column_stack([growing, counts, constant, smooth])) == []
    assert clock_columns(np.arange(4.0)[:, None]) == []


def test_columns_that_say_the_labels_are_named(smooth):
    place = np.linspace(0, 1, len(smooth)) ** 2
    codes = np.arange(len(smooth)) % 3
    X = np.column_stack([smooth, 5 - 2 * place, np.array([7.0, 1.0, 4.0])[codes]])
    data = Dataset(
        X,
        y=place,
        label_title="place",
        feature_names=(*NAMES, "mirror", "code"),
        other_labels=(Labels("kind", codes, ("x", "y", "z")),),
    )
    assert leaking_columns(data) == [(9, "place"), (10, "kind")]
    assert any("column 'code' says 'kind'" in text for text in check_data_quality(data))
    # Whose classes are points, of them every column says everything.
    alone = Dataset(smooth, y=np.arange(len(smooth)), label_names=tuple(map(str, range(60))))
    assert leaking_columns(alone) == []


def test_few_rows_and_tables_that_lie_on_their_side(smooth):
    assert "20 rows are few" in check_data_quality(Dataset(smooth[:20]))[0]
    wide = np.random.default_rng(0).normal(size=(12, 200))
    assert "transpose=True" in check_data_quality(Dataset(wide))[0]


@pytest.mark.parametrize("X", [np.ones((40, 4)), np.eye(4)], ids=["flat", "four rows"])
def test_of_what_no_fit_can_take_nothing_is_said(X):
    assert check_data_quality(Dataset(X)) == []


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1e300, 1e-300, 1e150])
def test_units_that_have_no_squares_change_nothing(smooth, unit):
    X = smooth.copy()
    X[:, 2] *= 1000.0
    told = [check_data_quality(Dataset(unit * X)), check_data_quality(Dataset(X))]
    assert told[0] == told[1] != []


def heard(function):
    """What a call returns, and its warnings of a dimension that few rows make."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    return result, [str(each.message) for each in caught if "only tells" in str(each.message)]


def saturated(n=80, rows=(5,), value=65535.0):
    """Readings over a square of which some rows are at the end of their range; names."""
    X = sheet(n=n, n_columns=30, size=(1.0, 1.0))[0]
    X[list(rows)] = value + np.arange(len(rows))[:, None]
    return X, [f"s{row}" for row in range(n)]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_fit_names_the_row_that_differs_from_all_others(scale):
    X, names = saturated(value=300.0)
    model, said = heard(lambda: IKD().fit(scale * X + 1e3 * scale))
    assert len(said) == 1
    assert re.match(r"dimension 1 only tells row 5 from all others \(.*\); look", said[0])
    assert said[0] in model.settings_.warnings
    pandas = pytest.importorskip("pandas")
    assert "tells row s5 from" in heard(lambda: IKD().fit(pandas.DataFrame(X, index=names)))[1][0]
    order = np.random.default_rng(0).permutation(80)
    (said,) = heard(lambda: IKD().fit(X[order]))[1]
    assert f"tells row {np.flatnonzero(order == 5)[0]} from" in said


def test_rows_that_differ_from_all_others_are_named_together_and_equal_ones_each():
    X, _ = saturated(rows=(5, 9))
    X[33] = X[9]
    (said,) = heard(lambda: IKD().fit(X))[1]
    assert "only tells rows 5, 9, 33 from" in said


def test_a_diagnosis_of_a_part_of_the_rows_numbers_them_as_the_table_does():
    X, names = saturated(1100, rows=(5, 1090, 1095))
    pandas = pytest.importorskip("pandas")
    for table, mark in ((X, ""), (pandas.DataFrame(X, index=names), "s")):
        with pytest.warns(UserWarning, match="only tells"):
            diagnosis = diagnose(table)
        there = [f"{mark}{row}" for row in (5, 1090, 1095) if row in diagnosis.rows]
        (said,) = [text for text in diagnosis.warnings if "only tells" in text]
        assert f" {', '.join(there)} from all others" in said
        assert "row means" not in "".join(diagnosis.warnings)


def test_a_command_names_the_row_once(tmp_path, capsys):
    X, names = saturated()
    table = [f"{name},{','.join(map(str, row))}" for name, row in zip(names, X, strict=True)]
    head = ",".join(["id", *(f"c{column}" for column in range(30))])
    (tmp_path / "x.csv").write_text("\n".join([head, *table]))
    words = ["embed", str(tmp_path / "x.csv"), "--index", "id", "-o", str(tmp_path)]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().err.split())
    assert text.count("only tells") == 1
    assert "row s5 from" in text
    assert "row means" not in text


def ordinary_tables():
    """Thirty tables without an outlier, some of heavy tails."""
    for name in ("digits", "spike_counts", "medium", "half_moons"):
        yield name, datasets.load(name).X[:300]
    for load in (load_iris, load_wine, load_breast_cancer, load_diabetes):
        yield load.__name__, load().data
    yield "blobs", make_blobs(200, 8, random_state=0)[0]
    yield "circles", make_circles(150, random_state=0)[0]
    rng = np.random.default_rng(0)
    for seed in range(4):
        X = sheet(seed, n_columns=(30, 120)[seed % 2], noise=(0.1, 0.3, 1.0, 2.0)[seed])[0]
        yield f"model {seed}", X
        yield f"counts {seed}", rng.poisson(np.exp(0.7 * X + seed - 1.0))
        yield f"lognormal {seed}", np.exp(1.5 * X)
        yield f"student {seed}", rng.standard_t((2, 3)[seed % 2], size=(100, (6, 40)[seed // 2]))
        yield f"heavy rows {seed}", X * np.exp(0.8 * rng.normal(size=(len(X), 1)))


@pytest.mark.slow
def test_of_ordinary_tables_nothing_of_this_kind_is_said():
    said = {name: heard(lambda X=X: IKD().fit(X[:150]))[1] for name, X in ordinary_tables()}
    assert len(said) == 30
    assert sum(map(bool, said.values())) <= 1, {k: v for k, v in said.items() if v}
