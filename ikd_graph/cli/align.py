"""Bring sessions that share columns, or rows, into one frame.

Every file is a session. Columns and rows are recognized by their names; unknown cells stay unknown.
Coordinates of all sessions are saved as one .csv, with a picture as .png.
"""

import argparse
from dataclasses import replace
from typing import Any

from .._base.validation import name_rows
from ..datasets import Dataset
from ..jobs.align import AlignedSessions, align
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
    text = coordinates_text(found, sessions)
    files = {"sessions.csv": text, "sessions.png": png}
    by = "; ".join(" and ".join(names[k] for k in group) for group in found.groups)
    lines = [*str(found).splitlines(), f"compared by their columns: {by}"]
    common.finish(arguments, data, files, lines, step, record(found, sessions))


def read_sessions(arguments: argparse.Namespace) -> list[Dataset]:
    """Read every file, unknown cells as NaN."""
    paths, keep = arguments.data, arguments.impute is None
    if len(paths) < 2:
        raise ValueError(f"DATA must be two files or more, got {len(paths)}; embed takes one")
    sessions = [common.read_data(arguments, path, False, keep_missing=keep) for path in paths]
    # Messages are about rows of all sessions.
    name_rows(())
    if len({data.name for data in sessions}) < len(sessions):
        names = [f"{path} ({number})" for number, path in enumerate(paths, 1)]
        sessions = [replace(data, name=name) for data, name in zip(sessions, names, strict=True)]
    return sessions


def coordinates_text(found: AlignedSessions, sessions: list[Dataset]) -> str:
    """Comma-separated text: session, row, coordinates, and whether the row is fixed."""
    width = found.coordinates[0].shape[1]
    lines = []
    for number, data in enumerate(sessions):
        names = data.row_names or range(data.n_samples)
        parts = zip(names, found.coordinates[number].tolist(), found.fixed[number], strict=True)
        lines += [(data.name, name, *place, str(kind)) for name, place, kind in parts]
    return common.csv_text(["session", "row", *(f"ikd{k}" for k in range(width)), "fixed"], lines)


def record(found: AlignedSessions, sessions: list[Dataset]) -> dict[str, Any]:
    """Return sessions, residuals and joints, for JSON."""
    joints = found.joints
    return {
        "sessions": [data.name for data in sessions],
        "residuals": found.residuals,
        "groups": found.groups,
        "fixed": [int((kinds == "fixed").sum()) for kinds in found.fixed],
        "joints": [] if joints is None else joints.kinds.tolist(),
    }
