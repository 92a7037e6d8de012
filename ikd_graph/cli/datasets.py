"""``ikd-graph datasets``: which data sets have a name."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ..study.datasets import BUILTIN, DATA_HOME
from .console import facts, say


def add_command(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse subparsers
        Where commands are added.
    """
    parser = commands.add_parser(
        "datasets",
        help="list the built-in data sets",
        description="List the built-in data sets and where they are looked for.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Parameters
    ----------
    arguments : argparse.Namespace
        Not used.
    """
    facts([(name, (load.__doc__ or "").split("\n")[0]) for name, load in BUILTIN.items()])
    home = os.environ.get(DATA_HOME)
    where = repr(home) if home else "not set"
    say()
    say(f"digits comes with scikit-learn; the others are looked for in {DATA_HOME} ({where}).")
