"""What a diagnosis expects and what is reached, on data of known truth."""

import warnings

import numpy as np

from ikd_graph import IKD
from ikd_graph.study.datasets import fixed_latent, gplvm_data
from ikd_graph.study.diagnosis import WEAK_R2, diagnose
from ikd_graph.study.metrics import affine_r2
from ikd_graph.study.timing import timed

from ._lab import Table, run_trials, title_of

LOW_R2 = 0.7
"""Every set whose R² falls below this has to be warned of."""

SHAPES = {
    "square": lambda n, rng: rng.uniform(0.0, 2.0, size=(n, 2)),
    "cloud": lambda n, rng: rng.normal(scale=0.6, size=(n, 2)),
    "curve": lambda n, rng: np.sort(rng.uniform(0.0, 5.0, size=n))[:, None],
}
LATENTS = ("hard", "medium", "easy", *SHAPES)
KERNELS = ("squared_exponential", "rational_quadratic", "matern")
# Square numbers, as the "easy" latent needs them, and even, as the "hard" one does.
SIZES = (36, 64, 100)


def run(*, n_trials=40, n_splits=3, seed=0, **how):
    """A row for each set; the notes give the correlation and count warnings.

    ``n_splits`` is the number of splits behind each expectation.
    """
    tasks = [(number, seed, n_splits) for number in range(n_trials)]
    trials = run_trials(calibration_trial, tasks, **how)
    notes = [
        f"seed {seed}; latents {', '.join(LATENTS)} of 36 to 100 points, 20 to 500 measurements, "
        "noise of standard deviation 0 to 1.5 beside a signal of 1, kernels as named (length-scale "
        "1/2), solved as the diagnosis suggests",
        f"R² after affine alignment; expected: see `diagnose`, with {n_splits} splits",
        *say_calibration(trials),
    ]
    by = ("set", "latent", "kernel", "M", "T", "N", "noise")
    also = ("reached", "warned")
    title = title_of(__doc__)
    return Table("diagnosis_calibration", title, trials, by, "expected", notes, also=also)


def say_calibration(trials):
    """Correlation of expected and reached R², and what was warned of, in sentences."""
    expected, reached = (np.array([t[key] for t in trials]) for key in ("expected", "reached"))
    good = np.isfinite(expected) & np.isfinite(reached)
    gap = (expected - reached)[good]
    varied = good.sum() > 1 and np.ptp(expected[good]) > 0.0 and np.ptp(reached[good]) > 0.0
    link = np.corrcoef(expected[good], reached[good])[0, 1] if varied else np.nan
    said = [
        f"correlation of expected and reached R²: {link:.3f} over {gap.size} sets; mean error "
        f"{gap.mean():+.3f}, mean size {np.abs(gap).mean():.3f}"
    ]
    low = good & (reached < LOW_R2)
    for name, what in (("warned", "any warning"), ("warned_r2", "a low expected R²")):
        warned = np.array([t[name] for t in trials]) > 0.0
        said.append(
            f"warned by {what}: {np.sum(low & warned)} of {low.sum()} sets below {LOW_R2:g}; "
            f"{np.sum(good & ~low & warned)} of {np.sum(good & ~low)} above it"
        )
    return said


def calibration_trial(number, seed, n_splits):
    """Draw one data set, diagnose it, and embed it."""
    rng = np.random.default_rng([seed, number])
    kind, kernel = str(rng.choice(LATENTS)), str(rng.choice(KERNELS))
    n_points = int(rng.choice(SIZES))
    n_observed = round(float(np.exp(rng.uniform(np.log(20.0), np.log(500.0)))))
    noise = round(float(rng.uniform(0.0, 1.5)), 2)
    shape = SHAPES.get(kind)
    latent = shape(n_points, rng) if shape else fixed_latent(kind, n_points, seed=rng)
    data = gplvm_data(latent, n_observed, kernel=kernel, noise=noise, seed=rng)
    M = latent.shape[1]
    done = timed(diagnose, data.X, M, n_splits=n_splits)
    if done.failure:
        raise RuntimeError(f"set {number} of seed {seed} cannot be diagnosed: {done.failure}")
    found = done.value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        reached = affine_r2(latent, IKD(M, **found.parameters).fit_transform(data.X))
    return [
        {
            "set": number,
            "latent": kind,
            "kernel": kernel,
            "M": M,
            "T": n_points,
            "N": n_observed,
            "noise": noise,
            "seed": seed,
            "expected": found.predicted_r2,
            "spread": found.spread_r2,
            "reached": reached,
            "warned": float(bool(found.warnings)),
            "warned_r2": float(found.predicted_r2 - found.spread_r2 < WEAK_R2),
            "noise_share": found.noise_share,
            "mean_degree": found.mean_degree,
            "share_above_two": found.share_above_two,
            "seconds": done.seconds,
            "failure": "",
        }
    ]
