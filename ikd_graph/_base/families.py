"""Numbers by which compiled code knows the kernels; reading them loads no compiler."""

SQUARED_EXPONENTIAL, RATIONAL_QUADRATIC, GAMMA_EXPONENTIAL, MATERN = range(4)
