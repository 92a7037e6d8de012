"""Bring sessions that share columns, or rows, into one frame.

Every file is a session. Columns and rows are recognized by their names; unknown cells stay unknown.
Coordinates of all sessions are saved as one .csv, with a picture as .png.
"""

import argparse
import warnings
from dataclasses import replace

import pandas as pd

from .. import datasets
from .._base.files import check_writable
from ..datasets import Dataset
from ..jobs.align import align
from . import common, flags


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    sessions = read_sessions(arguments)
    typed = dict(vars(arguments))
    own = {name: typed.pop(name) for name in ("n_components", "min_columns") if name in typed}
    given = flags.method_parameters(argparse.Namespace(**typed))
    with common.named_stage("aligning the sessions"):
        frames = [
            pd.DataFrame(each.X, each.row_names or None, each.feature_names or None)
            for each in sessions
        ]
        found = align(frames, names=[each.name for each in sessions], **own, **given)
    with common.named_stage("drawing"):
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
    check_writable(arguments.output)
    if len(arguments.data) < 2:
        raise ValueError(
            f"DATA must be two files or more, got {len(arguments.data)}; embed takes one"
        )
    how = replace(flags.reading(arguments), keep_missing=arguments.impute is None)
    sessions = []
    with common.named_stage("reading the data"):
        for path in arguments.data:
            data = datasets.load(path, reading=how)
            sessions.append(data)
            for remark in data.remarks:
                warnings.warn(f"{data.name}: {remark}", UserWarning, stacklevel=2)
    return _with_names_apart(sessions, arguments.data)


def _with_names_apart(sessions: list[Dataset], typed: list[str]) -> list[Dataset]:
    """Call files of one name by what was typed, and the same file by its number too."""
    names = [data.name for data in sessions]
    for labels in (typed, [f"{path} ({number})" for number, path in enumerate(typed, 1)]):
        twice = [names.count(name) > 1 for name in names]
        names = [new if both else old for old, new, both in zip(names, labels, twice, strict=True)]
    return [replace(data, name=name) for data, name in zip(sessions, names, strict=True)]
