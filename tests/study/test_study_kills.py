"""Whatever ends a comparison, no process and no folder of it is left."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from commands import heed_interrupts, running, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")

COMPARE = """
from stubs_study import Hangs
from ikd_graph.study import compare, datasets
compare.compare(datasets.swiss_roll(200), [("hangs", Hangs())], timeout=50.0)
"""


def started(folder, *command):
    """A command whose temporary files go to a folder, and whose words hold the folder's name."""
    paths = [str(Path(__file__).parents[1]), *(path for path in sys.path if path)]
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen(
        [sys.executable, *command],
        env=environment,
        cwd=folder,
        preexec_fn=heed_interrupts,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_and_look(folder, number, ready):
    process = started(folder, "-c", COMPARE)
    try:
        assert until(ready, 60.0)
        process.send_signal(number)
        process.wait(120.0)
        gone = until(lambda: not running(folder) and not list(folder.iterdir()), 60.0)
        assert gone, (running(folder), list(folder.iterdir()))
    finally:
        for left in [process.pid, *running(folder)]:
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_and_no_folder_outlives_a_comparison(tmp_path, number):
    def worker_is_there():
        return any(b"_worker" in Path(f"/proc/{p}/cmdline").read_bytes() for p in running(tmp_path))

    kill_and_look(tmp_path, number, worker_is_there)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_worker_and_no_folder_outlives_a_comparison_killed_at_any_time(tmp_path, seed):
    chosen = random.Random(seed)
    moment = time.monotonic() + chosen.uniform(0.0, 6.0)
    number = chosen.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    kill_and_look(tmp_path, number, lambda: time.monotonic() > moment)
