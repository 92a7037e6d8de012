"""Tutorials on real tables: their sentences say what the code computes, without a network."""

import importlib.util
import re
import runpy
import socket
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from ikd_graph import IKD, cliques

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PACKAGES = {"plot_6_states": "libpysal", "plot_7_tumors": "sklearn", "plot_8_regions": "nitime"}


def no_network(*args, **options):
    raise OSError("a story uses no network")


def text_of(name):
    """Docstring and comments of a tutorial, as one line."""
    source = (TUTORIALS / f"{name}.py").read_text()
    docstring = source.split('"""')[1]
    comments = re.findall(r"^#(?! %%)(.*)$", source, re.MULTILINE)
    return " ".join(" ".join([docstring, *comments]).replace("**", "").split())


def told(name):
    """Run a tutorial; return what it computed."""
    package = PACKAGES[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package}, which brings the table, is not installed")
    plt = pytest.importorskip("matplotlib.pyplot")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(socket.socket, "connect", no_network)
        warnings.simplefilter("ignore")
        computed = runpy.run_path(str(TUTORIALS / f"{name}.py"))
    assert plt.get_fignums(), "a story ends in a figure"
    plt.close("all")
    return computed


def check_sentences(name, sentences):
    text = text_of(name)
    assert [sentence for sentence in sentences if sentence not in text] == []


def fraction(table, column, axis):
    row = table.set_index("column").loc[column]
    return f"{row[f'fraction_{axis}']:.2f} ± {row[f'fraction_se_{axis}']:.2f}"


def stays(listed, members):
    return float(listed.set_index("members").loc[members, "stability"])


@pytest.mark.parametrize("name", ["plot_6_states", "plot_8_regions"])
def test_a_story_without_its_package_ends_with_a_sentence(name, monkeypatch):
    found = importlib.util.find_spec
    absent = PACKAGES[name]
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda module, *at: None if module == absent else found(module)
    )
    with pytest.raises(SystemExit, match=f"{absent} is not installed.*pip install {absent}"):
        runpy.run_path(str(TUTORIALS / f"{name}.py"))


def test_the_site_leaves_out_stories_whose_package_is_absent():
    settings = (TUTORIALS.parent / "conf.py").read_text()
    named = dict(re.findall(r'"(plot_\w+)": "(\w+)"', settings))
    assert named == {name: package for name, package in PACKAGES.items() if package != "sklearn"}
    assert all((TUTORIALS / f"{name}.py").exists() for name in PACKAGES)


@pytest.mark.slow
def test_the_story_of_the_states():
    story = told("plot_6_states")
    growth, found, years = story["growth"], story["found"], story["years"]
    own, large, levels = story["own"], story["large"], story["levels"]
    n_found = story["columns"].n_significant
    first, second = years.iloc[0], years.iloc[1]
    cars = stays(story["listed"], "Indiana, Michigan, Ohio")
    most = {*growth["1935"].nlargest(4).index}
    common = most & {*growth["1949"].nsmallest(4).index}
    assert most == {"North Dakota", "Nebraska", "Iowa", "South Dakota"}
    assert len(common) == 3
    assert 0.0 < story["expected"] < 1.0
    assert large["members"].iloc[0] == "Indiana, Michigan, Ohio"
    check_sentences(
        "plot_6_states",
        [
            f"of {len(growth)} American states, from 1929 to 2009",
            f"correlate, by {mean_correlation(story['incomes']):.2f} in the mean: incomes",
            f"The {growth.shape[1]} years of growth have structure (p = {found.p_value:.3f})",
            f"growths correlate by {mean_correlation(growth):.2f} in the mean",
            f"embedded separately, agree by an R² of {found.agreement:.2f} only",
            f"The reliability is {story['model'].reliability_:.2f}:",
            f"predict the place of a state that is left out with an R² of {story['r2_places']:.2f}",
            f"the best of 99 tries has {max(story['by_chance']):.2f}",
            f"{n_found} of the {len(years)} years are related to the map, {first.column} and "
            f"{second.column} the most (R² {first.r2:.2f} and {second.r2:.2f})",
            f"dimension 1 is {fraction(years, '1935', 1)}",
            f"Of {len(large)} cliques of three or more the surest is",
            f"unrelated rows have {story['expected']:.2f} of three",
            f"with a stability of {np.floor(100 * cars) / 100:.2f}",
            f"None of the others is above {np.ceil(100 * large['stability'].iloc[1]) / 100:.2f}",
            f"Halves of the years agree by {found.agreement:.2f}.",
            f"counts the {growth.shape[1]} years of growth as {found.n_effective:.0f} independent",
            f"the {story['incomes'].shape[1]} years of income as {levels.n_effective:.0f}.",
            *(f"{at} next to {story['nearest'][at][0]}" for at in ("Iowa", "Texas")),
            f"Ohio lands next to {story['nearest']['Ohio'][0]}",
            f"the R² of the places falls to {story['r2_regressed']:.2f}",
        ],
    )
    assert own.shape == growth.shape
    assert story["nearest"]["Iowa"] == ["Minnesota", "Nebraska"]
    gaps = np.linalg.norm(
        story["model"].embedding_ - story["model"].embedding_[growth.index.get_loc("Oregon")],
        axis=1,
    )
    regions = np.array(story["regions"])[np.argsort(gaps)[1:4]]
    assert set(regions) <= EAST, regions

    check_reading_of_states(story)


def check_reading_of_states(story):
    """Compare the page on columns with the map from which the mean year was regressed out."""
    text = " ".join((TUTORIALS.parent / "columns.md").read_text().split())
    regressed, growth = story["regressed"], story["growth"]
    columns = regressed.columns(names=growth.columns)
    along_second, along_first = columns.top(1, 3), columns.top(0, 2)
    correlations = np.corrcoef(story["own"])
    opposite = int((correlations[np.triu_indices(len(growth), 1)] < -0.4).sum())
    listed = story["listed"]
    cars = stays(listed, "Indiana, Michigan, Ohio")
    sentences = [
        f"{columns.n_significant} of the {len(columns)} years are related to it",
        "{}, {} and {} run along dimension 2".format(*along_second),
        "{} and {} along dimension 1".format(*along_first),
        f"agree by an R² of {regressed.agreement_:.2f} only".replace("0.", "."),
        f"{opposite} pairs correlate below -.4",
        f"with {np.ceil(100 * cars) / 100:.2f}".replace("0.", "."),
    ]
    assert [sentence for sentence in sentences if sentence not in text] == []
    assert {*growth["1987"].nsmallest(4).index} == {"Oklahoma", "Wyoming", "Louisiana", "Texas"}


EAST = {"N Eng", "Mid Atl", "S Atl", "E N Cen"}


def mean_correlation(table):
    correlations = np.corrcoef(table)
    return float(correlations[np.triu_indices(len(correlations), 1)].mean())


@pytest.mark.slow
def test_the_story_of_the_tumors():
    story = told("plot_7_tumors")
    found, table, listed, path = (story[key] for key in ("found", "table", "listed", "path"))
    size = table.set_index("column").loc["mean radius", "fraction_1"]
    large = listed[listed["size"] > 2]
    sure = large[large["stability"] == 1.0]
    most = path.iloc[0]
    assert sure["members"].tolist() == ["radius error, perimeter error, area error"]
    assert (table["column"].iloc[0], table["column"].iloc[-1]) == ("worst radius", "worst texture")
    assert story["columns"].n_significant == len(table)
    assert most["column"] == "worst radius"
    assert story["odd"] > 2.0 * story["usual"]
    errors = table["fraction_se_1"]
    check_sentences(
        "plot_7_tumors",
        [
            f"has {len(story['cells'])} tumors of the breast",
            f"(p = {found.p_value:.3f})",
            f"predicted with an R² of {found.held_out_r2:.2f}",
            f"two halves of the measures agree by {found.agreement:.2f}",
            f"All {len(table)} measures are related to the map",
            f"the worst radius (R² {table['r2'].iloc[0]:.2f})",
            f"the worst texture ({table['r2'].iloc[-1]:.2f})",
            f"{fraction(table, 'mean concave points', 1)} runs along it",
            f"with {fraction(table, 'mean fractal dimension', 2)} of its mean",
            f"{size:.2f} of the mean radius lies along dimension 1",
            f"The worst radius, by {most['in sd']:.1f} ± {most['se']:.1f} standard deviations",
            f"stability of {large['stability'].iloc[0]:.2f}, because",
            f"{story['right']} of {story['new'].sum()} are right",
            f"all thirty measures give {story['right_all']}:",
            f"Halves of the measures agree by {found.agreement:.2f}",
            f"known to about ± {errors.iloc[:5].median():.2f} for the leading measures",
            f"to ± {errors.max():.2f} for others",
        ],
    )


@pytest.mark.slow
def test_the_reading_of_the_tumors_on_the_page_of_columns():
    bunch = load_breast_cancer(as_frame=True)
    cells, kind = bunch.data, bunch.target
    text = " ".join((TUTORIALS.parent / "columns.md").read_text().split())
    model = IKD(2).fit(cells)
    table = model.columns().to_pandas()
    centers = [model.embedding_[kind == each].mean(axis=0) for each in (1, 0)]
    path = model.columns(where=centers).to_pandas().set_index("column")
    change = (path["change"] / cells.std()).abs()
    size = table.set_index("column").loc["worst radius"]
    logs = cliques.stability(np.log1p(cells.to_numpy()).T, 0.8)
    listed = logs.to_pandas(cells.columns)
    largest = cliques.communities(logs.cliques, 3).to_pandas(cells.columns)["size"].max()
    sentences = [
        f"(fraction {fraction(table, 'mean concave points', 1)})".replace("0.", "."),
        f"({size['fraction_1']:.2f} to {size['fraction_2']:.2f})".replace("0.", "."),
        f"the worst cells change most, by {change.max():.1f} standard deviations",
        f"measures of size has {listed['stability'].iloc[0] + 1e-9:.2f}".replace("0.", "."),
    ]
    assert [sentence for sentence in sentences if sentence not in text] == []
    assert set(change.nlargest(2).index) == {"worst radius", "worst perimeter"}
    assert stays(listed, "radius error, perimeter error, area error") == 1.0
    assert (listed["size"].iloc[0], largest) == (7, 13)


@pytest.mark.slow
def test_the_story_of_the_brain_regions():
    story = told("plot_8_regions")
    found, listed, lower = story["found"], story["listed"], story["lower"]
    hub = "LPCC, LPrec, RPCC, RPrec"
    pairs = [stays(listed, each) for each in ("LFpol, RFpol", "LParaCing, RParaCing")]
    assert pairs == [1.0, 1.0]
    large = listed[listed["size"] > 2]
    assert large["members"].iloc[0] == "RHip, RAntPHG, RAmy"
    halves = story["moments"].settings_
    residuals = story["residuals"]
    check_sentences(
        "plot_8_regions",
        [
            f"{len(story['regions'])} regions of the brain",
            f"in {story['regions'].shape[1]} volumes",
            f"(p = {found.p_value:.3f})",
            f"count as {found.n_effective:.0f} independent ones",
            f"It is the partner for {story['met']} of {len(story['left'])}.",
            f"{story['columns'].n_significant} of the {len(story['columns'])} volumes are found",
            f"{story['shuffled'].n_significant} when it is compared with itself, shuffled",
            f"of {re.search(r'agree by R² (0.[0-9]+)', str(halves))[1]} only",
            f"thalami ({stays(listed, 'LThal, RThal'):.2f})",
            f"have {story['stable'].expected(2):.2f} cliques",
            f"of the right side stay ({large['stability'].iloc[0]:.2f})",
            f"Their stability is {round_down(stays(listed, hub))} and "
            f"{round_down(stays(lower, hub))}",
            f"It is for {story['near']} of {len(story['names'])}.",
            f"residuals ({story['strange'].min():.1f} to {story['strange'].max():.1f}) within",
            f"left out ({min(residuals):.1f} to {max(residuals):.1f})",
        ],
    )
    assert min(residuals) < story["strange"].min() < story["strange"].max() < max(residuals)


def round_down(value):
    """Two digits of a multiple of 1 / 200, as is written on the page."""
    return f"{np.floor(100 * value + 1e-9) / 100:.2f}"
