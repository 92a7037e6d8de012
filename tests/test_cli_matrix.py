"""Commands under every kind of output, locale and interpreter: whole files or none, few words."""

import os
import resource
import subprocess
from pathlib import Path

import commands
import isolated
import pytest

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

FILES = {"embed": 3, "cliques": 4, "diagnose": 4, "compare": 4}
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FEW_BYTES = 4000


def closing(*descriptors):
    """What closes some of the standard streams of a process before it begins."""

    def close():
        for one in descriptors:
            os.close(one)

    return close


def small_disk():
    """Let no file of the process grow large, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (FEW_BYTES, FEW_BYTES))


SITUATIONS = {
    "optimised": {"options": ("-OO",)},
    "warnings are errors": {"options": ("-W", "error")},
    "development mode": {"options": ("-X", "dev")},
    "C locale": {"env": C_LOCALE},
    "ascii": {"env": {"PYTHONIOENCODING": "ascii:strict"}},
    "latin-1": {"env": {**C_LOCALE, "PYTHONIOENCODING": "latin-1"}},
    "no home": {"env": {"HOME": "/nowhere", "MPLCONFIGDIR": "/nowhere"}},
    "input closed": {"prepare": closing(0)},
    "output closed": {"prepare": closing(1)},
    "errors closed": {"prepare": closing(2)},
    "all closed": {"prepare": closing(0, 1, 2)},
    "output full": {"stdout": "full", "code": 2},
    "errors full": {"stderr": "full"},
    "both full": {"stdout": "full", "stderr": "full", "code": 2},
    "head": {"stdout": "head", "code": (0, 2)},
    "disk full": {"prepare": small_disk, "code": 2, "files": False},
}
SHORT = [
    ("embed", "warnings are errors"),
    ("embed", "C locale"),
    ("embed", "both full"),
    ("embed", "head"),
    ("embed", "disk full"),
    ("compare", "all closed"),
]
REST = [(name, one) for one in SITUATIONS for name in FILES if (name, one) not in SHORT]
REST = REST if isolated.LONG else REST[::3]


def begin(folder, words, situation):
    """A command in a situation."""
    asked = {key: value for key, value in situation.items() if key not in ("code", "files")}
    with Path("/dev/full").open("w") as full:
        kinds = {"pipe": subprocess.PIPE, "head": subprocess.PIPE, "full": full}
        streams = {name: kinds[asked.pop(name, "pipe")] for name in ("stdout", "stderr")}
        return commands.started(folder, words, **streams, **asked)


def end(process, situation):
    """Exit code, output and complaints of a command that was begun."""
    if situation.get("stdout") == "head":
        first = process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        said = first, process.communicate(timeout=300.0)[1]
    else:
        said = process.communicate(timeout=300.0)
    return process.returncode, *((text or b"").decode("utf-8", "replace") for text in said)


def begin_on_table(folder, name, situation):
    """A command with a table, in a situation."""
    commands.make_table(folder)
    return begin(folder, commands.COMMANDS[name], SITUATIONS[situation])


def check(process, folder, name, situation):
    """Wait for a command in a situation and look at all that is left of it."""
    asked = SITUATIONS[situation]
    codes, files = asked.get("code", 0), asked.get("files", True)
    code, said, complained = end(process, asked)
    assert code in (codes if isinstance(codes, tuple) else (codes,)), (said, complained)
    for line in complained.splitlines():
        assert line.startswith(("ikd-graph: ", "  ")), complained
    assert complained.count("ikd-graph: error") <= 1
    left = commands.names_in(folder / "out")
    if files:
        assert len(left) == FILES[name]
    else:  # coordinates are written before they are scored and drawn
        assert all(one.endswith("_embedding.csv") for one in left)
    assert commands.half_files(folder / "out") == []
    assert commands.until(lambda: not list((folder / "tmp").iterdir()), 30.0)
    assert not commands.running(folder)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The commands of the short list, begun together: one leaves a processor idle."""
    folders = {case: tmp_path_factory.mktemp("begun") for case in SHORT}
    return {case: (begin_on_table(folder, *case), folder) for case, folder in folders.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "situation"), SHORT)
def test_a_command_works_in_every_situation(begun, name, situation):
    check(*begun[name, situation], name, situation)


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "situation"), REST)
def test_every_command_works_in_every_situation(tmp_path, name, situation):
    check(begin_on_table(tmp_path, name, situation), tmp_path, name, situation)


@pytest.mark.parametrize(
    ("words", "situation"),
    [
        (("datasets",), "all closed"),
        (("cliques", "--help"), "head"),
        (("embed", "nothing.csv"), "warnings are errors"),
    ],
)
def test_help_and_errors_too(tmp_path, words, situation):
    asked = SITUATIONS[situation]
    code, said, complained = end(begin(tmp_path, words, asked), asked)
    assert code == 2 if words[0] == "embed" else code in (0, 2)
    assert "Traceback" not in said + complained
    assert complained.count("\n") <= 1
