"""How many standard errors a candidate of "auto" has to win by, on the tables of `fresh`.

    OMP_NUM_THREADS=1 python examples/battery/choosing.py [--seed 0]

Every candidate is scored by held-out columns as `ikd_graph.auto` does, and fitted to all columns.
Printed for each number of standard errors: mean affine R2 of the candidate that is chosen, and how
far it is behind the best candidate (mean and worst).
"""

import argparse
import warnings
import zlib

import numpy as np
from fresh import LEVELS, TABLES
from measures import affine_r2, one_thread

from ikd_graph import model_selection, pipeline, similarity
from ikd_graph._settings import Settings
from ikd_graph._stages import Stages
from ikd_graph.model_selection import first_unbeaten

ERRORS = (0.0, 1.0, 2.0, 3.0, 4.0, np.inf)


def scored(X, truth):
    """Scores by point (c, n) and affine R2 (c,) of the candidates of a table."""
    observed, asked = model_selection.moments(X), Settings(n_components=truth.shape[1])
    options = model_selection.options(X, asked, observed)
    scores = model_selection.held_out_scores(X, options, observed)
    fits = [pipeline.fit(similarity.compare(X, o.affinity), X, o, Stages()) for o in options]
    return scores, np.array([affine_r2(truth, fit.coordinates) for fit in fits])


def main():
    """Print a line for each number of standard errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    one_thread()
    warnings.simplefilter("ignore")
    cells = []
    for name, make in TABLES.items():
        for level in LEVELS:
            rng = np.random.default_rng([66, seed, zlib.crc32(name.encode())])
            X, truth = make(rng, level)
            cells.append(scored(np.ascontiguousarray(X, dtype=np.float64), truth))
    print(f"{len(cells)} cells\nerrors  mean R2  regret: mean worst")
    for errors in ERRORS:
        taken = np.array([r2[first_unbeaten(scores, errors)] for scores, r2 in cells])
        regret = np.array([r2.max() for _, r2 in cells]) - taken
        print(f"{errors:6.1f}  {taken.mean():.3f}    {regret.mean():.3f} {regret.max():.3f}")


if __name__ == "__main__":
    main()
