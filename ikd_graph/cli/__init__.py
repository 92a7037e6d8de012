"""The ``ikd-graph`` command."""

from .entry import main

__all__ = ["main"]
