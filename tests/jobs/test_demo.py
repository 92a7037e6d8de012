"""The demonstration: what is known of its tables is what it says of them."""

import contextlib
import csv
import io

import numpy as np
import pytest

from ikd_graph import compare, datasets, metrics
from ikd_graph.cli import commands, main
from ikd_graph.jobs.demo import demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the command wrote and said, and the result that it told."""
    folder, said, results = tmp_path_factory.mktemp("demo"), io.StringIO(), []

    def kept(*given):
        results.append(demo(*given))
        return results[-1]

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(commands, "demo", kept)
        assert main(["demo", "--output", str(folder)]) == 0
    (result,) = results
    return folder, said.getvalue().splitlines(), result


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of other libraries, while they are imported
def test_the_demonstration_tells_the_truth_apart_from_noise(shown):
    folder, said, result = shown
    with open(folder / "demo_scores.csv", newline="") as file:
        scores = {row["method"]: float(row["r2"]) for row in csv.DictReader(file)}
    assert {"blockwise", "geodesic", "eigen", "PCA", "Isomap"} <= scores.keys()
    assert scores["IKD"] == max(scores.values())
    assert f"IKD {scores['IKD']:.2f}" in said[0]
    assert said[3].startswith("Noise: nothing to see")
    assert said[4] == "Wrote"
    page = (folder / "demo_report.html").read_text()
    assert "nothing to see" in page
    assert page.count("R² 0.") >= len(scores)
    assert (folder / "demo_picture.png").stat().st_size > 50_000
    # The truth is turned onto the map: what an affine map explains stays the same.
    curve = result.embeddings["curve"]
    assert np.isclose(metrics.affine_r2(curve["truth"], curve["IKD"]), scores["IKD"])
    assert 0.85 < result.coverage < 0.99
    assert result.chance.is_noise


@pytest.mark.parametrize(
    "command",
    ["cliques", *(pytest.param(name, marks=pytest.mark.slow) for name in ("embed", "diagnose"))],
)
def test_commands_say_how_near_the_truth_they_come(command, tmp_path, capsys):
    assert main([command, "surface", "--output", str(tmp_path)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "true coordinates" in line]
    assert line.startswith("R² with the 2 true coordinates: 0.9")


def test_points_are_colored_by_the_truth():
    found = compare(datasets.surface(30, 25), "pca", noise=0)
    dots = [each for ax in found.plot().figure.axes for each in ax.collections]
    assert max(len(np.unique(each.get_facecolors(), axis=0)) for each in dots) > 20
