"""All sets of the battery, and the half that each belongs to."""

import inspect
import json
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from . import simulators_mixtures, simulators_neurons, simulators_shapes
from .real import REAL

SPLIT = Path(__file__).with_name("split.json")

SIMULATED = {
    name: make
    for module in (simulators_neurons, simulators_shapes, simulators_mixtures)
    for name, make in inspect.getmembers(module, inspect.isfunction)
    if make.__module__ == module.__name__ and not name.startswith("_")
}
"""Simulators by name."""

SETS = {**SIMULATED, **REAL}
"""Every set: a function of a seed that returns its Points, or raises Absent."""

DEVELOPED_ON = ("digits", "coil20", "fashion_mnist", "guo_qpcr", "iris", "wine")
"""Sets that the package was developed on before the split was drawn.

The mixtures came later: those that the linear strategy was developed on went to the develop half,
the others, which were written afterwards, to the confirming one.
"""

SPLIT_SEED = 20261122


@cache
def make(name, seed=0):
    """Points of a set; each set has a generator of its own."""
    words = np.random.SeedSequence([seed, zlib.crc32(name.encode())]).generate_state(1)
    return SETS[name](int(words[0]))


def halves():
    """Names of each half, as written when the split was drawn."""
    return json.loads(SPLIT.read_text())


def draw_split():
    """Names of each half: by chance, balanced over real and simulated sets of each kind.

    What was developed on before is in the develop half; the others of its stratum go to the
    smaller half first, so that the halves stay of a size.
    """
    rng = np.random.default_rng(SPLIT_SEED)
    strata = {}
    for name in sorted(SETS):
        strata.setdefault((name in REAL, make(name).kind), []).append(name)
    found = {"develop": [], "confirm": []}
    for stratum in sorted(strata):
        names = strata[stratum]
        mine = {"develop": [n for n in names if n in DEVELOPED_ON], "confirm": []}
        for name in rng.permutation([n for n in names if n not in DEVELOPED_ON]).tolist():
            sizes = len(mine["develop"]) - len(mine["confirm"])
            coin = rng.integers(2) if sizes == 0 else int(sizes > 0)
            mine[("develop", "confirm")[coin]].append(name)
        for half, some in mine.items():
            found[half] += some
    return {half: sorted(names) for half, names in found.items()}
