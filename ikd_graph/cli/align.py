"""Bring sessions that share columns, or rows, into one frame.

Every file is a session. Columns and rows are recognized by their names; unknown cells stay unknown.
Coordinates of all sessions are saved as one .csv, with a picture as .png.
"""

import argparse
from dataclasses import replace

from .._base.validation import name_rows
from ..datasets import Dataset
from ..jobs.align import align
from . import common
from .objects import method_parameters


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    given = method_parameters(vars(arguments))
    if hasattr(arguments, "min_columns"):
        given["min_columns"] = arguments.min_columns
    sessions = read_sessions(arguments)
    frames, names = [each.frame for each in sessions], [each.name for each in sessions]
    found = align(frames, names=names, **given)
    png, _ = common.drawings(arguments, lambda ax: found.plot(ax=ax), (7.2, 5.4), "")
    data = replace(sessions[0], name="aligned")
    step = ("To align them again:", common.typed_command(arguments))
    files = {"sessions.csv": found.to_pandas().to_csv(index=False), "sessions.png": png}
    record = {
        "sessions": found.names,
        "residuals": found.residuals,
        "groups": found.groups,
        "fixed": [int((kinds == "fixed").sum()) for kinds in found.fixed],
        "joints": [] if found.joints is None else found.joints.kinds.tolist(),
    }
    common.finish(arguments, data, files, str(found).splitlines(), step, record)


def read_sessions(arguments: argparse.Namespace) -> list[Dataset]:
    """Read every file, unknown cells as NaN."""
    paths, keep = arguments.data, arguments.impute is None
    if len(paths) < 2:
        raise ValueError(f"DATA must be two files or more, got {len(paths)}; embed takes one")
    sessions = [common.read_data(arguments, path, keep_missing=keep) for path in paths]
    # Messages are about rows of all sessions.
    name_rows(())
    if len({data.name for data in sessions}) < len(sessions):
        names = [f"{path} ({number})" for number, path in enumerate(paths, 1)]
        sessions = [replace(data, name=name) for data, name in zip(sessions, names, strict=True)]
    return sessions
