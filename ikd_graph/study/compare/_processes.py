"""Run jobs in processes of their own and outlive whatever happens to them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ._worker import Cell, Job, Outcome

STARTUP_SECONDS = 180.0
"""What a process may take, beyond the timeout of its first fit, to import and to compile."""

_CHILD = """
import pathlib, sys
from ikd_graph.study.compare._worker import end_with_parent, main
end_with_parent()
main(pathlib.Path(sys.argv[1]))
"""

_CLEANER = """
import os, shutil, sys, time
sys.stdin.buffer.read()
for attempt in range(100):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.exists(sys.argv[1]):
        break
    time.sleep(0.1)
"""


@contextmanager
def working_folder() -> Iterator[Path]:
    """Temporary folder that goes however this process ends, even if it is killed.

    A process killed cannot clean up, so that a second one waits for the end of a pipe, which the
    system closes whatever happens.
    """
    folder = tempfile.TemporaryDirectory(prefix="ikd_graph_compare_", ignore_cleanup_errors=True)
    cleaner = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CLEANER, folder.name],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Ctrl-C, and whatever else is sent to all processes of a terminal, is not for it.
        start_new_session=True,
    )
    try:
        yield Path(folder.name)
    finally:
        folder.cleanup()
        cleaner.communicate()


def run_job(job: Job, folder: Path, timeout: float, bar: Any) -> list[Outcome]:
    """Outcomes of all cells, the process started again after a crash or a timeout."""
    folder.mkdir()
    outcomes: list[Outcome] = []
    left = list(job.cells)
    while left:
        (folder / "job.pkl").write_bytes(pickle.dumps(job._replace(cells=left)))
        done, reason = _watch(folder, left, timeout, bar)
        outcomes += done
        left = left[len(done) :]
        if left:
            lost = left.pop(0)
            outcomes.append(_failed(lost, reason))
            wanted = [cell for cell in left if cell.needs != lost.number]
            bar.update(1 + len(left) - len(wanted))
            left = wanted
    return outcomes


def _watch(folder: Path, cells: list[Cell], timeout: float, bar: Any) -> tuple[list[Outcome], str]:
    """Start a worker and collect its results; why it ended, if before the last cell."""
    # Not multiprocessing: its spawn imports the caller's script again, which may lack a guard.
    command = [sys.executable, "-c", _CHILD, str(folder)]
    paths = os.pathsep.join(path for path in sys.path if path)
    done: list[Outcome] = []
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            # Its end tells the worker that this process is gone.
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,
        )
        try:
            # The first cell pays for imports and compilation as well.
            deadline = time.monotonic() + timeout + STARTUP_SECONDS
            while len(done) < len(cells):
                result = folder / f"result-{cells[len(done)].number}.pkl"
                ended = process.poll() is not None
                if result.exists():
                    done.append(pickle.loads(result.read_bytes()))
                    deadline = time.monotonic() + timeout
                    bar.update()
                elif ended:
                    return done, _reason(process.returncode, folder / "log")
                elif time.monotonic() > deadline:
                    return done, f"stopped after {timeout:g} s"
                else:
                    time.sleep(0.02)
        finally:
            _end(process)
    return done, ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker and what it started."""
    if hasattr(os, "killpg"):
        # Not without the process itself: its number is another's as soon as it is waited for.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _reason(code: int, log: Path) -> str:
    """Words for a process that ended early."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    last = f": {lines[-1].strip()}" if lines else ""
    if code < 0:
        hint = " (often out of memory)" if code == -9 else ""
        return f"the process was ended by signal {-code}{hint}{last}"
    return f"the process ended with code {code}{last}"


def _failed(cell: Cell, reason: str) -> Outcome:
    """Outcome of a cell whose process ended."""
    nan = float("nan")
    return Outcome(cell, None, None, {}, {}, nan, nan, nan, nan, nan, reason, ())
