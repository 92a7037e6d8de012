"""What moves the agreement of halves, and how it goes with the R² with the truth.

    OMP_NUM_THREADS=1 python benchmarks/battery/agreement.py nudges SEED NAME NAME ...
    OMP_NUM_THREADS=1 python benchmarks/battery/agreement.py truth SEED

"nudges": tables of `first_tables`, 120 rows of each; prints how far the agreement moves with 1e-4
standard deviations of noise (twice) and with another order of the columns (twice), and for six
random columns, each dropped once, how often another refinement is taken, and how often without the
word that it was close. "truth": all simulated tables with coordinates, 250 rows, `IKD` by default
with as many coordinates as the truth has, two or three; prints agreement, affine R² and their
Spearman correlation.
"""

import sys
import warnings

import first_tables
import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from ikd_graph import IKD
from ikd_graph.metrics import affine_r2


def table(name, seed, most):
    """At most so many rows of a table without constant columns, and the truth."""
    X, truth, kind = first_tables.make(name, seed)
    X, truth = X[:most], truth[:most]
    return X[:, X.std(axis=0) > 0.0], truth, kind


def fit(X, n_components=2):
    """Agreement, refinement, and whether another one was close."""
    model = IKD(n_components).fit(X)
    plan = model.settings_
    return model, type(plan.refine).__name__, "close" in plan.reasons


def nudges(name, seed):
    """Print what moves the agreement of one set."""
    X, rng = table(name, seed, 120)[0], np.random.default_rng(seed)
    model, refine, close = fit(X)
    moved = [
        abs(fit(other)[0].agreement_ - model.agreement_)
        for other in [X + 1e-4 * X.std(axis=0) * rng.normal(size=X.shape) for _ in range(2)]
        + [X[:, rng.permutation(X.shape[1])] for _ in range(2)]
    ]
    columns = rng.choice(X.shape[1], min(6, X.shape[1]), replace=False)
    others = [fit(np.delete(X, column, axis=1))[1:] for column in columns]
    flips = [said for other, said in others if other != refine]
    unsaid = 0 if close else len(flips) - sum(flips)
    print(
        f"{name} {X.shape} {refine} agreement {model.agreement_:.3f}, nudged {max(moved[:2]):.3f}, "
        f"another order {max(moved[2:]):.3f}, close {close}, flips {len(flips)} of {len(others)}, "
        f"not told by either fit {unsaid}",
        flush=True,
    )


def truth(seed):
    """Print the agreement beside the R² with the truth."""
    found = []
    simulated = [name for group in first_tables.SIMULATED.values() for name in group]
    for name in simulated:
        X, Z, kind = table(name, seed, 250)
        if kind == "classes":
            continue
        model, refine, _ = fit(X, min(max(Z.shape[1], 2), 3))
        found.append((model.agreement_, affine_r2(Z, model.embedding_)))
        print(f"{name} {refine} agreement {found[-1][0]:.2f}, R² {found[-1][1]:.2f}", flush=True)
    known = np.array([pair for pair in found if np.isfinite(pair[0])])
    print(f"{len(known)} tables, Spearman {spearmanr(*known.T)[0]:.2f}")


def main(what, seed, *names):
    """Print what was asked for."""
    warnings.simplefilter("ignore")
    threadpool_limits(limits=1)
    if what == "truth":
        truth(int(seed))
    for name in names:
        nudges(name, int(seed))


if __name__ == "__main__":
    main(*sys.argv[1:])
