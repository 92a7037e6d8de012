"""Types of arrays that annotations share, and numbers by which compiled code knows the kernels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Reals = NDArray[np.floating]
Indices = NDArray[np.int32]

SQUARED_EXPONENTIAL, RATIONAL_QUADRATIC, GAMMA_EXPONENTIAL, MATERN = range(4)
