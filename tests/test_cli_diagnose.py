"""``ikd-graph diagnose``, called as the console script calls it."""

import csv
import json
import warnings

import numpy as np
import pytest

from ikd_graph.cli import main
from ikd_graph.show import report
from ikd_graph.study import datasets
from ikd_graph.study.diagnosis import diagnose


def run(*arguments):
    return main(["diagnose", *(str(part) for part in arguments)])


def saved(folder, noise, n_observed):
    """File of data drawn from the model, and the data."""
    line = np.linspace(0.0, 4.0, 30)[:, None]
    X = datasets.gplvm_data(line, n_observed, noise=noise, seed=0).X
    np.save(folder / "line.npy", X)
    return folder / "line.npy", X


def test_diagnose_says_what_it_found_and_leaves_numbers_and_a_page(tmp_path, capsys):
    path, X = saved(tmp_path, 0.02, 60)
    out = tmp_path / "out"
    assert run(path, "-o", out, "--components", 1, "--splits", 2, "--seed", 3) == 0
    said = capsys.readouterr()
    assert all(line.startswith("ikd-graph: warning: ") for line in said.err.splitlines())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = diagnose(X, 1, n_splits=2, random_state=3)
    assert "line: diagnosis" in said.out
    assert all(text in said.out for text in found.findings().values())
    assert all(step.words in said.out for step in found.steps)
    names = ["line_diagnosis.html", "line_diagnosis.json", "line_diagnosis.png", "line_pairs.csv"]
    assert sorted(file.name for file in out.iterdir()) == names
    assert all(str(out / name) in said.out for name in names)
    left = json.loads((out / names[1]).read_text())
    assert left["predicted_r2"] == found.predicted_r2
    with (out / names[3]).open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [(int(a), int(b)) for a, b, _ in rows] == [pair[:2] for pair in found.pairs()]
    assert left["parameters"]["strategy"] in ("geodesic", "linear")
    page = (out / names[0]).read_text(encoding="utf-8")
    assert f"{found.predicted_r2:.2f} ±" in page
    assert "--components 1" in page
    assert ("Warnings" in page) == bool(said.err)


@pytest.mark.slow
def test_weak_data_are_warned_of_in_one_line_and_on_the_page(tmp_path, capsys):
    path, X = saved(tmp_path, 3.0, 40)
    assert run(path, "-o", tmp_path, "--splits", 2, "-q") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("ikd-graph: warning: ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = diagnose(X, n_splits=2)
    page = report.diagnosis_page(found, "line")
    assert "Warnings" in page
    assert all(text in page for text in found.warnings)
    assert "nan" not in page.split("<body>")[1].split("<script")[0]


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--splits", 1, "--splits must be an integer at least 2"),
        ("--components", 40, "--components must be less than the number of points"),
    ],
)
def test_a_wrong_flag_is_one_line_and_nothing_is_written(flag, value, message, tmp_path, capsys):
    path, _ = saved(tmp_path, 0.1, 40)
    out = tmp_path / "out"
    assert run(path, flag, value, "-o", out) == 2
    said = capsys.readouterr()
    assert said.err.startswith("ikd-graph: error: ")
    assert message in said.err
    assert not out.exists()
