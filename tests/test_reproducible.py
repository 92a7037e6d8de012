"""The same embedding anywhere: fingerprints, the command that verifies, other processors."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from ikd_graph import IKD
from ikd_graph.cli import main
from ikd_graph.fingerprint import fingerprint, largest_move

ROOT = Path(__file__).parents[1]


@given(seed=st.integers(0, 1000), width=st.integers(1, 4))
def test_a_fingerprint_is_that_of_the_distances(seed, width):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(30, width))
    turn = ortho_group.rvs(width, random_state=rng) if width > 1 else np.array([[-1.0]])
    first, second = fingerprint(Z), fingerprint(Z @ turn + rng.normal(size=width))
    digits = [np.array(text.split("-")[1:], dtype=int) for text in (first, second)]
    assert np.abs(digits[0] - digits[1]).max() <= 1
    bent = Z + 0.1 * np.abs(Z)
    assert fingerprint(bent) != first
    assert largest_move(Z, Z) == 0.0 < largest_move(Z, bent)


def test_embeddings_of_other_points_are_refused():
    with pytest.raises(ValueError, match=r"second must be a table .* same shape as first"):
        largest_move(np.zeros((4, 2)), np.zeros((5, 2)))


def test_a_saved_model_is_fitted_again_and_compared(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(60, 2)) @ np.random.default_rng(1).normal(size=(2, 8))
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[f"c{k}" for k in range(8)], *np.sin(X).round(6).tolist()])
    table, model = str(tmp_path / "a.csv"), tmp_path / "a_model.ikd"
    flags = ["--strategy", "geodesic", "--graph", "8", "--refine", "none"]
    assert main(["embed", table, "-o", str(tmp_path), "--save-model", *flags]) == 0
    assert IKD.load(model).fingerprint_ in capsys.readouterr().out
    assert main(["verify", str(model), table, "-o", str(tmp_path)]) == 0
    assert "verdict            the same\n" in capsys.readouterr().out
    text = (tmp_path / "a.csv").read_text().splitlines()
    text[1] = text[2]
    (tmp_path / "b.csv").write_text("\n".join(text))
    assert main(["verify", str(model), str(tmp_path / "b.csv"), "-o", str(tmp_path)]) == 1
    assert "not the same" in capsys.readouterr().out


@pytest.mark.slow
def test_other_processors_move_no_point(tmp_path):
    script = ROOT / "benchmarks" / "same_everywhere.py"
    if not script.exists():
        pytest.skip("needs the sources")
    subprocess.run([sys.executable, script, "--quick", "--output", tmp_path], check=True)
    with (tmp_path / "same_everywhere.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len({line["machine"] for line in lines}) == 6
    moves = [float(line["move"]) for line in lines if line["method"] in ("default", "geodesic")]
    assert max(moves) <= 1e-10
    ours = [line for line in lines if line["method"] != "UMAP"]
    again = [float(line["move"]) for line in ours if line["machine"] == "this one again"]
    assert max(again) <= 1e-14


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("strategy", ["geodesic", "eigen", "linear"])
def test_fits_of_few_distinct_points_repeat_to_the_last_bit(strategy):
    # Lanczos exhausts its space and goes on in a random direction.
    counts = np.zeros((300, 600), dtype=int)
    counts[298:] = 1
    settings = {"strategy": strategy, "affinity": "euclidean", "refine": None}
    fits = [IKD(2, **settings).fit(counts).embedding_ for _ in range(4)]
    assert len({each.tobytes() for each in fits}) == 1
