import numpy as np
import pytest

from ikd_graph import IKD, choices
from ikd_graph.study.datasets import fixed_latent, gp_mapping, load


def choose(evidence, **given):
    settings = {
        "strategy": "auto",
        "path": "auto",
        "reference": "auto",
        "threshold": "auto",
        "n_neighbors": None,
        "n_samples": 100,
        "refine": None,
    }
    return choices.choose(evidence=evidence, **{**settings, **given})


@pytest.mark.parametrize("n_features", [20, 100, 1000])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_draws_of_a_gaussian_process_are_recognised(n_features, noise):
    for seed in range(5):
        X = gp_mapping(fixed_latent("medium"), n_features, seed=seed)
        X += noise * np.random.default_rng(100 + seed).normal(size=X.shape)
        assert choices.examine(X).holds


def test_images_and_counts_are_told_from_draws(digits):
    assert not choices.examine(digits[0]).holds
    counts = np.random.default_rng(0).poisson(np.geomspace(0.1, 30, 200), size=(50, 200))
    assert not choices.examine(counts.astype(float)).holds


def test_fashion_images_are_told_from_draws(data_home):
    assert not choices.examine(load("fashion_mnist").X).holds


@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_does_not_depend_on_the_order_or_the_scale(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 60)) ** 3
    mixed = X[rng.permutation(40)][:, rng.permutation(60)] * 1e9
    np.testing.assert_allclose(choices.examine(mixed), choices.examine(X), rtol=1e-9)


def test_constant_tables_do_not_divide_by_zero():
    assert np.all(np.isfinite(choices.examine(np.ones((4, 5)))))
    assert np.all(np.isfinite(choices.examine(np.zeros((4, 5)))))


def test_the_threshold_is_five_standard_errors_and_never_above_one_half():
    assert choices.auto_threshold(10_000) == 0.05
    assert choices.auto_threshold(50) == 0.5
    assert choices.auto_threshold(None) == 0.3


def test_what_is_given_is_kept_and_what_is_chosen_has_a_reason():
    good = choices.Evidence(1000, 1.0, 0.0, 0.2)
    bad = choices.Evidence(1000, 9.0, 0.0, 0.2)
    chosen = choose(good)
    assert (chosen.path, chosen.threshold, chosen.n_neighbors) == ("distance", 5 / 1000**0.5, 6)
    assert "1000 columns look like draws" in chosen.reasons["threshold"]
    chosen = choose(bad)
    assert (chosen.path, chosen.threshold, chosen.n_neighbors) == ("covariance", None, 7)
    assert "scatter 9.0 times" in chosen.reasons["path"]
    assert choose(bad, strategy="blockwise").n_neighbors == choices.CLIQUE_NEIGHBORS
    given = choose(bad, strategy="eigen", path="distance", reference=3, threshold=0.2)
    assert given.reasons == {}
    assert given.refine is None
    assert (given.strategy, given.path, given.reference) == ("eigen", "distance", 3)
    assert (given.threshold, given.n_neighbors) == (0.2, None)
    alone = choose(good, n_neighbors=9)
    assert (alone.threshold, alone.n_neighbors) == (None, 9)
    both = choose(good, n_neighbors=9, threshold=0.4)
    assert (both.threshold, both.n_neighbors) == (0.4, 9)
    assert choose(None).threshold == 0.3


def test_the_polish_goes_by_the_evidence_and_the_number_of_points():
    good = choices.Evidence(1000, 1.0, 0.0, 0.2)
    bad = choices.Evidence(1000, 9.0, 0.0, 0.2)
    assert choose(good, refine="auto").refine == "likelihood"
    assert "100 points take seconds" in choose(good, refine="auto").reasons["refine"]
    assert choose(good, refine="auto", n_samples=1000).refine == "stress"
    assert choose(good, refine="auto", n_samples=1000, strategy="eigen").refine is None
    assert choose(bad, refine="auto").refine is None
    assert choose(None, refine="auto").refine is None
    assert choose(bad, refine="stress").refine == "stress"


def test_fewer_points_than_neighbours_are_enough():
    X = np.random.default_rng(0).normal(size=(4, 30))
    assert IKD(1).fit(X).n_neighbors_ == 3
