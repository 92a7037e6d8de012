"""What every test shares: data only where it was put.

Compiled code comes from the cache, whose stamp covers every source it was made from.
"""

import os
import sys

# Threads that wait for one another spin, unless told to sleep: on a machine with other work, tests
# that call many small parallel loops took ten times as long. A fit keeps BLAS on one thread, tests
# of its parts would not; BLAS reads this when numpy is imported, which is below.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def data_home():
    home = os.environ.get("IKD_GRAPH_DATA")
    if not home or not Path(home).is_dir():
        pytest.skip("IKD_GRAPH_DATA does not name the folder of real data sets")
    return Path(home)


@pytest.fixture(scope="session")
def digits():
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def no_figure_left_open():
    """Close what a test drew: of 21 open figures pyplot warns, whichever test opened the last."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
