"""No file ends or hangs the interpreter, loses a row or leaves a mess."""

import os
import sys

import damaged_files
import isolated
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def check(seeds, count, every=1):
    """Try files, state the counts, and fail on all that must not come of any."""
    for seed, found in zip(
        seeds, isolated.campaigns(damaged_files.__file__, seeds, count, every), strict=True
    ):
        counts = found["counts"]
        sys.stdout.write(f"damaged files, seed {seed}: {found['tried']} files, {counts}\n")
        assert counts["read"] + counts["refused"] == found["tried"] >= count
        assert min(counts["read"], counts["refused"]) > found["tried"] / 20
        assert found["told"] == {}


@pytest.mark.slow
def test_no_file_ends_the_interpreter_or_leaves_a_mess():
    check([0], 24, every=32)


@pytest.mark.campaign
@pytest.mark.timeout(isolated.MOST_SECONDS)
def test_thousands_of_damaged_files_get_one_line_each():
    check([1, 2], 5000 if isolated.LONG else 1000, every=2)


@pytest.mark.parametrize(
    ("code", "said", "complained", "left", "kind"),
    [
        (2, "", "ikd-graph: error: no\n", None, "refused"),
        (2, "", "ikd-graph: error: no\n  - a\n", None, "refused"),
        (2, "", "ikd-graph: error: no\n", ["t_report.html"], "mess"),
        (2, "", "ikd-graph: error: no\nikd-graph: error: no\n", None, "lines"),
        (2, "", "ikd-graph: warning: no\n", None, "lines"),
        (2, "", "HDF5-DIAG: Error\nikd-graph: error: no\n", None, "odd words"),
        (1, "", "Traceback (most recent call last):\n", None, "odd words"),
        (1, "", "", None, "code"),
        (0, "t.csv: 3 rows, 2 columns of numbers", "", ["t_report.html"], "mess"),
        (0, "3 points", "", None, "mess"),
    ],
)
def test_what_must_not_come_of_a_file_is_seen(code, said, complained, left, kind, tmp_path):
    assert damaged_files.judged(code, said, complained, left, tmp_path, "t.csv")[0] == kind


def test_a_lost_row_is_seen(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / "t_embedding.csv").write_text("row,ikd0\n0,1\n1,2\n")
    assert damaged_files.rows_of(tmp_path, "t.csv", 3, "")[0] == "rows"
    assert damaged_files.rows_of(tmp_path, "t.csv", 2, "")[0] == "rows"
    (out / "t_embedding.csv").write_text("row,ikd0\n0,1\n1,2\n2,3\n")
    assert damaged_files.rows_of(tmp_path, "t.csv", 3, "") == ("read", "")
    (out / "t_embedding.csv").write_text("row,ikd0\n0,1\n1,2\n2,nan\n")
    assert damaged_files.rows_of(tmp_path, "t.csv", 3, "")[0] == "rows"
