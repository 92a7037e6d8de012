"""What every test shares: no compiled cache, data only where it was put."""

import os
from pathlib import Path

# Before anything imports the package: tests must run the code that stands here now.
os.environ.setdefault("IKD_GRAPH_NUMBA_CACHE", "0")

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
