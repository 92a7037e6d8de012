"""The command ``ikd-graph``: it reads its line, runs a command, turns failures into one line."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from pathlib import Path

from .._base.progress import stage
from .console import ended_gently, plain_messages, print_error, release_streams
from .parser import STDOUT, build_parser, flags_of

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line: 0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C."""
    typed = list(sys.argv[1:] if argv is None else argv)
    signals: list[int] = []
    flags: Mapping[str, str] = {}
    written: list[Path] = []
    try:
        arguments = build_parser().parse_args(typed)
        # What another command takes is spelled as there.
        flags = arguments.flags = flags_of("embed") | flags_of("cliques") | arguments.flags
        arguments.typed, arguments.written = typed, written
        # One JSON object and nothing else.
        arguments.quiet |= arguments.json == STDOUT
        arguments.verbose = int(not arguments.quiet)
        with (
            plain_messages(notes=not arguments.quiet) as arguments.heard,
            ended_gently() as signals,
        ):
            # How messages spell parameters, and the names of rows, hold for this command alone.
            copy_context().run(_run_command, arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    except KeyboardInterrupt as stopped:
        kept = kept_files(written) or "; nothing was written"
        print_error("interrupted", f"{str(stopped) or 'stopped'}{kept}")
        return 128 + (signals or [2])[0]
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if not isinstance(error, BrokenPipeError):
            text = describe(error, flags) + kept_files(written)
            # Tables that have several problems list them, a line for each.
            lines = text.splitlines() if len(getattr(error, "problems", ())) > 1 else [text]
            print_error("error", lines[0], lines[1:])
        return 2
    finally:
        release_streams()
    return 0


def _run_command(arguments: argparse.Namespace) -> None:
    """Run a command, whose messages speak in flags."""
    # Wrong flags are told before anything that takes long is imported.
    with stage(arguments.verbose, "loading"):
        from .._base.format import spelling
        from . import commands
        from .objects import as_flags

    spelling.set(as_flags(arguments.flags))
    getattr(commands, f"run_{arguments.command}")(arguments)
    if sys.stdout is not None:
        sys.stdout.flush()


def kept_files(written: Sequence[Path]) -> str:
    """Return which files are there although a command ends, as the end of a sentence."""
    return f"; {', '.join(map(str, written))} is written and whole" if written else ""


def describe(error: Exception, flags: Mapping[str, str]) -> str:
    """Return what went wrong; a message that begins with a parameter begins with its flag.

    Examples
    --------
    >>> describe(ValueError("n_components must be 1"), {"n_components": "--components"})
    '--components must be 1'
    """
    text = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"not enough memory ({text}); use fewer points, or neighbors, as --graph 10"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.strerror}: {error.filename}"
    name, blank, rest = text.partition(" ")
    return f"{flags.get(name, name)}{blank}{rest}"
