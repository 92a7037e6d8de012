"""What an embedding shows, and how far to trust it: one sentence, and numbers of one name each."""

import warnings

import numpy as np
import pytest
from tables import process, quiet

from ikd_graph import IKD, datasets
from ikd_graph.chance import chance_test
from ikd_graph.trust import QUESTIONS, Trust


def trust(X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return IKD(2, **settings).fit(X).trust_


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    Z = rng.uniform(-1.0, 1.0, size=(120, 2))
    waves = np.sin(2.0 * Z @ rng.normal(size=(2, 60)) + rng.uniform(0.0, 6.0, 60))
    return {
        "surface": waves + 0.2 * rng.normal(size=waves.shape),
        "noise": np.random.default_rng(5).normal(size=(120, 60)),
        "wide noise": np.random.default_rng(5).normal(size=(80, 300)),
        "walks": rng.normal(size=(120, 60)).cumsum(axis=0),
        "few": rng.normal(size=(60, 5)),
    }


def test_the_verdict_is_what_is_there(tables):
    assert trust(tables["surface"]).verdict.startswith("the arrangement can be read")
    for name in ("noise", "wide noise"):
        assert trust(tables[name]).verdict == "there is nothing to see beyond chance"
    walks = trust(tables["walks"])
    # Halves of unrelated walks agree, and the verdict does not call that an arrangement.
    assert walks.agreement > 0.8
    assert walks.verdict.startswith("rows follow one another, and nothing beyond their order")
    levels = trust(tables["noise"] + 3.0 * np.random.default_rng(1).normal(size=(120, 1)))
    assert levels.verdict.endswith("nothing beyond the levels and scales of the rows was found")
    assert trust(tables["few"]).verdict == (
        "5 columns are too few to tell whether the arrangement is there"
    )


@pytest.mark.parametrize(
    ("agreement", "reliability", "said"),
    [
        (0.9, 0.9, "the arrangement can be read: two halves of the columns give the same one"),
        (0.9, 0.5, "the arrangement can be read roughly: its standard errors are large"),
        (0.9, 0.2, "at most neighborhoods can be read, not the arrangement: its standard errors"),
        (0.5, 0.9, "the arrangement can be read roughly: two halves of the columns give similar"),
        (0.2, 0.2, "at most neighborhoods can be read, not the arrangement: two halves"),
        # Printed as 0.40.
        (0.398, 0.9, "the arrangement can be read roughly: two halves of the columns give similar"),
    ],
)
def test_the_verdict_names_the_number_that_limits_it(agreement, reliability, said):
    found = Trust(None, (agreement,), reliability, 100)
    assert found.verdict.startswith(said)
    assert found.is_weak == ("at most" in said)


def test_the_verdict_says_what_the_model_leaves_unexplained():
    latent = np.random.default_rng(0).normal(size=(50, 3))
    X = process(1.7 * latent / np.linalg.norm(latent, axis=1)[:, None], 100, 0.3)
    model = quiet(IKD(2, kernel="squared_exponential", refine="likelihood"), X)
    with pytest.warns(UserWarning, match="the model does not fit X"):
        found = model.trust_
    assert found.agreement > 0.0
    assert found.is_weak
    assert found.verdict.startswith("at most neighborhoods can be read, not the arrangement: one")
    assert found.verdict.endswith("fit n_components=3")


@pytest.mark.parametrize("settings", [{"refine": "stress"}, {"refine": None}, {"graph": 8}])
def test_no_setting_hides_the_numbers(tables, settings):
    named = {"affinity": "euclidean", "strategy": "geodesic", **settings}
    numbers = trust(tables["surface"], **named).numbers
    assert list(QUESTIONS)[:2] == [name for name in numbers if name != "reliability"]
    assert numbers["agreement of halves"] > 0.8


def test_a_named_choice_has_the_numbers_of_the_same_choice_made_for_you(tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        chosen = IKD(2).fit(tables["surface"])
        plan = chosen.settings_
        named = IKD(2, strategy=plan.strategy, affinity=plan.affinity, refine=plan.refine)
        named.fit(tables["surface"])
    assert named.agreement_ == pytest.approx(chosen.agreement_, abs=1e-12)
    assert named.held_out_r2_ == pytest.approx(chosen.held_out_r2_, abs=1e-12)


def test_samples_of_the_model_have_a_held_out_r2():
    data = datasets.gplvm_data(datasets.fixed_latent("medium", 50), 120, noise=0.3)
    model = IKD(3).fit(data.X)
    assert model.candidates_ == ()
    assert 0.3 < model.held_out_r2_ < 1.0


def test_what_has_no_columns_has_no_such_numbers(tables):
    X = tables["surface"]
    given = IKD(2, affinity="precomputed").fit(np.corrcoef(X))
    assert np.isnan([given.agreement_, given.held_out_r2_]).all()
    sentences = given.trust_.sentences("given")
    assert sentences == [
        "given: it is not known whether the arrangement is there: there are no halves of the "
        "columns to compare."
    ]


def test_numbers_survive_a_file(tables, tmp_path):
    model = IKD(2, affinity="euclidean", strategy="geodesic", refine=None).fit(tables["surface"])
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    assert again.agreement_ == pytest.approx(model.agreement_, abs=1e-12)
    assert again.held_out_r2_ == pytest.approx(model.held_out_r2_, abs=1e-12)


def test_a_model_says_its_verdict_where_it_is_printed(tables):
    assert repr(IKD(3)) == "IKD(n_components=3)"
    assert "<p>" not in IKD()._repr_html_()
    for name, said in (
        ("surface", "The arrangement can be read"),
        ("noise", "There is nothing to see beyond chance."),
    ):
        X = tables[name][:50]
        model = quiet(IKD(2, refine="likelihood"), X)
        found = model.trust_
        first, line = repr(model).splitlines()
        assert first == "IKD(refine='likelihood')"
        assert line.startswith(said)
        assert line in model._repr_html_()
        assert repr(found).splitlines()[0] == line
        # Each number stands once, beside the question that it answers.
        assert all(repr(found).count(f"{name} ") == 1 for name in found.numbers)
        assert found.chance == chance_test(X)
        assert str(found.checks) == str(model.checks_)
        assert all(any(at is one for one in model.optima_) for at in found.rivals)


def test_the_names_of_attributes_are_told_without_computing_them(tables, monkeypatch):
    model = quiet(IKD(2, refine="likelihood"), tables["surface"][:50])
    monkeypatch.setattr(type(model.model_), "error_bars", lambda _: pytest.fail("was computed"))
    assert {"transform", "embedding_", "reliability_", "trust_"} <= {*dir(model)}
