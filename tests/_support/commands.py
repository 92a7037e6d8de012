"""Commands run as users run them: in processes, whose traces are looked for afterwards."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

CODE = "import sys; from ikd_graph.cli import main; raise SystemExit(main(sys.argv[1:]))"
COMMANDS = {
    "embed": ("embed", "t.csv", "--strategy", "geodesic", "--refine", "stress"),
    "cliques": ("cliques", "t.csv"),
    "diagnose": ("diagnose", "t.csv"),
    "compare": ("compare", "t.csv", "--methods", "geodesic,pca", "--noise", "0"),
}


def without_stages(text):
    """What a command wrote to standard error, without the lines that name its stages."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("ikd_graph: "))


def make_table(folder, rows=60, columns=30):
    """A table of a plane seen through cosines, with labels."""
    rng = np.random.default_rng(0)
    z = 3.0 * rng.random((rows, 2))
    X = np.cos(z @ rng.standard_normal((2, columns)))
    lines = [",".join([*map(str, row), "aä"[k % 2]]) for k, row in enumerate(X.round(4))]
    head = ",".join([*(f"c{k}" for k in range(columns)), "label"])
    (folder / "t.csv").write_text("\n".join([head, *lines]) + "\n", "utf-8")


def started(folder, words, options=(), before="", prepare=lambda: None, **more):
    """A command in a folder; the interpreter has ``options``, ``before`` runs first.

    ``prepare`` runs in the new process before the interpreter does.
    """
    paths = [str(Path(__file__).parents[2]), *(path for path in sys.path if path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg"}
    environment |= {"TMPDIR": str(folder / "tmp"), **more.pop("env", {})}
    (folder / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, *options, "-c", before + CODE, *words]
    if words[0] in COMMANDS:
        # The folder stands in the command, by which its processes are found.
        command += ["--output", str(folder / "out")]

    def first():
        # A shell lets what it runs in the background ignore interrupts.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        prepare()

    return subprocess.Popen(command, env=environment, cwd=folder, preexec_fn=first, **more)


def traces(folder):
    """Processes that name a folder in their command, and files in its temporary folder."""
    numbers = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(str(folder)) in words:
            numbers.append(int(entry.name))
    return numbers, list((folder / "tmp").iterdir())


def check_traces(folder, seconds=60.0):
    """Wait until a command has left neither processes nor temporary files."""
    end = time.monotonic() + seconds
    while traces(folder) != ([], []):
        assert time.monotonic() < end, traces(folder)
        time.sleep(0.02)


def half_files(folder):
    """Names of files that are not whole, by how each kind of them ends."""
    ends = {".csv": b"\n", ".png": b"IEND\xaeB`\x82", ".html": b"</html>\n", ".json": b"}\n"}
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    return [
        path.name for path in files if not path.read_bytes().endswith(ends.get(path.suffix, b""))
    ]


def names_in(folder):
    """Names of the files in a folder, if there is one."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
