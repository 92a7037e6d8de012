"""Whatever ends a command, at whatever moment: nothing half-written, no process, no folder."""

import functools
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import commands
import isolated
import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LATER = range(100, 140 if isolated.LONG else 112)
MOMENTS = [
    # Of the commands that take least.
    6,
    pytest.param(1, marks=pytest.mark.slow),
    *(
        pytest.param(k, marks=pytest.mark.fuzzing)
        for k in range(100, 140 if isolated.LONG else 112)
    ),
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Gives the seconds that a command takes and the files it leaves, run once when asked for."""

    @functools.cache
    def run(name):
        folder = tmp_path_factory.mktemp(name)
        commands.make_table(folder)
        start = time.monotonic()
        process = commands.started(folder, commands.COMMANDS[name], stdout=subprocess.DEVNULL)
        assert process.wait(300.0) == 0
        assert commands.half_files(folder / "out") == []
        return time.monotonic() - start, commands.names_in(folder / "out")

    return run


@pytest.mark.parametrize("seed", MOMENTS)
def test_a_killed_command_leaves_whole_files(undisturbed, tmp_path, seed):
    rng = random.Random(seed)
    name, number = rng.choice(list(commands.COMMANDS)), SIGNALS[seed % 3]
    seconds, files = undisturbed(name)
    moment = rng.uniform(0.05, 1.02 * seconds)
    commands.make_table(tmp_path)
    process = commands.started(
        tmp_path, commands.COMMANDS[name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        time.sleep(moment)
        process.send_signal(number)
        text = process.communicate(timeout=120.0)[1].decode()
        commands.check_traces(tmp_path)
    finally:
        for pid in [process.pid, *commands.traces(tmp_path)[0]]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    code = process.returncode
    sys.stdout.write(f"kill {seed}: {name}, {number.name} after {moment:.2f} s: {code}\n")
    if number != signal.SIGKILL:
        lines = [line for line in text.splitlines() if line.startswith("ikd-graph: interrupted")]
        # Until the package is loaded, a signal ends Python as it ends any program; one that falls
        # into a finalizer or a callback of the compiler is printed by Python, and does nothing.
        assert code in (0, 128 + number, -number)
        assert len(lines) == (code == 128 + number), text
        assert "Traceback" not in text or code in (0, -number), text
    # Nobody cleans up after SIGKILL: files that were being written have a name of their own.
    own = (".part",) if number == signal.SIGKILL else ()
    assert {name for name in commands.names_in(tmp_path / "out") if not name.endswith(own)} <= set(
        files
    )
    assert [name for name in commands.half_files(tmp_path / "out") if not name.endswith(own)] == []


def test_an_interrupt_while_modules_are_loaded_is_told(tmp_path):
    slow = "import sys, time\nclass Slow:\n def find_spec(self, name, *rest):\n"
    slow += "  if name == 'sklearn': sys.stderr.write('importing\\n'); time.sleep(5)\n"
    slow += "sys.meta_path.insert(0, Slow())\n"
    process = commands.started(
        tmp_path, ("datasets",), before=slow, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stderr.readline() == b"ikd_graph: loading ...\n"
    assert process.stderr.readline() == b"importing\n"
    process.send_signal(signal.SIGINT)
    told = b"ikd-graph: interrupted: stopped during the stage 'loading'; nothing was written\n"
    assert process.communicate(timeout=30.0)[1] == told
    assert process.returncode == 130
