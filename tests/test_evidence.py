import numpy as np
import pytest
from scipy import stats

from ikd_graph import IKD, evidence, graph, kernels, similarity
from ikd_graph.evidence import _prediction
from ikd_graph.study.datasets import fixed_latent, gp_mapping, load
from ikd_graph.study.metrics import affine_r2


def choose(table, *, affinity="correlation", n_samples=100, n_components=2, **wishes):
    wanted = evidence.Wishes(**{"refine": None, **wishes})
    return evidence.choose(affinity, wanted, table, n_samples=n_samples, n_components=n_components)


@pytest.mark.parametrize("n_features", [20, 100, 1000])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_samples_of_a_gaussian_process_are_recognised(n_features, noise):
    for seed in range(5):
        X = gp_mapping(fixed_latent("medium"), n_features, seed=seed)
        X += noise * np.random.default_rng(100 + seed).normal(size=X.shape)
        assert evidence.examine(X).holds


def test_images_and_counts_are_told_from_samples(digits):
    assert not evidence.examine(digits[0]).holds
    counts = np.random.default_rng(0).poisson(np.geomspace(0.1, 30, 200), size=(50, 200))
    assert not evidence.examine(counts.astype(float)).holds


def test_fashion_images_are_told_from_samples(data_home):
    assert not evidence.examine(load("fashion_mnist").X).holds


@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_does_not_depend_on_the_order_or_the_scale(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 60)) ** 3
    mixed = X[rng.permutation(40)][:, rng.permutation(60)] * 1e9
    np.testing.assert_allclose(evidence.examine(mixed), evidence.examine(X), rtol=1e-9)


@pytest.mark.parametrize("size", [(40, 100), (300, 120), (120, 300), (2300, 100)])
def test_unrelated_rows_look_related_in_about_one_table_of_ten(size):
    found = [
        evidence.some_are_related(np.random.default_rng(seed).normal(size=size) + seed)
        for seed in range(40)
    ]
    assert 1 <= sum(found) <= 10


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_whether_rows_are_related_does_not_depend_on_the_scale(scale):
    noise = np.random.default_rng(0).normal(size=(60, 120))
    assert not evidence.some_are_related(scale * noise)
    assert evidence.some_are_related(scale * noise.cumsum(axis=0))


def test_rows_are_related_by_two_of_them_or_by_all():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(300, 120))
    assert not evidence.some_are_related(noise)
    two = noise.copy()
    two[7] += 0.8 * two[200]
    assert evidence.some_are_related(two)
    # No pair is correlated by more than chance, but all follow one line.
    line = noise + 0.25 * rng.normal(size=(300, 1)) * rng.normal(size=120)
    corr = np.corrcoef(line) - 2.0 * np.eye(300)
    assert corr.max() < graph.sure_threshold(120, 0.05 / (300 * 299 / 2))
    assert evidence.some_are_related(line)


def test_constant_tables_do_not_divide_by_zero():
    assert np.all(np.isfinite(evidence.examine(np.ones((4, 5)))))
    assert np.all(np.isfinite(evidence.examine(np.zeros((4, 5)))))


def test_the_threshold_is_five_standard_errors_and_never_above_one_half():
    assert graph.auto_threshold(10_000) == 0.05
    assert graph.auto_threshold(50) == 0.5
    assert graph.auto_threshold(None) == 0.3


@pytest.mark.parametrize(("n_observed", "rate"), [(3, 0.2), (20, 1e-5), (90, 1e-3), (20, 0.7)])
def test_the_sure_threshold_is_that_of_a_test_of_no_correlation(n_observed, rate):
    level = graph.sure_threshold(n_observed, rate)
    # scipy's own distribution of the sample correlation, a beta distribution from -1 to 1.
    half = n_observed / 2.0 - 1.0
    assert stats.beta(half, half, loc=-1.0, scale=2.0).sf(level) == pytest.approx(rate, rel=1e-6)


def test_two_columns_make_no_correlation_sure():
    assert graph.sure_threshold(2, 0.01) == 1.0
    with pytest.raises(ValueError, match="rate must lie in"):
        graph.sure_threshold(20, 0.0)


def test_cliques_of_few_columns_have_a_threshold_where_nothing_speaks_against_the_model():
    few = evidence.Evidence(30, 1.0, 0.0, 0.2)
    chosen = choose(few, strategy="blockwise")
    assert (chosen.threshold, chosen.n_neighbors) == (graph.sure_threshold(30, 1e-5), 6)
    assert "once in 100000 pairs, and 30 columns" in chosen.reasons["threshold"]
    for table, strategy in (
        (few, "geodesic"),
        (evidence.Evidence(30, 9.0, 0.0, 0.2), "blockwise"),
        (evidence.Evidence(9, 1.0, 0.0, 0.2), "blockwise"),
    ):
        assert choose(table, strategy=strategy).threshold is None
    assert choose(few, affinity="euclidean", strategy="blockwise").threshold is None


def test_what_is_given_is_kept_and_what_is_chosen_has_a_reason():
    good = evidence.Evidence(1000, 1.0, 0.0, 0.2)
    bad = evidence.Evidence(1000, 9.0, 0.0, 0.2)
    chosen = choose(good)
    assert (chosen.path, chosen.threshold, chosen.n_neighbors) == ("distance", 5 / 1000**0.5, 6)
    assert "1000 columns look like samples" in chosen.reasons["threshold"]
    chosen = choose(bad)
    assert (chosen.path, chosen.threshold, chosen.n_neighbors) == ("covariance", None, 7)
    assert "scatter 9.0 times" in chosen.reasons["path"]
    assert choose(bad, strategy="blockwise").n_neighbors == evidence.CLIQUE_NEIGHBORS
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
    cliques = choose(evidence.Evidence(100, 1.0, 0.0, 0.2), strategy="blockwise")
    assert (cliques.threshold, cliques.n_neighbors) == (0.45, 4)


def test_the_polish_is_stress_where_nothing_is_tried():
    table = evidence.Evidence(1000, 9.0, 0.0, 0.2)
    assert choose(table, refine="auto").refine == "stress"
    assert choose(table, refine="auto", strategy="eigen").refine is None
    assert choose(None, refine="auto").refine is None
    assert choose(table, refine="likelihood").refine == "likelihood"


def candidates(table, affinity="auto", *, n_samples=100, linear=False, **wishes):
    return evidence.candidates(
        affinity,
        evidence.Wishes(**wishes),
        table,
        n_samples=n_samples,
        linear=linear,
    )


def test_a_table_like_the_model_has_one_candidate_and_others_several():
    model, wide = evidence.Evidence(1000, 1.0, 0.0, 0.2), evidence.Evidence(200, 9.0, 0.0, 0.2)
    few = evidence.Evidence(5, 1.0, 0.0, 0.2)
    trusted = evidence.Candidate("correlation", True)
    assert candidates(model) == [trusted]
    assert candidates(model, "euclidean") == [evidence.Candidate("euclidean", True)]
    order = evidence.Candidate("shared_neighbors", False)
    assert candidates(model, "shared_neighbors") == [order]
    every = [evidence.Candidate(name, False) for name in evidence.TRIED if name != "hellinger"]
    # Of five columns there is no order of neighbours to speak of.
    assert candidates(few) == [one for one in every if one != order]
    assert candidates(wide) == [*every, trusted]
    assert candidates(wide, "cosine") == [evidence.Candidate("cosine", False)]


def test_principal_components_are_tried_where_nothing_speaks_against_having_no_graph():
    wide = evidence.Evidence(200, 9.0, 0.0, 0.2)
    linear = [one for one in candidates(wide, linear=True) if one.strategy == "linear"]
    assert [one.affinity for one in linear] == ["euclidean", "standardized_euclidean"]
    counts = evidence.Evidence(200, 9.0, 0.0, 0.2, are_counts=True)
    linear = [one for one in candidates(counts, linear=True) if one.strategy == "linear"]
    assert [one.affinity for one in linear] == ["euclidean", "hellinger"]
    assert candidates(wide, "cosine", linear=True) == [evidence.Candidate("cosine", False)]


def test_columns_are_scaled_where_that_tells_more_of_others():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(300, 2))
    X = z @ rng.normal(size=(2, 12)) + 0.3 * rng.normal(size=(300, 12))
    units = np.logspace(-2, 2, 12)
    assert not evidence.scaling_helps(X)
    assert evidence.scaling_helps(X * units)
    # Columns of noise become as loud as the others.
    assert not evidence.scaling_helps(np.c_[X, 0.1 * rng.normal(size=(300, 12))])
    order = rng.permutation(12)
    assert evidence.scaling_helps((X * units)[:, order] * 1e-200)
    assert not evidence.scaling_helps(X[:, :1])
    assert not evidence.scaling_helps(np.ones((5, 3)))


def test_the_length_of_rows_counts_where_it_tells_of_columns_left_out():
    rng = np.random.default_rng(4)
    loud = rng.uniform(0.0, 1.0, (600, 2))
    X = loud @ rng.uniform(0.5, 1.5, (2, 16)) + 0.1 * rng.normal(size=(600, 16))
    assert evidence.length_tells(X, "cosine")
    assert evidence.length_tells(X, "correlation")
    model = IKD(2).fit(X)
    assert affine_r2(loud, model.embedding_) > 0.85
    # Rows near in distance have one gain, but their latent tells less than that of angles.
    place = rng.uniform(0.0, 3.0, (400, 2))
    waves = np.cos(place @ rng.normal(size=(2, 200)) + rng.uniform(0.0, 6.28, 200))
    gain = rng.lognormal(0.0, 0.7, (400, 1))
    X = gain * np.exp(0.1 * waves @ rng.normal(size=(200, 60)))
    model = IKD(2).fit(X)
    assert similarity.AFFINITIES[model.affinity_].forgets_length
    assert affine_r2(place, model.embedding_) > 0.9
    assert not evidence.length_tells(np.zeros((9, 3)), "cosine")


def test_answers_of_yes_or_no_are_not_bent():
    reasons = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        ability = rng.normal(size=(400, 2))
        leaning = 1.5 * ability @ rng.normal(size=(2, 60)) + rng.normal(size=60)
        answers = (rng.random((400, 60)) < 1.0 / (1.0 + np.exp(-leaning))).astype(float)
        model = IKD(2).fit(answers)
        assert affine_r2(ability, model.embedding_) > 0.85
        assert model.refine_ is None
        reasons.append(model.choices_["strategy"])
    assert any("where columns are left out" in why for why in reasons)


def test_the_principal_components_that_tell_most_of_left_out_columns_stand_for_all():
    # Those of roots of counts score more than those of the counts, and tell less.
    rng = np.random.default_rng([4, 4, 0])
    ability = rng.standard_normal((450, 4))
    leaning = ability @ (0.6 * np.abs(rng.standard_normal((4, 24)))) + rng.standard_normal(24)
    right = rng.binomial(4, 1.0 / (1.0 + np.exp(-leaning))).astype(float)
    model = IKD(4).fit(right)
    assert (model.strategy_, model.affinity_) == ("linear", "euclidean")
    scores = {one.affinity: one.score for one in model.candidates_ if one.strategy == "linear"}
    assert scores["hellinger"] > scores["euclidean"]


def test_roots_are_tried_for_counts_only():
    counts = np.random.default_rng(0).poisson(2.0, size=(40, 10)).astype(float)
    tables = {"counts": counts, "shares": counts / 7.0, "signed": counts - 3.0, "bits": counts > 1}
    tried = {
        name: "hellinger"
        in {one.affinity for one in candidates(evidence.examine(np.asarray(X, dtype=float)))}
        for name, X in tables.items()
    }
    assert tried == {"counts": True, "shares": False, "signed": False, "bits": False}
    names = {one.affinity for one in candidates(evidence.examine(counts))}
    assert names == {*evidence.TRIED} - {"standardized_euclidean", "shared_neighbors"}
    last = counts.copy()
    last[-1, -1] += 0.5
    assert not evidence.examine(last).are_counts


def test_what_was_given_leaves_out_what_does_not_go_with_it():
    wide = evidence.Evidence(200, 9.0, 0.0, 0.2)
    names = lambda **given: {one.affinity for one in candidates(wide, **given)}  # noqa: E731
    plain = {"euclidean", "standardized_euclidean", "correlation", "cosine"}
    for given in ({"strategy": "blockwise"}, {"path": "distance"}, {"n_neighbors": 9}):
        assert names(**given) == plain
    assert names(threshold=0.3) == {"correlation"}
    large = {"correlation", "cosine", "shared_neighbors"}
    assert names(n_samples=400_000) == names() == plain | large
    assert names(n_samples=600_000) == large


def test_each_affinity_off_the_model_has_its_graph_and_polish():
    bad = evidence.Evidence(50, 9.0, 0.0, 0.2)
    found = {
        name: choose(bad, affinity=name, refine="auto") for name in list(similarity.AFFINITIES)[:-1]
    }
    assert [found[name].n_neighbors for name in ("correlation", "cosine", "euclidean")] == [
        7,
        12,
        15,
    ]
    assert found["euclidean"].mutual
    assert found["shared_neighbors"].mutual
    assert not found["cosine"].mutual
    assert found["cosine"].weights == found["euclidean"].weights == "uniform"
    assert found["shared_neighbors"].weights == "component"
    spacious = choose(bad, affinity="shared_neighbors", n_components=3, refine="auto")
    assert spacious.weights == "path"
    assert choose(bad, affinity="euclidean", n_components=1).n_neighbors == 5
    assert not choose(bad, affinity="euclidean", mutual=False).mutual
    assert not choose(bad, affinity="euclidean", n_neighbors=4).mutual
    assert choose(bad, affinity="shared_neighbors", n_neighbors=4).mutual


def naive_prediction(latent, X):
    """Directions predicted, by loops."""
    columns = (X - X.mean(axis=0)) / X.std(axis=0)
    directions = np.linalg.svd(columns, full_matrices=False)[0]
    total = 0.0
    for u in directions.T:
        shares = []
        for k in (5, 10, 20):
            left = 0.0
            for i in range(len(X)):
                order = np.argsort(np.linalg.norm(latent - latent[i], axis=1), kind="stable")
                near = [j for j in order if j != i][:k]
                left += (u[i] - u[near].mean()) ** 2
            shares.append(1.0 - left / np.sum(u**2))
        total += max(0.0, np.mean(shares))
    return total


@pytest.mark.parametrize("n_features", [3, 200])
def test_the_score_is_that_of_a_naive_twin(n_features):
    rng = np.random.default_rng(n_features)
    latent = rng.normal(size=(110, 2))
    X = np.sin(latent @ rng.normal(size=(2, n_features))) + 0.3 * rng.normal(size=(110, n_features))
    directions = evidence.principal_directions(X)
    found = evidence.predict(latent, directions)
    assert np.sum(found.by_point) == pytest.approx(found.score)
    if n_features == 3:
        assert found.score == pytest.approx(naive_prediction(latent, X), rel=1e-9)
    np.testing.assert_allclose(directions.T @ directions, np.eye(directions.shape[1]), atol=1e-9)


def test_a_point_is_not_its_own_neighbour_where_many_are_at_its_place():
    points = np.repeat(np.arange(6.0), 5)[:, None]
    near = _prediction._nearest(points, 3)
    assert not np.any(near == np.arange(30)[:, None])
    np.testing.assert_array_equal(points[near, 0], np.repeat(points, 3, axis=1))
    apart = np.random.default_rng(0).normal(size=(40, 3))
    order = np.argsort(np.linalg.norm(apart[:, None] - apart, axis=2), axis=1)
    np.testing.assert_array_equal(_prediction._nearest(apart, 7), order[:, 1:8])


@pytest.mark.parametrize("seed", range(3))
def test_the_score_knows_the_truth_from_noise_and_no_unit(seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(200, 2))
    X = np.tanh(truth @ rng.normal(size=(2, 30))) + 0.2 * rng.normal(size=(200, 30))
    directions = evidence.principal_directions(X)
    score = evidence.predict(truth, directions).score
    assert score > 1.5
    assert evidence.predict(rng.normal(size=(200, 2)), directions).score < 0.1
    # Columns have any unit and origin and come in any order, latents have any scale.
    other = evidence.principal_directions((X * rng.uniform(0.01, 100.0, 30) + 7.0)[:, ::-1])
    assert evidence.predict(1e6 * truth, other).score == pytest.approx(score, rel=1e-6)


def test_tables_without_columns_that_vary_have_no_directions():
    assert evidence.principal_directions(np.ones((9, 4))).shape == (9, 0)
    found = evidence.predict(np.arange(9.0)[:, None], np.empty((9, 0)))
    assert (found.score, found.by_point.tolist()) == (0.0, [0.0] * 9)


def test_fewer_points_than_neighbours_are_enough():
    X = np.random.default_rng(0).normal(size=(4, 30))
    assert IKD(1, strategy="geodesic").fit(X).n_neighbors_ == 3


def test_hardly_a_sample_of_the_model_is_taken_for_something_else():
    latent, kernel = fixed_latent("medium"), kernels.SquaredExponential(length_scale=0.5)
    tables = [gp_mapping(latent, 100, kernel, seed=seed) for seed in range(200)]
    assert sum(not evidence.examine(X).holds for X in tables) <= 1
