"""A comparison is fair, says one thing, and says it only where its test does."""

import re
import time
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.spatial import procrustes
from scipy.stats import ttest_1samp
from tables import quiet

import ikd_graph
from ikd_graph import IKD, datasets, graph, metrics
from ikd_graph.jobs import baselines
from ikd_graph.jobs.compare import Comparison, Row, compare, sentences
from ikd_graph.jobs.diagnose import diagnose


@pytest.fixture(scope="module")
def roll():
    data = datasets.swiss_roll(150)
    rng = np.random.default_rng(0)
    X = data.X @ rng.normal(size=(3, 12)) + rng.normal(size=(150, 12))
    return replace(data, X=X, latent=None, name="roll")


@pytest.fixture(scope="module")
def result(roll):
    return compare(roll, ("blockwise", "geodesic", "eigen", "pca"), noise=(0.0, 0.5), n_draws=4)


def made(first, second, measure="maximum_likelihood", noise=0.0):
    """Comparison of two methods that have these scores (draws, references)."""
    data = datasets.Dataset(X=np.zeros((4, 2)), name="made")
    Z = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    rows = [
        Row(name, name, None, noise, v.mean(), 0.1, 1.0, {}, values=v, embedding=Z)
        for name, v in (("blockwise", np.array(first)), ("geodesic", np.array(second)))
    ]
    return Comparison(data, measure, {}, rows)


@pytest.mark.parametrize("key", [("geodesic", 0.25), ("isomap", 0.0)])
def test_a_row_that_is_not_there_is_refused_with_those_that_are(key):
    with pytest.raises(
        ValueError, match=r"must be one of \('blockwise', 0.0\).*; compare adds others"
    ):
        made([[0.5]], [[0.4]]).row(*key)


@pytest.mark.filterwarnings("ignore:.* pairs have a covariance <= 0")
def test_all_strategies_have_the_similarity_and_the_graph_that_are_named(roll, result):
    used = {name: result.used[name] for name in ("affinity", "graph", "kernel")}
    models = {
        name: IKD(2, strategy=name, refine=None, **used).fit(roll.X)
        for name in ("blockwise", "geodesic", "eigen")
    }
    for name, model in models.items():
        _, _, gap = procrustes(model.embedding_, result.row(name, 0.0).embedding)
        assert gap < 1e-12
    first, second = models["blockwise"].graph_, models["geodesic"].graph_
    np.testing.assert_array_equal(first.indices, second.indices)
    assert result.head["graph"] == f"{result.used['graph'].k} nearest neighbors"
    told = str(result)
    assert all(text in told for text in result.head.values())


@pytest.mark.parametrize("affinity", ["correlation", "cosine", "euclidean", "hellinger"])
def test_other_methods_are_given_the_similarity_of_the_strategies(affinity):
    counts = datasets.spike_counts(30, 12).X
    result = compare(counts, ("linear", "pca"), noise=0, affinity=affinity)
    first, second = (result.row(name, 0.0).embedding for name in ("linear", "pca"))
    assert procrustes(first, second)[2] < 1e-9
    assert result.difference("linear", "pca").mean == pytest.approx(0.0, abs=1e-6)


def test_settings_that_are_given_are_kept(roll):
    rule = graph.Threshold(0.4, prune=False)
    given = {"affinity": "correlation", "graph": rule, "kernel": "matern"}
    result = compare(roll, noise=0, refine=None, **given)
    assert {name: result.used[name] for name in given} == given
    assert result.head["graph"] == "similarity above 0.4"
    assert [row.refine for row in result.rows] == [None, None]


def test_noise_is_in_shares_of_each_column_and_the_score_is_against_the_table_as_given(roll):
    units = 10.0 ** np.arange(12)
    given = {"affinity": "standardized_euclidean", "graph": 10, "refine": None}
    names = ("blockwise", "geodesic", "pca", "isomap")
    plain = compare(roll, names, noise=(0.0, 1.0), **given)
    scaled = compare(replace(roll, X=roll.X * units), names, noise=(0.0, 1.0), **given)
    for name in names:
        first, second = (one.row(name, 1.0) for one in (plain, scaled))
        assert procrustes(first.embedding, second.embedding)[2] < 1e-6
        np.testing.assert_allclose(first.values, second.values, atol=1e-6)
    # Independent noise cannot be predicted: against itself the score of pure noise would be zero.
    data = replace(roll, X=roll.X[:, :2])
    result = compare(data, ("pca",), noise=0.3, n_draws=2, affinity="euclidean")
    rng = np.random.default_rng([0, 0])
    noisy = data.X + 0.3 * data.X.std(axis=0) * rng.standard_normal(data.X.shape)
    expected = metrics.held_out_r2(baselines.embed("pca", noisy).value, data.X)
    assert result.row("pca", 0.3).values.ravel()[0] == pytest.approx(expected)


def test_a_known_truth_is_the_reference_and_leaves_no_chance_without_noise():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 60), 96, noise=0.3)
    result = compare(data, n_components=3, noise=(0.0, 1.0), refine=None)
    assert result.measure == "true"
    for name in ("blockwise", "geodesic"):
        truth = metrics.affine_r2(data.latent, result.row(name, 0.0).embedding)
        assert result.row(name, 0.0).score == pytest.approx(truth)
    still, moved = result.tests
    assert still.half_width == 0.01
    assert moved.half_width > 0.01
    assert result.row("geodesic", 1.0).values.shape == (4, 1)


@pytest.mark.slow
def test_a_truth_that_is_given_scores_as_that_of_a_data_set():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 60), 200, seed=0)
    options = {"n_components": 3, "noise": 0, "refine": None}
    known = compare(data, **options)
    given = compare(data.X, truth=data.latent, **options)
    assert given.measure == "true"
    assert [row.score for row in given.rows] == [row.score for row in known.rows]
    sampled = compare(data.X, truth=data.latent[:, 0], max_rows=40, **options)
    assert sampled.data.latent.shape == (40, 1)
    with pytest.raises(ValueError, match="truth must be a table of floats with 60 rows"):
        compare(data.X, truth=data.latent[:5], **options)
    with pytest.raises(ValueError, match="truth must be finite, got 1 NaN"):
        compare(data.X, truth=np.where(np.arange(60) == 3, np.nan, 1.0), **options)


def test_a_table_with_holes_is_filled_in_first():
    X = np.random.default_rng(0).normal(size=(30, 25))
    X[4, 4] = np.nan
    with pytest.raises(ValueError, match=r"got 1 row with missing values: 4; .*KNNImputer") as told:
        compare(X)
    # It has no such parameter itself.
    assert "missing=" not in str(told.value).replace("as IKD(missing='pairwise') does", "")


def test_a_truth_that_cannot_be_scored_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 25))
    with pytest.raises(ValueError, match="truth must have a largest value between"):
        compare(X, truth=X[:, :2] * 1e200)
    with pytest.raises(ValueError, match="truth must hold real numbers, got <U1"):
        compare(X, truth=["a"] * 30)


def test_the_likeliest_latents_of_halves_stand_in_for_the_truth():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 60), 600, noise=0.3)
    pairs = [("blockwise", "geodesic"), ("geodesic", "paper_geodesic")]
    names = ["blockwise", "geodesic", "paper_geodesic"]
    result = compare(data.X, names, n_components=3, noise=0.0, refine=None)
    known = compare(data, names, n_components=3, noise=0.0, refine=None)
    assert (result.measure, known.measure) == ("maximum_likelihood", "true")
    for pair in pairs:
        test, true = result.difference(*pair), known.difference(*pair)
        assert test.better == true.better
        assert test.mean == pytest.approx(true.mean, abs=0.02)


@pytest.mark.parametrize(
    ("gaps", "better"),
    [
        ([0.05, 0.06, 0.05, 0.06], "blockwise"),
        ([-0.05, -0.06, -0.05, -0.06], "geodesic"),
        ([0.001, -0.001, 0.002, 0.0], ""),
        ([0.3, -0.2, 0.1, 0.2], None),
        ([-0.3, 0.2, -0.1, -0.2], None),
        ([0.008, 0.008, 0.008, 0.0081], ""),
        ([0.020, 0.015, 0.018, 0.015], "blockwise"),
        ([0.020, 0.012, 0.018, 0.018], None),
    ],
)
def test_a_verdict_follows_from_the_interval_and_the_sentence_from_the_verdict(gaps, better):
    result = made([0.5 + np.array(gaps)], [[0.5] * 4])
    (test,) = result.tests
    assert test.better == better
    said = result.answer[0]
    assert ("better" in said) == bool(better)
    assert ("no difference that matters" in said) == (better == "")
    low, high = (test.mean + sign * test.half_width for sign in (-1.0, 1.0))
    assert ("cannot be told apart" in said) == (better is None)
    assert (low < 0.0 < high) == (not better)
    assert said.rstrip(".)").endswith(f"{abs(test.mean):.3f} ± {test.half_width:.3f}")
    assert "too few columns" not in said
    if not better:
        higher = ["Geodesic and blockwise", "Blockwise and geodesic"][int(np.mean(gaps) >= 0.0)]
        assert said.startswith(f"{higher}: ")
    if better:
        assert said.startswith(f"{better.capitalize()} is better than")
    # The page and the text begin with the same sentence.
    assert str(result).startswith(said)


def test_of_peers_alone_the_two_best_are_tested():
    scores = {"pca": 0.1, "umap": 0.5, "isomap": 0.4}
    (row, _) = made([[0.5] * 4], [[0.5] * 4]).rows
    rows = [
        row._replace(title=name, method=name, score=value, values=np.full((1, 4), value))
        for name, value in scores.items()
    ]
    result = replace(made([[0.5] * 4], [[0.5] * 4]), rows=rows)
    assert result.pair == ("umap", "isomap")
    assert result.answer[0].startswith("Umap is better than isomap by 0.100")


def test_draws_of_noise_are_a_paired_t_test():
    rng = np.random.default_rng(0)
    both = rng.normal(size=(6, 1))
    first, second = both + rng.normal(0.1, 0.05, (6, 1)), both
    test = made(first, second, "true", 0.5).difference("blockwise", "geodesic", 0.5)
    low, high = ttest_1samp((first - second).ravel(), 0.0).confidence_interval(0.95)
    assert test.mean - test.half_width == pytest.approx(low - 0.01)
    assert test.mean + test.half_width == pytest.approx(high + 0.01)


def test_disagreement_is_what_is_left_after_a_similarity_and_points_are_called_by_name(roll):
    frame = pd.DataFrame(roll.X, index=[f"s{k}" for k in range(150)])
    result = compare(
        frame, noise=0, refine=None, labels=pd.Series(np.where(roll.y > 8, "out", "in"), name="far")
    )
    first, second = (result.row(name, 0.0).embedding for name in ("blockwise", "geodesic"))
    a, b, _ = procrustes(first, second)
    # scipy gives both unit size, which is not the best scale of the second.
    np.testing.assert_allclose(
        result.disagreement, np.linalg.norm(a - b, axis=1) * np.sqrt(150), rtol=1e-6
    )
    worst = f"s{int(np.argmax(result.disagreement))}"
    assert f"largest at {worst} (" in str(result)
    points = pd.DataFrame(result.points())
    assert points["row"].tolist() == frame.index.tolist()
    assert set(points["far"]) == {"out", "in"}
    np.testing.assert_allclose(points["disagreement"], result.disagreement)


def test_a_refinement_is_a_row_of_its_own_and_its_gain_is_told(result):
    assert [row.title for row in result.rows if row.noise == 0.0] == [
        "blockwise", "blockwise + stress", "geodesic", "geodesic + stress", "eigen", "pca",
    ]  # fmt: skip
    gain = result.difference("geodesic + stress", "geodesic")
    (said,) = [text for text in sentences(result) if text.startswith("Refinement")]
    assert f"{abs(gain.mean):.3f} ± {gain.half_width:.3f}" in said


def test_rows_go_to_pandas_with_what_they_share(result):
    table = result.to_pandas()
    assert len(table) == 12
    assert set(table["graph"]) == {result.head["graph"]}
    assert table["score"].between(-1.0, 1.0).all()
    assert (table["half_width"] > 0.01).all()


def test_a_method_that_is_not_there_is_a_line_and_none_at_all_an_error(roll, monkeypatch):
    gone = baselines.PEERS["phate"]._replace(module="no_such_module")
    monkeypatch.setitem(baselines.PEERS, "phate", gone)
    result = compare(roll, ("pca", "phate"), noise=0)
    (said,) = (line for line in str(result).splitlines() if "phate" in line)
    assert said.endswith("needs phate, which is not installed (pip install phate)")
    with pytest.raises(ValueError, match="no method gave an embedding: phate needs phate"):
        compare(roll, "phate", noise=0)


def test_a_peer_that_hangs_or_dies_is_a_line_and_the_others_are_kept(roll, monkeypatch):
    embed = baselines.embed

    def unruly(name, X, n_components, seed):
        import os
        import time

        if name == "isomap":
            time.sleep(600)
        if name == "lle":
            os._exit(1)
        return embed(name, X, n_components, seed)

    monkeypatch.setattr(baselines, "embed", unruly)
    begin = time.perf_counter()
    result = compare(roll, ("isomap", "lle", "pca"), noise=0, time_limit=10.0, max_rows=40)
    assert time.perf_counter() - begin < 300.0
    failures = {row.title: row.failure for row in result.rows}
    assert failures["isomap"] == "stopped after 10 s (time limit)"
    assert "its process ended" in failures["lle"]
    assert result.titles == ["pca"]
    assert str(result).count("time limit") == 1
    with pytest.raises(ValueError, match="time_limit must be positive"):
        compare(roll, "pca", time_limit=0.0)


def test_the_held_out_r2_is_the_one_that_a_fit_prints():
    rng = np.random.default_rng(0)
    for data in (datasets.swiss_roll(150), datasets.half_moons(150)):
        X = data.X @ rng.normal(size=(data.X.shape[1], 10))
        model = IKD(2, strategy="geodesic").fit(X)
        result = compare(X, "geodesic", noise=0)
        first, *_ = model.candidates_
        assert result.measure == "held-out"
        score = result.row(f"geodesic + {first.refine}", 0.0).score
        assert score == pytest.approx(model.held_out_r2_, abs=1e-9)


@pytest.fixture(scope="module", params=["bent", "roll", "counts"])
def embedded(request, roll):
    """A table, and what embeds it."""
    # Of this table closed forms by geodesics alone would choose correlations.
    rng = np.random.default_rng(4)
    bent = np.tanh(rng.normal(size=(50, 2)) @ rng.normal(size=(2, 24)))
    bent = bent * np.exp(rng.normal(0.0, 0.5, 24)) + 0.6 * rng.normal(size=bent.shape)
    bent += rng.normal(0.0, 0.5, (50, 1))
    X = {"bent": bent, "roll": roll.X, "counts": datasets.spike_counts(30, 12).X}[request.param]
    return X, quiet(IKD(2, random_state=0), X)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("refine", [None, "stress", "auto"])
def test_rows_are_compared_as_embed_compares_them_whatever_is_refined(refine, embedded):
    X, model = embedded
    result = compare(X, "geodesic", noise=0, refine=refine)
    assert result.used["affinity"] == model.settings_.affinity
    assert result.trust.agreement == pytest.approx(model.agreement_)
    assert f"agreement of halves {model.agreement_:.2f}" in str(result)


def test_a_truth_of_more_dimensions_than_the_comparison_is_said_once():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 20), 60, seed=0)
    said = "The truth has 3 dimensions, the comparison 2: pass n_components=3."
    texts = {m: str(compare(data, n_components=m, noise=0, refine=None)) for m in (2, 3)}
    assert texts[2].count(said) == 1
    assert "the truth has" not in texts[3].lower()
    # Columns that repeat one another are no further dimensions.
    twice = np.column_stack([data.latent[:, :2], data.latent[:, :2] @ [1.0, 2.0]])
    assert "truth has" not in str(compare(data.X, "linear", truth=twice, noise=0)).lower()


def test_the_best_strategy_is_tested_against_other_methods_where_there_is_no_pair(roll, result):
    alone = compare(roll, ("geodesic", "pca"), noise=0, refine=None)
    test = alone.difference("geodesic", "pca")
    assert alone.answer[0] == f"{str(test).capitalize()}."
    assert str(alone).lower().count(str(test)) == 1
    assert str(result).count("Best strategy against") == 1
    first = compare(roll, "pca", noise=0).answer[0]
    assert first.startswith("Pca has the highest score")


def test_no_method_is_compiled_while_it_is_timed(roll, monkeypatch):
    embed, calls = baselines.embed, []

    def slow_at_first(name, X, n_components, seed):
        calls.append(len(X))
        if len(calls) == 1:
            time.sleep(0.5)
        return embed(name, X, n_components, seed)

    monkeypatch.setattr(baselines, "embed", slow_at_first)
    result = compare(replace(roll, latent=roll.X[:, :2]), "pca", noise=0)
    assert len(calls) == 2
    assert result.row("pca", 0.0).seconds < 0.5


def test_few_columns_have_no_verdict_without_noise():
    result = compare(datasets.half_moons(60), noise=0)
    assert result.tests[0].better is None
    text = " ".join([*result.answer, *sentences(result)])
    assert "too few columns for a test" in text
    assert "nan" not in text


def test_nothing_is_called_held_out_where_all_columns_were_embedded():
    X = datasets.half_moons(60).X
    model = IKD(2).fit(X)
    assert np.isnan([each.r2 for each in model.candidates_]).all()
    assert "held-out" not in " ".join(model.settings_.reasons.values())
    assert compare(X, "geodesic", noise=0).measure == "embedded"
    with pytest.warns(UserWarning, match="2 columns are too few to tell"):
        found = diagnose(X)
    assert np.isnan(found.noise_fraction)
    assert "independent noise" not in str(found)


def test_large_tables_are_compared_on_a_sample_that_keeps_names_and_labels():
    data = datasets.digits()
    result = compare(data, ("pca",), noise=0, max_rows=100)
    rows = [int(name) for name in result.data.names]
    np.testing.assert_array_equal(result.data.X, data.X[rows])
    np.testing.assert_array_equal(result.data.y, data.y[rows])
    assert result.row("pca", 0.0).labels["knn"] > 0.4


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"methods": "magic"}, "methods must be one of"),
        ({"methods": ()}, "methods must name at least one of"),
        ({"noise": -1.0}, "noise must be finite fractions"),
        ({"noise": ()}, "noise must be finite fractions"),
        ({"n_draws": 1}, "n_draws must be an integer"),
        ({"affinity": "precomputed"}, "affinity must compare rows of a table"),
        ({"labels": [1, 2]}, "labels must be one for each of 150 rows"),
        ({"graph": 0}, "graph must be an integer at least 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(more, message, roll):
    with pytest.raises(ValueError, match=message):
        compare(roll, **more)


def test_the_seed_decides_everything(roll):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts = [str(compare(roll, noise=0.5, refine=None, random_state=s)) for s in (1, 1, 2)]
    scores = [re.search(r"blockwise +(\S+) ±", text)[1] for text in texts]
    assert scores[0] == scores[1] != scores[2]


def test_the_function_is_at_the_top_and_the_result_draws_itself(result):
    assert ikd_graph.compare is compare
    ax = result.plot()
    assert len(ax.patches) == 2 * 6
    assert len(ax.containers) == 2 * 2
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == result.titles
    panels = [one for one in ax.figure.axes if len(one.collections) == 1 and not one.patches]
    assert len(panels) == 2 * 6
    pyplot.close(ax.figure)


def tables():
    """Tables of six kinds, small."""
    rng = np.random.default_rng(1)
    noise = datasets.Dataset(X=rng.normal(size=(60, 120)), name="noise")
    digits = datasets.digits()
    labels = (replace(digits.labels[0], y=digits.y[:150]),)
    counts = datasets.spike_counts(90, 40)
    model = datasets.gplvm_data(datasets.fixed_latent("medium", 60), 120, noise=0.3)
    levels = noise.X + 30.0 * rng.normal(size=(60, 1))
    return {
        "moons": datasets.half_moons(80), "digits": replace(digits, X=digits.X[:150],
        labels=labels), "counts": counts, "model": replace(model, latent=None),
        "noise": noise, "levels": replace(noise, X=levels),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", tables())
def test_no_line_contradicts_another(name):
    result = compare(tables()[name], ("blockwise", "geodesic", "pca"), noise=(0.0, 0.8), n_draws=2)
    text = str(result)
    assert "nan" not in text
    wins = re.findall(r"(?:[Aa]t noise (\S+) )?(\w[\w+ ]*?) is better than (.*?) by ([\d.]+)", text)
    for level, better, worse, gap in wins:
        level = float(level or 0.0)
        better = better.removeprefix("then ")
        first, second = (result.row(title, level).score for title in (better, worse))
        assert first - second == pytest.approx(float(gap), abs=0.0006)
    for level, test in zip(result.levels, result.tests, strict=True):
        names = " and ".join(
            sorted((test.first, test.second), key=lambda title: -result.row(title, level).score)
        )
        said = f"t noise {level:g} {names}: no difference that matters"
        assert (said in text) == (test.better == "")
        said = rf"t noise {level:g} {names}: (too few columns for a test|cannot be told apart)"
        assert bool(re.search(said, text)) == (test.better is None)
    if name == "noise":
        assert "columns carry no distance" in text
        assert result.tests[0].better in ("", None)


def test_an_interrupt_keeps_the_methods_that_are_finished(tmp_path, monkeypatch, capsys):
    from ikd_graph.cli import main

    def stopped(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(IKD, "fit_transform", stopped)
    words = ["compare", "half_moons", "--methods", "pca,isomap,geodesic", "--noise", "0,0.5"]
    assert main([*words, "-o", str(tmp_path)]) == 130
    heard = capsys.readouterr()
    assert "the methods that were finished are kept" in heard.err
    text = (tmp_path / "half_moons_compare.csv").read_text()
    titles = [line.partition(",")[0].lower() for line in text.splitlines()[1:]]
    assert titles == ["pca", "pca", "isomap", "isomap"]
    # Where nothing is finished nothing is written.
    (tmp_path / "half_moons_compare.csv").unlink()
    assert main([*words, "--methods", "geodesic", "-o", str(tmp_path)]) == 130
    assert not (tmp_path / "half_moons_compare.csv").exists()
