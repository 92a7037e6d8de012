"""Commands on files as users have them: what they say of a table, and what survives of it."""

import csv
import re
import shlex

import numpy as np
import pytest
from commands import without_stages

from ikd_graph.cli import main

N_ROWS, N_COLUMNS = 48, 12


def run(*arguments):
    return main([str(part) for part in arguments])


@pytest.fixture
def sensors():
    """Clock, date, place, readings with holes and one mistake, a note."""
    rng = np.random.default_rng(5)
    at = np.linspace(0, 6, N_ROWS)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, N_COLUMNS) + rng.uniform(0, 6, N_COLUMNS))
    rows = [["date", "site", *(f"s{k}" for k in range(N_COLUMNS)), "level", "note"]]
    for k, row in enumerate((X + 0.01 * rng.normal(size=X.shape)).round(4).tolist()):
        rows.append([f"2024-03-{k % 28 + 1:02d} {k:02d}", "north" if k > 20 else "south", *row])
        rows[-1] += [round(k / N_ROWS, 3), "ok" if k % 5 else "check"]
    rows[4][3] = rows[9][3] = rows[30][6] = ""
    return rows


@pytest.fixture
def table(tmp_path, sensors):
    path = tmp_path / "sensors.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(sensors)
    return path


CURES = ("--index", "date", "--labels", "site,level", "--drop", "note", "--impute", "median")
FAST = ("--strategy", "eigen", "--refine", "none", "--affinity", "correlation")


@pytest.mark.parametrize("command", ["embed", "compare", "cliques", "diagnose"])
def test_every_problem_is_a_line_with_its_cure(command, table, tmp_path, capsys):
    assert run(command, table, "-o", tmp_path / "out") == 2
    said = without_stages(capsys.readouterr().err).splitlines()
    assert said[0] == "ikd-graph: error: sensors.csv has 2 problems:"
    assert "sensors.csv must hold numbers only, got 96 other cell(s), the first 'south'" in said[1]
    assert "--labels takes words for labels" in said[1]
    assert said[1].endswith("; --drop site,note reads the rest")
    assert "3 missing cell(s), the first in row 5, column 's1' ('s1': 2, 's4': 1)" in said[2]
    assert "--impute median (or mean) fills" in said[2]
    assert not (tmp_path / "out").exists()


def test_the_reading_of_a_file_is_reported_and_names_survive(table, sensors, tmp_path, capsys):
    out = tmp_path / "out"
    assert run("embed", table, "-o", out, *CURES, "--scale", *FAST) == 0
    said = capsys.readouterr().out
    assert (
        "sensors.csv: 48 rows, 12 columns of numbers; header: line 1 (date, site, s0, ..." in said
    )
    assert "row names: 'date'; labels: 'site' (2 classes), 'level' (a measurement)" in said
    assert "3 missing cell(s), 0.5% of the table" in said
    assert "columns centered and divided by their standard deviation" in said
    with (out / "sensors_embedding.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["date", "ikd0", "ikd1", "dubious_p", "site", "level"]
    assert [row[0] for row in rows] == [row[0] for row in sensors[1:]]
    assert [row[4] for row in rows] == [row[1] for row in sensors[1:]]


def test_a_bare_scale_never_takes_the_file_for_its_value(table, tmp_path, capsys):
    reading = ("--drop", "date,note", "--impute", "mean", "--labels", "site")
    assert run("embed", "--scale", table, "-o", tmp_path, "-q", *reading, *FAST) == 2
    assert "--scale: invalid choice" in capsys.readouterr().err
    assert run("embed", table, "--scale", "-o", tmp_path, "-q", *reading, *FAST) == 0
    plain = (tmp_path / "sensors_embedding.csv").read_text()
    assert run("embed", "--scale=robust", table, "-o", tmp_path, "-q", *reading, *FAST) == 0
    assert (tmp_path / "sensors_embedding.csv").read_text() != plain


def test_labels_are_scored_on_terminal_and_page(table, tmp_path, capsys):
    assert run("embed", table, "-o", tmp_path, *CURES, "--strategy", "geodesic") == 0
    said = capsys.readouterr().out
    site = re.search(r"site +5-NN accuracy (\S+), silhouette (\S+)", said)
    level = re.search(r"level +decoding R² (\S+), in blocks of rows (\S+)", said)
    assert float(site[1]) > 0.8
    assert float(level[1]) > 0.8
    page = (tmp_path / "sensors_report.html").read_text(encoding="utf-8")
    assert f"decoding R² {level[1]}, in blocks of rows" in page


def test_compare_decodes_every_column_of_labels(table, tmp_path, capsys):
    cures = ("--index", "date", "--labels", "level,site", "--drop", "note", "--impute", "median")
    more = ("--methods", "pca", "--noise", "0")
    assert run("compare", table, "-o", tmp_path, *cures, *more) == 0
    said = capsys.readouterr().out
    assert any("decoding" in line and "seconds" in line for line in said.splitlines())
    with (tmp_path / "sensors_compare.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["decoding"]) > 0.5
    assert float(row["knn of site"]) > 0.5


def test_a_name_that_no_folder_takes_is_refused_before_the_fit(table, tmp_path, capsys):
    path = table.rename(tmp_path / f"{'x' * 249}.csv")
    assert run("embed", path, "-o", tmp_path / "out", *CURES, *FAST) == 2
    said = capsys.readouterr().err
    assert "File name too long" in said
    assert not (tmp_path / "out").exists()


def test_the_next_command_takes_unknown_cells_as_the_last_one_did(table, tmp_path, capsys):
    words = ("--index", "date", "--labels", "site,level", "--drop", "note")
    words = (*words, "--missing", "pairwise", "-o", tmp_path)
    assert run("diagnose", table, *words) == 0
    said = capsys.readouterr().out
    assert "holes were filled in at random" in said
    (step,) = re.findall(r"^Embed .*:\n  ikd-graph (.*)$", said, re.M)
    assert "--missing pairwise" in step
    assert run(*shlex.split(step), "-o", tmp_path) == 0
