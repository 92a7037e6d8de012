"""The paper's figures and tables, and what goes beyond them, as functions that anyone can run.

Each takes ``n_trials`` and ``seed`` and gives a ``Table``, which writes itself as Markdown and CSV.
"""

from __future__ import annotations

from collections.abc import Callable

from ._methods import METHODS, PAPER_METHODS
from ._table import Table
from .calibration import diagnosis_calibration
from .peers import gplvm_race, starts
from .placing import new_points
from .real import faces, fig7, fig13, table2
from .reconstruction import way_back
from .recovery import fig2, fig4, fig5, fig6, merge_quality, mismatch
from .seed_study import Gallery, half_moons, swiss_roll

__all__ = [
    "EXPERIMENTS",
    "METHODS",
    "PAPER_METHODS",
    "Gallery",
    "Table",
    "diagnosis_calibration",
    "faces",
    "fig2",
    "fig4",
    "fig5",
    "fig6",
    "fig7",
    "fig13",
    "gplvm_race",
    "half_moons",
    "merge_quality",
    "mismatch",
    "new_points",
    "starts",
    "swiss_roll",
    "table2",
    "way_back",
]

EXPERIMENTS: dict[str, Callable[..., Table]] = {
    "fig2": fig2,
    "fig4": fig4,
    "fig5": fig5,
    "fig6": fig6,
    "mismatch": mismatch,
    "merge_quality": merge_quality,
    "table2": table2,
    "fig7": fig7,
    "fig13": fig13,
    "faces": faces,
    "new_points": new_points,
    "way_back": way_back,
    "gplvm_race": gplvm_race,
    "starts": starts,
    "half_moons": half_moons,
    "swiss_roll": swiss_roll,
    "diagnosis_calibration": diagnosis_calibration,
}
"""Every experiment by name."""
