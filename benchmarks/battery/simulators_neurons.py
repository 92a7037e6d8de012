"""Simulated recordings and single cells: counts over a hidden place, heading, tree or cycle."""

import numpy as np

from ikd_graph.datasets import gp_mapping, ou_latent

from ._record import Points

TURN = 2.0 * np.pi


def _walk(rng, n_samples, n_dims, step=0.05):
    """Smooth walk (n_samples, n_dims) in the unit cube that turns back at its walls."""
    speed = np.zeros(n_dims)
    place, path = rng.uniform(size=n_dims), []
    for _ in range(n_samples):
        speed = 0.85 * speed + step * rng.normal(size=n_dims) * 0.5
        place = place + speed
        out = (place < 0.0) | (place > 1.0)
        speed[out] *= -1.0
        # A wall is a mirror.
        place = 1.0 - np.abs(1.0 - np.abs(place))
        path.append(place)
    return np.array(path)


def _counts(rng, rates):
    """Poisson counts as float64."""
    return rng.poisson(rates).astype(np.float64)


def _fields(rng, place, n_cells, width, peak):
    """Rates (T, n_cells) of place cells, one field each, of uneven widths and peaks."""
    centers = rng.uniform(-0.05, 1.05, (n_cells, place.shape[1]))
    widths = width * rng.lognormal(0.0, 0.25, n_cells)
    peaks = peak * rng.lognormal(0.0, 0.4, n_cells)
    sq_dist = ((place[:, None] - centers) ** 2).sum(axis=2)
    return peaks * np.exp(-0.5 * sq_dist / widths**2) + 0.05


def place_room(seed, n_samples=800, n_cells=80, peak=6.0):
    """Place cells of an animal in a square room."""
    rng = np.random.default_rng(seed)
    place = _walk(rng, n_samples, 2)
    return Points(_counts(rng, _fields(rng, place, n_cells, 0.15, peak)), place, "position")


def place_few(seed):
    """As above: 25 cells that seldom fire."""
    return place_room(seed, n_samples=1000, n_cells=25, peak=2.0)


def place_volume(seed):
    """Place cells of a flying animal in a cube."""
    rng = np.random.default_rng(seed)
    place = _walk(rng, 900, 3)
    return Points(_counts(rng, _fields(rng, place, 150, 0.25, 5.0)), place, "position")


def place_track(seed):
    """Place cells on a straight track, run up and down; half of them like one direction only."""
    rng = np.random.default_rng(seed)
    phase = np.cumsum(rng.uniform(0.2, 1.8, 600)) / 40.0
    place = np.abs((phase % 2.0) - 1.0)[:, None]
    rates = _fields(rng, place, 50, 0.08, 5.0)
    onward, choosy = phase % 2.0 < 1.0, rng.choice([-1, 0, 1], 50, p=[0.25, 0.5, 0.25])
    rates[(choosy == 1) & ~onward[:, None]] = 0.05
    rates[(choosy == -1) & onward[:, None]] = 0.05
    return Points(_counts(rng, rates), place, "position")


def grid_cells(seed):
    """One module of grid cells: position is seen modulo a lattice, a torus."""
    rng = np.random.default_rng(seed)
    place = _walk(rng, 1000, 2, step=0.08)
    angles = np.arange(3) * np.pi / 3.0
    waves = TURN * 2.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    shifts = rng.uniform(size=(100, 2))
    drive = np.cos((place[:, None] - shifts) @ waves.T).sum(axis=2)
    lattice = (place @ waves[:2].T) % TURN
    return Points(_counts(rng, 0.5 * np.exp(drive)), lattice, "circular")


def grid_modules(seed):
    """Three modules of grid cells of different pitch: together they tell the position."""
    rng = np.random.default_rng(seed)
    place = _walk(rng, 700, 2)
    angles = np.arange(3) * np.pi / 3.0
    drives = []
    for pitch in (0.9, 1.3, 1.9):
        waves = TURN * pitch * np.column_stack([np.cos(angles), np.sin(angles)])
        shifts = rng.uniform(size=(30, 2))
        drives.append(np.cos((place[:, None] - shifts) @ waves.T).sum(axis=2))
    return Points(_counts(rng, 0.6 * np.exp(np.hstack(drives))), place, "position")


def head_direction(seed, n_samples=500, n_cells=40, peak=6.0):
    """Head-direction cells."""
    rng = np.random.default_rng(seed)
    angle = np.cumsum(0.25 * rng.normal(size=n_samples)) % TURN
    prefer = rng.uniform(0.0, TURN, n_cells)
    sharp = rng.uniform(1.0, 6.0, n_cells)
    rates = peak * np.exp(sharp * (np.cos(angle[:, None] - prefer) - 1.0)) + 0.1
    return Points(_counts(rng, rates), angle, "circular")


def head_direction_gain(seed):
    """As above: few spikes, and a gain of all cells that drifts."""
    rng = np.random.default_rng(seed)
    rates = head_direction(seed, 1200, 30, 2.0)
    gain = rng.lognormal(0.0, 0.6, (1200, 1))
    return Points(_counts(rng, rates.X * gain), rates.truth, "circular")


def sparse_counts(seed):
    """Log rates are Gaussian processes over a slow path in the plane; a third of a spike a bin."""
    rng = np.random.default_rng(seed)
    path = ou_latent(300, 2, variance=1.0, time_scale=15.0, seed=rng)
    log_rates = gp_mapping(path, 150, variance=1.0, seed=rng)
    return Points(_counts(rng, 0.3 * np.exp(log_rates - 0.5)), path, "latent")


def reaches(seed):
    """Counts in trials of reaches to eight targets, cosine tuning and shared gain."""
    rng = np.random.default_rng(seed)
    target = rng.integers(8, size=400)
    angle = target * TURN / 8.0
    prefer, depth = rng.uniform(0.0, TURN, 60), rng.uniform(0.0, 1.0, 60)
    rates = 3.0 * np.exp(depth * np.cos(angle[:, None] - prefer))
    return Points(_counts(rng, rates * rng.gamma(10.0, 0.1, (400, 1))), target, "classes")


def _expression(rng, program, n_genes, depth, dropout):
    """Log counts of genes that follow a cell's program, with uneven depth and dropout."""
    weights = rng.normal(size=(program.shape[1], n_genes)) * (
        rng.uniform(size=(program.shape[1], n_genes)) < 0.3
    )
    mean = np.exp(program @ weights + rng.normal(-1.0, 1.0, n_genes))
    size = rng.lognormal(0.0, 0.35, (program.shape[0], 1))
    rates = depth * size * mean / mean.mean()
    counts = rng.negative_binomial(2.0, 2.0 / (2.0 + rates)).astype(np.float64)
    counts[rng.uniform(size=counts.shape) < dropout * np.exp(-0.3 * rates)] = 0.0
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.log1p(counts / total * np.median(total))


def _tree(rng, n_samples):
    """Branch of cells on a tree of five, and how far each is along every branch (n, 5)."""
    parents, along = (None, 0, 0, 2, 2), rng.uniform(size=n_samples)
    branch = rng.integers(5, size=n_samples)
    program = np.zeros((n_samples, 5))
    for code in range(5):
        mine, reach, at = branch == code, along[branch == code], code
        while at is not None:
            program[mine, at] = reach
            reach, at = 1.0, parents[at]
    return branch, program


def tree_branches(seed):
    """Single cells on a branching tree, many zeros: which branch."""
    rng = np.random.default_rng(seed)
    branch, program = _tree(rng, 600)
    return Points(_expression(rng, 2.5 * program, 500, 1.0, 0.5), branch, "classes")


def tree_times(seed):
    """Single cells on a branching tree, 2000 genes: how far each is along every branch."""
    rng = np.random.default_rng(seed)
    _, program = _tree(rng, 400)
    X = _expression(rng, 2.5 * program, 2000, 0.7, 0.6)
    return Points(X, program, "position")


def cell_cycle(seed):
    """Single cells in a cycle, next to a program that has nothing to do with it."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, TURN, 500)
    program = np.column_stack([1.5 * np.cos(angle), 1.5 * np.sin(angle), rng.normal(size=500)])
    return Points(_expression(rng, program, 300, 2.0, 0.3), angle, "circular")


def cell_types(seed):
    """Twelve types of cells, the rarest of 15, in three lineages."""
    rng = np.random.default_rng(seed)
    sizes = np.array([200, 150, 120, 100, 80, 60, 50, 40, 30, 25, 20, 15])
    kind = np.repeat(np.arange(12), sizes)
    lineage, own = 1.2 * rng.normal(size=(3, 12)), 0.8 * rng.normal(size=(12, 12))
    program = (lineage[np.arange(12) % 3] + own)[kind] + 0.15 * rng.normal(size=(890, 12))
    return Points(_expression(rng, 0.6 * program, 1000, 0.8, 0.4), kind, "classes")
