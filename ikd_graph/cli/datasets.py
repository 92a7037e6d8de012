"""``ikd-graph datasets``: which data sets have a name."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ..study.datasets import BUILTIN, DATA_HOME, FIXED_LATENTS, REAL
from .console import facts, say


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "datasets",
        help="list the built-in data sets",
        description="List the built-in data sets and where they are looked for.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    home = os.environ.get(DATA_HOME)
    say(
        f"Real data; all but digits are looked for in the folder {DATA_HOME} ({home or 'not set'}):"
    )
    facts([(name, _first_line(load)) for name, load in REAL.items()])
    say("Simulated, nothing to download:")
    facts([(name, _first_line(load)) for name, load in BUILTIN.items() if name not in REAL])
    say(f"For compare, sampled afresh for every noise level and seed: {', '.join(FIXED_LATENTS)}.")


def _first_line(load: Any) -> str:
    """What a loader says of its data."""
    told = (load.__doc__ or "").split("\n")[0]
    return told or "A latent of the paper seen through random functions, with noise."
