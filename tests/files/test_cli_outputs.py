"""What a command leaves: all of its files or none, whatever becomes of its output."""

import errno
import json
import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import without_stages

from ikd_graph._base.files import write_together
from ikd_graph.cli import main

FILES = [
    "table_columns.csv",
    "table_embedding.csv",
    "table_embedding.png",
    "table_report.html",
]


@pytest.fixture
def table(tmp_path):
    """Points on a plane seen through cosines, with labels."""
    rng = np.random.default_rng(0)
    X = np.cos(3.0 * rng.random((40, 2)) @ rng.standard_normal((2, 30)))
    path = tmp_path / "table.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in X) + "\n")
    return path


@pytest.fixture
def unfitted(monkeypatch):
    """A fit that must not be reached."""

    def fit(self, X, y=None):
        raise AssertionError("the work was begun")

    monkeypatch.setattr("ikd_graph.IKD.fit", fit)


def left(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    table, tmp_path, unfitted, capsys
):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for out in (blocked / "results", tmp_path / ("x" * 300), Path("/proc/none")):
        assert main(["embed", str(table), "-o", str(out)]) == 2
        assert without_stages(capsys.readouterr().err).count("\n") == 1
    assert left(tmp_path) == ["file", "table.csv"]


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_every_command_draws_in_the_format_asked_for(table, tmp_path, form, start, capsys):
    words = ["--output", str(tmp_path / "out"), "--format", form, "--json"]
    small = ["--methods", "geodesic", "--noise", "0", "--refine", "none"]
    model, named = str(tmp_path / "out" / "table_model.ikd"), str(tmp_path / "named.csv")
    head = ",".join(f"c{k}" for k in range(30))
    Path(named).write_text(head + "\n" + table.read_text())
    for command in (
        ["embed", str(table), "--strategy", "geodesic", "--refine", "none", "--save-model"],
        ["place", model, str(table)],
        ["align", named, named, "--refine", "none"],
        ["compare", str(table), *small],
        ["cliques", str(table)],
        ["diagnose", str(table)],
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert main([*command, *words]) == 0
        outputs = json.loads(capsys.readouterr().out)["outputs"]
        (picture,) = [path for path in outputs if path.endswith(f".{form}")]
        assert Path(picture).read_bytes().startswith(start)
    pages = [path for path in (tmp_path / "out").iterdir() if path.suffix == ".html"]
    assert len(pages) == 4
    # Browsers that run no script are shown a PNG.
    assert all("data:image/png;base64," in page.read_text("utf-8") for page in pages)
    assert not [path for path in left(tmp_path / "out") if path.endswith(".png")]


def test_stages_are_lines_where_there_is_no_terminal_and_none_when_quiet(table, tmp_path, capfd):
    command = ["embed", str(table), "-o", str(tmp_path), "--strategy", "geodesic"]
    assert main([*command, "--refine", "stress"]) == 0
    said = capfd.readouterr().err
    stages = ["loading", "reading", "choosing", "similarity", "graph", "closed form", "stress"]
    assert said.splitlines()[: len(stages)] == [f"ikd_graph: {name} ..." for name in stages]
    assert without_stages(said) == ""
    assert main([*command, "--quiet"]) == 0
    assert capfd.readouterr().err == ""


def test_the_first_stage_is_shown_before_anything_large_is_imported():
    code = (
        "import sys; from ikd_graph._base import progress\n"
        "heavy = lambda: {'numpy', 'scipy', 'sklearn', 'numba'} & sys.modules.keys()\n"
        "progress._write_stage = lambda name: print(name, heavy())\n"
        "from ikd_graph.cli import main; main(['datasets'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "loading set()"


def test_files_appear_together_or_not_at_all(tmp_path):
    (tmp_path / "b").write_text("old")

    def fails(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_together(tmp_path, {"a": "1", "b": "2", "c": fails})
    assert left(tmp_path) == ["b"]
    assert (tmp_path / "b").read_text() == "old"
    (tmp_path / "c").mkdir()
    with pytest.raises(IsADirectoryError):
        write_together(tmp_path, {"a": "1", "b": "2", "c": "3"})
    assert left(tmp_path) == ["b", "c"]


def test_a_file_that_is_written_again_keeps_its_mode(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    write_together(tmp_path, {"a": "new"})
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of the size of files")
def test_a_full_disk_names_the_file_and_what_was_written(table, tmp_path):
    import resource

    out = tmp_path / "out"
    words = ["embed", str(table), "-q", "-o", str(out), "--strategy", "eigen", "--refine", "none"]
    done = subprocess.run(
        [sys.executable, "-c", commands.CODE, *words], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )  # fmt: skip
    assert (done.returncode, left(out)) == (2, FILES[1:2]), done.stderr
    # Libraries that cannot write their caches may say so as well.
    said = [line for line in done.stderr.splitlines() if line.startswith("ikd-graph: error: ")]
    assert len(said) == 1, done.stderr
    assert "File too large: " in said[0]
    assert f"{out / FILES[1]} is written and whole" in said[0]
    assert any(str(out / name) in said[0] for name in (FILES[2], FILES[3]))


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe or a device is where a file should be"):
        write_together(tmp_path, {"a": "1", "pipe": "2"})
    assert left(tmp_path) == ["pipe"]
    assert (tmp_path / "pipe").is_fifo()


def test_an_interrupt_while_labels_are_scored_keeps_the_coordinates(
    table, tmp_path, capsys, monkeypatch
):
    def interrupted(Z, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr("ikd_graph.cli.commands.score_labels", interrupted)
    rows = [f"{row},{'ab'[k % 2]}" for k, row in enumerate(table.read_text().splitlines())]
    table.write_text("\n".join(rows))
    out = tmp_path / "out"
    assert main(["embed", str(table), "-q", "-o", str(out), "--strategy", "eigen"]) == 130
    assert left(out) == FILES[1:2]
    said = capsys.readouterr().err
    assert f"stopped; {out / FILES[1]} is written and whole" in said
    assert len((out / FILES[1]).read_text().splitlines()) == 41


def test_names_that_steer_a_terminal_are_spelt_out(tmp_path, capsys):
    evil = "\x1b]0;title\x07", "\x1b[31mred", "\u202etfel"
    X = np.random.default_rng(0).normal(size=(40, 4)).round(3)
    rows = [",".join([*evil, "d", "label"])]
    rows += [",".join([*map(str, row), evil[k % 3]]) for k, row in enumerate(X)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    for words in (["embed", "--strategy", "eigen"], ["embed", "--labels", "x"], ["cliques"]):
        main([words[0], str(path), "-o", str(tmp_path / "out"), *words[1:]])
    said = capsys.readouterr()
    assert all(letter.isprintable() or letter == "\n" for letter in said.out + said.err)
    assert "x1b[31mred" in said.out


def test_labels_that_look_like_formulas_are_drawn_as_words(table, tmp_path):
    rows = table.read_text().splitlines()
    names = ["$\\bad$", "<b>&", "50% $x^{"]
    table.write_text("\n".join(f"{row},{names[i % 3]}" for i, row in enumerate(rows)))
    out = tmp_path / "out"
    assert main(["embed", str(table), "-q", "-o", str(out), "--strategy", "eigen"]) == 0
    assert left(out) == FILES


def test_a_file_name_that_is_no_text_is_written_as_it_is_shown(table, tmp_path):
    strange = tmp_path / os.fsdecode(b"caf\xe9.csv")
    try:
        table.rename(strange)
    except OSError:
        pytest.skip("this file system takes names of text only")
    out = tmp_path / "out"
    assert main(["embed", str(strange), "-o", str(out), "--strategy", "eigen"]) == 0
    assert left(out) == [name.replace("table", "caf") for name in FILES]
    (out / "caf_report.html").read_bytes().decode("utf-8")


def test_an_interrupt_while_a_comparison_is_drawn_keeps_the_scores(
    table, tmp_path, capsys, monkeypatch
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ikd_graph.cli.common.drawings", interrupted)
    out = tmp_path / "out"
    words = ["compare", str(table), "-q", "-o", str(out), "--noise", "0", "--methods", "linear,pca"]
    assert main(words) == 130
    assert [name.partition("_")[2] for name in left(out)] == ["compare.csv", "compare_points.csv"]
    assert "compare_points.csv is written and whole" in capsys.readouterr().err


def test_what_a_link_leads_to_is_written(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "real").write_text("old")
    (tmp_path / "inner").symlink_to("deep/real")
    (tmp_path / "outer").symlink_to("inner")
    (tmp_path / "new").symlink_to("deep/made")
    write_together(tmp_path, {"outer": "1", "new": "2"})
    assert (tmp_path / "outer").is_symlink()
    assert (tmp_path / "inner").is_symlink()
    assert [path.read_text() for path in sorted((tmp_path / "deep").iterdir())] == ["2", "1"]
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("nowhere/file")
    for name in ("loop", "lost"):
        with pytest.raises(OSError, match=f"{name}|nowhere"):
            write_together(tmp_path, {"a": "1", name: "2"})
        assert (tmp_path / name).is_symlink()
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no users to be")
def test_a_file_without_write_permission_is_not_replaced():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        (Path(folder) / "mine").write_text("old")
        (Path(folder) / "mine").chmod(0o444)
        if (child := os.fork()) == 0:
            # The superuser may write to any file.
            if os.getuid() == 0:
                os.setuid(65534)
            try:
                write_together(folder, {"a": "1", "mine": "2"})
            except PermissionError as error:
                os._exit(error.errno)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == errno.EACCES
        left_over = [(path.name, path.read_text()) for path in Path(folder).iterdir()]
        assert left_over == [("mine", "old")]
