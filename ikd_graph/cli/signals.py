"""Signals that ask the command to end: Ctrl-C, SIGTERM, SIGHUP."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

_LATER = 0.02
"""Seconds until an interrupt that went nowhere comes again: longer than most callbacks take."""


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process with one line: within an import it becomes any other error."""
    if not _is_main() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(number: int, frame: Any) -> None:
        with suppress(OSError):
            os.write(2, b"ikd-graph: interrupted: stopped while loading; nothing was written\n")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ended_gently() -> Iterator[list[int]]:
    """Let the signals that ask a process to end do what Ctrl-C does; gives those that came."""
    came: list[int] = []

    def stop(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # A program that calls the command may have other wishes.
    numbers = [one for one in numbers if _is_main() and signal.getsignal(one) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, stop)
    try:
        with _never_lost(came):
            yield came
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _never_lost(came: list[int]) -> Iterator[None]:
    """Send interrupts again that Python could only print; ``came`` holds those besides Ctrl-C.

    Nothing can be raised out of a finalizer, or out of what a library in C calls back, as the
    compiler does for every function: an interrupt that falls there would be printed and forgotten.
    """
    if not _is_main():
        yield
        return
    print_it, main = sys.unraisablehook, threading.get_ident()

    def heed(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt or not hasattr(signal, "pthread_kill"):
            print_it(lost)
            return
        number = came[-1] if came else signal.SIGINT
        threading.Timer(_LATER, signal.pthread_kill, (main, number)).start()

    sys.unraisablehook = heed
    try:
        yield
    finally:
        sys.unraisablehook = print_it


def _is_main() -> bool:
    """Whether this is the thread to which Python gives signals."""
    return threading.current_thread() is threading.main_thread()
