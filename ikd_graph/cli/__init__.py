"""The ``ikd-graph`` command."""

from .main import main

__all__ = ["main"]
