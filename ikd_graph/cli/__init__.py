"""The ``ikd-graph`` command."""

import signal
import sys
from collections.abc import Sequence

from .console import handled, print_error, release_streams
from .early import complaint

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    # An interrupt within an import becomes any other error: it ends the process, which did nothing.
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if text := complaint(words):
            print_error("error", text)
            return 2
        with handled(["SIGINT"], signal.default_int_handler, signal.SIG_DFL):
            from .entry import run
        return run(argv)
    finally:
        release_streams()
