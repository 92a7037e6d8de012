"""What a fit reports is what it did: every number belongs to the latent it stands beside."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from ikd_graph import IKD
from ikd_graph._stages import Stages
from ikd_graph.study.datasets import gplvm_data

GRAPHLESS = ("eigen", "linear")
STRATEGIES = ("eigen", "blockwise", "geodesic", "linear")
AFFINITIES = ("correlation", "cosine", "covariance", "euclidean", "shared_neighbors")
CASES = [
    (strategy, refine, affinity)
    for strategy, refine, affinity in itertools.product(
        STRATEGIES, (None, "stress", "likelihood"), AFFINITIES
    )
    if not (strategy in GRAPHLESS and affinity == "shared_neighbors")
]


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


def table(seed=0, n=60):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 2.0, (n, 2))
    return gplvm_data(latent, 150, noise=0.2, seed=rng).X


def agrees(model):
    """Check every number of a model against its own embedding."""
    Z = model.embedding_
    values = model.eigenvalues_
    gram = Z.T @ Z
    scale = max(float(values[0]), 1e-300)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-9 * np.sqrt(scale))
    np.testing.assert_allclose(gram, np.diag(values), atol=1e-7 * scale)
    assert np.all(np.diff(values) <= 1e-9 * scale)
    share = model.explained_variance_ratio_
    np.testing.assert_allclose(share / share.sum(), values**2 / (values**2).sum(), atol=1e-9)
    if model.refine_ is None:
        assert model.start_embedding_ is model.embedding_ or np.array_equal(
            model.start_embedding_, Z
        )
        assert 0.0 <= model.negative_mass_ <= 1.0
    else:
        assert model.negative_mass_ is None
        assert model.reference_ == "center"
        assert abs(share.sum() - 1.0) < 1e-9
    assert (model.merge_residuals_ is None) == (model.cliques_ is None)
    if model.cliques_ is not None:
        np.testing.assert_allclose(
            model.merge_residuals_, naive_residuals(model), rtol=1e-6, atol=1e-7 * np.sqrt(scale)
        )


def naive_residuals(model):
    """Distance from each point to where its cliques, each fitted rigidly, would put it."""
    solved, Z = model._model.solved, model.embedding_[model._model.first]
    total, count = np.zeros(len(Z)), np.zeros(len(Z))
    weights = np.sqrt(solved.precision)
    for start, stop in itertools.pairwise(solved.blocks.indptr):
        members, own = solved.blocks.members[start:stop], solved.coordinates[start:stop]
        w = weights[start:stop] / weights[start:stop].sum()
        target = Z[members]
        one, other = own - w @ own, target - w @ target
        left, _, right = np.linalg.svd((one * w[:, None]).T @ other)
        total[members] += ((one @ left @ right - other) ** 2).sum(axis=1)
        count[members] += 1
    return np.sqrt(total / np.maximum(count, 1))[model._model.inverse]


@pytest.mark.parametrize(("strategy", "refine", "affinity"), CASES)
def test_every_number_is_that_of_the_embedding(strategy, refine, affinity):
    X = table()
    model = quiet(IKD(2, strategy=strategy, refine=refine, affinity=affinity, n_neighbors=8), X)
    agrees(model)
    if strategy in GRAPHLESS and refine == "stress":
        assert model.refine_ is None  # there is no graph to polish on
        return
    assert model.refine_ == refine
    plain = quiet(IKD(2, strategy=strategy, refine=None, affinity=affinity, n_neighbors=8), X)
    for name in ("embedding_", "eigenvalues_", "explained_variance_ratio_", "negative_mass_"):
        np.testing.assert_array_equal(
            getattr(model, "start_" + name), getattr(plain, name), err_msg=name
        )


@pytest.mark.parametrize("reference", ["min_max", "min_mean", 3])
@pytest.mark.parametrize("more", [{}, {"n_landmarks": 20}, {"n_components": "auto"}])
def test_other_ways_report_their_own_latent_too(reference, more):
    model = quiet(
        IKD(**{"n_components": 2, "refine": None, "reference": reference, **more}), table()
    )
    agrees(model)
    assert isinstance(model.reference_, int)


def test_the_check_would_see_numbers_of_another_latent():
    model = quiet(IKD(2, strategy="geodesic", refine="stress"), table())
    model.eigenvalues_ = model.start_eigenvalues_
    with pytest.raises(AssertionError):
        agrees(model)


def test_the_likelihood_of_no_sample_of_the_model_has_own_starts_and_is_made_again():
    rng = np.random.default_rng(0)
    centres = np.linspace(0.0, 1.0, 40)
    bumps = np.exp(-0.5 * ((rng.uniform(0.0, 1.0, (60, 1)) - centres) / 0.1) ** 2)
    counts = rng.poisson(3.0 * bumps)
    tried = quiet(IKD(1), counts)
    assert tried.refine_ == "likelihood"
    assert tried.starts_ == tried._model.settings["starts"] == "own"
    assert len(tried.pool_) == 2
    again = quiet(IKD(**tried._model.settings), counts)
    np.testing.assert_allclose(again.embedding_, tried.embedding_, atol=1e-9)
    assert quiet(IKD(1, starts="all"), counts).starts_ == "all"
    assert quiet(IKD(2), table()).starts_ == "all"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_named_strategy_is_the_only_start_of_its_polish(strategy):
    X = table(1)
    model = quiet(IKD(2, strategy=strategy, refine="likelihood"), X)
    own = {strategy} if strategy in GRAPHLESS else {strategy, f"{strategy} + stress"}
    assert {one.start for one in model.pool_} == own
    wide = quiet(IKD(2, strategy=strategy, refine="likelihood", starts="all"), X)
    assert len({one.start for one in wide.pool_}) > 1
    assert wide.log_likelihood_ >= model.log_likelihood_ - 1e-6
    assert wide.pool_[0].distance == 0.0
    assert all(one.distance >= 0.0 for one in wide.pool_)


def distances(model, X, take=slice(None)):
    return pdist(quiet(model, X).embedding_[take])


WAYS = {
    "eigen": {"strategy": "eigen"},
    "greedy": {"strategy": "blockwise", "merge": "greedy", "threshold": 0.5},
    "global": {"strategy": "blockwise", "n_neighbors": 10},
    "geodesic": {"strategy": "geodesic", "n_neighbors": 8},
    "landmarks": {"strategy": "geodesic", "n_neighbors": 8, "n_landmarks": 25},
    "stress": {"strategy": "geodesic", "n_neighbors": 8, "refine": "stress"},
}
# What an affinity promises to ignore.
PROMISES = {
    "correlation": ("constant", "row offset", "row scale"),
    "cosine": ("row scale",),
    "covariance": ("constant", "row offset"),
    "euclidean": ("constant", "column offset"),
    "shared_neighbors": ("constant", "row offset", "row scale"),
}


def changed(X, how, rng):
    """The table after a change, and the rows of the new one that stand for the old ones."""
    same = np.arange(len(X))
    if how == "constant":
        return X + 3.0, same
    if how == "row offset":
        return X + rng.normal(size=(len(X), 1)), same
    if how == "row scale":
        return X * rng.uniform(0.5, 2.0, size=(len(X), 1)), same
    if how == "column offset":
        return X + 5.0 * rng.normal(size=X.shape[1]), same
    if how == "scale":
        return X * 1e3, same
    if how == "columns permuted":
        return X[:, rng.permutation(X.shape[1])], same
    if how == "rows permuted":
        order = rng.permutation(len(X))
        return X[order], np.argsort(order)
    assert how == "rows repeated"
    return np.vstack([X, X[rng.integers(0, len(X), 7)]]), same


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    way=st.sampled_from(sorted(WAYS)),
    affinity=st.sampled_from(AFFINITIES),
    data=st.data(),
)
def test_what_an_affinity_promises_to_ignore_changes_nothing(seed, way, affinity, data):
    parameters = {
        "refine": None,
        "path": "distance",
        "random_state": 0,
        **WAYS[way],
        "affinity": affinity,
    }
    if affinity == "shared_neighbors":
        if way == "eigen":
            return
        parameters.pop("threshold", None)
        parameters["n_neighbors"] = 10
    always = ("scale", "columns permuted", "rows permuted", "rows repeated")
    how = data.draw(st.sampled_from((*PROMISES[affinity], *always)))
    rng = np.random.default_rng(seed)
    X = table(seed, n=50)
    if how == "row scale" and parameters["refine"]:
        return  # the weights of pairs go by whether the table looks like the model
    if how == "column offset" and way == "greedy":
        return  # ties of its mergers go by the order of rows, that of their kurtosis
    other, take = changed(X, how, rng)
    before = distances(IKD(2, **parameters), X)
    after = distances(IKD(2, **parameters), other, take)
    np.testing.assert_allclose(after, before, atol=1e-6 * before.max())


def test_equal_rows_have_equal_places():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, size=(120, 12))
    model = quiet(IKD(2), counts)
    keys = {row.tobytes() for row in counts}
    assert len(keys) < len(counts)
    for key in keys:
        same = [i for i, row in enumerate(counts) if row.tobytes() == key]
        assert np.ptp(model.embedding_[same], axis=0).max() == 0.0
    np.testing.assert_allclose(model.transform(counts), model.embedding_, atol=1e-9)


@pytest.mark.parametrize("n", [20, 21, 22, 23])
def test_equal_rows_have_the_same_bits_wherever_they_stand(n):
    # The last rows of a product are made another way than the others.
    X = np.zeros((n, 9))
    X[:12] = np.random.default_rng(n).poisson(0.3, size=(12, 9)) + np.eye(12, 9)
    settings = {"strategy": "geodesic", "affinity": "euclidean"}
    for refine, m in itertools.product(("stress", None), (2, 3, 5, 8)):
        model = quiet(IKD(m, refine=refine, **settings), X)
        assert {place.tobytes() for place in model.embedding_[12:] + 0.0} == {
            (model.embedding_[12] + 0.0).tobytes()
        }
        assert model.transform(X).tobytes() == model.embedding_.tobytes()


def test_a_fit_searches_and_decomposes_once(digits, monkeypatch):
    from ikd_graph import eigen
    from ikd_graph.graph import _nearest

    counted = {"searches": 0, "decompositions": 0}

    def counting(name, function):
        def counted_call(*args, **kwargs):
            counted[name] += 1
            return function(*args, **kwargs)

        return counted_call

    search = counting("searches", _nearest._exact_neighbors)
    monkeypatch.setattr(_nearest, "_exact_neighbors", search)
    for name in ("_full_spectrum", "_lanczos"):
        monkeypatch.setattr(eigen, name, counting("decompositions", getattr(eigen, name)))
    named = {"affinity": "shared_neighbors", "refine": "stress"}
    cases = (
        (IKD(2, **named), digits[0][:600]),
        (IKD("auto", **named), digits[0][:600]),
        (IKD(2, refine=None), table(n=320)),
    )
    for model, X in cases:
        counted.update(searches=0, decompositions=0)
        quiet(model, X)
        assert counted == {"searches": 1, "decompositions": 1}
    # Every candidate is solved once, and the one that wins not again but without some columns: it
    # tells more of these than principal components do.
    counted.update(searches=0, decompositions=0)
    model = quiet(IKD(2), digits[0][:500])
    closed = [one for one in model.candidates_ if one.refine is None and one.graph != "none"]
    assert counted["decompositions"] == len(closed) + 1
    assert counted["searches"] <= len(closed)


def test_the_stages_of_a_fit_are_named():
    stages = quiet(IKD(2, strategy="blockwise", refine="stress"), table()).stage_times_
    assert list(stages) == [
        "similarity",
        "graph",
        "cliques",
        "cliques solved",
        "merging",
        "stress",
        "placement",
    ]
    assert Stages().seconds == {}


@pytest.mark.parametrize(
    ("gap", "taken"), [(0.02, "cosine"), (0.15, "cosine"), (0.3, "shared_neighbors")]
)
def test_values_that_estimate_no_kernel_must_predict_more_than_chance_makes_one(gap, taken):
    from ikd_graph.evidence import Candidate, Prediction
    from ikd_graph.model import _judged

    noise = np.random.default_rng(0).normal(scale=0.1 / 20.0, size=400)  # of the sum: about .1
    judged = [
        _judged.Judged(Candidate(name, False), None, Prediction(by.sum(), by), False)
        for name, by in (
            ("shared_neighbors", np.full(400, (8.0 + gap) / 400.0)),
            ("cosine", noise - noise.mean() + 8.0 / 400.0),
            ("correlation", np.full(400, 7.0 / 400.0)),
        )
    ]
    assert _judged.best_of(judged).candidate.affinity == taken
    assert _judged.best_of(judged[::-1]).candidate.affinity == taken


def test_a_ring_in_doubt_is_no_set_of_groups():
    from ikd_graph.study.datasets import add_noise, gp_mapping
    from ikd_graph.study.metrics import affine_r2

    rng = np.random.default_rng([0, 1000, 50])
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, 1000))
    ring = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    X = add_noise(gp_mapping(ring, 50, seed=rng), 0.5, seed=rng)
    model = quiet(IKD(), X)
    # The same with shared neighbours: .949.
    assert affine_r2(ring, model.embedding_) > 0.98
    taken, others = model.candidates_[0], model.candidates_[1:]
    assert taken.standard_error == 0.0
    assert others[0].score - taken.score < 1.645 * others[0].standard_error
    # Which of two such scores is the larger, the last bits of the machine decide.
    other = next(one for one in others if one.affinity != taken.affinity)
    word = "as well as any" if other.score > taken.score else "best"
    assert f"measurements {word}: " in model.choices_["affinity"]


def test_a_core_is_searched_and_places_the_others(monkeypatch):
    from ikd_graph import _limits
    from ikd_graph.study.datasets import fixed_latent, gp_mapping
    from ikd_graph.study.metrics import affine_r2

    monkeypatch.setattr(_limits, "LIKELIHOOD_CORE", 100)
    truth = fixed_latent("medium", 300)
    X = gp_mapping(truth, 200, seed=0) + 0.5 * np.random.default_rng(1).normal(size=(300, 200))
    model = quiet(IKD(3), X[:250])
    assert model.refine_ == "likelihood"
    assert model._model.polished.core.size == 100
    found = affine_r2(truth[:250], model.embedding_)
    by_stress = affine_r2(truth[:250], quiet(IKD(3, refine="stress"), X[:250]).embedding_)
    assert found > by_stress + 0.01
    assert model.noise_variance_ == pytest.approx(0.25, rel=0.1)
    # New rows are placed by the core as the others were.
    ones = np.ones((len(X), 1))
    known, new = np.hstack([model.embedding_, ones[:250]]), model.transform(X[250:])
    turned = np.hstack([new, ones[250:]]) @ np.linalg.lstsq(known, truth[:250], rcond=None)[0]
    left = np.sum((turned - truth[250:]) ** 2) / np.sum((truth[250:] - truth.mean(axis=0)) ** 2)
    assert 1.0 - left > found - 0.02
    moved = model.transform(X[:250] + 1e-6)
    radius = np.linalg.norm(model.embedding_, axis=1).max()
    assert np.linalg.norm(moved - model.embedding_, axis=1).max() < 1e-3 * radius
    order = np.random.default_rng(2).permutation(250)
    again = quiet(IKD(3), X[:250][order]).embedding_
    np.testing.assert_allclose(again, model.embedding_[order], atol=1e-8)


def test_a_core_that_lies_unlike_all_rows_is_searched_again_from_these(monkeypatch):
    from ikd_graph import _limits
    from ikd_graph.model import _core, _portfolio
    from ikd_graph.study.metrics import affine_r2

    monkeypatch.setattr(_limits, "LIKELIHOOD_CORE", 60)
    latent = np.random.default_rng(0).uniform(0.0, 3.0, (150, 2))
    X = gplvm_data(latent, 150, noise=0.2, seed=1).X
    right = quiet(IKD(2), X)
    assert "all rows" not in {entry.start for entry in right.pool_}
    reached = affine_r2(latent, right.embedding_)

    def folded(rows, polished):
        bent = np.column_stack([polished.coordinates[:, 0], np.abs(polished.coordinates[:, 1])])
        noise = polished.noise._replace(log_likelihood=polished.noise.log_likelihood - 500.0)
        return _core.Core(rows, polished._replace(coordinates=bent, noise=noise))

    with monkeypatch.context() as changed:
        changed.setattr(_portfolio, "Core", folded)
        found = quiet(IKD(2), X)
        # Who set a time has no second search.
        timed = quiet(IKD(2, time_budget=100.0), X)
    assert found.pool_[0].start == "all rows"
    assert found.pool_[-1].distance > 0.2
    assert affine_r2(latent, found.embedding_) > reached - 0.005
    assert affine_r2(latent, timed.embedding_) < reached - 0.1

    def worse(*given):
        core = right._model.polished
        noise = core.core_noise._replace(log_likelihood=core.core_noise.log_likelihood - 500.0)
        return core._replace(coordinates=core.coordinates[core.core], noise=noise)

    # What is no likelier does not win.
    monkeypatch.setattr(_core, "_UNLIKE", 2.0)
    monkeypatch.setattr(_core, "polish_likelihood", worse)
    kept = quiet(IKD(2), X)
    np.testing.assert_allclose(kept.embedding_, right.embedding_, atol=1e-8)
    assert len(kept.pool_) == len(right.pool_) + 1


def test_the_settings_of_a_core_make_it_again_and_a_found_number_has_one_too(monkeypatch):
    from ikd_graph import _limits
    from ikd_graph.study.datasets import fixed_latent, gp_mapping

    monkeypatch.setattr(_limits, "LIKELIHOOD_CORE", 60)
    X = gp_mapping(fixed_latent("medium", 150), 150, seed=0)
    model = quiet(IKD(3), X)
    assert model._model.settings["refine"] == "auto"
    again = quiet(IKD(**model._model.settings), X)
    assert again._model.polished.core.size == 60
    np.testing.assert_allclose(again.embedding_, model.embedding_, atol=1e-8)
    found = quiet(IKD("auto"), X)
    assert found.refine_ == "likelihood"
    assert found._model.polished.core.size == 60
    assert found.embedding_.shape == (150, found.n_components_)
