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
    folder, said, _ = shown
    with open(folder / "demo_scores.csv", newline="") as file:
        scores = {(row["table"], row["method"]): float(row["r2"]) for row in csv.DictReader(file)}
    for line, name in zip(said, ("curve", "surface"), strict=False):
        ours = scores.pop((name, "IKD"))
        assert f"A {name} " in line
        assert f"IKD {ours:.2f}" in line
        assert ours > max(r2 for (table, _), r2 in scores.items() if table == name)
    assert {method for _, method in scores} >= {"blockwise", "geodesic", "eigen", "PCA"}
    assert any("Isomap" in method for _, method in scores)
    assert said[4].startswith("Noise: nothing to see")
    assert said[5] == "Wrote"
    page = (folder / "demo_report.html").read_text()
    assert "nothing to see" in page
    assert page.count("R² 0.") >= len(scores)
    assert (folder / "demo_picture.png").stat().st_size > 50_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of other libraries, while they are imported
def test_peers_have_the_better_of_two_settings_and_intervals_hold(shown):
    result = shown[2]
    every = result.embeddings["curve"]
    assert every["truth"].shape == every["IKD"].shape == (120, 2)
    isomap = [title for title in every if title.startswith("Isomap")]
    assert isomap == ["Isomap (correlation)"]
    # The truth is turned onto the map: what an affine map explains stays the same.
    again = metrics.affine_r2(every["truth"], every["IKD"])
    table = result.to_pandas().set_index(["table", "method"])["r2"]
    assert np.isclose(again, table["curve", "IKD"])
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
