"""Entry point: reads the command line, runs a command, turns failures into one line."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .._suggest import suggest
from .._validation import naming_rows
from .._version import __version__
from ..datasets import TableError
from . import align, cliques, compare, datasets, diagnose, embed, place, verify, warm
from .common import add_data_arguments
from .console import PROG, ended_gently, plain_messages, print_error, write_lines
from .flags import STDOUT, in_flags, join_bare

_COMMANDS = (embed, place, align, verify, compare, cliques, diagnose, datasets, warm)


class Help(argparse.Action):
    """Flag that shows a line for each flag, or all that is said of a topic."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Show it and end."""
        topics = {group.title.split()[0]: group for group in parser._action_groups if group.title}
        if values is not None and values not in topics:
            parser.error(f"--help takes {' or '.join(topics)}, got {values!r}")
        text = parser.brief_help() if values is None else parser.topic_help(topics[values])
        write_lines(text.splitlines())
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Parser that takes whole flags only and suggests the right spelling of a word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False, add_help=False)
        self.add_argument(
            "-h", "--help", action=Help, nargs="?", metavar="TOPIC",
            help="show the flags, or all that is said of a topic",
        )  # fmt: skip

    def brief_help(self) -> str:
        """Return a line for each command or flag: the first sentence on it."""
        if self._subparsers is not None:
            return self.format_help()
        places = [a.metavar or a.dest for a in self._actions if not a.option_strings]
        lines = [f"usage: {self.prog} {' '.join(map(str, places))} [flags]", ""]
        lines += (self.description or "").splitlines()
        titles = []
        for group in self._action_groups:
            if not group._group_actions:
                continue
            title = group.title or ""
            titles.append(title.split()[0])
            lines += ["", f"{title}:", *map(_brief, group._group_actions)]
        topics = ", ".join(dict.fromkeys(titles))
        return "\n".join([*lines, "", f"More on a topic: --help TOPIC, one of {topics}"])

    def topic_help(self, group: Any) -> str:
        """Return all that is said of the flags of a group."""
        formatter = self._get_formatter()
        formatter.start_section(group.title)
        formatter.add_text(group.description)
        formatter.add_arguments(group._group_actions)
        formatter.end_section()
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """End with a line, and the nearest valid choice."""
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += suggest(wrong[1], re.findall(r"[\w.-]+", wrong[2]))
        print_error("error", f"{message}; {self.prog} --help lists what there is")
        self.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse flags that this command does not have."""
        parsed, unknown = super().parse_known_args(join_bare(args), namespace)
        if unknown:
            flags = re.findall(r"--[\w-]+", self.format_usage())
            near = [suggest(word, flags) for word in unknown if word.startswith("-")]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{''.join(near)}")
        return parsed, unknown


def _brief(action: argparse.Action) -> str:
    """Return a flag and the first sentence on it, in one line."""
    name = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    text = " ".join((action.help or "").replace("%%", "%").split())
    first = re.split(r"(?<=[^.\d])[.;:] |\. ", text, maxsplit=1)[0].rstrip(".")
    room = 98 - max(len(name) + 4, 24)
    short = first if len(first) <= room else first[: room - 4].rsplit(" ", 1)[0] + " ..."
    return f"  {name:<21} {short}"


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
        name, text = module.__name__.rpartition(".")[2], module.__doc__ or "."
        purpose = text[0].lower() + text.partition(".")[0][1:]
        command = commands.add_parser(name, help=purpose, description=text)
        command.set_defaults(run=module.run, json=None)
        command.add_argument("--quiet", "-q", action="store_true", help="write no text but errors")
        if hasattr(module, "add_flags"):
            module.add_flags(command)
            add_data_arguments(command, several=getattr(module, "SEVERAL", False))
    return parser


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    typed = list(sys.argv[1:] if argv is None else argv)
    signals: list[int] = []
    try:
        arguments = build_parser().parse_args(typed)
        arguments.typed = typed
        # One JSON object and nothing else.
        arguments.quiet |= arguments.json == STDOUT
        arguments.verbose = int(not arguments.quiet)
        with (
            plain_messages(in_flags, notes=not arguments.quiet) as arguments.heard,
            ended_gently() as signals,
            naming_rows(()),
        ):
            arguments.run(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as ended:
        return int(ended.code or 0)
    except KeyboardInterrupt as stopped:
        print_error("interrupted", str(stopped) or "stopped between two stages")
        return 128 + (signals or [2])[0]
    except (ValueError, OSError, ImportError, MemoryError) as error:
        text = str(error) or type(error).__name__
        if isinstance(error, MemoryError):
            text = f"not enough memory ({text}); use fewer points, or neighbors, as --graph 10"
        elif isinstance(error, OSError) and error.filename is not None and error.strerror:
            text = f"{error.strerror}: {error.filename}"
        # Tables that have several problems list them, a line for each.
        several = isinstance(error, TableError) and len(error.problems) > 1
        first, *more = in_flags(text).splitlines() if several else [in_flags(text)]
        if not isinstance(error, BrokenPipeError):
            print_error("error", first, more)
        return 2
    return 0
