"""Signals that ask the command to end: Ctrl-C, SIGTERM, SIGHUP."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ended_gently() -> Iterator[list[int]]:
    """Let the signals that ask a process to end do what Ctrl-C does; gives those that came."""
    came: list[int] = []

    def stop(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    with handled(["SIGTERM", "SIGHUP"], signal.SIG_DFL, stop):
        yield came


@contextmanager
def handled(names: list[str], default: Any, handler: Any) -> Iterator[None]:
    """Handle signals that have their default handler: a calling program may have its own."""
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    numbers = [number for number in numbers if main and signal.getsignal(number) == default]
    for number in numbers:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, default)
