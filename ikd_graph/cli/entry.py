"""Entry point: reads the command line, runs a command, turns failures into one line."""

import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from .console import ended_gently, handled, plain_messages, print_error
from .parser import STDOUT, build_parser, missing_files


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    typed = list(sys.argv[1:] if argv is None else argv)
    signals: list[int] = []
    try:
        arguments = build_parser().parse_args(typed)
        if text := missing_files(arguments):
            print_error("error", text)
            return 2
        arguments.typed = typed
        # One JSON object and nothing else.
        arguments.quiet |= arguments.json == STDOUT
        arguments.verbose = int(not arguments.quiet)
        # An interrupt within an import ends the process, which did nothing.
        with handled(["SIGINT"], signal.default_int_handler, signal.SIG_DFL):
            command = import_module(f".{arguments.command}", __package__)
            from .._base.validation import naming_rows
            from .flags import in_flags
        with (
            plain_messages(in_flags, notes=not arguments.quiet) as arguments.heard,
            ended_gently() as signals,
            naming_rows(()),
        ):
            command.run(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as ended:
        return int(ended.code or 0)
    except KeyboardInterrupt as stopped:
        print_error("interrupted", str(stopped) or "stopped between two stages")
        return 128 + (signals or [2])[0]
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if not isinstance(error, BrokenPipeError):
            print_error("error", *_said(error))
        return 2
    return 0


def _said(error: Exception) -> tuple[str, list[str]]:
    """Return a line on an error, and lines below it."""
    from ..datasets import TableError
    from .flags import in_flags

    text = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        text = f"not enough memory ({text}); use fewer points, or neighbors, as --graph 10"
    elif isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.strerror}: {error.filename}"
    # Tables that have several problems list them, a line for each.
    several = isinstance(error, TableError) and len(error.problems) > 1
    first, *more = in_flags(text).splitlines() if several else [in_flags(text)]
    return first, more
