"""List the built-in data sets, none of which needs a download."""

import argparse

from ..datasets import BUILTIN
from .console import aligned, write_lines


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    about = {
        name: (load.__doc__ or "A latent of the paper seen through random functions, with noise.")
        for name, load in BUILTIN.items()
    }
    write_lines(aligned((name, text.split("\n")[0]) for name, text in about.items()))
