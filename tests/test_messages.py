"""Each remedy that a message names is carried out here, and works."""

import re
import warnings

import numpy as np
import pytest

from ikd_graph import IKD, _limits, kernels
from ikd_graph.study import datasets


def gp(latent, n_points, n_observed, noise):
    return datasets.gplvm_data(datasets.fixed_latent(latent, n_points), n_observed, noise=noise)


SIMULATED = {
    "half_moons": datasets.half_moons,
    "swiss_roll": datasets.swiss_roll,
    "spike_counts": datasets.spike_counts,
    "medium": lambda: gp("medium", 40, 200, 0.1),
    "noisy": lambda: gp("easy", 49, 40, 1.0),
    "gp": lambda: datasets.mapped_data("gp", 20, n_samples=50),
    "bump": lambda: datasets.mapped_data("bump_l1", 20, n_samples=320),
}


def warned(model, X):
    """Texts of the warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("name", SIMULATED)
@pytest.mark.parametrize("n_components", [1, 2])
def test_a_default_fit_warns_of_nothing_it_chose_itself(name, n_components):
    assert warned(IKD(n_components), SIMULATED[name]().X) == []


@pytest.mark.parametrize("name", ["digits", "guo_qpcr"])
def test_a_default_fit_of_real_data_warns_of_nothing_either(name, request):
    if name != "digits":
        request.getfixturevalue("data_home")
    assert warned(IKD(2), datasets.load(name).X) == []


def in_pieces(seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(3, 60))
    return np.repeat(centres, 30, axis=0) + 0.7 * rng.normal(size=(90, 60))


def settings_named(text):
    """Settings of the form name=number in a text."""
    found = re.findall(r"(n_neighbors|threshold)=([\d.]+\d|\d+)", text)
    return [{name: int(value) if name == "n_neighbors" else float(value)} for name, value in found]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("affinity", ["correlation", "cosine", "euclidean", "shared_neighbors"])
@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
@pytest.mark.parametrize("given", [{"n_neighbors": 4}, {"n_neighbors": 3, "threshold": 0.9}])
def test_what_connects_a_graph_is_named_and_connects_it(strategy, affinity, given, seed):
    if affinity == "shared_neighbors":
        given = {"n_neighbors": 4}
    X = in_pieces(seed)
    model = IKD(2, strategy=strategy, affinity=affinity, refine=None, path="distance", **given)
    (text,) = [text for text in warned(model, X) if "components" in text]
    assert model.n_components_graph_ > 1
    cures = settings_named(text)
    assert len(cures) == len(given)
    refused = IKD(**{**model.get_params(), "disconnected": "raise"})
    with pytest.raises(ValueError, match="graph must be connected") as error:
        refused.fit(X)
    assert settings_named(str(error.value)) == cures
    for cure in cures:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            cured = IKD(**{**refused.get_params(), **cure}).fit(X)
        assert cured.n_components_graph_ == 1
    for way in ("join", "separate"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            IKD(**{**model.get_params(), "disconnected": way}).fit(X)


def test_of_a_graph_that_was_chosen_the_same_is_said_among_the_reasons():
    X = in_pieces()
    model = IKD(2, strategy="geodesic").fit(X)
    text = model.choices_["disconnected"]
    assert model.n_components_graph_ > 1
    (cure,) = settings_named(text)
    assert IKD(2, refine=None, affinity=model.affinity_, disconnected="raise", **cure).fit(X)


@pytest.mark.parametrize("affinity", ["correlation", "shared_neighbors"])
def test_what_would_take_long_to_connect_has_fewer_pieces_with_more_neighbours(
    affinity, monkeypatch
):
    X = in_pieces()
    monkeypatch.setattr(_limits, "RANKED_PAIRS", 0)
    few = IKD(2, strategy="geodesic", affinity=affinity, refine=None, n_neighbors=2)
    (text,) = [text for text in warned(few, X) if "components" in text]
    assert text.endswith("; a larger n_neighbors leaves fewer")
    more = IKD(**{**few.get_params(), "n_neighbors": 40})
    warned(more, X)
    assert more.n_components_graph_ < few.n_components_graph_


SETTING = re.compile(r"Pass (\w+)=('?)([\w.]+)\2")


@pytest.mark.parametrize("name", ["half_moons", "medium", "groups", "roll"])
def test_what_each_choice_says_to_pass_can_be_passed_and_is_then_what_was_chosen(name):
    tables = {"groups": in_pieces, "roll": lambda: datasets.swiss_roll(120).X}
    X = tables[name]() if name in tables else SIMULATED[name]().X
    chosen = IKD(2).fit(X)
    told = [SETTING.search(text) for text in chosen.choices_.values()]
    assert len([one for one in told if one]) >= (3 if chosen.graph_ is None else 6)
    for one in filter(None, told):
        parameter, quoted, text = one.groups()
        value = text if quoted else {"None": None}.get(text) if text == "None" else float(text)
        if parameter in {"n_neighbors", "n_landmarks", "n_components"}:
            value = int(value)
        passed = {parameter: value} if parameter == "refine" else {parameter: value, "refine": None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = IKD(2, **passed).fit(X)
        if parameter == "kernel":
            assert model.kernel_ == kernels.get(value)
        elif parameter not in {"reference", "n_landmarks"}:
            assert getattr(model, parameter + "_") == value, one.group()


def test_a_number_of_coordinates_that_was_found_warns_once_of_a_graph_that_was_named():
    X = in_pieces()
    for strategy in ("geodesic", "blockwise"):
        model = IKD("auto", strategy=strategy, refine=None, affinity="correlation", n_neighbors=4)
        with pytest.warns(UserWarning, match="graph has") as told:
            model.fit(X)
        of_graph = [one for one in told if "graph has" in str(one.message)]
        assert len(of_graph) == 1
        assert of_graph[0].filename == __file__
    model = IKD("auto", refine=None).fit(X)
    assert ("disconnected" in model.choices_) == (model.n_components_graph_ > 1)


@pytest.mark.parametrize("affinity", ["correlation", "cosine", "shared_neighbors"])
@pytest.mark.parametrize(
    "refine", [None, "stress", pytest.param("likelihood", marks=pytest.mark.slow)]
)
def test_what_helps_against_constant_rows_helps(affinity, refine):
    X = gp("medium", 50, 150, 0.2).X
    X[7] = 0.0 if affinity == "cosine" else 3.0
    with pytest.raises(ValueError, match="drop them, or use affinity='euclidean'"):
        IKD(2, affinity=affinity, refine=refine).fit(X)
    for cured, rows in ((affinity, np.delete(X, 7, axis=0)), ("euclidean", X)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = IKD(2, affinity=cured, refine=refine).fit(rows)
        assert np.all(np.isfinite(model.embedding_))


@pytest.mark.parametrize("affinity", ["correlation", "covariance", "shared_neighbors"])
def test_rows_that_are_all_constant_are_compared_by_their_values(affinity):
    X = np.outer(np.linspace(0.0, 1.0, 40), np.ones(5))
    with pytest.raises(ValueError, match="; use affinity='euclidean', which compares values"):
        IKD(1, affinity=affinity, refine=None).fit(X)
    found = IKD(1, affinity="euclidean", refine=None).fit_transform(X)
    assert abs(np.corrcoef(found[:, 0], X[:, 0])[0, 1]) > 0.999


@pytest.mark.parametrize("landmarks", [None, 20])
def test_what_does_without_small_covariances_does(landmarks):
    X = gp("medium", 80, 150, 0.0).X
    text = warned(IKD(2, strategy="eigen", refine=None, n_landmarks=landmarks), X)[0]
    named = re.findall(r"'(geodesic|blockwise)'", text)
    assert named
    for strategy in named:
        assert not any("<= 0" in one for one in warned(IKD(2, strategy=strategy, refine=None), X))


def test_what_helps_open_mergers_helps():
    X = gp("easy", 64, 100, 0.5).X
    settings = {"strategy": "blockwise", "refine": None, "affinity": "correlation"}
    told = warned(IKD(3, merge="greedy", n_neighbors=4, **settings), X)
    assert any("merge='global'" in text for text in told)
    assert not any("angle" in text for text in warned(IKD(3, n_neighbors=4, **settings), X))


@pytest.mark.parametrize("precomputed", [False, True])
def test_sparse_covariances_in_pieces_say_what_can_be_done(precomputed):
    import scipy.sparse as sp

    corr = np.corrcoef(in_pieces())
    pieces = sp.csr_array(np.where(corr > 0.5, corr, 0.0))
    model = IKD(1, affinity="precomputed", refine=None)
    with pytest.raises(ValueError, match="disconnected='separate'"):
        model.set_params(disconnected="raise" if precomputed else "join").fit(pieces)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.set_params(disconnected="separate").fit(pieces)
        assert np.all(np.isfinite(model.embedding_))


def weak(n_columns, n_means=1):
    """A sheet of which 100 columns tell nothing, or means of repeated measurements."""
    latent = np.random.default_rng(3).uniform(0.0, 4.0, (60, 2))
    signal = 0.2 * datasets.gp_mapping(latent, n_columns, "squared_exponential", seed=0)
    noise = np.random.default_rng(4).normal(size=(n_means, *signal.shape))
    return signal + noise.mean(axis=0)


@pytest.mark.parametrize("refine", ["auto", None, "stress"])
def test_who_fits_noise_is_told_so_and_what_helps_does(refine):
    text = warned(IKD(2, refine=refine), weak(100))[0]
    assert text.startswith(
        "no two of 60 rows are correlated more than unrelated rows are by chance"
    )
    assert "measure more columns" in text
    assert "the mean of rows that belong together" in text
    for cured in (weak(1500), weak(100, 12)):
        assert not any("by chance" in told for told in warned(IKD(2, refine=refine), cured))


def test_noise_is_not_polished_unless_that_is_asked_for():
    noise = np.random.default_rng(0).normal(size=(300, 120))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(2).fit(noise)
        assert model.refine_ is None
        assert "no two rows are more alike" in model.choices_["refine"]
        assert IKD(2, refine="stress").fit(noise).refine_ == "stress"
