"""Errors and warnings name the value, the rule and the cure, and the cure works."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tables import curve, quiet, roll, two_groups, warned

from ikd_graph import IKD, align, compare, datasets, diagnose, graph, refine, strategies


def gp(latent, n_points, n_columns, noise):
    points = datasets.fixed_latent(latent, n_points)
    return datasets.gplvm_data(points, n_columns, noise=noise).X


SIMULATED = {
    "half_moons": lambda: datasets.half_moons(200).X,
    "roll": lambda: roll(300)[0],
    "spike_counts": lambda: datasets.spike_counts(200).X,
    "medium": lambda: gp("medium", 40, 200, 0.1),
    "gp": lambda: datasets.gplvm_data(datasets.ou_latent(50, 3) / 6, 20, noise=0.05).X,
}


@pytest.mark.parametrize("name", SIMULATED)
@pytest.mark.parametrize("n_components", [2, 3])
def test_a_default_fit_warns_of_nothing_it_chose_itself(name, n_components):
    X = SIMULATED[name]()
    if n_components <= X.shape[1]:
        model = IKD(n_components)
        assert warned(model, X) == []
        # Points of this table have three coordinates, and it is fitted by likelihood.
        is_missing = name == "medium" and n_components == 2
        with pytest.warns(UserWarning, match="one more") if is_missing else nullcontext():
            assert ("one more coordinate" in model.trust_.misfit) == is_missing


def test_a_default_fit_of_real_data_warns_of_nothing_either(data_home):
    assert warned(IKD(2), np.load(data_home / "guo_qpcr.npz")["X"].astype(float)) == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer at least 1, got 0"),
        ({"n_components": 2.5}, "n_components must be an integer at least 1, got 2.5"),
        ({"n_components": 90}, "n_components must be an integer from 1 to .*, got 90"),
        ({"strategy": "cliques"}, "strategy must be one of 'auto', .*got 'cliques'"),
        ({"strategy": 3}, "strategy must be .*got 3"),
        ({"strategy": strategies.Geodesic("short")}, "path must be one of .*got 'short'"),
        ({"strategy": strategies.Eigen("middle")}, "reference must be one of .*got 'middle'"),
        ({"strategy": strategies.Eigen(90)}, "reference must be .* it is a row of X"),
        ({"strategy": strategies.Blockwise("all")}, "merge must be one of .*got 'all'"),
        ({"strategy": strategies.Blockwise(max_cliques=0)}, "max_cliques must be an integer at le"),
        ({"kernel": "gauss"}, "kernel must be one of .*got 'gauss'"),
        ({"affinity": "distance"}, "affinity must be one of .*got 'distance'"),
        ({"graph": 0.0}, r"graph must lie in \(0, 1\), got 0.0"),
        ({"graph": 1.5}, r"graph must lie in \(0, 1\), got 1.5"),
        ({"graph": "high"}, "graph must be 'auto', a threshold .*got 'high'"),
        ({"graph": None}, "graph must be 'auto', a threshold .*got None"),
        ({"graph": True}, "graph must be 'auto', a threshold .*got True"),
        ({"graph": 0}, "graph must be an integer at least 1, got 0"),
        ({"graph": 90}, "number of neighbors in the graph must be an integer from 1 to 89, got 90"),
        ({"graph": graph.Neighbors(3, search="fast")}, "search must be one of .*got 'fast'"),
        ({"graph": graph.Neighbors(3, mutual="both")}, "mutual must be .*got 'both'"),
        ({"graph": graph.Threshold(disconnected="drop")}, "disconnected must be one of .*'drop'"),
        ({"graph": graph.Threshold(0.3, prune="yes")}, "prune must be one of .*got 'yes'"),
        ({"graph": graph.Threshold(n_neighbors=0)}, "n_neighbors must be an integer at least 1"),
        ({"refine": "more"}, "refine must be one of .*got 'more'"),
        ({"refine": 3}, "refine must be .*got 3"),
        ({"refine": refine.Likelihood(restarts=-1)}, "restarts must be an integer at least 0"),
        ({"missing": "drop"}, "missing must be one of 'error', 'pairwise', 'impute', .*got 'drop'"),
        ({"verbose": -1}, "verbose must be an integer at least 0"),
        ({"n_landmarks": 1.5}, r"n_landmarks must lie in \(0, 1\), got 1.5"),
        ({"n_landmarks": 2}, "n_landmarks must be an integer at least 3, got 2; 'auto' chooses"),
        ({"n_landmarks": "all"}, "n_landmarks must be an integer at least 3, got 'all'"),
        ({"n_jobs": 1.5}, "n_jobs must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"graph": graph.Threshold(0.3, fdr=0.01)}, "s0 must be 'auto' where fdr is given"),
        ({"graph": graph.Threshold(fdr=2.0)}, "fdr must"),
        ({"graph": graph.Threshold(n_removed=-1)}, "n_removed must"),
        ({"graph": graph.Threshold(fdr=0.01), "affinity": "cosine"}, "affinity must be one of"),
        ({"affinity": "shared_neighbors", "strategy": "eigen"}, "strategy must be 'geodesic' or"),
        ({"affinity": "shared_neighbors", "graph": 0.3}, "graph must be a number of .*0.3"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_bad_parameter_is_named_with_rule_and_value(parameters, message):
    X, _ = curve()
    with pytest.raises(ValueError, match=message):
        IKD(**parameters).fit(X)


def test_a_function_that_finds_no_cliques_is_refused():
    X, _ = curve()
    with pytest.raises(ValueError, match="cliques must return one or more"):
        IKD(strategy=strategies.Blockwise(cliques=lambda g: []), affinity="correlation").fit(X)


def test_cliques_that_are_no_function_are_refused_before_the_fit():
    X, _ = curve()
    with pytest.raises(ValueError, match=r"cliques must be None or a function .*, got 3"):
        IKD(strategy=strategies.Blockwise(cliques=3)).fit(X)


def spoilt(value):
    X, _ = curve()
    X[3, 4] = value
    return X


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (spoilt(np.nan), {}, "contains NaN"),
        (spoilt(np.inf), {}, "infinity"),
        (
            np.vstack([curve()[0], np.ones(60)]),
            {"affinity": "correlation"},
            r"rows of X must vary.*constant row\(s\): 90",
        ),
        (curve()[0][:1], {}, r"1 sample\(s\).* minimum of 2"),
        (curve()[0][:, :1], {}, r"1 feature\(s\).* minimum of 2"),
        (np.ones(5), {}, "Expected 2D array"),
        (np.empty((0, 5)), {}, r"0 sample\(s\)"),
        (np.triu(np.ones((5, 5))), {"affinity": "precomputed"}, "precomputed X must be symmetric"),
        (np.ones((5, 4)), {"affinity": "precomputed"}, "precomputed X must be square"),
        (
            -np.ones((5, 5)) + np.eye(5),
            {"affinity": "precomputed_distance"},
            "no negative values",
        ),
        (
            sp.csr_array(np.eye(5)),
            {"affinity": "precomputed"},
            "sparse precomputed X must be one connected graph, got 5 components",
        ),
    ],
)
def test_bad_input_is_named(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        IKD(**parameters).fit(X)


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
@pytest.mark.parametrize("rule", [graph.Neighbors(3), graph.Threshold(0.75)], ids=str)
def test_what_is_advised_against_components_helps(strategy, rule):
    X, groups = (two_groups(), 2) if isinstance(rule, graph.Threshold) else (groups_of_rows(), 3)
    model = IKD(2, strategy=strategy, affinity="correlation", graph=rule, refine=None)
    (text,) = [text for text in warned(model, X) if "components" in text]
    assert "joined by links" in text
    assert "more neighbors or a lower threshold leaves fewer" in text
    assert np.isfinite(model.embedding_).all()
    labels = model.component_labels_.reshape(groups, -1)
    assert np.array_equal(labels, np.tile(np.arange(groups)[:, None], labels.shape[1]))
    assert f"{groups} connected components" in str(model.settings_)
    more = graph.Neighbors(60) if isinstance(rule, graph.Neighbors) else graph.Threshold(0.05)
    cured = quiet(IKD(**{**model.get_params(deep=False), "graph": more}), X)
    assert cured.component_labels_.max() == 0
    refused = clone(model).set_params(graph__disconnected="raise")
    with pytest.raises(ValueError, match=r"graph must be connected .*disconnected='join'") as error:
        refused.fit(X)
    assert str(error.value).count("disconnected='join'") == 1
    quiet(refused.set_params(graph__disconnected="join"), X)


def groups_of_rows():
    """Three groups of thirty rows."""
    rng = np.random.default_rng(0)
    return np.repeat(rng.normal(size=(3, 60)), 30, axis=0) + 0.5 * rng.normal(size=(90, 60))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_of_a_frame_are_named_in_messages():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(12, 30))
    X[4] = 1.0
    names = [f"patient {k}" for k in range(12)]
    frame = pd.DataFrame(X, index=names, columns=[f"c{k}" for k in range(30)])
    with pytest.raises(ValueError, match=r"got 1 constant row\(s\): patient 4; drop"):
        IKD(affinity="correlation").fit(frame)
    with pytest.raises(ValueError, match=r"got 1 constant row\(s\): 4; drop"):
        IKD(affinity="correlation").fit(frame.reset_index(drop=True))
    frame.iloc[2, 3] = np.nan
    with pytest.raises(ValueError, match="row with missing values: patient 2; fit the model"):
        IKD().fit(frame)
    model = IKD(affinity="correlation", refine=None).fit(frame.drop(index=["patient 2"])[4:])
    with pytest.warns(UserWarning, match="and get NaN: patient 4"):
        assert np.isnan(model.transform(frame[3:5])[1]).all()


@pytest.mark.parametrize("value", ["a", 1.5, 0, [1], True])
def test_a_wrong_number_of_threads_is_named(value):
    X = np.random.default_rng(0).normal(size=(12, 30))
    for call in (lambda: IKD(n_jobs=value).fit(X), lambda: compare(X, n_jobs=value)):
        with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
            call()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1e80, 1e-80, 1e300])
def test_units_without_moments_are_named_everywhere(unit):
    X = unit * np.random.default_rng(0).normal(size=(12, 30))
    for call in (compare, diagnose, lambda X: align([X, X], rows="same", columns="same")):
        with pytest.raises(ValueError, match="X must have a largest value between 1e-70 and"):
            call(X)
    X = np.where(0.5 * X.max() < X, np.inf, X / unit)
    for call in (compare, diagnose, lambda X: align([X, X], rows="same", columns="same")):
        with pytest.raises(ValueError, match=r"rows? with infinite values: \d"):
            call(X)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_row_too_far_away_for_a_number_is_named():
    X = np.random.default_rng(0).normal(size=(30, 5)) * [1.0, 1.0, 1.0, 1.0, 1e-180]
    model = IKD(affinity="standardized_euclidean", strategy="geodesic", graph=8).fit(X)
    with pytest.warns(UserWarning, match="1 of 2 rows cannot be compared .* and get NaN: 1"):
        placed = model.transform(np.array([X[0], X[1] + 1.0]))
    np.testing.assert_array_equal(placed[0], model.embedding_[0])
    assert np.isnan(placed[1]).all()


def test_a_constant_series_among_correlations_is_named_alone():
    X = np.array(curve()[0])
    X[4] = 2.0
    with np.errstate(invalid="ignore"):
        corr = np.corrcoef(X)
    with pytest.raises(ValueError, match=r"got 1 row with missing values: 4;"):
        IKD(affinity="precomputed").fit(corr)
