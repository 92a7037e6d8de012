"""The paper's figures and tables, and what goes beyond them: one file each, all with a ``run``.

``run`` takes ``n_trials``, ``seed``, ``n_jobs``, ``verbose`` and settings of its own, and gives a
``Table``, which writes itself as Markdown and CSV. From the command line of a checkout:

    python examples/paper fig4 fig5 --trials 10 --output results
"""

import importlib
from pathlib import Path

NAMES = tuple(sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem[0] != "_"))
"""Every experiment: the name of its file."""


def load(name):
    """Module of an experiment."""
    return importlib.import_module(f"{__name__}.{name}")
