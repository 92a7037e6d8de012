"""What an embedding can be worth: significant pairs, split halves, noise, words and warnings."""

import re
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.signal import lfilter

import ikd_graph
from ikd_graph import IKD, covariance, datasets, model_selection
from ikd_graph._base import limits
from ikd_graph._base.table import random_rows
from ikd_graph.jobs.diagnose import diagnose
from ikd_graph.metrics import affine_r2, decoding_r2, held_out_r2
from ikd_graph.plotting import plot


def drawn(n_observed, noise, *, seed=0, n_points=60):
    """Data of a line, drawn from the model."""
    line = np.random.default_rng(0).permutation(np.linspace(0.0, 4.0, n_points))[:, None]
    return datasets.gplvm_data(line, n_observed, noise=noise, seed=seed).X


def autoregressive(n_points, n_columns, past, seed=0):
    """Unrelated rows whose columns follow one another."""
    white = np.random.default_rng(seed).normal(size=(n_points, n_columns + 200))
    return lfilter([1.0], [1.0, -past], white, axis=1)[:, 200:]


def quietly(X, n_components=1, **more):
    """A diagnosis whose warnings are looked at elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ikd_graph.diagnose(X, n_components, **more)


@pytest.fixture(scope="module")
def strong():
    return diagnose(drawn(400, 0.1, n_points=40), 1)


@pytest.fixture(scope="module")
def weak():
    return quietly(drawn(40, 3.0, n_points=24), 2)


def test_counts_of_correlations_are_those_of_numpy_and_networkx():
    X = drawn(150, 0.7)
    found = quietly(X)
    corr = np.corrcoef(X)
    g = nx.Graph()
    g.add_nodes_from(range(60))
    g.add_edges_from(found.trusted_pairs.tolist())
    parts = [len(part) for part in nx.connected_components(g)]
    assert found.mean_degree == pytest.approx(np.mean([k for _, k in g.degree]))
    assert found.largest_component == max(parts)
    names = [f"p{k}" for k in range(60)]
    (a, b), first = found.trusted_pairs[0], tuple(found.to_pandas(names).iloc[0])
    assert first == (f"p{a}", f"p{b}", pytest.approx(corr[a, b]))
    assert found.to_pandas()["correlation"].is_monotonic_decreasing
    assert sum(found.correlation_counts) == 60 * 59 // 2


def test_good_data_are_foretold_to_be_good_without_a_warning(strong):
    assert strong.warnings == ()
    assert strong.moments.fit_the_model
    assert strong.p_value == 0.005
    assert strong.holds_together
    assert strong.agreement > 0.95
    assert strong.reliability > 0.95
    # The noise has a hundredth of the signal's variance.
    assert strong.noise_fraction == pytest.approx(0.01, abs=0.01)


def test_bad_data_are_warned_of_once():
    with pytest.warns(UserWarning, match="nothing to see beyond chance") as told:
        found = diagnose(drawn(40, 6.0), 2)
    assert len(told) == 1
    assert str(told[0].message) == "; ".join(found.warnings)
    assert told[0].filename == __file__
    assert not found.agreement > 0.4


@pytest.mark.slow
def test_less_noise_lets_halves_agree(strong, weak):
    middle = quietly(drawn(100, 1.0))
    assert weak.agreement < middle.agreement < strong.agreement


def test_the_numbers_are_those_of_the_default_fit():
    for X in (drawn(200, 0.3, n_points=30), datasets.swiss_roll(120).X):
        found = quietly(X, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = IKD(2, random_state=0).fit(X)
        assert found.agreement == pytest.approx(model.agreement_, nan_ok=True)
        assert found.reliability == pytest.approx(model.reliability_, nan_ok=True)
        assert found.embedding == pytest.approx(model.embedding_)
        assert str(found).splitlines()[0] == str(model).splitlines()[1]
        assert found.parameters["affinity"] == model.settings_.affinity


def test_columns_that_follow_in_time_are_counted_and_cut_into_runs():
    X = autoregressive(94, 1000, 0.9)
    found = quietly(X, 2)
    assert found.n_effective == pytest.approx(1000 * (1 - 0.81) / (1 + 0.81), rel=0.1)
    assert found.n_trusted == 0
    assert found.chance.is_noise
    assert not found.agreement > 0.3
    assert "count as" in found.findings()["columns"]
    # Without order the same columns are as good as independent ones.
    shuffled = X[:, np.random.default_rng(0).permutation(1000)]
    assert covariance.effective_columns(shuffled) == 1000


def test_a_common_mode_is_named_and_the_cure_shows_what_it_hid():
    rng = np.random.default_rng(0)
    sectors = np.repeat(rng.normal(size=(3, 800)), 8, axis=0)
    X = 2.0 * rng.normal(size=800) + sectors + rng.normal(size=(24, 800))
    found = quietly(X, 2, refine=None)
    assert found.has_common_direction
    # What all rows share makes no pair significant, but hides in the fits that are compared.
    assert found.n_trusted == 3 * 28
    cured = quietly(covariance.remove_mean_row(X), 2, n_removed=1, refine=None)
    assert not cured.has_common_direction
    assert cured.n_effective == 799
    assert {(a // 8, b // 8) for a, b in cured.trusted_pairs.tolist()} == {(0, 0), (1, 1), (2, 2)}
    assert cured.n_trusted == 3 * 28
    # Here removing it predicts nothing better: it was tried, and is not advised.
    ((gain, step),) = found.tried
    assert "n_removed=1" in step.python
    assert gain.better != gain.first
    assert [each.command for each in found.steps] == ["embed"]


def ramps(rng):
    """Columns of many levels that all rise with a position, which makes the mean row."""
    at, level = rng.uniform(size=100), np.exp(rng.normal(size=60))
    return level * (0.3 + at[:, None]) + 0.3 * rng.normal(size=(100, 60)), at


def place_cells(rng):
    """Counts of cells tuned to a place on a track, among spikes at levels of their own."""
    at, field = rng.uniform(size=100), rng.uniform(size=60)
    rate = 5.0 * np.exp(-((at[:, None] - field) ** 2) / 0.0128) + 12.0 * rng.uniform(size=60)
    return rng.poisson(rate).astype(float), at


def test_what_would_destroy_the_embedding_is_tried_and_not_advised():
    X, at = ramps(np.random.default_rng(0))
    found = quietly(X, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        without = IKD(2).fit_transform(covariance.remove_mean_row(X))
    kept, removed = (affine_r2(at[:, None], Z) for Z in (found.embedding, without))
    assert found.has_common_direction
    assert kept > 0.9 > 0.2 > removed
    assert [step.command for step in found.steps] == ["embed"]
    assert "This fit is better than removing the mean row by" in str(found)


@pytest.mark.slow
def test_an_advice_is_what_predicts_held_out_columns_better_with_its_gain():
    X, at = place_cells(np.random.default_rng(6))
    found = quietly(X, 2)
    ((gain, _),) = found.tried
    step, embed = found.steps
    assert (step.command, embed.command) == ("diagnose", "embed")
    assert f"{gain.mean:.3f} ± {gain.half_width:.3f}" in step.words
    assert gain.mean - gain.half_width > 0.0
    # The same numbers by hand, on the same rows and folds.
    table = X[random_rows(len(X), limits.SIZED)]
    by_hand = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for part in model_selection.folds(table):
            shown, values = table[:, ~part], np.sqrt(table[:, part])
            model = IKD(2, random_state=0)
            after = held_out_r2(model.fit_transform(covariance.remove_mean_row(shown)), values)
            usual = IKD(2, **found.parameters, random_state=0).fit_transform(shown)
            by_hand += (after - held_out_r2(usual, values)) / 4.0
    assert gain.mean == pytest.approx(by_hand, abs=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tables = X, covariance.remove_mean_row(X)
        usual, after = (decoding_r2(IKD(2).fit_transform(each), at, 5) for each in tables)
    assert after > usual


def test_steps_run_when_pasted_after_the_import_that_the_text_names():
    rng = np.random.default_rng(0)
    sectors = np.repeat(rng.normal(size=(6, 120)), 6, axis=0)
    X = rng.normal(size=120) * rng.uniform(0.5, 1.5, (36, 1)) + sectors + rng.normal(size=(36, 120))
    rest = covariance.remove_mean_row(X)
    plain = {"strategy": "geodesic", "refine": None}
    tables = ((X, quietly(X, 2, **plain)), (rest, quietly(rest, 2, n_removed=1, **plain)))
    for table, found in tables:
        names = {"X": table}
        assert "import ikd_graph" in str(found)
        exec("import ikd_graph", names)
        for step in [*found.steps, *(step for _, step in found.tried)]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                exec(step.python, names)
    # What was removed before is neither removed again nor forgotten.
    later = [step for _, step in tables[1][1].tried]
    assert not any("remove_mean_row" in step.python for step in later)
    assert all("n_removed=1" in step.python for step in later)


def periodic(seed=0):
    """24 sensors of a few periods, of which 7 % of the variance is noise."""
    rng = np.random.default_rng(seed)
    turns = np.arange(200)[:, None] * 6.0 * np.pi / 200.0 * (1 + np.arange(24) % 3)
    X = np.sin(turns + rng.uniform(0.0, 2.0 * np.pi, 24))
    return X + np.sqrt(0.5 * 0.07 / 0.93) * rng.normal(size=X.shape)


def test_noise_does_not_contradict_what_columns_say_of_one_another():
    rng = np.random.default_rng(0)
    tables = periodic(), ramps(rng)[0], place_cells(rng)[0][:60], drawn(60, 0.5, n_points=40)
    every = [quietly(X, 2) for X in tables]
    for found in every:
        assert not found.noise_fraction > 1.0 - found.model.held_out_r2_
        assert ("independent noise" in str(found)) == np.isfinite(found.noise_fraction)
    text = str(every[0])
    # No threshold is above 1, and 24 features are called 24.
    assert all(float(value) <= 1.0 for value in re.findall(r"by ([\d.]+) or more", text))
    assert not re.search(r"too few|\b[5-9] features", text)


@pytest.mark.slow
def test_of_very_noisy_tables_the_default_finds_as_much_as_linear_methods():
    found = []
    for seed in range(20):
        latent = np.random.default_rng(seed).normal(size=(250, 2))
        X = datasets.gplvm_data(latent, 60, noise=2.0, seed=seed).X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            models = IKD(2), IKD(2, strategy="eigen"), IKD(2, strategy="linear")
            found.append([affine_r2(latent, model.fit_transform(X)) for model in models])
    default, eigen, linear = np.mean(found, axis=0)
    assert default >= max(eigen, linear) - 0.03


def test_nothing_is_foretold_of_noise_and_no_line_says_otherwise():
    found = quietly(np.random.default_rng(0).normal(size=(250, 60)), 2)
    assert found.n_trusted == 0
    assert found.chance.is_noise
    assert "there is nothing to see beyond chance" in found.warnings
    assert found.noise_fraction > 0.9
    assert "no single pair is significantly" in str(found)
    assert found.agreement < 0.3


def test_a_cure_is_named_where_no_step_helps_and_more_columns_may():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 40))
    plain = {"strategy": "geodesic", "refine": None}
    assert "cure" in quietly(noise, 2, **plain).findings()
    assert "cure" not in quietly(noise.cumsum(axis=0), 2, **plain).findings()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_diagnosis(weak):
    assert str(quietly(drawn(40, 3.0, n_points=24), 2)) == str(weak)


def test_words_say_the_numbers_and_steps_run_as_they_stand(strong, weak):
    assert f"agreement of halves {weak.agreement:.2f}" in str(weak)
    # Each is said once, in the answer or as a warning.
    assert all(str(weak).lower().count(text.lower()) == 1 for text in weak.warnings)
    assert "warning" not in str(strong)
    X = drawn(200, 0.1, n_points=25)
    latent = IKD(1, **strong.parameters).fit_transform(X)
    np.testing.assert_allclose(latent, IKD(1).fit_transform(X), atol=1e-6)
    (step,) = strong.steps
    model = eval(step.python, {"ikd_graph": ikd_graph, "X": X})
    np.testing.assert_array_equal(model.embedding_, latent)


@pytest.mark.slow
def test_many_points_are_sampled_and_pairs_have_the_numbers_of_all(monkeypatch):
    monkeypatch.setattr(limits, "DIAGNOSED", 24)
    X = drawn(200, 0.1)
    found = quietly(X)
    assert (found.n_points, found.n_used) == (60, 24)
    assert "24 points, chosen at random, were examined" in str(found)
    assert found.moments != model_selection.moments(X)
    (a, b), r = found.trusted_pairs[0], found.trusted_correlations[0]
    assert r == pytest.approx(np.corrcoef(X)[a, b])
    assert quietly(X) == found


def test_few_columns_are_not_halved():
    found = quietly(np.random.default_rng(0).normal(size=(30, 3)), 2)
    assert np.isnan(found.agreement)
    assert "3 columns are too few to tell whether the arrangement is there" in str(found)
    assert not any("two halves" in text for text in found.warnings)


def test_steps_keep_what_was_asked_for_and_a_graph_is_no_rule():
    X, _ = ramps(np.random.default_rng(0))
    found = quietly(X, 2, affinity="cosine", refine=None)
    (_, step), *_ = found.tried
    assert "affinity='cosine', refine=None, n_removed=1" in step.python
    assert found.model.affinity == "cosine"
    with pytest.raises(ValueError, match=r"graph must be a rule, .* got Graph; .*trust_ takes any"):
        ikd_graph.diagnose(X, graph=nx.path_graph(100))


POWERS = np.arange(20.0).reshape(5, 4) ** 2


@pytest.mark.parametrize(
    ("X", "more", "message"),
    [
        (np.ones((5, 4)), {}, "rows of X must vary"),
        (POWERS, {"n_components": 5}, "n_components must be .* less than the number of points"),
        (POWERS, {"fdr": 1.5}, "fdr must"),
        (np.full((5, 4), np.nan), {}, "contains NaN"),
    ],
)
def test_what_cannot_be_diagnosed_says_why(X, more, message):
    with pytest.raises(ValueError, match=message):
        diagnose(X, **more)


def test_the_map_draws_the_significant_pairs_between_named_points():
    line = np.linspace(0.0, 3.0, 15)[:, None]
    X = datasets.gplvm_data(line, 300, noise=0.1).X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = diagnose(X, 2)
    names = [f"site {k}" for k in range(15)]
    chart = found.map(names)
    assert chart.points.at.shape == (15, 2)
    (lines,) = chart.curves
    ends = np.column_stack([lines.x, lines.y]).reshape(-1, 3, 2)[:, :2]
    drawn = found.trusted_pairs[: len(ends)]
    assert 0 < len(drawn) == min(found.n_trusted, 5 * 15)
    np.testing.assert_array_equal(ends, found.embedding[drawn])
    ax = found.plot(plot.axes(11, 5.6), names, ["a", "b", "c"] * 5)
    pairs, where = (one for one in ax.figure.axes)
    assert pairs is ax
    # Both have their axes, and the map its names.
    assert [one.axison for one in (pairs, where)] == [True, True]
    assert pairs.get_xlabel() == "correlation"
    assert {text.get_text() for text in where.texts} <= set(names)
    assert len(where.texts) > 7
    assert "significant pairs" in where.get_title(loc="left")


def test_every_pair_is_counted_where_all_correlations_are_one():
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(8, 2))
        diagnosis = quietly(X)
        assert sum(diagnosis.correlation_counts) == 28
        assert diagnosis.chart()


def test_sparse_rows_are_diagnosed_as_dense_ones(monkeypatch):
    X = sp.random(60, 30, 0.3, random_state=0, format="csc")
    dense = X.toarray()
    assert repr(quietly(X)) == repr(quietly(dense))
    both = [str(quietly(each, missing="pairwise")) for each in (X, dense)]
    assert both[0] == both[1]
    monkeypatch.setattr(limits, "DIAGNOSED", 40)
    assert quietly(X).n_used == 40
    X.data[0] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN: got 1 row with missing values: \d+;"):
        ikd_graph.diagnose(X)


def test_correlations_next_to_one_are_told_from_one():
    X = np.cos(np.arange(12.0)[:, None] / 40.0 + np.linspace(0.0, 6.0, 60))
    text = str(quietly(X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)))
    assert "by 1 or more" not in text


@pytest.mark.parametrize("value", [-1, 2.5, "x", 2**32])
def test_a_seed_that_is_none_is_refused(value):
    with pytest.raises(ValueError, match="random_state must be an integer from 0"):
        diagnose(np.random.default_rng(0).normal(size=(20, 30)), random_state=value)
