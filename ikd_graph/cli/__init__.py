"""The ``ikd-graph`` command."""

from __future__ import annotations

from collections.abc import Sequence

from .signals import ended_at_once

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    with ended_at_once():
        # Seconds, in which nothing is begun that would have to be undone.
        from .entry import run
    return run(argv)
