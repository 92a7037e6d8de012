"""The polish on a dozen of the random cells of `polish_cells`; the script runs all of them."""

import numpy as np
import polish_cells
import pytest


def test_every_family_has_latents_of_the_size_asked_for():
    for family in (*polish_cells.FAMILIES, "clusters", "tree"):
        for m in (1, 2, 3):
            latent = polish_cells.latent_of(family, 50, m, np.random.default_rng(m))
            assert latent.shape == (50, m)
            assert 0.5 < np.ptp(latent, axis=0).max() < 16.0


@pytest.mark.slow
@pytest.mark.parametrize("index", [5, 6, 12, 13, 18, 21, 31, 36, 46, 51, 54, 56])
@pytest.mark.parametrize("search", ["local", "wide"])
def test_a_polish_never_flings_points_nor_loses_likelihood(index, search):
    one = polish_cells.cell(index)
    found = polish_cells.polish(one, search)
    assert found.r2 > found.start_r2 - 0.02
    assert found.gain > -1e-3
    assert found.gap < 8.0
    if one.noise and one.rows.shape[1] >= 200:
        assert 0.5 < found.noise < 2.0
    if not one.noise:
        assert found.noise < 1e-3
