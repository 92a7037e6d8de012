"""The ``ikd-graph`` command."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["main"]

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    with _ended_at_once():
        # Seconds, in which nothing is begun that would have to be undone.
        from .entry import run
    return run(argv)


@contextmanager
def _ended_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process with one line: within an import it becomes any other error."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(number: int, frame: Any) -> None:
        with suppress(OSError):
            os.write(2, b"ikd-graph: interrupted: stopped while loading; nothing was written\n")
        os._exit(_INTERRUPTED)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
