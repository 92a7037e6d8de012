"""Simulated tables without bends or with few: mixtures of a few causes, surveys, few columns.

The first ten are kinds of tables that the linear strategy and the scaling of columns were developed
on. The others were written afterwards and run once with these rules; the rule about the length of
rows was made when that had been seen.
"""

import numpy as np

from ._record import Points

TURN = 2.0 * np.pi


def _mixed(rng, causes, n_columns, noise):
    """Causes (n, m) in random shares in every column, with noise."""
    clean = causes @ rng.normal(size=(causes.shape[1], n_columns))
    return clean + noise * rng.normal(size=clean.shape)


def _slow(rng, n_samples, n_dims, memory):
    """A process that forgets slowly, each coordinate with a variance of about 1."""
    steps = rng.normal(size=(n_samples, n_dims)) * np.sqrt(1.0 - memory**2)
    for t in range(1, n_samples):
        steps[t] += memory * steps[t - 1]
    return steps


def few_mixtures(seed):
    """Two causes in eight columns."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(500, 2))
    return Points(_mixed(rng, causes, 8, 0.3), causes, "latent")


def survey(seed):
    """Answers from one to five to thirty questions about three traits."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(500, 3))
    answers = np.digitize(_mixed(rng, traits, 30, 1.0), [-2.0, -0.7, 0.7, 2.0]) + 1.0
    return Points(answers, traits, "latent")


def yes_or_no(seed):
    """Sixty answers of yes or no that depend on two traits."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(500, 2))
    odds = 1.5 * traits @ rng.normal(size=(2, 60)) + rng.normal(size=60)
    return Points((rng.random(odds.shape) < 1.0 / (1.0 + np.exp(-odds))) * 1.0, traits, "latent")


def unequal_noise(seed):
    """Three causes in thirty columns, some of which are nearly all noise."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(500, 3))
    loud = rng.lognormal(0.0, 1.0, 30) * rng.normal(size=(500, 30))
    return Points(_mixed(rng, causes, 30, 0.0) + loud, causes, "latent")


def dynamics(seed):
    """A five-dimensional rotation with noise, seen by a hundred columns."""
    rng = np.random.default_rng(seed)
    turn = 0.97 * np.linalg.qr(rng.normal(size=(5, 5)))[0]
    state = np.zeros((500, 5))
    for t in range(1, 500):
        state[t] = turn @ state[t - 1] + 0.3 * rng.normal(size=5)
    return Points(_mixed(rng, state, 100, 1.0), state, "latent")


def topics(seed):
    """Words in documents of five topics, a document some of each."""
    rng = np.random.default_rng(seed)
    fractions = rng.dirichlet(np.full(5, 0.3), 500)
    words = fractions @ rng.dirichlet(np.full(600, 0.05), 5)
    counts = [rng.multinomial(rng.integers(60, 300), row / row.sum()) for row in words]
    return Points(np.array(counts, dtype=float), fractions[:, :4], "latent")


def seasons(seed):
    """A trend and a season in fifteen columns."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 4.0, 500)
    causes = np.column_stack([t, np.cos(TURN * t), np.sin(TURN * t)])
    return Points(_mixed(rng, causes, 15, 0.3), causes, "latent")


def moebius_strip(seed):
    """A strip with one twist in three columns, next to five columns of little noise."""
    rng = np.random.default_rng(seed)
    angle, across = TURN * rng.random(500), rng.random(500) - 0.5
    out = 1.0 + across * np.cos(0.5 * angle)
    strip = [out * np.cos(angle), out * np.sin(angle), across * np.sin(0.5 * angle)]
    X = np.column_stack([*strip, 0.05 * rng.normal(size=(500, 5))])
    return Points(X, angle, "circular")


def thick_ring(seed):
    """A bent ring in three columns with noise."""
    rng = np.random.default_rng(seed)
    angle = TURN * rng.random(500)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * np.sin(2.0 * angle)])
    return Points(ring + 0.08 * rng.normal(size=ring.shape), angle, "circular")


def tilted_plane(seed):
    """A flat sheet in three columns with noise."""
    rng = np.random.default_rng(seed)
    flat = rng.random((400, 2)) * [3.0, 1.0]
    return Points(_mixed(rng, flat, 3, 0.05), flat, "latent")


def exam_scores(seed):
    """Twenty-four test scores of three abilities that go together, with a ceiling."""
    rng = np.random.default_rng(seed)
    abilities = rng.normal(size=(450, 3)) + 0.7 * rng.normal(size=(450, 1))
    weights = np.kron(np.eye(3), rng.uniform(0.6, 1.2, (1, 8)))
    scores = 10.0 + 3.0 * abilities @ weights + 2.0 * rng.normal(size=(450, 24))
    return Points(np.clip(np.rint(scores), 0.0, 15.0), abilities, "latent")


def returns(seed):
    """Daily returns of sixty shares: three factors and heavy tails."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_t(4, size=(700, 3)) * [1.5, 0.7, 0.5]
    weights = rng.normal(size=(3, 60))
    weights[0] += 1.0
    own = rng.standard_t(4, size=(700, 60)) * rng.uniform(0.4, 1.5, 60)
    return Points(0.01 * (factors @ weights + own), factors, "latent")


def absorption(seed):
    """Absorption of mixtures of three substances at 120 wavelengths, the path not quite known."""
    rng = np.random.default_rng(seed)
    waves, substances = np.linspace(0.0, 1.0, 120), []
    for _ in range(3):
        centers, widths = rng.random(4), rng.uniform(0.02, 0.1, 4)
        peaks = np.exp(-0.5 * ((waves[:, None] - centers) / widths) ** 2)
        substances.append(peaks @ rng.random(4))
    amounts = rng.dirichlet([2.0, 2.0, 2.0], 400)
    path = rng.lognormal(0.0, 0.1, (400, 1))
    X = path * (amounts @ np.array(substances)) + 0.01 * rng.normal(size=(400, 120))
    return Points(X, amounts[:, :2], "latent")


def loudspeakers(seed):
    """Two sources of uniform loudness at sixteen microphones of different quality."""
    rng = np.random.default_rng(seed)
    sources = rng.random((600, 2))
    X = _mixed(rng, sources, 16, 0.0) * rng.lognormal(0.0, 0.7, 16)
    return Points(X + rng.uniform(0.05, 0.3, 16) * rng.normal(size=X.shape), sources, "latent")


def body_measures(seed):
    """Size and build from seven measures in millimeters, meters, grams and kilograms."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(300, 2)) * [1.0, 0.4]
    powers = np.column_stack([rng.uniform(0.5, 3.0, 7), rng.normal(size=7)])
    logs = 0.15 * causes @ powers.T + 0.05 * rng.normal(size=(300, 7))
    units = [300.0, 0.02, 1.7, 450.0, 60.0, 0.9, 12.0]
    return Points(np.exp(logs) * units, causes, "latent")


def spikes_of_state(seed):
    """Spike counts of seventy neurons that follow a slow state of three dimensions."""
    rng = np.random.default_rng(seed)
    state = _slow(rng, 600, 3, 0.95)
    drive = 0.6 * state @ rng.normal(size=(3, 70)) + rng.normal(size=70)
    return Points(rng.poisson(np.log1p(np.exp(drive))).astype(float), state, "latent")


def weather_stations(seed):
    """Eighteen instruments of three kinds that see a season, the hour and passing fronts."""
    rng = np.random.default_rng(seed)
    hours = np.sort(rng.uniform(0.0, 24.0 * 365.0, 800))
    front = _slow(rng, 800, 1, 0.9)[:, 0]
    season, hour = TURN * hours / 8760.0, TURN * hours / 24.0
    causes = np.column_stack([np.cos(season), np.cos(hour), front])
    units = np.repeat([8.0, 5.0, 0.2], 6)
    return Points(_mixed(rng, causes, 18, 0.3) * units, causes, "latent")


def overtones(seed):
    """Loudness of forty bands of a sound whose pitch and brightness change."""
    rng = np.random.default_rng(seed)
    pitch, bright = rng.random(500), rng.random(500)
    bands, X = np.linspace(0.0, 3.0, 40), np.zeros((500, 40))
    for k in range(1, 6):
        place = np.log2(k * (1.0 + pitch))[:, None]
        X += np.exp(-0.5 * ((bands - place) / 0.12) ** 2) * np.exp(-k * (1.0 - bright))[:, None]
    X += 0.05 * rng.normal(size=X.shape)
    return Points(X, np.column_stack([pitch, bright]), "position")


def idle_columns(seed):
    """A bent sheet in twelve columns, next to thirty that say nothing."""
    rng = np.random.default_rng(seed)
    sheet = rng.random((600, 2)) * 3.0
    waves = np.cos(sheet @ rng.normal(size=(2, 12)) + TURN * rng.random(12))
    X = np.column_stack([waves, rng.lognormal(-1.5, 0.5, 30) * rng.normal(size=(600, 30))])
    return Points(X + 0.1 * rng.normal(size=X.shape), sheet, "position")
