"""Entry point: reads the command line, runs a command, turns failures into one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import metadata

from . import cliques, compare, datasets, diagnose, embed
from .console import PROG, close_pipe, complain, plain_warnings

_COMMANDS = (embed, compare, cliques, diagnose, datasets)
_INTERRUPTED = 130
_WRONG = 2


def build_parser() -> argparse.ArgumentParser:
    """Parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog=PROG,
        description="Few hidden coordinates behind many noisy measurements.",
        epilog=f"Begin with: {PROG} embed digits",
    )
    parser.add_argument("--version", action="version", version=f"{PROG} {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_command(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    typed = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = build_parser().parse_args(typed)
    except SystemExit as ended:
        return int(ended.code or 0)
    arguments.typed = typed
    try:
        with plain_warnings():
            arguments.run(arguments)
            sys.stdout.flush()
    except KeyboardInterrupt as stopped:
        complain("interrupted", str(stopped) or "stopped before the first stage")
        return _INTERRUPTED
    except BrokenPipeError:
        close_pipe()
        return _WRONG
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if getattr(arguments, "traceback", False):
            raise
        complain("error", _say_error(error))
        return _WRONG
    return 0


def _say_error(error: Exception) -> str:
    """What went wrong, for a reader who does not know Python."""
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}); use fewer points or n_neighbors with threshold none"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return str(error) or type(error).__name__


def _version() -> str:
    """Version of the installed package."""
    try:
        return metadata.version("ikd_graph")
    except metadata.PackageNotFoundError:
        return "unknown"
