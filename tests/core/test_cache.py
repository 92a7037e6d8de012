"""The compiled cache: fresh after any edit, quiet where it cannot write, off on request."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ikd_graph

CALL = """
import numpy as np
from {package} import _jit
out = np.zeros(2)
_jit.sample.outer(np.arange(2.0), out)
print(out[1])
"""

SAMPLE = """
from .._base.jit import jit
from .helper import inner


@jit
def outer(x, out):
    for i in range(x.size):
        out[i] = inner(x[i])
"""

HELPER = """
from .._base.jit import jit


@jit
def inner(x):
    return {factor} * x
"""


@pytest.fixture
def small_package(tmp_path):
    """A package with our decorators and two compiled files, one calling into the other."""
    home = tmp_path / "site" / "small"
    for folder in ("_base", "_jit"):
        (home / folder).mkdir(parents=True)
    (home / "__init__.py").touch()
    for name in ("_base/jit.py", "_version.py"):
        shutil.copy(Path(ikd_graph.__file__).parent / name, home / name)
    (home / "_jit" / "__init__.py").write_text("from . import sample\n")
    (home / "_jit" / "sample.py").write_text(SAMPLE)
    (home / "_jit" / "helper.py").write_text(HELPER.format(factor=2))
    return home


def run(*arguments, **variables):
    """What a process of Python did, with a cache unless a variable forbids it."""
    environment = {**os.environ, "IKD_GRAPH_NUMBA_CACHE": "1", **variables}
    if "NUMBA_CACHE_DIR" not in variables:
        environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def call(home, first="", **variables):
    variables |= {"PYTHONPATH": str(home.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run("-c", first + CALL.format(package=home.name), **variables)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def cached(home):
    return sorted(home.rglob("*.nbi"))


def test_an_edit_in_a_called_file_is_seen(small_package):
    assert call(small_package) == 2.0
    assert cached(small_package)
    (small_package / "_jit" / "helper.py").write_text(HELPER.format(factor=3))
    assert call(small_package) == 3.0


NOTICE = """
import logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
from small import _jit
"""


def test_a_first_process_says_that_it_compiles_and_a_second_is_silent(small_package):
    path = str(small_package.parent)
    said = [run("-c", NOTICE, PYTHONPATH=path).stderr for _ in range(2)]
    assert said[0].count("compiling, once for this installation") == 1
    assert said[1] == ""


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_what_a_damaged_file_holds_is_compiled_again(small_package, suffix):
    assert call(small_package) == 2.0
    whole = {path: path.read_bytes() for path in small_package.rglob(f"*.{suffix}")}
    assert whole
    for path, content in whole.items():
        path.write_bytes(content[:40] + b"\xff" * 40)
    assert call(small_package) == 2.0
    assert all(path.stat().st_size > 80 for path in whole)


FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
"""


def test_a_full_disk_keeps_nobody_from_computing(small_package):
    assert call(small_package, FULL_DISK) == 2.0
    # What was left of the files there is does not spoil the next run.
    assert call(small_package) == 2.0
    assert cached(small_package)


def test_the_switch_writes_nothing(small_package):
    assert call(small_package, IKD_GRAPH_NUMBA_CACHE="0") == 2.0
    assert not cached(small_package)


def test_a_place_that_cannot_be_written_is_no_error(small_package, tmp_path):
    # A file where the folders for caches should be: nothing can be made there, even by root.
    (small_package / "_jit" / "__pycache__").write_text("")
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    found = call(small_package, HOME=str(blocked), XDG_CACHE_HOME=str(blocked))
    assert found == 2.0
    assert not cached(small_package)


def command(*arguments, **variables):
    code = "import sys; from ikd_graph.cli import main; sys.exit(main(sys.argv[1:]))"
    return run("-c", code, *arguments, **variables)


def test_warm_refuses_where_nothing_would_be_kept():
    done = command("warm", IKD_GRAPH_NUMBA_CACHE="0")
    assert done.returncode == 2
    assert "IKD_GRAPH_NUMBA_CACHE is 0; unset it" in done.stderr


FIRST_FIT = """
import pathlib
from sklearn.datasets import load_digits
from ikd_graph import IKD, _jit
from ikd_graph._base import jit
X = load_digits().data[:500]
_ = _jit.graph
count = lambda: len([p for f in jit.cache_folders for p in pathlib.Path(f).glob("*.nbc")])
before = count()
for jobs in (1, 2):
    IKD(strategy={strategy!r}, n_jobs=jobs).fit(X)
print(count() - before)
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile_after_warm(tmp_path):
    first = command("warm", NUMBA_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("What fits use is compiled (")
    assert "note: compiling, once for this installation" in first.stderr
    again = command("warm", NUMBA_CACHE_DIR=str(tmp_path))
    assert again.stderr == "ikd_graph: loading ...\n"
    for strategy in ("auto", "geodesic", "blockwise"):
        done = run("-c", FIRST_FIT.format(strategy=strategy), NUMBA_CACHE_DIR=str(tmp_path))
        assert done.stdout == "0\n", done.stderr
