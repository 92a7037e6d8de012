"""Tables that tests of the estimator share, and fits without their warnings."""

import warnings

import numpy as np


def sq_distances(points, others=None):
    """Squared distances of every pair, (n, m)."""
    others = points if others is None else others
    return ((points[:, None] - others[None]) ** 2).sum(-1)


def process(latent, n_columns, noise=0.0, seed=0):
    """Samples of a Gaussian process with the squared exponential kernel at latent points."""
    rng = np.random.default_rng(seed)
    cov = np.exp(-0.5 * sq_distances(latent)) + 1e-9 * np.eye(len(latent))
    X = np.linalg.cholesky(cov) @ rng.normal(size=(len(latent), n_columns))
    return X + noise * rng.normal(size=X.shape)


def curve(seed=0, n=90, n_columns=60, noise=0.05):
    """Noisy samples over a curve in the plane, and the curve."""
    t = np.linspace(0.0, 4.0, n)
    latent = np.column_stack([t, np.sin(2.0 * t)])
    return process(latent, n_columns, noise, seed), latent


def sheet(seed=0, n=100, n_columns=60, noise=0.1, size=(4.0, 2.5)):
    """Noisy samples over a rectangle, and its points."""
    latent = np.random.default_rng(seed).uniform(size=(n, 2)) * size
    return process(latent, n_columns, noise, seed + 1), latent


def roll(n, seed=0, noise=0.0):
    """A roll of three columns, and the sheet that it is of."""
    from sklearn.datasets import make_swiss_roll

    height = make_swiss_roll(n, random_state=seed)[0][:, 1]
    X, angle = make_swiss_roll(n, noise=noise, random_state=seed)
    root = np.sqrt(1.0 + angle**2)
    return X, np.column_stack([0.5 * (angle * root + np.arcsinh(angle)), height])


def two_groups(n=50):
    """Samples over two curves that have nothing to do with one another."""
    return np.vstack([curve(1, n)[0], curve(2, n)[0]])


def quiet(model, X):
    """A fit without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


def warned(model, X):
    """Texts of the warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    return [str(one.message) for one in caught]


def r2_of_placed(embedding, latent, placed, truth):
    """R2 of placed rows in the affine frame of the training rows."""
    design = np.column_stack([embedding, np.ones(len(embedding))])
    frame = np.linalg.lstsq(design, latent, rcond=None)[0]
    estimate = np.column_stack([placed, np.ones(len(placed))]) @ frame
    return 1.0 - np.sum((truth - estimate) ** 2) / np.sum((truth - latent.mean(axis=0)) ** 2)
