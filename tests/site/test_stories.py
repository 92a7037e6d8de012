"""Tutorials run without a network, and print every figure that they speak of."""

import contextlib
import importlib.util
import io
import re
import runpy
import socket
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from ikd_graph import IKD, cliques, metrics

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PACKAGES = {
    "plot_1_spikes": "sklearn",
    "plot_2_sessions": "sklearn",
    "plot_3_states": "libpysal",
    "plot_4_tumors": "sklearn",
    "plot_5_regions": "nitime",
    "plot_6_genes": "scanpy",
}
GIVEN = {"plot_5_regions": {1.89}}
"""Figures that a recording comes with: the seconds of a volume."""


def no_network(*args, **options):
    raise OSError("a story uses no network")


@pytest.fixture(scope="module")
def story(request):
    """A tutorial that has run: what it computed, and what it printed."""
    name = request.param
    package = PACKAGES[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package}, which brings the table, is not installed")
    plt = pytest.importorskip("matplotlib.pyplot")
    printed = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(printed),
    ):
        patch.setattr(socket.socket, "connect", no_network)
        warnings.simplefilter("ignore")
        computed = runpy.run_path(str(TUTORIALS / f"{name}.py"))
    assert plt.get_fignums(), "a story ends in a figure"
    plt.close("all")
    return name, computed, printed.getvalue()


def of_story(name):
    """What a finding is asked of; all tests of a story run one after the other."""
    return pytest.mark.parametrize("story", [name], indirect=True)


def decimals(text):
    """Decimal figures of a text, as they are written."""
    return re.findall(r"(?<![\w.])\d*\.\d+(?!\w|\.\d)", text)


def unprinted(text, printed, given=()):
    """Figures of a text that are no rounding of a printed number."""
    numbers = [abs(float(each)) for each in re.findall(r"\d*\.?\d+(?:e[-+]?\d+)?", printed)]
    numbers += given
    return [
        figure
        for figure in decimals(text)
        if not np.isclose(
            float(figure), numbers, rtol=0.0, atol=0.501 * 10.0 ** -len(figure.partition(".")[2])
        ).any()
    ]


def stays(listed, members):
    """The stability of a clique by the names of its members."""
    return float(listed.set_index("members").loc[members, "stability"])


@pytest.mark.slow
@pytest.mark.parametrize("story", PACKAGES, indirect=True)
def test_every_figure_of_a_story_is_printed_by_it(story):
    name, _, printed = story
    source = (TUTORIALS / f"{name}.py").read_text()
    comments = re.findall(r"^#(?! %%)(.*)$", source, re.MULTILINE)
    text = " ".join([source.split('"""')[1], *comments])
    assert len(decimals(text)) > 8
    assert re.search(r"can be read|did not mix", printed), "a story prints its verdict"
    assert unprinted(text, printed, [*GIVEN.get(name, ())]) == []
    assert unprinted(text.replace("0.", "7."), printed) != []


@pytest.mark.parametrize("name", ["plot_3_states", "plot_5_regions", "plot_6_genes"])
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
@of_story("plot_1_spikes")
def test_the_findings_of_the_spikes(story):
    _, story, _ = story
    walk, maps = story["walk"][story["first"]], story["maps"]
    r2 = {name: metrics.affine_r2(walk, Z) for name, Z in maps.items()}
    assert r2["IKD"] > r2["PCA"]
    assert abs(r2["IKD"] - r2["Isomap"]) < 0.01
    # A tenth of the width of the box.
    assert np.median(story["error"]) < 0.2


@pytest.mark.slow
@of_story("plot_2_sessions")
def test_the_findings_of_the_sessions(story):
    _, story, _ = story
    mixing = story["every"].mixing
    assert mixing.loc["Friday", "found"] < 0.01
    assert (mixing["found"].drop("Friday") > 0.6).all()
    assert min(story["without"].agreements) > 0.9 > max(story["every"].agreements)
    assert min(story["found"].agreements) < 0.7


@pytest.mark.slow
@of_story("plot_3_states")
def test_the_findings_of_the_states(story):
    _, story, _ = story
    growth, large = story["growth"], story["large"]
    most = {*growth["1935"].nlargest(4).index}
    assert most == {"North Dakota", "Nebraska", "Iowa", "South Dakota"}
    assert len(most & {*growth["1949"].nsmallest(4).index}) == 3
    assert {*growth["1987"].nsmallest(4).index} == {"Oklahoma", "Wyoming", "Louisiana", "Texas"}
    assert large["members"].iloc[0] == "Indiana, Michigan, Ohio"
    assert large["stability"].iloc[0] > 2.0 * large["stability"].iloc[1]
    assert story["r2_places"] > 2.0 * max(story["by_chance"])
    assert {*story["nearest"]["Iowa"]} == {"Nebraska", "South Dakota"}
    Z = story["model"].embedding_
    gaps = np.linalg.norm(Z - Z[growth.index.get_loc("Oregon")], axis=1)
    regions = np.array(story["regions"])[np.argsort(gaps)[1:4]]
    assert {*regions} <= {"E N Cen", "W N Cen"}


@pytest.mark.slow
@of_story("plot_4_tumors")
def test_the_findings_of_the_tumors(story):
    _, story, _ = story
    table, listed = story["table"], story["listed"]
    large = listed[listed["size"] > 2]
    sure = large[large["stability"] == 1.0]
    assert sure["members"].tolist() == ["radius error, perimeter error, area error"]
    assert (table["column"].iloc[0], table["column"].iloc[-1]) == ("worst radius", "mean texture")
    assert story["columns"].n_significant == len(table)
    assert story["path"]["column"].iloc[0] == "worst radius"
    assert story["odd"] > 2.0 * story["usual"]


@pytest.mark.slow
def test_the_reading_of_the_tumors_on_the_page_of_columns():
    bunch = load_breast_cancer(as_frame=True)
    cells, kind = bunch.data, bunch.target
    model = IKD(2).fit(cells)
    centers = [model.embedding_[kind == each].mean(axis=0) for each in (1, 0)]
    path = model.columns(where=centers).to_pandas().set_index("column")
    change = (path["change"] / cells.std()).abs()
    logs = cliques.stability(np.log1p(cells.to_numpy()).T, 0.8)
    listed = logs.to_pandas(cells.columns)
    largest = cliques.communities(logs.cliques, 3).to_pandas(cells.columns)["size"].max()
    assert set(change.nlargest(2).index) == {"worst radius", "worst perimeter"}
    assert stays(listed, "radius error, perimeter error, area error") == 1.0
    assert (listed["size"].iloc[0], largest) == (7, 13)


@pytest.mark.slow
@of_story("plot_5_regions")
def test_the_findings_of_the_brain_regions(story):
    _, story, _ = story
    listed = story["listed"]
    pairs = [stays(listed, each) for each in ("LFpol, RFpol", "LParaCing, RParaCing")]
    assert pairs == [1.0, 1.0]
    assert listed[listed["size"] > 2]["members"].iloc[0] == "RHip, RAntPHG, RAmy"
    residuals, strange = story["residuals"], story["strange"]
    assert max(residuals) < strange.min()
    assert story["met"] > len(story["left"]) / 2


@pytest.mark.slow
@of_story("plot_6_genes")
def test_the_findings_of_the_genes(story):
    _, story, _ = story
    along, inside = (story[name].set_index("column") for name in ("along", "inside"))
    assert {"FCER1A", "CLEC10A"} <= {*along.index[along["change"] > 0.0]}
    assert along.loc["FCGR3A", "change"] < 0.0
    assert story["agree"].all()
    rises = inside[inside["ikd1"] > inside["ikd1_se"]]
    assert len(rises) == 5
    assert "MS4A1" in rises.index
    assert (rises["with TNFRSF17"] < 0.0).all()
    assert story["sure"] == 0  # of the shuffled genes, the last that are counted
    assert len(story["both"]) == 6
