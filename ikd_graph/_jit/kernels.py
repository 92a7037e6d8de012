"""The formula of every kernel, once: f(d) of the scaled squared distance d, and its slope f'(d).

Both take a number, which is how the compiled loops call them, or an array: the classes of
`ikd_graph.kernels` call the Python function behind each. ``shape`` is alpha, gamma or nu.
"""

import numpy as np

from .._base.jit import helper
from .._base.types import MATERN, RATIONAL_QUADRATIC, SQUARED_EXPONENTIAL


@helper
def value(family, d, shape):
    """f(d) of any kernel but Matern."""
    if family == SQUARED_EXPONENTIAL:
        return np.exp(-0.5 * d)
    if family == RATIONAL_QUADRATIC:
        if shape == 1.0:
            return 1.0 / (1.0 + 0.5 * d)
        return np.exp(-shape * np.log1p(d / (2.0 * shape)))
    return np.exp(-(np.sqrt(d) if shape == 1.0 else d ** (0.5 * shape)))


@helper
def slope(family, d, shape, f):
    """f'(d) of any kernel but Matern, for d > 0 where gamma < 2; f is f(d)."""
    if family == SQUARED_EXPONENTIAL:
        return -0.5 * f
    if family == RATIONAL_QUADRATIC:
        return -f / (2.0 + d / shape)
    power = np.sqrt(d) if shape == 1.0 else d ** (0.5 * shape)
    return -0.5 * shape * power / d * f


@helper
def matern(d, nu):
    """f(d) of a Matern kernel of nu = 1/2, 3/2 or 5/2, with x = (2 nu d)^(1/2)."""
    x = np.sqrt(2.0 * nu * d)
    if nu == 1.5:
        return (1.0 + x) * np.exp(-x)
    if nu == 0.5:
        return np.exp(-x)
    return (1.0 + x * (1.0 + x / 3.0)) * np.exp(-x)


@helper
def matern_slope(d, nu):
    """f'(d) of a Matern kernel of nu = 1/2 (for d > 0), 3/2 or 5/2."""
    x = np.sqrt(2.0 * nu * d)
    if nu == 1.5:
        return -1.5 * np.exp(-x)
    if nu == 0.5:
        return -0.5 * np.exp(-x) / x
    return -(5.0 / 6.0) * (1.0 + x) * np.exp(-x)


@helper
def value_and_slope(family, d, shape):
    """f(d) and f'(d) of any kernel; in one place f' is 0, the mean slope of a peak."""
    if d == 0.0:
        return 1.0, 0.0
    if family == MATERN:
        # Side by side, so that they share their square root and their exponential.
        return matern(d, shape), matern_slope(d, shape)
    f = value(family, d, shape)
    return f, slope(family, d, shape, f)
