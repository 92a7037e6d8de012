import sys

import numpy as np
import pytest

from ikd_graph import datasets
from ikd_graph.jobs import baselines

QUICK = [name for name, peer in baselines.PEERS.items() if peer.module in ("sklearn", "scipy")]


@pytest.fixture(scope="module")
def points():
    return datasets.gplvm_data("medium", 40, noise=0.05, seed=0)


@pytest.mark.parametrize("name", QUICK)
def test_every_peer_that_needs_no_extra_library_embeds(name, points):
    found = baselines.embed(name, points.X, 2, seed=3)
    assert found.failure == ""
    assert found.value.shape == (100, 2)
    assert found.value.dtype == np.float64
    assert found.seconds > 0.0
    again = baselines.embed(name, points.X, 2, seed=3)
    np.testing.assert_allclose(again.value, found.value, atol=1e-6)


def test_t_sne_goes_beyond_three_dimensions(points):
    assert baselines.embed("tsne", points.X[:20], 4).value.shape == (20, 4)


def test_a_missing_library_is_a_record_with_its_name(points, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    found = baselines.embed("umap", points.X)
    assert found.value is None
    assert found.failure == ("needs umap-learn, which is not installed (pip install umap-learn)")


def test_a_library_that_breaks_is_a_record_with_its_reason(points, monkeypatch):
    def broken(X, n_components, seed):
        raise RuntimeError("no luck")

    peer = baselines.PEERS["pca"]._replace(run=broken)
    monkeypatch.setitem(baselines.PEERS, "pca", peer)
    assert baselines.embed("pca", points.X).failure == "RuntimeError: no luck"
    nan = peer._replace(run=lambda X, n_components, seed: np.full((100, 2), np.nan))
    monkeypatch.setitem(baselines.PEERS, "pca", nan)
    assert "NaN" in baselines.embed("pca", points.X).failure


def test_what_a_library_warns_of_is_noted():
    far = np.random.default_rng(0).normal(size=(40, 3))
    far[20:] += 1e4
    found = baselines.embed("laplacian_eigenmaps", far)
    assert any("not fully connected" in note for note in found.notes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: baselines.embed("pcaa", X), "name must be one of 'pca'"),
        (lambda X: baselines.embed("pca", X, 100), "n_components must be an integer from 1 to 99"),
        (lambda X: baselines.embed("pca", X * np.nan), "X must be finite"),
    ],
)
def test_bad_calls_are_refused(points, call, message):
    with pytest.raises(ValueError, match=message):
        call(points.X)


MAPS = ("umap", "pacmap", "phate")


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
def test_a_map_embeds_and_repeats_itself(name, points):
    pytest.importorskip(baselines.PEERS[name].module)
    found = [baselines.embed(name, points.X, n, seed=3) for n in (2, 2, 3)]
    assert [one.failure for one in found] == [""] * 3
    np.testing.assert_allclose(found[0].value, found[1].value, atol=1e-6)
    assert found[2].value.shape == (100, 3)
