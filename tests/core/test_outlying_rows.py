"""A row that differs from all others is named: once, by its name, and nowhere else."""

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
from ikd_graph._base import limits
from ikd_graph.cli import main


def heard(function):
    """What a call returns, and its warnings of a dimension that few rows make."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    return result, [str(each.message) for each in caught if "mostly tells" in str(each.message)]


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
    assert re.match(r"dimension 1 mostly tells row 5 from all others \(.*\); look", said[0])
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
    assert "mostly tells rows 5, 9, 33 from" in said


def test_a_diagnosis_of_a_part_of_the_rows_numbers_them_as_the_table_does(monkeypatch):
    monkeypatch.setattr(limits, "DIAGNOSED", 100)
    X, names = saturated(110, rows=(5, 103, 107))
    pandas = pytest.importorskip("pandas")
    for table, mark in ((X, ""), (pandas.DataFrame(X, index=names), "s")):
        with pytest.warns(UserWarning, match="mostly tells"):
            diagnosis = diagnose(table)
        there = [f"{mark}{row}" for row in (5, 103, 107) if row in diagnosis.rows]
        (said,) = [text for text in diagnosis.warnings if "mostly tells" in text]
        assert f" {', '.join(there)} from all others" in said


def test_a_command_names_the_row_once(tmp_path, capsys):
    X, names = saturated()
    table = [f"{name},{','.join(map(str, row))}" for name, row in zip(names, X, strict=True)]
    head = ",".join(["id", *(f"c{column}" for column in range(30))])
    (tmp_path / "x.csv").write_text("\n".join([head, *table]))
    words = ["embed", str(tmp_path / "x.csv"), "--index", "id", "-o", str(tmp_path)]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().err.split())
    assert text.count("mostly tells") == 1
    assert "row s5 from" in text


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
