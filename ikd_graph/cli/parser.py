"""A parser with two helps: a short one for every day, and one with everything."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from .console import say


class Parser(argparse.ArgumentParser):
    """Parser whose ``--help`` leaves out what its ``--help-all`` tells.

    Attributes
    ----------
    told : dict of Action to str
        Full help of the flags that the short help shortens or leaves out.
    commands : mapping of str to Parser
        Parsers of the commands, whose full help follows.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.told: dict[argparse.Action, str] = {}
        self.commands: Mapping[str, Parser] = {}
        self.add_argument("--help-all", action=_HelpAll, help="show every flag in full and exit")

    def format_full_help(self) -> str:
        """Help in which nothing is left out, commands included."""
        short = {action: action.help for action in self.told}
        for action, text in self.told.items():
            action.help = text
        parts = [self.format_help(), *(one.format_full_help() for one in self.commands.values())]
        for action, kept in short.items():
            action.help = kept
        return "\n\n".join(parts)


class _HelpAll(argparse.Action):
    """Prints the full help and ends."""

    def __init__(self, option_strings: Any, dest: str, help: str) -> None:
        nothing = argparse.SUPPRESS
        super().__init__(option_strings, nothing, nargs=0, default=nothing, help=help)

    def __call__(self, parser: Any, *ignored: Any) -> None:
        say(parser.format_full_help())
        parser.exit()
