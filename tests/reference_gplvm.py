"""Slow twins of the likelihood: one observed dimension at a time, plain matrix inverses."""

import numpy as np


def naive_covariance(latent, covariance_of, variance, noise):
    n = len(latent)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = variance * covariance_of(((latent[i] - latent[j]) ** 2).sum())
            if i == j:
                out[i, j] += noise
    return out


def naive_log_likelihood(rows, model_cov):
    total = 0.0
    for column in rows.T:
        quadratic = column @ np.linalg.inv(model_cov) @ column
        total -= 0.5 * (quadratic + np.linalg.slogdet(2.0 * np.pi * model_cov)[1])
    return total


def central_difference(function, at, step=1e-5):
    """Derivative of a function of an array, entry by entry."""
    out = np.zeros_like(at, dtype=float)
    for index in np.ndindex(at.shape):
        move = np.zeros_like(out)
        move[index] = step
        out[index] = (function(at + move) - function(at - move)) / (2.0 * step)
    return out


def naive_posterior(fresh, latent, rows, covariance_of, variance, noise):
    model = naive_covariance(latent, covariance_of, variance, noise)
    across = np.array(
        [[variance * covariance_of(((a - b) ** 2).sum()) for b in latent] for a in fresh]
    )
    gain = across @ np.linalg.inv(model)
    return gain @ rows, np.sqrt(variance - (gain * across).sum(axis=1))
