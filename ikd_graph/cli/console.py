"""What the command writes to a terminal, and the signals that ask it to end."""

import logging
import os
import shlex
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .._base.format import printable

PROG = "ikd-graph"


def typed_name() -> str:
    """Return what to type for this command: its name, or its path where a shell finds no such name.

    That is so in an environment that is not activated.
    """
    ways = {"__main__": "python -m ikd_graph", PROG: shlex.quote(sys.argv[0])}
    return PROG if shutil.which(PROG) else ways.get(Path(sys.argv[0]).stem, PROG)


def write_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output, in what letters it has; nothing if it was closed."""
    if sys.stdout is None:
        return
    coding = sys.stdout.encoding or "utf-8"
    for line in lines:
        # Spaces inside numbers are for pages; a terminal's reader may want to copy or search them.
        text = printable(line.replace("\u202f", "")) + "\n"
        sys.stdout.write(text.encode(coding, "replace").decode(coding))


def print_error(kind: str, text: str, more: Sequence[str] = ()) -> None:
    """Write a line about what is wrong to standard error, each of ``more`` a line below it."""
    lines = [f"{PROG}: {kind}: {' '.join(text.split())}", *(f"  {line}" for line in more)]
    # Where nobody can hear it, the exit code says it.
    with suppress(OSError, AttributeError):
        sys.stderr.write("\n".join(map(printable, lines)) + "\n")
        sys.stderr.flush()


@contextmanager
def plain_messages(notes: bool) -> Iterator[list[str]]:
    """Show warnings as one line each, and ``notes`` on what takes long; yields the warnings."""
    heard: list[str] = []
    log = logging.getLogger(__name__.partition(".")[0])
    handler, level = logging.StreamHandler(), log.level
    handler.setFormatter(logging.Formatter(f"{PROG}: note: %(message)s"))

    def show(message: Any, *_: Any, **__: Any) -> None:
        heard.append(" ".join(str(message).split()))
        print_error("warning", heard[-1])

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        if notes:
            log.addHandler(handler)
            log.setLevel(logging.INFO)
        try:
            yield heard
        finally:
            log.removeHandler(handler)
            log.setLevel(level)


def release_streams() -> None:
    """End quietly where a stream is full or its reader has gone away."""
    # The interpreter flushes both when it ends, and would complain then with a code of its own.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def ended_gently() -> Iterator[list[int]]:
    """Let the signals that ask a process to end do what Ctrl-C does; gives those that came."""
    came: list[int] = []

    def stop(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    # A calling program may have handlers of its own.
    numbers = [each for each in numbers if main and signal.getsignal(each) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield came
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
