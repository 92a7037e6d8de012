"""Slow twins of the likelihood: plain matrix inverses, slopes by differences."""

import numpy as np


def naive_covariance(latent, covariance_of, variance, noise):
    cov = covariance_of(((latent[:, None] - latent) ** 2).sum(axis=2))
    return variance * cov + noise * np.eye(len(latent))


def central_difference(function, at, step=1e-5):
    """Derivative of a function of an array, entry by entry."""
    out = np.zeros_like(at, dtype=float)
    for index in np.ndindex(at.shape):
        move = np.zeros_like(out)
        move[index] = step
        out[index] = (function(at + move) - function(at - move)) / (2.0 * step)
    return out


def naive_information(latent, covariance_of, variance, noise, step=1e-5):
    """Half the trace of A^-1 dA A^-1 dA' for every pair of parameters, slopes by differences."""

    def model(points, log_variance, log_noise):
        return naive_covariance(points, covariance_of, np.exp(log_variance), np.exp(log_noise))

    tail = np.log([variance, noise])
    slopes = []
    for index in np.ndindex(latent.shape):
        move = np.zeros_like(latent)
        move[index] = step
        slopes.append((model(latent + move, *tail) - model(latent - move, *tail)) / (2.0 * step))
    for move in step * np.eye(2):
        slopes.append((model(latent, *tail + move) - model(latent, *tail - move)) / (2.0 * step))
    inverse = np.linalg.inv(model(latent, *tail))
    return np.array([[0.5 * np.trace(inverse @ a @ inverse @ b) for b in slopes] for a in slopes])


def naive_posterior(fresh, latent, rows, covariance_of, variance, noise):
    model = naive_covariance(latent, covariance_of, variance, noise)
    across = variance * covariance_of(((fresh[:, None] - latent) ** 2).sum(axis=2))
    gain = across @ np.linalg.inv(model)
    return gain @ rows, np.sqrt(variance - (gain * across).sum(axis=1))
