"""Small faults that were found once stay cured."""

import subprocess
import sys

import numpy as np
import pytest

from ikd_graph import IKD, _memory, kernels


def test_a_length_scale_whose_square_overflows_is_refused():
    with pytest.raises(ValueError, match=r"length_scale must be in \(0, 1e\+150\], got 1e\+300"):
        kernels.SquaredExponential(length_scale=1e300)


def test_the_wrong_width_of_a_latent_is_named():
    model = IKD(2, n_neighbors=5, refine=None).fit(np.random.default_rng(0).normal(size=(30, 9)))
    with pytest.raises(ValueError, match="Z must have the 2 columns of the latent, got 3"):
        model.inverse_transform(np.zeros((4, 3)))


def test_memory_is_also_what_a_container_leaves(monkeypatch, tmp_path):
    (tmp_path / "max").write_text("5000\n")
    (tmp_path / "current").write_text("2000\n")
    monkeypatch.setattr(_memory, "_CGROUPS", ((tmp_path / "max", tmp_path / "current"),))
    assert _memory.available() == 3000
    (tmp_path / "max").write_text("max\n")
    assert _memory.available() > 10**6


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_also_what_ulimit_leaves():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33));"
        "from ikd_graph import _memory; assert 0 < _memory._of_process() < 2**33"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
