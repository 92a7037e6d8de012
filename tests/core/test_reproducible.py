"""The same embedding anywhere: fingerprints, models that are fitted again, other processors."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.base import clone

from ikd_graph import IKD
from ikd_graph.fingerprint import fingerprint, largest_move

ROOT = Path(__file__).parents[2]


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


def test_a_saved_model_is_fitted_again_and_compared(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2)) @ np.random.default_rng(1).normal(size=(2, 8))
    IKD(strategy="geodesic", graph=8, refine=None).fit(np.sin(X)).save(tmp_path / "a.ikd")
    model = IKD.load(tmp_path / "a.ikd")
    again = clone(model).fit(np.sin(X))
    assert largest_move(model.embedding_, again.embedding_) == 0.0
    assert again.fingerprint_ == model.fingerprint_
    other = clone(model).fit(np.sin(X + 0.1))
    assert largest_move(model.embedding_, other.embedding_) > 1e-6


@pytest.mark.slow
def test_other_processors_move_no_point(tmp_path):
    script = ROOT / "benchmarks" / "shown" / "same_everywhere.py"
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
    fits = [IKD(1, **settings).fit(counts).embedding_ for _ in range(4)]
    assert len({each.tobytes() for each in fits}) == 1
