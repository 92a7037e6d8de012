"""The compiled cache: fresh after any edit, quiet where it cannot write, off on request."""

import os
import shutil
import stat
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
from .._config import jit
from .helper import inner


@jit
def outer(x, out):
    for i in range(x.size):
        out[i] = inner(x[i])
"""

HELPER = """
from .._config import jit


@jit
def inner(x):
    return {factor} * x
"""


@pytest.fixture
def small_package(tmp_path):
    """A package with our decorators and two compiled files, one calling into the other."""
    home = tmp_path / "site" / "small"
    (home / "_jit").mkdir(parents=True)
    (home / "__init__.py").touch()
    for name in ("_config.py", "_parts.py"):
        shutil.copy(Path(ikd_graph.__file__).with_name(name), home)
    (home / "_jit" / "__init__.py").write_text("from . import sample\n")
    (home / "_jit" / "sample.py").write_text(SAMPLE)
    (home / "_jit" / "helper.py").write_text(HELPER.format(factor=2))
    return home


def call(home, **variables):
    environment = {**os.environ, "IKD_GRAPH_NUMBA_CACHE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.update(variables, PYTHONPATH=str(home.parent))
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(package=home.name)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def cached(home):
    return sorted(home.rglob("*.nbi"))


def test_an_edit_in_a_called_file_is_seen(small_package):
    assert call(small_package) == 2.0
    assert cached(small_package)
    (small_package / "_jit" / "helper.py").write_text(HELPER.format(factor=3))
    assert call(small_package) == 3.0


def test_an_edit_of_the_flags_is_seen(small_package):
    assert call(small_package) == 2.0
    kept = {path.name: path.read_bytes() for path in small_package.rglob("*.nbi")}
    config = small_package / "_config.py"
    config.write_text(config.read_text().replace('"nogil": True', '"nogil": False'))
    assert call(small_package) == 2.0
    assert all(path.read_bytes() != kept[path.name] for path in small_package.rglob("*.nbi"))


WATCHED = """
import gc, logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
import numpy as np
from small import _config
_config._LONG = {long}
from small import _jit
out = np.zeros(2)
seen = []
gc.callbacks.append(lambda phase, info: seen.append(_config.compiling._inside[:]))
_jit.sample.outer(np.arange(2.0), out)
assert gc.isenabled()
assert not any(seen), "garbage was collected while compiling"
print(_config.compiling.functions, _config.compiling.seconds > 0.0)
"""


def watched(home, long):
    environment = {**os.environ, "IKD_GRAPH_NUMBA_CACHE": "1", "PYTHONPATH": str(home.parent)}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run(
        [sys.executable, "-c", WATCHED.format(long=long)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )


def test_what_is_compiled_is_counted_and_a_long_wait_is_told_once(small_package):
    first, second = watched(small_package, 0.0), watched(small_package, 0.0)
    functions, took = first.stdout.split()
    assert int(functions) >= 2
    assert took == "True"
    assert first.stderr.count("compiling, once on this machine") == 1
    assert second.stdout.split() == ["0", "False"]
    assert second.stderr == ""


def test_a_short_wait_is_not_told(small_package):
    assert watched(small_package, 600.0).stderr == ""


def test_numba_alone_would_serve_stale_code(small_package):
    config = small_package / "_config.py"
    config.write_text("import numba\njit = numba.njit(cache=True)\n")
    assert call(small_package) == 2.0
    (small_package / "_jit" / "helper.py").write_text(HELPER.format(factor=3))
    assert call(small_package) == 2.0


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


def test_numba_alone_would_refuse_to_import_there(small_package, tmp_path):
    (small_package / "_config.py").write_text("import numba\njit = numba.njit(cache=True)\n")
    (small_package / "_jit" / "__pycache__").write_text("")
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    with pytest.raises(AssertionError, match="no locator available"):
        call(small_package, HOME=str(blocked), XDG_CACHE_HOME=str(blocked))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_install_is_no_error(small_package, tmp_path):
    folder = small_package / "_jit"
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert call(small_package, HOME=str(tmp_path / "none"), XDG_CACHE_HOME="/dev/null") == 2.0


def damaged(path, how):
    data = bytearray(path.read_bytes())
    if how == "cut":
        data = data[: len(data) // 2]
    elif how == "empty":
        data = b""
    else:
        # Of compiled code, not of what stands around it.
        place = data.index(b"\x7fELF") + 0x300 if path.suffix == ".nbc" else len(data) // 2
        for at in range(place, min(place + 400, len(data))):
            data[at] ^= 0xFF
    path.write_bytes(bytes(data))


# Each compiles twice.
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("nbc", "flipped"),
        *(
            pytest.param(kind, how, marks=pytest.mark.slow)
            for kind, how in [
                ("nbc", "cut"),
                ("nbc", "empty"),
                ("nbi", "cut"),
                ("nbi", "empty"),
                ("nbi", "flipped"),
            ]
        ),
    ],
)
def test_a_damaged_cache_is_compiled_anew(small_package, kind, how):
    assert call(small_package) == 2.0
    files = sorted(small_package.rglob(f"*.{kind}"))
    whole = [path.read_bytes() for path in files]
    for path in files:
        damaged(path, how)
    assert call(small_package) == 2.0
    mended = [path.stat().st_size for path in files]
    assert all(abs(a - len(b)) < 200 for a, b in zip(mended, whole, strict=True))
    stamps = [path.stat().st_mtime_ns for path in files]
    assert call(small_package) == 2.0
    assert stamps == [path.stat().st_mtime_ns for path in files]


def test_code_of_another_version_under_the_same_name_is_not_run(small_package):
    assert call(small_package) == 2.0
    old = {path: path.read_bytes() for path in small_package.rglob("*.nbc")}
    (small_package / "_jit" / "helper.py").write_text(HELPER.format(factor=3))
    assert call(small_package) == 3.0
    # As after a process that was killed between the two files it writes.
    for path, data in old.items():
        path.write_bytes(data)
    assert call(small_package) == 3.0


def command(*arguments, **variables):
    code = "import sys; from ikd_graph.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "IKD_GRAPH_NUMBA_CACHE": "1", **variables}
    run = [sys.executable, "-c", code, *arguments]
    return subprocess.run(run, capture_output=True, text=True, env=environment)


def test_warm_refuses_where_nothing_would_be_kept():
    done = command("warm", IKD_GRAPH_NUMBA_CACHE="0")
    assert done.returncode == 2
    assert "IKD_GRAPH_NUMBA_CACHE is 0; unset it" in done.stderr


PARTS = """
import numpy as np
from small import _jit
from small._jit.sample import outer
from small._jit.helper import inner
outer(np.arange(2.0), np.zeros(2))
[part], [kernel] = inner.overloads.values(), outer.overloads.values()
for compiled in (part, kernel):
    print(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) != 0)
"""


def test_what_only_kernels_call_has_no_machine_code_of_its_own(small_package):
    helper = HELPER.format(factor=2).replace("import jit", "import inner as part")
    helper = helper.replace("@jit", "@part")
    (small_package / "_jit" / "helper.py").write_text(helper)
    assert call(small_package) == 2.0
    assert len(cached(small_package)) == 1
    # From the cache, where nothing is compiled, and afresh.
    assert call(small_package) == 2.0
    variables = {"IKD_GRAPH_NUMBA_CACHE": "0", "PYTHONPATH": str(small_package.parent)}
    run = [sys.executable, "-c", PARTS]
    done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, **variables})
    assert done.stdout.split() == ["False", "True"], done.stderr


LIBRARY = """
import numba
import numpy as np
from small import _jit
from small._config import compiling


class Watch(numba.core.event.Listener):
    def __init__(self):
        self.inside, self.made = [], []

    def on_start(self, event):
        self.inside.append(event.data["dispatcher"])

    def on_end(self, event):
        self.made.append(self.inside.pop())


def codeless(made):
    libraries = [
        compiled.library for one in made for compiled in one.overloads.values()
        if one.py_func.__module__.startswith("numba.")
    ]
    return {type(library).__name__ == "PartOfKernels" for library in libraries}


watch = Watch()
numba.core.event.register("numba:compile", watch)
out = np.zeros(2)
_jit.sample.outer(np.arange(2.0), out)
print(out[1], codeless(watch.made))
watch.made.clear()
# Kernels of others: with what ours made, and with what is made for them.
ours = numba.njit(lambda n: np.full(n, 2.0).sum())
others = numba.njit(lambda n: np.arange(n).cumsum())
print(ours(3), others(3)[2], codeless(watch.made))
print({one._compiler.pipeline_class.__name__ for one in watch.made})
"""


def test_what_kernels_call_of_numba_has_no_machine_code_and_others_are_as_ever(small_package):
    sample = SAMPLE.replace("from .._config", "import numpy as np\nfrom .._config")
    sample = sample.replace(
        "    for i", "    out += np.full(x.size, 1.0).sum() - x.size\n    for i"
    )
    (small_package / "_jit" / "sample.py").write_text(sample)
    variables = {"IKD_GRAPH_NUMBA_CACHE": "0", "PYTHONPATH": str(small_package.parent)}
    run = [sys.executable, "-c", LIBRARY]
    done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, **variables})
    assert done.stdout.splitlines() == [
        "2.0 {True}",
        "6.0 3 {False}",
        "{'Compiler'}",
    ], done.stderr


def test_parts_of_kernels_are_compiled_as_usual_by_an_untried_numba(small_package):
    helper = HELPER.format(factor=2).replace("import jit", "import inner as part")
    (small_package / "_jit" / "helper.py").write_text(helper.replace("@jit", "@part"))
    config = small_package / "_config.py"
    config.write_text(config.read_text().replace("<= (0, 68)", "<= (0, 0)"))
    assert "(0, 0)" in config.read_text()
    assert call(small_package) == 2.0
    assert call(small_package, IKD_GRAPH_NUMBA_CACHE="0") == 2.0


FIRST_FIT = """
from sklearn.datasets import load_digits
from ikd_graph import IKD, _config
X = load_digits().data[:500]
for jobs in (1, 2):
    IKD(strategy={strategy!r}, n_jobs=jobs).fit(X)
print(_config.compiling.functions)
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile_after_warm(tmp_path):
    first = command("warm", NUMBA_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("Compiled ")
    assert "note: compiling, once on this machine" in first.stderr
    again = command("warm", NUMBA_CACHE_DIR=str(tmp_path))
    assert again.stdout == "Nothing to compile: all of it is in place.\n"
    assert again.stderr == ""
    kept = {"IKD_GRAPH_NUMBA_CACHE": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    for strategy in ("auto", "geodesic", "blockwise"):
        fit = [sys.executable, "-c", FIRST_FIT.format(strategy=strategy)]
        done = subprocess.run(fit, capture_output=True, text=True, env={**os.environ, **kept})
        assert done.stdout == "0\n", done.stderr
