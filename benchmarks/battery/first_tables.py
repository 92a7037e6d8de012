"""Tables as people bring them, to choose and to confirm the default of `IKD(2).fit(X)` on.

None is a sample of the model. A table is a function of a random generator that returns rows, what
is known about them, and the kind of that knowledge: codes of classes, a position or latent
coordinates; angles are given as cosine and sine. Simulated and real tables of every group are drawn
into two halves, "choose" and "confirm". Real tables come inside installed packages (see
requirements.txt) or lie in $IKD_GRAPH_DATA; what this machine does not have raises Absent.
"""

import zlib
from functools import partial
from typing import NamedTuple

import numpy as np
from real_tables import REAL, SPLIT_SEED, Absent

__all__ = ["GROUP_OF", "HALVES", "REAL", "SIMULATED", "TABLES", "Absent", "Points", "half", "make"]

TURN = 2.0 * np.pi
HALVES = ("choose", "confirm")
MAX_ROWS = 700
"""A fit of the default then takes seconds, so that all tables are measured in minutes."""


class Points(NamedTuple):
    """Points of a table and what is known about them."""

    X: np.ndarray  # (n, n_features) float64
    truth: np.ndarray  # (n, m) coordinates of variance 1, or (n,) codes of classes
    kind: str  # "latent", "position" or "classes"


# What several tables are made of


def _seeded(rng):
    """A generator of its own for a simulator."""
    return np.random.default_rng(int(rng.integers(2**31)))


def _logistic(x):
    """Logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def circle(angle):
    """Cosine and sine, (n, 2)."""
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _autoregressive(rng, n_series, n_times, past):
    """Series (n_series, n_times) of variance 1 that forget with a factor a step."""
    out = rng.normal(size=(n_series, n_times))
    for t in range(1, n_times):
        out[:, t] = past * out[:, t - 1] + np.sqrt(1.0 - past**2) * out[:, t]
    return out


def _bounded_walk(rng, n_times, n_dims, step):
    """Smooth walk between mirrors at 0 and 1, (n_times, n_dims)."""
    speed = _autoregressive(rng, n_dims, n_times, 0.85).T
    path = rng.uniform(size=n_dims) + np.cumsum(step * speed, axis=0)
    return 1.0 - np.abs(1.0 - path % 2.0)


def _ordinal(rng, utility, n_levels, ease=0.0):
    """Answers 1 .. n_levels; every column has cut points of its own."""
    cuts = np.sort(rng.normal(-ease, 1.0, (utility.shape[1], n_levels - 1)), axis=1)
    cuts *= utility.std()
    return 1.0 + (utility[:, :, None] > cuts).sum(axis=2)


def _nonempty(counts):
    """Counts as float64, with one in the first column of rows that have none."""
    counts = counts.astype(np.float64)
    counts[counts.sum(axis=1) == 0, 0] = 1.0
    return counts


def _rotated_into(rng, shape, n_features, noise):
    """A shape (n, m) of unit spread, rotated into more columns, with a fraction of noise."""
    axes = np.linalg.qr(rng.normal(size=(n_features, shape.shape[1])))[0]
    centered = shape - shape.mean(axis=0)
    clean = centered @ axes.T / np.sqrt((centered**2).sum(axis=1).mean())
    return clean + noise * rng.normal(size=clean.shape) / np.sqrt(n_features)


# Spectra


def raman(rng):
    """Lines of two dissolved substances over a glow that every sample has of its own."""
    shift = np.linspace(0.0, 1.0, 220)
    lines = np.zeros((3, 220))
    for k, count in enumerate((5, 4, 8)):
        place, width = rng.random(count)[:, None], rng.uniform(0.006, 0.02, count)[:, None]
        lines[k] = rng.uniform(0.3, 1.0, count) @ (1.0 / (1.0 + ((shift - place) / width) ** 2))
    amounts = rng.uniform(size=(300, 2))
    glow = rng.gamma(3.0, 0.4, (300, 1)) * np.exp(-shift * rng.uniform(0.5, 2.5, (300, 1)))
    clean = rng.lognormal(0.0, 0.15, (300, 1)) * (amounts @ lines[:2] + lines[2] + glow)
    return clean + 0.04 * np.sqrt(clean) * rng.normal(size=clean.shape), amounts, "latent"


def infrared(rng):
    """Broad overlapping bands of two substances in powders that scatter, and a third one."""
    wave = np.linspace(-1.0, 1.0, 150)
    place, width = rng.uniform(-1, 1, (3, 4, 1)), rng.uniform(0.15, 0.4, (3, 4, 1))
    bands = (rng.uniform(0.2, 1.0, (3, 4, 1)) * np.exp(-0.5 * ((wave - place) / width) ** 2)).sum(1)
    amounts = np.column_stack([rng.beta(1.2, 1.2, (350, 2)), rng.uniform(0.4, 0.6, 350)])
    curve = np.stack([np.ones(150), wave, wave**2])
    baseline = (rng.normal(size=(350, 3)) * [0.6, 0.25, 0.1]) @ curve
    X = rng.lognormal(0.0, 0.3, (350, 1)) * (amounts @ bands) + baseline
    return X + 0.01 * rng.normal(size=X.shape), amounts[:, :2], "latent"


# Electrodes: a row is a sensor


def electrodes(rng, n=180, gain=0.2, offset=0.5, hum=0.0, noise=0.3):
    """Electrodes of an array over moving sources: where on the array each one is."""
    place = np.sqrt(rng.random((n, 1))) * circle(TURN * rng.random(n))
    sources = rng.uniform(-1.1, 1.1, (30, 2))
    far = ((place[:, None] - sources) ** 2).sum(axis=2)
    potential = (1.0 / (far + 0.15)) @ _autoregressive(rng, 30, 350, 0.9)
    potential /= potential.std()
    potential += hum * np.sin(0.9 * np.arange(350)) + noise * rng.normal(size=potential.shape)
    gains, offsets = rng.lognormal(0.0, gain, (n, 1)), offset * rng.normal(size=(n, 1))
    return gains * potential + offsets, place, "position"


# Markets: a row is a stock


def market(rng, n=260, n_sectors=8, n_days=500, tie=0.8):
    """Daily returns of stocks of sectors whose volatility comes in waves: which sector."""
    waves = np.exp(0.4 * _autoregressive(rng, 1, n_days, 0.95))
    sector = rng.choice(n_sectors, n, p=rng.dirichlet(np.full(n_sectors, 6.0)))
    whole = rng.standard_t(4, n_days) * waves
    own_sector = rng.standard_t(4, (n_sectors, n_days)) * waves
    returns = rng.uniform(0.5, 1.6, (n, 1)) * whole
    returns += tie * rng.uniform(0.6, 1.4, (n, 1)) * own_sector[sector]
    returns += 1.2 * rng.standard_t(4, (n, n_days))
    return 0.01 * rng.lognormal(0.0, 0.5, (n, 1)) * returns, sector, "classes"


# Cells: counts of varying depth, or their logarithms


def transcripts(rng, activity, n_genes, depth, spread=0.6, bursts=0.4):
    """Counts of genes, each of which follows one module of activity or none."""
    module = rng.integers(-activity.shape[1], activity.shape[1], n_genes)
    slope = rng.gamma(4.0, 0.5, n_genes) * (module >= 0)
    mean = np.exp(rng.normal(0.0, 1.3, n_genes) + slope * (activity[:, module] - 0.5))
    mean *= depth * rng.lognormal(0.0, spread, (len(activity), 1)) / mean.sum(axis=1, keepdims=True)
    return _nonempty(rng.poisson(rng.gamma(1.0 / bursts, bursts * mean)))


def log_counts(counts):
    """Logarithms of one and a count per median depth, as single-cell pipelines do."""
    depth = counts.sum(axis=1, keepdims=True)
    return np.log1p(counts / depth * np.median(depth))


def cell_types(rng, n=500, n_types=9, n_genes=300, depth=1200.0, logs=False):
    """Cells of types, common and rare ones, that share some of their modules."""
    kind = rng.choice(n_types, n, p=rng.dirichlet(np.full(n_types, 2.0)))
    pattern = rng.random((n_types, 14)) < 0.4
    activity = np.clip(pattern[kind] + 0.2 * rng.normal(size=(n, 14)), 0.0, 1.2)
    counts = transcripts(rng, activity, n_genes, depth)
    return log_counts(counts) if logs else counts, kind, "classes"


def cell_tree(rng, n=550, n_genes=350, depth=1500.0, logs=False):
    """Cells on a stem that forks, and forks again: which of the seven branches."""
    leaf, time = rng.integers(4, size=n), 3.0 * rng.random(n)
    ways = {0: np.zeros(n, int), 1: 1 + leaf // 2, 2: 3 + leaf}
    activity = np.zeros((n, 7))
    for level, way in ways.items():
        activity[np.arange(n), way] = _logistic(5.0 * (time - level - 0.5))
    level = time.astype(int)
    branch = np.choose(level, [ways[0], ways[1], ways[2]])
    counts = transcripts(rng, activity, n_genes, depth)
    return log_counts(counts) if logs else counts, branch, "classes"


def cell_zones(rng, n=450, n_genes=250, depth=900.0, logs=False):
    """Cells of a tissue whose modules are active in zones: where in the tissue."""
    place = rng.random((n, 2)) * [1.5, 1.0]
    centers = rng.random((12, 2)) * [1.5, 1.0]
    activity = np.exp(-0.5 * ((place[:, None] - centers) ** 2).sum(axis=2) / 0.3**2)
    counts = transcripts(rng, activity, n_genes, depth)
    return log_counts(counts) if logs else counts, place, "position"


def cell_fates(rng, n=400, n_genes=400, depth=700.0):
    """Log counts of cells that take one of two ways: place on a drawn Y."""
    time, side = rng.random(n), rng.choice([-1.0, 1.0], n)
    late = np.maximum(time - 0.4, 0.0)
    activity = np.column_stack([_logistic(8 * (time - c)) for c in (0.2, 0.5, 0.8)])
    activity = np.column_stack([activity, *(2.0 * late * (side == s) for s in (-1.0, 1.0))])
    counts = transcripts(rng, activity, n_genes, depth)
    return log_counts(counts), np.column_stack([time, side * late]), "position"


# Ratings and questionnaires


def films(rng):
    """Four hundred people rate sixty films from 1 to 5: two tastes."""
    taste, appeal = rng.normal(size=(400, 2)), rng.normal(size=(2, 60))
    utility = taste @ appeal + rng.normal(size=60) + 1.2 * rng.normal(size=(400, 60))
    return _ordinal(rng, utility, 5), taste, "latent"


def hotels(rng):
    """Marks of 1 to 5, most of them 4 or 5, for 24 aspects: the stay and its price, curved."""
    stay = rng.uniform(-1.0, 1.0, (350, 2))
    ideal = rng.uniform(-1.3, 1.3, (24, 2))
    utility = -((stay[:, None] - ideal) ** 2).sum(axis=2) + 0.6 * rng.normal(size=(350, 24))
    return _ordinal(rng, utility, 5, ease=1.5), stay, "latent"


def agreeing(rng, n=350, traits=2, n_items=30, agreement=0.7, levels=5, stretch=0.0):
    """A questionnaire of keyed and reversed items by people who agree more or less with all."""
    score = rng.normal(size=(n, traits))
    loads = np.zeros((traits, n_items))
    loads[np.arange(n_items) % traits, np.arange(n_items)] = rng.uniform(0.7, 1.4, n_items)
    loads *= rng.choice([-1.0, 1.0], n_items)
    utility = score @ loads + 0.9 * rng.normal(size=(n, n_items))
    utility = utility * rng.lognormal(0.0, stretch, (n, 1)) + agreement * rng.normal(size=(n, 1))
    return _ordinal(rng, utility, levels), score, "latent"


# Images


def _pixels(size):
    """Coordinates of pixels in [-1, 1], each (size * size,)."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, size), np.linspace(-1.0, 1.0, size))
    return x.ravel(), y.ravel()


def moving_bar(rng):
    """Images, 16 x 16, of a slanted bar that moves about, with uneven light and noise."""
    place = rng.uniform(-0.7, 0.7, (450, 2))
    x, y = _pixels(16)
    across = 0.8 * (x - place[:, :1]) + 0.6 * (y - place[:, 1:])
    along = 0.8 * (y - place[:, 1:]) - 0.6 * (x - place[:, :1])
    images = np.exp(-0.5 * ((across / 0.15) ** 2 + (along / 0.45) ** 2)) * (1.0 + 0.4 * x)
    images *= rng.lognormal(0.0, 0.2, (450, 1))
    return images + 0.2 * rng.normal(size=images.shape), place, "position"


def lit_bowl(rng):
    """Images, 20 x 20, of a bowl with knobs under a lamp that moves, with cast darkness."""
    angle, height = TURN * rng.random(400), rng.uniform(0.2, 1.3, 400)
    lamp = np.column_stack([np.cos(height)[:, None] * circle(angle), np.sin(height)])
    x, y = _pixels(20)
    slope = np.column_stack([-1.2 * x, -1.2 * y])
    for cx, cy in rng.uniform(-0.8, 0.8, (6, 2)):
        knob = np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 0.04)
        slope += knob[:, None] * np.column_stack([x - cx, y - cy]) * 12.0
    normal = np.column_stack([slope, np.ones(x.size)])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    images = np.maximum(lamp @ normal.T, 0.0) ** 1.5
    return images + 0.1 * rng.normal(size=images.shape), lamp[:, :2], "position"


def turning_wire(rng):
    """Images, 20 x 20, of a bent wire that turns and nods: cosine and sine of the turn."""
    joints = np.cumsum(rng.normal(0.0, 0.35, (6, 3)), axis=0)
    joints -= joints.mean(axis=0)
    steps = np.linspace(0.0, 1.0, 8)[:, None, None]
    wire = ((1.0 - steps) * joints[:-1] + steps * joints[1:]).reshape(-1, 3)
    wire *= 0.8 / np.abs(wire).max()
    turn, nod = TURN * rng.random((420, 1)), rng.uniform(-0.3, 0.3, (420, 1))
    right = np.cos(turn) * wire[:, 0] + np.sin(turn) * wire[:, 2]
    depth = np.cos(turn) * wire[:, 2] - np.sin(turn) * wire[:, 0]
    up = np.cos(nod) * wire[:, 1] - np.sin(nod) * depth
    x, y = _pixels(20)
    far = (right[:, :, None] - x) ** 2 + (up[:, :, None] - y) ** 2
    images = np.exp(-far.min(axis=1) / 0.02)
    return images + 0.15 * rng.normal(size=images.shape), circle(turn[:, 0]), "position"


def gliding_view(rng):
    """Windows, 14 x 14, of a rough landscape seen from a camera that glides and zooms."""
    view = np.column_stack([rng.uniform(-1.0, 1.0, 380), rng.uniform(-0.4, 0.4, 380)])
    waves, phase = rng.normal(size=(40, 2)) * 2.2, TURN * rng.random(40)
    x, y = _pixels(14)
    zoom = np.exp(view[:, 1:])
    at_x, at_y = view[:, :1] + zoom * x, zoom * y
    images = np.zeros((380, x.size))
    for (wx, wy), p in zip(waves, phase, strict=True):
        images += np.cos(wx * at_x + wy * at_y + p) / np.sqrt(20.0)
    return images + 0.3 * rng.normal(size=images.shape), view, "position"


# Mixed units


def engine(rng):
    """Twenty-two gauges of an engine, units over seven decades: load and temperature."""
    state = _bounded_walk(rng, 500, 2, 0.05) - 0.5
    drive = state @ rng.normal(size=(2, 22)) * 2.0
    bent = np.where(rng.random(22) < 0.5, np.tanh(drive), np.expm1(0.6 * drive))
    seen = bent + rng.uniform(0.05, 0.4, 22) * rng.normal(size=bent.shape)
    return (seen + rng.normal(0.0, 2.0, 22)) * 10.0 ** rng.uniform(-3.5, 3.5, 22), state, "latent"


def well_water(rng):
    """Fourteen dissolved things in wells, skewed, units over decades: two sources."""
    sources = rng.normal(size=(280, 2))
    logs = 0.6 * sources @ rng.normal(size=(2, 14)) + 0.4 * rng.normal(size=(280, 14))
    return np.exp(logs) * 10.0 ** rng.uniform(-4.0, 3.0, 14), sources, "latent"


# Few columns


def reach(rng):
    """Tip of an arm of two joints on a turning base, three columns."""
    joint = np.column_stack([rng.uniform(-1.2, 1.2, 400), rng.uniform(0.2, 1.6, 400)])
    out = np.cos(joint[:, 1]) + 0.7 * np.cos(2.0 * joint[:, 1])
    tip = np.column_stack([out * np.cos(joint[:, 0]), out * np.sin(joint[:, 0])])
    X = np.column_stack([tip, np.sin(joint[:, 1]) + 0.7 * np.sin(2.0 * joint[:, 1])])
    return X + 0.03 * rng.normal(size=X.shape), joint, "position"


def column_still(rng):
    """Ten variables of a still under control: feed and purity, each in its own unit."""
    state = _bounded_walk(rng, 450, 2, 0.03)
    drive = (state - 0.5) @ rng.normal(size=(2, 10)) * 2.5
    lagged = np.stack([np.roll(drive[:, k], lag) for k, lag in enumerate(rng.integers(0, 5, 10))])
    seen = _logistic(lagged.T + rng.normal(size=10)) + 0.04 * rng.normal(size=(450, 10))
    return seen * 10.0 ** rng.uniform(-1, 3, 10), state, "latent"


def blossoms(rng):
    """Six lengths of flowers of five species: the large ones of all species are alike."""
    species = rng.integers(5, size=300)
    shape = 0.16 * rng.normal(size=(5, 6))
    size = rng.normal(0.0, 0.25, (300, 1)) * rng.uniform(0.7, 1.3, 6)
    logs = shape[species] + size + 0.06 * rng.normal(size=(300, 6))
    return np.exp(logs) * rng.uniform(2.0, 60.0, 6), species, "classes"


def bent_card(rng):
    """A card bent along its length in five columns, two of which are only noise."""
    flat = rng.random((300, 2)) * [3.0, 1.2]
    bent = [np.sin(flat[:, 0]), np.cos(flat[:, 0]), flat[:, 1]]
    X = np.column_stack([*bent, 0.1 * rng.normal(size=(300, 2))])
    return X + 0.04 * rng.normal(size=X.shape), flat, "position"


# Time series


def rhythm(rng):
    """Thirty-six channels of a rhythm that swells and drifts, with lags and a second rhythm."""
    phase = np.cumsum(0.12 + 0.03 * rng.normal(size=600))
    loud = 1.0 + 0.4 * _autoregressive(rng, 1, 600, 0.98)[0]
    lag = rng.uniform(0.0, 1.5, 36)
    main = loud[:, None] * np.cos(phase[:, None] - lag)
    second = np.cos(0.31 * np.arange(600))[:, None] * rng.normal(0.0, 0.6, 36)
    X = np.tanh(main * rng.choice([-1.0, 1.0], 36)) + second + 0.5 * rng.normal(size=(600, 36))
    return X, loud[:, None] * circle(phase), "latent"


def lagged_sources(rng):
    """Two forgetful sources that reach thirty channels one to eight steps late, in noise."""
    sources = _autoregressive(rng, 2, 520, 0.96)
    lags, loads = rng.integers(1, 9, (2, 30)), rng.normal(size=(2, 30))
    at = np.arange(10, 520)[:, None]
    X = sum(loads[k] * sources[k][at - lags[k]] for k in range(2))
    return X + 0.8 * rng.normal(size=X.shape), sources[:, 10:].T, "latent"


def households(rng):
    """Half-hours of days of households, each at its own level: which of five habits."""
    hour, habit = np.linspace(0.0, 24.0, 48), rng.integers(5, size=350)
    peaks = rng.uniform(5.0, 23.0, (5, 2))
    X = np.full((350, 48), 0.3)
    for k in range(2):
        at = peaks[habit, k, None] + rng.normal(0.0, 1.0, (350, 1))
        X += rng.gamma(3.0, 0.3, (350, 1)) * np.exp(-0.5 * ((hour - at) / 1.3) ** 2)
    X *= rng.lognormal(0.0, 0.6, (350, 1)) * rng.lognormal(0.0, 0.4, X.shape)
    return X, habit, "classes"


def gauges(rng):
    """Daily readings of gauges in a land, each of its own height: where they stand."""
    place = rng.random((200, 2)) * [1.6, 1.0]
    waves, courses = rng.normal(size=(25, 2)) * 2.0, _autoregressive(rng, 25, 365, 0.7)
    shapes = np.cos(place @ waves.T + TURN * rng.random(25))
    season = 3.0 * np.cos(TURN * np.arange(365) / 365)
    X = shapes @ courses / 3.0 + rng.lognormal(0.0, 0.2, (200, 1)) * season
    return X + 4.0 * rng.normal(size=(200, 1)) + 0.8 * rng.normal(size=X.shape), place, "position"


# Linear mixtures


def mixed_uniform(rng):
    """Two uniform sources in forty columns with noise."""
    sources = rng.uniform(-1.7, 1.7, (350, 2))
    X = sources @ rng.normal(size=(2, 40))
    return X + rng.normal(size=X.shape), sources, "latent"


def mixed_skewed(rng):
    """Two skewed sources in twenty-five columns of unequal noise."""
    sources = rng.gamma(2.0, 0.7, (400, 2))
    X = sources @ rng.normal(size=(2, 25))
    return X + rng.lognormal(-0.3, 0.7, 25) * rng.normal(size=X.shape), sources, "latent"


# Curved sheets in many columns


def rolled(rng):
    """A roll of one turn and a half, 100 columns."""
    turn, height = np.sqrt(rng.uniform(4.0, 13.0**2, 500)), rng.uniform(0.0, 14.0, 500)
    X = np.column_stack([turn[:, None] * circle(turn), height])
    return _rotated_into(rng, X, 100, 0.08), np.column_stack([turn**2, height]), "position"


def double_bend(rng):
    """A sheet bent to an S of two half circles, 60 columns, much noise."""
    along, across = rng.uniform(-np.pi, np.pi, 450), rng.uniform(0.0, 3.0, 450)
    ends = np.column_stack([np.sin(along), np.sign(along) * (1.0 - np.cos(along))])
    X = np.column_stack([ends, across])
    return _rotated_into(rng, X, 60, 0.35), np.column_stack([along, across]), "position"


def saddle(rng):
    """A saddle, 80 columns, much noise."""
    flat = rng.uniform(-1.0, 1.0, (400, 2))
    X = np.column_stack([flat, flat[:, 0] ** 2 - flat[:, 1] ** 2])
    return _rotated_into(rng, X, 80, 0.5), flat, "position"


def cap(rng):
    """A cap of a sphere, flattened from its pole, 50 columns."""
    angle, down = TURN * rng.random(400), np.arccos(rng.uniform(0.2, 1.0, 400))
    X = np.column_stack([np.sin(down)[:, None] * circle(angle), np.cos(down)])
    return _rotated_into(rng, X, 50, 0.2), down[:, None] * circle(angle), "position"


def dented(rng):
    """A sheet with waves and a hole, 30 columns."""
    flat = rng.uniform(-1.0, 1.0, (700, 2))
    flat = flat[(flat**2).sum(axis=1) > 0.2][:450]
    X = np.column_stack([flat, 0.3 * np.sin(5.0 * flat[:, 0]), 0.3 * np.cos(4.0 * flat.sum(1))])
    return _rotated_into(rng, X, 30, 0.15), flat, "position"


def linked_tori(rng):
    """Two thick rings, each through the other, 40 columns: which ring."""
    ring, around, small = rng.integers(2, size=420), *(TURN * rng.random((2, 420)))
    out = 1.0 + 0.25 * np.cos(small)
    flat = np.column_stack([out[:, None] * circle(around), 0.25 * np.sin(small)])
    X = np.where((ring == 1)[:, None], flat[:, [0, 2, 1]] + [1.0, 0.0, 0.0], flat)
    return _rotated_into(rng, X, 40, 0.3), ring, "classes"


# Cells of place, grid and heading


def _room_walk(rng, n):
    """Smooth walk (n, 2) in the unit square that turns back at its walls."""
    speed = np.zeros(2)
    place, path = rng.uniform(size=2), []
    for _ in range(n):
        speed = 0.85 * speed + 0.05 * rng.normal(size=2) * 0.5
        place = place + speed
        speed[(place < 0.0) | (place > 1.0)] *= -1.0
        # A wall is a mirror.
        place = 1.0 - np.abs(1.0 - np.abs(place))
        path.append(place)
    return np.array(path)


def box(rng, n=600, cells=60, peak=5.0):
    """Place cells of an animal in a box, one field each, of uneven widths and peaks."""
    rng = _seeded(rng)
    place = _room_walk(rng, n)
    centers = rng.uniform(-0.05, 1.05, (cells, 2))
    widths = 0.15 * rng.lognormal(0.0, 0.25, cells)
    peaks = peak * rng.lognormal(0.0, 0.4, cells)
    far = ((place[:, None] - centers) ** 2).sum(axis=2)
    counts = rng.poisson(peaks * np.exp(-0.5 * far / widths**2) + 0.05)
    return _nonempty(counts), place, "position"


def maze(rng, n=600, cells=50, peak=4.0):
    """Place cells of an animal in a maze of three arms; a field lies on one arm."""
    where = np.cumsum(0.04 * np.abs(rng.normal(1.0, 0.5, n)))
    visit, along = (where // 2.0).astype(int), 1.0 - np.abs(where % 2.0 - 1.0)
    arm = rng.integers(3, size=visit.max() + 1)[visit]
    home, center = rng.integers(3, size=cells), rng.random(cells)
    tuned = np.exp(-0.5 * ((along[:, None] - center) / 0.15) ** 2) * (arm[:, None] == home)
    counts = rng.poisson(peak * rng.lognormal(0.0, 0.4, cells) * tuned + 0.1)
    return _nonempty(counts), along[:, None] * circle(TURN * arm / 3.0), "position"


def oval(rng, n=550, cells=40, peak=3.0):
    """Place cells on an oval track, some with two fields, while attention wanders."""
    where = np.cumsum(0.06 * np.abs(rng.normal(1.0, 0.4, n)))
    center = TURN * rng.random((2, cells))
    tuned = [np.exp(4.0 * (np.cos(where[:, None] - c) - 1.0)) for c in center]
    alert = np.exp(0.4 * _autoregressive(rng, 1, n, 0.9)).T
    rate = peak * alert * (tuned[0] + (rng.random(cells) < 0.3) * tuned[1]) + 0.1
    return _nonempty(rng.poisson(rate)), circle(where) * [1.8, 1.0], "position"


def grids(rng):
    """Three modules of grid cells of different pitch in a box."""
    rng = _seeded(rng)
    place = _room_walk(rng, 700)
    angles, drives = np.arange(3) * np.pi / 3.0, []
    for pitch in (0.9, 1.3, 1.9):
        waves = TURN * pitch * circle(angles)
        shifts = rng.uniform(size=(30, 2))
        drives.append(np.cos((place[:, None] - shifts) @ waves.T).sum(axis=2))
    return _nonempty(rng.poisson(0.6 * np.exp(np.hstack(drives)))), place, "position"


def heading(rng, n=450, cells=35, peak=5.0):
    """Head-direction cells."""
    rng = _seeded(rng)
    angle = np.cumsum(0.25 * rng.normal(size=n)) % TURN
    prefer, sharp = rng.uniform(0.0, TURN, cells), rng.uniform(1.0, 6.0, cells)
    rates = peak * np.exp(sharp * (np.cos(angle[:, None] - prefer) - 1.0)) + 0.1
    return _nonempty(rng.poisson(rates)), circle(angle), "position"


# Ecology


def hillside(rng):
    """Counts of 70 plants on plots along height and moisture, some plots searched longer."""
    place = rng.random((260, 2)) * [2.5, 1.0]
    best, wide = rng.uniform(-0.4, 1.4, (70, 2)) * [2.0, 1.0], rng.uniform(0.2, 0.6, (70, 2))
    mean = np.exp(-0.5 * (((place[:, None] - best) / wide) ** 2).sum(axis=2))
    mean *= rng.lognormal(1.2, 1.0, 70) * rng.lognormal(0.0, 0.5, (260, 1))
    return _nonempty(rng.poisson(rng.gamma(2.0, mean / 2.0))), place, "latent"


def transect(rng):
    """Which of 90 species live on plots of a long gradient crossed by a short one."""
    place = rng.random((220, 2)) * [4.0, 0.8]
    best = rng.random((90, 2)) * [5.0, 1.6] - [0.5, 0.4]
    odds = 1.5 - 3.0 * ((place[:, None] - best) ** 2).sum(axis=2) + rng.normal(size=90)
    return _nonempty(rng.random(odds.shape) < _logistic(odds)), place, "latent"


# Clusters of different spread


def swarms(rng):
    """Eight clusters, tight and wide, 35 columns."""
    group, spread = rng.integers(8, size=450), rng.lognormal(0.0, 0.5, 8)
    center = 0.9 * rng.normal(size=(8, 35))
    return center[group] + spread[group, None] * rng.normal(size=(450, 35)), group, "classes"


def streaks(rng):
    """Six long clusters with tails, each along its own way, 14 columns."""
    group = rng.choice(6, 400, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    ways, center = rng.normal(size=(6, 2, 14)), 1.3 * rng.normal(size=(6, 14))
    along = rng.normal(size=(400, 2)) * rng.uniform(0.3, 1.2, (6, 2))[group]
    X = center[group] + np.einsum("nk,nkj->nj", along, ways[group])
    return X + 0.5 * rng.standard_t(4, X.shape), group, "classes"


# Dynamical systems


def attractor(rng):
    """Delays of one coordinate of a chaotic band: the two coordinates of the band."""
    state, path = np.array([1.0, 1.0, 0.0]) + 0.1 * rng.normal(size=3), []
    for step in range(24000):
        x, y, z = state
        state = state + 0.01 * np.array([-y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)])
        if step >= 3000 and step % 5 == 0:
            path.append(state[:2])
    path = np.array(path)
    at = np.sort(rng.choice(np.arange(120, len(path)), 500, replace=False))[:, None]
    X = path[at - 3 * np.arange(40), 0]
    return X + 1.5 * rng.normal(size=X.shape), path[at[:, 0]], "position"


def prey(rng):
    """Sixty yearly counts of prey in lands that differ in two rates of hunter and prey."""
    rates = np.column_stack([rng.uniform(0.7, 1.3, 260), rng.uniform(0.5, 1.1, 260)])
    hare, lynx, seen = np.full(260, 1.5), np.full(260, 0.8), []
    for step in range(1800):
        born, hunted = rates[:, 0] * hare, hare * lynx
        hare = hare + 0.01 * (born - hunted)
        lynx = lynx + 0.01 * (0.7 * hunted - rates[:, 1] * lynx)
        if step % 30 == 0:
            seen.append(np.log(hare))
    X = np.transpose(seen)
    return X + 0.3 * rng.normal(size=X.shape), rates, "latent"


def swings(rng):
    """Fifty readings of a pendulum that swings out: how far and how fast it was let go."""
    begin = np.column_stack([rng.uniform(-2.8, 2.8, 350), rng.uniform(-1.0, 1.0, 350)])
    angle, speed, seen = *begin.T, []
    for step in range(1000):
        speed = speed + 0.01 * (-np.sin(angle) - 0.15 * speed)
        angle = angle + 0.01 * speed
        if step % 20 == 0:
            seen.append(angle)
    X = np.transpose(seen)
    return X + 0.3 * rng.normal(size=X.shape), begin, "latent"


# Texts


def news(rng):
    """Words of short texts of seven subjects, long ones and short ones: which subject."""
    subject = rng.integers(7, size=400)
    words = rng.dirichlet(0.08 * rng.lognormal(0.0, 1.0, 400), 7)
    common = rng.dirichlet(np.full(400, 0.2))
    mean = 0.55 * common + 0.45 * words[subject]
    long = rng.lognormal(4.2, 0.7, 400).astype(int) + 10
    return _nonempty(rng.multinomial(long, mean)), subject, "classes"


def abstracts(rng):
    """Words of abstracts that mix three fields: two of the fields' parts."""
    parts = rng.dirichlet([0.8, 0.8, 0.8], 350)
    words = rng.dirichlet(0.1 * rng.lognormal(0.0, 1.0, 300), 3)
    long = rng.integers(60, 400, 350)
    return _nonempty(rng.multinomial(long, parts @ words)), parts[:, :2], "latent"


SIMULATED = {
    "spectra": {"raman": raman, "infrared": infrared},
    "electrodes": {
        "electrodes_even": electrodes,
        "electrodes_loose": partial(electrodes, gain=0.6, offset=3.0, hum=1.5, noise=0.7),
    },
    "market": {
        "market": market,
        "market_loose": partial(market, n=320, n_sectors=11, n_days=300, tie=0.55),
    },
    "cell counts": {
        "types_raw": cell_types,
        "types_raw_shallow": partial(cell_types, n_types=12, n_genes=250, depth=350.0),
        "tree_raw": cell_tree,
        "zones_raw": cell_zones,
    },
    "log counts": {
        "types_log": partial(cell_types, n=420, n_types=14, depth=600.0, logs=True),
        "tree_log": partial(cell_tree, n=450, depth=700.0, logs=True),
        "zones_log": partial(cell_zones, depth=500.0, logs=True),
        "fates_log": cell_fates,
    },
    "ratings": {"films": films, "hotels": hotels},
    "questionnaires": {
        "agreeing": agreeing,
        "agreeing_much": partial(
            agreeing, n=420, traits=3, n_items=45, agreement=1.3, levels=7, stretch=0.3
        ),
    },
    "images": {
        "moving_bar": moving_bar,
        "lit_bowl": lit_bowl,
        "turning_wire": turning_wire,
        "gliding_view": gliding_view,
    },
    "mixed units": {"engine": engine, "well_water": well_water},
    "few columns": {
        "reach": reach,
        "column_still": column_still,
        "blossoms": blossoms,
        "bent_card": bent_card,
    },
    "time series": {
        "rhythm": rhythm,
        "lagged_sources": lagged_sources,
        "households": households,
        "gauges": gauges,
    },
    "linear mixtures": {"mixed_uniform": mixed_uniform, "mixed_skewed": mixed_skewed},
    "sheets": {
        "rolled": rolled,
        "double_bend": double_bend,
        "saddle": saddle,
        "cap": cap,
        "dented": dented,
        "linked_tori": linked_tori,
    },
    "cells of a box": {"box": box, "box_weak": partial(box, cells=30, peak=1.5), "grids": grids},
    "cells of a way": {
        "maze": maze,
        "maze_weak": partial(maze, n=500, cells=36, peak=1.2),
        "oval": oval,
    },
    "cells of heading": {
        "heading": heading,
        "heading_weak": partial(heading, n=600, cells=24, peak=1.0),
    },
    "ecology": {"hillside": hillside, "transect": transect},
    "clusters": {"swarms": swarms, "streaks": streaks},
    "dynamics": {"attractor": attractor, "prey": prey, "swings": swings},
    "texts": {"news": news, "abstracts": abstracts},
}
"""Simulated tables by group: a function of a random generator, or one with other parameters."""

TABLES = {
    name: make for group in (*SIMULATED.values(), *REAL.values()) for name, make in group.items()
}
GROUP_OF = {
    name: group
    for tables in (SIMULATED, REAL)
    for group, members in tables.items()
    for name in members
}


def make(name, seed=0):
    """Points of a table, in an order by chance; coordinates of the truth have variance 1.

    Raises Absent where this machine does not have the data.
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    X, truth, kind = TABLES[name](rng=rng)
    X, truth = np.asarray(X, dtype=np.float64), np.asarray(truth)
    order = rng.permutation(len(X))[:MAX_ROWS]
    X, truth = X[order], truth[order]
    if kind == "classes":
        return Points(X, np.unique(truth, return_inverse=True)[1], kind)
    truth = truth.reshape(len(X), -1).astype(np.float64)
    return Points(X, (truth - truth.mean(axis=0)) / truth.std(axis=0), kind)


def half(name):
    """Names of the tables of a half; each group is dealt out by a shuffle of its own."""
    chosen = []
    for group, members in {**SIMULATED, **REAL}.items():
        rng = np.random.default_rng([SPLIT_SEED, zlib.crc32(group.encode())])
        # Which half is dealt first, and so has the odd table, is drawn as well.
        first = rng.integers(2)
        chosen += rng.permutation(sorted(members)).tolist()[(HALVES.index(name) + first) % 2 :: 2]
    return [table for table in TABLES if table in chosen]
