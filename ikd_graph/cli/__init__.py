"""The ``ikd-graph`` command."""

import signal
from collections.abc import Sequence

from .console import handled

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    # An interrupt within an import becomes any other error: it ends the process, which did nothing.
    with handled(["SIGINT"], signal.default_int_handler, signal.SIG_DFL):
        from .entry import run
    return run(argv)
