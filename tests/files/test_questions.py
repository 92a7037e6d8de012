"""Two questions on the command line: which rows of a map are dubious, which topology rows have."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import ikd_graph
from ikd_graph import IKD
from ikd_graph.cli import main

NAMES = [f"cell{k}" for k in range(150)]
MOVED = [3, 40, 77, 120]


def run(*words):
    return main([str(word) for word in words])


def made(latent, p=60, noise=0.3):
    rng = np.random.default_rng(0)
    rows = np.sin(latent @ rng.normal(size=(latent.shape[1], p)) + rng.uniform(0, 6, p))
    return pd.DataFrame(rows + noise * rng.normal(size=rows.shape), NAMES).add_prefix("g")


@pytest.fixture
def files(tmp_path):
    """A table of cells with their kind, and a map of another method in another order."""
    rng = np.random.default_rng(1)
    latent = rng.uniform(-2.0, 2.0, (150, 2))
    table = made(latent).assign(kind=np.where(latent[:, 0] > 0, "a", "b"))
    table.to_csv(tmp_path / "cells.csv", index_label="cell")
    latent[MOVED] = -2.0 * np.sign(latent[MOVED])
    other = pd.DataFrame(latent, NAMES, ["UMAP1", "UMAP2"]).iloc[rng.permutation(150)]
    other.to_csv(tmp_path / "umap.csv", index_label="cell")
    return tmp_path


def test_rows_of_a_map_from_elsewhere_are_judged_by_name(files, capsys):
    out = files / "out"
    assert run("dubious", files / "umap.csv", files / "cells.csv", "-o", out) == 0
    said = capsys.readouterr().out
    assert "4 of 150 rows are dubious" in said
    found = pd.read_csv(out / "cells_dubious.csv", index_col=0)
    assert list(found.index) == NAMES
    assert list(np.flatnonzero(found["dubious"])) == MOVED
    assert (out / "cells_dubious.png").read_bytes().startswith(b"\x89PNG")
    pasted = next(line for line in said.splitlines() if line.startswith("  ikd-graph embed"))
    assert str(files / "cells.csv") in pasted
    assert run("dubious", files / "umap.csv", files / "cells.csv", "-o", out, "--json") == 0
    assert json.loads(capsys.readouterr().out)["dubious"] == MOVED


def test_the_map_that_embed_wrote_is_read_without_errors_and_labels(files, capsys):
    out = files / "out"
    fast = ("--refine", "none", "--affinity", "euclidean")
    assert run("embed", files / "cells.csv", "-o", out, "-q", "--save-model", *fast) == 0
    written = pd.read_csv(out / "cells_embedding.csv", index_col=0)
    assert list(written)[-2:] == ["dubious_p", "kind"]
    table = pd.read_csv(files / "cells.csv", index_col=0).drop(columns="kind")
    model = IKD(refine=None, affinity="euclidean").fit(table)
    np.testing.assert_allclose(written["dubious_p"], model.dubious().p_values, rtol=1e-9)
    assert run("dubious", out / "cells_embedding.csv", files / "cells.csv", "-o", out) == 0
    assert "of 150 rows" in capsys.readouterr().out
    found = pd.read_csv(out / "cells_dubious.csv", index_col=0)
    of_map = ikd_graph.dubious(written[["ikd0", "ikd1"]], table)
    np.testing.assert_allclose(found["p_value"], of_map.p_values, rtol=1e-9)


def test_placed_rows_say_whether_they_are_dubious(files):
    out, table = files / "out", pd.read_csv(files / "cells.csv", index_col=0)
    table[:100].to_csv(files / "old.csv")
    new = table[100:].copy()
    # One has half of its columns from elsewhere.
    new.iloc[0, :30] = -table.iloc[100, :30]
    new.to_csv(files / "new.csv")
    fast = ("--refine", "none", "--affinity", "euclidean")
    assert run("embed", files / "old.csv", "-o", out, "-q", "--save-model", *fast) == 0
    assert run("place", out / "old_model.ikd", files / "new.csv", "-o", out, "-q") == 0
    placed = pd.read_csv(out / "new_placed.csv", index_col=0)
    model = IKD.load(out / "old_model.ikd")
    rows = new.drop(columns="kind")
    again = model.dubious(new=(model.transform(rows), rows))
    np.testing.assert_allclose(placed["dubious_p"], again.p_values, rtol=1e-9)
    alone = model.dubious(new=(model.transform(rows[:3]), rows[:3]))
    np.testing.assert_allclose(alone.p_values, again.p_values[:3], rtol=1e-9)


def test_a_map_in_x_and_y_has_two_coordinates(files, capsys):
    pd.read_csv(files / "umap.csv", index_col=0).set_axis(["x", "y"], axis=1).to_csv(
        files / "xy.csv"
    )
    assert run("dubious", files / "xy.csv", files / "cells.csv", "-o", files / "out") == 0
    said = capsys.readouterr().out
    assert "4 of 150 rows are dubious" in said
    assert "xy.csv: x, y" in said


def test_numbers_of_columns_are_no_row_of_a_map(files, capsys):
    other = pd.read_csv(files / "umap.csv", index_col=0).loc[NAMES]
    pd.DataFrame(other.to_numpy()).to_csv(files / "plain.csv", index=False)
    assert run("dubious", files / "plain.csv", files / "cells.csv", "-o", files / "out") == 0
    assert "(cell3, cell40, cell77, cell120)" in capsys.readouterr().out
    # A row too many is none of these.
    extra = np.vstack([other.to_numpy()[:1], other.to_numpy()])
    np.savetxt(files / "plain.csv", extra, delimiter=",")
    assert run("dubious", files / "plain.csv", files / "cells.csv", "-o", files / "out") == 2
    assert "got 151" in capsys.readouterr().err


def test_a_map_of_other_rows_is_refused_with_the_cure(files, capsys):
    other = pd.read_csv(files / "umap.csv", index_col=0)
    other[:100].to_csv(files / "few.csv")
    assert run("dubious", files / "few.csv", files / "cells.csv", "-o", files / "out") == 2
    said = capsys.readouterr().err
    assert "(50 in all) missing or twice; name them alike, or take the names out" in said
    other.to_csv(files / "plain.csv", index=False)
    assert run("dubious", files / "plain.csv", files / "cells.csv", "-o", files / "out") == 0
    assert "map as a whole" in capsys.readouterr().out


@pytest.fixture
def ring(tmp_path):
    angle = np.random.default_rng(2).uniform(0.0, 2.0 * np.pi, 150)
    made(np.column_stack([np.cos(angle), np.sin(angle)])).to_csv(tmp_path / "days.csv")
    return tmp_path, angle


def test_a_ring_is_told_and_every_row_has_its_angle(ring, capsys):
    pytest.importorskip("ripser")
    folder, angle = ring
    assert run("topology", folder / "days.csv", "-o", folder / "out") == 0
    said = capsys.readouterr().out
    assert "one loop, p = " in said
    found = pd.read_csv(folder / "out" / "days_topology.csv")
    assert (found["degree"] == 1).any()
    rows = pd.read_csv(folder / "out" / "days_angles.csv", index_col=0)
    assert list(rows.index) == NAMES
    turned = np.exp(1j * rows["angle0"])
    assert max(abs(np.mean(turned * np.exp(s * 1j * angle))) for s in (1, -1)) > 0.95
    assert (folder / "out" / "days_topology.png").read_bytes().startswith(b"\x89PNG")


def test_embed_and_cliques_tell_of_a_loop(ring, capsys):
    pytest.importorskip("ripser")
    folder, _ = ring
    assert run("embed", folder / "days.csv", "-o", folder / "out") == 0
    assert "One loop, p = " in capsys.readouterr().out
    assert run("cliques", folder / "days.csv", "-o", folder / "out") == 0
    assert "one loop, p = " in capsys.readouterr().out


def test_a_missing_library_is_one_line_with_the_cure(ring, capsys, monkeypatch):
    folder, _ = ring
    monkeypatch.setitem(sys.modules, "ripser", None)
    assert run("topology", folder / "days.csv", "-o", folder / "out") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert 'pip install "ikd_graph[topology]"' in said
    # Who embeds did not ask.
    assert run("embed", folder / "days.csv", "-o", folder / "out") == 0
    assert "loop" not in capsys.readouterr().out
