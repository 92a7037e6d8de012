"""Junk for arguments never ends or hangs the interpreter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import junk_calls
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def campaign(seed, count):
    """Counts of what came of junk calls, made in a process of their own with a compiled cache."""
    paths = [str(Path(__file__).parents[1]), *(path for path in sys.path if path)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        # One thread: a forked child has no others.
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
        "IKD_GRAPH_NUMBA_CACHE": "1",
    }
    command = [sys.executable, junk_calls.__file__, str(seed), str(count)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("seed", "count"), [(0, 1000)])
def test_no_junk_ends_or_hangs_the_interpreter(seed, count):
    found = campaign(seed, count)
    assert sum(found["counts"].values()) == count
    assert found["names"] > 100
    assert found["told"].get("crash", []) == []
    assert found["told"].get("hang", []) == []


def test_a_death_and_a_hang_are_seen(monkeypatch):
    monkeypatch.setattr(junk_calls, "SECONDS", 1)
    monkeypatch.setattr(junk_calls, "BYTES", -1)
    assert junk_calls.in_a_child(os.abort, [], {}) == ("crash", "SIGABRT")
    assert junk_calls.in_a_child(os.kill, [0, 0], {}) == ("ok", "")
    assert junk_calls.in_a_child(lambda: [0 for _ in iter(int, 1)], [], {}) == ("hang", "SIGALRM")
    assert junk_calls.in_a_child(float, ["x"], {})[0] == "borrowed"
    assert junk_calls.in_a_child(lambda: {}["x"], [], {})[0] == "foreign"
    assert junk_calls.in_a_child(lambda: [float("nan")], [], {})[0] == "nan"
