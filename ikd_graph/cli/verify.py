"""``ikd-graph verify``: whether a saved model comes out again from its table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sklearn.base import clone

from ..estimator import IKD
from ..reproducible import fingerprint, largest_move
from . import common
from .console import facts
from .outcome import finish
from .place import check_row_wise, columns_of

# Rounding differs from processor to processor; another optimum is thousands of times as far.
_SAME = 1e-6


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "verify",
        help="fit a saved model again and compare",
        description="Fit a saved model again to the table that it came from, on this machine, and "
        "say how far its points move. Ends with 1 if they move by more than a millionth of the "
        "extent.",
    )
    parser.add_argument(
        "model", metavar="MODEL", type=Path,
        help="file of a model, written by embed --save-model or IKD.save",
    )  # fmt: skip
    common.add_data_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    check_row_wise(arguments)
    model = IKD.load(arguments.model)
    names = model.__dict__.pop("feature_names_in_", None)
    data = common.read_data(arguments, judged=False)
    if names is not None and data.feature_names:
        data = columns_of(data, names.tolist())
    with common.named_stage("fitting the model again"):
        again = clone(model).fit(data.X)
    move = largest_move(model.embedding_, again.embedding_)
    facts_of = [
        ("fingerprint", f"{fingerprint(again.embedding_)}, was {fingerprint(model.embedding_)}"),
        ("largest move", f"{move:.1e} of the extent"),
        ("verdict", "the same" if move <= _SAME else "not the same"),
    ]
    result = {"model": str(arguments.model), "move": move, "same": move <= _SAME}
    step = ("To verify it again:", common.typed_command(arguments))
    finish(arguments, data, {}, lambda: facts(facts_of), step, result)
    return 0 if move <= _SAME else 1
