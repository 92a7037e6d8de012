"""Simulated shapes, clusters, Gaussian processes, sensors and images with known truth."""

import numpy as np
from sklearn.datasets import make_s_curve

from ikd_graph import kernels
from ikd_graph.datasets import gp_mapping, ou_latent, swiss_roll

from ._record import Points

TURN = 2.0 * np.pi


def _add_noise(X, sd, *, seed):
    """Table with independent noise."""
    return X + np.random.default_rng(seed).normal(scale=sd, size=X.shape)


def _embed(rng, shape, n_features, noise):
    """Rotate a shape into n_features dimensions and add noise, a fraction of its spread."""
    axes = np.linalg.qr(rng.normal(size=(n_features, shape.shape[1])))[0]
    centered = shape - shape.mean(axis=0)
    spread = np.sqrt((centered**2).sum(axis=1).mean())
    clean = centered @ axes.T / spread
    return clean + noise * rng.normal(size=clean.shape) / np.sqrt(n_features)


def roll(seed):
    """A rolled-up sheet in three dimensions."""
    made = swiss_roll(1000, noise=0.3, seed=seed)
    return Points(made.X, made.latent, "position")


def s_sheet(seed):
    """A sheet bent to an S, in 20 dimensions with noise."""
    rng = np.random.default_rng(seed)
    X, along = make_s_curve(800, random_state=seed % 2**31)
    return Points(_embed(rng, X, 20, 0.15), np.column_stack([along, X[:, 1]]), "position")


def holed_sheet(seed):
    """A bent sheet with two holes, in 50 dimensions."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-1.0, 1.0, (1600, 2))
    for center, radius in (((-0.4, 0.2), 0.35), ((0.5, -0.4), 0.3)):
        flat = flat[((flat - center) ** 2).sum(axis=1) > radius**2]
    flat = flat[:700]
    bent = np.column_stack([np.sin(2.0 * flat[:, 0]), np.cos(2.0 * flat[:, 0]), flat[:, 1]])
    return Points(_embed(rng, bent, 50, 0.1), flat, "position")


def wavy_loop(seed):
    """A closed curve that wiggles, in 30 dimensions, visited unevenly."""
    rng = np.random.default_rng(seed)
    angle = TURN * rng.beta(0.7, 0.7, 400)
    waves = [wave(k * angle) / k for k in (1, 2, 3, 5) for wave in (np.cos, np.sin)]
    return Points(_embed(rng, np.column_stack(waves), 30, 0.2), angle, "circular")


def trefoil(seed):
    """A trefoil knot in ten dimensions."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.0, TURN, 600)
    X = np.column_stack([np.sin(t) + 2.0 * np.sin(2.0 * t), np.cos(t) - 2.0 * np.cos(2.0 * t)])
    return Points(_embed(rng, np.column_stack([X, -np.sin(3.0 * t)]), 10, 0.15), t, "circular")


def torus(seed):
    """A flat torus: two angles, in 16 dimensions."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0.0, TURN, (1200, 2))
    shape = np.hstack([np.cos(angles), np.sin(angles)]) * [1.0, 0.6, 1.0, 0.6]
    return Points(_embed(rng, shape, 16, 0.2), angles, "circular")


def sphere(seed):
    """A sphere in 15 dimensions."""
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=(900, 3))
    shape /= np.linalg.norm(shape, axis=1, keepdims=True)
    return Points(_embed(rng, shape, 15, 0.2), shape, "position")


def wide_curve(seed):
    """An open curve through 3000 dimensions, fewer points than dimensions."""
    rng = np.random.default_rng(seed)
    along = np.sort(rng.uniform(size=250))[:, None]
    clean = gp_mapping(along, 3000, kernels.SquaredExponential(length_scale=0.08), seed=rng)
    return Points(_add_noise(clean, 1.0, seed=rng), along, "position")


def blobs(seed):
    """Ten normal clusters that overlap, of uneven spread, in 50 dimensions."""
    rng = np.random.default_rng(seed)
    group = rng.integers(10, size=500)
    spread = rng.uniform(0.7, 1.5, 10)
    centers = 0.8 * rng.normal(size=(10, 50))
    return Points(
        centers[group] + spread[group, None] * rng.normal(size=(500, 50)), group, "classes"
    )


def heavy_tails(seed):
    """Six clusters of uneven size with Student tails (3 degrees of freedom), 100 dimensions."""
    rng = np.random.default_rng(seed)
    group = rng.choice(6, 450, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    centers = 0.8 * rng.normal(size=(6, 100))
    return Points(centers[group] + rng.standard_t(3.0, (450, 100)), group, "classes")


def hierarchy(seed):
    """Clusters of clusters of clusters, 27 leaves, 40 dimensions: which leaf."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((1, 40))
    for size in (2.0, 1.0, 0.5):
        centers = (centers[:, None] + size * rng.normal(size=(len(centers), 3, 40))).reshape(-1, 40)
    leaf = rng.integers(27, size=800)
    return Points(centers[leaf] + 0.6 * rng.normal(size=(800, 40)), leaf, "classes")


def linked_rings(seed):
    """Three rings, each through the next, in eight dimensions: which ring."""
    rng = np.random.default_rng(seed)
    ring, angle = rng.integers(3, size=450), rng.uniform(0.0, TURN, 450)
    flat = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(450)])
    tilted = np.where((ring == 1)[:, None], flat[:, [0, 2, 1]], flat)
    tilted[:, 0] += 1.2 * ring
    return Points(_embed(rng, tilted, 8, 0.15), ring, "classes")


def _process(seed, latent, n_features, kernel, noise):
    """Sample of the model: each column a Gaussian process over the latent."""
    rng = np.random.default_rng(seed)
    points = latent(rng)
    X = _add_noise(gp_mapping(points, n_features, kernel, seed=rng), noise, seed=rng)
    return Points(X, points, "latent")


def process_walk(seed):
    """Smooth Gaussian processes over a walk in the plane, 100 columns, some noise."""
    kernel = kernels.SquaredExponential(length_scale=1.0)
    return _process(
        seed,
        lambda rng: ou_latent(300, 2, variance=1.0, time_scale=20.0, seed=rng),
        100,
        kernel,
        0.2,
    )


def process_rough(seed):
    """Rough (Matern) Gaussian processes over a walk in space, 200 columns, much noise."""
    kernel = kernels.Matern(length_scale=1.0)
    return _process(
        seed,
        lambda rng: ou_latent(500, 3, variance=1.0, time_scale=20.0, seed=rng),
        200,
        kernel,
        0.5,
    )


def process_few_columns(seed):
    """Gaussian processes over a square, 20 columns."""
    kernel = kernels.RationalQuadratic(length_scale=0.8)
    return _process(seed, lambda rng: rng.uniform(-1.0, 1.0, (350, 2)), 20, kernel, 0.1)


def process_square(seed):
    """Rough Gaussian processes over a square, 1000 points, 300 columns."""
    kernel = kernels.Matern(length_scale=0.7)
    return _process(seed, lambda rng: rng.uniform(-1.0, 1.0, (1000, 2)), 300, kernel, 0.1)


def process_noisy(seed):
    """Gaussian processes over normal points in space, 500 columns, as much noise as signal."""
    kernel = kernels.RationalQuadratic(length_scale=1.5)
    return _process(seed, lambda rng: rng.normal(size=(250, 3)), 500, kernel, 1.0)


def process_exponential(seed):
    """Roughest (exponential) processes over two groups in the plane."""
    kernel = kernels.GammaExponential(length_scale=1.0)

    def two_groups(rng):
        return rng.normal(size=(280, 2)) * 0.6 + 1.5 * rng.integers(2, size=(280, 1))

    return _process(seed, two_groups, 200, kernel, 0.2)


def _slow(rng, n_samples, n_dims, time_scale):
    """Slow signals, smooth at their own scale."""
    path = ou_latent(n_samples, n_dims, variance=1.0, time_scale=time_scale, seed=rng)
    width = max(int(time_scale) // 4, 1)
    return np.column_stack([np.convolve(one, np.ones(width) / width, "same") for one in path.T])


def lagging_sensors(seed):
    """A plant with two slow inputs: 24 sensors of different units, lags and saturation."""
    rng = np.random.default_rng(seed)
    state = _slow(rng, 1260, 2, 60.0)
    lags, weights = rng.integers(0, 40, 24), rng.normal(size=(2, 24))
    rows = np.arange(60, 1260)[:, None] - lags
    seen = np.tanh((state[rows] * weights.T).sum(axis=2))
    X = (seen + 0.1 * rng.normal(size=seen.shape)) * 10.0 ** rng.uniform(-3, 3, 24)
    return Points(X + 10.0 ** rng.uniform(-1, 2, 24), state[60:], "position")


def sensor_drift(seed):
    """A place on a floor by 12 radio receivers in decibels, with slow drift of all of them."""
    rng = np.random.default_rng(seed)
    place = np.clip(0.5 + 0.3 * _slow(rng, 900, 2, 40.0), 0.0, 1.0)
    towers = rng.uniform(-0.2, 1.2, (12, 2))
    distance = np.sqrt(((place[:, None] - towers) ** 2).sum(axis=2)) + 0.05
    drift = 4.0 * _slow(rng, 900, 1, 200.0)
    X = -30.0 - 25.0 * np.log10(distance) + drift + 2.0 * rng.normal(size=distance.shape)
    return Points(np.round(X), place, "position")


def machine_states(seed):
    """Five states of a machine, seen by 18 sensors of different units and cross-talk."""
    rng = np.random.default_rng(seed)
    state = np.repeat(rng.integers(5, size=70), rng.integers(5, 20, 70))
    levels, mix = rng.normal(size=(5, 18)), np.eye(18) + 0.2 * rng.normal(size=(18, 18))
    seen = (levels[state] + 0.7 * rng.standard_t(5.0, (state.size, 18))) @ mix
    return Points(seen * 10.0 ** rng.uniform(-2, 2, 18), state, "classes")


def spectra(seed):
    """Spectra of mixtures of three substances, with scatter and a baseline of their own."""
    rng = np.random.default_rng(seed)
    fraction = rng.dirichlet([1.0, 1.0, 1.0], 300)
    wave = np.linspace(0.0, 1.0, 400)
    peaks = np.zeros((3, 400))
    for one in peaks:
        for center, width in zip(rng.uniform(size=5), rng.uniform(0.01, 0.06, 5), strict=True):
            one += rng.uniform(0.3, 1.0) * np.exp(-0.5 * ((wave - center) / width) ** 2)
    scatter, base = rng.lognormal(0.0, 0.2, (300, 1)), rng.normal(0.0, 0.2, (300, 2))
    X = scatter * (fraction @ peaks) + base[:, :1] + base[:, 1:] * wave
    return Points(X + 0.02 * rng.normal(size=X.shape), fraction[:, :2], "latent")


def _pixels(size):
    """Coordinates of pixels, each (size * size,), in [0, 1]."""
    axis = (np.arange(size) + 0.5) / size
    return np.tile(axis, size), np.repeat(axis, size)


def moving_spot(seed):
    """Images of a spot that moves, narrower than its way, with noise."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(0.15, 0.85, (700, 2))
    x, y = _pixels(20)
    sq_dist = (place[:, :1] - x) ** 2 + (place[:, 1:] - y) ** 2
    return Points(_add_noise(np.exp(-0.5 * sq_dist / 0.1**2), 0.15, seed=rng), place, "position")


def turning_shape(seed):
    """Images of a lopsided shape that turns about its middle."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, TURN, 360)
    x, y = _pixels(28)
    centers, weights = rng.uniform(-0.35, 0.35, (6, 2)), rng.uniform(0.4, 1.0, 6)
    turned = np.stack(
        [
            0.5 + centers[:, 0] * np.cos(angle)[:, None] - centers[:, 1] * np.sin(angle)[:, None],
            0.5 + centers[:, 0] * np.sin(angle)[:, None] + centers[:, 1] * np.cos(angle)[:, None],
        ]
    )
    sq_dist = (turned[0][..., None] - x) ** 2 + (turned[1][..., None] - y) ** 2
    X = (weights[:, None] * np.exp(-0.5 * sq_dist / 0.06**2)).sum(axis=1)
    return Points(_add_noise(X, 0.2, seed=rng), angle, "circular")


def arm(seed):
    """Images of an arm of two joints that turn freely."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0.0, TURN, (900, 2))
    x, y = _pixels(24)
    reach = np.linspace(0.0, 0.25, 8)
    elbow = 0.5 + 0.25 * np.column_stack([np.cos(angles[:, 0]), np.sin(angles[:, 0])])
    X = np.zeros((900, x.size))
    for start, turn, width in ((np.full((900, 2), 0.5), 0, 0.05), (elbow, 1, 0.03)):
        way = np.column_stack([np.cos(angles[:, turn]), np.sin(angles[:, turn])])
        for r in reach:
            at = start + r * way
            sq_dist = (at[:, :1] - x) ** 2 + (at[:, 1:] - y) ** 2
            X = np.maximum(X, np.exp(-0.5 * sq_dist / width**2))
    return Points(_add_noise(X, 0.05, seed=rng), angles, "circular")


def lit_surface(seed):
    """Images of one rough surface under a lamp that moves: two coordinates of the lamp."""
    rng = np.random.default_rng(seed)
    lamp = rng.uniform(-1.0, 1.0, (500, 2))
    x, y = _pixels(32)
    waves = rng.normal(size=(20, 2)) * 12.0
    phase = x[:, None] * waves[:, 0] + y[:, None] * waves[:, 1] + rng.uniform(0.0, TURN, 20)
    slope = (-np.sin(phase) @ waves) / 60.0
    normal = np.column_stack([-slope, np.ones(x.size)])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    light = np.column_stack([lamp, np.ones(500)])
    light /= np.linalg.norm(light, axis=1, keepdims=True)
    return Points(_add_noise(np.maximum(light @ normal.T, 0.0), 0.1, seed=rng), lamp, "latent")
