"""How often tables of nothing get a small p value, and tables with an embedding a large one.

    OMP_NUM_THREADS=1 python benchmarks/battery/is_it_real.py [--seed 1] [--nulls 2000]
        [--latents 240]

Null tables have 40 to 100 rows and 20 to 80 columns unless they say so, of the kinds of NULLS in
turn: white; autoregressive (0.3 to 0.9, 0.97, or a coefficient of 0 to 0.95 for each series) or
random walks, along the columns or along the rows; Student's t with 2 degrees of freedom, lognormal,
whole numbers; Poisson counts whose mean differs between columns; digits, wines or tumours with
every column shifted along the rows; rows and columns with levels and (log-normal) scales of their
own. Tables with a latent: Gaussian-process columns over clouds (rows without an order) or smooth
paths (rows in order) of one to three dimensions, with weak noise to far too much. Tables with a
known share of signal: over planar clouds, planar random paths (with white or autoregressive noise)
and a smooth closed curve, of 60 to 120 rows and columns, or one factor whose loadings of 0.5 to 1.5
have one sign.
"""

import itertools
import warnings

import numpy as np
from measures import head, options, row
from scipy.signal import lfilter
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from ikd_graph import IKD, datasets, kernels
from ikd_graph.chance import chance_test
from ikd_graph.metrics import affine_r2

REAL = [load_digits().data[:100, 10:50], load_wine().data, load_breast_cancer().data[:100]]


def autoregressive(rng, n, width, axis, past=None):
    """Noise that follows itself along an axis, stationary, or a random walk from 0."""
    if past == 1.0:
        return rng.normal(size=(n, width)).cumsum(axis=axis)
    noise = rng.normal(size=(n + 200, width) if axis == 0 else (n, width + 200))
    past = rng.uniform(0.3, 0.9) if past is None else past
    series = lfilter([1.0], [1.0, -past], noise, axis=axis)
    return series[200:] if axis == 0 else series[:, 200:]


def shifted(rng, n, width):
    """A real table, every column shifted along the rows by itself."""
    X = REAL[rng.integers(len(REAL))]
    return np.column_stack([np.roll(column, rng.integers(len(X))) for column in X.T])


def differing(rng, n, width):
    """Series along the columns, each with a coefficient of its own."""
    pasts = rng.uniform(0.0, 0.95, width)
    return np.column_stack([autoregressive(rng, n, 1, 0, past) for past in pasts])


def moved(rng, X, levels=0.0, scales=0.0):
    """A table whose rows have levels and scales of their own, by their deviations."""
    own = rng.normal(size=(2, len(X), 1))
    return levels * own[0] + np.exp(scales * own[1]) * X


def white(rng, n, width):
    """Noise."""
    return rng.normal(size=(n, width))


NULLS = {
    "white": white,
    "white, 15 x 200": lambda rng, n, width: white(rng, 15, 200),
    "white, 200 x 12": lambda rng, n, width: white(rng, 200, 12),
    "0.3 to 0.9 along columns": lambda rng, n, width: autoregressive(rng, n, width, 0),
    "0.3 to 0.9 along rows": lambda rng, n, width: autoregressive(rng, n, width, 1),
    "0.97 along columns": lambda rng, n, width: autoregressive(rng, n, width, 0, 0.97),
    "0.97 along rows": lambda rng, n, width: autoregressive(rng, n, width, 1, 0.97),
    "walks along columns": lambda rng, n, width: autoregressive(rng, n, width, 0, 1.0),
    "walks along rows": lambda rng, n, width: autoregressive(rng, n, width, 1, 1.0),
    "0 to 0.95 by column": differing,
    "0 to 0.95 by row": lambda rng, n, width: differing(rng, width, n).T,
    "by column, of unequal scales": lambda r, n, width: moved(r, differing(r, n, width).T, 0, 1).T,
    "row levels of 2": lambda rng, n, width: moved(rng, white(rng, n, width), 2),
    "row levels of 2, 60 x 300": lambda rng, n, width: moved(rng, white(rng, 60, 300), 2),
    "row levels of 10": lambda rng, n, width: moved(rng, white(rng, n, width), 10),
    "row scales of 0.7": lambda rng, n, width: moved(rng, white(rng, n, width), 0, 0.7),
    "row scales of 1": lambda rng, n, width: moved(rng, white(rng, n, width), 0, 1),
    "row levels of 2, scales of 0.7": lambda r, n, width: moved(r, white(r, n, width), 2, 0.7),
    "column levels of 10, scales of 2": lambda r, n, width: moved(r, white(r, width, n), 10, 2).T,
    "both": lambda r, n, width: moved(r, moved(r, white(r, n, width), 2, 0.5).T, 2, 2).T,
    "row levels of 2, 0.3 to 0.9 along columns": lambda rng, n, width: moved(
        rng, autoregressive(rng, n, width, 0), 2
    ),
    "row levels of 2, 0.3 to 0.9 along rows": lambda rng, n, width: moved(
        rng, autoregressive(rng, n, width, 1), 2
    ),
    "lognormal": lambda rng, n, width: np.exp(white(rng, n, width)),
    "whole numbers": lambda rng, n, width: np.round(white(rng, n, width)),
    "Student's t, 2": lambda rng, n, width: rng.standard_t(2, size=(n, width)),
    "Poisson": lambda rng, n, width: rng.poisson(rng.gamma(1.0, 1.0, width), (n, width)) * 1.0,
    "real, columns shifted": shifted,
}


def null_p_values(seed, count):
    """p values of null tables by kind."""
    p_values = {name: [] for name in NULLS}
    for number in range(count):
        name = list(NULLS)[number % len(NULLS)]
        rng = np.random.default_rng([seed, number])
        X = NULLS[name](rng, int(rng.integers(40, 101)), int(rng.integers(20, 81)))
        p_values[name].append(chance_test(X, random_state=number).p_value)
    return p_values


def with_latent(seed, number):
    """Kind of latent, R2 of the default fit, and p value of one table."""
    rng = np.random.default_rng([seed, 10_000 + number])
    kind, size = ("cloud", "path")[number % 2], int(rng.integers(1, 4))
    n, width = int(rng.integers(60, 121)), int(rng.integers(20, 91))
    latent = rng.normal(size=(n, size))
    if kind == "path":
        latent = datasets.ou_latent(n, size, variance=1.0, time_scale=n / 20.0, seed=rng)
    data = datasets.gplvm_data(
        latent, width, kernel=kernels.SquaredExponential(), noise=rng.uniform(0.5, 4.0), seed=rng
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        r2 = affine_r2(latent, IKD(size).fit_transform(data.X))
    return kind, r2, chance_test(data.X, random_state=number).p_value


def with_signal(seed, number, kind, fraction):
    """p value of a table whose values have a fraction of signal."""
    rng = np.random.default_rng([seed, 20_000 + number])
    n, width = (int(size) for size in rng.integers(60, 121, 2))
    latent = rng.normal(size=(n, 2))
    if kind.startswith("path"):
        latent = datasets.ou_latent(n, 2, variance=1.0, time_scale=n / 20.0, seed=rng)
    elif kind == "closed curve":
        angle = 2.0 * np.pi * np.arange(n)[:, None] / n
        latent = 1.5 * np.hstack([np.cos(angle), np.sin(2.0 * angle)])
    kernel = kernels.SquaredExponential()
    signal = datasets.gplvm_data(latent, width, kernel=kernel, noise=0.0, seed=rng).X
    past = 0.5 if kind.endswith("noise") else 0.0
    noise = np.sqrt(1.0 - past**2) * autoregressive(rng, n, width, 0, past)
    if kind == "one factor":
        signal = rng.normal(size=(n, 1)) * rng.uniform(0.5, 1.5, width)
    X = np.sqrt(fraction) * signal + np.sqrt(1.0 - fraction) * noise
    return chance_test(X, random_state=number).p_value


def rejected(p_values, level=0.05):
    """Fraction of p values up to a level, in percent."""
    return f"{np.mean(np.array(p_values) <= level):.1%}"


def main():
    """Print the three tables."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nulls", type=int, default=2000, help="null tables of all kinds together")
    parser.add_argument("--latents", type=int, default=240, help="tables with an embedding")
    given = parser.parse_args()
    by_kind = null_p_values(given.seed, given.nulls)
    by_kind["all"] = [p for values in by_kind.values() for p in values]
    print(head("null tables", "number", "rejected at 1 %", "5 %", "20 %"))
    for name, p_values in by_kind.items():
        fractions = [rejected(p_values, level) for level in (0.01, 0.05, 0.2)]
        print(row(name, len(p_values), *fractions))
    print("\n" + head("latent", "fraction of signal", "tables", "rejected at 5 %"))
    for kind in ("cloud", "path", "path, autoregressive noise", "closed curve", "one factor"):
        for fraction in (0.1, 0.2, 0.5):
            found = [with_signal(given.seed, k, kind, fraction) for k in range(given.latents // 4)]
            print(row(kind, f"{fraction:.0%}", len(found), rejected(found)))
    trials = [with_latent(given.seed, number) for number in range(given.latents)]
    kinds, r2, p_values = (np.array(column) for column in zip(*trials, strict=True))
    print("\n" + head("latent", "R2 of the default fit", "tables", "rejected at 5 %"))
    for kind in ("cloud", "path"):
        for low, high in itertools.pairwise((-1.0, 0.1, 0.3, 0.5, 0.7, 1.0)):
            chosen = (kinds == kind) & (r2 > low) & (r2 <= high)
            if chosen.any():
                found = rejected(p_values[chosen])
                print(row(kind, f"{max(low, 0)} to {high}", chosen.sum(), found))


if __name__ == "__main__":
    main()
