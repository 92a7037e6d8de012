"""The ``ikd-graph`` command."""

from collections.abc import Sequence

from .console import release_streams
from .entry import run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    try:
        return run(argv)
    finally:
        release_streams()
