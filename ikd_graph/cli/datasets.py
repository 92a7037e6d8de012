"""List the built-in data sets and where they are looked for."""

from __future__ import annotations

import argparse
import os

from ..study.datasets import BUILTIN, DATA_HOME, FIXED_LATENTS, REAL
from .console import aligned, write_lines


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    home = os.environ.get(DATA_HOME) or "not set"
    about = {
        name: (load.__doc__ or "A latent of the paper seen through random functions, with noise.")
        for name, load in BUILTIN.items()
    }
    first = [(name, text.split("\n")[0]) for name, text in about.items()]
    write_lines([
        f"Real data; all but digits are looked for in the folder {DATA_HOME} ({home}):",
        *aligned(row for row in first if row[0] in REAL),
        "Simulated, nothing to download:",
        *aligned(row for row in first if row[0] not in REAL),
        f"For compare, sampled afresh for every noise level and seed: {', '.join(FIXED_LATENTS)}.",
    ])  # fmt: skip
