"""``ikd-graph diagnose``, called as the console script calls it."""

import csv
import json
import warnings

import numpy as np

from ikd_graph.cli import main
from ikd_graph.study import datasets
from ikd_graph.study.diagnosis import diagnose


def run(*arguments):
    return main(["diagnose", *(str(part) for part in arguments)])


def saved(folder, noise, n_observed):
    """File of data drawn from the model, and the data."""
    line = np.random.default_rng(0).permutation(np.linspace(0.0, 4.0, 30))[:, None]
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
    assert left["p_value"] == left["chance"]["p_value"] == found.p_value
    with (out / names[3]).open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [(int(a), int(b)) for a, b, _ in rows] == [pair[:2] for pair in found.pairs()]
    assert left["parameters"]["strategy"] in ("geodesic", "linear")
    page = (out / names[0]).read_text(encoding="utf-8")
    assert f"{found.predicted_r2:.2f} ±" in page
    assert "--components 1" in page
    assert ("Warnings" in page) == bool(said.err)
