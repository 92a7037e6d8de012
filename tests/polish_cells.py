"""Random cells for the polish: latents that are not the paper's, and how a polish of each went.

``python tests/polish_cells.py [first] [last] [search] [most]`` runs those of a range of cells that
have at most so many points, prints one line each and a table of all. Any number makes a cell; the
first 200 are those that the searches were developed on. `test_refine_cells.py` runs a dozen.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from ikd_graph import IKD, gplvm, kernels
from ikd_graph.refine.descent import descend
from ikd_graph.refine.objective import Objective
from ikd_graph.study.metrics import affine_r2

N_CELLS = 200
FAMILIES = ("cloud", "walk", "curve", "roll", "knot")
DROP = 0.02  # of R2 that a polish may lose
NATS = 2.0  # of log likelihood that a search may miss
NAMES = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")


class Cell(NamedTuple):
    """One data set with a known latent."""

    family: str
    kernel: str
    length_scale: float
    noise: float  # standard deviation; the signal's is 1
    latent: np.ndarray  # (n, m)
    rows: np.ndarray  # (n, n_observed)


class Outcome(NamedTuple):
    """How the polish of one cell went; log likelihoods are of all observed dimensions."""

    start_r2: float  # of the closed form after stress
    plain_r2: float  # of the plain descent from there
    r2: float  # of the polish
    truth_r2: float  # of the local optimum that the true latent leads to
    gain: float  # log likelihood above the plain descent
    above_truth: float  # log likelihood above the optimum that the true latent leads to
    noise: float  # fitted over true variance; fitted where there is none
    gap: float  # largest distance of a point to its nearest, in length-scales
    seconds: float  # CPU time of the whole fit

    @property
    def cause(self) -> str:
        """Why the polish is farther from the truth than its start, empty if it is not."""
        if self.r2 >= self.start_r2 - DROP:
            return ""
        if self.above_truth < -NATS:
            return "not found"
        if min(self.plain_r2, self.truth_r2) < self.start_r2 - DROP:
            return "any descent"
        return "likelier than the truth"


def latent_of(family: str, n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Points of a family, a few units wide."""
    t = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
    if family == "walk":
        steps = rng.standard_normal((n, m)).cumsum(axis=0)
        return 3.0 * (steps - steps.mean(axis=0)) / np.ptp(steps, axis=0).max()
    if family == "curve" and m > 1:
        flat = np.c_[2.0 * np.cos(t), 1.5 * np.sin(t * rng.integers(1, 3)), 0.5 * np.sin(3.0 * t)]
        return flat[:, :m]
    if family == "roll" and m > 1:
        turn = 1.5 * np.pi * (1.0 + rng.uniform(0.0, 1.6, n))
        roll = np.c_[turn * np.cos(turn), turn * np.sin(turn), 10.0 * rng.random(n)]
        return 0.25 * roll[:, :m]
    if family == "knot" and m == 3:
        return (
            0.7
            * np.c_[
                np.sin(t) + 2.0 * np.sin(2.0 * t),
                np.cos(t) - 2.0 * np.cos(2.0 * t),
                -np.sin(3.0 * t),
            ]
        )
    if family == "clusters":
        centre = rng.integers(0, 2, n)[:, None] * 3.0
        return 0.6 * rng.standard_normal((n, m)) + centre * np.eye(m)[0]
    if family == "tree":
        ends = rng.standard_normal((4, m))
        ends *= 2.5 / np.linalg.norm(ends, axis=1, keepdims=True)
        return rng.random((n, 1)) * ends[rng.integers(0, 4, n)]
    return rng.standard_normal((n, m)) * np.array([1.6, 1.0, 0.5])[:m]


def sample_cell(
    family: str,
    kernel: str,
    length_scale: float,
    noise: float,
    size: tuple[int, int, int],
    rng: np.random.Generator,
) -> Cell:
    """Rows of a Gaussian process over a latent of (n, n_observed, m)."""
    n, n_observed, m = size
    latent = latent_of(family, n, m, rng)
    model = type(kernels.get(kernel))(length_scale=length_scale)
    cov = model.covariance(cdist(latent, latent, "sqeuclidean")) + 1e-8 * np.eye(n)
    rows = np.linalg.cholesky(cov) @ rng.standard_normal((n, n_observed))
    rows += noise * rng.standard_normal(rows.shape)
    return Cell(family, kernel, length_scale, noise, latent, rows)


def cell(index: int) -> Cell:
    """One of the random cells."""
    rng = np.random.default_rng([20261122, index])
    size = (
        int(np.exp(rng.uniform(np.log(50), np.log(600)))),
        int(np.exp(rng.uniform(np.log(50), np.log(500)))),
        int(rng.integers(1, 4)),
    )
    return sample_cell(
        FAMILIES[index % len(FAMILIES)],
        NAMES[int(rng.integers(4))],
        float(rng.choice([0.5, 1.0, 2.0])),
        float(rng.choice([0.0, 0.5, 1.0])),
        size,
        rng,
    )


def plain_descent(cov: np.ndarray, kernel: str, start: np.ndarray) -> tuple[float, np.ndarray]:
    """Log likelihood of one observed dimension and latent after SciPy's L-BFGS, no floors.

    Shares nothing with the search but the likelihood itself.
    """
    n, m = start.shape
    model = kernels.get(kernel)
    variance, noise, _ = gplvm.fit_variances(start, cov, 1, model)

    def follow(vector: np.ndarray) -> tuple[float, np.ndarray]:
        at = gplvm.negative_log_likelihood_and_gradient(
            vector[:-2].reshape(n, m), cov, model, *np.exp(vector[-2:])
        )
        return at.value, np.r_[at.latent.ravel(), at.log_variance, at.log_noise]

    begin = np.r_[start.ravel(), np.log([variance, max(noise, 1e-7 * variance)])]
    bounds = [(None, None)] * start.size + [(-7.0, 7.0), (-16.0, 2.0)]
    options = {"maxiter": 400, "maxfun": 500, "maxcor": 20}
    found = minimize(follow, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return -float(found.fun), found.x[:-2].reshape(n, m)


def optimum_of_truth(one: Cell, cov: np.ndarray) -> tuple[float, np.ndarray]:
    """The same for the true latent, by the search's own descent, which converges."""
    n, m = one.latent.shape
    scale = np.trace(cov) / n
    objective = Objective(cov / scale, kernels.get(one.kernel), m)
    end = descend(objective, one.latent / one.length_scale, "truth")
    return -end.value - 0.5 * n * np.log(scale), objective.latent(end.vector)


def polish(one: Cell, search: str = "wide") -> Outcome:
    """Polish a cell as `IKD` does and compare with the plain descent and with the truth.

    A "wide" search is that of the default strategy, a "local" one that of a named strategy.
    """
    m, n_observed = one.latent.shape[1], one.rows.shape[1]
    strategy = "auto" if search == "wide" else "geodesic"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Named, so that both see the same covariance.
        given = {"kernel": one.kernel, "affinity": "correlation"}
        start = IKD(m, strategy="geodesic", refine="stress", **given).fit_transform(one.rows)
        model = IKD(m, strategy=strategy, refine="likelihood", **given)
        before = time.process_time()
        model.fit(one.rows)
        seconds = time.process_time() - before
    cov = gplvm.sample_covariance(one.rows)
    plain, plain_latent = plain_descent(cov, one.kernel, start)
    truth, truth_latent = optimum_of_truth(one, cov)
    apart = cdist(model.embedding_, model.embedding_)
    np.fill_diagonal(apart, np.inf)
    latents = start, plain_latent, model.embedding_, truth_latent
    return Outcome(
        *(affine_r2(one.latent, latent) for latent in latents),
        model.log_likelihood_ - n_observed * plain,
        model.log_likelihood_ - n_observed * truth,
        model.noise_variance_ / one.noise**2 if one.noise else model.noise_variance_,
        float(apart.min(axis=1).max()),
        seconds,
    )


def table(cells: list[Cell], found: list[Outcome]) -> str:
    """What all cells together say, one line a question."""
    columns = np.array(found).T
    lines = [f"{len(found)} cells; means with their standard errors"]
    names = "stress", "plain descent", "polished", "from the truth"
    for name, r2 in zip(names, columns, strict=False):
        lines.append(f"R2 {name:14s} {r2.mean():.3f} +- {r2.std() / len(r2) ** 0.5:.3f}")
    gain = columns[2] - columns[0]
    lines.append(f"R2 gained {gain.mean():.3f} +- {gain.std() / len(gain) ** 0.5:.3f}")
    below, short = columns[4] < -0.01, columns[5] < -NATS
    lines.append(f"less likely than the plain descent: {below.sum()}")
    lines.append(f"more than {NATS:g} nats below the optimum of the truth: {short.sum()}")
    lines.append(f"points flung: {(columns[7] > 8.0).sum()}")
    told = np.array([one.noise > 0.0 and one.rows.shape[1] >= 200 for one in cells])
    wrong = told & (np.abs(np.log2(columns[6])) > 1.0)
    lines.append(f"noise off by more than 2 where N >= 200: {wrong.sum()} of {told.sum()}")
    causes = [one.cause for one in found]
    for cause in sorted({*causes} - {""}):
        lines.append(f"dropped by more than {DROP}, {cause}: {causes.count(cause)}")
    sizes = np.array([len(one.latent) for one in cells])
    for low, high in ((50, 100), (100, 151), (151, 201), (201, 301), (301, 601)):
        some = columns[8, (sizes >= low) & (sizes < high)]
        if some.size:
            lines.append(f"T {low}..{high - 1}: {some.mean():.1f} s, at most {some.max():.1f}")
    return "\n".join(lines) + "\n"


def main(first: str = "0", last: str = str(N_CELLS), search: str = "wide", most: str = "600"):
    """Run a range of cells."""
    cells, outcomes = [], []
    for index in range(int(first), int(last)):
        one = cell(index)
        n, m = one.latent.shape
        if n > int(most):
            continue
        found = polish(one, search)
        cells.append(one)
        outcomes.append(found)
        sys.stdout.write(
            f"{index:3d} {one.family:6s} {one.kernel[:6]} l={one.length_scale} sd={one.noise}"
            f" T={n} N={one.rows.shape[1]} M={m} | r2 {found.start_r2:.3f} {found.plain_r2:.3f}"
            f" -> {found.r2:.3f} truth {found.truth_r2:.3f} gain {found.gain:.2f}"
            f" above truth {found.above_truth:.2f} noise {found.noise:.3g} gap {found.gap:.2f}"
            f" {found.seconds:.1f} s {found.cause}\n"
        )
        sys.stdout.flush()
    sys.stdout.write(table(cells, outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
