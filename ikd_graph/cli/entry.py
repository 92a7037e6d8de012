"""Entry point: reads the command line, runs a command, turns failures into one line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .._suggest import suggest
from .._version import __version__
from ..study.datasets import TableError
from . import cliques, compare, datasets, diagnose, embed, place, warm
from .console import PROG, close_pipe, complain, plain_warnings, told_of_waits
from .flags import in_flags
from .reading import STDOUT, join_bare
from .signals import INTERRUPTED, ended_gently

_COMMANDS = (embed, place, compare, cliques, diagnose, datasets, warm)
_WRONG = 2


class Parser(argparse.ArgumentParser):
    """Parser that takes whole flags only and says what a misspelt word may stand for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """End with a line, and what was likely meant."""
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += suggest(wrong[1], re.findall(r"[\w.-]+", wrong[2]))
        complain("error", f"{message}; {self.prog} --help lists what there is")
        self.exit(_WRONG)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse flags that this command does not have."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            flags = re.findall(r"--[\w-]+", self.format_usage())
            near = [suggest(word, flags) for word in rest if word.startswith("-")]
            self.error(f"unrecognized arguments: {' '.join(rest)}{''.join(near)}")
        return found, rest


def build_parser() -> argparse.ArgumentParser:
    """Parser of the whole command line."""
    parser = Parser(
        prog=PROG,
        description="Few hidden coordinates behind many noisy measurements.",
        epilog=f"Begin with: {PROG} embed digits",
    )
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_command(commands)
    return parser


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    typed = list(sys.argv[1:] if argv is None else argv)
    arguments = argparse.Namespace(command="", quiet=False, traceback=False)
    asked: list[int] = []
    try:
        arguments = build_parser().parse_args(join_bare(typed))
        arguments.typed = typed
        if getattr(arguments, "json", None) == STDOUT:
            # One object and nothing else.
            arguments.quiet = True
        loud = not getattr(arguments, "quiet", False)
        heard = plain_warnings(in_flags)
        with heard as arguments.heard, ended_gently() as asked, told_of_waits(loud):
            arguments.run(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as ended:
        return int(ended.code or 0)
    except KeyboardInterrupt as stopped:
        complain("interrupted", str(stopped) or "stopped between two stages")
        return 128 + asked[0] if asked else INTERRUPTED
    except BrokenPipeError:
        close_pipe()
        return _WRONG
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if getattr(arguments, "traceback", False):
            raise
        text = in_flags(_say_error(error))
        # Tables that have several problems list them, a line for each.
        listed = isinstance(error, TableError) and len(error.problems) > 1
        first, *more = text.splitlines() if listed else [text]
        complain("error", first, more)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            # Standard output may be what is full.
            close_pipe()
        return _WRONG
    return 0


def _say_error(error: Exception) -> str:
    """What went wrong, for a reader who does not know Python."""
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}); use fewer points, or neighbours, as with --graph 10"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return str(error) or type(error).__name__
