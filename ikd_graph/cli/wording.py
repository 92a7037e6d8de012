"""Advice that is worded for Python, in the flags of the command line."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Mapping
from typing import Any

from ..estimator import IKD
from .console import PROG
from .flags import HIDDEN

_VALUE = r"(?:'[^']*'|-?\d+(?:\.\d+)?(?:e-?\d+)?|None|True|False)"
# What a user named stands in quotes and is left as it is.
_BEFORE = r"(?<![\w'\"=.-])"


class Wording:
    """Says parameters of `IKD`, and arguments of a command, as flags.

    A parameter that the command leaves out is a flag of ``ikd-graph embed``, which has all.

    Parameters
    ----------
    command : argparse.ArgumentParser
        Parser of the command that speaks.
    """

    def __init__(self, command: argparse.ArgumentParser) -> None:
        known = [name for name in inspect.signature(IKD).parameters if name not in HIDDEN]
        self._flags = {name: f"{PROG} embed --{name.replace('_', '-')}" for name in known}
        for action in command._actions:
            if action.option_strings:
                self._flags[action.dest] = action.option_strings[0]
        names = "|".join(self._flags)
        self._pair = re.compile(rf"{_BEFORE}({names})=({_VALUE}(?: or {_VALUE})*)")
        spaced = "|".join(name for name in self._flags if "_" in name)
        self._name = re.compile(rf"{_BEFORE}(?:({spaced})(?![\w=.('])|({names})(?= must ))")

    def __call__(self, told: Any) -> Any:
        """A text, or texts in mappings and sequences, in flags; anything else as it is.

        Examples
        --------
        >>> from ikd_graph.cli.entry import build_parser
        >>> say = Wording(build_parser().commands["embed"])
        >>> say("Pass refine=None to change this.")
        'Pass --refine none to change this.'
        >>> say(["use strategy='geodesic' or 'blockwise'", "threshold must lie in (0, 1)"])
        ['use --strategy geodesic or blockwise', '--threshold must lie in (0, 1)']
        """
        if isinstance(told, str):
            text = self._pair.sub(lambda at: f"{self._flags[at[1]]} {_plain(at[2])}", told)
            return self._name.sub(lambda at: self._flags[at[1] or at[2]], text)
        if isinstance(told, Mapping):
            return {name: self(one) for name, one in told.items()}
        if isinstance(told, (list, tuple)):
            return type(told)([self(one) for one in told])
        return told


def _plain(values: str) -> str:
    """Values of Python as they are typed behind a flag."""
    return re.sub("None|True|False|'", lambda at: at[0].lower().strip("'"), values)
