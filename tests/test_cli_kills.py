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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Gives the seconds that a command takes and the files it leaves, run once when asked for."""

    @functools.cache
    def run(name):
        folder = tmp_path_factory.mktemp(name)
        commands.make_table(folder)
        begun = time.monotonic()
        process = commands.started(folder, commands.COMMANDS[name], stdout=subprocess.DEVNULL)
        assert process.wait(300.0) == 0
        assert commands.half_files(folder / "out") == []
        return time.monotonic() - begun, commands.names_in(folder / "out")

    return run


def kill(folder, name, number, seconds, files):
    """End a command after some seconds and look at what it left; gives its exit code."""
    commands.make_table(folder)
    process = commands.started(
        folder, commands.COMMANDS[name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        time.sleep(seconds)
        process.send_signal(number)
        said = process.communicate(timeout=120.0)[1].decode()
        kept = lambda: commands.running(folder) or list((folder / "tmp").iterdir())  # noqa: E731
        assert commands.until(lambda: not kept(), 60.0), kept()
    finally:
        for left in [process.pid, *commands.running(folder)]:
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        process.wait()
    out = commands.names_in(folder / "out")
    if number != signal.SIGKILL:
        # Each is whole, or is not there.
        assert set(out) <= set(files), out
        lines = [line for line in said.splitlines() if line.startswith("ikd-graph: interrupted")]
        # Until the package is loaded, SIGTERM ends Python as it ends any program.
        assert process.returncode in (0, 128 + number, -number)
        assert len(lines) == (process.returncode == 128 + number), said
        assert "Traceback" not in said or process.returncode == -number, said
    else:
        # Nobody cleans up after SIGKILL: files that were being written have a name of their own.
        out = [one for one in out if not one.endswith(".part")]
        assert set(out) <= set(files)
    parts = [one for one in commands.half_files(folder / "out") if not one.endswith(".part")]
    assert parts == []
    return process.returncode


def end_at_random(undisturbed, folder, seed):
    """One command, one signal, one moment."""
    chosen = random.Random(seed)
    name = chosen.choice(list(commands.COMMANDS))
    number = SIGNALS[seed % 3]
    seconds, files = undisturbed(name)
    moment = chosen.uniform(0.05, 1.02 * seconds)
    code = kill(folder, name, number, moment, files)
    sys.stdout.write(f"kill {seed}: {name}, {number.name} after {moment:.2f} s: {code}\n")


# Of the commands that take least.
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.slow), 6])
def test_a_command_that_is_ended_leaves_nothing_half_written(undisturbed, tmp_path, seed):
    end_at_random(undisturbed, tmp_path, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 140 if isolated.LONG else 112))
def test_kills_at_any_time_leave_nothing_half_written(undisturbed, tmp_path, seed):
    end_at_random(undisturbed, tmp_path, seed)


@pytest.mark.parametrize("seconds", [0.05, 0.4])
def test_an_interrupt_while_modules_are_loaded_ends_the_process(tmp_path, seconds):
    slow = "import sys, time\nclass Slow:\n def find_spec(self, name, *rest):\n"
    slow += "  if name == 'sklearn': sys.stderr.write('loading\\n'); time.sleep(5)\n"
    slow += "sys.meta_path.insert(0, Slow())\n"
    process = commands.started(
        tmp_path, ("datasets",), before=slow, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stderr.readline() == b"loading\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30.0)[1] == b""
    assert process.returncode == -signal.SIGINT
