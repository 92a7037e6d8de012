"""Commands under every kind of output, locale and interpreter: whole files or none, few words."""

import os
import resource
import subprocess
from pathlib import Path

import commands
import isolated
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

FILES = {"embed": 4, "cliques": 4, "diagnose": 4, "compare": 4}
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def closing(*descriptors):
    """What closes some of the standard streams of a process before it begins."""
    return lambda: [os.close(descriptor) for descriptor in descriptors]


SITUATIONS = {
    "optimized": {"options": ("-OO",)},
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
    # No file may grow large.
    "disk full": {
        "prepare": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
        "code": 2,
    },
}
SHORT = [
    ("embed", "warnings are errors"),
    ("embed", "C locale"),
    ("embed", "both full"),
    ("embed", "head"),
    ("embed", "disk full"),
    ("compare", "all closed"),
]
FURTHER = [(name, s) for s in SITUATIONS for name in FILES if (name, s) not in SHORT]
FURTHER = FURTHER if isolated.LONG else FURTHER[::3]
CASES = [
    *(pytest.param(*case, marks=pytest.mark.slow) for case in SHORT),
    *(pytest.param(*case, marks=pytest.mark.fuzzing) for case in FURTHER),
]


def run(folder, words, situation):
    """Exit code, output and complaints of a command in a situation."""
    settings = {key: value for key, value in situation.items() if key != "code"}
    with Path("/dev/full").open("w") as full:
        kinds = {"pipe": subprocess.PIPE, "head": subprocess.PIPE, "full": full}
        streams = {name: kinds[settings.pop(name, "pipe")] for name in ("stdout", "stderr")}
        process = commands.started(folder, words, **streams, **settings)
    if situation.get("stdout") == "head":
        first = process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        texts = first, process.communicate(timeout=300.0)[1]
    else:
        texts = process.communicate(timeout=300.0)
    return process.returncode, *((text or b"").decode("utf-8", "replace") for text in texts)


@pytest.mark.parametrize(("name", "situation"), CASES)
def test_a_command_works_in_every_situation(tmp_path, name, situation):
    commands.make_table(tmp_path)
    settings = SITUATIONS[situation]
    code, text, complaints = run(tmp_path, commands.COMMANDS[name], settings)
    assert code in np.atleast_1d(settings.get("code", 0)), complaints
    for line in commands.without_stages(complaints).splitlines():
        assert line.startswith(("ikd-graph: ", "  ")), complaints
    assert complaints.count("ikd-graph: error") <= 1
    names = commands.names_in(tmp_path / "out")
    if situation == "disk full":  # coordinates are written before they are scored and drawn
        assert all(file.endswith("_embedding.csv") for file in names)
    else:
        assert len(names) == FILES[name], text
    assert commands.half_files(tmp_path / "out") == []
    commands.check_traces(tmp_path)


@pytest.mark.parametrize(
    ("words", "situation"),
    [
        (("datasets",), "all closed"),
        (("cliques", "--help"), "head"),
        (("embed", "nothing.csv"), "warnings are errors"),
    ],
)
def test_help_and_errors_too(tmp_path, words, situation):
    code, text, complaints = run(tmp_path, words, SITUATIONS[situation])
    assert code == 2 if words[0] == "embed" else code in (0, 2)
    assert "Traceback" not in text + complaints
    assert commands.without_stages(complaints).count("\n") <= 1
