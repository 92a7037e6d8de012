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


def check(seed, count):
    """Make a campaign, state its counts, and fail on all that must not come of junk."""
    found = campaign(seed, count)
    sys.stdout.write(f"junk calls, seed {seed}: {found['counts']}\n")
    assert sum(found["counts"].values()) == count
    assert found["names"] > 100
    assert found["told"] == {}


def test_no_junk_ends_or_hangs_the_interpreter():
    check(0, 1000)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_twenty_thousand_junk_calls_get_an_answer_of_ours(seed):
    check(seed, 5000)


def test_a_death_and_a_hang_are_seen(monkeypatch):
    monkeypatch.setattr(junk_calls, "SECONDS", 1)
    monkeypatch.setattr(junk_calls, "BYTES", -1)
    assert junk_calls.in_a_child(os.abort, [], {}) == ("crash", "SIGABRT")
    assert junk_calls.in_a_child(os.kill, [0, 0], {}) == ("ok", "")
    assert junk_calls.in_a_child(lambda: [0 for _ in iter(int, 1)], [], {}) == ("hang", "SIGALRM")
    assert junk_calls.in_a_child(float, ["x"], {})[0] == "foreign"
    assert junk_calls.in_a_child(lambda: {}["x"], [], {})[0] == "foreign"
    assert junk_calls.in_a_child(lambda: [float("nan")], [], {})[0] == "nan"
