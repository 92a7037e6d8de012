"""Measure what `auto` chooses on simulated tables that it was not developed on.

    OMP_NUM_THREADS=1 python benchmarks/battery/fresh.py [--seed 0] [--only REGEX] [--out FILE]

Twenty-two simulated tables with known coordinates, unlike those of the battery, T = 150 to 400, N =
15 to 300, three levels of noise each. Score: mean affine R2 (the truth regressed on the embedding
of as many dimensions). Regret is what the best of the methods of this run has more; "behind" counts
cells more than 0.02 below the better of PCA and Isomap. No rule may be made from single tables.
"""

import argparse
import inspect
import re
import sys
import zlib

import numpy as np
from measures import (
    affine_r2,
    append,
    fitted,
    one_thread,
    peer,
    process_columns,
    rotated_into,
    settings_of,
)

LEVELS = (0.1, 0.4, 1.0)
"""Noise over signal, as standard deviations; depth of counts and answers falls with it."""
METHODS = ("default", "standardized+stress", "pca", "scaled_pca", "isomap", "umap")
TURN = 2.0 * np.pi


def _with_noise(rng, clean, level, alike=True):
    """Add noise: of one size in all columns, or of each column's own size."""
    spread = clean.std(axis=0)
    size = np.sqrt((spread**2).mean()) if alike else spread
    return clean + level * size * rng.normal(size=clean.shape)


def _walk(rng, n, m, step=0.06):
    """Smooth walk in the cube of side 1 between mirrors."""
    speed = step * rng.normal(size=(n, m))
    for t in range(1, n):
        speed[t] += 0.8 * speed[t - 1]
    path = 0.5 + 0.4 * np.cumsum(speed, axis=0)
    return 1.0 - np.abs(1.0 - path % 2.0)


def gas_sensors(rng, level):
    """Two concentrations, 16 sensors with power laws and units of their own."""
    amount = rng.uniform(0.05, 1.0, (300, 2))
    power, fraction = rng.uniform(0.3, 1.2, 16), rng.dirichlet([1.0, 1.0], 16)
    clean = (amount @ fraction.T) ** power * 10.0 ** rng.uniform(-2, 2, 16)
    return _with_noise(rng, clean, level, alike=False), amount


def chain_distances(rng, level):
    """Distances between ten beads of a chain that bends at two joints."""
    bend = rng.uniform(0.1, 2.3, (250, 2))
    heading = np.concatenate(
        [np.zeros((250, 3)), np.repeat(bend[:, :1], 3, 1), np.repeat(bend.sum(1)[:, None], 3, 1)], 1
    )
    place = np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=2), axis=1)
    place = np.concatenate([np.zeros((250, 1, 2)), place], axis=1)
    far = np.linalg.norm(place[:, :, None] - place[:, None], axis=3)
    return _with_noise(rng, far[(slice(None), *np.triu_indices(10, 1))], level), bend


def genotypes(rng, level):
    """Counts of an allele at 300 sites of animals on a map; clines are steep or shallow."""
    place = rng.uniform(size=(300, 2))
    slope = rng.normal(size=(2, 300)) * 4.0 / (0.5 + level)
    odds = (place - rng.uniform(size=(1, 2))) @ slope + rng.normal(size=300)
    return rng.binomial(2, 1.0 / (1.0 + np.exp(-odds))).astype(float), place


def ratings(rng, level):
    """Marks from 1 to 7 for 40 things, the nearer to a person's taste the higher."""
    taste, things = rng.normal(size=(350, 2)), rng.normal(size=(40, 2)) * 1.3
    far = np.linalg.norm(taste[:, None] - things, axis=2)
    return np.clip(np.rint(_with_noise(rng, 7.0 - 1.7 * far, level)), 1, 7), taste


def ellipses(rng, level):
    """Images, 12 x 12, of a bright ellipse whose width and height change."""
    axes = rng.uniform(0.12, 0.45, (250, 2))
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 12), np.linspace(-0.5, 0.5, 12))
    sq = (x.ravel() / axes[:, :1]) ** 2 + (y.ravel() / axes[:, 1:]) ** 2
    return _with_noise(rng, 1.0 / (1.0 + np.exp(6.0 * (sq - 1.0))), level), axes


def decays(rng, level):
    """Sums of two decays at 30 times: logarithms of their rates."""
    rates = np.sort(rng.uniform(-2.0, 2.0, (200, 2)), axis=1)
    times = np.linspace(0.0, 3.0, 30)
    return _with_noise(rng, np.exp(-times * np.exp(rates)[:, :, None]).sum(axis=1), level), rates


def evoked_waves(rng, level):
    """Waves of 100 samples: latency and loudness."""
    latency, loud = rng.uniform(0.2, 0.8, 250), rng.uniform(0.5, 1.5, 250)
    after = np.linspace(0.0, 1.0, 100) - latency[:, None]
    clean = loud[:, None] * np.cos(20.0 * after) * np.exp(-0.5 * (after / 0.1) ** 2)
    return _with_noise(rng, clean, level), np.column_stack([latency, loud])


def lorenz_channels(rng, level):
    """Twenty channels that saturate, of the state of Lorenz's weather."""
    state, path = rng.normal((1.0, 1.0, 25.0)), []
    for _ in range(4400):
        x, y, z = state
        change = np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 * z / 3.0])
        state = state + 0.005 * change
        path.append(state)
    truth = np.array(path)[400::10]
    unit = (truth - truth.mean(axis=0)) / truth.std(axis=0)
    return _with_noise(rng, np.tanh(unit @ rng.normal(size=(3, 20))), level), unit


def star_colors(rng, level):
    """Log brightness of stars in 50 bands: temperature and dust."""
    heat, dust = rng.uniform(0.5, 2.0, 300), rng.uniform(0.0, 1.0, 300)
    wave = np.linspace(0.3, 2.0, 50)
    clean = -np.log(np.expm1(2.0 / (wave * heat[:, None]))) - dust[:, None] / wave**1.5
    return _with_noise(rng, clean, level), np.column_stack([heat, dust])


def echo_delays(rng, level):
    """Delays of a click on a path through a room, at 15 microphones in pairs."""
    place = _walk(rng, 400, 2)
    far = np.linalg.norm(place[:, None] - rng.uniform(-0.3, 1.3, (16, 2)), axis=2)
    return _with_noise(rng, far[:, 1:] - far[:, :-1], level), place


def formants(rng, level):
    """Log loudness of 60 bands of a voice with two resonances."""
    peak = np.column_stack([rng.uniform(0.15, 0.45, 300), rng.uniform(0.5, 0.9, 300)])
    bands = np.linspace(0.0, 1.0, 60)
    width = 0.03 + 0.04 * peak[:, :, None]
    clean = -np.log1p(((bands - peak[:, :, None]) / width) ** 2).sum(axis=1)
    return _with_noise(rng, clean, level), peak


def helicoid(rng, level):
    """A winding staircase of one and a half turns in 15 columns."""
    out, turn = rng.uniform(0.2, 1.0, 400), rng.uniform(0.0, 1.5 * TURN, 400)
    shape = np.column_stack([out * np.cos(turn), out * np.sin(turn), 0.4 * turn])
    return rotated_into(rng, shape, 15, level), np.column_stack([out, turn])


def twisted_ribbon(rng, level):
    """A ribbon along a curve of five harmonics, in 40 columns: along and across."""
    along, across = rng.uniform(size=350), rng.uniform(-0.5, 0.5, 350)
    wave = np.column_stack([np.cos(np.pi * k * along) / k for k in range(1, 6)])
    side = np.column_stack([np.cos(2.0 * along), np.sin(2.0 * along)]) * across[:, None]
    return rotated_into(rng, np.hstack([wave, side]), 40, level), np.column_stack([along, across])


def dose_response(rng, level):
    """Growth in 24 wells under two drugs: logarithms of the doses."""
    dose, middle = rng.uniform(-2.0, 2.0, (220, 2)), rng.uniform(-1.5, 1.5, (24, 2))
    steep = rng.uniform(1.0, 4.0, (24, 2))
    alive = 1.0 / (1.0 + np.exp(steep * (dose[:, None] - middle)))
    return _with_noise(rng, alive.prod(axis=2), level), dose


def votes(rng, level):
    """Yes or no of 200 members to 150 questions, by the nearer of two answers on a map."""
    place = rng.normal(size=(200, 2))
    yes, no = rng.normal(size=(2, 150, 2))
    gain = ((place[:, None] - no) ** 2).sum(axis=2) - ((place[:, None] - yes) ** 2).sum(axis=2)
    odds = gain / (0.3 + level)
    return (rng.random(odds.shape) < 1.0 / (1.0 + np.exp(-odds))).astype(float), place


def calcium(rng, level):
    """Fluorescence of 120 cells with fields in a square: events that fade."""
    place, middle = _walk(rng, 400, 2), rng.uniform(size=(120, 2))
    drive = np.exp(-0.5 * ((place[:, None] - middle) ** 2).sum(axis=2) / 0.2**2)
    light = rng.poisson(2.0 * drive).astype(float)
    for t in range(1, 400):
        light[t] += 0.7 * light[t - 1]
    return _with_noise(rng, light, level), place


def dated_words(rng, level):
    """Counts of 250 words that come and go with a document's date and style."""
    cause = rng.uniform(-1.0, 1.0, (300, 2))
    curve = cause @ rng.normal(size=(2, 250)) - (cause[:, :1] - rng.uniform(-1, 1, 250)) ** 2
    fraction = np.exp(curve + rng.normal(size=250))
    length = rng.lognormal(np.log(300.0 / (0.2 + level)), 0.4, 300).astype(int)
    words = [rng.multinomial(n, p / p.sum()) for n, p in zip(length, fraction, strict=True)]
    return np.array(words, dtype=float), cause


def robot_joints(rng, level):
    """Where five points of an arm with three joints are in space, 15 columns."""
    angle = rng.uniform(-1.0, 1.0, (300, 3))
    turn, lift, bend = angle.T
    reach = np.linspace(0.2, 1.0, 5)
    out = np.cos(lift)[:, None] * reach + np.cos(lift + bend)[:, None] * reach
    up = np.sin(lift)[:, None] * reach + np.sin(lift + bend)[:, None] * reach
    clean = np.hstack([out * np.cos(turn)[:, None], out * np.sin(turn)[:, None], up])
    return _with_noise(rng, clean, level), angle


def touch_pads(rng, level):
    """Pressure on 25 pads: where, and how hard."""
    touch = rng.uniform(0.1, 0.9, (350, 3))
    pads = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 2), axis=2).reshape(25, 2)
    sq = ((touch[:, None, :2] - pads) ** 2).sum(axis=2)
    return _with_noise(rng, 2.0 * touch[:, 2:] * np.exp(-0.5 * sq / 0.25**2), level), touch


def metabolites(rng, level):
    """Amounts of 80 substances over four decades, log-normal, of two causes."""
    cause = rng.normal(size=(180, 2))
    logs = 0.5 * cause @ rng.normal(size=(2, 80)) + 0.7 * level * rng.normal(size=(180, 80))
    return np.exp(logs) * 10.0 ** rng.uniform(-2, 2, 80), cause


def mixed_processes(rng, level):
    """Gaussian processes over a disc: 90 columns of three kernels and many length-scales."""
    angle, out = rng.uniform(0.0, TURN, 200), np.sqrt(rng.uniform(size=200))
    disc = np.column_stack([out * np.cos(angle), out * np.sin(angle)])
    kernels = ("squared_exponential", "matern", "rational_quadratic")
    parts = [
        process_columns(rng, disc, 6, kernels[i % 3], scale, level)
        for i, scale in enumerate(rng.uniform(0.4, 1.5, 15))
    ]
    return np.hstack(parts), disc


def solar_panels(rng, level):
    """Power of 15 panels that face many ways, and where the sun is."""
    azimuth, height = rng.uniform(-1.5, 1.5, 150), rng.uniform(0.1, 1.4, 150)
    sun = np.column_stack(
        [np.cos(height) * np.cos(azimuth), np.cos(height) * np.sin(azimuth), np.sin(height)]
    )
    facing = rng.normal(size=(15, 3)) * [1.0, 1.0, 0.5] + [0.3, 0.0, 0.4]
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    clean = np.maximum(sun @ facing.T, 0.0)
    return _with_noise(rng, clean, level), np.column_stack([azimuth, height])


TABLES = {
    name: make
    for name, make in inspect.getmembers(sys.modules[__name__], inspect.isfunction)
    if list(inspect.signature(make).parameters) == ["rng", "level"]
}
"""Every table: a function of a generator and a level of noise that returns X and the truth."""


def embed(method, X, M):
    """Embedding, settings chosen and processor seconds (of `IKD` only)."""
    if method not in ("default", "standardized+stress"):
        return peer(method, X, M), {}, 0.0
    named = {"affinity": "standardized_euclidean", "refine": "stress"}
    model, seconds = fitted(X, M, **({} if method == "default" else named))
    return model.embedding_, settings_of(model), seconds


def main():
    """Print one line a cell, then a line a method."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--out", help="jsonl file to append every fit to")
    given = parser.parse_args()
    one_thread()
    scores, took = [], []
    print("table, T x N, M, noise:", ", ".join(METHODS))
    for name in filter(lambda name: re.search(given.only, name), TABLES):
        for level in LEVELS:
            rng = np.random.default_rng([66, given.seed, zlib.crc32(name.encode())])
            X, truth = TABLES[name](rng, level)
            row = []
            for method in METHODS:
                Z, settings, seconds = embed(method, X, truth.shape[1])
                row.append(affine_r2(truth, Z))
                line = {"table": name, "noise": level, "seed": given.seed, "method": method}
                append(given.out, line | {"r2": row[-1], "seconds": seconds, "settings": settings})
                if method == "default":
                    chosen = f"{settings['affinity']} {settings['strategy']} {settings['refine']}"
                    took.append(seconds)
            scores.append(row)
            print(f"{name:16s} {X.shape[0]:3d} x {X.shape[1]:3d} {truth.shape[1]} {level:.1f}: "
                  f"{' '.join(f'{score:.3f}' for score in row)}  ({chosen}, {took[-1]:.1f} s)",
                  flush=True)  # fmt: skip
    scores = np.array(scores)
    regret = scores.max(axis=1, keepdims=True) - scores
    plain = scores[:, [METHODS.index("pca"), METHODS.index("isomap")]].max(axis=1)
    print(f"\n{len(scores)} cells, default {np.sum(took):.0f} s")
    print("method               mean  regret: mean worst  behind")
    for i, method in enumerate(METHODS):
        print(f"{method:20s} {scores[:, i].mean():.3f}         {regret[:, i].mean():.3f} "
              f"{regret[:, i].max():.3f}  {np.sum(plain - scores[:, i] > 0.02):3d}")  # fmt: skip


if __name__ == "__main__":
    main()
