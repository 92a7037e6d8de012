"""Fit a saved model again on this computer and say how far its points move.

It is fitted with its own settings to the file that it came from. The command ends with 1 if a
point moves by more than a millionth of the extent of the embedding.
"""

import argparse

from sklearn.base import clone

from ..fingerprint import largest_move
from . import common
from .console import aligned
from .place import add_flags, load_model

__all__ = ["add_flags", "run"]


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    model, data = load_model(arguments)
    with common.named_stage("fitting the model again"):
        again = clone(model).set_params(verbose=arguments.verbose).fit(data.X)
    move = largest_move(model.embedding_, again.embedding_)
    same = move <= 1e-6
    prints = [each.fingerprint_ for each in (model, again)]
    lines = aligned([
        ("fingerprint saved", prints[0]),
        ("fingerprint here", prints[1]),
        ("largest move", f"{move:.1e} of the extent"),
        ("verdict", "the same" if same else "not the same"),
    ])  # fmt: skip
    step = ("To verify it again:", common.typed_command(arguments))
    result = {"model": str(arguments.model), "largest_move": move, "same": same}
    common.finish(arguments, data, {}, lines, step, result)
    if not same:
        raise SystemExit(1)
