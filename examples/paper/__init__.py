"""The paper's figures and tables, each by one command: ``python -m examples.paper fig4``.

A file is an experiment and defines ``EXPERIMENT`` (see ``_lab.Experiment``). Its results are
every trial as .csv, means beside the published values as .md, and a picture as .png.
"""

import importlib
from pathlib import Path

_FILES = [p.stem for p in Path(__file__).parent.glob("*.py") if p.stem[0] != "_"]
NAMES = tuple(sorted(_FILES, key=lambda name: (not name.startswith("fig"), len(name), name)))
"""Every experiment: the name of its file."""


def load(name):
    """Experiment by its name."""
    return importlib.import_module(f"{__name__}.{name}").EXPERIMENT
